"""Ladders in a git repository."""

from collections.abc import Iterable

from referee.harness.addons import Command, hook


@hook
def commands() -> Iterable[Command]:
    return (Command("ladder", "referee.addons.ladder.cli.ladder:ladder_app", "Contests"),)
