"""Kaggle agents play Connect Four (ConnectX) and tic-tac-toe as `kaggle_environments` lets them play."""

import bz2
import gzip
import io
import json
import lzma
import random
import re
import shutil
import sys
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Arena

from referee.addons.kaggle import spec as kaggle_spec
from referee.addons.tournament.store.bot_archives import finding
from referee.games.arena import FLIP
from referee.games.game import TimeControl
from referee.harness.common.errors import UsageError
from referee.harness.match.verdict import Verdict
from referee.harness.programs import agent_imports, build_cache
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.programs.zip_archive import bot_in

pytestmark = pytest.mark.slow

AGENTS = Path(__file__).parents[2] / "support" / "agents" / "kaggle"
RECORDED = json.loads((AGENTS / "games.json").read_text())[1:6]
"""Games of the sample agents in kaggle_environments 1.33.2, which for each game called `random.seed(seed)`,
`make("connectx", configuration=size)` and `run(agents)`. Five of them: of each size, and with an invalid move of
either player."""
TIMELESS = TimeControl()
COLUMNS, CELLS = "ABCDEFG", ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def agent(folder: Path, source: str, game: str = "connectfour", options: str = "") -> Entrant:
    """Writes an agent and returns its program."""
    (folder / "agent.py").write_text(source)
    return entrant(f"kaggle:{options} {folder / 'agent.py'}", game)


def answers(arena: Arena) -> list[Any]:
    """Returns the answers of the last match, in turn."""
    turns = map(json.loads, (arena.folder / "match.jsonl").read_text().splitlines())
    given = [answer for turn in turns for answer in turn.get("answers", {}).values()]
    return [answer for answer in given if "action" in answer]


def stderr(verdict: Verdict, player: int) -> str:
    log = verdict.seats[player].stderr
    return "" if log is None else Path(log).read_text()


# What kaggle_environments does.


@pytest.mark.trio
async def test_recorded_games_are_repeated_move_for_move(arena: Arena) -> None:
    for game in RECORDED:
        bots = [entrant(f"kaggle:--seed {game['seed']} {AGENTS / name}.py", "connectfour") for name in game["agents"]]
        verdict = await arena.play(arena.match(*bots, game="connectfour", **game["size"]))
        dropped = [answer["column"] for answer in answers(arena) if "column" in answer]
        invalid = "INVALID" in game["status"]
        legal = -1 if invalid else None  # the last move is not, which Kaggle records in its own way
        assert [COLUMNS[move] for move in game["moves"][:legal]] == dropped[:legal]
        assert (answers(arena)[-1] == {"action": FLIP}) == invalid
        rewards = [-1 if reward is None else reward + invalid for reward in game["rewards"]]  # 0 beside an INVALID
        assert [2 * score - 1 for score in verdict.result.scores] == rewards


SHOWN = """
import copy, json
def my_agent(observation, configuration):
    assert observation.board is observation["board"] and configuration.timeout == configuration["timeout"]
    assert copy.deepcopy(observation).board == observation.board
    observation.board[0] = observation.extra = 5
    assert observation["extra"] == 5
    configuration.columns = 1
    print(json.dumps([observation, configuration]))
    return PLACE
"""


@pytest.mark.trio
async def test_an_agent_gets_the_observation_and_the_configuration_of_connectx(arena: Arena) -> None:
    bots = [agent(arena.folder, SHOWN.replace("PLACE", "observation.step // 2")), entrant("@baseline", "connectfour")]
    verdict = await arena.play(arena.match(*bots, game="connectfour", time=TIMELESS))
    shown = [json.loads(line) for line in stderr(verdict, 0).splitlines()]
    boards = [observation.pop("board") for observation, _ in shown]
    assert boards[:2] == [[5] + [0] * 41, [5] + [0] * 27 + [2] + [0] * 6 + [1] + [0] * 6]
    usual = {"remainingOverageTime": 60, "mark": 1, "extra": 5}
    assert [observation for observation, _ in shown[:2]] == [usual | {"step": 0}, usual | {"step": 2}]
    times = {"actTimeout": 2, "timeout": 2, "agentTimeout": 60, "runTimeout": 1200, "episodeSteps": 1000}
    size = {"columns": 1, "rows": 6, "inarow": 4}
    path = {"__raw_path__": str(arena.folder / "agent.py")}
    assert all(configuration == times | size | path for _, configuration in shown)


