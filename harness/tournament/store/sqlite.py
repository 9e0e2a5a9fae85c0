"""A ledger as a SQLite database, for questions that no table of ours answers. The ledger stays what counts."""

import sqlite3
from pathlib import Path

from referee.harness.errors import RunError
from referee.harness.tournament.model import Plan
from referee.harness.tournament.store import ledger
from referee.harness.tournament.store.ledger import Line

SCHEMA = """
CREATE TABLE bots (ident TEXT PRIMARY KEY, name TEXT, hash TEXT, absent INTEGER);
CREATE TABLE games (
    key TEXT PRIMARY KEY, conditions TEXT, orbit INTEGER, row INTEGER, seed TEXT, reason TEXT, turns INTEGER,
    ms INTEGER, content TEXT, at REAL, lane TEXT, forfeit INTEGER, judged INTEGER, file TEXT
);
CREATE TABLE seats (
    key TEXT REFERENCES games, seat INTEGER, bot TEXT REFERENCES bots, rank INTEGER, points REAL,
    charged_us INTEGER, cpu_us INTEGER, faults INTEGER, PRIMARY KEY (key, seat)
) WITHOUT ROWID;
CREATE TABLE faults (
    key TEXT REFERENCES games, seat INTEGER, kind TEXT, detail TEXT, penalty TEXT, method TEXT, call INTEGER,
    turn INTEGER, noise INTEGER, words TEXT
);
"""
BATCH = 10_000


def write(plan: Plan, folder: Path, to: Path) -> int:
    """Writes every game that counts into a new database at `to`, in the place of what is there, and gives their
    number. Seeds are texts: they have 64 bits without a sign. RunError if it cannot be written."""
    beside = to.with_name(f".{to.name}.new")
    try:
        beside.unlink(missing_ok=True)
        database = sqlite3.connect(beside)
        try:
            count = _fill(database, plan, folder)
        finally:
            database.close()
        beside.replace(to)
    except (OSError, OverflowError, sqlite3.Error) as error:  # a number beyond 64 bits is no SQLite error
        beside.unlink(missing_ok=True)
        raise RunError(f"{to} cannot be written: {error}") from error
    return count


def _fill(database: sqlite3.Connection, plan: Plan, folder: Path) -> int:
    database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA}")
    database.executemany(
        "INSERT INTO bots VALUES (?, ?, ?, ?)", [(each.ident, each.name, each.hash, each.absent) for each in plan.bots]
    )
    count = 0
    batch: list[tuple[str, Line]] = []
    for file, line in ledger.counted_lines(folder):
        batch.append((file.name, line))
        count += 1
        if len(batch) == BATCH:
            _insert(database, batch)
            batch.clear()
    _insert(database, batch)
    database.execute("CREATE INDEX seats_bot ON seats (bot)")
    database.commit()
    return count


def _insert(database: sqlite3.Connection, batch: list[tuple[str, Line]]) -> None:
    games, seats, faults = [], [], []
    for file, line in batch:
        conditions, _, orbit, row = line.k.split("/")
        where = line.k, conditions, int(orbit), int(row)
        how = str(line.s), line.why, line.t, line.ms, line.a, line.at, line.by, line.forfeit, line.j
        games.append((*where, *how, file))
        for seat, bot in enumerate(line.b):
            used = (line.w[seat] if line.w else None, line.c[seat] if line.c else None)
            count = sum(fault.seat == seat for fault in line.f) + (line.m[seat] if line.m else 0)
            seats.append((line.k, seat, bot, line.r[seat], line.p[seat], *used, count))
        for fault in line.f:
            what = fault.seat, fault.kind, fault.detail, fault.penalty, fault.method, fault.call, fault.turn
            faults.append((line.k, *what, fault.noise, "\n".join(fault.words)))
    database.executemany(f"INSERT INTO games VALUES ({', '.join('?' * 14)})", games)
    database.executemany(f"INSERT INTO seats VALUES ({', '.join('?' * 8)})", seats)
    database.executemany(f"INSERT INTO faults VALUES ({', '.join('?' * 10)})", faults)
