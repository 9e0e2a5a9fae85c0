"""One rating for every bot of a tournament, fitted to all games at once, with its interval and its chance to be first.

A game of any number of seats counts as its pairs "finished ahead of", a tie as half (Bradley and Terry 1952). The pairs
of a seed group share their luck, so that their sum is one observation: the covariance is the sandwich clustered by seed
group (Liang and Zeger 1986). `docs/explanation/statistics.md` has the formulas.

Ratings inside are in units of the natural logarithm of the odds. numpy comes with the extra `tournament`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from referee.addons.tournament.statistics.score import FEW, TAIL
from referee.addons.tournament.statistics.tally import Pairs, Weight
from referee.harness.match.interval import Interval, Z

ELO = 400 / math.log(10)
"""Elo of one unit of the natural logarithm of the odds."""
DRAWS = 10_000
"""How many sets of ratings are drawn to estimate every bot's chance of being the best, to within a hundredth."""
STEP = 2.0
"""The furthest that a Newton step may move a rating; further away the curvature says little."""
ROUNDING = 1e-3
"""A smaller step that is no shorter than the one before consists of rounding errors, since steps shrink by squares."""
CHUNK = 500
"""How many sets of ratings are drawn at once."""
PART = 100_000
"""How many games or entries are worked on at once."""

Array = np.ndarray[Any, np.dtype[Any]]


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


class Observations(Struct):
    """The results of seed groups. A result has one entry for every two bots that met in it."""

    result: Array
    """By entry, the number of its result."""
    first: Array
    second: Array
    ahead: Array
    """How often the first finished ahead, a tie counting half."""
    met: Array
    seed_groups: Array
    """By result, how often it occurred; this and the next two are those of `Weight`."""
    squares: Array
    different: Array


def joined_observations(parts: Sequence[Observations]) -> Observations:
    """Returns all parts together."""
    before = np.cumsum([0, *(len(part.seed_groups) for part in parts)])
    names = Observations.__struct_fields__[1:]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    results = [part.result + start for part, start in zip(parts, before, strict=False)]
    return Observations(np.concatenate(results), **joined)


def parts_of(numbers: Array) -> Iterator[slice]:
    """Yields parts of a sorted array that each end where the number changes, since whole arrays take much memory."""
    start = 0
    while start < len(numbers):
        end = min(start + PART, len(numbers))
        end = int(np.searchsorted(numbers, numbers[end - 1], side="right"))
        yield slice(start, end)
        start = end


def observations(weights: Mapping[Pairs, Weight]) -> Observations:
    """Returns counted results as arrays, sorted, so that the order of play does not change the last digits."""
    order = sorted(weights)
    entries = [entry for pairs in order for entry in pairs]
    first, second, ahead, met = np.array(entries or np.empty((0, 4)), float).T
    counted = [(each.seed_groups, each.squares, each.different) for each in (weights[pairs] for pairs in order)]
    return Observations(
        np.repeat(np.arange(len(order)), np.fromiter(map(len, order), int, len(order))),
        first.astype(int),
        second.astype(int),
        ahead,
        met,
        *np.array(counted or np.empty((0, 3)), float).T,
    )


