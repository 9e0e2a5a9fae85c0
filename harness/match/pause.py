"""Somebody watches a match and may hold it between two turns, have it go on turn by turn, or end it."""

import time

from referee.harness.bell import Bell


class Pace:
    """What was asked for so far. The loop looks at `held` before each turn, and pays for nothing else."""

    def __init__(self, paused: bool = False) -> None:
        self.held = paused
        """Something is to be done before the next turn."""
        self.paused = paused
        self.stopped = False
        self._steps = 0
        self._changed = Bell()

    def pause(self) -> None:
        """No turn begins from here on. A call that is open is answered, and its clock runs."""
        self.paused, self._steps = True, 0
        self._tell()

    def play(self) -> None:
        self.paused, self._steps = False, 0
        self._tell()

    def step(self) -> None:
        """One turn more, then a pause."""
        self.paused = True
        self._steps += 1
        self._tell()

    def stop(self) -> None:
        """The match is ended before its next turn, and ranked by its rules."""
        self.stopped, self.paused = True, False
        self._tell()

    def begin(self) -> None:
        """Another match begins: one that was ended too late, or twice, does not end this one. A pause lasts."""
        self.stopped = False
        self._tell()

    def stopping(self) -> bool:
        """Whether the match is to be ended now; asked once for each time that it was said."""
        stopped, self.stopped = self.stopped, False
        self.held = self.paused
        return stopped

    def _tell(self) -> None:
        self.held = self.paused or self.stopped
        self._changed.ring()

    async def hold(self) -> float:
        """Waits until a turn may begin; how long that was, in seconds, of which no clock has run any."""
        started = time.perf_counter()
        while self.paused and not self._steps and not self.stopped:
            await self._changed.wait()
        self._steps = max(0, self._steps - 1)
        return time.perf_counter() - started
