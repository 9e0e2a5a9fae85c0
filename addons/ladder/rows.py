"""The table of a ladder and its bytes, which are equal on every machine."""

import msgspec
from msgspec import Struct

FORMAT = 4
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
    """Games that several owners have played."""
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
    samples: int = 0
    """Its games of modules that others played again."""
    sample_differs: int = 0
    shared: int = 0
    """Its games of deterministic programs that another owner has played."""
    agree: int = 0
    """Those in which both say the same."""
    calls_late: int = 0
    """Faults by time-out in its games."""
    late_by_machine: int = 0
    """Those that its machine may have caused, as it says itself: what a certificate of fairness counts."""
    certified_ppm: int = 0
    """Its certificate: its machine decides at most so many games in a million, with 95 % confidence."""
    alone: int = 0
    """Its games with a time-out, of which its witness saw none."""
    missed: int = 0
    """Its games without a time-out, of which its witness saw one."""
    lateness: int = 1
    """The evidence that its machine causes more time-outs than its certificate admits; 1 = none."""
    evidence: int = 1
    """Against it, by the sequential test of games that are not deterministic; 1 = none."""
    state: str = ""
    """`struck`, `suspect`, `late`, or empty."""


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
    """Games that need a witness, or somebody to play them again."""
    disputed: int
    """Games about which players say different things."""
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
