"""Teams, their members, and how they sign in: a link is opened, and becomes a session.

A link or token has 256 random bits. The database keeps its SHA-256, so that nobody who reads a backup can sign in.
"""

import csv
import hashlib
import io
import secrets
import sqlite3
import time
from collections.abc import Sequence
from hmac import compare_digest
from typing import Literal

from msgspec import Struct

from referee.addons.host import outbox, pseudonyms
from referee.addons.host.store import Store, audit, rows
from referee.addons.tournament.intake.layouts import same, shown
from referee.addons.tournament.plan import Entry, read_plan
from referee.addons.tournament.reports.class_list import plain
from referee.addons.tournament.reports.people import SHOWN, is_address, people
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError
from referee.harness.programs.entrant import shown_name

SESSION_S = 60 * 86_400.0
"""How long a session lasts."""
INVITATION_S = 30 * 86_400.0
"""How long an invitation may stay unopened."""
NAME_LETTERS = 40
MOST_TEAMS = 5000
HEADERS = ("team", "teams", "name", "names")
"""How the column of names may be called, in a table of teams."""
MOST_MEMBERS = 50
"""Of a team."""
ENDED = "this link is used, replaced or wrong; ask for a new one"

Kind = Literal["invitation", "join"]


class Team(Struct, frozen=True):
    """A team, which is one bot of the tournament in its newest version."""

    id: int
    name: str
    email: str
    state: str
    """active, withdrawn or disqualified."""
    reason: str
    created_at: float
    alias: str = ""
    """The pseudonym under which others see it; empty = its name."""

    @property
    def bot(self) -> str:
        """The name of its bot in the tournament."""
        return self.alias or self.name


class Member(Struct, frozen=True):
    """Somebody of a team."""

    id: int
    name: str
    joined_at: float


class Person(Struct, frozen=True):
    """Somebody who has signed in."""

    member: int
    name: str
    team: int | None
    """None: an organiser."""
    is_program: bool
    """It is `referee submit` or `referee team` with a token, which may do less than a browser."""

    @property
    def is_organiser(self) -> bool:
        return self.team is None

    @property
    def actor(self) -> str:
        """How the audit log names the person."""
        return f"organiser {self.name}" if self.is_organiser else f"member {self.name}"


class Link(Struct, frozen=True):
    """An invitation, or the link by which members join."""

    hash: bytes
    team: int | None
    kind: Kind
    created_at: float


class Account(Struct, frozen=True):
    """Somebody's account at an OpenID Connect provider, which has signed the person in."""

    issuer: str
    subject: str
    name: str = ""
    """As the provider shows it; may be empty."""


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


# Teams.


def teams(store: Store) -> list[Team]:
    """Returns all teams, by name."""
    return store.rows(Team, "SELECT * FROM team ORDER BY folded")


def team(store: Store, number: int) -> Team | None:
    """Returns a team; None if there is none of that number."""
    return store.first(Team, "SELECT * FROM team WHERE id = ?", number)


def members(store: Store, number: int) -> list[Member]:
    """Returns the members of a team."""
    return store.rows(Member, "SELECT id, name, joined_at FROM member WHERE team = ? ORDER BY id", number)


def invite(store: Store, name: str, email: str, actor: str, address: str = "") -> tuple[Team, str]:
    """Adds a team. Returns it with the token of its invitation. UsageError for a name that is taken or no name."""
    return invite_all(store, [(name, email)], actor, address)[0]


def invite_all(
    store: Store, named: Sequence[tuple[str, str]], actor: str, address: str = "", mails: bool = True
) -> list[tuple[Team, str]]:
    """Adds teams of these names and addresses, all or none. Returns each with the token of its invitation.

    `mails`: if mail is on, each team with an address gets a mail with a link, which replaces this one.
    """
    now, found = time.time(), []
    with store.writing() as database:
        count = database.execute("SELECT count(*) FROM team").fetchone()[0]
        if count + len(named) > MOST_TEAMS:
            raise UsageError(f"{count + len(named):,} teams: {MOST_TEAMS:,} are allowed")
        reference = {same(entry.name) for entry in reference_bots(store)}
        has_pseudonyms = pseudonyms.are_used(store)
        others = reference | {same(each[0]) for each in database.execute("SELECT alias FROM team WHERE alias != ''")}
        names = {each[0] for each in database.execute("SELECT folded FROM team")} | {same(each) for each, _ in named}
        for typed, email in named:
            name = team_name(typed)
            if same(name) in others:
                raise UsageError(f"{name!r} is the name of another bot; give the team another name")
            taken = database.execute("SELECT name FROM team WHERE folded = ?", (same(name),)).fetchone()
            if taken is not None:
                raise UsageError(f"there is a team {taken[0]!r} already; give this one another name")
            alias = pseudonyms.drawn(names | others) if has_pseudonyms else ""
            others.add(same(alias))
            done = database.execute(
                "INSERT INTO team (name, folded, email, created_at, alias) VALUES (?, ?, ?, ?, ?)",
                (name, same(name), email.strip(), now, alias),
            )
            assert done.lastrowid is not None
            one = Team(done.lastrowid, name, email.strip(), "active", "", now, alias)
            token = secrets.token_urlsafe(32)
            database.execute(
                "INSERT INTO invitation (hash, team, kind, created_at) VALUES (?, ?, 'invitation', ?)",
                (_hash(token), one.id, now),
            )
            audit(database, actor, "invite", name, one.email, address)
            if mails:
                outbox.put(database, "invitation", one.id, "")
            found.append((one, token))
    return found