@pytest.mark.trio
async def test_an_agent_gets_the_observation_and_the_configuration_of_tic_tac_toe(arena: Arena) -> None:
    source = SHOWN.replace("configuration.columns = 1", "").replace("PLACE", "8 - observation.step // 2")
    bots = [entrant("@baseline", "tictactoe"), agent(arena.folder, source, "tictactoe")]
    verdict = await arena.play(arena.match(*bots, time=TIMELESS))
    observation, configuration = json.loads(stderr(verdict, 1).splitlines()[0])
    assert observation == {
        "remainingOverageTime": 2,
        "step": 1,
        "board": [5, 0, 0, 0, 0, 0, 0, 0, 0],
        "mark": 2,
        "extra": 5,
    }
    assert {name: configuration[name] for name in ("actTimeout", "agentTimeout", "episodeSteps")} == {
        "actTimeout": 1,
        "agentTimeout": 2,
        "episodeSteps": 10,
    }
    assert answers(arena)[1] == {"action": "putSymbol", "position": "SE"}


@pytest.mark.trio
@pytest.mark.parametrize(
    ("time", "act_s", "overage_s"),
    [
        (TimeControl(per_call_s=5.0), 2, 3.0),
        (TimeControl(per_call_s=0.5), 0.5, 0.0),
        (TimeControl(initial_s=18.0, increment_s=2.0), 2, 16.0),
        (TimeControl(initial_s=18.0, per_call_s=3.0), 2, 1.0),
    ],
)
async def test_the_times_that_an_agent_sees_are_what_it_has(
    arena: Arena, time: TimeControl, act_s: float, overage_s: float
) -> None:
    source = (
        "def agent(obs, config):\n    print(config.actTimeout, config.timeout, obs.remainingOverageTime)\n    return 0"
    )
    match = arena.match(agent(arena.folder, source), entrant("@baseline"), game="connectfour", time=time)
    first = stderr(await arena.play(match), 0).splitlines()[0].split()
    assert [float(word) for word in first] == [act_s, act_s, overage_s]


CALLABLES = {
    "one parameter": "def agent(obs): return obs.mark + 2",
    "no parameter": "def agent(): return 3",
    "a lambda": "agent = lambda obs, config: config.columns - 4",
    "an object": "class A:\n    def __call__(self, obs, config): return 3\nagent = A()",
    "a method": "class A:\n    def act(self, obs, config): return 3\nagent = A().act",
    "the last of several": "def agent(obs, config): return 0\nnumber = 4\ndef other(obs, config): return 3",
    "a name keeps its first place": "def agent(): return 0\ndef last(): return 0\nlast = lambda: 3\nagent = lambda: 0",
    "not as a main program": "def agent(): return 3\nif __name__ == '__main__':\n    def test(): return 0",
}
PAIRS = [*zip([*CALLABLES][::2], [*CALLABLES][1::2], strict=True)]
"""The two players of a match."""


@pytest.mark.trio
@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
async def test_the_last_callable_is_called_with_as_many_arguments_as_it_takes(arena: Arena, pair: list[str]) -> None:
    bots = []
    for place, name in enumerate(pair):
        (arena.folder / f"agent{place}.py").write_text(CALLABLES[name])
        bots.append(entrant(f"kaggle:{arena.folder / f'agent{place}.py'}", "connectfour"))
    await arena.play(arena.match(*bots, game="connectfour"))
    assert answers(arena)[:2] == [{"action": "putToken", "column": "D"}] * 2


@pytest.mark.trio
@pytest.mark.parametrize("returned", ["True", "7", "-1", "2.0", "object"])
async def test_what_kaggle_refuses_is_an_invalid_move(arena: Arena, returned: str) -> None:
    bots = [agent(arena.folder, f"def agent(obs, config): return {returned}"), entrant("@baseline", "connectfour")]
    verdict = await arena.play(arena.match(*bots, game="connectfour"))
    (fault,) = verdict.faults
    assert (fault.player, fault.kind) == (0, "illegal")
    assert fault.detail.endswith(" is not a valid column")
    assert verdict.result.reason == f"FLIPPED: {fault.detail}"
    assert ("Kaggle accepts an int only" in stderr(verdict, 0)) == (returned not in ("7", "-1"))


