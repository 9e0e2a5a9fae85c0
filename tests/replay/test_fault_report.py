"""A fault's bundle, and the fault again from it."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil
import pytest
import trio
from scripted import Arena
from viewer_patches import frames

from referee.games.contract import FaultKind, Result
from referee.harness.cli.main import main
from referee.harness.isolation.plan import OFF
from referee.harness.languages.go import GO
from referee.harness.languages.java import JAVA
from referee.harness.languages.javascript import NODE
from referee.harness.languages.native import NATIVE
from referee.harness.languages.python import PYTHON
from referee.harness.match.match import play
from referee.harness.match.series import Series, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.debuggers import debugger
from referee.harness.replay.fault_report import _KINDS
from referee.harness.replay.lines import FULL_REPORTS
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.seats.roster import open_roster

Run = Callable[..., tuple[int, str]]

TWICE = """
greet()
for number, place in enumerate(("NW", "NW")):
    asked = call()
    print(f"thinking of {number}", file=sys.stderr, flush=True)
    answer(asked, cell(place))
call()
"""
RIVAL = "greet(); put('C'); answer(call(), {'action': 'flipTable'}); call()"
SLOW = "greet(); put('NW'); asked = call(); time.sleep(0.4); answer(asked, cell('W')); call()"
HUNGRY = "greet(); put('NW'); asked = call(); held = bytearray(os.urandom(1 << 20) * 90); time.sleep(0.3)\n"
HUNGRY += "answer(asked, cell('W')); call()"
CASES = {
    "illegal": (TWICE, (), "illegal", 2),
    "dies": ("print('no weights', file=sys.stderr); sys.exit(3)", (), "crash", 0),
    "crashes": ("greet(); put('NW'); call(); sys.exit(4)", (), "crash", 2),
    "prints": ("greet(); put('NW'); call(); write(b'x = \\x1b5\\n'); call()", (), "protocol", 2),
    "slow": (SLOW, ("--call-time", "200ms"), "timeout", 2),
    "hungry": (HUNGRY, ("--memory", "64MiB"), "memory", 2),
    "error": ("greet(); write(frame(call()['id'], error={'code': 1, 'message': 'lost'})); call()", (), "error", 1),
}


@pytest.fixture
def run(arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(arena.folder)
    arena.bot(RIVAL, name="rival")
    arena.bot("greet(); put('NW'); put('W'); put('SW'); put('S'); call()", name="good")

    def run(*words: str) -> tuple[int, str]:
        return main(words), capsys.readouterr().out

    return run


def at_fault(run: Run, arena: Arena, name: str) -> Path:
    """Plays a match with that bot; the bundle of its first fault."""
    body, options, _, _ = CASES[name]
    arena.bot(body, name=name)
    _, out = run("--game", "tictactoe", "--seed", "5", f"{name}.py", "rival.py", "--json", *options)
    return Path(json.loads(out)["matches"][0]["faults"][0]["bundle"])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_seen_again_and_a_bot_without_it_is_not_at_fault(run: Run, arena: Arena, name: str) -> None:
    bundle = at_fault(run, arena, name)
    kind, call = CASES[name][2:]
    code, out = run("repro", str(bundle), "--recorded", "--json")  # the program of the match, where it was
    now = json.loads(out)
    assert (code, now["same"], now["at_fault"], now["call"], now["differs"]) == (1, True, True, call, None)
    assert now["recorded"].startswith(f"{kind}: ")
    assert now["now"].startswith(f"{kind}: ")
    code, out = run("repro", str(bundle), "good.py", "--json")
    now = json.loads(out)
    assert (code, now["same"], now["at_fault"]) == (0, False, False)
    assert arena.alive() == []


def test_a_bundle_holds_all_that_its_author_needs(run: Run, arena: Arena) -> None:
    bundle = at_fault(run, arena, "illegal")
    found = json.loads((bundle / "fault.json").read_bytes())
    assert (found["game"], found["seed"], found["names"]) == ("tictactoe", 5, ["illegal", "rival"])
    assert found["rule"].startswith("### A4 Invalid move")
    assert found["limits"]["memory_bytes"] == 256 << 20
    assert found["isolation"]["kill"]
    assert found["curve"][-1]["memory_bytes"] > 0  # also of a bot that did not live to its first sample
    assert {"referee", "protocol", "rules", "python", "system"} <= found["versions"].keys()
    assert json.loads((bundle / "answer").read_bytes())["result"]["position"] == "NW"
    assert (bundle / "stderr").read_bytes() == b"thinking of 1\n"
    sent = [json.loads(line) for line in (bundle / "sent").read_bytes().splitlines()]
    assert [frame["method"] for frame in sent] == ["initialize", "event", "play", "event", "event", "play"]
    assert len((bundle / "received").read_bytes().splitlines()) == 3
    readme = (bundle / "README.txt").read_text()
    for part in (
        "illegal: location 0,0 is not empty",
        "### A4",
        "O..\n.X.\n...",
        "thinking of 1",
        "Limits",
        "Versions",
    ):
        assert part in readme
    assert Replay(bundle / "match.jsonl").header.setup.seed == 5


def test_a_record_alone_is_enough(run: Run, arena: Arena) -> None:
    """Such as a tournament's, beside which there are no bundles."""
    at_fault(run, arena, "illegal")
    (record,) = Path("replays").glob("*.jsonl")
    code, out = run("repro", str(record), "--recorded", "--json")
    assert (code, json.loads(out)["same"]) == (1, True)
    assert run("repro", str(record), "--fault", "2")[0] == 2


