"""Engines of other protocols."""

from collections.abc import Iterable

from referee.addons.engines.kind import ENGINE
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind


@hook
def kinds() -> Iterable[Kind]:
    return (ENGINE,)
