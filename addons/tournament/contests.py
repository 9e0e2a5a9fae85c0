"""What another add-on keeps in a tournament's folder."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Protocol

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.class_list import HandedIn
from referee.harness.addons import hooks


class Contest(Protocol):
    """A contest that plays in tournaments' folders."""

    def command(self, folder: Path) -> str:
        """Returns the command that plays this folder, which a tournament must not; empty for another folder."""

    def handed_in(self, folder: Path) -> dict[str, HandedIn]:
        """Returns what everybody handed in, by name; empty for another folder."""

    def checked_seed(self, folder: Path, plan: Plan) -> str:
        """Returns a sentence about the seed; empty for another folder. UsageError for one nobody promised."""


def contests() -> Iterator[Contest]:
    """Yields those of all add-ons."""
    return chain.from_iterable(hooks().contests())
