"""Compares what runners say of games of programs that are not deterministic: a sequential test of each runner.

Two honest runners play the same game. Then each result is as likely at one as at the other, so that the difference of a
bot's scores has the mean 0, whatever was played before. Bets on a difference gain nothing on average. The gain of a
runner's bets exceeds 1 / `ERROR_RATE` with a chance of at most `ERROR_RATE`, however long it plays (Ville 1939; Shafer
2021, "Testing by betting"). `docs/explanation/ladder.md` says what follows from it.
"""

import math
from array import array
from collections.abc import Iterator, Sequence, Set
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from itertools import groupby

ERROR_RATE = 0.001
"""The chance that an honest runner is ever suspected, over all its games together."""
STAKES = (0.1, 0.3, 0.6, 0.9)
"""Shares of the capital that are bet, on a gain and on a loss alike."""
MOST_EVIDENCE = Decimal(10**12)
RANGE = 1e300
"""The capital of a bet does not grow beyond this."""


class Differences:
    """Where two runners of different owners differ about a game, in the order in which the second one handed in.

    Games in which they do not differ change nothing. There may be millions, so that these are kept as numbers.
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._numbers, self._values = array("I"), array("d")
        self._games = 0

    def _add(self, runners: tuple[str, str], bot: str, kind: str, value: float) -> None:
        """Adds how much more the first runner says of a bot's score, 0 to 1, or of its time-outs."""
        if value:
            self._numbers.append(self._games)
            for name in (*runners, f"{bot} {kind}"):
                self._numbers.append(self._names.setdefault(name, len(self._names)))
            self._values.append(value)

    def add_game(
        self,
        runners: tuple[str, str],
        bots: Sequence[str],
        ranks: tuple[Sequence[int], Sequence[int]],
        late: tuple[Set[int], Set[int]],
    ) -> None:
        """Adds a game that both have played, by seat. `late`: for each, the seats that ran out of time."""
        self._games += 1
        for seat, bot in enumerate(bots):
            one, other = (score_of(each, seat) for each in ranks)
            self._add(runners, bot, "score", one - other)
            self._add(runners, bot, "time", float(seat in late[0]) - float(seat in late[1]))

    def games(self) -> Iterator[tuple[str, str, list[tuple[str, float]]]]:
        """Yields both runners of each game, and how much more the first one says of what."""
        names, numbers = list(self._names), self._numbers
        for _, found in groupby(range(len(self._values)), lambda at: numbers[4 * at]):
            places = list(found)
            one, other = (names[number] for number in numbers[4 * places[0] + 1 : 4 * places[0] + 3])
            yield one, other, [(names[numbers[4 * at + 3]], self._values[at]) for at in places]


class _Bets:
    """The capital of one runner's bets, on the scores and time-outs of every bot that it met."""

    def __init__(self) -> None:
        self._bets: dict[str, tuple[float, list[float]]] = {}
        self._capital = 1.0
        self.highest = 1.0

    def add(self, subject: str, difference: float) -> None:
        """Bets on a difference. The n-th subject has the share 1/n(n+1) of the capital; the rest is not bet yet."""
        number = len(self._bets) + 1
        share, bets = self._bets.setdefault(subject, (1 / (number * (number + 1)), [1.0] * (2 * len(STAKES))))
        before = sum(bets)
        for place, stake in enumerate((*STAKES, *(-stake for stake in STAKES))):
            bets[place] = min(RANGE, bets[place] * (1 + stake * difference))
        self._capital += share * (sum(bets) - before) / len(bets)

    def end_game(self) -> None:
        """Looks at the capital. In the middle of a game it would be biased: a bot that is late also loses."""
        self.highest = max(self.highest, self._capital)


def gains(differences: Differences, without: Set[str] = frozenset()) -> dict[str, float]:
    """Returns the highest capital of every runner's bets: evidence against it. 1 = none."""
    bets: dict[str, _Bets] = {}
    for one, other, found in differences.games():
        if one not in without and other not in without:
            for runner, sign in ((one, 1.0), (other, -1.0)):
                own = bets.setdefault(runner, _Bets())
                for subject, value in found:
                    own.add(subject, sign * value)
                own.end_game()
    return {runner: each.highest for runner, each in bets.items()}


def suspects(differences: Differences) -> dict[str, float]:
    """Returns the runners whose results differ from those of the others, with the evidence.

    The one with most evidence against it goes first, since its honest witnesses differ from it too. Those that are left
    are tested without its games. Two that only witness each other go together: nobody can say which one lies.
    """
    found: dict[str, float] = {}
    while True:
        now = gains(differences, found.keys())
        worst = max(now.values(), default=0.0)
        if worst < 1 / ERROR_RATE:
            return found
        found |= {runner: gain for runner, gain in sorted(now.items()) if math.isclose(gain, worst, rel_tol=1e-6)}


class Times:
    """In how many games a runner saw a time-out and its witness none, and the other way round."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], list[int]] = {}
        """By runner and witness: games, time-outs of the runner alone, time-outs of the witness alone."""

    def add(self, runner: str, witness: str, games: int, alone: int = 0, missed: int = 0) -> None:
        """Adds games that both have played."""
        cell = self._counts.setdefault((runner, witness), [0, 0, 0])
        for place, count in enumerate((games, alone, missed)):
            cell[place] += count

    def of(self, runner: str, without: Set[str] = frozenset()) -> tuple[int, int, int]:
        """Returns the counts of a runner, leaving some witnesses out."""
        cells = [cell for (own, other), cell in self._counts.items() if own == runner and other not in without]
        games, alone, missed = (sum(cell[place] for cell in cells) for place in range(3))
        return games, alone, missed


def lateness(games: int, alone: int, missed: int, certified: float) -> int:
    """Returns the evidence that a machine causes more time-outs than its certificate admits; 1 = none.

    If the certificate is true, a runner sees a time-out that its witness does not see in at most a share `certified` of
    the games more often than the other way round. So bets on the difference less that share gain nothing on average.
    Their capital is that of games in any order. Decimals are equal on every machine.
    """
    with localcontext(Context(prec=20, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        admitted, capital = Decimal(certified), Decimal(0)
        for stake in STAKES:
            bet = Decimal(str(stake)) / (1 + admitted)
            factors = ((1 + bet * (1 - admitted), alone), (1 - bet * (1 + admitted), missed))
            product = (1 - bet * admitted) ** (games - alone - missed)
            for factor, count in factors:
                product *= factor**count
            capital += product / len(STAKES)
        return int(max(Decimal(1), min(MOST_EVIDENCE, capital)))


def score_of(ranks: Sequence[int], seat: int) -> float:
    """Returns the share of the other bots that a bot finished ahead of, a tie as half."""
    others = [rank for place, rank in enumerate(ranks) if place != seat]
    return sum(1.0 if ranks[seat] < rank else 0.5 if ranks[seat] == rank else 0.0 for rank in others) / len(others)
