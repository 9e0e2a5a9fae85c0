"""People: a seat without a clock, illegal answers that are asked again, and a match that can be paused."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from scripted import Arena

from referee.games.contract import Fault, FaultKind, State
from referee.games.game import TimeControl
from referee.harness.common.errors import RunError, UsageError
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match
from referee.harness.match.pause import PauseControl
from referee.harness.match.series import People, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrants
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.replay.writer import is_being_written
from referee.harness.seats.person import Person
from referee.harness.seats.seat import Seat

QUICK = TimeControl(per_call_s=0.05, match_s=0.05)


def human(name: str = "human") -> Entrant:
    return entrants([f"{name}=human"], people=True)[0]


def cells(*names: str) -> Iterator[Any]:
    yield from ({"action": "putSymbol", "position": name} for name in names)


class Hand:
    """Answers slowly from a list, and notes refused answers."""

    def __init__(self, answers: Sequence[Any], pause_s: float = 0.0) -> None:
        self.answers = iter(answers)
        self.pause_s = pause_s
        self.refused: list[str] = []

    def __call__(self, entrant: Entrant) -> Seat:
        return Person(self.choose, lambda player, fault: self.refused.append(fault.detail))

    async def choose(self, state: State, player: int) -> Any:
        await trio.sleep(self.pause_s)
        return next(self.answers)


async def played(match: Match, hand: Hand | None, pace: PauseControl | None = None) -> Verdict:
    outcome = await play_series(Series(match), Limits(isolation=OFF), people=People(hand or Hand([]), pace))
    assert match.replay is not None
    assert not is_being_written(match.replay)
    assert verify(Replay(match.replay)) == outcome.matches[0].result
    return outcome.matches[0]


@pytest.mark.trio
async def test_a_person_is_on_no_clock_and_is_marked_as_one(arena: Arena) -> None:
    rival = arena.bot("greet(); put('C'); put('S'); call()")
    hand = Hand([*cells("NW", "N", "NE")], pause_s=0.1)
    match = arena.match(human("Ada"), rival, time=QUICK)
    verdict = await played(match, hand)
    assert verdict.faults == ()
    assert verdict.result.ranks == (1, 2)
    assert (verdict.seats[0].name, verdict.seats[0].program, verdict.seats[0].human) == ("Ada", "human", True)
    assert not verdict.seats[1].human
    header = json.loads(Path(str(match.replay)).read_bytes().splitlines()[0])
    assert header["people"] == [0]
    assert header["commands"][0] == ["human"]


@pytest.mark.trio
async def test_a_person_is_asked_again_after_an_illegal_answer(arena: Arena) -> None:
    rival = arena.bot("greet(); put('C'); put('S'); call()")
    hand = Hand([*cells("NW"), {"action": "putSymbol", "position": "C"}, 7, *cells("N", "NE")])
    assert (await played(arena.match(human(), rival), hand)).result.ranks == (1, 2)
    assert len(hand.refused) == 2
    assert hand.refused[0] == "location 1,1 is not empty"


@pytest.mark.trio
async def test_a_person_who_leaves_has_lost_by_the_rules(arena: Arena) -> None:
    rival = arena.bot("greet(); put('C'); call()")
    hand = Hand([*cells("NW"), Fault(FaultKind.CRASH, "has left")])
    match = arena.match(human(), rival)
    verdict = await played(match, hand)
    assert verdict.result.ranks == (2, 1)
    assert verdict.faults[0].detail == "has left"
    assert verdict.faults[0].bundle is None, "nobody can reproduce it"


@pytest.mark.trio
async def test_a_person_without_a_screen_is_an_error_of_the_run(arena: Arena) -> None:
    with pytest.raises(RunError, match="no person can play here"):
        await play_series(Series(arena.match(human(), human("other"))), Limits(isolation=OFF))


def test_people_play_nothing_that_is_ranked() -> None:
    with pytest.raises(UsageError, match="people play single matches only"):
        entrants(["human", "@random"], "tictactoe")


@pytest.mark.slow
@pytest.mark.trio
async def test_a_match_waits_between_two_turns_and_its_clocks_wait_with_it(arena: Arena) -> None:
    """The pause is longer than the match time."""
    first = arena.bot("greet(); put('NW'); put('N'); put('NE'); call()", name="first")
    second = arena.bot("greet(); put('C'); put('S'); call()", name="second")
    match = arena.match(first, second, time=TimeControl(per_call_s=5.0, match_s=1.0))
    pace = PauseControl(paused=True)
    turns: list[int] = []

    async def watch() -> None:
        replay = Path(str(match.replay))
        for turn in range(3):
            while pace._steps or not replay.exists() or count(replay) < turn:
                await trio.sleep(0.01)
            await trio.sleep(0.4)
            assert is_being_written(replay)
            turns.append(count(replay))
            pace.step()
        while count(replay) < 3:
            await trio.sleep(0.01)
        pace.play()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        verdict = await played(match, None, pace)
    assert turns == [0, 1, 2]
    assert verdict.result.ranks == (1, 2)
    lines = [json.loads(line) for line in Path(str(match.replay)).read_bytes().splitlines()]
    paused = [line.get("paused_ms", 0) for line in lines if "turn" in line]
    assert all(350 < each < 5000 for each in paused[1:3])  # before the first turn the bots start up
    assert paused[4] == 0


def count(replay: Path) -> int:
    return replay.read_bytes().count(b'\n{"turn":')


@pytest.mark.trio
async def test_a_match_is_stopped_between_two_turns_and_ranked_by_its_rules(arena: Arena) -> None:
    match = arena.match(*(arena.bot("greet(); put('NW')", name=name) for name in "ab"))
    pace = PauseControl(paused=True)
    pace.stop()
    verdict = await played(match, None, pace)
    assert verdict.turns == 0
    assert verdict.result.ranks == (1, 1)
    stop = msgspec.json.decode(Path(str(match.replay)).read_bytes().splitlines()[2])
    assert stop["stop"] == "stopped by somebody who watched"
