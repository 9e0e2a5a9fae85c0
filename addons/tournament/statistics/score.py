"""The certainty of a score: Elo and normalised Elo with intervals, and the likelihood ratio of two hypotheses.

The unit is the seed group: the games of one seed with the bots at all rows of seats. Its games share their luck, so
that only whole seed groups are independent. `docs/explanation/statistics.md` has the formulas with their sources.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from referee.harness.match.interval import Interval, Z

TAIL = 0.025
"""The chance that a 95 % interval leaves out on either side."""
FEW = 20
"""With fewer seed groups than this, the normal approximation behind an interval is unreliable."""
NELO = 800 / math.log(10)
"""Normalised Elo of a mean that is one standard deviation of a game above a half."""


class Sample(Struct, frozen=True):
    """How often each score of a unit occurred. A unit is a seed group, or a single game that was not paired.

    A score is the share of rivals that the bot finished ahead of, a tie counting half: 0 = always last, 1 = always
    first. Raises ValueError for a wrong number of counts, or none above 0.
    """

    counts: tuple[float, ...]
    """How many units had each score, from 0 in steps of half a rival. Game pairs: 0, ½, 1, 1½, 2 points."""
    games: int = 2
    """The games of a unit."""

    def __post_init__(self) -> None:
        if len(self.counts) < 2 or (len(self.counts) - 1) % (2 * self.games):
            raise ValueError(f"{len(self.counts)} counts; units of {self.games} games do not have as many scores")
        if min(self.counts) < 0 or sum(self.counts) <= 0:
            raise ValueError(f"counts {list(self.counts)}: none may be below 0, and one must be above")

    @property
    def scores(self) -> list[float]:
        """Every score that a unit can have, ascending, from 0 to 1."""
        steps = len(self.counts) - 1
        return [step / steps for step in range(steps + 1)]

    @property
    def shares(self) -> list[float]:
        """The share of the units with each score."""
        units = sum(self.counts)
        return [count / units for count in self.counts]


class Strength(Struct, frozen=True):
    """The strength of a bot relative to its rivals."""

    units: float
    score: float
    """Mean, 0 … 1."""
    elo: Interval
    nelo: Interval
    los: float | None
    """Likelihood of superiority, 0 … 1: the chance that the true mean is above a half. None without information."""
    draw_ratio: float
    """The share of units with a score of exactly a half."""
    note: str
    """`few` units, `no information` about the error of the score, or empty."""


def elo(score: float) -> float:
    """Returns the difference in Elo at which that score is expected; infinite from 0 down and from 1 up."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def expected(difference: float) -> float:
    """The score, 0 … 1, that is expected at a difference in Elo, which may be infinite."""
    if difference < 0:
        return 1 - expected(-difference)
    return 1 / (1 + 10 ** (-difference / 400))


def strength(sample: Sample) -> Strength:
    """Returns Elo, normalised Elo and likelihood of superiority of a sample."""
    units = sum(sample.counts)
    mean, deviation = _moments(sample.scores, sample.shares)
    draws = sum(count for score, count in zip(sample.scores, sample.counts, strict=True) if score == 0.5)
    if deviation > 0:
        error = deviation / math.sqrt(units)
        low, high = mean - Z * error, mean + Z * error
        unit = NELO / (deviation * math.sqrt(sample.games))
        elos = Interval(elo(mean), elo(low), elo(high))
        nelos = Interval((mean - 0.5) * unit, (low - 0.5) * unit, (high - 0.5) * unit)
        los: float | None = normal_cdf((mean - 0.5) / error)
    else:
        elos, nelos, los = _all_equal(mean, units)
    note = "no information" if los is None else "few" if units < FEW else ""
    return Strength(units, mean, elos, nelos, los, draws / units, note)


def _all_equal(mean: float, units: float) -> tuple[Interval, Interval, float | None]:
    """Returns Elo, normalised Elo and likelihood of superiority when all units have one score.

    Its error is then unknown, unless all were won or all lost: a bot whose true score is s wins n of n with a chance of
    s**n at most. Without a spread, normalised Elo has no unit, and so no ends.
    """
    if mean == 1:
        return (
            Interval(math.inf, elo(TAIL ** (1 / units)), math.inf),
            Interval(math.inf, None, math.inf),
            1 - 0.5**units,
        )
    if mean == 0:
        high = elo(1 - TAIL ** (1 / units))
        return Interval(-math.inf, -math.inf, high), Interval(-math.inf, -math.inf, None), 0.5**units
    nelo = 0.0 if mean == 0.5 else math.copysign(math.inf, mean - 0.5)
    return Interval(elo(mean), None, None), Interval(nelo, None, None), None


def normal_cdf(z: float) -> float:
    """Returns the chance that a standard normal variable is below `z`."""
    return math.erfc(-z / math.sqrt(2)) / 2


# The likelihood ratio of two hypotheses.


def llr(sample: Sample, low: float, high: float, normalised: bool = False) -> float:
    """Returns the logarithm of the generalised likelihood ratio of H1 to H0.

    H0: the difference in Elo, or in normalised Elo, is `low` or less. H1: it is `high` or more. Under a hypothesis,
    every distribution of scores with its mean (or mean in standard deviations) is possible, and the likeliest of them
    counts. The normal approximation would trust a few equal seed groups, which show no spread, without bound.
    """
    under_low, under_high = (_log_ratios(sample, value, normalised) for value in (low, high))
    return sum(
        count * (more - less)
        for count, less, more in zip(sample.counts, under_low, under_high, strict=True)
        if count > 0
    )


