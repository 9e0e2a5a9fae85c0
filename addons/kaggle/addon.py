"""Kaggle's agents."""

from collections.abc import Iterable

from referee.addons.kaggle.kind import AGENT
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind


@hook
def kinds() -> Iterable[Kind]:
    return (AGENT,)
