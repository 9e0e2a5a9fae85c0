"""The clock by which clients are charged: `time.monotonic` without the time in which no request could be read."""

from time import monotonic


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
