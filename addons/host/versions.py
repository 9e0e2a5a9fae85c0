"""The versions that teams hand in: what became of each, and which one plays."""

import math
import sqlite3
import time

import msgspec
from msgspec import Struct

from referee.addons.host import outbox
from referee.addons.host.store import Store, audit, rows
from referee.addons.tournament.plan import Entry
from referee.addons.tournament.reports.class_list import DISQUALIFIED, EARLIER, REFUSED, UNDECIDED, HandedIn
from referee.harness.common.errors import UsageError

AN_HOUR_S = 3600.0
CANCELLED = "the organiser has ended its check"
TRIES = 3
"""How often a check begins that the machine does not let finish. A version that is refused then is not to blame."""
FREE_REFUSALS = 1
"""After how many refused versions in a row the next one may come at once."""
LONGEST_PAUSE_S = 900.0
COLUMNS = (
    "id, team, version, member, handed_in_at, note, file, path, git_commit, size, status, tries, started_at, "
    "decided_at, reason, log, bot, hash, entry, entered_at, set_aside_at, set_aside_why"
)


class Version(Struct, frozen=True):
    """A version of a team's bot."""

    id: int
    team: int
    version: int
    """Counts from 1 in each team."""
    member: int
    """Who handed it in."""
    handed_in_at: float
    note: str
    file: str
    """Its name as the team knows it."""
    path: str
    """Below the contest's folder, or the address of a git repository."""
    git_commit: str
    size: int
    status: str
    """waiting, checking, accepted or refused."""
    tries: int
    started_at: float | None
    decided_at: float | None
    reason: str
    log: str
    """The build log, below the contest's folder."""
    bot: str
    hash: str
    """SHA-256 of its content, as in `tournament.toml`."""
    entry: str
    entered_at: float | None
    set_aside_at: float | None
    set_aside_why: str

    @property
    def is_decided(self) -> bool:
        return self.status in ("accepted", "refused")

    @property
    def tournament_entry(self) -> Entry:
        """The tournament's entry of an accepted version."""
        return msgspec.json.decode(self.entry, type=Entry)


def is_undecided(one: Version) -> bool:
    """Tells whether a version was refused because the machine could not finish its checks."""
    return one.status == "refused" and one.tries >= TRIES


def version(store: Store, team: int, number: int) -> Version | None:
    """Returns a team's version of that number; None if there is none."""
    return store.first(Version, f"SELECT {COLUMNS} FROM submission WHERE team = ? AND version = ?", team, number)


def by_id(store: Store, number: int) -> Version | None:
    """Returns a version; None if there is none."""
    return store.first(Version, f"SELECT {COLUMNS} FROM submission WHERE id = ?", number)


def versions(store: Store, team: int) -> list[Version]:
    """Returns a team's versions, newest first."""
    return store.rows(Version, f"SELECT {COLUMNS} FROM submission WHERE team = ? ORDER BY id DESC", team)


def accepted(store: Store, bot: str) -> list[Version]:
    """Returns the versions of a bot that could play: accepted and not set aside, oldest first."""
    return store.rows(
        Version,
        f"SELECT {COLUMNS} FROM submission WHERE bot = ? AND status = 'accepted' AND set_aside_at IS NULL ORDER BY id",
        bot,
    )


def current(store: Store, team: int) -> Version | None:
    """Returns the version of a team that plays; None before the first one."""
    return store.first(
        Version,
        f"SELECT {COLUMNS} FROM submission WHERE id = (SELECT submission FROM current_submission WHERE team = ?)",
        team,
    )


def playing(store: Store) -> list[Version]:
    """Returns the current version of each team that is active, also if it is set aside."""
    return store.rows(
        Version,
        f"SELECT {COLUMNS} FROM submission WHERE id IN (SELECT c.submission FROM current_submission AS c "
        "JOIN team AS t ON t.id = c.team WHERE t.state = 'active') ORDER BY id",
    )


class _Team(Struct, frozen=True):
    id: int
    name: str
    state: str
    reason: str
    alias: str
    email: str


class _Member(Struct, frozen=True):
    name: str