def test_nothing_that_a_terminal_would_obey_stands_in_a_readme(run: Run, arena: Arena) -> None:
    readme = (at_fault(run, arena, "prints") / "README.txt").read_text()
    assert "\x1b" not in readme
    assert "x = \\x1b5" in readme


def test_a_bundle_of_a_match_that_is_played_again_is_a_new_one(run: Run, arena: Arena) -> None:
    """And one of a seat that fails at every call is not written each time."""
    arena.bot("greet()\nwhile True: throw('stone')", name="stubborn")
    arena.bot("greet()\nwhile True: throw('rock')", name="thrower")
    words = ("--game", "rounds", "--set", "rounds=12", "stubborn.py", "thrower.py", "--replay", "m.jsonl", "--json")
    for _ in range(2):
        verdict = json.loads(run(*words)[1])["matches"][0]
        assert verdict["seats"][0]["faults"] > FULL_REPORTS
        named = [fault["bundle"] for fault in verdict["faults"] if fault["player"] == 0]
        assert named == [f"m.seat0.fault{number + 1}" for number in range(FULL_REPORTS)]
        assert sorted(path.name for path in arena.folder.glob("m.seat0.fault*")) == named
    (arena.folder / "mine").mkdir()
    assert run("repro", "mine")[0] == 2


def test_a_clean_match_leaves_no_fault_report_of_an_earlier_match_beside_its_replay(run: Run, arena: Arena) -> None:
    arena.bot(TWICE, name="illegal")
    arena.bot("greet(); put('C'); put('E'); call()", name="loser")
    words = ("--game", "tictactoe", "--replay", "m.jsonl")
    run(*words, "illegal.py", "rival.py")
    assert [path.name for path in arena.folder.glob("m.seat*.fault*")] == ["m.seat0.fault1"]
    (arena.folder / "m.seat0.fault2").mkdir()  # not a fault report, so not ours to remove
    run(*words, "good.py", "loser.py")
    assert [path.name for path in arena.folder.glob("m.seat*.fault*")] == ["m.seat0.fault2"]


@pytest.mark.trio
@pytest.mark.parametrize("cancelled", [True, False])
async def test_a_fault_report_that_cannot_be_written_does_not_replace_what_ended_the_match(
    arena: Arena, cancelled: bool
) -> None:
    """Neither a cancellation nor an interrupt. A match that is played to its end keeps its result."""
    stubborn, thrower = (arena.bot(f"greet()\nwhile True: throw('{throw}')", name=throw) for throw in ("stone", "rock"))
    match = arena.match(stubborn, thrower, game="rounds", rounds=400)  # long enough to notice
    match = msgspec.structs.replace(match, fault_reports=True)
    (arena.folder / "match.seat0.fault1").mkdir()
    turns = 0
    async with open_roster(Limits(isolation=OFF)) as roster:
        with trio.CancelScope() as scope:

            def interrupt(*turn: object) -> None:
                nonlocal turns
                turns += 1
                if turns == 3:
                    if not cancelled:
                        raise KeyboardInterrupt
                    scope.cancel()

            if cancelled:
                await play(match, roster, interrupt)
            else:
                with pytest.raises(KeyboardInterrupt):
                    await play(match, roster, interrupt)
        assert scope.cancelled_caught == cancelled
        assert len((await play(match, roster)).faults) > 0


