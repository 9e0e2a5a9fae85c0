"""The Arena's servers, its judge, and the web services of its teams."""

from collections.abc import Iterable

from referee.addons.arena.kind import SERVICE
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind


@hook
def kinds() -> Iterable[Kind]:
    return (SERVICE,)
