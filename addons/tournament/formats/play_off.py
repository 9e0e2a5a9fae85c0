"""A play-off: further game pairs between bots that have equal points for one of the first places.

In each round, bots that are equal play a game pair against each other, with a new seed. The points of the round decide
between them. Those that are equal again, and still for one of the places, play another round, up to `ROUNDS`. After
that, the tie-breaks decide. A bot that is absent loses the games that it has not played.
"""

from collections.abc import Iterable, Sequence, Set
from itertools import combinations

import msgspec
from msgspec import Struct

from referee.addons.tournament.formats.games import (
    Field,
    Outcome,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    finished,
    in_order,
)

PLAY_OFF = "play-off"
"""The stage of its games: they have conditions of their own, so that no key is that of another game."""
ROUNDS = 3
"""The most rounds."""
MOST = 16
"""The most equal bots that play; of more, the tie-breaks decide."""
GAMES = 2
"""A game pair."""


class Round(Struct):
    """The games of one round between bots that were equal."""

    number: int
    """From 0 on."""
    place: int
    """The best place that they play for, from 1 on."""
    bots: list[int]
    games: list[ScheduledGame]
    """Played or not."""
    points: dict[int, float] = {}
    """By bot, when the round is over."""


class PlayOff:
    """The rounds of a play-off, and the order that they have given so far."""

    def __init__(self, field: Field, places: int, order: Sequence[Sequence[int]]) -> None:
        """`order`: the bots, best first; those of one list have equal points. `places`: how many are decided."""
        self.field = msgspec.structs.replace(field, seating=Seating.SEED_GROUP)
        self.places = places
        self.order = [list(equal) for equal in order]
        self.rounds: list[Round] = []

    def games(self, results: Results) -> ScheduledGames:
        """Yields the games in order, and None while the next round depends on games that are not played yet."""
        for number in range(ROUNDS):
            begun = [self._begin(number, *each, results) for each in self.equal() if len(each[1]) <= MOST]
            if not begun:
                return
            self.rounds += begun
            yield from (game for each in begun for game in each.games)
            for each in begun:
                outcomes = yield from finished(each.games, results)
                each.points = self._points(each, outcomes)
            decided = {each.place: in_order(each.bots, each.points.__getitem__) for each in begun}
            self.order = [part for place, equal in self._placed() for part in decided.get(place, [equal])]

    def equal(self) -> list[tuple[int, list[int]]]:
        """Returns the bots that are equal for one of the places, each time with the best place of these."""
        return [(place, bots) for place, bots in self._placed() if place <= self.places and len(bots) > 1]

    def _placed(self) -> Iterable[tuple[int, list[int]]]:
        place = 1
        for equal in self.order:
            yield place, equal
            place += len(equal)

    def _begin(self, number: int, place: int, bots: list[int], results: Results) -> Round:
        absent = {*self.field.absent}
        games = [
            game
            for pair in combinations(sorted(bots), 2)
            for game in self.field.games_of(pair, range(GAMES * number, GAMES * (number + 1)), PLAY_OFF)
            if absent.isdisjoint(pair) or results.get(game) is not None
        ]
        return Round(number, place, bots, games)

    def _points(self, played: Round, outcomes: Sequence[Outcome]) -> dict[int, float]:
        points, left = dict.fromkeys(played.bots, 0.0), _pairs_left(played)
        for game, outcome in zip(played.games, outcomes, strict=True):
            for bot, share in zip(game.seats, outcome.shares, strict=True):
                points[bot] += share
        for pair, games in left.items():
            for bot in pair - {*self.field.absent}:  # its opponent is absent
                points[bot] += games
        return points


def _pairs_left(played: Round) -> dict[Set[int], int]:
    """Returns how many games of each pair are lost without play."""
    left: dict[Set[int], int] = {frozenset(pair): GAMES for pair in combinations(played.bots, 2)}
    for game in played.games:
        left[frozenset(game.seats)] -= 1
    return left
