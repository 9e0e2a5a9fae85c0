"""The clock by which clients are charged: `time.monotonic` without the time in which no request could be read."""

import asyncio
from collections.abc import Callable
from math import inf
from time import monotonic

BEAT_S = 0.025
STALL_AFTER_S = 0.075
"""A longer gap between two beats is a stall. The clock leaves out the rest of the gap."""


class WebClock:
    """A clock that either end of the link has. The web process's own is the right one.

    It stands while the web process is gone, and leaves out the time in which that process did not run.
    """

    def __init__(self, at: float | None = None) -> None:
        """`at` is the time at which it stands; None = now."""
        self.offset_s = 0.0
        """How far it is behind `time.monotonic`."""
        self._stands_at: float | None = monotonic() if at is None else at

    def now(self) -> float:
        """Returns the time in seconds."""
        return monotonic() - self.offset_s if self._stands_at is None else self._stands_at

    @property
    def is_running(self) -> bool:
        """Whether it does not stand."""
        return self._stands_at is None

    def stop(self) -> None:
        """Stops the clock."""
        self._stands_at = self.now()

    def run(self) -> None:
        """Lets the clock run on from where it stands."""
        if self._stands_at is not None:
            self.follow(monotonic() - self._stands_at)

    def follow(self, offset_s: float) -> None:
        """Lets the clock run, as far behind as another one."""
        self.offset_s, self._stands_at = offset_s, None


class OwnClock(WebClock):
    """The web process's own, which leaves out the time in which that process did not run.

    It looks for such a gap before it says a time, as a request that came meanwhile may be read before the next beat.
    """

    def __init__(self, at: float, tell: Callable[[float], None]) -> None:
        """`tell` is called with the new `offset_s` after each gap."""
        super().__init__(at)
        self._tell = tell
        self._due = inf

    def now(self) -> float:
        self.beat()
        return super().now()

    def beat(self) -> None:
        """Says that the process runs."""
        now = monotonic()
        if now > self._due:
            self.follow(self.offset_s + now - self._due)
            self._tell(self.offset_s)
        self._due = now + STALL_AFTER_S

    async def beat_on(self) -> None:
        """Beats until it is cancelled."""
        while True:
            await asyncio.sleep(BEAT_S)
            self.beat()
