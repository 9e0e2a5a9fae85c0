"""Scheduled games, their results, and what all formats share.

A format is a pure generator. It looks at the results and yields the next scheduled games. It is lazy, so that a million
games need no list, and yields None while the next game depends on games that are not played yet. Its games follow from
the field and the results, in whatever order these arrive, so that an interrupted tournament can continue.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from referee.harness.tournament.formats.designs import LineUp, rows, seated

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


class Results(Protocol):
    """The results so far."""

    def get(self, game: ScheduledGame, /) -> Outcome | None: ...


class Seating(StrEnum):
    """How seats and seeds change from game to game."""

    ORBIT = "orbit"
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
    seating: Seating = Seating.ORBIT
    first_to: int | None = None
    """Wins that decide a series; default: more than half of its games."""
    rounds: int | None = None
    absent: tuple[int, ...] = ()
    cases: tuple[tuple[int, int], ...] = ()
    """Of a test run: each opponent's place on the list, behind `bots`, and its seat."""


ScheduledGames = Iterator[ScheduledGame | None]
Format = Callable[[Field, Results], ScheduledGames]


def games_of(field: Field, line_up: Sequence[int], numbers: range, stage: str = "") -> Iterator[ScheduledGame]:
    """Yields games of one line-up by their numbers."""
    turns = len(rows(len(line_up)))
    for number in numbers:
        if field.seating is Seating.ORBIT:
            seed_group, row = divmod(number, turns)
            yield ScheduledGame(seated(line_up, seed_group, row), seed_group, stage)
        elif field.seating is Seating.ALTERNATE:
            yield ScheduledGame(seated(line_up, number // turns, number % turns), number, stage)
        else:
            yield ScheduledGame(tuple(line_up), number, stage)


def breadth_first(field: Field, line_ups: Callable[[], Iterator[LineUp]]) -> Iterator[ScheduledGame]:
    """Yields one seed group of every line-up, then the next, so that all have played about as much at any time."""
    turns = len(rows(field.seats)) if field.seating is Seating.ORBIT else 1
    for first in range(0, field.games, turns):
        repeats: dict[LineUp, int] = {}
        for line_up in line_ups():
            repeat = repeats[line_up] = repeats.get(line_up, -1) + 1
            start = repeat * field.games + first
            yield from games_of(field, line_up, range(start, min(start + turns, (repeat + 1) * field.games)))


def present(field: Field) -> list[int]:
    """Returns the bots that are not absent."""
    return [bot for bot in range(field.bots) if bot not in field.absent]


def named(bots: Sequence[int], line_ups: Iterator[LineUp]) -> Iterator[LineUp]:
    """Translates line-ups of places into line-ups of bots."""
    return (tuple(bots[place] for place in line_up) for line_up in line_ups)


def outcomes(games: Sequence[ScheduledGame], results: Results) -> list[Outcome] | None:
    """Returns the outcomes of all these games; None if one is not played yet."""
    found = []
    for game in games:
        outcome = results.get(game)
        if outcome is None:
            return None
        found.append(outcome)
    return found


def shares(ranks: Sequence[int]) -> list[float]:
    """Returns what each rank is worth: the share of the others that finished behind, a tie counting half."""
    others = len(ranks) - 1
    return [sum((rank < other) + (rank == other) / 2 for other in ranks) / others - 0.5 / others for rank in ranks]
