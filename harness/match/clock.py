"""Clock arithmetic: what a call may cost and what it leaves. Nothing here reads a clock."""

import math

from referee.games.contract import TimeControl


class Clock:
    """One seat's time: a bank, an increment and a limit a call, all in seconds."""

    __slots__ = ("_opening_s", "_usual_s", "control", "last_s", "remaining_s")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._usual_s = control.per_call_s
        self._opening_s = control.per_call_s if control.opening_call_s is None else control.opening_call_s
        self.remaining_s = control.initial_s
        """What is left in the bank; None = there is no bank."""
        self.last_s: float | None = None
        """What the previous call was charged; None before the first."""

    def per_call_s(self, in_opening: bool) -> float | None:
        """The limit of a call as the time control has it; None = no such limit."""
        return self._opening_s if in_opening else self._usual_s

    def limit_s(self, own_s: float | None = None, in_opening: bool = False) -> float:
        """How long the next call may take; `own_s`: a limit of its own, which draws on no bank. inf = for ever."""
        if own_s is not None:
            return own_s
        per_call_s, remaining_s = self._opening_s if in_opening else self._usual_s, self.remaining_s
        if remaining_s is None:
            return math.inf if per_call_s is None else per_call_s
        return remaining_s if per_call_s is None or remaining_s < per_call_s else per_call_s

    def charge(self, elapsed_s: float, own_s: float | None = None, in_opening: bool = False) -> bool:
        """Books a call; True = it was in time (exactly the limit still is), and the increment is added."""
        in_time = elapsed_s <= self.limit_s(own_s, in_opening)
        self.last_s = elapsed_s
        if own_s is None and self.remaining_s is not None:
            self.remaining_s = max(0.0, self.remaining_s - elapsed_s)
            if in_time:
                self.remaining_s += self.control.increment_s
        return in_time


def milliseconds(seconds: float | None) -> int | None:
    """Whole milliseconds, rounded down, as they go over the wire; None stays None."""
    return None if seconds is None else int(seconds * 1000 + 1e-6)
