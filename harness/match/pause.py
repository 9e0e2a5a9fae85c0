"""The controls of a viewer, who may pause a match between two turns, step through it, or stop it."""

import time

from referee.harness.match.bell import Bell


class PauseControl:
    """The state of the controls. The driver looks at `held` before each turn."""

    def __init__(self, paused: bool = False) -> None:
        self.paused = paused
        self.stopped = False
        self._steps = 0
        self._changed = Bell()

    @property
    def held(self) -> bool:
        """Whether the match is paused or must stop before the next turn."""
        return self.paused or self.stopped

    def pause(self) -> None:
        """Pauses before the next turn. An open call goes on, and so does its clock."""
        self.paused, self._steps = True, 0

    def play(self) -> None:
        """Ends a pause."""
        self.paused, self._steps = False, 0
        self._changed.ring()

    def step(self) -> None:
        """Allows one more turn, then pauses."""
        self.paused = True
        self._steps += 1
        self._changed.ring()

    def stop(self) -> None:
        """Ends the match before its next turn, ranked by its rules."""
        self.stopped, self.paused = True, False
        self._changed.ring()

    def begin(self) -> None:
        """Begins another match, which an earlier `stop` does not end. A pause lasts."""
        self.stopped = False

    def stopping(self) -> bool:
        """Returns whether to end the match now, once for each `stop`."""
        stopped, self.stopped = self.stopped, False
        return stopped

    async def hold(self) -> float:
        """Waits until a turn may begin. Returns how long that took, in seconds; no clock runs meanwhile."""
        started = time.perf_counter()
        while self.paused and not self._steps and not self.stopped:
            await self._changed.wait()
        self._steps = max(0, self._steps - 1)
        return time.perf_counter() - started
