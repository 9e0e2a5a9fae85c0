"""A clock that stops while the referee itself does not run: it was suspended, out of memory or busy.

A bot's answer may wait in its pipe meanwhile. No bot is charged for that time. Shorter pauses, in which other tasks of
the loop ran, do not stop the clock: it tells a reader since when its answer may have waited.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter

import trio

BEAT_S = 0.025
STALL_AFTER_S = 0.075
"""A longer gap between two beats is a stall. The clock stops for the rest of the gap."""
SLEPT_S = 0.00005
"""A loop that looked at its descriptors for longer had nothing to read before."""


class StallClock(trio.abc.Instrument):
    """The clock of one event loop, which notices stalls by a task that wakes up every `BEAT_S`."""

    def __init__(self) -> None:
        self.stalled_s = 0.0
        """Length of all stalls so far."""
        self.stop = inf
        """Where the clock stops unless a beat comes first. A reader that sees this time must give other tasks a turn.
        inf = there is no beat."""
        self.left_out_s = 0.0
        """The part of `stalled_s` in which the referee did known work, such as asking a rules program."""
        self.last_yield = 0.0
        """When a bot's reader last gave other tasks a turn, on `now`."""
        self.matches = 0
        """Matches that are open in this loop."""
        self.unread_since = 0.0
        """The earliest time, on `now`, at which something can have come that the loop's last look found."""
        self._beats = 0  # tasks that run `beat`
        self._stands = False
        self._looks = self._woke = 0.0  # when the last look at descriptors began and ended

    def now(self) -> float:
        """Returns seconds, as `time.perf_counter` counts them, without the stalls."""
        now = perf_counter() - self.stalled_s
        return now if now < self.stop else self.stop

    def before_io_wait(self, timeout: float) -> None:
        self._looks = self.now()

    def after_io_wait(self, timeout: float) -> None:
        now = self.now()
        self.unread_since = now if now - self._looks > SLEPT_S else self._woke
        self._woke = now

    @contextmanager
    def match_open(self) -> Iterator[None]:
        """Counts a match while the block runs."""
        self.matches += 1
        try:
            yield
        finally:
            self.matches -= 1

    def leave_out(self, duration_s: float) -> None:
        """Leaves the last seconds out, in which known work kept the whole loop waiting. No bot is charged for them."""
        self.stalled_s += duration_s
        self.left_out_s += duration_s

    def stand_still(self) -> None:
        """Stops the clock until `go_on`. The verdict says for how long."""
        self._stands = True
        if self._beats:
            self.stop = self.now()

    def go_on(self) -> None:
        """Lets the clock run again, from the next beat on."""
        self._stands = False

    async def beat(self) -> None:
        """Notices stalls until it is cancelled."""
        self._beats += 1
        try:
            while True:
                now = perf_counter() - self.stalled_s
                if now > self.stop:
                    self.stalled_s += now - self.stop
                    now = self.stop
                self.stop = now if self._stands else now + STALL_AFTER_S
                await trio.sleep(BEAT_S)
        finally:
            self._beats -= 1
            if not self._beats:
                self.stop = inf


_of_this_loop: trio.lowlevel.RunVar[StallClock] = trio.lowlevel.RunVar("stall clock")


def stall_clock() -> StallClock:
    """Returns the clock of the running event loop."""
    try:
        return _of_this_loop.get()
    except LookupError:
        clock = StallClock()
        _of_this_loop.set(clock)
        trio.lowlevel.add_instrument(clock)
        return clock


def now() -> float:
    """Returns the time on that clock, in seconds."""
    return stall_clock().now()


async def latest() -> float:
    """Does the same once the other tasks of the loop have had a turn."""
    await trio.lowlevel.checkpoint()
    return now()
