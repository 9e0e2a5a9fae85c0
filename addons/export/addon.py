"""Packages for other systems."""

from collections.abc import Iterable

from referee.addons.export.kind import JUDGED
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind


@hook
def kinds() -> Iterable[Kind]:
    return (JUDGED,)
