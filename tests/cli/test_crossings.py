"""Each kind of player with each way to play: it plays, or is refused in one line with exit code 2."""

import io
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from pathlib import Path

import pytest
import trio
from defects import bot
from images import PYTHON_ENV, file, layer, python, save
from model_service import serving
from modules import bot as module
from scripted import PYTHON
from submissions import folder_of, zip_of

import referee
from referee.addons.mcp.allowed import Allowed, named
from referee.addons.mcp.matches import Conditions, open_matches
from referee.addons.tournament.store.bot_archives import archive_path, finding, store
from referee.games import registry
from referee.harness.cli.exit_codes import AT_FAULT, FAILED, INCONCLUSIVE, PLAYED
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Isolation, obstacle_to_images
from referee.harness.programs.kinds import prefixes

pytestmark = pytest.mark.slow

AGENT = "def agent(observation, configuration):\n    return observation.board.index(0)\n"
CARD_AGENT = (Path(__file__).parent.parent / "support" / "agents" / "rusher").resolve()
ENGINE = f"""#!{sys.executable}
import sys
for line in sys.stdin:
    word, protocol = (line.split() or [""])[0], sys.argv[-1]
    if word in ("uci", "ugi"):
        print("id name Resigning", "uciok", "ugiok", sep="\\n", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "protover":
        print("feature done=1", flush=True)
    elif word == "go":
        print("resign" if protocol == "cecp" else "bestmove resign", flush=True)
    elif word == "quit":
        break
    elif protocol == "gtp":
        print("= resign\\n" if word == "genmove" else "= \\n", flush=True)
"""
"""Resigns at its first move, in any protocol."""
GAME, CHESS = "tictactoe", "openspiel:chess"
RUN_BOT = f"cmd:{shlex.join(PYTHON)} bot.py"

