"""Compares what runners say of games of programs that are not deterministic: a sequential test of each runner.

Two honest runners play the same game. Then each result is as likely at one as at the other, so that the difference of a
bot's scores has the mean 0, whatever was played before. Bets on a difference gain nothing on average. The gain of a
runner's bets exceeds 1 / `ERROR_RATE` with a chance of at most `ERROR_RATE`, however long it plays (Ville 1939; Shafer
2021, "Testing by betting"). `docs/explanation/ladder.md` says what follows from it.
"""

import math
from collections.abc import Iterable, Sequence, Set

from msgspec import Struct

ERROR_RATE = 0.001
"""The chance that an honest runner is ever suspected, over all its games together."""
STAKES = (0.1, 0.3, 0.6, 0.9)
"""Shares of the capital that are bet, on a gain and on a loss alike."""
RANGE = 1e300
"""The capital of a bet does not grow beyond this."""


class Pair(Struct, frozen=True):
    """A game that two runners of different owners have played, in the order in which the second one was handed in."""

    runners: tuple[str, str]
    bots: tuple[str, ...]
    """By seat."""
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    """For each runner the scores by seat, from 0 to 1."""
    timeouts: tuple[tuple[bool, ...], tuple[bool, ...]]
    """For each runner and by seat, whether the bot ran out of time."""


class _Bets:
    """The capital of one runner's bets, on the scores and time-outs of every bot that it met."""

    def __init__(self) -> None:
        self._bets: dict[tuple[str, str], tuple[float, list[float]]] = {}
        self._capital = 1.0
        self.highest = 1.0

    def add(self, subject: tuple[str, str], difference: float) -> None:
        """Bets on a difference. The n-th subject has the share 1/n(n+1) of the capital; the rest is not bet yet."""
        number = len(self._bets) + 1
        share, bets = self._bets.setdefault(subject, (1 / (number * (number + 1)), [1.0] * (2 * len(STAKES))))
        if difference:
            before = sum(bets)
            for place, stake in enumerate((*STAKES, *(-stake for stake in STAKES))):
                bets[place] = min(RANGE, bets[place] * (1 + stake * difference))
            self._capital += share * (sum(bets) - before) / len(bets)
            self.highest = max(self.highest, self._capital)


def gains(pairs: Iterable[Pair], without: Set[str] = frozenset()) -> dict[str, float]:
    """Returns the highest capital of every runner's bets: evidence against it. 1 = none."""
    bets: dict[str, _Bets] = {}
    for pair in pairs:
        if not without.isdisjoint(pair.runners):
            continue
        for number, runner in enumerate(pair.runners):
            own = bets.setdefault(runner, _Bets())
            other = 1 - number
            for seat, bot in enumerate(pair.bots):
                own.add((bot, "score"), pair.scores[number][seat] - pair.scores[other][seat])
                own.add((bot, "time"), float(pair.timeouts[number][seat]) - float(pair.timeouts[other][seat]))
    return {runner: each.highest for runner, each in bets.items()}


def suspects(pairs: Sequence[Pair]) -> dict[str, float]:
    """Returns the runners whose results differ from those of the others, with the evidence.

    The one with most evidence against it goes first, since its honest witnesses differ from it too. Those that are left
    are tested without its games. Two that only witness each other go together: nobody can say which one lies.
    """
    found: dict[str, float] = {}
    while True:
        now = gains(pairs, found.keys())
        worst = max(now.values(), default=0.0)
        if worst < 1 / ERROR_RATE:
            return found
        found |= {runner: gain for runner, gain in sorted(now.items()) if math.isclose(gain, worst, rel_tol=1e-6)}


def score_of(ranks: Sequence[int], seat: int) -> float:
    """Returns the share of the other bots that a bot finished ahead of, a tie as half."""
    others = [rank for place, rank in enumerate(ranks) if place != seat]
    return sum(1.0 if ranks[seat] < rank else 0.5 if ranks[seat] == rank else 0.0 for rank in others) / len(others)
