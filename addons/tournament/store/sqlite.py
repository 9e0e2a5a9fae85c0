"""Exports a ledger to SQLite, for queries of your own."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from referee.addons.tournament.plan import Plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import FIGURES, Line
from referee.harness.common.errors import RunError, writing
from referee.harness.common.output import FileKind, whole_file

SCHEMA = """
CREATE TABLE bots (ident TEXT PRIMARY KEY, name TEXT, hash TEXT, absent INTEGER, void INTEGER);
CREATE TABLE games (
    key TEXT PRIMARY KEY, conditions TEXT, seed_group INTEGER, row INTEGER, seed TEXT, reason TEXT, turns INTEGER,
    ms INTEGER, content TEXT, at REAL, worker TEXT, forfeit INTEGER, judged INTEGER, file TEXT
);
CREATE TABLE seats (
    key TEXT REFERENCES games, seat INTEGER, bot TEXT REFERENCES bots, rank INTEGER, points REAL,
    charged_us INTEGER, cpu_us INTEGER, faults INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER,
    cost REAL, completions INTEGER, illegal INTEGER, PRIMARY KEY (key, seat)
) WITHOUT ROWID;
CREATE TABLE faults (
    key TEXT REFERENCES games, seat INTEGER, kind TEXT, detail TEXT, penalty TEXT, method TEXT, call INTEGER,
    turn INTEGER, noise INTEGER, words TEXT
);
"""
KIND = FileKind(
    "a database of games", re.compile(rb"SQLite format 3\0.*CREATE TABLE bots \(ident TEXT PRIMARY KEY", re.DOTALL)
)
BATCH = 10_000


def write(plan: Plan, folder: Path, to: Path) -> int:
    """Writes every game that counts to a new database at `to`, replacing an old one. Returns the number of games.

    Seeds are text, because SQLite has no unsigned integers of 64 bits. Raises RunError if it cannot be written,
    UsageError for a place that another file has.
    """
    KIND.check_place(to)
    try:
        with writing(to), whole_file(to) as new, closing(sqlite3.connect(new)) as database:
            return _fill(database, plan, folder)
    except (OverflowError, sqlite3.Error) as error:  # for a number of more than 64 bits
        raise RunError(f"{to} cannot be written: {error}") from error


def _fill(database: sqlite3.Connection, plan: Plan, folder: Path) -> int:
    database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA}")
    database.executemany(
        "INSERT INTO bots VALUES (?, ?, ?, ?, ?)",
        [(each.ident, each.name, each.hash, each.absent, each.void) for each in plan.bots],
    )
    count = 0
    batch: list[tuple[str, Line]] = []
    for file, line in reader.counted_lines(folder):
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
        conditions, _, seed_group, row = line.k.split("/")
        place = line.k, conditions, int(seed_group), int(row)
        values = str(line.s), line.why, line.t, line.ms, line.a, line.at, line.by, line.forfeit, line.j
        games.append((*place, *values, file))
        for seat, bot in enumerate(line.b):
            used = (line.w[seat] if line.w else None, line.c[seat] if line.c else None)
            count = sum(fault.seat == seat for fault in line.f) + (line.m[seat] if line.m else 0)
            use = line.u[seat] if line.u else None
            model = tuple([getattr(use, name, None) for name in FIGURES])
            seats.append((line.k, seat, bot, line.r[seat], line.p[seat], *used, count, *model))
        for fault in line.f:
            fields = fault.seat, fault.kind, fault.detail, fault.penalty, fault.method, fault.call, fault.turn
            faults.append((line.k, *fields, fault.noise, "\n".join(fault.words)))
    database.executemany(f"INSERT INTO games VALUES ({', '.join('?' * 14)})", games)
    database.executemany(f"INSERT INTO seats VALUES ({', '.join('?' * 13)})", seats)
    database.executemany(f"INSERT INTO faults VALUES ({', '.join('?' * 10)})", faults)
