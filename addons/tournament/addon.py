"""Tournaments, gates and tuning."""

from collections.abc import Iterable

from referee.harness.addons import Command, hook


@hook
def commands() -> Iterable[Command]:
    return (
        Command("gate", "referee.addons.tournament.cli.gate:gate", "Compare"),
        Command("tune", "referee.addons.tournament.cli.tune:tune", "Compare"),
        Command("improve", "referee.addons.tournament.cli.improve:improve", "Compare"),
        Command("tournament", "referee.addons.tournament.cli.tournament:tournament_app", "Compare"),
    )
