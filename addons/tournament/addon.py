"""Tournaments, gates and tuning."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.addons.web.shelf import Shelf
    from referee.harness.match.series import PlaySeries


@hook
def commands() -> Iterable[Command]:
    return (
        Command("gate", "referee.addons.tournament.cli.gate:gate", "Compare"),
        Command("tune", "referee.addons.tournament.cli.tune:tune", "Compare"),
        Command("improve", "referee.addons.tournament.cli.improve:improve", "Compare"),
        Command("tournament", "referee.addons.tournament.cli.tournament:tournament_app", "Compare"),
    )


@hook
def shelves() -> "Iterable[Shelf]":
    from referee.addons.tournament import shelf

    return (shelf,)


@hook
def series() -> "Iterable[PlaySeries]":
    from referee.addons.tournament.execution.series_on_workers import play_side_by_side

    return (play_side_by_side,)