KINDS = {
    "folder": ("./den", GAME),
    "source": ("bot.py", GAME),
    "program": ("./prog", GAME),
    "zip": ("den.zip", GAME),
    "kept version": ("kept.zip", GAME),
    "module": ("bot.wasm", GAME),
    "agent": ("kag", GAME),
    "@": ("@random", GAME),
    "cmd:": (RUN_BOT, GAME),
    "script:": ("script:moves.txt", GAME),
    "http:": ("http://127.0.0.1:9", GAME),
    "human": ("human", GAME),
    "llm:": ("", GAME),
    "kaggle:": ("kaggle:kag/main.py", GAME),
    "oci:": ("oci:image.tar", GAME),
    "original:": (f"original:{CARD_AGENT}", "cardgame"),
    "uci:": ("uci:./eng", CHESS),
    "ugi:": ("ugi:./eng", "openspiel:tic_tac_toe"),
    "gtp:": ("gtp:./eng gtp", "openspiel:go"),
    "cecp:": ("cecp:./eng cecp", CHESS),
    "engine of another game": ("uci:./eng", GAME),
    "missing": ("nowhere", GAME),
}
"""Kinds of players: the bot spec, and what they play."""
CLIENTS = frozenset({"script:", "http:", "human"})
NONE = frozenset({"engine of another game", "missing"})
LOCAL = frozenset({"cmd:", "llm:", "kaggle:", "original:", "uci:", "ugi:", "gtp:", "cecp:"})
ENGINES = frozenset({"uci:", "ugi:", "gtp:", "cecp:"})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Works in a folder with bots of all kinds, and a replay with a fault for each game."""
    home = tmp_path_factory.mktemp("crossings")
    with pytest.MonkeyPatch.context() as patch, chdir(home), serving() as service:
        (home / "cache").mkdir()
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        zip_of(folder_of(home / "den"), home / "den.zip")
        patch.setitem(KINDS, "llm:", (service.spec(), GAME))
        contents = {
            "bot.py": bot(""), "prog": f"#!{sys.executable}\n{bot('')}", "eng": ENGINE, "moves.txt": "nw\n",
            "kag/main.py": AGENT,
        }  # fmt: skip
        for name, text in contents.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text)
            Path(name).chmod(0o755 if text.startswith("#!") else 0o644)
        Path("bot.wasm").write_bytes(module('{"action":"putSymbol","position":"C"}'))
        with finding(["bot.py"], GAME) as (found,):
            store(found, home / "cup")
        archive_path(home / "cup", found.entry).rename("kept.zip")
        for game in {game for _, game in KINDS.values()}:
            seats: list[object] = [lambda decision: "nonsense", "@random"]
            referee.play(game, seats, seed=1, replay=fault_of(game))  # type: ignore[arg-type]
        patch.setenv("REFEREE_TOKEN", "a token of no contest")
        main(["ladder", "new", "ladder", "--game", GAME, "--install", f"git+https://example.org/x@{'0' * 40}"])
        yield


@pytest.fixture(scope="module")
def image(place: None) -> None:
    """Writes an image with a bot."""
    script = file("bot.py", bot("").encode())
    save(Path("image.tar"), [python(), layer(script)], ["python3", *PYTHON[1:], "/bot.py"], env=PYTHON_ENV)


def fault_of(game: str) -> str:
    return f"{game.replace(':', '_')}.jsonl"


def rival(game: str) -> str:
    return f"rival={RUN_BOT}" if game == GAME else "@random"


def match(*options: str) -> Callable[[str, str, str], list[str]]:
    return lambda bot, game, at: ["--game", game, bot, rival(game), "--seed", "3", "--arena", "127.0.0.1:0", *options]


def saved(bot: str, game: str, at: str) -> list[str]:
    return match("--replay", f"{at}.jsonl")(bot, game, at)


SHORT = ("--jobs", "1", "--no-pin")
GATE = ("--max-games", "2", *SHORT)


Command = Callable[[str, str, str], Sequence[str]]
PLAYS, MAY_FAIL, UNDECIDED = frozenset({PLAYED}), frozenset({PLAYED, AT_FAULT}), frozenset({INCONCLUSIVE})
NOBODY = NONE | CLIENTS

WAYS: dict[str, tuple[frozenset[str], frozenset[int], Sequence[Command]]] = {
    # name: the kinds that are refused, the exit codes of the others, and the commands; all but the last exit with 0
    "play": (NONE, PLAYS, [saved, lambda bot, game, at: ["replay", "verify", f"{at}.jsonl"]]),
    "--chaos": (NONE, PLAYS, [match("--replay", "none", "--chaos")]),
    "--games": (NONE, PLAYS, [match("--replay", "none", "--games", "2")]),
    "--jobs": (NOBODY, PLAYS, [match("--replay", "none", "--games", "2", "--jobs", "2")]),
    "verify --play": (
        frozenset(KINDS) - {"module"},
        PLAYS,
        [saved, lambda bot, game, at: ["replay", "verify", f"{at}.jsonl", "--play"]],
    ),
    "repro": (NOBODY, MAY_FAIL, [lambda bot, game, at: ["repro", fault_of(game), bot]]),
    "repro --debug": (NOBODY, MAY_FAIL, [lambda bot, game, at: ["repro", fault_of(game), bot, "--debug"]]),
    "fork": (
        NONE | {"http:"},
        PLAYS,
        [
            lambda bot, game, at: [
                *("fork", fault_of(game), "--turn", "0", "--seat", f"0={bot}", "--seat", "1=@random"),
                *("--replay", f"{at}.jsonl"),
            ],
            lambda bot, game, at: ["replay", "verify", f"{at}.jsonl"],
        ],
    ),
    "check": (CLIENTS, MAY_FAIL, [lambda bot, game, at: ["check", bot, "--game", game, "--only", "starts"]]),
    "gate": (NOBODY, UNDECIDED, [lambda bot, game, at: ["gate", bot, rival(game), "--game", game, *GATE]]),
    "tournament": (
        NOBODY,
        PLAYS,
        [
            lambda bot, game, at: [
                *("tournament", "run", bot, rival(game), "--game", game, "--games", "2", "--ledger", at, *SHORT)
            ],
            lambda bot, game, at: ["tournament", "add", at, f"again={bot}"],
            lambda bot, game, at: ["tournament", "verify", at],
            lambda bot, game, at: ["tournament", "show", at],
        ],
    ),
    "prepare": (
        frozenset(),
        MAY_FAIL,
        [lambda bot, game, at: ["tournament", "prepare", f"{at}.txt", "--into", at, "--game", game, "--jobs", "1"]],
    ),
    "export problem": (
        NOBODY | LOCAL,
        PLAYS,
        [
            lambda bot, game, at: [
                *("export", "problem", "--game", game, "--against", bot, "--into", f"{at}-problem", "--tests", "1")
            ]
        ],
    ),
    "ladder enter": (
        frozenset(KINDS) - {"folder", "source", "module"},
        PLAYS,
        [lambda bot, game, at: ["ladder", "enter", bot, "--owner", "me", "--name", "mine", "--folder", "ladder"]],
    ),
    "submit": (
        NONE | LOCAL | {"@", "script:", "human"},
        frozenset({FAILED}),
        [lambda bot, game, at: ["submit", bot, "--to", "http://127.0.0.1:9"]],
    ),
    "bridge": (
        frozenset(KINDS) - ENGINES,
        PLAYS,
        [lambda bot, game, at: ["serve", "bridge", "ugi", bot, "--game", game]],
    ),
    "judge": (
        NOBODY | ENGINES | {"original:"},
        PLAYS,
        [lambda bot, game, at: ["judge", bot, "--game", game, "--replay", f"{at}-judged"]],
    ),
}
SLOW = frozenset({"--jobs", "gate", "tournament", "prepare", "judge"})
SAMPLED = {"judge": {"folder", "kept version", "kaggle:"}, "ladder enter": set[str]()}
"""Of the kinds that play there, only these: each test run is nine matches, and each check of a ladder many."""


def cells() -> Iterator[object]:
    for way, (refused, _, _) in WAYS.items():
        for kind in KINDS:
            if kind in refused | SAMPLED.get(way, KINDS.keys()):
                slow = way in SLOW and kind not in refused
                yield pytest.param(kind, way, marks=pytest.mark.slow if slow else (), id=f"{kind}-{way}")


@pytest.fixture
def player(kind: str, place: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Returns the bot spec and the game. Nobody types anything."""
    if kind == "oci:":
        if (obstacle := obstacle_to_images(Isolation())) is not None:
            pytest.skip(obstacle)
        request.getfixturevalue("image")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    return KINDS[kind]


