"""A clock that stands still while the referee itself is away: stopped, out of memory, or busy with something else.

A bot's answer may lie in its pipe meanwhile, so that no bot is charged for it.
"""

import time
from math import inf

import trio

BEAT_S = 0.025
AWAY_AFTER_S = 0.075
"""A gap between two beats counts from here on. The clock stands for the rest of it."""


class Presence:
    """Notices our own absences by a task that wakes up again and again, and does not when we are away."""

    def __init__(self) -> None:
        self.away_s = 0.0
        """How long we have been away so far."""
        self._seen = inf  # when the task woke up last; inf = it does not run
        self._tasks = 0

    def now(self) -> float:
        """Seconds, as `time.perf_counter` counts them, those apart in which we were away."""
        now = time.perf_counter()
        gap = now - self._seen - AWAY_AFTER_S
        return now - self.away_s if gap <= 0 else now - self.away_s - gap

    async def beat(self) -> None:
        """Runs until it is cancelled, beside the bots that are held to their time."""
        self._tasks += 1
        try:
            while True:
                now = time.perf_counter()
                self.away_s += max(0.0, now - self._seen - AWAY_AFTER_S)
                self._seen = now
                await trio.sleep(BEAT_S)
        finally:
            self._tasks -= 1
            if not self._tasks:
                self._seen = inf


PRESENCE = Presence()
"""The one of this process."""
