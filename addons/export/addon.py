"""Packages for other systems."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.harness.programs.kinds import Kind

NEEDS = ()
"""The add-ons that it imports."""
WORDS = ("Kattis", "DOMjudge")
"""What no sentence of the harness may say."""


@hook
def kinds() -> "Iterable[Kind]":
    from referee.addons.export.kind import JUDGED

    return (JUDGED,)


@hook
def commands() -> Iterable[Command]:
    return (Command("export", "referee.addons.export.cli.export:export_app", "Serve others"),)
