"""Where a match turned: the expected score of each seat after each turn, and its largest changes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.harness.replay.assessment import Assessor

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("analysis",)
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (Command("analyse", "referee.addons.analysis.cli.analyse:analyse", "Play and understand"),)


@hook
def assessor() -> "Assessor":
    from referee.addons.analysis import assessor

    return assessor
