"""A gate: whether a new version of a bot is better than the old one, decided between two hypotheses.

H0: it is better by the lower bound or less. H1: it is better by the upper bound or more. Seed groups count in the order
of their numbers, not of their arrival, because short games arrive first and differ from the others.
`docs/explanation/statistics.md` says how often each error occurs.
"""

import math
from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from referee.addons.tournament.statistics.score import Sample, Strength, llr
from referee.addons.tournament.statistics.score import strength as strength_of
from referee.addons.tournament.store.ledger import Use
from referee.harness.common.errors import UsageError

LOOK_EVERY = 8
"""Seed groups between two looks at the likelihood ratio: every look is a chance to err."""

REPEATS = 64
"""A gate ends when this many seed groups in a row, and as many as it has different ones, repeat earlier ones."""

MACHINE_SHARE = 0.05
"""A gate decides nothing while the machine may have decided more than this share of its games, one in twenty."""
MACHINE_FEW = 8
"""With at most this number of them, the gate plays on, because the share may still fall."""

FURTHEST = 3000.0
"""The largest bound in Elo: one game in thirty million. Much further out, a float cannot hold the odds."""


class Unit(StrEnum):
    """The unit of the bounds."""

    ELO = "elo"
    NELO = "nelo"
    """Normalised Elo."""


class Decision(StrEnum):
    """The end of a gate."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCONCLUSIVE = "inconclusive"
    """A limit of games, minutes or dollars came first, the machine may have decided too many games, or the games only
    repeat earlier ones."""


class Terms(Struct, frozen=True):
    """The hypotheses, the error rates and the limits."""

    unit: Unit = Unit.ELO
    low: float = 0.0
    high: float = 30.0
    alpha: float = 0.05
    """How often a bot that is better by `low` may be accepted."""
    beta: float = 0.05
    """How often a bot that is better by `high` may be rejected."""
    max_games: int = 20_000
    max_minutes: float | None = 30.0
    max_cost: float | None = None
    """The dollars that language models may cost."""

    @property
    def limits(self) -> tuple[float, float]:
        """The logarithms of the likelihood ratio at which the bot is rejected and accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def checked(terms: Terms, seats: int) -> Terms:
    """Returns the terms if they make sense for a game of that many seats, else raises UsageError."""
    low, high = terms.low, terms.high
    bounds, chance = f"--{terms.unit} {low:g} {high:g}", "expected a chance above 0 and below 0.5"
    for right, problem in (
        (low < high, f"{bounds}: expected the lower bound first"),
        (all(map(math.isfinite, (low, high))), f"{bounds}: expected finite bounds"),
        (-FURTHEST <= low < high <= FURTHEST, f"{bounds}: expected bounds from {-FURTHEST:g} to {FURTHEST:g}"),
        (0 < terms.alpha < 0.5, f"--alpha {terms.alpha:g}: {chance}"),
        (0 < terms.beta < 0.5, f"--beta {terms.beta:g}: {chance}"),
        (
            terms.max_games >= seats,
            f"--max-games {terms.max_games}: expected at least {seats}, the games of a seed group",
        ),
        (
            terms.max_cost is None or terms.max_cost > 0,
            f"--max-cost {terms.max_cost or 0:g}: expected dollars above 0",
        ),
        (
            terms.max_minutes is None or terms.max_minutes > 0,
            f"--max-minutes {terms.max_minutes or 0:g}: expected a time above 0",
        ),
    ):
        if not right:
            raise UsageError(problem)
    return terms


class Game(Struct, frozen=True):
    """A game of the new bot at one seat against the old one at all others."""

    seat: int
    """Of the new bot."""
    ranks: tuple[int, ...]
    """By seat."""
    content: int = 0
    """The hash of the course of the game; 0 = unknown."""
    at_fault: tuple[int, ...] = ()
    """The seats with a fault."""
    by_machine: bool = False
    """The machine may have decided it."""


class FaultGroup(Struct, frozen=True):
    """All faults of one bot of one kind, with the same words."""

    bot: str
    """`new` or `old`."""
    kind: str
    detail: str
    count: int
    first_game: int
    """The number of the first game with it, from 1."""
    reproduce: tuple[str, ...] = ()
    """The command line that reproduces the first one."""
    look: tuple[str, ...] = ()
    """The command line that shows the turn of the first one."""
    slowed: int = 0
    """How many of them machine load may have caused."""


class Split(Struct, frozen=True):
    """The strength of a part of the new bot: with the other part of the old bot, it meets the whole old bot."""

    part: str
    """`set-up` or `play`."""
    games: int
    strength: Strength | None
    faults: int


