"""Engines of other protocols."""

from collections.abc import Iterable

from referee.addons.engines.kind import ENGINE
from referee.harness.addons import Command, hook
from referee.harness.programs.kinds import Kind

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("UCI", "UGI", "GTP", "CECP")
"""What no sentence of the harness may say."""


@hook
def kinds() -> Iterable[Kind]:
    return (ENGINE,)


@hook
def commands() -> Iterable[Command]:
    return (Command("serve bridge", "referee.addons.engines.cli.bridge:bridge"),)
