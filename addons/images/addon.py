"""Container images as bots."""

from collections.abc import Iterable

from referee.addons.images.kind import IMAGE
from referee.harness.addons import hook
from referee.harness.programs.kinds import Kind

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("OCI", "docker")
"""What no sentence of the harness may say."""


@hook
def kinds() -> Iterable[Kind]:
    return (IMAGE,)
