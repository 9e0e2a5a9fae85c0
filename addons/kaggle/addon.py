"""Kaggle's agents."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import hook

if TYPE_CHECKING:
    from referee.harness.programs.kinds import Kind

NEEDS = ("originals",)
"""The add-ons that it imports."""
WORDS = ("Kaggle",)
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.kaggle.kind import AGENT

    return (AGENT,)