@pytest.mark.trio
async def test_none_is_column_0_at_connectx_and_refused_at_tic_tac_toe(arena: Arena) -> None:
    bot = agent(arena.folder, "def agent(obs, config): pass")
    await arena.play(arena.match(bot, entrant("@baseline"), game="connectfour"))
    assert answers(arena)[0]["column"] == "A"
    verdict = await arena.play(arena.match(bot, entrant("@baseline")))
    assert verdict.faults[0].detail == "None is not a valid position"


@pytest.mark.trio
@pytest.mark.parametrize("cheat", ["@C_AI_NIL", "@C_AI_Y_FIRST"])
async def test_the_table_is_flipped_after_an_opponents_invalid_move(arena: Arena, cheat: str) -> None:
    bots = [entrant(f"{AGENTS}/middle.py", "connectfour"), entrant(cheat, "connectfour")]
    verdict = await arena.play(arena.match(*bots, game="connectfour"))
    assert verdict.result.ranks == (1, 2)
    assert verdict.result.reason.startswith("FLIPPED: ")


@pytest.mark.trio
async def test_drawn_openings_are_on_the_board(arena: Arena) -> None:
    source = "def agent(obs, config):\n    print(obs.step, sum(map(bool, obs.board)))\n    return obs.board.index(0)"
    bots = [agent(arena.folder, source), entrant("@random")]
    verdict = await arena.play(arena.match(*bots, game="connectfour", opening=4))
    assert stderr(verdict, 0).splitlines()[0] == "4 4"


# Faults.


@pytest.mark.trio
@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("def agent(obs, config): raise ValueError('lost my way')", "error", "lost my way"),
        ("def agent(obs, config): import sys; sys.exit(3)", "crash", "exited with code 3"),
        ("import nothing_like_it\ndef agent(obs, config): return 0", "error", "kaggle:'--python PATH agent.py'"),
        ("number = 3", "error", "agent.py defines nothing that can be called"),
        ("def agent(obs, config:", "error", "SyntaxError"),
    ],
)
async def test_an_agent_that_fails_loses(arena: Arena, source: str, kind: str, words: str) -> None:
    verdict = await arena.play(arena.match(agent(arena.folder, source), entrant("@random"), game="connectfour"))
    assert verdict.result.ranks == (2, 1)
    assert verdict.faults[0].kind == kind
    assert words in verdict.faults[0].detail + stderr(verdict, 0)


@pytest.mark.trio
async def test_a_match_depends_on_no_earlier_one_in_the_same_process(arena: Arena) -> None:
    (arena.folder / "memory.py").write_text("calls = []")
    source = (
        "import memory, random\ndef agent(obs, config):\n    memory.calls.append(1)\n    print(len(memory.calls))\n"
    )
    bot = agent(arena.folder, f"{source}    return random.choice([c for c in range(7) if not obs.board[c]])")
    played = []
    for _ in range(2):
        verdict = await arena.play(arena.match(bot, entrant("@baseline"), game="connectfour"))
        played.append((answers(arena), stderr(verdict, 0)))
    assert played[0] == played[1]
    assert played[0][1].splitlines()[0] == "1"


# How they are named and recognised.

TWO = "def my_agent(obs, config): return 0"


@pytest.mark.parametrize(
    ("source", "recognised"),
    [
        (TWO, True),
        ("def agent(observation, configuration): return 0", True),
        ("agent = lambda obs, conf: 0", True),
        ("def agent(obs, config): return 0\ndef main(): pass", False),
        ("def agent(obs): return 0", False),
        ("def agent(state, configuration): return 0", False),
        ("from referee_kit.connectfour import run\n" + TWO, False),
        ("def agent(obs, config:", False),
        ("", False),
    ],
)
def test_a_file_is_recognised_by_its_last_function(tmp_path: Path, source: str, recognised: bool) -> None:
    (tmp_path / "bot.py").write_text(source)
    argv = entrant(str(tmp_path / "bot.py"), "connectfour").argv
    assert argv == (sys.executable, *([str(kaggle_spec.RUNNER)] if recognised else []), str(tmp_path / "bot.py"))
    assert entrant(str(tmp_path / "bot.py"), "quoridor").argv == (sys.executable, str(tmp_path / "bot.py"))


