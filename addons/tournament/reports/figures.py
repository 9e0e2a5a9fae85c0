"""Figures of ratings and gates as text."""

from referee.addons.tournament.statistics.score import Strength
from referee.harness.cli.reports.figures import interval
from referee.harness.match.interval import Interval

REPEATS = (
    "the rest are repeats, as of deterministic bots, and no new evidence; an option of the rules that varies the "
    "start, or a longer book of openings makes them differ"
)
"""The end of a warning about games that are alike."""


def rating(elo: Interval | None) -> str:
    """Formats like `+12 [+3, ?]`. Empty for None."""
    return "" if elo is None else interval(elo, "+.0f")


def los(strength: Strength) -> str:
    """Formats the likelihood of superiority like `97.52 %`, or as a question mark without information."""
    return "?" if strength.los is None else f"{100 * strength.los:.2f} %"
