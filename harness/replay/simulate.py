"""Plays a replay again from its setup and its answers, and finds the first line that differs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from referee.games.contract import Result, Ruling, State
from referee.harness.common.measures import Record, measured, member_names
from referee.harness.replay.lines import (
    FULL_REPORTS,
    GAME_OVER,
    Ending,
    Forfeit,
    Injection,
    Opening,
    Step,
    Stop,
    Turn,
    apply_step,
    detail_of,
    state_hash,
)
from referee.harness.replay.reader import Replay
from referee.protocol.errors import UNDECODABLE

Kind = TypeVar("Kind")
NO_END = "missing: the match has no end"
_STEPS: Mapping[bytes, type[Turn | Forfeit | Injection | Stop | Opening]] = {
    b'{"turn":': Turn,
    b'{"forfeit":': Forfeit,
    b'{"inject":': Injection,
    b'{"stop":': Stop,
}
"""By the beginning of the line. The opening, which is always the second line, is not here."""


class Difference(Exception):
    """A line differs from what the simulation gives."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line


class Cut(Difference):
    """The replay ends before the match does. `line` is the first that is missing or incomplete."""

    def __init__(self, replay: Replay, why: str) -> None:
        whole = len(replay.lines) - replay.breaks_off
        what = "it breaks off" if replay.breaks_off else why
        cause = "perhaps because a disk was full, or the run was killed or is not over"
        super().__init__(whole + 1, f"{what}; line {whole} is the last whole one, {cause}")


@contextmanager
def _detect_cut(replay: Replay) -> Iterator[None]:
    try:
        yield
    except Difference as difference:
        if difference.line <= len(replay.lines) - replay.breaks_off or replay.ending is not None:
            raise
        raise Cut(replay, str(difference).partition(": ")[2]) from difference


def verify(replay: Replay) -> Result | None:
    """Plays the recorded answers again and returns the result. Raises Difference at the first line that differs.

    None = the match was aborted, and the replay is right up to there.
    """
    simulation = Simulation(replay.new())
    with _detect_cut(replay):
        for line in replay.lines[1:]:
            if simulation.take(line) is None:
                break
        result = simulation.conclude(replay.lines[simulation.number :])
        if result is not None and replay.ending is not None:
            _check_summary(replay, replay.ending, simulation)
        return result


def positions(replay: Replay) -> Iterator[tuple[int, State, Step]]:
    """Yields number (from 1), position after it and line, for all but header and ending. Raises Difference."""
    simulation = Simulation(replay.new())
    with _detect_cut(replay):
        for line in replay.lines[1:]:
            if (step := simulation.take(line)) is None:
                break
            yield simulation.number, simulation.state, step
        if len(replay.lines) < 2:
            raise Difference(2, "missing: the match was not opened")


def positions_to_the_end(replay: Replay) -> Iterator[tuple[int, State, Step]]:
    """Yields the same as `positions`, and raises Cut after the last one if the replay has no end."""
    yield from positions(replay)
    if replay.ending is None and len(replay.lines) > 1:
        raise Cut(replay, NO_END)


class Simulation:
    """Plays a replay again line by line, also while it is still written."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.number = 1
        """The number of the last line that was played, from 1; the header is line 1."""
        self.turns = 0
        self.rulings: list[tuple[int, Ruling]] = []
        """Each with the turn before it."""

    def take(self, line: bytes) -> Step | None:
        """Plays the next line after the header. None = it leads to no position, as an ending. Raises Difference."""
        number = self.number + 1
        kind = next((kind for start, kind in _STEPS.items() if line.startswith(start)), None)
        if number == 2:  # it may have been aborted before it was opened
            kind = None if line.startswith(b'{"result":') else Opening
        if kind is None or (kind in (Injection, Stop) and self.state.result is not None):
            return None
        step = _decode(line, number, kind)
        try:
            events = apply_step(self.state, step)
        except ValueError as error:
            raise Difference(number, str(error)) from error
        if isinstance(step, Turn):
            _check_seats(number, step)
            self.turns += 1
            _compare(number, "turn", step.turn, self.turns)
        _compare(number, "events", step.opening if isinstance(step, Opening) else step.events, events)
        _compare(number, "hash", step.hash, state_hash(self.state))
        self.rulings += [(self.turns, event) for event in events if isinstance(event, Ruling)]
        self.number = number
        return step

    def conclude(self, rest: Sequence[bytes]) -> Result | None:
        """Checks the lines after the last position and returns the result, as `verify`."""
        number, state = self.number, self.state
        if number == 1 and not rest:
            raise Difference(2, "missing: the match was not opened")
        ending = _decode(rest[0], number + 1, Ending) if rest else None
        if ending is None:
            raise Difference(number + 1, NO_END)
        if len(rest) > 1:
            raise Difference(number + 2, "there are lines after the end")
        if ending.aborted is not UNSET and ending.result is None:
            return None
        if state.awaited:
            raise Difference(number + 1, "the match ends, but answers are still awaited")
        if state.result is None or ending.result != state.result:
            raise Difference(number + 1, f"the result is {_text(state.result)}, not {_text(ending.result)}")
        return state.result


def _check_seats(number: int, step: Turn) -> None:
    """Checks that a turn's measurements are about seats that were asked. Raises Difference."""
    by_seat = [step.wall_us, step.cpu_us, step.waited_us, step.stderr]
    by_seat += [measured(step, name) for name in member_names(Record.TURN)]
    if others := set().union(*by_seat) - step.answers.keys() - step.faults.keys():
        raise Difference(number, f"it measures seat {min(others)}, which was not asked")


