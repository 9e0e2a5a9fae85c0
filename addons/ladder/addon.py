"""Ladders in a git repository."""

from collections.abc import Iterable

from referee.harness.addons import Command, hook

NEEDS = ("tournament", "wasm", "web")
"""The add-ons that it imports."""
WORDS = ("ladder",)
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (Command("ladder", "referee.addons.ladder.cli.ladder:ladder_app", "Contests"),)
