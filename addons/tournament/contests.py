"""What another add-on keeps in a tournament's folder."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Protocol

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.class_list import HandedIn
from referee.harness.addons import hooks
from referee.harness.common.errors import UsageError


class Contest(Protocol):
    """A contest that plays in tournaments' folders."""

    def command(self, folder: Path) -> str:
        """Returns the command that plays and changes this folder, as a tournament must not; empty for another one."""

    def handed_in(self, folder: Path) -> dict[str, HandedIn]:
        """Returns what everybody handed in, by name; empty for another folder."""

    def checked_seed(self, folder: Path, plan: Plan) -> str:
        """Returns a sentence about the seed; empty for another folder. UsageError for one nobody promised."""


def contests() -> Iterator[Contest]:
    """Yields those of all add-ons."""
    return chain.from_iterable(hooks().contests())


def refuse_contest(folder: Path) -> None:
    """Raises UsageError for a folder that a contest plays: its pages would not know of a change."""
    if command := next(filter(None, (contest.command(folder) for contest in contests())), ""):
        raise UsageError(f"{folder} belongs to a contest, which only its own pages change: {command}")
