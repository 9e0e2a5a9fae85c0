"""Copies the database of a backup, which may be a stranger's, into a new one.

Their file is never opened as ours: its rows are read from the tables that we know, and written to tables that our own
steps have made.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from referee.addons.host import finals, pseudonyms, teams
from referee.addons.host.migrations import MIGRATIONS
from referee.addons.host.orders import PRACTICE
from referee.addons.host.submissions import COMMIT, GIT_HOSTS, OPTIONS, UPLOADS, is_at
from referee.addons.host.times import VALUES
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store.bot_archives import check_travel
from referee.harness.common.errors import UsageError
from referee.harness.process.limits import Limits, too_wide

LimitsOf = Callable[[Sequence[str]], Limits]
TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name"
LONGEST_BYTES = 1 << 20
"""The longest text of a row."""
ADVICE = "if you made this backup yourself, add --trust"
LIMITS = ("startup_s", "exit_s", "build_s", "build_memory_bytes", "build_processes", "build_disk_bytes")
"""The limits to look at besides those that protect this machine from a replay's bots: nobody sits by a contest."""
LATEST = 1e11
"""Of all times, in seconds since 1970."""
SAFE_OPTIONS = {
    "--isolation": r"auto|required.*",
    "--limit": r"(?!readable).*",
    "--map": r"[\w-]+",
    **dict.fromkeys(("--set", "--call-time", "--clock", "--memory", "--cpu", "--build"), ".*"),
}
"""The options of a check that show a bot no more and name no file of this machine, with their values."""
PATHS = re.compile(rf"|(?:https?://|{UPLOADS}/|{PRACTICE}/|reports/)[^\\]+")
STRANGE = ("submission", "path"), ("submission", "log"), ("practice", "game")
"""The columns with paths."""


def copied(theirs: Path, ours: Path, trust: bool, limits_of: LimitsOf) -> list[str]:
    """Writes the new database. Returns lines about what was left out, unless the user trusts its author.

    `limits_of`: returns the limits that options of `referee check` set, and raises UsageError for wrong ones.
    UsageError for the database of no contest, and for one with values that no contest writes.
    """
    try:
        with closing(_opened(theirs)) as source, closing(sqlite3.connect(ours, isolation_level=None)) as target:
            _make(source, target)
            target.execute("BEGIN")
            for (table,) in target.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
                rows = source.execute(f"SELECT {', '.join(columns)} FROM {table}")
                target.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", map(_plain, rows))
            kept = (OPTIONS, finals.SECRET, pseudonyms.SETTING)
            target.execute("DELETE FROM setting WHERE name NOT IN (?, ?, ?)", kept)
            notes = [] if trust else [*_without_strangers(target, limits_of)]
            _check_rows(target)
            target.execute("COMMIT")
            return notes
    except sqlite3.Error as error:
        raise UsageError(f"its database is damaged: {error}") from error


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_BYTES)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON"):
        database.execute(f"PRAGMA {pragma}")
    return database


