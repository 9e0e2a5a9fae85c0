"""Tournaments, gates and tuning."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from referee.harness.addons import Command, hook

if TYPE_CHECKING:
    from referee.addons.web.shelf import Shelf
    from referee.harness.match.ratings import PlayerRating, RatedGame, RatePlayers
    from referee.harness.match.series import Outcome, PlaySeries, Series
    from referee.harness.match.verdict import Verdict
    from referee.harness.process.limits import Limits

NEEDS = ("web",)
"""The add-ons that it imports."""
WORDS = ("tournament", "ledger", "Swiss")
"""What no sentence of the harness may say."""


@hook
def commands() -> Iterable[Command]:
    return (
        Command("gate", "referee.addons.tournament.cli.gate:gate", "Compare"),
        Command("tune", "referee.addons.tournament.cli.tune:tune", "Compare"),
        Command("tournament", "referee.addons.tournament.cli.tournament:tournament_app", "Compare"),
    )


@hook
def shelves() -> "Iterable[Shelf]":
    from referee.addons.tournament import shelf

    return (shelf,)


@hook
def series() -> "PlaySeries":
    return _side_by_side


async def _side_by_side(
    series: "Series",
    limits: "Limits",
    workers: int,
    played: "Callable[[Verdict, tuple[int, ...]], None]",
    before: "Sequence[tuple[tuple[int, ...], Verdict]]" = (),
) -> "Outcome":
    from referee.addons.tournament.execution.series_on_workers import play_side_by_side

    return await play_side_by_side(series, limits, workers, played, before)


@hook
def ratings() -> "RatePlayers":
    return _rated


def _rated(players: int, groups: "Iterable[Sequence[RatedGame]]", seed: int) -> "Sequence[PlayerRating]":
    from referee.addons.tournament.statistics.rating import rate
    from referee.addons.tournament.statistics.tally import Game, Tally

    counted = Tally(players)
    for games in groups:
        counted.add([Game(game.players, game.ranks) for game in games], [tuple([game.course for game in games])])
    return rate(players, counted.weights(), seed)
