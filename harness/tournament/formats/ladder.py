"""A ladder without end: the bot with the least machine time plays a neighbour in rank.

It has no batches: a game is chosen when a worker is free, by the games so far and by those that are being played. So
the choice depends on how long games take. Each game counts by its key, whatever the order, and a ladder that was
interrupted continues from the games that it has.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import msgspec

from referee.games.dice import Dice, derive_seed
from referee.harness.tournament.formats.designs import LineUp, rows
from referee.harness.tournament.formats.games import Field, Outcome, Results, ScheduledGame, ScheduledGames, Seating

PLACES = 6
"""A new bot first plays this many seed groups, against bots across the table: at 0, 20, … 100 % of it."""
NEIGHBOURS = 6
"""How many bots near it in rank a bot plays."""
SHARE = 1.2
"""A bot with more than this share of the average machine time waits until the others have caught up."""
STEPS = 2
"""Newton steps of a rating after a game."""


@runtime_checkable
class Progress(Results, Protocol):
    """What else the ladder looks at while it is played. Without it, no game was begun, and all take equally long."""

    def begun(self, stage: str, /) -> Iterable[ScheduledGame]:
        """Yields the games that were played, or that a worker has."""

    def spent_s(self, line_up: LineUp, stage: str, /) -> float:
        """Returns how long all games of two bots took."""


def ladder(field: Field, results: Results) -> ScheduledGames:
    """The bot with the least machine time against one of its six neighbours in rank; a seed group each.

    It plays one of those that it has met least, at random. Among all six, it would need up to a fifth more games
    for the same order (`benchmarks/formats.py`).

    A new bot first plays `PLACES` bots across the table, once there is one: when bots have begun that many seed groups
    on average.
    """
    field = msgspec.structs.replace(field, seating=Seating.SEED_GROUP)
    if len(field.present) < 2:
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
        """By pair, the first seed group that was not begun as a whole."""
        self.begun: dict[LineUp, set[ScheduledGame]] = defaultdict(set)
        """By pair, the games from that seed group on that were begun."""
        self._results, self._stage, self._turns = results, field.stage, len(rows(field.seats))
        self._bots = field.present
        self._dice = Dice(derive_seed(field.seed, "ladder"))
        self._dice.shuffle(self._bots)
        self.open: set[ScheduledGame] = set()
        """Games that were begun and have not ended."""
        self._open_games = Counter[int]()
        self._games, self._spent_s = Counter[int](), dict.fromkeys(self._bots, 0.0)
        """By bot, the games that have ended, and their time."""
        self._pair_s: dict[LineUp, float] = defaultdict(float)
        self._groups = Counter[int]()
        """By bot, the seed groups that were begun."""
        self._scores: dict[int, dict[int, list[float]]] = {bot: {} for bot in self._bots}
        """By bot and rival: points and games."""
        self._rating = dict.fromkeys(self._bots, 0.0)
        """Natural logarithms of odds."""
        if isinstance(results, Progress):
            for game in results.begun(field.stage):
                if set(game.seats) <= self._rating.keys():
                    self.begin(game)
            self.look()
            for _ in range(STEPS):
                for bot in self._bots:
                    self._rate(bot)

    def begin(self, game: ScheduledGame) -> None:
        """Notes that a game is played, or was."""
        line_up = (min(game.seats), max(game.seats))
        begun = self.begun[line_up]
        if not any(each.seed_group == game.seed_group for each in begun):
            self._groups.update(line_up)
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
                self.open.remove(game)
                self._end(game, outcome)

    def _end(self, game: ScheduledGame, outcome: Outcome) -> None:
        line_up = (min(game.seats), max(game.seats))
        self._open_games.subtract(line_up)
        self._games.update(line_up)
        spent_s = self._pair_s[line_up] + 1.0
        if isinstance(self._results, Progress):
            spent_s = self._results.spent_s(line_up, self._stage)
        for bot in line_up:
            self._spent_s[bot] += spent_s - self._pair_s[line_up]
        self._pair_s[line_up] = spent_s
        for bot, rival, share in zip(game.seats, reversed(game.seats), outcome.shares, strict=True):
            score = self._scores[bot].setdefault(rival, [0.0, 0.0])
            score[0] += share
            score[1] += 1
        for bot in line_up:
            self._rate(bot)

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
        """Returns the two bots that play next."""
        load_s = self._loads_s()
        # A new bot that catches up leaves half of the workers to the others.
        most = max(NEIGHBOURS, len(self.open) // 2)
        free = [bot for bot in self._bots if self._open_games[bot] < most]
        bot = min(free or self._bots, key=load_s.__getitem__)
        order = sorted(self._bots, key=self._rating.__getitem__, reverse=True)
        settled = self._groups.total() >= PLACES * len(self._bots)
        if settled and (number := self._groups[bot]) < PLACES:
            order.remove(bot)
            rival = order[round(number * (len(order) - 1) / (PLACES - 1))]
        else:
            place = order.index(bot)
            start = max(0, min(place - NEIGHBOURS // 2, len(order) - NEIGHBOURS - 1))
            near = [each for each in order[start : start + NEIGHBOURS + 1] if each != bot]
            # Also as the rival of others, a slow bot plays no longer than they do.
            enough_s = SHARE * sum(load_s.values()) / len(load_s)
            near = [each for each in near if load_s[each] <= enough_s] or near
            met = {each: self.next_group[min(bot, each), max(bot, each)] for each in near}
            rival = self._dice.choice([each for each in near if met[each] == min(met.values())])
        return min(bot, rival), max(bot, rival)

    def _loads_s(self) -> dict[int, float]:
        """Returns the machine time of each bot, with an estimate for its open games."""
        mean_s = sum(self._spent_s.values()) / max(1, self._games.total()) or 1.0
        return {
            bot: spent_s + self._open_games[bot] * (spent_s / self._games[bot] if self._games[bot] else mean_s)
            for bot, spent_s in self._spent_s.items()
        }
