"""Language models."""

from collections.abc import Iterable

from referee.addons.llm.kind import MODEL
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("model", "token", "prompt")
"""What no sentence of the harness may say."""


@hook
def kinds() -> Iterable[Kind]:
    return (MODEL,)