class Report(Struct, kw_only=True):
    """The result of a gate so far. In JSON, infinite and unknown ends of intervals are null."""

    game: str = ""
    new: str = ""
    old: str = ""
    seed: int = 0
    seats: int
    """One of the new bot, all others of the old one."""
    decision: Decision = Decision.INCONCLUSIVE
    terms: Terms
    seed_groups: int = 0
    """Those up to the decision, in order. A repeat of an earlier one is no further evidence."""
    repeats: int = 0
    """Of these, the repeats: every game has the course of a game of one earlier seed group."""
    nothing_new: bool = False
    """The gate ended because the last seed groups were all repeats."""
    games: int = 0
    """Those of these seed groups, repeats included."""
    different: int = 0
    """Of these games, those that are no copies of another."""
    surplus: int = 0
    """Games that ended after the decision."""
    llr: float = 0.0
    limits: tuple[float, float]
    strength: Strength | None = None
    """Of the new bot; None before the first seed group."""
    counts: list[int]
    """Seed groups by the number of rivals that the new bot finished ahead of, in steps of a half, without repeats."""
    ahead: int = 0
    """How many rivals in single games, `seats` - 1 each, the new bot finished ahead of."""
    level: int = 0
    behind: int = 0
    faults_new: int = 0
    faults_old: int = 0
    faults: tuple[FaultGroup, ...] = ()
    """Which faults, in the games that count: of the new bot, then of the old one, the most frequent first."""
    by_machine: int = 0
    """Of the games that count, those that the machine may have decided."""
    fairness: str = ""
    """How many games that were played the machine may have decided, in words, as for a tournament."""
    varied: str = ""
    """How the beginnings of games vary, in words; empty = they do not."""
    model_new: Use | None = None
    """The tokens and cost of the new bot in all games that were played; None if it is no language model."""
    model_old: Use | None = None
    duration_s: float = 0.0
    ledger: str = ""
    """The folder with all games."""
    split: tuple[Split, ...] = ()
    """What each part of the new bot is worth, if that was asked for."""


class Gate:
    """Counts seed groups and decides."""

    def __init__(self, terms: Terms, seats: int) -> None:
        counts = [0] * (2 * (seats - 1) * seats + 1)
        self.so_far = Report(seats=seats, terms=terms, limits=terms.limits, counts=counts)
        self.decision: Decision | None = None
        self._waiting: dict[int, Sequence[Game]] = {}
        self._contents: set[tuple[int, int]] = set()
        self._courses: set[tuple[tuple[int, int], ...]] = set()
        """The courses of all different seed groups."""
        self._repeats_in_a_row = 0

    def add(self, number: int, games: Sequence[Game]) -> Decision | None:
        """Adds a seed group by its number, from 0. Returns the decision, if there is one."""
        self._waiting[number] = games
        while self.decision is None and self.so_far.seed_groups in self._waiting:
            self._count(self._waiting.pop(self.so_far.seed_groups))
            self.decision = self._decide()
        return self.decision

    def give_up(self) -> Decision:
        """Ends without further seed groups."""
        self.decision = self.decision or Decision.INCONCLUSIVE
        return self.decision

    def report(self, game: str, names: tuple[str, str], seed: int, played: int, duration_s: float) -> Report:
        """Reports on the gate. `names` are of the new bot and the old one, `played` counts all games."""
        return msgspec.structs.replace(
            self.so_far,
            game=game,
            new=names[0],
            old=names[1],
            seed=seed,
            decision=self.decision or Decision.INCONCLUSIVE,
            surplus=played - self.so_far.games,
            strength=strength_of(self._sample()) if self.so_far.seed_groups else None,
            duration_s=duration_s,
        )

    def _sample(self) -> Sample:
        return Sample(tuple(self.so_far.counts), self.so_far.seats)

    def _count(self, games: Sequence[Game]) -> None:
        so_far, steps = self.so_far, 0
        for game in games:
            rank = game.ranks[game.seat]
            rivals = [rival for rival in range(so_far.seats) if rival != game.seat]
            ahead = sum(rank < game.ranks[rival] for rival in rivals)
            level = sum(rank == game.ranks[rival] for rival in rivals)
            steps += 2 * ahead + level
            so_far.ahead += ahead
            so_far.level += level
            so_far.behind += len(rivals) - ahead - level
            new = game.seat in game.at_fault
            so_far.faults_new += new
            so_far.faults_old += len(game.at_fault) - new
            so_far.by_machine += game.by_machine
            so_far.different += not game.content or (game.seat, game.content) not in self._contents
            self._contents.add((game.seat, game.content))
        so_far.seed_groups += 1
        so_far.games += so_far.seats
        if self._is_repeat(games):
            return
        so_far.counts[steps] += 1

    def _is_repeat(self, games: Sequence[Game]) -> bool:
        """Returns whether a seed group repeats an earlier one, and counts it. Games of unknown course never do."""
        course = tuple(sorted((game.seat, game.content) for game in games))
        if course not in self._courses or not all(game.content for game in games):
            self._courses.add(course)
            self._repeats_in_a_row = 0
            return False
        self.so_far.repeats += 1
        self._repeats_in_a_row += 1
        return True

    def _decide(self) -> Decision | None:
        so_far = self.so_far
        last = so_far.games + so_far.seats > so_far.terms.max_games
        so_far.nothing_new = self._repeats_in_a_row >= max(REPEATS, so_far.seed_groups - so_far.repeats)
        last |= so_far.nothing_new
        decision = self._proven(last)
        if decision is not None and too_much_by_machine(so_far):
            decision = Decision.INCONCLUSIVE if so_far.by_machine > MACHINE_FEW else None
        return decision or (Decision.INCONCLUSIVE if last else None)

    def _proven(self, last: bool) -> Decision | None:
        """Returns the hypothesis that the games prove, even if the machine decided some."""
        so_far, terms = self.so_far, self.so_far.terms
        if (not self._repeats_in_a_row and sum(so_far.counts) % LOOK_EVERY == 0) or last:
            so_far.llr = llr(self._sample(), terms.low, terms.high, terms.unit is Unit.NELO)
            rejected, accepted = so_far.limits
            if so_far.llr >= accepted:
                return Decision.ACCEPTED
            if so_far.llr <= rejected:
                return Decision.REJECTED
        return None


def too_much_by_machine(run: Report) -> bool:
    """Whether the machine may have decided more games than a gate accepts."""
    return run.by_machine > MACHINE_SHARE * run.games