def _make(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Makes the tables of their version. UsageError if theirs are others, since a view could be endless."""
    (version,) = source.execute("PRAGMA user_version").fetchone()
    if not 1 <= version <= len(MIGRATIONS):
        raise UsageError(f"its database is of version {version}; expected 1 to {len(MIGRATIONS)}")
    for step in MIGRATIONS[:version]:
        target.executescript(step)
    target.execute(f"PRAGMA user_version = {version}")
    if source.execute(TABLES).fetchall() != target.execute(TABLES).fetchall():
        raise UsageError("its database has other tables than a contest's")
    (sound,) = source.execute("PRAGMA quick_check(1)").fetchone()
    if sound != "ok":
        raise UsageError(f"its database is damaged: {sound}")


def _plain(row: Sequence[Any]) -> Sequence[Any]:
    if any(isinstance(value, float) and not 0 <= value < LATEST for value in row):
        raise UsageError("its database has a time that is none")
    if any(isinstance(value, int) and value < 0 for value in row):  # such as a size, which would raise a team's quota
        raise UsageError("its database has a number below 0")
    return row


# What could start a program or reach an address.


def _without_strangers(database: sqlite3.Connection, limits_of: LimitsOf) -> Iterator[str]:
    """Removes versions that are no team's submission, and the organisers' sessions. Yields what it was."""
    words: tuple[str, ...] = ()
    if (options := _value(database, "SELECT value FROM setting WHERE name = ?", OPTIONS)) is not None:
        words = _decoded(options, tuple[str, ...])
        if len(words) % 2 or not all(map(_is_safe, words[::2], words[1::2])):
            shown = " ".join(words)[:200]
            raise UsageError(f"its checks have the options {shown!r}, which may show bots more; {ADVICE}")
        check_limits("its check", limits_of(words))
    if [word for word in words if word.startswith("offline=")][-1:] != ["offline=true"]:
        yield "checks may build with this machine's network: the contest was not made with --build offline=true"
    query = "SELECT s.id, t.name, version, status, path, entry FROM submission AS s JOIN team AS t ON t.id = team"
    for number, team, version, status, path, entry in database.execute(query).fetchall():
        why = ""
        if status == "accepted":
            try:
                check_travel([found := _decoded(entry, Entry)])
                why = "starts in a folder of this machine" if found.cwd else ""
            except UsageError as error:
                why = str(error)
        elif status != "refused" and "://" in path and not is_at(path, GIT_HOSTS):
            why = f"would be fetched from {path[:80]}"
        if why:
            for table, column in (
                ("current_submission", "submission"),
                ("practice", "submission"),
                ("submission", "id"),
            ):
                database.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
            yield f"version {version} of {team}: {why}"
    if database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'mail'").fetchone() is not None:
        query = "UPDATE mail SET state = 'failed', problem = 'the contest was restored' WHERE state = 'waiting'"
        if waiting := database.execute(query).rowcount:
            yield f"mails that waited are not sent: {waiting}"
    members = "SELECT id FROM member WHERE team IS NULL"
    ended = database.execute(f"DELETE FROM session WHERE member IN ({members})").rowcount
    ended += database.execute("DELETE FROM invitation WHERE team IS NULL").rowcount
    if ended:
        yield "left out sessions and links of organisers: sign in by the link that `referee host` prints"


def check_limits(what: str, limits: Limits) -> None:
    """Raises UsageError if something, such as a plan, lets bots use much more of this machine than the default."""
    if wide := too_wide(limits, LIMITS):
        raise UsageError(f"{what} {wide}; {ADVICE}")


def _is_safe(option: str, value: str) -> bool:
    return not value.startswith("-") and re.fullmatch(SAFE_OPTIONS.get(option, "(?!)"), value, re.S) is not None


# What no contest writes.


def _check_rows(database: sqlite3.Connection) -> None:
    """UsageError for values with which our own code could not go on."""
    has_alias = any(row[1] == "alias" for row in database.execute("PRAGMA table_info(team)"))
    names = "SELECT name FROM team" + (" UNION SELECT alias FROM team WHERE alias != ''" if has_alias else "")
    for (name,) in database.execute(names):
        if teams.team_name(name) != name:
            raise UsageError(f"its database has a team {name[:80]!r}, which is no name of a team")
    for table, column in STRANGE:
        for (path,) in database.execute(f"SELECT {column} FROM {table}"):
            if not PATHS.fullmatch(path) or ".." in path.split("/") or not path.isprintable():
                raise UsageError(f"its database names {path[:80]!r}, which is outside of the contest")
    for (file,) in database.execute("SELECT file FROM submission"):
        if "/" in file or not file.isprintable():
            raise UsageError(f"its database has a submission {file[:80]!r}, which is no name of a file")
    for (commit,) in database.execute("SELECT git_commit FROM submission WHERE git_commit != ''"):
        if not COMMIT.fullmatch(commit) or ".." in commit:
            raise UsageError(f"its database names a commit {commit[:80]!r}")
    for bot, hash, entry in database.execute("SELECT bot, hash, entry FROM submission WHERE status = 'accepted'"):
        found = _decoded(entry, Entry)
        if (found.name, found.hash) != (bot, hash):
            raise UsageError(f"its database has a version of {bot[:80]!r} with the entry of another one")
    for (options,) in database.execute("SELECT options FROM practice"):
        _decoded(options, dict[str, Any])
    for name, value in database.execute("SELECT name, value FROM switch"):
        if value not in VALUES[name]:
            raise UsageError(f"its database sets {name} to {value[:80]!r}")
    for table in ("current_submission", "practice"):
        own = f"SELECT 1 FROM submission WHERE id = {table}.submission AND team = {table}.team AND status = 'accepted'"
        if _value(database, f"SELECT 1 FROM {table} WHERE NOT EXISTS ({own})") is not None:
            raise UsageError("its database lets a version play that is not an accepted one of its team")
    if database.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise UsageError("its database is damaged: a row names one that is missing")


def _value(database: sqlite3.Connection, query: str, *values: Any) -> Any:
    found = database.execute(query, values).fetchone()
    return None if found is None else found[0]


def _decoded(text: str, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError) as error:
        raise UsageError(f"its database has a damaged value: {error}") from error