@pytest.mark.trio
async def test_a_fault_report_of_a_bot_that_plays_several_matches_shows_the_match_of_the_fault(arena: Arena) -> None:
    body = """
greet(reuse=True); put('NW'); put('W'); put('SW')
answer(call(), {}); put('NW'); put('NW'); call()
"""
    rival = "greet(reuse=True); put('C'); put('E'); answer(call(), {}); " + RIVAL.removeprefix("greet(); ")
    match = arena.match(arena.bot(body), arena.bot(rival, name="rival"))
    match = msgspec.structs.replace(match, fault_reports=True)
    outcome = await play_series(Series(match, games=2), Limits(isolation=OFF))
    (fault,) = outcome.matches[1].faults
    assert fault.bundle is not None
    sent = [json.loads(line) for line in (Path(fault.bundle) / "sent").read_bytes().splitlines()]
    assert [frame["method"] for frame in sent].count("initialize") == 1
    assert sent[0]["method"] == "initialize"
    received = (Path(fault.bundle) / "received").read_bytes().splitlines()
    assert len(received) == 3, "the greeting and two answers of the second match"


def test_a_debugger_is_waited_for_before_the_call(
    run: Run, arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = at_fault(run, arena, "illegal")
    seen: list[str] = []

    class Enter:
        def readline(self) -> str:
            seen.extend(str(child.cmdline()) for child in psutil.Process().children(recursive=True))
            return "\n"

    monkeypatch.setattr(sys, "stdin", Enter())
    assert main(("repro", str(bundle), "--debug", "--recorded")) == 1
    told = capsys.readouterr().err
    assert any("illegal.py" in line for line in seen), "it lives while we wait"
    assert "attach: python -m debugpy --listen 5678 --pid " in told


def test_a_debugger_is_that_of_the_language(tmp_path: Path) -> None:
    go, other = tmp_path / "go", tmp_path / "other"
    go.write_bytes(b"\x7fELF" + b"\0" * 4000 + b'\xff Go build ID: "abc"')
    other.write_bytes(b"\x7fELF")
    nobody = 1 << 30
    found = [debugger(nobody, (word, "x")) for word in ("python3.11", "node", "java", str(go), str(other))]
    assert found == [PYTHON.debugger, NODE, JAVA.debugger, GO.debugger, NATIVE]


# Going on from a position.


def test_a_match_goes_on_from_a_position_with_another_bot(run: Run, arena: Arena) -> None:
    """Who hears all that its seat was asked and told, and whose answers count from then on."""
    arena.bot("greet(); put('C'); put('E'); call()", name="loser")
    arena.bot(TELLS, name="tells")
    assert run("--game", "tictactoe", "--seed", "5", "good.py", "loser.py", "--replay", "m.jsonl")[0] == 0
    code, out = run("fork", "m.jsonl", "--turn", "2", "--seat", "1=L=tells.py", "--recorded", "--json")
    verdict = json.loads(out)["matches"][0]
    assert (code, verdict["result"]["ranks"], verdict["faults"]) == (0, [1, 2], [])
    heard = [json.loads(line) for line in Path(verdict["seats"][1]["stderr"]).read_text().splitlines()]
    said = [frame["method"] for frame in heard]
    assert said == ["initialize", *["event"] * 2, "play", *["event"] * 2, "play", *["event"] * 3, "exit"]
    replay = Replay(Path(verdict["replay"]))
    assert verify(replay) == msgspec.convert(verdict["result"], Result)
    before, after = ((arena.folder / name).read_bytes().splitlines(keepends=True) for name in ("m.jsonl", replay.path))
    turns = [[json.loads(line)["answers"] for line in lines[2:-1]] for lines in (before, after)]
    assert turns[0][:3] == turns[1][:3]
    assert [turn[3]["1"]["position"] for turn in turns] == ["E", "N"]
    origin = replay.header.origin
    assert origin is not None
    assert (origin.replay, origin.turn, origin.seats) == ("m.jsonl", 2, (1,))
    assert origin.sha256 == hashlib.sha256(b"".join(before[:4])).hexdigest()
    assert replay.header.setup.names == ("good", "L")
    assert "forked from m.jsonl after turn 2" in run("replay", "verify", str(replay.path))[1]
    assert len(list(frames(replay))) == len(replay.lines)
    assert "    3  good" in run("replay", "show", str(replay.path), "--turn", "3")[1]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["human", "script:lines.txt"])
