"""Figures as text, for standings and gates."""

import math

from referee.harness.tournament.statistics.score import Interval, Strength


def interval(figure: Interval, form: str = ".1f") -> str:
    """Formats like `12.3 [3.1, 21.6]`, with a question mark for an unknown end."""
    value, low, high = (number(each, form) for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


def rating(elo: Interval | None) -> str:
    """Formats like `+12 [+3, ?]`. Empty for None."""
    return "" if elo is None else interval(elo, "+.0f")


def los(strength: Strength) -> str:
    """Formats the likelihood of superiority like `97.52 %`, or as a question mark without information."""
    return "?" if strength.los is None else f"{100 * strength.los:.2f} %"


def number(value: float | None, form: str) -> str:
    """Formats a number, an infinite one as `∞`, an unknown one as `?`."""
    if value is None:
        return "?"
    return f"{value:{form}}" if math.isfinite(value) else "∞" if value > 0 else "-∞"
