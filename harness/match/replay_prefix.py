"""What was recorded is played again, with seats that hear their calls and notices as if it were new."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.games.contract import Call, Event
from referee.harness.match.match import Loop
from referee.harness.replay.lines import Opening, Origin, Step, Turn, played_again, state_hash

Feed = Callable[[Call, Turn], Awaitable[None]]
"""Has a seat hear a call of the past, in the turn that was recorded."""


class Past(Struct, frozen=True):
    """The beginning of a match that was played before."""

    steps: tuple[Step, ...]
    """The opening first. They must verify."""
    origin: Origin
    replay: Path | None = None
    """Where it was recorded: the seed is still that one."""


async def relive(loop: Loop, steps: Sequence[Step], feed: Feed) -> None:
    """Brings a loop that has not begun to where these steps lead: seats hear what was said, the recorded answers count,
    and the clocks are charged what was charged then. ValueError for steps that are none of this match."""
    state = loop.state
    for step in steps:
        if isinstance(step, Turn):
            for call in state.calls():
                await feed(call, step)
                charged_s = step.wall_us.get(call.player, 0) / 1e6
                loop.clocks[call.player].charge(charged_s, loop.time.own_s(call.method), state.in_opening)
        events = played_again(state, step)
        loop.relived(_now(step, events, state_hash(state)))
        loop.tell(events)


def _now(step: Step, events: list[Event], position: str) -> Step:
    """A step as it is recorded now: names of bots may stand in its events."""
    if isinstance(step, Opening):
        return Opening(events, position)
    return msgspec.structs.replace(step, events=events, hash=position)
