"""A gate: whether a new version of a bot is better than the old one, decided between two hypotheses.

H0: it is better by the lower bound or less. H1: it is better by the upper bound or more. Seed groups count in the order
of their numbers, not of their arrival, because short games arrive first and differ from the others.
`docs/statistics.md` says how often each error occurs.
"""

import math
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.tournament.statistics.score import Bounds, Strength, expected, llr, seed_groups
from referee.harness.tournament.statistics.score import strength as strength_of

LOOK_EVERY = 8
"""Seed groups between two looks at the likelihood ratio: every look is a chance to err."""

FURTHEST = 3000.0
"""The largest bound in Elo: one game in thirty million. Much further out, a float cannot hold the odds."""


class Unit(StrEnum):
    """The unit of the bounds."""

    ELO = "elo"
    NELO = "nelo"
    """Normalised Elo."""
    POINTS = "points"
    """The share of the points above one half, in hundredths."""


class Decision(StrEnum):
    """The end of a gate."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCONCLUSIVE = "inconclusive"
    """The limit of games or minutes came first."""


class Terms(Struct, frozen=True):
    """The hypotheses, the error rates and the limits."""

    unit: Unit = Unit.ELO
    low: float = 0.0
    high: float = 30.0
    alpha: float = 0.05
    """How often a bot that is better by `low` may be accepted."""
    beta: float = 0.05
    """How often a bot that is better by `high` may be rejected."""
    anytime: bool = False
    """Decide by betting, which keeps both error rates at every look. Points are always decided so."""
    max_games: int = 20_000
    max_minutes: float | None = 30.0

    @property
    def bets(self) -> bool:
        """Whether betting decides."""
        return self.anytime or self.unit is Unit.POINTS

    @property
    def means(self) -> tuple[float, float]:
        """The bounds, in Elo or points, as mean scores of a seed group, 0 … 1."""
        if self.unit is Unit.POINTS:
            return 0.5 + self.low / 100, 0.5 + self.high / 100
        return expected(self.low), expected(self.high)

    @property
    def limits(self) -> tuple[float, float]:
        """The logarithms of the likelihood ratio at which the bot is rejected and accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def checked(terms: Terms, seats: int) -> Terms:
    """Returns the terms if they make sense for a game of that many seats, else raises UsageError."""
    if not terms.low < terms.high:
        raise UsageError(f"--{terms.unit} {terms.low:g} {terms.high:g}: the first bound must be below the second")
    if terms.unit is Unit.POINTS and not -50 < terms.low < terms.high < 50:
        raise UsageError(f"--points {terms.low:g} {terms.high:g}: expected hundredths above one half, -50 … 50")
    if not all(map(math.isfinite, (terms.low, terms.high))):
        raise UsageError(f"--{terms.unit} {terms.low:g} {terms.high:g}: the bounds must be finite")
    if terms.unit is not Unit.POINTS and not -FURTHEST <= terms.low < terms.high <= FURTHEST:
        allowed = f"expected bounds from {-FURTHEST:g} to {FURTHEST:g}"
        raise UsageError(f"--{terms.unit} {terms.low:g} {terms.high:g}: {allowed}")
    for name, value in (("alpha", terms.alpha), ("beta", terms.beta)):
        if not 0 < value < 0.5:
            raise UsageError(f"--{name} {value:g}: expected a chance above 0 and below 0.5")
    if terms.anytime and terms.unit is Unit.NELO:
        raise UsageError(
            "--anytime cannot be combined with --nelo: bets are on a mean, which normalised Elo is not; use --elo"
        )
    if terms.max_games < seats:
        raise UsageError(f"--max-games {terms.max_games}: a seed group has {seats} games")
    if terms.max_minutes is not None and not terms.max_minutes > 0:
        raise UsageError(f"--max-minutes {terms.max_minutes:g}: expected a time above 0")
    return terms


class Game(Struct, frozen=True):
    """A game of the new bot at one seat against the old one at all others, with tuples in seat order."""

    seat: int
    """Of the new bot."""
    ranks: tuple[int, ...]
    points: tuple[float, ...]
    content: int = 0
    """The hash of the course of the game; 0 = unknown."""
    at_fault: tuple[int, ...] = ()
    """The seats with a fault."""


