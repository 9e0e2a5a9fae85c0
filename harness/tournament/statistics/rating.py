"""One rating for every bot of a tournament, fitted to all games at once, with intervals and the chance of every rank.

A game of any number of seats counts as its pairs "finished ahead of", a tie as half (Bradley and Terry 1952). The pairs
of a seed group share their luck, so that their sum is one observation: the covariance is the sandwich clustered by seed
group (Liang and Zeger 1986). `docs/statistics.md` has the formulas.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from operator import mul

from msgspec import Struct

from referee.harness.tournament.statistics.score import FEW, TAIL, Interval, Z

ELO = 400 / math.log(10)
"""Elo of one unit of the natural logarithm of the odds."""
DRAWS = 10_000
"""How many sets of ratings are drawn to estimate the chance of every rank, to within a hundredth."""
STEP = 2.0
"""The furthest that a Newton step may move a rating; further away the curvature says little."""
ROUNDING = 1e-3
"""A smaller step that is no shorter than the one before consists of rounding errors, since steps shrink by squares."""

Vector = list[float]
Matrix = list[list[float]]
Pairs = tuple[tuple[int, int, float, int], ...]
"""For every two bots of a seed group: first, second (first < second), how often the first finished ahead (a tie is
half), and how often they met."""


class Game(Struct, frozen=True, gc=False):
    """A game, in the order of its seats."""

    bots: tuple[int, ...]
    """Their numbers."""
    ranks: tuple[int, ...]
    """1 = best; ties share a rank."""
    content: int = 0
    """The hash of the course of the game; 0 = unknown."""
    faulty: bool = False
    """A bot was at fault or forfeited."""


class Rating(Struct, frozen=True):
    """A bot's rating."""

    elo: Interval
    """Relative to the average bot, with its 95 % interval."""
    p_rank: tuple[float, ...]
    """The chance of each rank among the bots that have played. Empty if it was not requested."""
    note: str
    """`few` seed groups, `no information` about the error of the rating, or empty."""


class Part(Struct, frozen=True):
    """The contribution of a shape to one of the two ratings."""

    number: int
    """Identifies the part."""
    places: tuple[int, ...]
    """The games of the seed group that count."""
    bots: tuple[tuple[int, ...], ...]
    """The seats in these games."""
    pairs: "Pairs"


class Shape(Struct, frozen=True):
    """Seed groups with the same bots, seats and ranks. A million seed groups have few shapes."""

    faulty: int
    """Games with a fault."""
    whole: Part
    sound: Part | None
    """The games without a fault, if there are any."""