def test_a_folder_and_a_zip_file_may_have_main_py(tmp_path: Path) -> None:
    den = tmp_path / "Team 7"
    den.mkdir()
    with pytest.raises(UsageError, match=r"there is no main\.py in that folder; name the agent's file"):
        entrant(f"kaggle:{den}", "connectfour")
    (den / "main.py").write_text(TWO)
    found = entrant(str(den), "connectfour")
    assert (found.name, found.cwd, found.argv[-1]) == ("Team 7", den, str(den / "main.py"))
    assert entrant(f"kaggle:{den}", "connectfour") == found
    spec = shutil.make_archive(str(tmp_path / "team"), "zip", den)
    (tmp_path / "scratch").mkdir()
    assert entrant(bot_in(spec, tmp_path / "scratch", "connectfour"), "connectfour").argv[-1].endswith("team/main.py")
    (den / "bot.toml").write_text("run = ['python3', 'main.py']")
    assert str(kaggle_spec.RUNNER) not in entrant(str(den), "connectfour").argv


def test_options_come_before_the_path(tmp_path: Path) -> None:
    (tmp_path / "My Agent.py").write_text(TWO)
    found = entrant(f"kaggle:--python python3 --seed=7 {tmp_path / 'My Agent.py'}", "tictactoe")
    assert found.argv == (
        shutil.which("python3"),
        str(kaggle_spec.RUNNER),
        "--seed",
        "7",
        str(tmp_path / "My Agent.py"),
    )


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("kaggle:", "connectfour", "kaggle:: expected a file, as in kaggle:'My Agent.py'"),
        ("kaggle:no.py", "connectfour", "kaggle:no.py: there is no such file or folder: no.py"),
        ("kaggle:--bogus x.py", "connectfour", "there is no option --bogus; there are --python, --seed"),
        ("kaggle:no.py --seed 3", "connectfour", "--seed must come before the file"),
        ("kaggle:here.py", "quoridor", "kaggle:here.py: Kaggle agents play connectfour and tictactoe, not quoridor"),
        ("kaggle:here.py", None, "Kaggle agents play connectfour and tictactoe; name the game"),
        (
            "kaggle:here.txt",
            "connectfour",
            "expected a Python file, a folder with main.py, or one of .tar.gz, .tgz, .tar",
        ),
    ],
)
def test_a_wrong_spec_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, game: str | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("here.py", "here.txt"):
        Path(name).touch()
    with pytest.raises(UsageError, match=re.escape(message)):
        entrant(spec, game)


QUOTES = '"' * 3


def test_a_source_that_would_fill_the_memory_is_no_agent(tmp_path: Path) -> None:
    weights = '"' + "A" * (3 << 20) + '"'
    (tmp_path / "weights.py").write_text(f"weights = {weights}\n{TWO}")
    many = "a\n" * (1 << 20)
    for number, code in enumerate([many, f"# {QUOTES}\n{many}# {QUOTES}\n", f'"\\"{QUOTES}\n{many}# {QUOTES}\n']):
        (tmp_path / f"many{number}.py").write_text(code + TWO)
    assert kaggle_spec.agent_in(tmp_path / "weights.py", "connectfour") is not None
    assert all(agent_imports.parsed(tmp_path / f"many{number}.py") is None for number in range(3))


# submission.tar.gz


def packed(path: Path, files: dict[str, str], **odd: Any) -> Path:
    """Writes an archive of these files. `odd`: members of the header of the last one."""
    with tarfile.open(path, "w:gz") as archive:
        for number, (name, text) in enumerate(files.items(), 1):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            for key, value in odd.items() if number == len(files) else ():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.mark.trio
async def test_a_submission_is_unpacked_once_and_finds_its_files(arena: Arena) -> None:
    main = "from brain.pick import pick\ndef agent(obs, config): return pick(open('weights.txt').read())"
    files = {"./main.py": main, "brain/pick.py": "def pick(text): return int(text)", "weights.txt": "4"}
    path = packed(arena.folder / "submission.tar.gz", files)
    bots = [entrant(str(path), "connectfour") for _ in range(2)]
    assert bots[0] == bots[1]
    assert bots[0].name == "submission"
    assert bots[0].cwd.is_relative_to(build_cache.root())
    await arena.play(arena.match(bots[0], entrant("@baseline"), game="connectfour"))
    assert answers(arena)[0] == {"action": "putToken", "column": "E"}


