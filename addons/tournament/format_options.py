"""Which options go with which format, and what they are by default: a row for each format."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.ties import FOUR_SEATS, SCORE, Tie
from referee.harness.common.errors import UsageError


class Options(Struct, frozen=True, kw_only=True):
    """The options of a format, and their defaults."""

    two_seats: bool = False
    """It is for games with two seats."""
    games: int | None = None
    """The default of `games`; None = one for each seat."""
    seatings: tuple[Seating, ...] = tuple(Seating)
    """What `seating` may say, the default first; empty = nothing, since the format decides the seats itself."""
    takes: frozenset[str] = frozenset()
    """Options that only some formats have."""
    at_two_seats: frozenset[str] = frozenset()
    """Further ones for games with two seats."""
    at_more_seats: frozenset[str] = frozenset()
    """Further ones for games with more."""
    ties: tuple[Tie, ...] = ()
    """The default of `ties` for games with two seats."""
    is_later: bool = False
    """It may follow another stage."""
    is_last: bool = False
    """No stage can follow it, because it ranks no field of bots."""

    def all(self, seats: int) -> frozenset[str]:
        """Returns the options that it takes for games with that many seats."""
        return self.takes | (self.at_two_seats if seats == 2 else self.at_more_seats)


def _options(*names: str) -> frozenset[str]:
    return frozenset(names)


FORMATS: Mapping[str, Options] = {
    "round-robin": Options(
        takes=_options("ties", "groups", "rank_by"),
        at_two_seats=_options("play_off"),
        at_more_seats=_options("rounds"),
        ties=(Tie.DIRECT, Tie.SONNEBORN_BERGER, Tie.WINS),
        is_later=True,
    ),
    "swiss": Options(
        two_seats=True,
        takes=_options("ties", "rounds", "late_points", "play_off"),
        ties=(Tie.CUT, Tie.BUCHHOLZ, Tie.SONNEBORN_BERGER, Tie.DIRECT),
        is_later=True,
    ),
    "gauntlet": Options(takes=_options("rank_by"), is_last=True),
    "ladder": Options(games=0, seatings=(Seating.SEED_GROUP,)),
    "series": Options(
        two_seats=True, games=101, seatings=(Seating.ALTERNATE,), takes=_options("first_to"), is_later=True
    ),
    "groups": Options(games=1),
    "knockout": Options(two_seats=True, takes=_options("seeds_from"), is_later=True),
    "double-elimination": Options(two_seats=True, takes=_options("seeds_from"), is_later=True),
    "self": Options(seatings=(), is_last=True),
    "judged": Options(two_seats=True, games=1, seatings=(), is_last=True),
    "two-player": Options(
        games=1,
        seatings=(Seating.FIXED, Seating.SEED_GROUP, Seating.ALTERNATE),
        takes=_options("rank_by"),
        is_last=True,
    ),
    "list-order": Options(
        two_seats=True,
        games=1,
        seatings=(Seating.FIXED, Seating.SEED_GROUP, Seating.ALTERNATE),
        takes=_options("ties", "rank_by"),
        ties=(Tie.DIRECT,),
    ),
}
RARE = frozenset[str]().union(*(each.takes | each.at_two_seats | each.at_more_seats for each in FORMATS.values()))
"""Options that only some formats take."""
LATE_POINTS = (0, 0.5, 1)
MOST_COUNT = 1_000_000_000
"""The most games, rounds, wins, faults or places that somebody may ask for."""


def options_of(format: str) -> Options:
    """Returns the row of a format. UsageError if there is none."""
    if format not in FORMATS:
        raise UsageError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format]


def default_games(format: str, seats: int) -> int:
    """Returns the default of `games`."""
    games = options_of(format).games
    return seats if games is None else games


def default_seating(format: str) -> Seating:
    """Returns the default of `seating`."""
    return (*options_of(format).seatings, Seating.SEED_GROUP)[0]


def default_ties(format: str, seats: int, rank_by: str = "points") -> tuple[Tie, ...]:
    """Returns the tie-breaks of a plan that names none."""
    return () if seats > 2 or rank_by == SCORE else options_of(format).ties


def check_seats(format: str, seats: int) -> None:
    """Raises UsageError for a format that is for two seats, in a tournament with another number."""
    if options_of(format).two_seats and seats != 2:
        raise UsageError(f"{format} is for games with two seats; those of this tournament have {seats}")


def check_options(format: str, seats: int, options: Mapping[str, Any]) -> None:
    """Raises UsageError for an option that does nothing in a format. `options`: by name; None = not asked for."""
    row = options_of(format)
    for name, value in options.items():
        if value is not None and name in RARE and name not in row.all(seats):
            others = [each for each, other in FORMATS.items() if name in other.all(seats)]
            raise UsageError(
                f"{_shown(name, value)}: {format} with {seats} seats does not use it; leave it out, or take "
                f"{', '.join(others) or 'a game with two seats'}"
            )
    seating, late, ties = (options.get(name) for name in ("seating", "late_points", "ties"))
    if seating is not None and seating not in row.seatings:
        raise UsageError(f"--seating {seating}: {format} decides the seats itself; leave it out")
    if late is not None and late not in LATE_POINTS:
        raise UsageError(f"--late-points {late:g}: expected 0, 0.5 or 1")
    if ties and seats > 2 and (other := [tie for tie in ties if tie not in FOUR_SEATS]):
        raise UsageError(f"--ties {other[0]}: only for games with two seats; expected {' or '.join(FOUR_SEATS)}")


def check_counts(prefix: str, format: str | None, counts: object) -> None:
    """Raises UsageError for a number of games, rounds, wins, faults or places that nobody can mean.

    A ladder of 0 games is endless.
    """
    least = {"games": 0 if format == "ladder" else 1, "play_off": 0}
    for name in ("games", "rounds", "first_to", "expel", "play_off"):
        value = getattr(counts, name, None)
        if value is not None and not least.get(name, 1) <= value <= MOST_COUNT:
            typed = f"{name.replace('_', '-')} " if prefix == "--" else f"{name}="
            bounds = f"to {MOST_COUNT:,}" if value > MOST_COUNT else "on"
            raise UsageError(f"{prefix}{typed}{value}: expected a number from {least.get(name, 1)} {bounds}")


def _shown(name: str, value: object) -> str:
    if name == "groups":  # of a file alone
        return f"groups = {value}"
    option = f"--{name.replace('_', '-')}"
    return f"{option} {value}" if isinstance(value, int | float | str) else option
