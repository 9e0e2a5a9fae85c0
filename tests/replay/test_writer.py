"""Records that are claimed, kept when a match is aborted, and read however they were changed."""

import json
import multiprocessing
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from referee.games import registry
from referee.games.contract import Setup, State
from referee.games.dice import Dice
from referee.harness.cli.main import main
from referee.harness.cli.reports.turns import steps
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.records import NO_COST
from referee.harness.replay.lines import REPLAY_VERSION, Ending, Header, Opening, state_hash
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify
from referee.harness.replay.writer import FLUSH_LINES, ReplayWriter, claim_file, claim_folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def begin(name: str, writer: ReplayWriter) -> State:
    """A match of random play is opened."""
    game = registry.game(name)
    names = tuple("abcd"[: game.seats.start])
    setup = Setup(3, names, game.options())
    state = game.new(setup)
    commands = tuple(("bot",) for _ in names)
    writer.write(Header(REPLAY_VERSION, name, game.version, setup, game.time, {}, commands))
    writer.write(Opening(list(state.opening()), state_hash(state)))
    return state


def play(state: State, writer: ReplayWriter, turns: int) -> None:
    dice = Dice(1)
    for _ in range(turns):
        answers = {player: state.sample(player, dice) for player in state.awaited}
        writer.turn(answers, state.apply(answers), [NO_COST] * 9, state)


# Names.


def names(stem: str, runs: int) -> list[str]:
    """What so many processes claim that begin together."""
    context = multiprocessing.get_context("fork")
    found, start = context.SimpleQueue(), context.Barrier(runs)

    def claim() -> None:
        start.wait()
        with claim_file(stem) as path, ReplayWriter(path) as writer:
            begin("tictactoe", writer)
            found.put(path.name)

    children = [context.Process(target=claim) for _ in range(runs)]
    for child in children:
        child.start()
    for child in children:
        child.join(30)
    return sorted(found.get() for _ in children)


def test_runs_that_begin_together_never_share_a_record() -> None:
    assert names("match-5", 8) == sorted(["match-5.jsonl", *(f"match-5.{number}.jsonl" for number in range(2, 9))])
    assert all(path.stat().st_size for path in Path("replays").iterdir())


def test_a_name_is_taken_at_once_and_given_back_if_nothing_was_written() -> None:
    with claim_file("match") as first, claim_file("match") as second, claim_file("match", "-01") as third:
        assert [path.name for path in (first, second, third)] == ["match.jsonl", "match.2.jsonl", "match.3.jsonl"]
        assert sorted(path.name for path in Path("replays").iterdir()) == [
            *["match.2.jsonl", "match.3-01.jsonl", "match.jsonl"]
        ]
        first.write_text("played")
    assert [path.name for path in Path("replays").iterdir()] == ["match.jsonl"]


def test_what_was_claimed_for_nothing_leaves_no_folder() -> None:
    with pytest.raises(RunError), claim_file("match"), claim_folder("judged"):
        raise RunError("a build failed")
    assert not Path("replays").exists()


def test_a_series_leaves_the_records_of_another_alone() -> None:
    Path("replays").mkdir()
    Path("replays/match-02.jsonl").write_text("somebody's")
    with claim_file("match", "-01") as path:
        assert path.name == "match.2.jsonl"


def test_a_folder_is_claimed_likewise() -> None:
    with claim_folder("judged") as first, claim_folder("judged") as second:
        assert [folder.name for folder in (first, second)] == ["judged", "judged.2"]


# A match that is aborted.


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (RunError("the program is gone\nsee there"), "the program is gone"),
        (BaseExceptionGroup("", [ValueError(), KeyboardInterrupt()]), "interrupted"),
        (ZeroDivisionError("division by zero"), "the referee failed: ZeroDivisionError('division by zero')"),
    ],
)
def test_the_record_of_an_aborted_match_holds_what_was_played_and_says_why(error: BaseException, words: str) -> None:
    path = Path("match.jsonl")
    with pytest.raises(type(error)), ReplayWriter(path) as writer:
        play(begin("quoridor", writer), writer, 20)
        assert path.stat().st_size == 0, "so few lines are kept back"
        raise error
    replay = Replay(path)
    assert len(replay.lines) == 23
    assert replay.ending is not None and replay.ending.aborted == words
    assert verify(replay) is None


def test_a_cancelled_match_was_ended_from_outside() -> None:
    async def cancelled() -> None:
        with trio.CancelScope() as scope, ReplayWriter(Path("match.jsonl")) as writer:
            begin("tictactoe", writer)
            scope.cancel()
            await trio.sleep_forever()

    trio.run(cancelled)
    ending = Replay(Path("match.jsonl")).ending
    assert ending is not None and ending.aborted == "ended from outside"


def test_a_match_that_never_began_leaves_no_record() -> None:
    with pytest.raises(RunError), ReplayWriter(Path("match.jsonl")):
        raise RunError("the bot cannot be started")
    assert not Path("match.jsonl").exists()