def rate(bots: int, weights: Mapping[Pairs, Weight], seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
    """Fits all ratings jointly. `draws` is for P(#1); 0 leaves it out. Bots that have not played have the rating 0."""
    return fitted(bots, observations(weights), seed, draws)


def fitted(bots: int, seen: Observations, seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
    """Does the same as `rate`, for results in arrays."""
    rated = [NO_RATING] * bots
    played, places = np.unique(np.concatenate([seen.first, seen.second]), return_inverse=True)
    if not len(played):
        return tuple(rated)
    count = len(played)
    first, second = np.split(places.reshape(-1), 2)
    part_of = _connected(count, first, second)
    if part_of.any():
        for part in np.unique(part_of):
            kept = fitted(bots, _of(seen, part_of[first] == part), seed, 0)
            for bot in played[part_of == part].tolist():
                rated[bot] = structs.replace(kept[bot], part=int(part))
        return tuple(rated)
    ends = _Ends(seen, first, second, count)
    times = seen.seed_groups[seen.result]
    won = _summed(first * count + second, seen.ahead * times, count)
    won += _summed(second * count + first, (seen.met - seen.ahead) * times, count)
    ratings, information = _fit(won)
    covariance = _centred(_sandwich(ratings, information, seen, first, second, ends))
    ratings -= ratings.mean()
    best = _chances_to_be_first(ratings, covariance, seed, draws)
    values, variances, games = ratings.tolist(), covariance.diagonal().tolist(), won + won.T
    for place, bot in enumerate(played.tolist()):
        result = ends.result(place)

        def expecting(score: float, place: int = place) -> float:
            return _expecting(score, games[place], ratings)

        interval = _interval(values[place], variances[place], result, expecting)
        rated[bot] = Rating(interval, best[place], result.note())
    return tuple(rated)


def _connected(bots: int, first: Array, second: Array) -> Array:
    """Returns for every bot the first of those that games connect with it."""
    parts: Array = np.arange(bots)
    before = parts - 1
    while not np.array_equal(parts, before):
        before = parts.copy()
        np.minimum.at(parts, first, parts[second])
        np.minimum.at(parts, second, parts[first])
        parts = parts[parts]
    return parts


def _of(seen: Observations, kept: Array) -> Observations:
    """Returns the results of these entries. All entries of a result are kept, or none."""
    results, numbers = np.unique(seen.result[kept], return_inverse=True)
    entries = (each[kept] for each in (seen.first, seen.second, seen.ahead, seen.met))
    return Observations(
        numbers, *entries, *(each[results] for each in (seen.seed_groups, seen.squares, seen.different))
    )


class _Result(Struct):
    """The results of one bot."""

    seed_groups: int
    low: float
    """Its lowest score in a seed group, 0 … 1."""
    high: float

    @property
    def all_equal(self) -> bool:
        return self.low >= self.high

    def note(self) -> str:
        if self.all_equal and 0 < self.low < 1:
            return "no information"
        return "few" if self.seed_groups < FEW else ""


class _Ends:
    """The lowest and the highest score of every bot in a seed group, and its number of seed groups."""

    def __init__(self, seen: Observations, first: Array, second: Array, count: int) -> None:
        self.low, self.high, self.seed_groups = np.ones(count), np.zeros(count), np.zeros(count)
        for part in parts_of(seen.result):
            keys, of = _by_bot(seen.result[part], first[part], second[part], count)
            ahead, met = seen.ahead[part], seen.met[part]
            scores = np.bincount(of, _both(ahead, met - ahead)) / np.bincount(of, _both(met, met))
            results, bots = np.divmod(keys, count)
            np.minimum.at(self.low, bots, scores)
            np.maximum.at(self.high, bots, scores)
            self.seed_groups += np.bincount(bots, seen.different[results], minlength=count)

    @property
    def all_equal(self) -> Array:
        return np.asarray(self.low >= self.high)

    def result(self, bot: int) -> _Result:
        return _Result(int(self.seed_groups[bot]), float(self.low[bot]), float(self.high[bot]))


def _both(one: Array, other: Array) -> Array:
    return np.concatenate([one, other])


def _summed(keys: Array, values: Array, count: int) -> Array:
    """Returns the sums of values by row and column of a square matrix."""
    return np.bincount(keys, values, minlength=count * count).reshape(count, count)


def _chance(difference: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.maximum(difference, -700))))


def _fit(won: Array) -> tuple[Array, Array]:
    """Returns the likeliest ratings and the information matrix at them, by Newton's method.

    `won`: by bot and rival, how often it finished ahead. The prior is half a win and half a loss of every bot against
    an average one. So a bot that has won everything has a finite rating.
    """
    ratings, games, before = np.zeros(len(won)), won + won.T, math.inf
    while True:
        chances = _chance(ratings[:, None] - ratings)
        others = chances.T  # exact, unlike 1 - chances
        information = -games * chances * others
        diagonal = _chance(ratings) * _chance(-ratings) - information.sum(axis=1)
        information[np.diag_indices_from(information)] += diagonal
        slopes = _chance(-ratings) - 0.5 + (won * others - won.T * chances).sum(axis=1)
        steps = np.linalg.solve(information, slopes)
        furthest = float(np.abs(steps).max())
        if furthest < 1e-9 or before <= furthest < ROUNDING:
            return ratings, information
        before = furthest
        ratings = ratings + steps * min(1.0, STEP / furthest)