class Tally:
    """Counts seed groups by their shape, in any order and number."""

    def __init__(self, bots: int) -> None:
        self.bots = bots
        self.faulty = 0
        """Games with a fault. Without any, the two ratings are equal."""
        self._all = _Clusters()
        self._sound: _Clusters | None = None  # None until the first fault
        self._shapes: dict[tuple[tuple[tuple[int, ...], tuple[int, ...], bool], ...], Shape] = {}

    def add(self, seed_group: Sequence[Game]) -> None:
        """Counts a seed group, given all its games that were played."""
        self.count(self.shape(seed_group), tuple([game.content for game in seed_group]))

    def shape(self, seed_group: Sequence[Game]) -> Shape:
        """Returns the shape of a seed group."""
        key = tuple((game.bots, game.ranks, game.faulty) for game in seed_group)
        shape = self._shapes.get(key)
        if shape is None:
            number = 2 * len(self._shapes)
            sound = [place for place, game in enumerate(seed_group) if not game.faulty]
            whole = _part(number, seed_group, range(len(seed_group)))
            without = (
                whole if len(sound) == len(seed_group) else _part(number + 1, seed_group, sound) if sound else None
            )
            shape = self._shapes[key] = Shape(len(seed_group) - len(sound), whole, without)
        return shape

    def count(self, shape: Shape, contents: tuple[int, ...]) -> None:
        """Counts a seed group of that shape, given the contents of its games."""
        if shape.faulty and self._sound is None:
            self._sound = self._all.copy()
        self.faulty += shape.faulty
        self._all.add(shape.whole, contents)
        if self._sound is not None and shape.sound is not None:
            self._sound.add(shape.sound, tuple([contents[place] for place in shape.sound.places]))

    def ratings(self, without_faults: bool = False, seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
        """Returns every bot's rating; `without_faults` from games without a fault, which shows strength alone."""
        clusters = self._sound if without_faults and self._sound is not None else self._all
        return rate(self.bots, clusters.weights(), seed, draws)


def _part(number: int, seed_group: Sequence[Game], places: Iterable[int]) -> Part:
    places = tuple(places)
    games = [seed_group[place] for place in places]
    return Part(number, places, tuple(game.bots for game in games), _pairs(games))


def _pairs(seed_group: Iterable[Game]) -> Pairs:
    """Sums up the games by pairs of bots. A bot that met itself does not count."""
    totals: dict[tuple[int, int], list[float]] = {}
    for game in seed_group:
        seated = list(zip(game.bots, game.ranks, strict=True))
        while len(seated) > 1:
            first, rank = seated.pop()
            for second, other in seated:
                if first == second:
                    continue
                ahead = 1.0 if rank < other else 0.5 if rank == other else 0.0
                key, ahead = ((first, second), ahead) if first < second else ((second, first), 1.0 - ahead)
                so_far = totals.setdefault(key, [0.0, 0.0])
                so_far[0] += ahead
                so_far[1] += 1
    return tuple((first, second, ahead, int(times)) for (first, second), (ahead, times) in sorted(totals.items()))


class Weight(Struct):
    """How often a result of a seed group occurred."""

    seed_groups: int = 0
    squares: int = 0
    """The sum over different seed groups of (number of copies)². Repeats are no news: all copies of a seed group are
    one observation with that weight."""
    different: int = 0


class _Clusters:
    """The results of seed groups with their weights."""

    def __init__(self) -> None:
        self._counted: dict[int, tuple[Part, Weight]] = {}
        self._played: dict[int, int] = {}

    def add(self, part: Part, contents: tuple[int, ...]) -> None:
        before = 0
        if 0 not in contents:
            key = hash((part.bots, contents))
            before = self._played.get(key, 0)
            self._played[key] = before + 1
        counted = self._counted.get(part.number)
        if counted is None:
            counted = self._counted[part.number] = part, Weight()
        weight = counted[1]
        weight.seed_groups += 1
        weight.squares += 2 * before + 1
        weight.different += before == 0

    def copy(self) -> "_Clusters":
        """Returns an independent copy."""
        other = _Clusters()
        other._counted = {number: (part, copy(weight)) for number, (part, weight) in self._counted.items()}
        other._played = dict(self._played)
        return other

    def weights(self) -> dict[Pairs, Weight]:
        """Returns the weight of each result."""
        found: dict[Pairs, Weight] = {}
        for part, weight in self._counted.values():
            total = found.setdefault(part.pairs, Weight())
            total.seed_groups += weight.seed_groups
            total.squares += weight.squares
            total.different += weight.different
        return found


def rate(bots: int, weights: Mapping[Pairs, Weight], seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
    """Fits all ratings jointly. `draws` is for the chances of ranks; 0 leaves these out.

    Bots that have not played have the rating 0 and take no rank.
    """
    played = sorted({bot for pairs in weights for first, second, _, _ in pairs for bot in (first, second)})
    places = {bot: place for place, bot in enumerate(played)}
    ordered = {  # sorted, so that the order of play does not change the last digits
        tuple((places[a], places[b], won, games) for a, b, won, games in pairs): weights[pairs]
        for pairs in sorted(weights)
    }
    rated = dict(zip(played, _rate(len(played), ordered, seed, draws), strict=True))
    absent = Rating(Interval(0.0, None, None), (), "no information")
    return tuple(rated.get(bot, absent) for bot in range(bots))


def _rate(bots: int, weights: Mapping[Pairs, Weight], seed: int, draws: int) -> list[Rating]:
    if not bots:
        return []
    results = _results(bots, weights)
    ratings, information = _fit(_sums(bots, weights))
    covariance = _centred(_sandwich(ratings, information, weights, results))
    mean = sum(ratings) / bots
    ratings = [rating - mean for rating in ratings]
    chances = _rank_chances(ratings, covariance, seed, draws)
    return [
        Rating(_interval(bot, ratings, covariance, result), chances[bot], result.note())
        for bot, result in enumerate(results)
    ]


class _Result(Struct):
    """The results of one bot."""

    seed_groups: int = 0
    low: float = 1.0
    """Its lowest score in a seed group, 0 … 1."""
    high: float = 0.0
    rivals: dict[int, int] = {}
    """How often it met each rival."""

    @property
    def all_equal(self) -> bool:
        return self.low >= self.high

    def note(self) -> str:
        if self.all_equal and 0 < self.low < 1:
            return "no information"
        return "few" if self.seed_groups < FEW else ""


def _results(bots: int, weights: Mapping[Pairs, Weight]) -> list[_Result]:
    results = [_Result() for _ in range(bots)]
    for pairs, weight in weights.items():
        ahead: dict[int, float] = {}
        times: dict[int, int] = {}
        for first, second, won, games in pairs:
            for bot, rival, share in ((first, second, won), (second, first, games - won)):
                ahead[bot] = ahead.get(bot, 0.0) + share
                times[bot] = times.get(bot, 0) + games
                rivals = results[bot].rivals
                rivals[rival] = rivals.get(rival, 0) + games * weight.seed_groups
        for bot, total in ahead.items():
            result, score = results[bot], total / times[bot]
            result.seed_groups += weight.different
            result.low, result.high = min(result.low, score), max(result.high, score)
    return results


def _sums(bots: int, weights: Mapping[Pairs, Weight]) -> Matrix:
    """Returns how often each bot finished ahead of each other."""
    ahead = [[0.0] * bots for _ in range(bots)]
    for pairs, weight in weights.items():
        for first, second, won, times in pairs:
            ahead[first][second] += won * weight.seed_groups
            ahead[second][first] += (times - won) * weight.seed_groups
    return ahead


# The fit. Inside, ratings are in units of the natural logarithm of the odds.


def _fit(ahead: Matrix) -> tuple[Vector, Matrix]:
    """Returns the likeliest ratings and the information matrix at them, by Newton's method.

    The prior is half a win and half a loss of every bot against an average one. So a bot that has won everything has a
    finite rating, and bots that are not connected by games have a common scale.
    """
    bots = range(len(ahead))
    ratings = [0.0] * len(ahead)
    before = math.inf
    while True:
        slopes = [_chance(-rating) - 0.5 for rating in ratings]
        information = [[0.0] * len(ahead) for _ in bots]
        for bot in bots:
            line = information[bot]
            line[bot] += _chance(ratings[bot]) * _chance(-ratings[bot])
            for rival in range(bot):
                won, lost = ahead[bot][rival], ahead[rival][bot]
                if won or lost:
                    chance, other = _chance(ratings[bot] - ratings[rival]), _chance(ratings[rival] - ratings[bot])
                    pull, weight = won * other - lost * chance, (won + lost) * chance * other
                    slopes[bot] += pull
                    slopes[rival] -= pull
                    line[bot] += weight
                    line[rival] = information[rival][bot] = -weight
                    information[rival][rival] += weight
        steps = _solve(_cholesky(information), slopes)
        furthest = max(map(abs, steps))
        if furthest < 1e-9 or before <= furthest < ROUNDING:
            return ratings, information
        before = furthest
        shorter = min(1.0, STEP / furthest)
        ratings = [rating + step * shorter for rating, step in zip(ratings, steps, strict=True)]


def _sandwich(
    ratings: Vector, information: Matrix, weights: Mapping[Pairs, Weight], results: Sequence[_Result]
) -> Matrix:
    """Returns the covariance of the ratings: the inverse information on both sides of the observed scatter.

    A seed group pulls on each rating by the difference between its result and the expectation. The squares of these
    pulls are the scatter, whatever luck its games share, scaled up for the degrees of freedom that the fit has used.
    Where all seed groups of a bot are equal, the scatter is unknown, and the model's own is used, with the games of a
    seed group as one.
    """
    bots = len(ratings)
    scatter = [[0.0] * bots for _ in range(bots)]
    seed_groups = 0
    for pairs, weight in weights.items():
        seed_groups += weight.different
        pulls: dict[int, float] = {}
        for first, second, won, games in pairs:
            chance = _chance(ratings[first] - ratings[second])
            if results[first].all_equal or results[second].all_equal:
                _spread(scatter, {first: games, second: -games}, weight.squares * chance * (1 - chance))
            else:
                pulls[first] = pulls.get(first, 0.0) + won - games * chance
                pulls[second] = pulls.get(second, 0.0) - won + games * chance
        _spread(scatter, pulls, weight.squares)
    scale = seed_groups / max(seed_groups - bots + 1, 1)
    inverse = _inverse(information)
    left = [_times(scatter, row) for row in inverse]  # symmetric: rows serve as columns
    return [[scale * sum(map(mul, row, column)) for column in inverse] for row in left]


def _spread(scatter: Matrix, pulls: Mapping[int, float], weight: float) -> None:
    """Adds the products of the pulls to the scatter."""
    for bot, pull in pulls.items():
        row = scatter[bot]
        for other, second in pulls.items():
            row[other] += weight * pull * second


def _centred(covariance: Matrix) -> Matrix:
    """Returns the covariance of ratings relative to their mean."""
    count = len(covariance)
    means = [sum(row) / count for row in covariance]
    mean = sum(means) / count
    return [
        [value - means[bot] - means[other] + mean for other, value in enumerate(row)]
        for bot, row in enumerate(covariance)
    ]


def _interval(bot: int, ratings: Vector, covariance: Matrix, result: _Result) -> Interval:
    """Returns the rating in Elo with its interval: by the normal approximation, unless all seed groups are equal (see
    `score.strength`)."""
    value = ratings[bot] * ELO
    if result.all_equal and 0 < result.low < 1:
        return Interval(value, None, None)
    if result.all_equal and result.low >= 1:
        return Interval(value, _expecting(TAIL ** (1 / result.seed_groups), ratings, result) * ELO, math.inf)
    if result.all_equal:
        return Interval(value, -math.inf, _expecting(1 - TAIL ** (1 / result.seed_groups), ratings, result) * ELO)
    width = Z * math.sqrt(max(covariance[bot][bot], 0.0)) * ELO
    return Interval(value, value - width, value + width)


def _expecting(score: float, ratings: Vector, result: _Result) -> float:
    """Returns the rating with that expected score against the rivals that were met."""
    games = sum(result.rivals.values())
    low, high = min(ratings) - 50, max(ratings) + 50
    for _ in range(60):
        middle = (low + high) / 2
        wins = sum(times * _chance(middle - ratings[rival]) for rival, times in result.rivals.items())
        low, high = (low, middle) if wins > score * games else (middle, high)
    return low


def _rank_chances(ratings: Vector, covariance: Matrix, seed: int, draws: int) -> list[tuple[float, ...]]:
    """Returns every bot's chance of each rank, from joint draws of all ratings; each draw counts with its mirror."""
    bots = range(len(ratings))
    if draws < 2:
        return [() for _ in bots]
    factor = [row[: bot + 1] for bot, row in enumerate(_cholesky(covariance))]
    normal = random.Random(seed).gauss
    ranks = [[0] * len(ratings) for _ in bots]
    for _ in range(draws // 2):
        luck = [normal(0.0, 1.0) for _ in bots]
        moves = [sum(map(mul, row, luck)) for row in factor]
        for sign in (1.0, -1.0):
            drawn = [rating + sign * move for rating, move in zip(ratings, moves, strict=True)]
            for rank, bot in enumerate(sorted(bots, key=drawn.__getitem__, reverse=True)):
                ranks[bot][rank] += 1
    return [tuple(times / (draws // 2 * 2) for times in row) for row in ranks]


# Small matrices, as lists of rows: for tens of bots, numpy would take longer to load than it saves.


def _chance(difference: float) -> float:
    """Returns the chance of finishing ahead, at a difference in ratings."""
    return 1 / (1 + math.exp(-difference)) if difference > -700 else 0.0


def _cholesky(matrix: Matrix) -> Matrix:
    """Returns the lower triangle whose product with its transpose is `matrix`, which is symmetric and not negative.

    In a direction without variance the column is 0.
    """
    count = len(matrix)
    lower = [[0.0] * count for _ in range(count)]
    for row in range(count):
        line = lower[row]
        for column in range(row):
            pivot = lower[column][column]
            if pivot > 0:
                line[column] = (matrix[row][column] - sum(map(mul, line[:column], lower[column]))) / pivot
        rest = matrix[row][row] - sum(value * value for value in line[:row])
        line[row] = math.sqrt(rest) if rest > 1e-12 * matrix[row][row] else 0.0
    return lower


def _solve(lower: Matrix, right: Vector) -> Vector:
    """Returns the x with L Lᵀ x = `right`, for a triangle without zeros on its diagonal."""
    count = len(lower)
    values: Vector = []
    for row in range(count):
        values.append((right[row] - sum(map(mul, lower[row], values))) / lower[row][row])
    for row in reversed(range(count)):
        values[row] /= lower[row][row]
        value = values[row]
        for column in range(row):
            values[column] -= lower[row][column] * value
    return values


def _inverse(matrix: Matrix) -> Matrix:
    lower = _cholesky(matrix)
    return [_solve(lower, [float(row == column) for row in range(len(matrix))]) for column in range(len(matrix))]


def _times(matrix: Matrix, vector: Vector) -> Vector:
    return [sum(map(mul, row, vector)) for row in matrix]
