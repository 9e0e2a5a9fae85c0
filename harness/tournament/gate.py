"""A gate: plays a new version of a bot against the old one until it is clear which of two hypotheses holds.

H0: the new one is better by the lower bound or less, H1: by the upper bound or more. Orbits count in the order of their
numbers, never in that of their arrival: short games arrive first, and are not like the others. `docs/statistics.md`
tells how often which error is made.
"""

import math
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.tournament.statistics.score import Bounds, Strength, expected, llr, orbits
from referee.harness.tournament.statistics.score import strength as strength_of

LOOK_EVERY = 8
"""Orbits from one look at the likelihood ratio to the next: a look too many is a chance too many to err."""

FURTHEST = 3000.0
"""A bound in Elo or normalised Elo: one game in thirty million. Much further out a float has no odds any more."""


class Unit(StrEnum):
    """What the bounds count."""

    ELO = "elo"
    NELO = "nelo"
    """Normalised Elo."""
    POINTS = "points"
    """The share of the points above one half, in hundredths."""


class Decision(StrEnum):
    """How a gate ends."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCONCLUSIVE = "inconclusive"
    """A cap in games or minutes came first."""


class Terms(Struct, frozen=True):
    """What is to be shown, and how surely."""

    unit: Unit = Unit.ELO
    low: float = 0.0
    high: float = 30.0
    alpha: float = 0.05
    """How often a bot that is better by `low` or less may be accepted."""
    beta: float = 0.05
    """How often a bot that is better by `high` or more may be rejected."""
    anytime: bool = False
    """By betting, which keeps both errors at whatever moment one looks; points are judged so in any case."""
    max_games: int = 20_000
    max_minutes: float | None = 30.0

    @property
    def bets(self) -> bool:
        """Whether it decides by betting."""
        return self.anytime or self.unit is Unit.POINTS

    @property
    def means(self) -> tuple[float, float]:
        """The bounds as mean scores of an orbit, 0 … 1; of Elo or points."""
        if self.unit is Unit.POINTS:
            return 0.5 + self.low / 100, 0.5 + self.high / 100
        return expected(self.low), expected(self.high)

    @property
    def limits(self) -> tuple[float, float]:
        """Of the likelihood ratio's logarithm: rejected at the first or below, accepted at the second or above."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def checked(terms: Terms, seats: int) -> Terms:
    """The terms, if a game of so many seats can be played under them. UsageError says what is wrong with them."""
    if not terms.low < terms.high:
        raise UsageError(f"--{terms.unit} {terms.low:g} {terms.high:g}: the first bound must be below the second")
    if terms.unit is Unit.POINTS and not -50 < terms.low < terms.high < 50:
        raise UsageError(f"--points {terms.low:g} {terms.high:g}: wanted are hundredths above one half, -50 … 50")
    if not all(map(math.isfinite, (terms.low, terms.high))):
        raise UsageError(f"--{terms.unit} {terms.low:g} {terms.high:g}: the bounds must be finite")
    if terms.unit is not Unit.POINTS and not -FURTHEST <= terms.low < terms.high <= FURTHEST:
        allowed = f"wanted are bounds from {-FURTHEST:g} to {FURTHEST:g}"
        raise UsageError(f"--{terms.unit} {terms.low:g} {terms.high:g}: {allowed}")
    for name, value in (("alpha", terms.alpha), ("beta", terms.beta)):
        if not 0 < value < 0.5:
            raise UsageError(f"--{name} {value:g}: wanted is a chance above 0 and below 0.5")
    if terms.anytime and terms.unit is Unit.NELO:
        raise UsageError("--anytime --nelo: bets are on a mean, which normalised Elo is not; take --elo")
    if terms.max_games < seats:
        raise UsageError(f"--max-games {terms.max_games}: an orbit has {seats} games")
    if terms.max_minutes is not None and not terms.max_minutes > 0:
        raise UsageError(f"--max-minutes {terms.max_minutes:g}: wanted is a time above 0")
    return terms


