"""Ways to choose pairs that Referee does not use, for comparison: the benchmark `formats` plays them.

Both keep a normal belief about the strength of each bot, as TrueSkill does for two players without draws (Herbrich,
Minka and Graepel 2006), and begin with the true spread of strengths. A bot plays one seed group at a time.
"""

import math
from collections import defaultdict
from collections.abc import Callable

import numpy
from numpy.typing import NDArray

from referee.addons.tournament.formats.designs import LineUp
from referee.addons.tournament.formats.games import Field, Results, ScheduledGame, ScheduledGames

Vector = NDArray[numpy.float64]
ELO = 400 / math.log(10)
SPREAD = 250.0
"""The standard deviation of strengths, in Elo."""
LUCK = 1.702 * ELO
"""The standard deviation of a game's luck, in Elo: that of the normal distribution closest to the logistic one."""
POINTS, WEIGHTS = numpy.polynomial.hermite.hermgauss(40)


class Beliefs:
    """Means and variances of strengths, in Elo."""

    def __init__(self, bots: int) -> None:
        self.means = numpy.zeros(bots)
        self.variances = numpy.full(bots, SPREAD**2)
        self.information = numpy.full((bots, bots), 0.0)
        """The expected information of a game of two bots about which of them is stronger, in nats."""
        for bot in range(bots):
            self._inform(bot)

    def learn(self, winner: int, loser: int) -> None:
        """Notes a game."""
        both = [winner, loser]
        all_variance = LUCK**2 + self.variances[both].sum()
        deviation = math.sqrt(all_variance)
        ahead = (self.means[winner] - self.means[loser]) / deviation
        chance = max(1e-12, (1 + math.erf(ahead / math.sqrt(2))) / 2)
        surprise = math.exp(-(ahead**2) / 2) / math.sqrt(2 * math.pi) / chance
        self.means[both] += numpy.array([1, -1]) * self.variances[both] / deviation * surprise
        self.variances[both] *= 1 - self.variances[both] / all_variance * surprise * (surprise + ahead)
        for bot in both:
            self._inform(bot)

    def quality(self, bot: int) -> Vector:
        """Returns TrueSkill's quality of a bot's match with each other one: the chance of a draw, up to a factor."""
        all_variance = LUCK**2 + self.variances[bot] + self.variances
        apart = self.means[bot] - self.means
        found: Vector = LUCK / numpy.sqrt(all_variance) * numpy.exp(-(apart**2) / (2 * all_variance))
        return found

    def _inform(self, bot: int) -> None:
        apart, deviation = self.means[bot] - self.means, numpy.sqrt(self.variances[bot] + self.variances)
        ahead = apart[:, None] + math.sqrt(2) * deviation[:, None] * POINTS
        weights, chance = WEIGHTS / math.sqrt(math.pi), 1 / (1 + numpy.exp(-ahead / ELO))
        is_stronger = ahead > 0
        stronger = (weights * is_stronger).sum(1)
        wins, wins_stronger = (weights * chance).sum(1), (weights * chance * is_stronger).sum(1)
        told = _entropy(wins)
        for share, won in ((stronger, wins_stronger), (1 - stronger, wins - wins_stronger)):
            told = told - share * _entropy(won / numpy.maximum(share, 1e-12))
        self.information[bot, :] = self.information[:, bot] = told


def _entropy(
    chance: Vector,
) -> Vector:
    chance = numpy.clip(chance, 1e-12, 1 - 1e-12)
    return -chance * numpy.log(chance) - (1 - chance) * numpy.log(1 - chance)


def _by_beliefs(field: Field, results: Results, choose: Callable[[Beliefs, list[int]], LineUp]) -> ScheduledGames:
    beliefs, groups = Beliefs(field.bots), defaultdict[LineUp, int](int)
    playing: dict[LineUp, list[ScheduledGame]] = {}
    while True:
        for pair, games in [*playing.items()]:
            for game in [*games]:
                if (outcome := results.get(game)) is not None:
                    first = outcome.ranks.index(1)
                    beliefs.learn(game.seats[first], game.seats[1 - first])
                    games.remove(game)
            if not games:
                del playing[pair]
        busy = {bot for pair in playing for bot in pair}
        free = [bot for bot in range(field.bots) if bot not in busy]
        if len(free) < 2:
            yield None
            continue
        one, two = choose(beliefs, free)
        pair = min(one, two), max(one, two)
        playing[pair] = [*field.games_of(pair, range(2 * groups[pair], 2 * groups[pair] + 2))]
        groups[pair] += 1
        yield from [*playing[pair]]


def least_certain(field: Field, results: Results) -> ScheduledGames:
    """The bot about which least is known plays the match of the best quality, as TrueSkill's servers have it."""

    def choose(beliefs: Beliefs, free: list[int]) -> LineUp:
        one = max(free, key=lambda bot: beliefs.variances[bot])
        quality = beliefs.quality(one)
        return one, max((bot for bot in free if bot != one), key=lambda bot: quality[bot])

    return _by_beliefs(field, results, choose)


def most_informed(field: Field, results: Results) -> ScheduledGames:
    """The pair plays whose game is expected to tell most about which of both is stronger. It looks at all pairs."""

    def choose(beliefs: Beliefs, free: list[int]) -> LineUp:
        among = beliefs.information[numpy.ix_(free, free)].copy()
        numpy.fill_diagonal(among, -1.0)
        one, two = divmod(int(among.argmax()), len(free))
        return free[one], free[two]

    return _by_beliefs(field, results, choose)