class Gate:
    """Counts seed groups and decides."""

    def __init__(self, terms: Terms, seats: int) -> None:
        self.terms = terms
        self.seats = seats
        self.decision: Decision | None = None
        self.seed_groups = 0
        """Those that count: in order, up to the decision."""
        self.llr = 0.0
        self.wealth = (0.0, 0.0)
        """The logarithms of the wealth of bets against H0 and against H1, which begin with 1."""
        self.counts = [0] * (2 * (seats - 1) * seats + 1)
        """Seed groups by the number of rivals that the new bot finished ahead of, in steps of a half."""
        self.pairs = [0, 0, 0]
        """How many rivals in single games the new bot finished ahead of, level with and behind."""
        self.faults = (0, 0)
        """Faults of the new bot and of the old one."""
        self.share = 0.0
        """The new bot's share of the points, summed over seed groups."""
        low, high = terms.means if terms.unit is not Unit.NELO else (0.5, 0.5)
        self._bets = _Bet(low, high - low), _Bet(1 - high, high - low)
        self._waiting: dict[int, Sequence[Game]] = {}
        self._contents: set[tuple[int, int]] = set()
        self._unknown = 0

    @property
    def games(self) -> int:
        """That count."""
        return self.seed_groups * self.seats

    @property
    def different(self) -> int:
        """Of the games that count, those that are no copies of another."""
        return len(self._contents) + self._unknown

    def add(self, number: int, games: Sequence[Game]) -> Decision | None:
        """Adds a seed group by its number, from 0. Returns the decision, if there is one."""
        self._waiting[number] = games
        while self.decision is None and self.seed_groups in self._waiting:
            self._count(self._waiting.pop(self.seed_groups))
            self.decision = self._decide()
        return self.decision

    def give_up(self) -> Decision:
        """Ends without further seed groups."""
        self.decision = self.decision or Decision.INCONCLUSIVE
        return self.decision

    def strength(self) -> Strength | None:
        """Returns the strength of the new bot; None before the first seed group."""
        return strength_of(seed_groups(self.seats, self.seats, self.counts)) if self.seed_groups else None

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
        self.seed_groups += 1
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
        elif self.seed_groups % LOOK_EVERY == 0 or self.games + self.seats > terms.max_games:
            sample = seed_groups(self.seats, self.seats, self.counts)
            self.llr = llr(sample, Bounds(terms.low, terms.high, terms.unit is Unit.NELO))
            rejected, accepted = terms.limits
            if self.llr >= accepted:
                return Decision.ACCEPTED
            if self.llr <= rejected:
                return Decision.REJECTED
        return Decision.INCONCLUSIVE if self.games + self.seats > terms.max_games else None


def _share(points: float, other: float) -> float:
    """Returns a bot's share of the points of two; a half if there are none. Raises UsageError for points below 0."""
    if points < 0 or other < 0:
        raise UsageError("--points: this game has scores below 0, which cannot be shared out; use --elo")
    return points / (points + other) if points + other > 0 else 0.5


STAKES = (0.5, 1.0, 2.0, 4.0)
"""The stakes of the bettors, in units of the best stake if the mean is exactly what H1 (or H0) says."""


class _Bet:
    """Bets on every seed group that the mean score is above `mean`, at odds that are fair if it is not.

    If the mean is no higher, the expected wealth never grows, so that it ever reaches 1/a with a chance of at most a
    (Ville 1939; Waudby-Smith and Ramdas 2024): at every look, for any scores between 0 and 1. Several bettors share the
    initial wealth. Under the unit of their stakes, wealth grows fastest if the mean is higher by `edge`, with the
    variance observed so far; it begins as that of four seed groups with a deviation of a quarter. No stake lets a seed
    group take more than nine tenths.
    """

    def __init__(self, mean: float, edge: float) -> None:
        self.mean, self.edge = mean, edge
        self._seed_groups, self._squares = 4, 4 / 16
        self._wealths = [0.0] * len(STAKES)

    @property
    def wealth(self) -> float:
        """The logarithm of the wealth of all bettors together."""
        most = max(self._wealths)
        return most + math.log(sum(math.exp(wealth - most) for wealth in self._wealths) / len(STAKES))

    def place(self, score: float) -> None:
        """Settles the bets on the next seed group."""
        gain = score - self.mean
        unit = self.edge / (self._squares / self._seed_groups + self.edge**2)
        for bettor, stake in enumerate(STAKES):
            self._wealths[bettor] += math.log1p(min(stake * unit, 0.9 / self.mean) * gain)
        self._seed_groups += 1
        self._squares += gain * gain


class Report(Struct, frozen=True, rename={"seed_groups": "orbits"}):
    """The result of a gate. In JSON, infinite and unknown ends of intervals are null."""

    game: str
    new: str
    old: str
    seed: int
    seats: int
    """One of the new bot, all others of the old one."""
    decision: Decision
    terms: Terms
    seed_groups: int
    games: int
    different: int
    surplus: int
    """Games that ended after the decision and do not count."""
    llr: float
    limits: tuple[float, float]
    wealth: tuple[float, float]
    strength: Strength | None
    share: float
    """The new bot's mean share of the points, 0 … 1, if points decide."""
    counts: tuple[int, ...]
    ahead: int
    """How many rivals in single games, `seats` - 1 each, the new bot finished ahead of."""
    level: int
    behind: int
    faults_new: int
    faults_old: int
    duration_s: float


def report(gate: Gate, game: str, names: tuple[str, str], seed: int, played: int, duration_s: float) -> Report:
    """Reports on a gate. `names` are of the new bot and the old one, `played` counts all games."""
    ahead, level, behind = gate.pairs
    return Report(
        game=game,
        new=names[0],
        old=names[1],
        seed=seed,
        seats=gate.seats,
        decision=gate.decision or Decision.INCONCLUSIVE,
        terms=gate.terms,
        seed_groups=gate.seed_groups,
        games=gate.games,
        different=gate.different,
        surplus=played - gate.games,
        llr=gate.llr,
        limits=gate.terms.limits,
        wealth=gate.wealth,
        strength=gate.strength(),
        share=gate.share / max(gate.seed_groups, 1),
        counts=tuple(gate.counts),
        ahead=ahead,
        level=level,
        behind=behind,
        faults_new=gate.faults[0],
        faults_old=gate.faults[1],
        duration_s=duration_s,
    )
