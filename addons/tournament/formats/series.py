"""A series: the first of two bots to win a number of games."""

from collections.abc import Mapping, Sequence

import msgspec

from referee.addons.tournament.formats.designs import LineUp, pairings
from referee.addons.tournament.formats.games import Field, Results, ScheduledGame, ScheduledGames, Seating


def wins_of_series(games: int, first_to: int | None) -> int:
    """Returns how many wins decide a series."""
    return first_to or games // 2 + 1


def series(field: Field, results: Results) -> ScheduledGames:
    """Every pair plays until one has won `first_to` games, with alternating seats and a seed per game (cardgame.md 10).

    Yields only games that are certain to be needed, so that none is played in vain, at any number of workers.
    """
    field = msgspec.structs.replace(field, seating=Seating.ALTERNATE)
    undecided = [_series(field, line_up, results) for line_up in pairings(field.present)]
    while undecided:
        waiting = True
        for match in list(undecided):
            for game in match:
                if game is None:
                    break
                waiting = False
                yield game
            else:
                undecided.remove(match)
        if waiting and undecided:
            yield None


def _series(field: Field, line_up: LineUp, results: Results) -> ScheduledGames:
    """Yields the games of one pair that are needed however the running ones end, and counts them in their order."""
    first_to = wins_of_series(field.games, field.first_to)
    wins = [0, 0]
    games: list[ScheduledGame] = []
    for number in range(field.games):
        needed = min(number + first_to - max(wins), field.games)
        new = list(field.games_of(line_up, range(len(games), needed)))
        games += new
        yield from new
        while (outcome := results.get(games[number])) is None:
            yield None
        if outcome.ranks[0] != outcome.ranks[1]:
            wins[line_up.index(games[number].seats[outcome.ranks.index(1)])] += 1
        if max(wins) >= first_to:
            return


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
