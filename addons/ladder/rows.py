"""The table of a ladder and its bytes, which are equal on every machine."""

import msgspec
from msgspec import Struct

FORMAT = 5
"""Changes with the content of a table, so that none of an earlier version is taken from the cache."""


class Row(Struct, frozen=True):
    """A bot in the table."""

    rank: int
    name: str
    version: str
    kind: str
    elo: int | None
    """Relative to the average bot; None before its first game."""
    low: int | None
    """The ends of the 95 % interval; None = without end, or not known."""
    high: int | None
    games: int
    proved: int
    """Games of modules: anybody can play them again."""
    witnessed: int
    """Games that several owners have sealed and played."""
    wins: int
    draws: int
    losses: int
    faults: int
    note: str = ""


class RunnerRow(Struct, frozen=True):
    """A runner in the table."""

    name: str
    owner: str
    games: int = 0
    claims: int = 0
    open: int = 0
    lapsed: int = 0
    missed: int = 0
    """Seals that its owner did not open in time."""
    shared: int = 0
    """Its games that another owner has played."""
    agree: int = 0
    """Those in which all say the same."""
    state: str = ""
    """`struck`, or empty."""


class Wait(Struct, frozen=True):
    """A claim that has not ended."""

    claim: str
    """Its runner and number."""
    bots: tuple[str, ...]
    """Those that play, by name; none before the beacon has drawn."""
    words: str
    """The reason, in words."""
    until: int
    """When that ends at the latest, in seconds since 1970."""


class Table(Struct, frozen=True):
    """The table of a commit."""

    format: int
    title: str
    game: str
    commit: str
    at: int
    """The newest entry's time, in seconds since 1970."""
    rows: tuple[Row, ...]
    runners: tuple[RunnerRow, ...]
    games: int
    """Games that count."""
    waiting: int
    """Games that are claimed and do not count yet."""
    disputed: int
    """Games about which players say different things."""
    waits: tuple[Wait, ...]
    """The claims that have not ended."""
    cross: dict[str, dict[str, tuple[int, int]]]
    """By bot and rival: twice the points, and games. Only of small ladders."""
    notes: tuple[str, ...]


CROSS = 60
"""The most bots of a table of results between each two."""


def interval(row: Row) -> str:
    """Returns the interval of a rating; without an end where a bot has won or lost everything."""
    if row.elo is None or row.note == "no information":
        return row.note
    low = "-∞" if row.low is None else str(row.low)
    return f"[{low}, {'∞' if row.high is None else row.high}]"


def encoded(table: Table) -> bytes:
    """Returns the bytes of a table, which are equal on every machine."""
    return msgspec.json.encode(table) + b"\n"
