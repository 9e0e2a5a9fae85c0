"""Plays a record again from its setup and its answers, and finds the first line that differs."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from referee.games.api import Event, Result, State
from referee.harness.record.lines import Ending, Forfeit, Injection, Opening, Step, Stop, Turn, state_hash
from referee.harness.record.replay import Replay

Kind = TypeVar("Kind")


class Difference(Exception):
    """A line that re-simulation does not give again."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")


def verify(replay: Replay) -> Result | None:
    """Plays the recorded answers again. Returns the result, or raises Difference at the first line that differs.

    None: the record says itself that the match was aborted, and is identical up to there.
    """
    simulation = Simulation(replay.new())
    for line in replay.lines[1:]:
        if simulation.take(line) is None:
            break
    return simulation.conclude(replay.lines[simulation.number :])


def positions(replay: Replay) -> Iterator[tuple[int, State, Step]]:
    """Line number (from 1), position after it, and the line, for all but the first and the last. Raises Difference."""
    simulation = Simulation(replay.new())
    if len(replay.lines) < 2:
        raise Difference(2, "missing: the match was not opened")
    if len(replay.lines) == 2 and replay.ending is not None:
        return  # it was aborted before it was opened
    for line in replay.lines[1:]:
        step = simulation.take(line)
        if step is None:
            return
        yield simulation.number, simulation.state, step


class Simulation:
    """A record that is played again line by line, also while it is still written."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.number = 1
        """Of the last line that was played, from 1; the header is one."""
        self.turns = 0

    def take(self, line: bytes) -> Step | None:
        """Plays the next line after the header; None = it leads to no position: an ending, if the record is right.
        Raises Difference."""
        number, state = self.number + 1, self.state
        step: Step
        if number == 2:
            if line.startswith(b'{"result":'):
                return None  # it was aborted before it was opened
            opening = _decode(line, 2, Opening)
            _compare(2, "events", opening.opening, state.opening())
            _compare(2, "hash", opening.hash, state_hash(state))
            self.number = 2
            return opening
        if line.startswith(b'{"turn":'):
            step = turn = _decode(line, number, Turn)
            events = _apply(state, turn, number)
            self.turns += 1
            _compare(number, "turn", turn.turn, self.turns)
        elif line.startswith(b'{"inject":') and state.result is None:
            step = injection = _decode(line, number, Injection)
            events = _inject(state, injection, number)
        elif line.startswith(b'{"forfeit":'):
            step = forfeit = _decode(line, number, Forfeit)
            events = _forfeit(state, forfeit, number)
        elif line.startswith(b'{"stop":') and state.result is None:
            step = stop = _decode(line, number, Stop)
            events = state.stop(stop.stop)
        else:
            return None
        _compare(number, "events", step.events, events)
        _compare(number, "hash", step.hash, state_hash(state))
        self.number = number
        return step

    def conclude(self, rest: Sequence[bytes]) -> Result | None:
        """Judges what comes after the last position: see `verify`."""
        number, state = self.number, self.state
        if number == 1 and not rest:
            raise Difference(2, "missing: the match was not opened")
        ending = _decode(rest[0], number + 1, Ending) if rest else None
        if ending is None:
            raise Difference(number + 1, "missing: the match has no end")
        if len(rest) > 1:
            raise Difference(number + 2, "there are lines after the end")
        if ending.aborted is not UNSET and ending.result is None:
            return None
        if state.awaited:
            raise Difference(number + 1, "the match ends, but answers are still awaited")
        if state.result is None or ending.result != state.result:
            raise Difference(number + 1, f"the result is {_text(state.result)}, not {_text(ending.result)}")
        return state.result


def _apply(state: State, turn: Turn, number: int) -> list[Event]:
    try:
        return state.apply(turn.answers | turn.faults)
    except ValueError as error:
        raise Difference(number, str(error)) from error


def _inject(state: State, injection: Injection, number: int) -> list[Event]:
    if injection.inject not in range(len(state.setup.names)):
        raise Difference(number, f"there is no seat {injection.inject}")
    try:
        return state.inject(injection.inject, injection.answers, injection.offence)
    except ValueError as error:
        raise Difference(number, str(error)) from error


def _forfeit(state: State, forfeit: Forfeit, number: int) -> list[Event]:
    try:
        return state.forfeit(forfeit.forfeit)
    except ValueError as error:
        raise Difference(number, str(error)) from error


def _compare(number: int, what: str, recorded: Any, simulated: Any) -> None:
    """Both as JSON text, which is how the recorded one was written."""
    if msgspec.json.encode(recorded) != msgspec.json.encode(simulated):
        raise Difference(number, f"{what} {_text(simulated)} expected, {_text(recorded)} recorded")


def _decode(line: bytes, number: int, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Difference(number, str(error)) from error


def _text(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else text[:200] + "…"
