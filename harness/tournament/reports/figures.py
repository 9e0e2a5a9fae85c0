"""Figures as text, for standings and gates."""

import math

from referee.harness.tournament.statistics.score import Interval, Strength


def interval(figure: Interval) -> str:
    """Formats like `12.3 [3.1, 21.6]`, with a question mark for an unknown end."""
    return f"{_decimal(figure.value)} [{_decimal(figure.low)}, {_decimal(figure.high)}]"


def rating(elo: Interval | None) -> str:
    """Formats like `+12 [+3, ?]`. Empty for None."""
    return "" if elo is None else f"{_signed(elo.value)} [{_signed(elo.low)}, {_signed(elo.high)}]"


def los(strength: Strength) -> str:
    """Formats the likelihood of superiority like `97.52 %`, or as a question mark without information."""
    return "?" if strength.los is None else f"{100 * strength.los:.2f} %"


def _decimal(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:.1f}" if math.isfinite(value) else "∞" if value > 0 else "-∞"


def _signed(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:+.0f}" if math.isfinite(value) else "∞" if value > 0 else "−∞"