def test_an_aborted_record_that_was_changed_is_found() -> None:
    path = Path("match.jsonl")
    with pytest.raises(KeyboardInterrupt), ReplayWriter(path) as writer:
        play(begin("quoridor", writer), writer, 3)
        raise KeyboardInterrupt
    path.write_text(path.read_text().replace('"turn":2', '"turn":9'))
    with pytest.raises(Difference, match="line 4: turn 2 expected, 9 recorded"):
        verify(Replay(path))


@pytest.mark.parametrize(("turns", "words"), [(0, "aborted after 0 turns"), (1, "aborted after 1 turn ")])
def test_verify_tells_of_an_aborted_match(turns: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), ReplayWriter(Path("match.jsonl")) as writer:
        play(begin("quoridor", writer), writer, turns)
        raise KeyboardInterrupt
    assert main(["replay", "verify", "match.jsonl"]) == 0
    assert f"match.jsonl: {words}" in (out := capsys.readouterr().out)
    assert "(interrupted); verified so far" in out


def test_a_match_that_is_aborted_before_its_opening_verifies() -> None:
    game = registry.game("tictactoe")
    with pytest.raises(KeyboardInterrupt), ReplayWriter(Path("match.jsonl")) as writer:
        setup = Setup(3, ("a", "b"), game.options())
        writer.write(Header(REPLAY_VERSION, "tictactoe", game.version, setup, game.time, {}, ((), ())))
        raise KeyboardInterrupt
    assert verify(Replay(Path("match.jsonl"))) is None


def test_a_full_disk_is_the_error_that_is_told() -> None:
    words = r"the replay /dev/full cannot be written: No space left on device"
    with pytest.raises(RunError, match=words), ReplayWriter(Path("/dev/full")) as writer:
        play(begin("quoridor", writer), writer, 5)
        for _ in range(FLUSH_LINES):
            writer.write(Ending(None))
    assert os.path.exists("/dev/full")


# Records that somebody has changed.

ODD = [None, True, -1, 0, 10**9, 2**63, 1.5, "", "x", "\x00", [], {}, [1], [[]], {"a": 1}, {"0": 1}, "9,9"]


def changes(lines: list[str], count: int) -> Iterator[str]:
    """The record with one value changed or taken away, mostly one of the game's options."""
    luck = random.Random(1)
    for _ in range(count):
        number = luck.choice([0, 0, 0, *range(len(lines))])
        line = json.loads(lines[number])
        _change(luck, line["setup"]["options"] if number == 0 and luck.random() < 0.7 else line)
        yield "\n".join([*lines[:number], json.dumps(line, separators=(",", ":")), *lines[number + 1 :], ""])


def _change(luck: random.Random, value: Any) -> None:
    while True:
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = luck.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and luck.random() < 0.8:
            value = value[key]
        elif luck.random() < 0.2:
            del value[key]
            return
        else:
            value[key] = luck.choice(ODD)
            return


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_a_changed_record_is_refused_or_found_but_never_a_bug(name: str) -> None:
    path = Path("match.jsonl")
    with ReplayWriter(path) as writer:
        state = begin(name, writer)
        play(state, writer, 4)
        writer.write(Ending(None, aborted="enough"))
    for text in changes(path.read_text().splitlines(), 50):
        Path("changed.jsonl").write_text(text)
        try:
            replay = Replay(Path("changed.jsonl"))
            for _ in steps(replay):
                pass
            verify(replay)
        except (UsageError, Difference) as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("command", ["verify", "show"])
def test_a_record_with_a_bad_map_is_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with ReplayWriter(Path("match.jsonl")) as writer:
        begin("aiarena21", writer)
    header, *rest = Path("match.jsonl").read_text().splitlines()
    value = json.loads(header)
    value["setup"]["options"]["map"] = "no map\n"
    Path("match.jsonl").write_text("\n".join([json.dumps(value), *rest]))
    assert main(["replay", command, "match.jsonl"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("referee: match.jsonl is not a replay: line 1: options of aiarena21: ")


@pytest.mark.parametrize("flushed", [False, True])
def test_of_two_matches_with_one_replay_the_first_keeps_it(flushed: bool) -> None:
    path = Path("match.jsonl")
    with ReplayWriter(path) as first:
        state = begin("tictactoe", first)
        if flushed:
            first.catch_up()
        with pytest.raises(RunError, match="another match is writing it"), ReplayWriter(path):
            pass
        play(state, first, 1)
    assert len(Replay(path).lines) == 3


def test_a_match_that_fails_leaves_the_replay_that_took_its_name() -> None:
    path = Path("match.jsonl")
    with pytest.raises(ZeroDivisionError), ReplayWriter(path):
        path.unlink()
        path.write_text("of another match")
        raise ZeroDivisionError
    assert path.read_text() == "of another match"
