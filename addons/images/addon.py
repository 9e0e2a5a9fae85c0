"""Container images as bots."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import hook

if TYPE_CHECKING:
    from referee.harness.programs.kinds import Kind

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("OCI", "docker")
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.images.kind import IMAGE

    return (IMAGE,)