class Game(Struct, frozen=True):
    """A game of the new bot at one seat against the old one at all others. Tuples are in seat order."""

    seat: int
    """Of the new bot."""
    ranks: tuple[int, ...]
    points: tuple[float, ...]
    content: int = 0
    """The hash of all that happened, without names and times; 0 = unknown."""
    at_fault: tuple[int, ...] = ()
    """The seats with a fault."""


class Gate:
    """Takes orbits as they come and says when enough is known."""

    def __init__(self, terms: Terms, seats: int) -> None:
        self.terms = terms
        self.seats = seats
        self.decision: Decision | None = None
        self.orbits = 0
        """That count: up to the decision, in order."""
        self.llr = 0.0
        self.wealth = (0.0, 0.0)
        """The logarithms of what bets against H0 and against H1 have made of 1."""
        self.counts = [0] * (2 * (seats - 1) * seats + 1)
        """Orbits by the rivals that the new bot finished ahead of, in steps of a half."""
        self.pairs = [0, 0, 0]
        """Rivals of single games that the new bot finished ahead of, level with and behind."""
        self.faults = (0, 0)
        """Of the new bot and of the old one."""
        self.share = 0.0
        """The sum over orbits of the new bot's share of the points."""
        low, high = terms.means if terms.unit is not Unit.NELO else (0.5, 0.5)
        self._bets = _Bet(low, high - low), _Bet(1 - high, high - low)
        self._waiting: dict[int, Sequence[Game]] = {}
        self._contents: set[tuple[int, int]] = set()
        self._unknown = 0

    @property
    def games(self) -> int:
        """That count."""
        return self.orbits * self.seats

    @property
    def different(self) -> int:
        """Of the games that count, those that are no copies of another."""
        return len(self._contents) + self._unknown

    def add(self, number: int, games: Sequence[Game]) -> Decision | None:
        """Takes the games of an orbit by its number, from 0; the decision, if there is one by now."""
        self._waiting[number] = games
        while self.decision is None and self.orbits in self._waiting:
            self._count(self._waiting.pop(self.orbits))
            self.decision = self._decide()
        return self.decision

    def give_up(self) -> Decision:
        """Nothing more will come."""
        self.decision = self.decision or Decision.INCONCLUSIVE
        return self.decision

    def strength(self) -> Strength | None:
        """What the orbits that count say of the new bot; None before the first."""
        return strength_of(orbits(self.seats, self.seats, self.counts)) if self.orbits else None

    def _count(self, games: Sequence[Game]) -> None:
        steps, share = 0, 0.0
        for game in games:
            seat = game.seat
            for rival, rank in enumerate(game.ranks):
                if rival == seat:
                    continue
                step = (game.ranks[seat] < rank) + (game.ranks[seat] <= rank)
                self.pairs[2 - step] += 1
                steps += step
                if self.terms.unit is Unit.POINTS:
                    share += _share(game.points[seat], game.points[rival])
            new = seat in game.at_fault
            self.faults = self.faults[0] + new, self.faults[1] + len(game.at_fault) - new
            if game.content:
                self._contents.add((seat, game.content))
            else:
                self._unknown += 1
        self.orbits += 1
        self.counts[steps] += 1
        share /= len(games) * (self.seats - 1)
        self.share += share
        if self.terms.bets:
            score = share if self.terms.unit is Unit.POINTS else steps / (len(self.counts) - 1)
            for bet, outcome in zip(self._bets, (score, 1 - score), strict=True):
                bet.place(outcome)
            self.wealth = self._bets[0].wealth, self._bets[1].wealth

    def _decide(self) -> Decision | None:
        terms = self.terms
        if terms.bets:
            if self.wealth[0] >= -math.log(terms.alpha):
                return Decision.ACCEPTED
            if self.wealth[1] >= -math.log(terms.beta):
                return Decision.REJECTED
        elif self.orbits % LOOK_EVERY == 0 or self.games + self.seats > terms.max_games:
            sample = orbits(self.seats, self.seats, self.counts)
            self.llr = llr(sample, Bounds(terms.low, terms.high, terms.unit is Unit.NELO))
            rejected, accepted = terms.limits
            if self.llr >= accepted:
                return Decision.ACCEPTED
            if self.llr <= rejected:
                return Decision.REJECTED
        return Decision.INCONCLUSIVE if self.games + self.seats > terms.max_games else None