def handed_in(store: Store) -> dict[str, HandedIn]:
    """Returns what became of the latest version of each team, by its bot's name. Closes the store."""
    found = {}
    for team in store.rows(_Team, "SELECT id, name, state, reason, alias, email FROM team"):
        handed = versions(store, team.id)
        if latest := next(iter(handed), None):
            status, reason = "plays", latest.reason
            if team.state == DISQUALIFIED:
                status, reason = DISQUALIFIED, team.reason
            elif latest.status != "accepted" and current(store, team.id) is not None:
                status = EARLIER
            elif latest.status != "accepted":
                status = REFUSED if latest.status == REFUSED else UNDECIDED
            people = store.rows(_Member, "SELECT name FROM member WHERE team = ?", team.id)
            ids = (*(each.name for each in people), *([team.email] if team.email else []))
            refused = sum(each.status == "refused" for each in handed)
            found[team.alias or team.name] = HandedIn(
                team.name, latest.file, status, reason, ids, True, len(handed), refused
            )
    store.close()
    return found


# What a team does.


class Quota(Struct, frozen=True):
    """How much a team may hand in."""

    an_hour: int = 12
    """Versions that are not refused, and those whose check the machine did not finish."""
    waiting: int = 2
    """At a time."""
    bytes: int = 256 << 20
    """Of one upload."""
    stored_bytes: int = 4 << 30
    """Of all uploads that are kept."""
    pause_s: float = 15.0
    """After the second refused version in a row. It doubles with each further one."""

    @property
    def unlimited(self) -> "Quota":
        """That of an organiser, who hands in for a team: only the size of an upload is limited."""
        most = 1 << 40
        return Quota(an_hour=most, waiting=most, bytes=self.bytes, stored_bytes=most, pause_s=0.0)


def check_quota(store: Store, team: int, quota: Quota) -> None:
    """UsageError if the team may hand in nothing now."""
    with store.writing() as database:
        _check_quota(database, team, quota)


def _check_quota(database: sqlite3.Connection, team: int, quota: Quota) -> None:
    state = database.execute("SELECT state FROM team WHERE id = ?", (team,)).fetchone()
    if state is None or state[0] != "active":
        raise UsageError("your team does not take part any more, so it cannot hand in")
    now = time.time()
    hour, waiting, kept = database.execute(
        "SELECT count(*) FILTER (WHERE handed_in_at > ? AND (status != 'refused' OR tries >= ?)), "
        "count(*) FILTER (WHERE status IN ('waiting', 'checking')), total(size) FROM submission WHERE team = ?",
        (now - AN_HOUR_S, TRIES, team),
    ).fetchone()
    refused, until = _pause(database, team, now, quota.pause_s)
    if until > now:
        raise UsageError(
            f"the last {refused} versions of your team were refused; hand in again in {math.ceil(until - now)} s, and "
            "try the bot with `referee check` meanwhile"
        )
    if waiting >= quota.waiting:
        raise UsageError(f"{waiting} versions of your team wait for their check; hand in again when one is decided")
    if hour >= quota.an_hour:
        raise UsageError(f"your team has handed in {hour} versions within an hour, which is the limit; wait a little")
    if kept >= quota.stored_bytes:
        raise UsageError(f"your team's uploads hold {int(kept) >> 20:,} MiB, which is the limit; ask the organiser")


def _pause(database: sqlite3.Connection, team: int, now: float, first_s: float) -> tuple[int, float]:
    """Returns how many versions of a team were refused in a row within an hour, and until when it has to wait."""
    count, last = database.execute(
        "SELECT count(*), max(decided_at) FROM submission WHERE team = ? AND status = 'refused' AND tries < ? "
        "AND decided_at > ? AND id > (SELECT coalesce(max(id), 0) FROM submission WHERE team = ? "
        "AND status = 'accepted')",
        (team, TRIES, now - AN_HOUR_S, team),
    ).fetchone()
    if count <= FREE_REFUSALS:
        return count, 0.0
    return count, last + min(LONGEST_PAUSE_S, first_s * 2.0 ** (count - FREE_REFUSALS - 1))


def hand_in(
    store: Store,
    team: int,
    member: int,
    file: str,
    path: str,
    note: str = "",
    size: int = 0,
    git_commit: str = "",
    quota: Quota = Quota(),  # noqa: B008
) -> Version:
    """Puts a version into the queue. UsageError if that is too much."""
    with store.writing() as database:
        _check_quota(database, team, quota)
        number = database.execute("SELECT coalesce(max(version), 0) + 1 FROM submission WHERE team = ?", (team,))
        done = database.execute(
            "INSERT INTO submission (team, version, member, handed_in_at, note, file, path, git_commit, size) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (team, number.fetchone()[0], member, time.time(), note, file, path, git_commit, size),
        )
        (made,) = rows(database, Version, f"SELECT {COLUMNS} FROM submission WHERE id = ?", done.lastrowid)
    return made


