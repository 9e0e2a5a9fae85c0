"""Language models."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.harness.common.measures import Measure
    from referee.harness.programs.kinds import Kind

NEEDS = ("tournament",)
"""The add-ons that it imports."""
WORDS = ("model", "token", "prompt")
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.llm.kind import MODEL

    return (MODEL,)


@hook
def commands() -> Iterable[Command]:
    return (Command("bench", "referee.addons.llm.cli.bench:bench", "Compare"),)


@hook
def measures() -> "Iterable[Measure]":
    from referee.addons.llm.measure import TOKENS

    return (TOKENS,)
