"""A series: the first of two bots to win a number of games."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from referee.harness.tournament.formats.designs import LineUp, pairings
from referee.harness.tournament.formats.games import (
    Field,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    games_of,
    named,
    present,
)


def wins_of_series(games: int, first_to: int | None) -> int:
    """Returns how many wins decide a series."""
    return first_to or games // 2 + 1


def series(field: Field, results: Results) -> ScheduledGames:
    """Every pair plays until one has won `first_to` games, with alternating seats and a seed per game (cardgame.md 10).

    Yields only games that are certain to be needed, so that none is played in vain, at any number of workers.
    """
    bots = present(field)
    field = msgspec.structs.replace(
        field, seating=Seating.ALTERNATE, first_to=wins_of_series(field.games, field.first_to)
    )
    undecided = [_Series(field, line_up) for line_up in named(bots, pairings(len(bots)))]
    while undecided:
        waiting = True
        for match in undecided:
            for game in match.next_games(results):
                waiting = False
                yield game
        undecided = [match for match in undecided if not match.is_over(results)]
        if waiting and undecided:
            yield None


class _Series:
    """The games of one pair."""

    def __init__(self, field: Field, line_up: LineUp) -> None:
        assert field.first_to is not None
        self.field, self.line_up, self.first_to = field, line_up, field.first_to
        self.wins = [0, 0]
        self.counted = 0
        self.scheduled = 0

    def next_games(self, results: Results) -> Iterator[ScheduledGame]:
        """Yields the games that are needed however the running ones end."""
        self.is_over(results)
        until = min(self.counted + self.first_to - max(self.wins), self.field.games)
        first, self.scheduled = self.scheduled, max(self.scheduled, until)
        return games_of(self.field, self.line_up, range(first, self.scheduled))

    def is_over(self, results: Results) -> bool:
        """Counts the finished games in their order. Returns whether the series is decided."""
        while self.counted < self.scheduled and max(self.wins) < self.first_to:
            (game,) = games_of(self.field, self.line_up, range(self.counted, self.counted + 1))
            outcome = results.get(game)
            if outcome is None:
                return False
            self.counted += 1
            if outcome.ranks[0] != outcome.ranks[1]:
                self.wins[self.line_up.index(game.seats[outcome.ranks.index(1)])] += 1
        return max(self.wins) >= self.first_to or self.counted >= self.field.games


def series_ranking(bots: int, won: Mapping[tuple[int, int], int]) -> list[list[int]]:
    """Returns the card competition's order (cardgame.md 10): best first; bots in one list share a rank.

    `won[a, b]` is how many games a won against b.
    """

    def beats(one: int, two: int) -> bool:
        return won.get((one, two), 0) > won.get((two, one), 0)

    def split(equal: list[int]) -> list[list[int]]:
        if len(equal) != 2:
            return [equal]
        one, two = equal
        return [[one], [two]] if beats(one, two) else [[two], [one]] if beats(two, one) else [equal]

    defeated = [sum(beats(bot, other) for other in range(bots) if other != bot) for bot in range(bots)]
    total = [sum(games for (one, _), games in won.items() if one == bot) for bot in range(bots)]
    order: list[list[int]] = []
    for equal in _equals(range(bots), defeated):
        groups = [equal] if len(equal) < 3 else _equals(equal, total)
        order += [part for group in groups for part in split(group)]
    return order


def _equals(bots: Sequence[int], worth: Sequence[float]) -> list[list[int]]:
    """Groups bots of equal worth, the best first."""
    return [
        [bot for bot in bots if worth[bot] == value] for value in sorted({worth[bot] for bot in bots}, reverse=True)
    ]
