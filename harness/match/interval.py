"""The mean of a game with its interval."""

import math
from collections.abc import Sequence

from msgspec import Struct

Z = 1.959963984540054
"""A normal variable is within this many standard deviations in 95 % of cases."""


class Interval(Struct, frozen=True):
    """A figure with its 95 % interval. An end is None if nothing is known about it; all three may be infinite."""

    value: float
    low: float | None
    high: float | None


def mean_interval(units: Sequence[tuple[float, int]]) -> Interval:
    """Returns the mean of a game over units of several games: for each, the sum of its scores and how many they are.

    The interval is that of a ratio (Cochran, Sampling Techniques, 1977, section 6.3); one unit has no spread.
    """
    games = sum(count for _, count in units)
    mean = math.fsum(total for total, _ in units) / games
    if len(units) < 2:
        return Interval(mean, None, None)
    squares = math.fsum((total - mean * count) ** 2 for total, count in units)
    error = math.sqrt(squares * len(units) / (len(units) - 1)) / games
    return Interval(mean, mean - Z * error, mean + Z * error)