def _sandwich(
    ratings: Array, information: Array, seen: Observations, first: Array, second: Array, ends: _Ends
) -> Array:
    """Returns the covariance of the ratings: the inverse information on both sides of the observed scatter.

    A seed group pulls on each rating by the difference between its result and the expectation. The squares of these
    pulls are the scatter, whatever luck its games share, scaled up for the degrees of freedom that the fit has used.
    Where all seed groups of a bot are equal, the scatter is unknown, and the model's own is used, with the games of a
    seed group as one.
    """
    count = len(ratings)
    chances, squares = _chance(ratings[first] - ratings[second]), seen.squares[seen.result]
    alone = ends.all_equal[first] | ends.all_equal[second]
    pulls = np.where(alone, 0.0, seen.ahead - seen.met * chances)
    scatter = _scatter(seen, first, second, pulls, count)
    known = np.where(alone, squares * chances * (1 - chances) * seen.met**2, 0.0)
    for rows, columns, sign in ((first, first, 1), (second, second, 1), (first, second, -1), (second, first, -1)):
        scatter += _summed(rows * count + columns, sign * known, count)
    seed_groups = seen.different.sum()
    scale = seed_groups / max(seed_groups - count + 1, 1)
    inverse = np.linalg.inv(information)
    return np.asarray(scale * (inverse @ scatter @ inverse))


def _scatter(seen: Observations, first: Array, second: Array, pulls: Array, count: int) -> Array:
    """Returns the sum over results of the products of all pulls in it."""
    scatter = np.zeros((count, count))
    for part in parts_of(seen.result):
        keys, of = _by_bot(seen.result[part], first[part], second[part], count)
        results, bots = np.divmod(keys, count)
        pulled = np.bincount(of, _both(pulls[part], -pulls[part])) * np.sqrt(seen.squares[results])
        _, starts, sizes = np.unique(results, return_index=True, return_counts=True)
        for size in np.unique(sizes).tolist():
            members = starts[sizes == size][:, None] + np.arange(size)
            pairs = bots[members][:, :, None] * count + bots[members][:, None, :]
            products = pulled[members][:, :, None] * pulled[members][:, None, :]
            scatter += _summed(pairs.reshape(-1), products.reshape(-1), count)
    return scatter


def _by_bot(result: Array, first: Array, second: Array, count: int) -> tuple[Array, Array]:
    """Returns result × `count` + bot for every bot of every result, and the place there of both ends of each entry."""
    keys, of = np.unique(result.astype(np.int64) * count + np.stack([first, second]), return_inverse=True)
    return keys, of.reshape(-1)


def _centred(covariance: Array) -> Array:
    """Returns the covariance of ratings relative to their mean."""
    means = covariance.mean(axis=0)
    return np.asarray(covariance - means[:, None] - means + means.mean())


def _interval(rating: float, variance: float, result: _Result, expecting: Callable[[float], float]) -> Interval:
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


def _expecting(score: float, games: Array, ratings: Array) -> float:
    """Returns the rating with that expected score in these games against each other bot."""
    rivals = np.flatnonzero(games)
    times, others = games[rivals], ratings[rivals]
    low, high = float(ratings.min()) - 50, float(ratings.max()) + 50
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if (times * _chance(middle - others)).sum() > score * times.sum() else (middle, high)
    return low


def _chances_to_be_first(ratings: Array, covariance: Array, seed: int, draws: int) -> Sequence[float | None]:
    """Returns every bot's chance of being the best, from joint draws of all ratings, each with its mirror."""
    if draws < 2:
        return [None] * len(ratings)
    least = 1e-9 * covariance.diagonal().max() + 1e-30  # the ratings add up to 0, a direction without variance
    factor = np.linalg.cholesky(covariance + least * np.eye(len(ratings))).T.astype(np.float32)
    normal = np.random.Generator(np.random.PCG64(seed)).standard_normal
    best, pairs = np.zeros(len(ratings)), draws // 2
    for start in range(0, pairs, CHUNK):
        moves = normal((min(CHUNK, pairs - start), len(ratings)), np.float32) @ factor
        for drawn in (ratings + moves, ratings - moves):
            best += np.bincount(drawn.argmax(axis=1), minlength=len(ratings))
    return [float(times) for times in best / (2 * pairs)]