def set_note(store: Store, one: Version, note: str) -> None:
    """Changes the note of a version."""
    with store.writing() as database:
        database.execute("UPDATE submission SET note = ? WHERE id = ?", (note, one.id))


def set_current(database: sqlite3.Connection, one: Version) -> None:
    """Makes an accepted version the one that plays, and takes it back if it was set aside."""
    database.execute("INSERT OR REPLACE INTO current_submission (team, submission) VALUES (?, ?)", (one.team, one.id))
    database.execute(
        "UPDATE submission SET entered_at = ?, set_aside_at = NULL, set_aside_why = '' WHERE id = ?",
        (time.time(), one.id),
    )


# What the queue does.


def next_to_check(store: Store) -> Version | None:
    """Takes the version that is checked next; None if none waits.

    Each team has one check at a time. The team whose last check began first comes first, so that no team holds others.
    """
    with store.writing() as database:
        for each in rows(
            database,
            Version,
            f"SELECT {COLUMNS} FROM submission AS s WHERE status = 'waiting' AND team NOT IN "
            "(SELECT team FROM submission WHERE status = 'checking') "
            "ORDER BY (SELECT max(o.started_at) FROM submission AS o WHERE o.team = s.team), id LIMIT 1",
        ):
            database.execute(
                "UPDATE submission SET status = 'checking', tries = tries + 1, started_at = ? WHERE id = ?",
                (time.time(), each.id),
            )
            return each
    return None


def check_again(store: Store, one: Version | None = None) -> int:
    """Puts a version back into the queue; without one, all whose check a kill has ended. Returns how many."""
    with store.writing() as database:
        return database.execute(
            "UPDATE submission SET status = 'waiting', started_at = NULL "
            "WHERE status = 'checking' AND id = ifnull(?, id)",
            (None if one is None else one.id,),
        ).rowcount


def refuse(store: Store, one: Version, reason: str) -> None:
    """Decides that a version does not play. An earlier one plays on."""
    with store.writing() as database:
        database.execute(
            "UPDATE submission SET status = 'refused', decided_at = ?, reason = ? WHERE id = ?",
            (time.time(), reason, one.id),
        )


def accept(store: Store, one: Version, entry: Entry) -> bool:
    """Decides that a version plays. It replaces the team's earlier one. Returns False if it was cancelled meanwhile."""
    with store.writing() as database:
        done = database.execute(
            "UPDATE submission SET status = 'accepted', decided_at = ?, bot = ?, hash = ?, entry = ? "
            "WHERE id = ? AND status != 'refused'",
            (time.time(), entry.name, entry.hash, msgspec.json.encode(entry).decode(), one.id),
        )
        if done.rowcount:
            set_current(database, one)
    return bool(done.rowcount)


def cancel(store: Store, number: int, actor: str, address: str = "") -> bool:
    """Ends the check of a version for the organiser. Returns False if it neither waits nor is being checked."""
    with store.writing() as database:
        done = database.execute(
            "UPDATE submission SET status = 'refused', decided_at = ?, reason = ? "
            "WHERE id = ? AND status IN ('waiting', 'checking')",
            (time.time(), CANCELLED, number),
        )
        if done.rowcount:
            (one,) = rows(database, Version, f"SELECT {COLUMNS} FROM submission WHERE id = ?", number)
            name = database.execute("SELECT name FROM team WHERE id = ?", (one.team,)).fetchone()[0]
            audit(database, actor, "cancel check", f"{name} version {one.version}", "", address)
    return bool(done.rowcount)


# For the play process.


def set_aside(store: Store, one: Version, why: str) -> None:
    """Notes that a version plays no rated games any more, and tells its team why. A new version plays again.

    Does nothing if it is set aside already.
    """
    at = time.time()
    with store.writing() as database:
        query = "UPDATE submission SET set_aside_at = ?, set_aside_why = ? WHERE id = ? AND set_aside_at IS NULL"
        if database.execute(query, (at, why, one.id)).rowcount:
            audit(database, "the referee", "set aside", f"{one.bot} version {one.version}", why)
            outbox.put(database, "set_aside", one.team, f"{one.id} {at}", version=str(one.version), reason=why)


class _Content(Struct, frozen=True):
    bot: str
    hash: str


def aside(store: Store) -> set[tuple[str, str]]:
    """Returns the versions that are set aside and were not taken back or handed in again, as bot and hash."""
    query = (
        "SELECT bot, hash FROM submission WHERE status = 'accepted' "
        "GROUP BY bot, hash HAVING max(set_aside_at) > max(entered_at)"
    )
    return {(each.bot, each.hash) for each in store.rows(_Content, query)}