def _share(own: float, other: float) -> float:
    """Of the points of two; a half where there are none. UsageError for points below 0: they have no shares."""
    if own < 0 or other < 0:
        raise UsageError("--points: this game also pays points below 0, of which there are no shares; take --elo")
    return own / (own + other) if own + other > 0 else 0.5


STAKES = (0.5, 1.0, 2.0, 4.0)
"""What the bettors stake, in units of what is best when the mean is just as high as it should be shown to be."""


class _Bet:
    """Bets that a mean is above `mean`, orbit by orbit, at odds that are fair if it is exactly that.

    If the mean is no higher, the wealth's expectation never grows, so that it ever reaches 1/a with a chance of a at
    most (Ville 1939; Waudby-Smith and Ramdas 2024): at every look, for any scores between 0 and 1. Several bettors
    share the wealth at the beginning. The unit of their stakes is the one under which it would grow fastest if the mean
    were higher by `edge`, with the variance as seen so far, which begins as that of four orbits with a deviation of a
    quarter; a stake is never so high that an orbit could take more than nine tenths.
    """

    def __init__(self, mean: float, edge: float) -> None:
        self.mean, self.edge = mean, edge
        self._orbits, self._squares = 4, 4 / 16
        self._wealths = [0.0] * len(STAKES)

    @property
    def wealth(self) -> float:
        """The logarithm of what all bettors have, who began with 1."""
        most = max(self._wealths)
        return most + math.log(sum(math.exp(wealth - most) for wealth in self._wealths) / len(STAKES))

    def place(self, score: float) -> None:
        """Bets on the next orbit, whose score is known only afterwards."""
        gain = score - self.mean
        unit = self.edge / (self._squares / self._orbits + self.edge**2)
        for bettor, stake in enumerate(STAKES):
            self._wealths[bettor] += math.log1p(min(stake * unit, 0.9 / self.mean) * gain)
        self._orbits += 1
        self._squares += gain * gain


# What is told of it.


class Report(Struct, frozen=True):
    """A gate when it is over. Infinite ends of intervals are null in JSON, as are unknown ones."""

    game: str
    new: str
    old: str
    seed: int
    seats: int
    """At a table: one of the new bot's, all others the old one's."""
    decision: Decision
    terms: Terms
    orbits: int
    games: int
    different: int
    surplus: int
    """Games that were on their way at the decision, and count for nothing."""
    llr: float
    limits: tuple[float, float]
    wealth: tuple[float, float]
    strength: Strength | None
    share: float
    """The new bot's mean share of the points, 0 … 1, if they are what is judged."""
    counts: tuple[int, ...]
    ahead: int
    """Rivals of single games, `seats` - 1 in each, that the new bot finished ahead of."""
    level: int
    behind: int
    faults_new: int
    faults_old: int
    duration_s: float


def report(gate: Gate, game: str, names: tuple[str, str], seed: int, played: int, duration_s: float) -> Report:
    """Of a gate that has decided, or was told to give up; `names` of the new bot and of the old one; games `played` in
    all."""
    ahead, level, behind = gate.pairs
    return Report(
        game=game,
        new=names[0],
        old=names[1],
        seed=seed,
        seats=gate.seats,
        decision=gate.decision or Decision.INCONCLUSIVE,
        terms=gate.terms,
        orbits=gate.orbits,
        games=gate.games,
        different=gate.different,
        surplus=played - gate.games,
        llr=gate.llr,
        limits=gate.terms.limits,
        wealth=gate.wealth,
        strength=gate.strength(),
        share=gate.share / max(gate.orbits, 1),
        counts=tuple(gate.counts),
        ahead=ahead,
        level=level,
        behind=behind,
        faults_new=gate.faults[0],
        faults_old=gate.faults[1],
        duration_s=duration_s,
    )
