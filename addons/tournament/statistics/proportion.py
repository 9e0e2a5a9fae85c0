"""The upper bound of a proportion, after Clopper and Pearson (Biometrika 26, 1934, 404-413)."""

import math

STEPS = 60
"""Halvings of the interval. More change nothing in the 15 digits of a float."""
TERMS = 100_000
TINY = 1e-300


def upper_bound(count: int, total: int, error: float = 0.05) -> float:
    """Returns the proportion that `count` of `total` do not exceed, except with the probability `error`.

    It is the largest proportion with which as few as `count` still come with that probability. 1 if `total` is 0.
    """
    if count >= total:
        return 1.0
    low, high = count / total, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if at_most(count, total, middle) > error:
            low = middle
        else:
            high = middle
    return high


def at_most(count: int, total: int, share: float) -> float:
    """Returns the probability of at most `count` of `total` events that each have the probability `share`."""
    return 1.0 - _incomplete_beta(count + 1, total - count, share)


def _incomplete_beta(a: int, b: int, x: float) -> float:
    """Returns the regularised incomplete beta function by its continued fraction (DLMF 8.17.22)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1) / (a + b + 2):  # the fraction converges quickly on the other side
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = fraction
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            fraction *= c * d
        if abs(fraction - before) < 1e-15 * fraction:
            break
    return math.exp(logarithm) * fraction / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
