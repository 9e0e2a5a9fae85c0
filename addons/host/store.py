"""The contest's database: an SQLite file in the tournament's folder, which the web and the play process use at once.

Games are not in it: the ledger is the truth. A write is one short transaction, which waits for those of other
processes.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from referee.addons.host.migrations import MIGRATIONS
from referee.harness.common.errors import RunError

FILE = "host.sqlite"
"""The database's name in the contest's folder."""
BUSY_S = 10.0
"""How long a write waits for those of other processes."""

T = TypeVar("T", bound=Struct)


class Store:
    """The database. Each thread has a connection of its own."""

    def __init__(self, folder: Path) -> None:
        """Opens or makes the database of a contest's folder, and brings it to the newest version.

        RunError if it is damaged, or if a newer referee has written it.
        """
        self.folder = folder
        self.path = folder / FILE
        self._connections = threading.local()
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite would open it to others
            with self._upgraded() as database:
                database.execute("PRAGMA journal_mode = WAL")
        except (sqlite3.Error, OSError) as error:
            raise RunError(f"{self.path}: cannot be used: {error}") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yields a connection for one transaction, which is undone if the block raises.

        A block within another one is part of the outer one's transaction.
        """
        database = self._connection()
        if database.in_transaction:
            yield database
            return
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")

    def rows(self, kind: type[T], query: str, *values: Any) -> list[T]:
        """Returns the rows of a query as structs whose fields are its columns."""
        return rows(self._connection(), kind, query, *values)

    def first(self, kind: type[T], query: str, *values: Any) -> T | None:
        """Returns the first row of a query; None if there is none."""
        return next(iter(self.rows(kind, query, *values)), None)

    def value(self, query: str, *values: Any) -> Any:
        """Returns the first column of the first row; None if there is none."""
        found = self._connection().execute(query, values).fetchone()
        return None if found is None else found[0]

    def setting(self, name: str) -> str | None:
        """Returns a setting of the contest; None if it is not set."""
        value: str | None = self.value("SELECT value FROM setting WHERE name = ?", name)
        return value

    def close(self) -> None:
        """Closes the connection of this thread."""
        if (database := getattr(self._connections, "database", None)) is not None:
            database.close()
            del self._connections.database

    def _connection(self) -> sqlite3.Connection:
        database: sqlite3.Connection | None = getattr(self._connections, "database", None)
        if database is None:
            database = self._connections.database = sqlite3.connect(self.path, BUSY_S, isolation_level=None)
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA foreign_keys = ON")
            database.execute("PRAGMA secure_delete = ON")
            database.execute("PRAGMA synchronous = FULL")  # an upload that was answered outlasts a power cut
        return database

    @contextmanager
    def _upgraded(self) -> Iterator[sqlite3.Connection]:
        database = self._connection()
        while (version := database.execute("PRAGMA user_version").fetchone()[0]) < len(MIGRATIONS):
            _step(database, version)
        if version > len(MIGRATIONS):
            raise RunError(f"{self.path}: a newer referee wrote it (version {version}); expected {len(MIGRATIONS)}")
        yield database


def _step(database: sqlite3.Connection, version: int) -> None:
    """Takes one step of `MIGRATIONS`, wholly or not at all, unless another process has taken it."""
    database.execute("BEGIN IMMEDIATE")
    try:
        if database.execute("PRAGMA user_version").fetchone()[0] == version:
            for statement in _statements(MIGRATIONS[version]):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {version + 1}")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    """Yields the statements of a script. `executescript` would commit before each."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def rows(database: sqlite3.Connection, kind: type[T], query: str, *values: Any) -> list[T]:
    """Returns the rows of a query as structs, inside of a transaction."""
    found = database.execute(query, values)
    return [msgspec.convert(dict(row), kind) for row in found]


def marks(values: Sequence[Any]) -> str:
    """Returns the question marks for an `IN (…)`."""
    return ", ".join("?" * len(values))


# The audit log.


class Audited(Struct, frozen=True):
    """A line of the audit log: what an organiser did, or the referee by itself."""

    at: float
    actor: str
    action: str
    subject: str = ""
    detail: str = ""
    address: str = ""


def audit(
    database: sqlite3.Connection, actor: str, action: str, subject: str = "", detail: str = "", address: str = ""
) -> None:
    """Writes a line of the audit log, in the transaction of what it tells."""
    database.execute(
        "INSERT INTO audit (at, actor, address, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?)",
        (time.time(), actor, address, action, subject, detail),
    )


def audited(store: Store, most: int = 200) -> list[Audited]:
    """Returns the last lines of the audit log, newest first."""
    return store.rows(
        Audited, "SELECT at, actor, action, subject, detail, address FROM audit ORDER BY id DESC LIMIT ?", most
    )
