"""Scheduled games, their results, and what all formats share.

A format is a pure generator. It looks at the results and yields the next scheduled games. It is lazy, so that a million
games need no list, and yields None while the next game depends on games that are not played yet. Its games follow from
the field and the results, in whatever order these arrive, so that an interrupted tournament can continue.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import groupby
from typing import Protocol

from msgspec import Struct

from referee.addons.tournament.formats.designs import LineUp, rows, seated

FIRST, FINAL = "groups", "final"
"""The two stages of `groups`, which may be played on different maps."""


class ScheduledGame(Struct, frozen=True, gc=False):
    """A game to play."""

    seats: tuple[int, ...]
    """The bot at each seat, by its place on the list."""
    seed_group: int
    """The games of a seed group have one seed and all rows of seats: the unit of statistics."""
    stage: str = ""
    """The conditions, where a format has several."""


class Outcome(Struct, frozen=True, gc=False):
    """The result of a game, in seat order."""

    ranks: tuple[int, ...]
    points: tuple[float, ...]
    forfeit: bool = False
    """It was not played: a bot was expelled."""

    @property
    def shares(self) -> list[float]:
        """The points of each seat. An expelled bot gets none, not even against another expelled bot."""
        lost = expelled(self.forfeit, self.points)
        return [0.0 if out else share for share, out in zip(shares(self.ranks), lost, strict=True)]


class Results(Protocol):
    """The results so far."""

    def get(self, game: ScheduledGame, /) -> Outcome | None: ...


class Seating(StrEnum):
    """How seats and seeds change from game to game."""

    SEED_GROUP = "seed-group"
    """Every seed is played in all rows of seats: all have the same luck and the same seats."""
    ALTERNATE = "alternate"
    """Every game has its own seed; the seats rotate from game to game."""
    FIXED = "fixed"
    """Every game has its own seed; the bots sit in the order in which they were named."""


class Field(Struct, frozen=True):
    """The bots and settings of a format."""

    bots: int
    seats: int = 2
    games: int = 2
    """Of every line-up; of the ladder in all, 0 = without end."""
    seed: int = 0
    seating: Seating = Seating.SEED_GROUP
    first_to: int | None = None
    """Wins that decide a series; default: more than half of its games."""
    rounds: int | None = None
    absent: tuple[int, ...] = ()
    seeds: tuple[int, ...] = ()
    """The bots that take part, best first; empty = all that are not absent, in the order of the list."""
    withdrawn: tuple[int, ...] = ()
    """Bots of a bracket, or of a Swiss as a later stage, that play no more: their opponents have walk-overs."""
    stage: str = ""
    """The stage that this is, if it is not the first one of the plan."""
    cases: tuple[tuple[int, int], ...] = ()
    """Of a test run: each opponent's place on the list, behind `bots`, and its seat."""
    changes: tuple[tuple[int, ...], ...] = ()
    """Of a Swiss, for every bot: the rounds, from 0 on, before which it came, left, came again …; empty = it is there
    unless it is absent."""
    predecessors: tuple[int, ...] = ()
    """Of a Swiss, for every bot: the earlier version whose place and points it has, or itself; empty = none has one."""
    late_points: float = 0.0
    """Of a Swiss: points a game for each round that a bot missed before it came."""
    groups: tuple[tuple[int, ...], ...] = ()
    """Of a round robin in groups: the bots of each, those that play no more too."""

    @property
    def present(self) -> list[int]:
        """The bots that take part."""
        return [*self.seeds] or [bot for bot in range(self.bots) if bot not in self.absent]

    @property
    def players_of_bots(self) -> Sequence[int]:
        """For every bot, the first version of those that share a place and points: the player."""
        players = list(range(self.bots))
        for bot, predecessor in enumerate(self.predecessors):
            one, two = sorted((players[bot], players[predecessor]))
            if one != two:
                players = [one if player == two else player for player in players]
        return players

    def takes_part(self, bot: int) -> bool:
        """Whether a bot plays in any round of a Swiss."""
        if self.seeds:
            return bot in self.seeds
        return bool(self.changes and self.changes[bot]) or bot not in self.absent

    def bots_of_round(self, number: int) -> dict[int, int]:
        """Returns the bots that play in a round of a Swiss, by player."""
        found, present = {}, {*self.present}
        for bot, player in enumerate(self.players_of_bots):
            changes = self.changes[bot] if self.changes and not self.seeds else ()
            if sum(change <= number for change in changes) % 2 if changes else bot in present:
                found[player] = bot
        return found

    def games_of(self, line_up: Sequence[int], numbers: range, stage: str = "") -> Iterator[ScheduledGame]:
        """Yields games of one line-up by their numbers."""
        stage = stage or self.stage
        turns = len(rows(len(line_up)))
        for number in numbers:
            seed_group, row = divmod(number, turns)
            if self.seating is Seating.SEED_GROUP:
                yield ScheduledGame(seated(line_up, seed_group, row), seed_group, stage)
            elif self.seating is Seating.ALTERNATE:
                yield ScheduledGame(seated(line_up, seed_group, row), number, stage)
            else:
                yield ScheduledGame(tuple(line_up), number, stage)


ScheduledGames = Iterator[ScheduledGame | None]
Format = Callable[[Field, Results], ScheduledGames]


def breadth_first(field: Field, line_ups: Callable[[], Iterable[LineUp]]) -> Iterator[ScheduledGame]:
    """Yields one seed group of every line-up, then the next, so that all have played about as much at any time."""
    turns = len(rows(field.seats)) if field.seating is Seating.SEED_GROUP else 1
    for first in range(0, field.games, turns):
        repeats: dict[LineUp, int] = {}
        orders: dict[LineUp, LineUp] = {}
        for line_up in line_ups():
            bots = tuple(sorted(line_up))
            repeat = repeats[bots] = repeats.get(bots, -1) + 1
            start = repeat * field.games + first
            numbers = range(start, min(start + turns, (repeat + 1) * field.games))
            yield from field.games_of(orders.setdefault(bots, line_up), numbers)


def finished(games: Iterable[ScheduledGame], results: Results) -> Generator[None, None, list[Outcome]]:
    """Returns the outcomes of all these games. Yields None until they are played."""
    outcomes = []
    for game in games:
        while (outcome := results.get(game)) is None:
            yield None
        outcomes.append(outcome)
    return outcomes


def expelled(forfeit: bool, points: Sequence[float]) -> list[bool]:
    """Returns for each seat of a game whether its bot lost without play. All others of a forfeit have points."""
    return [forfeit and not each for each in points]


def half_points(rank: int, other: int) -> int:
    """Returns what a rank is worth against another one: 2 if it is better, 1 for a tie."""
    return (rank < other) + (rank <= other)


def shares(ranks: Sequence[int]) -> list[float]:
    """Returns what each rank is worth: the share of the others that finished behind, a tie counting half."""
    others = len(ranks) - 1
    return [sum((rank < other) + (rank == other) / 2 for other in ranks) / others - 0.5 / others for rank in ranks]


def in_order(bots: Sequence[int], worth: Callable[[int], float | Fraction]) -> list[list[int]]:
    """Groups bots of equal worth, the best first."""
    return [list(group) for _, group in groupby(sorted(bots, key=lambda bot: -worth(bot)), worth)]
