"""A ladder without end: the bot with the least machine time plays a neighbour in rank.

It has no batches: a game is chosen when a worker is free, by the games so far and by those that are being played. So
the choice depends on how long games take. Each game counts by its key, whatever the order, and a ladder that was
interrupted continues from the games that it has.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations, permutations
from typing import Protocol, runtime_checkable

import msgspec

from referee.addons.tournament.formats.designs import LineUp, rows
from referee.addons.tournament.formats.games import (
    Field,
    Outcome,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    expelled,
    half_points,
)
from referee.games.dice import Dice, derive_seed

PLACES = 6
"""A new bot first plays this many seed groups, against bots across the table: at 0, 20, … 100 % of it."""
NEIGHBOURS = 6
"""How many bots near it in rank a bot plays."""
AHEAD = 3
"""A bot that has had the machine time of this many games more than the average waits until the others catch up."""
STEPS = 2
"""Newton steps of a rating after a game."""
SWEEPS = 20
"""How often all ratings are fitted when a ladder continues."""
CATCH_UP = 40
"""A bot that comes late catches up by the machine time of this many games: those that its rating needs. Then it has
the same share as the others."""
WATCHED = 2
"""The share of the first bots while somebody watches, compared with the others'."""


@runtime_checkable
class Progress(Results, Protocol):
    """What else the ladder looks at while it is played. Without it, no game was begun, and all take equally long."""

    def begun(self, stage: str, /) -> Iterable[ScheduledGame]:
        """Yields the games that were played, or that a worker has."""

    def spent_s(self, line_up: LineUp, stage: str, /) -> float:
        """Returns how long all games of these bots took."""


@runtime_checkable
class Audience(Protocol):
    """What a ladder may also look at."""

    def watched(self) -> int:
        """Returns how many of the first bots play twice as much as others: 0 while nobody watches."""


def ladder(field: Field, results: Results) -> ScheduledGames:
    """The bot with the least machine time against one of its six neighbours in rank; a seed group each.

    It plays one of those that it has met least, at random. Among all six, it would need up to a fifth more games
    for the same order. At four seats, it plays three of its neighbours.

    A new bot first plays `PLACES` bots across the table, once there is one: when bots have begun that many seed groups
    on average. With the least machine time of all, it plays at once, but catches up by `CATCH_UP` games only.
    """
    field = msgspec.structs.replace(field, seating=Seating.SEED_GROUP)
    if len(field.present) < field.seats:
        return
    table = _Table(field, results)
    turns = len(rows(field.seats))
    while not field.games or table.count < field.games:
        table.look()
        line_up = table.next_line_up()
        group = table.next_group[line_up]
        games = [*field.games_of(line_up, range(group * turns, (group + 1) * turns))]
        for game in [game for game in games if game not in table.begun[line_up]]:
            if not field.games or table.count < field.games:
                table.begin(game)
                yield game
                table.look()
    while table.open:
        yield None
        table.look()


