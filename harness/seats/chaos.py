"""Chaos: frames in every form that the protocol allows. A correct bot reads the same from all of them.

Unknown members and notifications, members in another order, frames of the largest size, frames in pieces with pauses
between them (SPEC.md, 2, 3, 8 and 12). All luck follows from the seed in `initialize`, so a match repeats.
"""

import os
from typing import Any

import trio
from msgspec import Struct

from referee.games.dice import Dice, derive_seed
from referee.harness.process.bot_process import BotProcess
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
    """Add unknown members and unknown notifications."""
    reordered: bool = False
    padded: int = 0
    """One in this many frames is as long as a frame may be; 0 = none. It costs an interpreted bot milliseconds, so with
    short calls it is shorter."""
    cuts: int = 0
    """Most cuts in a frame."""
    pause_s: float = 0.0
    """Pause between two pieces. No bot is charged for it."""


PADDING_BYTES_PER_MS = 10_000
"""Most padding, for each millisecond of the shortest limit: to read it takes less than a tenth of it."""
CHAOS = Manner(members=True, reordered=True, padded=32, cuts=3, pause_s=0.0002)


class Chaos(Pipes):
    """Pipes that write every frame in one manner."""

    writes_ahead = True

    def __init__(self, process: BotProcess, manner: Manner = CHAOS) -> None:
        super().__init__(process)
        self.manner = manner
        self._dice = Dice(0)
        self._greeted = False
        self._most_padding = self.limits.frame_bytes

    def prepare(self, match: Initialize) -> None:
        self._dice = Dice(derive_seed(match.seed, "chaos"))
        limits = match.limits
        given_ms = (limits.call_ms, limits.opening_ms, limits.closing_ms, limits.initial_ms)
        short_ms = min([each for each in given_ms if each is not None], default=limits.startup_ms)
        self._most_padding = min(self.limits.frame_bytes, short_ms * PADDING_BYTES_PER_MS)

    def put(self, frame: bytes) -> bytes:
        frame = self._upset(frame)
        self._greeted = True
        return super().put(frame)

    async def write_ahead(self) -> None:
        """Sends everything up to the last piece; less if the pipe is full."""
        if not self.manner.cuts:
            return
        data = bytes(self.outbox)
        self.outbox.clear()  # or a flush between two pieces would send them out of order
        written = 0
        for cut in _cuts(len(data), self.manner.cuts, self._dice):
            try:
                written += os.write(self.process.stdin, data[written:cut])
            except (BlockingIOError, BrokenPipeError):
                break  # the exchange goes on from here, and finds the fault
            if written < cut:
                break
            await trio.sleep(self.manner.pause_s)
        self.outbox[:0] = data[written:]

    def _upset(self, frame: bytes) -> bytes:
        """Returns another frame with the same meaning for a bot that ignores unknown members."""
        manner, dice = self.manner, self._dice
        if not (manner.members or manner.reordered or manner.padded):
            return frame
        write = codec(Encoding.JSON if frame.startswith(b"{") else Encoding.MSGPACK)
        message = write.decode(frame)
        before = b""
        if manner.members:
            if self._greeted and dice.below(4) == 0:
                params = {"of": dice.choice(STRANGERS)}
                before = write.frame({"jsonrpc": "2.0", "method": "unknownNotice", "params": params})
            for members in (message, message.get("params", {})):
                members[f"unknown{dice.below(1000)}"] = dice.choice(STRANGERS)
        if manner.padded and "params" in message and dice.below(manner.padded) == 0:
            # The margin is for the member's name and for escapes.
            room = self.limits.frame_bytes - 2 * len(frame) - 1024
            message["params"]["padding"] = "x" * max(0, min(room, self._most_padding))
        if manner.reordered:
            message = _reordered(message, dice)
        return before + write.frame(message)


def _cuts(size: int, count: int, dice: Dice) -> list[int]:
    """Returns places to cut a frame: near its ends, where half a frame looks like a whole one, or anywhere inside."""
    near = [place for place in (1, 2, 7, size - 1) if 0 < place < size]
    places = {dice.choice(near) if dice.below(2) else 1 + dice.below(size - 1) for _ in range(count)} if near else set()
    return sorted(places)


def _reordered(value: Any, dice: Dice) -> Any:
    """Returns `value` with the members of every object in another order."""
    if isinstance(value, list):
        return [_reordered(item, dice) for item in value]
    if not isinstance(value, dict):
        return value
    names = list(value)
    dice.shuffle(names)
    return {name: _reordered(value[name], dice) for name in names}
