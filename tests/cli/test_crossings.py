"""Kinds of players and ways to play: a kind plays, or is refused in one line with exit code 2."""

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


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Works in a folder with bots of all kinds, and replays with a fault."""
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
        for game in (GAME, CHESS):
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


Command = Callable[[str, str, str], Sequence[str]]


def match(*options: str) -> Command:
    return lambda bot, game, at: ["--game", game, bot, rival(game), "--seed", "3", "--arena", "127.0.0.1:0", *options]


def line(words: str) -> Command:
    """Returns a command line in which these names are replaced."""
    return lambda bot, game, at: [
        word.format(bot=bot, game=game, at=at, rival=rival(game), fault=fault_of(game)) for word in words.split()
    ]


VERIFY = line("replay verify {at}.jsonl")
SHORT = "--jobs 1 --no-pin"
WAYS: dict[str, tuple[set[int], Sequence[Command]]] = {
    # the exit codes of a kind that plays, and the commands; all but the last exit with 0
    "play": ({PLAYED}, [lambda bot, game, at: match("--replay", f"{at}.jsonl")(bot, game, at), VERIFY]),
    "--chaos": ({PLAYED}, [match("--replay", "none", "--chaos")]),
    "--games": ({PLAYED}, [match("--replay", "none", "--games", "2")]),
    "--jobs": ({PLAYED}, [match("--replay", "none", "--games", "2", "--jobs", "2")]),
    "verify --play": (
        {PLAYED},
        [
            lambda bot, game, at: match("--replay", f"{at}.jsonl")(bot, game, at),
            line("replay verify {at}.jsonl --play"),
        ],
    ),
    "repro": ({PLAYED, AT_FAULT}, [line("repro {fault} {bot}")]),
    "repro --debug": ({PLAYED, AT_FAULT}, [line("repro {fault} {bot} --debug")]),
    "fork": ({PLAYED}, [line("fork {fault} --turn 0 --seat 0={bot} --seat 1=@random --replay {at}.jsonl"), VERIFY]),
    "check": ({PLAYED, AT_FAULT}, [line("check {bot} --game {game} --only starts")]),
    "gate": (
        {INCONCLUSIVE},
        [lambda bot, game, at: ["gate", bot, rival(game), *f"--game {game} --max-games 2 {SHORT}".split()]],
    ),
    "tournament": (
        {PLAYED},
        [
            lambda bot, game, at: [
                *("tournament", "run", bot, rival(game)),
                *f"--game {game} --games 2 --ledger {at} {SHORT}".split(),
            ],
            lambda bot, game, at: ["tournament", "add", at, f"again={bot}"],
            line("tournament verify {at}"),
        ],
    ),
    "prepare": ({PLAYED, AT_FAULT}, [line("tournament prepare {at}.txt --into {at} --game {game} --jobs 1")]),
    "export problem": (
        {PLAYED},
        [line("export problem --game {game} --against {bot} --into {at}-problem --tests 1")],
    ),
    "ladder enter": ({PLAYED}, [line("ladder enter {bot} --owner me --name mine --folder ladder")]),
    "submit": ({FAILED}, [line("submit {bot} --to http://127.0.0.1:9")]),
    "bridge": ({PLAYED}, [line("serve bridge ugi {bot} --game {game}")]),
    "judge": ({PLAYED}, [line("judge {bot} --game {game} --replay {at}-judged")]),
}

PLAY = {
    "play": "source program zip agent @ cmd: script: http: human llm: oci: original: uci: gtp: cecp:",
    "--chaos": "folder",
    "--games": "script:",
    "--jobs": "kaggle:",
    "verify --play": "module",
    "repro": "llm:",
    "repro --debug": "zip",
    "fork": "human",
    "check": "agent missing",
    "gate": "uci:",
    "tournament": "kept|version module oci: kaggle:",
    "prepare": "folder human",
    "export problem": "folder",
    "submit": "zip",
    "bridge": "ugi:",
    "judge": "kaggle:",
}
"""Each kind plays somewhere, each way is gone by one; a tournament packs each add-on's kind in its own way."""
REFUSED = {
    "play": "missing engine|of|another|game",
    "--jobs": "script:",
    "verify --play": "source",
    "repro": "human",
    "fork": "http:",
    "check": "http:",
    "gate": "script: missing",
    "tournament": "human http:",
    "export problem": "cmd: human",
    "ladder enter": "@ zip",
    "submit": "llm: @ human",
    "bridge": "source",
    "judge": "uci: original: http:",
}
"""For each reason that a way has to refuse a kind, one that is refused."""