class _Table:
    """The ratings, machine times and open games of a ladder."""

    def __init__(self, field: Field, results: Results) -> None:
        self.count = 0
        """Games that were begun."""
        self.next_group: dict[LineUp, int] = defaultdict(int)
        """By line-up, the first seed group that was not begun as a whole."""
        self.begun: dict[LineUp, set[ScheduledGame]] = defaultdict(set)
        """By line-up, the games from that seed group on that were begun."""
        self._results, self._stage, self._turns = results, field.stage, len(rows(field.seats))
        self._rivals = field.seats - 1
        self._bots = field.present
        self._dice = Dice(derive_seed(field.seed, "ladder"))
        self._dice.shuffle(self._bots)
        self.open: set[ScheduledGame] = set()
        """Games that were begun and have not ended."""
        self._open_games = Counter[int]()
        self._games, self._played_s = Counter[int](), defaultdict[int, float](float)
        """By bot, the games that have ended, and their time."""
        self._spent_s = dict.fromkeys(self._bots, 0.0)
        """By bot, the machine time by which the next one is chosen."""
        self._line_up_s: dict[LineUp, float] = defaultdict(float)
        self._groups = Counter[int]()
        """By bot, the seed groups that were begun."""
        self._met = Counter[LineUp]()
        """By pair, the same."""
        self._top: list[int] = []
        """The first bots, while somebody watches."""
        self._scores: dict[int, dict[int, list[float]]] = {bot: {} for bot in self._bots}
        """By bot and rival: points and games."""
        self._rating = dict.fromkeys(self._bots, 0.0)
        """Natural logarithms of odds."""
        if isinstance(results, Progress):
            for game in results.begun(field.stage):
                if set(game.seats) <= self._rating.keys():
                    self.begin(game)
            for game in [*self.open]:
                if (outcome := self._results.get(game)) is not None:
                    self._end(game, outcome)
            self._level()
            for _ in range(SWEEPS):
                for bot in self._bots:
                    self._rate(bot)

    def _level(self) -> None:
        """Forgets most of what bots had more or less than the others: a ladder continues with equal shares.

        Otherwise a bot that came after days would play alone until it had played for days.
        """
        if not self._games:
            return
        mean_s, game_s = sum(self._played_s.values()) / len(self._games), self._mean_game_s
        for bot, own_s in self._spent_s.items():
            least_s = mean_s - max(0.0, CATCH_UP * game_s - own_s)
            self._spent_s[bot] = min(max(own_s, least_s), mean_s + AHEAD * game_s)

    @property
    def _mean_game_s(self) -> float:
        """The mean machine time of a game."""
        return sum(self._played_s.values()) / max(1, self._games.total()) or 1.0

    def begin(self, game: ScheduledGame) -> None:
        """Notes that a game is played, or was."""
        line_up = tuple(sorted(game.seats))
        begun = self.begun[line_up]
        if not any(each.seed_group == game.seed_group for each in begun):
            self._groups.update(line_up)
            self._met.update(combinations(line_up, 2))
        begun.add(game)
        self.open.add(game)
        self._open_games.update(line_up)
        self.count += 1
        while len(whole := [each for each in begun if each.seed_group == self.next_group[line_up]]) == self._turns:
            begun.difference_update(whole)
            self.next_group[line_up] += 1

    def look(self) -> None:
        """Counts the open games that have ended."""
        for game in [*self.open]:
            if (outcome := self._results.get(game)) is not None:
                self._end(game, outcome)
                for bot in game.seats:
                    self._rate(bot)

    def _end(self, game: ScheduledGame, outcome: Outcome) -> None:
        self.open.remove(game)
        line_up = tuple(sorted(game.seats))
        self._open_games.subtract(line_up)
        self._games.update(line_up)
        spent_s = self._line_up_s[line_up] + 1.0
        if isinstance(self._results, Progress):
            spent_s = self._results.spent_s(line_up, self._stage)
        for bot in line_up:
            self._played_s[bot] += spent_s - self._line_up_s[line_up]
            self._spent_s[bot] += (spent_s - self._line_up_s[line_up]) / self._weight(bot)
        self._line_up_s[line_up] = spent_s
        out = expelled(outcome.forfeit, outcome.points)
        for one, two in permutations(range(len(game.seats)), 2):
            score = self._scores[game.seats[one]].setdefault(game.seats[two], [0.0, 0.0])
            score[0] += 0.0 if out[one] else half_points(outcome.ranks[one], outcome.ranks[two]) / 2
            score[1] += 1

    def _weight(self, bot: int) -> int:
        return WATCHED if bot in self._top else 1

    def _rate(self, bot: int) -> None:
        """Moves a rating to where it explains the bot's results best, with half a win and half a loss against 0."""
        for _ in range(STEPS):
            pull = weight = 0.0
            own = self._rating[bot]
            scores = self._scores[bot]
            for against, points, games in [
                (0.0, 0.5, 1.0),
                *((self._rating[r], *score) for r, score in scores.items()),
            ]:
                expected = 1 / (1 + math.exp(against - own))
                pull += points - games * expected
                weight += games * expected * (1 - expected)
            self._rating[bot] = own + max(-1.0, min(1.0, pull / max(weight, 1e-9)))

    def next_line_up(self) -> LineUp:
        """Returns the bots that play next."""
        order = sorted(self._bots, key=self._rating.__getitem__, reverse=True)
        self._top = order[: self._results.watched()] if isinstance(self._results, Audience) else []
        load_s = self._loads_s()
        # A new bot that catches up leaves half of the workers to the others.
        most = max(NEIGHBOURS, len(self.open) // 2)
        free = [bot for bot in self._bots if self._open_games[bot] < most]
        bot = min(free or self._bots, key=load_s.__getitem__)
        place = order.index(bot)
        order.remove(bot)
        settled = self._groups.total() >= PLACES * len(self._bots)
        is_new = settled and self._groups[bot] < PLACES
        if is_new:
            place = round(self._groups[bot] * (len(order) - 1) / (PLACES - 1))
        rivals = order[place : place + 1] if is_new else []
        start = max(0, min(place - NEIGHBOURS // 2, len(order) - NEIGHBOURS))
        near = [each for each in order[start : start + NEIGHBOURS] if each not in rivals]
        # Also as the rival of others, a slow bot plays no longer than they do.
        enough_s = sum(load_s.values()) / len(load_s) + AHEAD * self._mean_game_s
        self._dice.shuffle(near)
        near.sort(key=lambda each: (load_s[each] > enough_s, self._met[min(bot, each), max(bot, each)]))
        return tuple(sorted([bot, *rivals, *near][: self._rivals + 1]))

    def _loads_s(self) -> dict[int, float]:
        """Returns the machine time of each bot, with an estimate for its open games."""
        mean_s = self._mean_game_s
        return {
            bot: spent_s + self._open_games[bot] * self._expected_s(bot, mean_s) / self._weight(bot)
            for bot, spent_s in self._spent_s.items()
        }

    def _expected_s(self, bot: int, mean_s: float) -> float:
        """Returns how long the bot's next game may take."""
        return self._played_s[bot] / self._games[bot] if self._games[bot] else mean_s