def _log_ratios(sample: Sample, value: float, normalised: bool) -> list[float]:
    """Returns, for every score, log(likeliest probability under the hypothesis / share of the sample)."""
    if normalised:
        tilted = _at_deviations(sample.scores, sample.shares, value / NELO * math.sqrt(sample.games))
    else:
        mean = expected(value)
        tilted = _tilt(sample.shares, [score - mean for score in sample.scores])
    return [-math.log(weight) if weight > 0 else 0.0 for weight in tilted]


def _tilt(shares: Sequence[float], values: Sequence[float]) -> list[float]:
    """Returns the likeliest distribution under which `values` have the mean 0, as divisors of the shares.

    With a multiplier x it is share / (1 + x value), and x solves sum(share value / (1 + x value)) = 0 (Owen 2001,
    2.9), or is the nearer end of its interval: no divisor may be negative. A value that never occurred may get a
    probability: if its divisor becomes 0, it takes what the others leave. The sum falls with x. Newton's method finds
    x, with bisection where a step would leave the interval that holds the root.
    """
    seen = [(share, value) for share, value in zip(shares, values, strict=True) if share > 0]
    low, high = -1 / max(values), -1 / min(values)
    x = 0.0
    for _ in range(100):
        total = slope = 0.0
        for share, value in seen:
            term = value / (1 + x * value)
            total += share * term
            slope += share * term * term
        if total > 0:
            low = x
        else:
            high = x
        if slope == 0 or abs(total / slope) <= 1e-14 * abs(x) or high - low <= 1e-15 * abs(x):
            break
        x = x + total / slope if low < x + total / slope < high else (low + high) / 2
    return [1 + x * value for value in values]


def _at_deviations(scores: Sequence[float], shares: Sequence[float], deviations: float) -> list[float]:
    """Returns the divisors of the likeliest distribution whose mean is `deviations` of its deviations above a half.

    For any m and d > 0, deviation <= (d + E(score - m)^2 / d) / 2, with equality at the distribution's own mean and
    deviation. So with the m and d of one distribution, the condition is a tilt, which gives the next distribution; this
    is repeated until they stay the same. If the mean of the sample is too low, every distribution on the way is
    likelier than the one before. But there may be several ends: the search starts once from each score above a half.
    """
    if abs(deviations) < 1e-9:  # indistinguishable from 0
        return _tilt(shares, [score - 0.5 for score in scores])
    if deviations < 0:
        mirrored = [1 - score for score in reversed(scores)]
        return _at_deviations(mirrored, shares[::-1], -deviations)[::-1]
    mean, spread = _moments(scores, shares)
    if mean > 0.5 and mean - 0.5 >= deviations * spread:
        return _settled(scores, shares, deviations, mean, spread or (mean - 0.5) / deviations)
    seen = [score for score, share in zip(scores, shares, strict=True) if score > 0.5 and (share > 0 or score == 1)]
    starts = [start for more in seen if (start := _mixed(mean, spread, more, deviations)) is not None]
    ends = [_settled(scores, shares, deviations, *start) for start in starts]
    return min(ends, key=lambda divisors: sum(s * math.log(d) for s, d in zip(shares, divisors, strict=True) if s > 0))


def _settled(
    scores: Sequence[float], shares: Sequence[float], deviations: float, mean: float, deviation: float
) -> list[float]:
    """Repeats tilts from a mean and a deviation until they stay the same. Returns the divisors."""
    for _ in range(500):
        half = deviations * deviation / 2
        values = [score - 0.5 - half * (1 + ((score - mean) / deviation) ** 2) for score in scores]
        divisors = _tilt(shares, values)
        before = mean, deviation
        mean, deviation = _moments(scores, _distribution(shares, divisors))
        if abs(mean - before[0]) + abs(deviation - before[1]) < 1e-10:
            break
    return divisors


def _mixed(mean: float, spread: float, more: float, deviations: float) -> tuple[float, float] | None:
    """Returns mean and deviation of the sample mixed with just enough of the score `more` for the condition to hold.

    None if no mixture does.
    """
    low, high = 0.0, 1.0
    found = None
    for _ in range(30):
        mix = (low + high) / 2
        mixed = mean + mix * (more - mean)
        deviation = math.sqrt((1 - mix) * (spread**2 + mix * (more - mean) ** 2))
        if mixed - 0.5 >= deviations * deviation:
            high, found = mix, (mixed, deviation)
        else:
            low = mix
    return found


def _distribution(shares: Sequence[float], divisors: Sequence[float]) -> list[float]:
    """Returns the probabilities. The unseen score whose divisor is 0 gets what the others leave."""
    chances = [share / divisor if share > 0 else 0.0 for share, divisor in zip(shares, divisors, strict=True)]
    rest = 1 - sum(chances)
    if rest > 1e-9:
        unseen = [index for index, share in enumerate(shares) if share == 0]
        chances[min(unseen, key=lambda index: divisors[index])] += rest
    return chances


def _moments(scores: Sequence[float], chances: Sequence[float]) -> tuple[float, float]:
    """Returns mean and standard deviation."""
    mean = sum(chance * score for score, chance in zip(scores, chances, strict=True))
    variance = sum(chance * (score - mean) ** 2 for score, chance in zip(scores, chances, strict=True))
    return mean, math.sqrt(variance)