@pytest.mark.parametrize(
    ("files", "odd", "message"),
    [
        ({"agent/main.py": TWO}, {}, r"has no main\.py at its top"),
        ({"main.py": TWO, "../evil.py": ""}, {}, r"'\.\./evil\.py' leads outside the agent's folder"),
        ({"main.py": TWO, "/evil.py": ""}, {}, r"'/evil\.py' leads outside the agent's folder"),
        (
            {"main.py": TWO, "a": ""},
            {"type": tarfile.SYMTYPE, "linkname": "/etc"},
            "'a' is neither a file nor a folder",
        ),
        ({"main.py": TWO, "a": ""}, {"type": tarfile.FIFOTYPE}, "'a' is neither a file nor a folder"),
        ({"main.py": TWO, "a": "", "a/b": ""}, {}, "cannot be unpacked"),
    ],
)
def test_a_broken_or_hostile_submission_is_refused(
    tmp_path: Path, files: dict[str, str], odd: dict[str, Any], message: str
) -> None:
    path = packed(tmp_path / "submission.tar.gz", files, **odd)
    for _ in range(2):
        with pytest.raises(UsageError, match=message):
            entrant(str(path), "connectfour")
    assert not (tmp_path / "evil.py").exists()


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Returns the header of a member; a negative size as no program writes it."""
    member = tarfile.TarInfo(name)
    member.size, member.type = max(size, 0), kind
    made = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    if size < 0:
        made[124:136] = (256**12 + size).to_bytes(12, "big")
        made[148:156] = b" " * 8
        made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


MAIN = header("main.py", len(TWO)) + TWO.encode().ljust(512, b"\0")
NAME = tarfile.GNUTYPE_LONGNAME
HOSTILE = {
    "the name of a member fills the memory": [MAIN, header("", 128 << 20, NAME), *[b"a" * (1 << 20)] * 128],
    "a chain of names": [MAIN, *[header("", 2, NAME) + b"a\0".ljust(512, b"\0")] * 3000, header("a")],
    "a negative size": [MAIN, header("a", -(1 << 60))],
    "a negative size that leads back": [MAIN, header("a", -512)],
    "a path of a thousand folders": [
        MAIN,
        header("", 3001, NAME),
        (b"a/" * 1500 + b"b").ljust(3072, b"\0"),
        header("b"),
    ],
    "folders without end": [MAIN, *[header(f"{number}/" + "a/" * 45) for number in range(20)]],
    "a file that is cut off": [MAIN, header("a", 5000), b"a"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_one_line_and_little_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kaggle_spec, "MAX_FILES", 200)
    with gzip.open(path := tmp_path / "submission.tar.gz", "wb", 1) as archive:
        for piece in HOSTILE[name]:
            archive.write(piece)
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=r"submission\.tar\.gz: ") as refusal:
            entrant(str(path), "connectfour")
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("compress", [lzma.compress, bz2.compress])
def test_an_archive_that_is_compressed_otherwise_is_refused(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = bytearray(compress(MAIN + random.Random(1).randbytes(100_000)))
    data[50_000] ^= 255
    (tmp_path / "submission.tar.gz").write_bytes(data)
    with pytest.raises(UsageError, match=r"submission\.tar\.gz: cannot be unpacked"):
        entrant(str(tmp_path / "submission.tar.gz"), "connectfour")


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "submission.tar.gz").write_text(TWO)
    with pytest.raises(UsageError, match=r"submission\.tar\.gz: cannot be unpacked"):
        entrant(str(tmp_path / "submission.tar.gz"), "connectfour")


# In tournaments.


def test_a_tournament_keeps_an_agent_with_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def pick(obs): return 0")
    (tmp_path / "other.py").touch()
    (tmp_path / "bot.py").write_text("from helper import pick\ndef my_agent(obs, config): return pick(obs)")
    archive = packed(tmp_path / "submission.tar.gz", {"main.py": TWO})
    den = tmp_path / "den"
    den.mkdir()
    (den / "main.py").write_text(TWO)
    specs = [str(tmp_path / "bot.py"), str(archive), str(den), f"kaggle:{tmp_path / 'bot.py'}"]
    with finding(specs, "connectfour") as found:
        kept = [
            None if each.content is None else [Path(file.path).name for file in each.content.files] for each in found
        ]
    assert kept == [["bot.py", "helper.py"], ["submission.tar.gz"], ["main.py"], None]
    assert [each.entry.name for each in found] == ["bot", "submission", "den", "bot"]
