"""The record of a match: what it holds, and that nobody can change it unnoticed."""

import gzip
import io
import json
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from rich.console import Console
from scripted import Arena

from referee.addons.web.replay_list import FolderList, replay_list
from referee.games import registry
from referee.games.contract import Fault, FaultKind, Result, Setup, win
from referee.games.game import TimeControl
from referee.harness.cli.main import main
from referee.harness.cli.reports.turns import steps
from referee.harness.common.errors import UsageError
from referee.harness.common.records import Cost
from referee.harness.isolation.process_tree import READ_BY
from referee.harness.replay.lines import REPLAY_VERSION, Ending, Forfeit, Header, Opening, state_hash
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify
from referee.harness.replay.writer import ReplayWriter

HEADER, OPENING, FIRST, SECOND, REFUSED, FLIP, END = range(7)
"""The lines of the match below, from 0; messages count from 1."""
RULES = registry.game("tictactoe").version
CUT = "perhaps because a disk was full, or the run was killed or is not over"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a match: NW, C, a refused NW, and the flip that it allows."""
    arena = Arena(tmp_path_factory.mktemp("match"))
    ours = arena.bot("greet(name='Ours', version='1'); put('NW'); put('NW'); call()", name="ours")
    theirs = arena.bot("greet(); put('C'); answer(call(), {'action': 'flipTable'}); call()", name="theirs")
    verdict = trio.run(arena.play, arena.match(ours, theirs))
    assert verdict.result.reason == "FLIPPED: location 0,0 is not empty"
    return arena.folder


@pytest.fixture
def record(folder: Path, tmp_path: Path) -> Path:
    """A copy of its replay."""
    return Path(shutil.copy(folder / "match.jsonl", tmp_path))


def lines(record: Path) -> list[Any]:
    return [json.loads(line) for line in record.read_text().splitlines()]


def changed(record: Path, change: Callable[[list[Any]], None]) -> Replay:
    """The record with a change to its lines, as decoded objects."""
    values = lines(record)
    change(values)
    return rewritten(record, [json.dumps(value, separators=(",", ":")) for value in values])


def rewritten(record: Path, text: list[str]) -> Replay:
    record.write_text("".join(line + "\n" for line in text))
    return Replay(record)


def difference(replay: Replay) -> str:
    with pytest.raises(Difference) as found:
        verify(replay)
    return str(found.value)


# What it holds.


def test_a_record_holds_all_that_the_match_follows_from_its_turns_and_its_result(record: Path, folder: Path) -> None:
    replay = Replay(record)
    assert verify(replay).ranks == (2, 1)
    assert replay.game.name == "tictactoe"
    written = lines(record)
    header, turn, end = written[HEADER], written[SECOND], written[END]
    assert (header["replay"], header["game"], header["game_version"]) == (1, "tictactoe", RULES)
    assert header["setup"] == {"seed": 4711, "names": ["ours", "theirs"], "options": {"flip": "manual", "opening": 0}}
    assert header["time"]["per_call_s"] == 5.0
    assert header["limits"]["memory_bytes"] == 256 << 20
    assert [command[-1] for command in header["commands"]] == [str(folder / f"{n}.py") for n in ("ours", "theirs")]
    assert header["tree_read_by"] == READ_BY
    assert (turn["turn"], turn["answers"]) == (2, {"1": {"action": "putSymbol", "position": "C"}})
    assert turn["events"][0]["params"] == {"player": "X", "action": "putSymbol", "position": "C"}
    assert turn["wall_us"]["1"] > 0 and len(turn["hash"]) == 16
    assert end["result"]["ranks"] == [2, 1]
    assert [seat["program"] for seat in end["seats"]] == ["Ours 1", None]
    (fault,) = end["faults"]
    assert [fault[name] for name in ("player", "kind", "turn", "call", "method")] == [0, "illegal", 3, 2, "play"]
    assert json.loads(fault["frame"])["method"] == "play"


def test_an_answer_that_looks_like_a_fault_is_an_answer(arena: Arena) -> None:
    looks = "{'kind': 'crash', 'detail': 'not really', 'answer': None}"
    ours = arena.bot(f"greet(); answer(call(), {looks}); call()", name="ours")
    theirs = arena.bot("greet(); answer(call(), {'action': 'flipTable'}); call()", name="theirs")
    verdict = trio.run(arena.play, arena.match(ours, theirs))
    assert verdict.tree_read_by == READ_BY
    assert [fault.kind for fault in verdict.faults] == ["illegal"]
    turn = lines(arena.folder / "match.jsonl")[FIRST]
    assert turn["answers"]["0"]["kind"] == "crash"
    assert "faults" not in turn


def test_a_long_answer_is_not_kept_in_memory(tmp_path: Path) -> None:
    game, path = registry.game("tictactoe"), tmp_path / "match.jsonl"
    state = game.new(Setup(1, ("a", "b"), game.options()))
    with ReplayWriter(path) as writer:
        writer.turn({0: "short"}, [], [Cost(1e-6, 1e-6)], state)
        assert path.stat().st_size == 0
        writer.turn({1: "x" * (1 << 20)}, [], [Cost(1e-6, 1e-6)] * 2, state)
        assert path.stat().st_size > 1 << 20


def test_a_match_that_was_stopped_verifies_and_is_stopped_once(arena: Arena) -> None:
    """Once stopped, it is decided."""
    bots = [arena.bot("greet()\nwhile True: answer(call(), None)", name=name) for name in "ab"]
    trio.run(arena.play, arena.match(*bots, game="reantics", time=TimeControl(match_s=0.0)))
    path = arena.folder / "match.jsonl"
    assert [next(iter(line)) for line in lines(path)] == ["replay", "opening", "stop", "turn", "result"]
    assert "stopped: the time of the match is up" in shown(Replay(path))
    assert difference(changed(path, lambda values: values.insert(3, values[2]))).startswith("line 4: ")


def test_seats_that_were_taken_out_are_recorded_and_taken_out_again(tmp_path: Path) -> None:
    game, path = registry.game("tictactoe"), tmp_path / "match.jsonl"
    setup = Setup(1, ("a", "b"), game.options())
    state = game.new(setup)
    fault = Fault(FaultKind.TIMEOUT, "initialize: no answer within 10 s")
    with ReplayWriter(path) as writer:
        writer.write(Header(REPLAY_VERSION, game.name, game.version, setup, game.time, {}, ((), ())))
        writer.write(Opening(list(state.opening()), state_hash(state)))
        events = state.forfeit({0: fault})
        writer.write(Forfeit({0: fault}, list(events), state_hash(state)))
        writer.write(Ending(state.result))
    assert verify(Replay(path)) == win(1, "FLIPPED: You ran out of time")
    spoilt = path.read_text("utf-8").replace('{"forfeit":{"0"', '{"forfeit":{"7"')
    path.write_text(spoilt, "utf-8")
    with pytest.raises(Difference, match=r"line 3: seats \[7\] cannot forfeit"):
        verify(Replay(path))


# What was changed is found, at its line.


def test_another_answer_is_found_by_its_events_and_with_events_to_match_by_the_hash(record: Path) -> None:
    def other(values: list[Any]) -> None:
        values[SECOND]["answers"]["1"]["position"] = "SE"

    def matching(values: list[Any]) -> None:
        values[SECOND]["events"][0]["params"]["position"] = "SE"

    assert difference(changed(record, other)).startswith('line 4: events [{"event":"notice"')
    assert difference(changed(record, matching)).startswith('line 4: hash "')


FAULT = "line 7: fault of seat 0 "
MEMBERS: dict[tuple[str | int, ...], list[tuple[Any, str]]] = {
    (OPENING, "hash"): [("0" * 16, "line 2: hash ")],
    (OPENING, "opening"): [([], "line 2: events ")],
    (FIRST, "hash"): [("0" * 16, "line 3: hash ")],
    (SECOND, "events"): [([], "line 4: events ")],
    (SECOND, "turn"): [(7, "line 4: turn 2 expected, 7 recorded")],
    (SECOND, "answers"): [
        ({}, "line 4: answers from seats [], but awaited are [1]"),
        ({"0": {}}, "line 4: answers from seats [0], but awaited are [1]"),
        (5, "line 4: Expected `object`, got `int`"),
    ],
    (SECOND, "faults"): [
        ({"1": {"kind": "bad luck", "detail": ""}}, "line 4: Invalid enum value 'bad luck'"),
        ({"1": {"kind": "crash", "detail": ""}}, "line 4: events "),
    ],
    (END, "result"): [
        ({"ranks": [1, 2], "scores": [1.0, 0.0], "reason": "O_WIN"}, "line 7: the result is "),
        (None, "line 7: the result is "),
    ],
    (END, "seats", 0, "rank"): [(1, "line 7: seats ")],
    (END, "seats", 1, "score"): [(0.5, "line 7: seats ")],
    (END, "seats", 0, "name"): [("theirs", "line 7: seats ")],
    (END, "faults"): [([], "line 7: seat 0 has 1 faults in the turns, but 0 reports")],
    (END, "faults", 0, "player"): [(1, "line 7: seat 0 has 1 faults in the turns, but 0 reports")],
    (END, "faults", 0, "name"): [("theirs", FAULT)],
    (END, "faults", 0, "kind"): [("memory", FAULT)],
    (END, "faults", 0, "detail"): [("wanted more memory", FAULT)],
    (END, "faults", 0, "penalty"): [("none", FAULT)],
    (END, "faults", 0, "turn"): [(2, FAULT)],
}
"""Values that do not follow from the turns, and what is said of them."""


@pytest.mark.parametrize("path", MEMBERS, ids=str)
def test_a_changed_member_is_found(record: Path, path: tuple[str | int, ...]) -> None:
    original = record.read_bytes()
    for value, words in MEMBERS[path]:

        def change(values: list[Any], value: Any = value) -> None:
            place: Any = values
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value

        record.write_bytes(original)
        assert difference(changed(record, change)).startswith(words)


# A seat that fails at every call.


ROUNDS = 30
STUBBORN = ("--game", "rounds", "--set", f"rounds={ROUNDS}", "stubborn.py", "thrower.py")
Stubborn = tuple[Path, Any]
SITE = Path(__file__).parents[1] / "support" / "site"


@pytest.fixture(scope="module")
def stubborn(tmp_path_factory: pytest.TempPathFactory) -> Stubborn:
    """A match whose first seat throws what there is not, in each of `ROUNDS` calls: folder, and what `--json` says."""
    arena = Arena(tmp_path_factory.mktemp("stubborn"))
    arena.bot(f"greet()\nfor _ in range({ROUNDS}): throw('stone')\nanswer(call(), None); call()", name="stubborn")
    arena.bot(f"greet()\nfor _ in range({ROUNDS}): throw('rock')\nanswer(call(), None); call()", name="thrower")
    said = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.TextIOWrapper(said)) as out:
        patch.syspath_prepend(str(SITE))
        patch.chdir(arena.folder)
        assert main((*STUBBORN, "--replay", "match.jsonl", "--json")) == 0
        out.flush()
        return arena.folder, json.loads(said.getvalue())


def test_a_seat_has_eight_fault_reports_and_the_number_of_all_its_faults(
    stubborn: Stubborn, arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, said = stubborn
    monkeypatch.chdir(folder)
    (verdict,) = said["matches"]
    end = lines(folder / "match.jsonl")[-1]
    for told in (verdict, end):
        assert [(fault["player"], fault["call"]) for fault in told["faults"]] == [(0, call) for call in range(1, 9)]
        assert [(seat["faults"], seat["noisy_faults"]) for seat in told["seats"]] == [(ROUNDS, 0), (0, 0)]
    assert [line["faults"] for line in said["standings"]] == [ROUNDS, 0]
    assert said["noise"]["faults"] == ROUNDS
    assert verify(Replay(folder / "match.jsonl")) is not None
    assert main(("repro", "match.jsonl", "--fault", "9")) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert (
        told == f"referee: match.jsonl: there is no report of fault 9; the replay has 8, and counts {ROUNDS - 8} more"
    )
    assert main((*STUBBORN, "--replay", "none")) == 0
    assert f"{ROUNDS - 8} more faults by seat 0 (stubborn), not shown" in capsys.readouterr().out.splitlines()


def copied(stubborn: Stubborn, arena: Arena) -> Path:
    """A copy of its replay."""
    return Path(shutil.copy(stubborn[0] / "match.jsonl", arena.folder))


@pytest.mark.parametrize(
    ("seat", "key", "value", "words"),
    [
        (0, "faults", 9, "seat 0 has 30 faults in the turns, but the last line counts 9"),
        (0, "faults", 32, "seat 0 has 30 faults in the turns, but the last line counts 32"),
        (0, "faults", 7, "reports of faults of seat 0 7 expected, 8 recorded"),
        (1, "faults", 1, "reports of faults of seat 1 1 expected, 0 recorded"),
    ],
)
def test_a_wrong_number_of_faults_is_found(
    stubborn: Stubborn, arena: Arena, seat: int, key: str, value: int, words: str
) -> None:
    def change(values: list[Any]) -> None:
        values[-1]["seats"][seat][key] = value

    assert difference(changed(copied(stubborn, arena), change)).partition(": ")[2] == words


def test_a_replay_of_an_earlier_version_with_a_report_of_each_fault_verifies(stubborn: Stubborn, arena: Arena) -> None:
    def older(values: list[Any]) -> None:
        end = values[-1]
        ruled = [(line["turn"], event) for line in values[2:-1] for event in line.get("events", ()) if "fault" in event]
        end["faults"] = [
            {**end["faults"][0], "turn": turn, "call": call, "detail": event["fault"]["detail"].removeprefix("throw: ")}
            for call, (turn, event) in enumerate(ruled, 1)
        ]
        assert len(end["faults"]) == ROUNDS
        for seat in end["seats"]:
            del seat["faults"], seat["noisy_faults"]

    def wrong(values: list[Any]) -> None:
        values[-1]["faults"][20]["detail"] = "another"

    path = copied(stubborn, arena)
    assert verify(changed(path, older)) is not None
    assert "fault of seat 0 " in difference(changed(path, wrong))


def test_a_record_without_an_account_verifies(record: Path) -> None:
    def change(values: list[Any]) -> None:
        values[END] = {"result": values[END]["result"]}

    assert verify(changed(record, change)) == msgspec.convert(lines(record)[END]["result"], Result)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda values: values.pop(FIRST), "line 3: "),
        (lambda values: values.pop(SECOND), "line 4: "),
        (lambda values: values.pop(REFUSED), "line 5: "),
        (lambda values: values.pop(OPENING), "line 2: "),
        (lambda values: values.pop(FLIP), "line 6: the match ends, but answers are still awaited"),
        (lambda values: values.pop(), f"line 7: missing: the match has no end; line 6 is the last whole one, {CUT}"),
        (
            lambda values: values.__delitem__(slice(1, None)),
            f"line 2: missing: the match was not opened; line 1 is the last whole one, {CUT}",
        ),
        (lambda values: values.insert(FIRST, values[FIRST]), "line 4: "),
        (lambda values: values.insert(SECOND, values[SECOND]), "line 5: "),
        (lambda values: values.insert(FLIP, values[FLIP]), "line 7: "),
        (lambda values: values.append({}), "line 8: there are lines after the end"),
    ],
)
def test_a_line_too_few_or_too_many_is_found_where_it_is(
    record: Path, change: Callable[[list[Any]], None], words: str
) -> None:
    assert difference(changed(record, change)).startswith(words)


@pytest.mark.parametrize("strange", ["", "hello", "{}", "[1]", '{"turn":', '{"stop":5}', "[" * 100_000])
def test_a_line_that_is_something_else_is_found(record: Path, strange: str) -> None:
    text = record.read_text().splitlines()
    text.insert(SECOND, strange)
    found = difference(rewritten(record, text))
    assert found.startswith("line 4: ")
    assert "\n" not in found


@pytest.mark.parametrize("kept", [1, 3, 0.5, 0.99])
def test_of_a_record_that_breaks_off_the_last_whole_line_is_told(
    record: Path, kept: float, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = record.read_bytes().splitlines(keepends=True)
    part = lines[FLIP][: kept if isinstance(kept, int) else int(len(lines[FLIP]) * kept)]
    record.write_bytes(b"".join(lines[:FLIP]) + part)
    words = f"line {FLIP + 1}: it breaks off; line {FLIP} is the last whole one, {CUT}"
    assert difference(Replay(record)) == words
    assert main(["replay", "show", str(record)]) == 0
    assert f"the replay ends before the match: {words}" in " ".join(capsys.readouterr().out.split())
    record.write_bytes(b"".join(lines[:FLIP]) + part + b"\n")
    assert difference(Replay(record)).startswith("line 6: ")


def test_a_record_that_breaks_off_in_its_first_line_is_told_as_that(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:200])
    with pytest.raises(UsageError, match=r"match.jsonl breaks off in line 1: a disk was full, or the run was killed$"):
        Replay(record)


def test_bytes_that_are_no_utf_8_are_found(record: Path) -> None:
    text = record.read_bytes().splitlines()
    text[SECOND] = text[SECOND].replace(b'"C"', b'"\xff"')
    record.write_bytes(b"\n".join(text))
    assert difference(Replay(record)).startswith("line 4: ")


# What cannot be read as a record at all.


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("replay", 2, f"is a version 2 replay of tictactoe rules {RULES}; this is version 1, rules {RULES}"),
        ("game_version", 9, f"is a version 1 replay of tictactoe rules 9; this is version 1, rules {RULES}"),
        ("game", "chess", "is not a replay: line 1: unknown game 'chess'; there are "),
        ("setup", {"seed": 1, "names": ["a", "b"], "options": {"flip": "always"}}, "line 1: Invalid enum value"),
        ("setup", {"seed": 1, "names": ["a"], "options": {}}, "line 1: tictactoe is not played by 1 bots"),
        ("limits", 5, "is not a replay: line 1: "),
    ],
)
def test_a_header_of_something_else_is_refused(record: Path, key: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError) as failure:
        changed(record, lambda values: values[HEADER].update({key: value}))
    assert words in str(failure.value)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("text", [b"", b"\n", b"hello\n", b"\xff\xfe", b"\x00" * 10, b"{}"])
def test_another_file_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "file").write_bytes(text)
    with pytest.raises(UsageError, match=r"is empty, not a replay|is not a replay: line 1: "):
        Replay(tmp_path / "file")
    with pytest.raises(UsageError, match=r"^the replay .* cannot be read: No such file"):
        Replay(tmp_path / "none")


def test_a_record_that_gzip_has_packed_is_read_as_it_is(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = record.with_name("packed.jsonl.gz")
    packed.write_bytes(gzip.compress(record.read_bytes()))
    for command in ("verify", "show"):
        assert main(("replay", command, str(record))) == 0
        told = capsys.readouterr()
        assert main(("replay", command, str(packed))) == 0
        assert tuple(capsys.readouterr()) == (told.out.replace(str(record), str(packed)), told.err)
    assert {entry.title for entry in FolderList(packed.parent).entries()} == {"match.jsonl", "packed.jsonl.gz"}
    assert replay_list(packed).entries()[0].names == ("ours", "theirs")
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"packed\.jsonl\.gz cannot be read: the gzip file is damaged"):
        Replay(packed)


def test_a_record_is_not_replaced_by_what_is_made_of_it(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = record.read_bytes()
    same = record.parent / "." / ".." / record.parent.name / record.name
    assert main(("replay", "html", str(record), str(same))) == 2
    assert record.read_bytes() == before
    assert "is the replay itself" in capsys.readouterr().err


# As text.


def shown(replay: Replay) -> str:
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        for step in steps(replay):
            console.print(step)
    return capture.get()


def test_a_record_is_shown_move_by_move(record: Path) -> None:
    text = shown(Replay(record))
    assert text.startswith("Tic-tac-toe: ours against theirs, seed 4711\n")
    places = [text.index(board) for board in ("...\n...\n...", "O..\n...\n...", "O..\n.X.\n...")]
    assert places == sorted(places)
    assert "    2  theirs" in text
    assert "ours: illegal: location 0,0 is not empty; the rival may flip the table and win" in text
    assert "O's invalid move waits for a flip" in text
    assert text.rstrip().endswith("theirs wins: the table was flipped after ours's fault: location 0,0 is not empty")


def test_a_changed_record_is_shown_up_to_the_change(record: Path) -> None:
    def change(values: list[Any]) -> None:
        values[SECOND]["hash"] = "0" * 16

    text = shown(changed(record, change))
    assert "    1  ours" in text
    assert "the replay does not follow the rules: line 4: hash" in text
    assert "    3  ours" not in text
