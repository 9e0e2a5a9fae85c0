"""The messages that events make for teams; `mail` sends them. Without a way to send mails, there are none."""

import sqlite3
import time
from typing import Literal

import msgspec
from msgspec import Struct

from referee.addons.host.store import Store

Kind = Literal["invitation", "set_aside", "final"]
SHOWN = 20


class Message(Struct, frozen=True):
    """A message, as the organiser sees it."""

    kind: str
    name: str
    """Of the team."""
    state: str
    """waiting, sending, sent, failed, or unsure: nobody knows whether it was sent."""
    at: float
    problem: str


def put(database: sqlite3.Connection, kind: Kind, team: int, key: str, **facts: str) -> bool:
    """Puts a message for a team into the outbox, in the transaction of its event. Returns whether mail is on.

    `key`: of the event. An event makes one message for a team, however often it is noted.
    """
    if database.execute("SELECT 1 FROM setting WHERE name = 'mail'").fetchone() is None:
        return False
    database.execute(
        "INSERT OR IGNORE INTO mail (key, kind, team, facts, at) SELECT ?, ?, id, ?, ? FROM team "
        "WHERE id = ? AND email != ''",
        (f"{kind} {team} {key}", kind, msgspec.json.encode(facts).decode(), time.time(), team),
    )
    return True


def messages(store: Store) -> list[Message]:
    """Returns the last messages, newest first; those that were not sent come first."""
    return store.rows(
        Message,
        "SELECT m.kind, t.name, m.state, m.at, m.problem FROM mail AS m JOIN team AS t ON t.id = m.team "
        "ORDER BY m.state = 'sent', m.id DESC LIMIT ?",
        SHOWN,
    )