def cells(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(kind.replace("|", " "), way) for way, kinds in table.items() for kind in kinds.split()]


@pytest.fixture
def player(kind: str, place: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Returns the bot spec and the game. Nobody types anything."""
    if kind == "oci:":
        if (obstacle := obstacle_to_images(Isolation())) is not None:
            pytest.skip(obstacle)
        request.getfixturevalue("image")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    return KINDS[kind]


def ended(kind: str, way: str, player: tuple[str, str]) -> int:
    """Runs the commands of a way up to the first that fails, and returns its exit code."""
    (spec, game), (_, commands) = player, WAYS[way]
    at = f"{kind}-{way}".translate(str.maketrans(" :@/", "____"))
    Path(f"{at}.txt").write_text(f"team={spec}\n")
    return next((code for command in commands if (code := main(command(spec, game, at))) != PLAYED), PLAYED)


@pytest.mark.parametrize(("kind", "way"), cells(PLAY))
def test_a_kind_of_player_takes_part(
    kind: str, way: str, player: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(kind, way, player), "".join(capsys.readouterr())
    assert code in WAYS[way][0] and "Traceback" not in said, said


@pytest.mark.parametrize(("kind", "way"), cells(REFUSED))
def test_a_kind_of_player_is_refused_in_a_line(
    kind: str, way: str, player: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(kind, way, player), capsys.readouterr()
    assert code == 2 and len(said.err.strip().splitlines()) == 1 and "Traceback" not in said.out, said.err
    clients = {"human": "people play", "script:": "scripts play", "http:": "web services play"}
    if kind in clients and way in ("check", "gate", "tournament", "repro"):
        assert f"{clients[kind]} single matches only, by `referee --game`; name a program here" in said.err


def test_the_table_has_every_prefix_and_every_kind_plays_somewhere() -> None:
    assert {prefix.replace("https", "http") for prefix in prefixes()} <= KINDS.keys()
    plays = {kind for kind, _ in cells(PLAY)}
    assert KINDS.keys() - plays == {"engine of another game"} and PLAY.keys() | REFUSED.keys() == WAYS.keys()


@pytest.mark.parametrize("kind", ["kaggle:", "human", "script:", "http:", "missing"])
def test_a_kind_of_player_takes_part_in_a_function_or_is_refused(kind: str, player: tuple[str, str]) -> None:
    spec, game = player
    if kind == "kaggle:":
        assert len(referee.play(game, [spec, rival(game)], seed=3).seats) == 2
    else:
        with pytest.raises(UsageError, match="no bot at" if kind == "missing" else "play single matches only"):
            referee.play(game, [spec, rival(game)])


@pytest.mark.parametrize("kind", ["cmd:", "uci:", "human", "missing"])
def test_a_kind_of_player_is_an_opponent_of_an_assistant_or_is_refused(kind: str, player: tuple[str, str]) -> None:
    spec, game = player

    async def begun() -> None:
        conditions = Conditions(Allowed(Path.cwd(), named((f"it={spec}",))), keeps=False)
        async with open_matches(conditions) as matches:
            started = await matches.start(registry.game(game), ["it"], 1, 3, None, {})
            assert started.verdict is not None or started.seat.asked is not None

    if kind in ("human", "missing"):
        with pytest.raises(UsageError):
            trio.run(begun)
    else:
        trio.run(begun)


def test_what_has_no_program_is_named_anew(place: None, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of a function, and a turn of a script."""
    assert main(["repro", fault_of(GAME)]) == 2
    assert "a Python function played at seat 0 (<lambda>); name a bot with BOT" in capsys.readouterr().err
    assert main(["--game", GAME, "script:moves.txt", "@random", "--replay", "script.jsonl"]) == 0
    assert main(["fork", "script.jsonl", "--turn", "1"]) == 2
    assert "a script played at seat 0 (moves); name a bot with --seat 0=BOT" in capsys.readouterr().err
    assert main(["fork", "script.jsonl", "--turn", "1", "--seat", "0=script:moves.txt"]) == 0


def test_the_help_names_every_kind_of_bot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--help"]) == 0
    shown = capsys.readouterr().out
    assert [prefix for prefix in prefixes() if prefix not in shown] == []
