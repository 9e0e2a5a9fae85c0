"""Figures as text."""

import math

from referee.harness.match.interval import Interval


def interval(figure: Interval, form: str = ".1f") -> str:
    """Formats like `12.3 [3.1, 21.6]`, with a question mark for an unknown end."""
    value, low, high = (number(each, form) for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


def number(value: float | None, form: str) -> str:
    """Formats a number, an infinite one as `∞`, an unknown one as `?`."""
    if value is None:
        return "?"
    return f"{value:{form}}" if math.isfinite(value) else "∞" if value > 0 else "-∞"
