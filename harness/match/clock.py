"""Clock arithmetic: how long a call may take, and what it leaves. Nothing here reads a clock."""

import math

from msgspec import UNSET

from referee.games.game import TimeControl
from referee.protocol import messages

_NANOSECOND_MS = 1e-6
"""Added before rounding down, so that a limit of 0.29 s is shown as 290 ms."""


class Clock:
    """The time of one seat: a bank, an increment and a limit for each call, all in seconds."""

    __slots__ = ("_opening_s", "_usual_s", "answers_left", "control", "last_s", "remaining_s")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._usual_s = control.per_call_s
        self._opening_s = control.per_call_s if control.opening_call_s is None else control.opening_call_s
        self.remaining_s = control.initial_s
        """Time left in the bank; None = there is no bank."""
        self.answers_left = control.answers if control.initial_s is not None else UNSET
        """How many answers until the bank gets more; unset = it will not."""
        self.last_s: float | None = None
        """Charge of the previous call; None before the first."""

    def per_call_s(self, in_opening: bool) -> float | None:
        """Returns the limit of a call by the time control; None = no limit."""
        return self._opening_s if in_opening else self._usual_s

    def limit_s(self, own_s: float | None = None, in_opening: bool = False) -> float:
        """Returns how long the next call may take; inf = no limit. A method with a limit `own_s` uses no bank."""
        if own_s is not None:
            return own_s
        per_call_s, remaining_s = self._opening_s if in_opening else self._usual_s, self.remaining_s
        if remaining_s is None:
            return math.inf if per_call_s is None else per_call_s
        return remaining_s if per_call_s is None or remaining_s < per_call_s else per_call_s

    def shown(self, call_ms: int | None) -> messages.Clock:
        """Returns what the seat is shown with a call that may take `call_ms`."""
        remaining_s, last_s = self.remaining_s, self.last_s
        return messages.Clock(
            call_ms,
            None if remaining_s is None else int(remaining_s * 1000 + _NANOSECOND_MS),
            None if last_s is None else int(last_s * 1000 + _NANOSECOND_MS),
            self.answers_left,
        )

    def charge(self, elapsed_s: float, own_s: float | None = None, in_opening: bool = False) -> bool:
        """Charges a call. Returns whether it was in time; exactly the limit still is, and earns the increment."""
        return self.charge_within(elapsed_s, self.limit_s(own_s, in_opening), own_s is None)

    def charge_within(self, elapsed_s: float, limit_s: float, uses_bank: bool) -> bool:
        """Charges a call whose limit is known."""
        in_time = elapsed_s <= limit_s
        self.last_s = elapsed_s
        if uses_bank and self.remaining_s is not None:
            self.remaining_s = max(0.0, self.remaining_s - elapsed_s)
            if in_time:
                self.remaining_s += self.control.increment_s
            if self.answers_left is not UNSET:
                self._end_period(self.answers_left - 1)
        return in_time

    def _end_period(self, answers_left: int) -> None:
        """Adds to the bank if no answer of the period is left."""
        self.answers_left, control = answers_left, self.control
        if answers_left or self.remaining_s is None:
            return
        repeats = control.final_s is UNSET
        self.answers_left = control.answers if repeats else UNSET
        self.remaining_s += (control.initial_s or 0.0) if control.final_s is UNSET else control.final_s


def milliseconds(seconds: float | None) -> int | None:
    """Returns whole milliseconds, rounded down, as the wire has them; None stays None."""
    return None if seconds is None else int(seconds * 1000 + _NANOSECOND_MS)
