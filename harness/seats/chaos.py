"""Frames written in every form that the protocol allows: what a correct bot hears is the same, what breaks was wrong.

Unknown members and notifications, members in another order, frames of the largest size, frames in pieces with pauses
between them (SPEC.md, 2, 3, 8 and 12). All luck follows from the seed in `initialize`, so a match repeats.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from referee.games.dice import Dice, derive_seed
from referee.harness.isolation.spawner import Process
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.protocol.codec import codec
from referee.protocol.messages import Encoding, Initialize

STRANGERS: tuple[object, ...] = (
    None,
    True,
    -7,
    0.5,
    1 << 53,
    "ünknown ┻━┻",
    [],
    [[1], {"a": None}],
    {"id": 0, "method": "exit"},
)
"""Values of unknown members."""


class Manner(Struct, frozen=True):
    """How frames are written."""

    members: bool = False
    """With members, and notifications, that no bot knows."""
    reordered: bool = False
    padded: int = 0
    """One in so many frames is as long as a frame may be; 0 = none. It costs a bot in an interpreter milliseconds."""
    cuts: int = 0
    """A frame is written in up to so many pieces more."""
    pause_s: float = 0.0
    """Between two pieces. No bot is charged for it."""


CHAOS = Manner(members=True, reordered=True, padded=32, cuts=3, pause_s=0.0002)


class Chaos(Pipes):
    """Pipes through which every frame goes in that manner."""

    writes_ahead = True

    def __init__(self, process: Process, limits: Limits, manner: Manner = CHAOS) -> None:
        super().__init__(process, limits)
        self.manner = manner
        self._dice = Dice(0)
        self._greeted = False

    def start_match(self, match: Initialize, log: Callable[[], Path | None]) -> None:
        self._dice = Dice(derive_seed(match.seed, "chaos"))
        super().start_match(match, log)

    def put(self, frame: bytes) -> bytes:
        frame = self._upset(frame)
        self._greeted = True
        return super().put(frame)

    async def write_ahead(self) -> None:
        """Everything up to the last piece; less if the pipe does not take it. The pauses are in nobody's time."""
        if not self.manner.cuts:
            return
        data = bytes(self.outbox)
        self.outbox.clear()  # or a flush between two pieces would send them out of order
        written = 0
        for cut in _cuts(len(data), self.manner.cuts, self._dice):
            try:
                written += os.write(self.process.stdin, data[written:cut])
            except (BlockingIOError, BrokenPipeError):
                break  # the exchange goes on from here, and rules on it
            if written < cut:
                break
            await trio.sleep(self.manner.pause_s)
        self.outbox[:0] = data[written:]

    def _upset(self, frame: bytes) -> bytes:
        """The frame with the same meaning for whoever ignores what he does not know."""
        manner, dice = self.manner, self._dice
        if not (manner.members or manner.reordered or manner.padded):
            return frame
        write = codec(Encoding.JSON if frame.startswith(b"{") else Encoding.MSGPACK)
        message = write.decode(frame)
        before = b""
        if manner.members:
            if self._greeted and dice.below(4) == 0:
                before = write.frame({"jsonrpc": "2.0", "method": "unknownNotice", "params": {"of": self._stranger()}})
            for members in (message, message.get("params", {})):
                members[f"unknown{dice.below(1000)}"] = self._stranger()
        if manner.padded and "params" in message and dice.below(manner.padded) == 0:
            # The rest is for the member's own name and for escapes: the frame stays below the limit.
            message["params"]["padding"] = "x" * max(0, self.limits.frame_bytes - 2 * len(frame) - 1024)
        if manner.reordered:
            message = _reordered(message, dice)
        return before + write.frame(message)

    def _stranger(self) -> object:
        return self._dice.choice(STRANGERS)


def _cuts(size: int, count: int, dice: Dice) -> list[int]:
    """Places to cut a frame, all inside of it: near its ends, where half a frame is most easily taken for a whole one,
    or anywhere, in the middle of a character too."""
    near = [place for place in (1, 2, 7, size - 1) if 0 < place < size]
    places = {dice.choice(near) if dice.below(2) else 1 + dice.below(size - 1) for _ in range(count)} if near else set()
    return sorted(places)


def _reordered(value: Any, dice: Dice) -> Any:
    """`value` with the members of every object in another order."""
    if isinstance(value, list):
        return [_reordered(item, dice) for item in value]
    if not isinstance(value, dict):
        return value
    names = list(value)
    dice.shuffle(names)
    return {name: _reordered(value[name], dice) for name in names}
