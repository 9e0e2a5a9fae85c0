"""The beginning of a match that was played before, and is played again with seats that get its calls and notices."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.games.contract import Call
from referee.harness.match.turn import Driver
from referee.harness.replay.lines import Opening, Origin, Step, Turn, apply_step, state_hash


class ReplayPrefix(Struct, frozen=True):
    """The beginning of a match that was played before."""

    steps: tuple[Step, ...]
    """The opening first. They must verify."""
    origin: Origin
    replay: Path | None = None
    """The file, which bots must not see: their match has the same seed."""


def prefix_calls(driver: Driver, steps: Sequence[Step]) -> Iterator[tuple[Call, Turn]]:
    """Brings a game that has not begun to where these steps lead. ValueError for steps of another match.

    Yields every call, to be made to its seat now, with the turn that was recorded. The recorded answers count, and
    clocks are charged what was recorded.
    """
    state = driver.state
    for step in steps:
        if isinstance(step, Turn):
            for call in state.calls():
                yield call, step
                wall_s = step.wall_us.get(call.player, 0) / 1e6
                driver.clocks[call.player].charge(wall_s, driver.time.own_s(call.method), state.in_opening)
        events = apply_step(state, step)
        # The events may contain the names of this match's bots.
        if isinstance(step, Opening):
            step = Opening(list(events), state_hash(state))
        else:
            step = msgspec.structs.replace(step, events=events, hash=state_hash(state))
        for listener in driver.listeners:
            listener.replayed(step)
        driver.notify(events)
