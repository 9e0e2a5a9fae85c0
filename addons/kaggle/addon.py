"""Kaggle's agents."""

from collections.abc import Iterable

from referee.addons.kaggle.kind import AGENT
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind

NEEDS = ("originals",)
"""The add-ons that it imports."""
WORDS = ("Kaggle",)
"""What no sentence of the harness may say."""


@hook
def kinds() -> Iterable[Kind]:
    return (AGENT,)
