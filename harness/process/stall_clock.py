"""A clock that stands still while the referee itself is away: stopped, out of memory, or busy with something else.

A bot's answer may lie in its pipe meanwhile, so that no bot is charged for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter

import trio

BEAT_S = 0.025
AWAY_AFTER_S = 0.075
"""A gap between two beats counts from here on. The clock stands for the rest of it."""


class Presence:
    """Notices our own absences by a task that wakes up again and again, and does not when we are away.

    Each event loop has one: `presence` gives it. A loop that stalls stops the clock of its own matches alone.
    """

    def __init__(self) -> None:
        self.away_s = 0.0
        """How long we have been away so far."""
        self.gave_way = 0.0
        """When a bot's reader last gave the other tasks a turn, on `now`.
        -inf = they are to have one at once: ours is overdue, and until it wakes up the clock stands."""
        self.matches = 0
        """Matches that are open in this loop."""
        self._due = inf  # when the task should have woken up again at the latest; inf = it does not run
        self._tasks = 0

    def now(self) -> float:
        """Seconds, as `time.perf_counter` counts them, those apart in which we were away."""
        now = perf_counter()
        if now <= self._due:
            return now - self.away_s
        self.gave_way = -inf
        return self._due - self.away_s

    @contextmanager
    def match_open(self) -> Iterator[None]:
        """Counts a match while the block runs."""
        self.matches += 1
        try:
            yield
        finally:
            self.matches -= 1

    async def beat(self) -> None:
        """Runs until it is cancelled, beside the bots that are held to their time."""
        self._tasks += 1
        try:
            while True:
                now = perf_counter()
                self.away_s += max(0.0, now - self._due)
                self._due = now + AWAY_AFTER_S
                await trio.sleep(BEAT_S)
        finally:
            self._tasks -= 1
            if not self._tasks:
                self._due = inf


_of_this_loop: trio.lowlevel.RunVar[Presence] = trio.lowlevel.RunVar("presence")


def presence() -> Presence:
    """The clock of the event loop that is running."""
    try:
        return _of_this_loop.get()
    except LookupError:
        made = Presence()
        _of_this_loop.set(made)
        return made


def now() -> float:
    """The time on that clock, in seconds."""
    return presence().now()
