"""Language models."""

from collections.abc import Iterable

from referee.addons.llm.kind import MODEL
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind


@hook
def kinds() -> Iterable[Kind]:
    return (MODEL,)
