"""The beginning of a match that was played before, and is played again with seats that get its calls and notices."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.games.contract import Call, Event
from referee.harness.match.turn import Driver
from referee.harness.replay.lines import Opening, Origin, Step, Turn, apply_step, state_hash

Feed = Callable[[Call, Turn], Awaitable[None]]
"""Makes a call of the prefix to a seat, in the turn that was recorded."""


class ReplayPrefix(Struct, frozen=True):
    """The beginning of a match that was played before."""

    steps: tuple[Step, ...]
    """The opening first. They must verify."""
    origin: Origin
    replay: Path | None = None
    """The file, which bots must not see: their match has the same seed."""


async def play_prefix(driver: Driver, steps: Sequence[Step], feed: Feed) -> None:
    """Brings a game that has not begun to where these steps lead. ValueError for steps of another match.

    The recorded answers count, and clocks are charged what was recorded.
    """
    state = driver.state
    for step in steps:
        if isinstance(step, Turn):
            for call in state.calls():
                await feed(call, step)
                wall_s = step.wall_us.get(call.player, 0) / 1e6
                driver.clocks[call.player].charge(wall_s, driver.time.own_s(call.method), state.in_opening)
        events = apply_step(state, step)
        step = _updated(step, events, state_hash(state))
        for listener in driver.listeners:
            listener.replayed(step)
        driver.notify(events)


def _updated(step: Step, events: list[Event], position: str) -> Step:
    """Returns a step with the events of this match, which may contain the names of its bots."""
    if isinstance(step, Opening):
        return Opening(events, position)
    return msgspec.structs.replace(step, events=events, hash=position)