def _check_summary(replay: Replay, ending: Ending, simulation: Simulation) -> None:
    """Checks the summary in the last line against the lines before it, except for measurements. Raises Difference.

    The summary has reports of a seat's first faults, and counts all faults up to one that ends the seat's part. A fault
    after the game was over is in no other line. A fork does not count the faults before it, and a replay that another
    program wrote may have no summary.
    """
    number, names, result = simulation.number + 1, replay.header.setup.names, simulation.state.result
    assert result is not None
    if ending.seats:
        expected = list(zip(names, result.ranks, result.scores, strict=True))
        _compare(number, "seats", [(seat.name, seat.rank, seat.score) for seat in ending.seats], expected)
    if replay.header.origin is not None or not ending.seats:
        return
    for player, name in enumerate(names):
        reports = [fault for fault in ending.faults if fault.player == player and fault.penalty != GAME_OVER]
        ruled = [(turn, ruling) for turn, ruling in simulation.rulings if ruling.player == player]
        for (turn, ruling), fault in zip(ruled, reports, strict=False):
            detail = detail_of(ruling.fault, fault.method)
            expected_fault = name, ruling.fault.kind, detail, ruling.penalty, turn
            recorded = fault.name, fault.kind, fault.detail, fault.penalty, fault.turn
            _compare(number, f"fault of seat {player}", recorded, expected_fault)
        if len(reports) > len(ruled) or (ruled and not reports):
            raise Difference(number, f"seat {player} has {len(ruled)} faults in the turns, but {len(reports)} reports")
        if (counted := ending.seats[player].faults) is not None:
            reported = sum(fault.player == player for fault in ending.faults)
            _compare(number, f"reports of faults of seat {player}", reported, min(counted, FULL_REPORTS))
            least, most = _fault_counts([ruling for _, ruling in ruled], reported - len(reports), counted)
            if not least <= counted <= most:
                raise Difference(
                    number, f"seat {player} has {len(ruled)} faults in the turns, but the last line counts {counted}"
                )


def _fault_counts(rulings: Sequence[Ruling], over: int, counted: int) -> tuple[int, int]:
    """Returns the fewest and the most faults that a seat's summary may count.

    `over` is the number of its reports of faults after the game was over. The referee does not count the ruling that
    removes a seat if the process ended right after an earlier fault. A fault after the game was over has no report if
    the seat had enough faults before.
    """
    least = next((at for at, ruling in enumerate(rulings) if ruling.out or ruling.fault.fatal), len(rulings))
    hidden = counted > FULL_REPORTS and not over
    return least + over, len(rulings) + over + hidden


def _compare(number: int, what: str, recorded: Any, simulated: Any) -> None:
    """Raises Difference unless both have the same JSON text."""
    if msgspec.json.encode(recorded) != msgspec.json.encode(simulated):
        raise Difference(number, f"{what} {_text(simulated)} expected, {_text(recorded)} recorded")


def _decode(line: bytes, number: int, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(line, type=kind)
    except UNDECODABLE as error:
        raise Difference(number, str(error)) from error


def _text(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else text[:200] + "…"