@pytest.mark.parametrize(("kind", "way"), list(cells()))
def test_each_kind_of_player_takes_part_in_each_way_or_is_refused_in_a_line(
    kind: str, way: str, player: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (spec, game), (refused, codes, commands) = player, WAYS[way]
    at = f"{kind}-{way}".translate(str.maketrans(" :@/", "____"))
    Path(f"{at}.txt").write_text(f"team={spec}\n")
    for command in commands:
        capsys.readouterr()
        code = main(command(spec, game, at))
        if code != PLAYED:
            break
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    if kind in refused:
        assert code == 2 and len(said.err.strip().splitlines()) == 1, said.err
    else:
        assert code in codes, said.err + said.out


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_player_takes_part_in_a_function_or_is_refused(kind: str, player: tuple[str, str]) -> None:
    spec, game = player
    if kind in NONE | CLIENTS:
        with pytest.raises(UsageError):
            referee.play(game, [spec, rival(game)])
    else:
        assert len(referee.play(game, [spec, rival(game)], seed=3).seats) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_player_is_an_opponent_of_an_assistant_or_is_refused(kind: str, player: tuple[str, str]) -> None:
    spec, game = player

    async def begun() -> None:
        conditions = Conditions(Allowed(Path.cwd(), named((f"it={spec}",))), keeps=False)
        async with open_matches(conditions) as matches:
            if kind in NONE:
                with pytest.raises(UsageError):
                    await matches.start(registry.game(game), ["it"], 1, 3, None, {})
            else:
                started = await matches.start(registry.game(game), ["it"], 1, 3, None, {})
                assert started.verdict is not None or started.seat.asked is not None

    if kind in CLIENTS:
        with pytest.raises(UsageError):
            named((f"it={spec}",))
    else:
        trio.run(begun)


def test_the_table_has_every_prefix() -> None:
    assert {prefix.replace("https", "http") for prefix in prefixes()} <= KINDS.keys()
