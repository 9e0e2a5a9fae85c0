"""One rating for every bot of a tournament, fitted to all games at once, with its interval and its chance to be first.

A game of any number of seats counts as its pairs "finished ahead of", a tie as half (Bradley and Terry 1952). The pairs
of a seed group share their luck, so that their sum is one observation: the covariance is the sandwich clustered by seed
group (Liang and Zeger 1986). `docs/explanation/statistics.md` has the formulas.
"""

import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from operator import mul
from types import ModuleType

from msgspec import Struct, structs

from referee.addons.tournament.statistics.score import FEW, TAIL
from referee.harness.match.interval import Interval, Z

ELO = 400 / math.log(10)
"""Elo of one unit of the natural logarithm of the odds."""
DRAWS = 10_000
"""How many sets of ratings are drawn to estimate every bot's chance of being the best, to within a hundredth."""
LARGE = 50
"""The number of bots from which numpy is used if it is installed."""
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
    faulty: bool = False
    """A bot was at fault or forfeited."""


class Rating(Struct, frozen=True):
    """A bot's rating."""

    elo: Interval
    """Relative to the average of the bots that games connect with it, with its 95 % interval."""
    p_first: float | None
    """The chance that it is the best of the bots that have played. None if it was not requested, and if games do not
    connect all of them."""
    note: str
    """`few` seed groups, `no information` about the error of the rating, or empty."""
    part: int = 0
    """The same for bots that games connect."""


NO_RATING = Rating(Interval(0.0, None, None), None, "no information")
"""That of a bot that has not played."""


class Weight(Struct):
    """How often a result of a seed group occurred."""

    seed_groups: int = 0
    squares: int = 0
    """The sum over different seed groups of (number of copies)². Repeats are no news: all copies of a seed group are
    one observation with that weight."""
    different: int = 0


class _Counted:
    """The results of seed groups with their weights."""

    def __init__(self) -> None:
        self.weights: dict[Pairs, Weight] = {}
        self._played: dict[int, int] = {}
        """How often each seed group was played, by a hash of its bots and contents."""

    def add(self, games: Sequence[Game], contents: Iterable[tuple[int, ...]]) -> None:
        weight = self.weights.setdefault(_pairs(games), Weight())
        bots = tuple(game.bots for game in games)
        for each in contents:
            before = 0
            if 0 not in each:
                key = hash((bots, each))
                before = self._played.get(key, 0)
                self._played[key] = before + 1
            weight.seed_groups += 1
            weight.squares += 2 * before + 1
            weight.different += before == 0


