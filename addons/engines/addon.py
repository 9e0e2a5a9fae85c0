"""Engines of other protocols."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.harness.programs.kinds import Kind

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("UCI", "UGI", "GTP", "CECP")
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.engines.kind import ENGINE

    return (ENGINE,)


@hook
def commands() -> Iterable[Command]:
    return (Command("serve bridge", "referee.addons.engines.cli.bridge:bridge"),)