def reference_bots(store: Store) -> list[Entry]:
    """Returns the organiser's own bots in their newest versions. A folder without a tournament has none."""
    if not (store.folder / PLAN).exists():
        return []
    plan = read_plan(store.folder / PLAN)
    older = plan.older
    return [entry for entry in plan.bots if entry.reference and entry.ident not in older]


def team_name(typed: str) -> str:
    """Returns a name as it can be a bot's. UsageError for none, and for one that is too long."""
    text = " ".join(typed.split())
    if not text:
        raise UsageError("the team has no name; expected 1 to 40 letters")
    if len(text) > NAME_LETTERS:
        raise UsageError(f"{shown_name(text[:NAME_LETTERS])}…: has more than {NAME_LETTERS} letters; shorten the name")
    return shown(text)


def read_teams(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Reads a table of names and addresses. Returns them with what may be read wrong, in words.

    UsageError for more columns, and for none.
    """
    found = people(text)
    header, lines, doubts = found.header, found.rows, found.doubts
    if found.width > 2:
        why = "; ".join(doubts) or f"each line has {found.width} cells"
        raise UsageError(f"{why}; expected a name and an address in each line")
    if header is None and lines and lines[0][0].casefold() in HEADERS:
        header, lines = lines[0], lines[1:]
    if not lines:
        raise UsageError("there is no team in it; expected lines such as: Blue team, blue@example.org")
    swapped = found.width == 2 and sum(is_address(one) - is_address(two) for one, two in lines) > 0
    named = [(row[swapped], row[not swapped] if found.width == 2 else "") for row in lines]
    if header is not None and header[swapped].casefold() not in HEADERS:
        doubts.append(f"line 1 has no address, so that it is the header: {', '.join(filter(None, header))}")
    wrong = [name if not address else f"{name} ({address})" for name, address in named if not is_address(address)]
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        doubts.append(f"without an address: {', '.join(wrong[:SHOWN])}{more}")
    return named, doubts


def written_csv(links: Sequence[tuple[Team, str]]) -> str:
    """Returns a table of teams, addresses and links for a mail merge."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("team", "address", "link"))
    for one, link in links:
        writer.writerow(map(plain, (one.name, one.email, link)))
    return text.getvalue()


# Links.


def new_link(store: Store, number: int | None, kind: Kind, actor: str, address: str = "") -> str:
    """Makes a link of a team, or for the organiser (None). Those of that kind before it end. Returns its token."""
    token, now = secrets.token_urlsafe(32), time.time()
    with store.writing() as database:
        database.execute(
            "DELETE FROM invitation WHERE opened_at <= ? OR ended_at <= ? OR (kind = 'invitation' AND created_at <= ?)",
            (now, now, now - INVITATION_S),
        )
        database.execute(
            "UPDATE invitation SET ended_at = ? "
            "WHERE team IS ? AND kind = ? AND ended_at IS NULL AND opened_at IS NULL",
            (now, number, kind),
        )
        database.execute(
            "INSERT INTO invitation (hash, team, kind, created_at) VALUES (?, ?, ?, ?)",
            (_hash(token), number, kind, now),
        )
        name = database.execute("SELECT name FROM team WHERE id = ?", (number,)).fetchone()
        audit(database, actor, f"new {kind} link", "organiser" if name is None else name[0], "", address)
    return token


def link(store: Store, token: str) -> Link | None:
    """Returns what a link leads to; None if it is used, replaced, too old or wrong."""
    hashed = _hash(token)
    found = store.first(
        Link,
        "SELECT hash, team, kind, created_at FROM invitation WHERE hash = ? AND opened_at IS NULL AND ended_at IS NULL",
        hashed,
    )
    if found is None or not compare_digest(found.hash, hashed):
        return None
    return None if found.kind == "invitation" and found.created_at < time.time() - INVITATION_S else found


def open_link(store: Store, token: str, typed: str, account: Account | None = None) -> str:
    """Makes somebody a member, or an organiser. Returns the token of the session. UsageError if the link is no good.

    `account`: signs the member in from now on, without a link.
    """
    name = shown_name(" ".join(typed.split()))[:NAME_LETTERS]
    if not name:
        raise UsageError("type your name, so that your team knows who has joined")
    found, now = link(store, token), time.time()
    if found is None:
        raise UsageError(ENDED)
    with store.writing() as database:
        if found.kind == "invitation":
            done = database.execute(
                "UPDATE invitation SET opened_at = ? WHERE hash = ? AND opened_at IS NULL AND ended_at IS NULL",
                (now, found.hash),
            )
            if not done.rowcount:  # somebody else was faster
                raise UsageError(ENDED)
        count = database.execute("SELECT count(*) FROM member WHERE team IS ?", (found.team,)).fetchone()[0]
        if count >= MOST_MEMBERS and found.team is not None:
            raise UsageError(f"this team has {count} members, which is the limit")
        added = database.execute("INSERT INTO member (team, name, joined_at) VALUES (?, ?, ?)", (found.team, name, now))
        assert added.lastrowid is not None
        if account is not None:
            _keep_account(database, account, added.lastrowid, now)
        return _begin(database, added.lastrowid, "browser", now)


def _keep_account(database: sqlite3.Connection, account: Account, member: int, now: float) -> None:
    query = "SELECT t.name FROM account JOIN member ON member.id = member JOIN team AS t ON t.id = team "
    key = (account.issuer, account.subject)
    if (other := database.execute(f"{query} WHERE issuer = ? AND subject = ?", key).fetchone()) is not None:
        raise UsageError(f"this account is a member of {other[0]} already; sign in, and no link is needed")
    database.execute(
        "INSERT INTO account (issuer, subject, member, created_at) VALUES (?, ?, ?, ?)", (*key, member, now)
    )


def sign_in(store: Store, account: Account) -> str | None:
    """Begins a session of the member with an account, and returns its token. None if nobody has this account."""
    query = "SELECT member FROM account WHERE issuer = ? AND subject = ?"
    with store.writing() as database:
        found = database.execute(query, (account.issuer, account.subject)).fetchone()
        return None if found is None else _begin(database, found[0], "browser", time.time())


# Sessions.


def _begin(database: sqlite3.Connection, member: int, kind: str, now: float) -> str:
    database.execute("DELETE FROM session WHERE expires_at <= ? OR ended_at <= ?", (now, now))
    token = secrets.token_urlsafe(32)
    database.execute(
        "INSERT INTO session (hash, member, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        (_hash(token), member, kind, now, now + SESSION_S),
    )
    return token


class _Session(Struct, frozen=True):
    hash: bytes
    member: int
    name: str
    team: int | None
    kind: str


def person(store: Store, token: str) -> Person | None:
    """Returns who has this session; None if it has ended or never was."""
    hashed = _hash(token)
    found = store.first(
        _Session,
        "SELECT s.hash, s.member, m.name, m.team, s.kind FROM session AS s JOIN member AS m ON m.id = s.member "
        "WHERE s.hash = ? AND s.ended_at IS NULL AND s.expires_at > ?",
        hashed,
        time.time(),
    )
    if found is None or not compare_digest(found.hash, hashed):
        return None
    return Person(found.member, found.name, found.team, found.kind == "program")


def new_program_token(store: Store, one: Person) -> str:
    """Makes the token of a member for `referee submit`. An earlier one of that member ends."""
    now = time.time()
    with store.writing() as database:
        database.execute(
            "UPDATE session SET ended_at = ? WHERE member = ? AND kind = 'program' AND ended_at IS NULL",
            (now, one.member),
        )
        return _begin(database, one.member, "program", now)


def end_session(store: Store, token: str) -> None:
    """Signs somebody out."""
    with store.writing() as database:
        database.execute(
            "UPDATE session SET ended_at = ? WHERE hash = ? AND ended_at IS NULL", (time.time(), _hash(token))
        )


def end_sessions(store: Store, number: int | None, actor: str, address: str = "") -> None:
    """Signs out everybody of a team, and ends its links and tokens. Accounts come in again by a new link only."""
    now = time.time()
    with store.writing() as database:
        database.execute("DELETE FROM account WHERE member IN (SELECT id FROM member WHERE team IS ?)", (number,))
        database.execute(
            "UPDATE session SET ended_at = ? "
            "WHERE ended_at IS NULL AND member IN (SELECT id FROM member WHERE team IS ?)",
            (now, number),
        )
        database.execute(
            "UPDATE invitation SET ended_at = ? WHERE team IS ? AND ended_at IS NULL AND opened_at IS NULL",
            (now, number),
        )
        for each in rows(database, Team, "SELECT * FROM team WHERE id IS ?", number):
            audit(database, actor, "sign out", each.name, "", address)


# Withdrawn and disqualified teams.


def set_state(store: Store, number: int, state: str, reason: str, actor: str, address: str = "") -> None:
    """Notes that a team is active, withdrawn or disqualified. The caller also changes the tournament."""
    with store.writing() as database:
        database.execute("UPDATE team SET state = ?, reason = ? WHERE id = ?", (state, reason, number))
        for each in rows(database, Team, "SELECT * FROM team WHERE id = ?", number):
            audit(database, actor, state, each.name, reason, address)