class Tally:
    """Counts seed groups, in any order and number."""

    def __init__(self, bots: int) -> None:
        self.bots = bots
        self.faulty = 0
        """Games with a fault. Without any, the two ratings are equal."""
        self._all = _Counted()
        self._sound: _Counted | None = None  # None until the first fault

    def add(self, games: Sequence[Game], contents: Collection[tuple[int, ...]]) -> None:
        """Counts seed groups that ended alike, given the games of one and the contents of the games of each.

        A content is the hash of the course of a game; 0 = unknown.
        """
        sound = [place for place, game in enumerate(games) if not game.faulty]
        if len(sound) < len(games) and self._sound is None:
            self._sound = deepcopy(self._all)
        self.faulty += (len(games) - len(sound)) * len(contents)
        self._all.add(games, contents)
        if self._sound is not None and sound:
            kept = [tuple([each[place] for place in sound]) for each in contents]
            self._sound.add([games[place] for place in sound], kept)

    def weights(self, without_faults: bool = False) -> Mapping[Pairs, Weight]:
        """Returns the results so far; `without_faults` those of games without a fault."""
        counted = self._sound if without_faults and self._sound is not None else self._all
        return counted.weights

    def ratings(self, without_faults: bool = False, seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
        """Returns every bot's rating; `without_faults` from games without a fault, which shows strength alone."""
        return rate(self.bots, self.weights(without_faults), seed, draws)


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


def rate(bots: int, weights: Mapping[Pairs, Weight], seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
    """Fits all ratings jointly, with numpy if there are many bots. `draws` is for P(#1); 0 leaves it out.

    Bots that have not played have the rating 0.
    """
    if bots >= LARGE and (arrays := with_numpy()) is not None:
        return tuple(arrays.rate(bots, arrays.observations(weights), seed, draws))
    return rate_without_numpy(bots, weights, seed, draws)


def _connected(bots: int, weights: Iterable[Pairs]) -> list[int]:
    """Returns for every bot the first of those that games connect with it."""
    parts = [[bot] for bot in range(bots)]
    for first, second in {pair[:2] for pairs in weights for pair in pairs}:
        one, two = parts[first], parts[second]
        if one is not two:
            one += two
            for bot in two:
                parts[bot] = one
    return [min(part) for part in parts]


def with_numpy() -> ModuleType | None:
    """Returns the module `rating_arrays` if numpy is installed: it takes 0.1 s to load."""
    try:
        from referee.addons.tournament.statistics import rating_arrays
    except ImportError:
        return None
    return rating_arrays


def rate_without_numpy(
    bots: int, weights: Mapping[Pairs, Weight], seed: int = 0, draws: int = DRAWS
) -> tuple[Rating, ...]:
    """Does the same as `rate`; the time grows with the cube of the number of bots."""
    rated = [NO_RATING] * bots
    played = sorted({bot for pairs in weights for first, second, _, _ in pairs for bot in (first, second)})
    if not played:
        return tuple(rated)
    part_of = _connected(bots, weights)
    if len(parts := {part_of[bot] for bot in played}) > 1:
        for part in parts:
            own = {pairs: weight for pairs, weight in weights.items() if pairs and part_of[pairs[0][0]] == part}
            for bot, each in enumerate(rate_without_numpy(bots, own, seed, 0)):
                if part_of[bot] == part:
                    rated[bot] = structs.replace(each, part=part)
        return tuple(rated)
    places = {bot: place for place, bot in enumerate(played)}
    weights = {  # sorted, so that the order of play does not change the last digits
        tuple((places[a], places[b], won, games) for a, b, won, games in pairs): weights[pairs]
        for pairs in sorted(weights)
    }
    results = _results(len(played), weights)
    ratings, information = _fit(results)
    covariance = _centred(_sandwich(ratings, information, weights, results))
    mean = sum(ratings) / len(played)
    ratings = [rating - mean for rating in ratings]
    chances = _chances_to_be_first(ratings, covariance, seed, draws)
    for place, bot in enumerate(played):

        def expecting(score: float, place: int = place) -> float:
            return _expecting(score, place, ratings, results)

        interval = interval_of(ratings[place], covariance[place][place], results[place], expecting)
        rated[bot] = Rating(interval, chances[place], results[place].note())
    return tuple(rated)


class Result(Struct):
    """The results of one bot."""

    seed_groups: int = 0
    low: float = 1.0
    """Its lowest score in a seed group, 0 … 1."""
    high: float = 0.0
    ahead: dict[int, float] = {}
    """How often it finished ahead of each rival that it met."""

    @property
    def all_equal(self) -> bool:
        return self.low >= self.high

    def note(self) -> str:
        if self.all_equal and 0 < self.low < 1:
            return "no information"
        return "few" if self.seed_groups < FEW else ""


def _results(bots: int, weights: Mapping[Pairs, Weight]) -> list[Result]:
    results = [Result() for _ in range(bots)]
    for pairs, weight in weights.items():
        won: dict[int, float] = {}
        met: dict[int, int] = {}
        for first, second, ahead, games in pairs:
            for bot, rival, share in ((first, second, ahead), (second, first, games - ahead)):
                won[bot] = won.get(bot, 0.0) + share
                met[bot] = met.get(bot, 0) + games
                so_far = results[bot].ahead
                so_far[rival] = so_far.get(rival, 0.0) + share * weight.seed_groups
        for bot, total in won.items():
            result, score = results[bot], total / met[bot]
            result.seed_groups += weight.different
            result.low, result.high = min(result.low, score), max(result.high, score)
    return results


# The fit. Inside, ratings are in units of the natural logarithm of the odds.


def _fit(results: Sequence[Result]) -> tuple[Vector, Matrix]:
    """Returns the likeliest ratings and the information matrix at them, by Newton's method.

    The prior is half a win and half a loss of every bot against an average one. So a bot that has won everything has a
    finite rating.
    """
    bots = range(len(results))
    ratings = [0.0] * len(results)
    before = math.inf
    while True:
        slopes = [_chance(-rating) - 0.5 for rating in ratings]
        information = [[0.0] * len(results) for _ in bots]
        for bot in bots:
            line = information[bot]
            line[bot] += _chance(ratings[bot]) * _chance(-ratings[bot])
            for rival in range(bot):
                if rival in results[bot].ahead:
                    won, lost = results[bot].ahead[rival], results[rival].ahead[bot]
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
    ratings: Vector, information: Matrix, weights: Mapping[Pairs, Weight], results: Sequence[Result]
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


def interval_of(rating: float, variance: float, result: Result, expecting: Callable[[float], float]) -> Interval:
    """Returns the rating in Elo with its interval. `expecting(score)`: the rating that expects this score.

    The interval is by the normal approximation, unless all seed groups are equal (see `score.strength`).
    """
    value = rating * ELO
    if not result.all_equal:
        width = Z * math.sqrt(max(variance, 0.0)) * ELO
        return Interval(value, value - width, value + width)
    if 0 < result.low < 1:
        return Interval(value, None, None)
    tail = TAIL ** (1 / result.seed_groups)
    if result.low >= 1:
        return Interval(value, expecting(tail) * ELO, math.inf)
    return Interval(value, -math.inf, expecting(1 - tail) * ELO)


def _expecting(score: float, bot: int, ratings: Vector, results: Sequence[Result]) -> float:
    """Returns the rating with that expected score against the rivals that the bot met."""
    times = {rival: won + results[rival].ahead[bot] for rival, won in results[bot].ahead.items()}
    games = sum(times.values())
    low, high = min(ratings) - 50, max(ratings) + 50
    for _ in range(60):
        middle = (low + high) / 2
        wins = sum(count * _chance(middle - ratings[rival]) for rival, count in times.items())
        low, high = (low, middle) if wins > score * games else (middle, high)
    return low


def _chances_to_be_first(ratings: Vector, covariance: Matrix, seed: int, draws: int) -> Sequence[float | None]:
    """Returns every bot's chance of being the best, from joint draws of all ratings; each counts with its mirror."""
    bots = range(len(ratings))
    if draws < 2:
        return [None] * len(ratings)
    factor = [row[: bot + 1] for bot, row in enumerate(_cholesky(covariance))]
    normal = random.Random(seed).gauss
    best = [0] * len(ratings)
    for _ in range(draws // 2):
        luck = [normal(0.0, 1.0) for _ in bots]
        moves = [sum(map(mul, row, luck)) for row in factor]
        for sign in (1.0, -1.0):
            drawn = [rating + sign * move for rating, move in zip(ratings, moves, strict=True)]
            best[max(bots, key=drawn.__getitem__)] += 1
    return [times / (draws // 2 * 2) for times in best]


# Small matrices, as lists of rows: for tens of bots, numpy takes longer to load than it saves.


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