def test_a_person_or_a_script_goes_on_from_a_position(run: Run, arena: Arena, spec: str) -> None:
    """They are asked only what comes after it: its first line is the answer of the first turn that is new."""
    arena.bot("greet(); put('C'); put('E'); call()", name="loser")
    assert run("--game", "tictactoe", "--seed", "5", "good.py", "loser.py", "--replay", "m.jsonl")[0] == 0
    (arena.folder / "lines.txt").write_text("n\ns\n")
    command = [sys.executable, "-m", "referee.harness.cli.main", "fork", "m.jsonl", "--turn", "2", "--json"]
    with (arena.folder / "lines.txt").open() as lines:
        words = [*command, "--recorded", "--seat", f"1={spec}", "--replay", "again.jsonl"]
        done = subprocess.run(words, cwd=arena.folder, stdin=lines, capture_output=True, text=True, timeout=100)
    (verdict,) = json.loads(done.stdout)["matches"]
    assert (done.returncode, verdict["faults"]) == (0, [])
    replay = Replay(arena.folder / "again.jsonl")
    turns = [json.loads(line)["answers"] for line in replay.lines[2:-1]]
    assert [turn["1"]["position"] for turn in turns if "1" in turn][:2] == ["C", "N"]
    assert verify(replay) == msgspec.convert(verdict["result"], Result)


@pytest.mark.slow
def test_clocks_and_luck_go_on_as_they_were(run: Run, arena: Arena) -> None:
    """The same bots from every turn give the same match: aiarena21 has auctions at once, luck and closing calls."""
    words = ("--game", "aiarena21", "--seed", "7", "--set", "turns=6", "@greedy", "@greedy", "--replay", "m.jsonl")
    assert run(*words)[0] == 0
    result = Replay(arena.folder / "m.jsonl").ending
    turns = sum(line.startswith(b'{"turn":') for line in Replay(arena.folder / "m.jsonl").lines)
    assert result is not None
    for turn in (0, turns // 2, turns - 1):
        code, out = run("fork", "m.jsonl", "--turn", str(turn), "--json", "--replay", "again.jsonl")
        assert (code, msgspec.convert(json.loads(out)["matches"][0]["result"], Result)) == (0, result.result)
        assert verify(Replay(arena.folder / "again.jsonl")) == result.result
    assert run("replay", "export", "aiarena21-replay", "again.jsonl", "replay.txt")[0] == 0


def test_a_cheat_acts_out_of_turn_once(run: Run, arena: Arena) -> None:
    """Also where the match goes on after it has done so."""
    words = ("--game", "tictactoe", "--seed", "9", "@C_AI_TWICE_A_ROW", "@advanced", "--replay", "m.jsonl")
    assert run(*words)[0] == 0
    turns = sum(line.startswith(b'{"turn":') for line in Replay(arena.folder / "m.jsonl").lines)
    code, _ = run("fork", "m.jsonl", "--turn", str(turns - 1), "--json", "--replay", "again.jsonl")
    assert code == 0
    before, after = ((arena.folder / name).read_bytes() for name in ("m.jsonl", "again.jsonl"))
    assert before.count(b'\n{"inject":') == after.count(b'\n{"inject":') == 1
    verify(Replay(arena.folder / "again.jsonl"))


def test_what_cannot_go_on_says_why(run: Run, arena: Arena, capsys: pytest.CaptureFixture[str]) -> None:
    home = arena.folder / "home"
    home.mkdir()
    Arena(home).bot("greet(); put('C'); put('E'); call()", name="gone")
    assert run("--game", "tictactoe", "good.py", "home/gone.py", "--replay", "m.jsonl")[0] == 0
    shutil.rmtree(home)
    given = ("--seat", "1=good.py")
    for words, told in {
        ("--turn", "9", *given): "--turn 9: the match has turns 0 to 5",
        ("--turn", "5", *given): "--turn 5: the match was over then",
        ("--turn", "1", "--seat", "2=good.py"): "--seat 2=good.py: expected S=BOT, with a seat from 0 to 1",
        ("--turn", "1"): "seat 1 (gone) cannot be started: its program is gone; name another with --seat 1=BOT",
    }.items():
        assert main(("fork", "m.jsonl", *words)) == 2
        assert told in " ".join(capsys.readouterr().err.split())


TELLS = """
def read():
    line = sys.stdin.buffer.readline()
    sys.stderr.write(line.decode())
    sys.stderr.flush()
    if not line:
        os._exit(0)
    return json.loads(line)
greet(); put('C'); put('N'); put('S'); call()
"""


def test_every_kind_of_fault_has_its_rule_in_words() -> None:
    assert _KINDS.keys() == set(FaultKind)
