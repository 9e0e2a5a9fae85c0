"""Practice games: unranked, asked for by a team, with the rival, seat, seed and options of its choice.

The web process writes requests. The play process takes them by `next_practice` and says how each ended.
"""

import time
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.host.store import Store, rows
from referee.harness.common.errors import UsageError

A_DAY_S = 86_400.0
WAITING = 3
"""How many requests of a team may wait at a time."""


class Practice(Struct, frozen=True):
    """A practice game."""

    id: int
    team: int
    submission: int
    rival: str
    """The name of a bot of the contest, or a built-in one such as `@random`."""
    seat: int
    """Of the team's bot."""
    seed: str
    """A number; empty = drawn when it is played."""
    options: str
    """Of the rules, as JSON."""
    status: str
    """waiting, playing, played or failed."""
    asked_at: float
    started_at: float | None
    ended_at: float | None
    game: str
    """Where the play process keeps the game: a path below the contest's folder."""
    result: str
    reason: str
    """Why it could not be played."""

    @property
    def rules(self) -> dict[str, Any]:
        """The options of the rules."""
        found: dict[str, Any] = msgspec.json.decode(self.options)
        return found


def ask(
    store: Store, team: int, member: int, submission: int, rival: str, seat: int, seed: str, options: str, a_day: int
) -> int:
    """Asks for a practice game. Returns its number. UsageError if the team has too many, of a day or waiting."""
    now = time.time()
    with store.writing() as database:
        count, waiting = database.execute(
            "SELECT count(*), count(*) FILTER (WHERE status = 'waiting') FROM practice WHERE team = ? AND asked_at > ?",
            (team, now - A_DAY_S),
        ).fetchone()
        if waiting >= WAITING:
            raise UsageError(f"{waiting} practice games of your team wait already; wait until one is played")
        if count >= a_day:
            raise UsageError(f"your team has asked for {count} practice games in 24 hours, which is the limit")
        done = database.execute(
            "INSERT INTO practice (team, member, submission, rival, seat, seed, options, asked_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (team, member, submission, rival, seat, seed, options, now),
        )
    assert done.lastrowid is not None
    return done.lastrowid


def practices(store: Store, team: int, most: int = 50) -> list[Practice]:
    """Returns the last practice games of a team, newest first."""
    return store.rows(Practice, "SELECT * FROM practice WHERE team = ? ORDER BY id DESC LIMIT ?", team, most)


def practice(store: Store, number: int) -> Practice | None:
    """Returns a practice game; None if there is none of that number."""
    return store.first(Practice, "SELECT * FROM practice WHERE id = ?", number)


def is_staff(store: Store, rival: str) -> bool:
    """Whether a rival is a built-in bot or one of the organiser's, and no team's."""
    return store.value("SELECT 1 FROM team WHERE ? IN (name, alias)", rival) is None


# For the play process.


def next_practice(store: Store) -> Practice | None:
    """Takes the request that is played next; None if none waits. Teams take turns: few games of late come first.

    Requests of a team that does not take part any more wait until it is back.
    """
    with store.writing() as database:
        found = rows(
            database,
            Practice,
            "SELECT p.* FROM practice AS p JOIN team AS t ON t.id = p.team AND t.state = 'active' "
            "WHERE status = 'waiting' ORDER BY (SELECT count(*) FROM practice AS o "
            "WHERE o.team = p.team AND o.started_at > ?), p.id LIMIT 1",
            time.time() - A_DAY_S,
        )
        for each in found:
            database.execute(
                "UPDATE practice SET status = 'playing', started_at = ? WHERE id = ?", (time.time(), each.id)
            )
            return each
    return None


def played(store: Store, number: int, game: str, result: str) -> None:
    """Notes that a practice game was played. `game`: its replay, below the contest's folder."""
    with store.writing() as database:
        database.execute(
            "UPDATE practice SET status = 'played', ended_at = ?, game = ?, result = ? WHERE id = ?",
            (time.time(), game, result, number),
        )


def failed(store: Store, number: int, reason: str) -> None:
    """Notes that a practice game could not be played, and why: one line for the team."""
    with store.writing() as database:
        database.execute(
            "UPDATE practice SET status = 'failed', ended_at = ?, reason = ? WHERE id = ?",
            (time.time(), reason, number),
        )


def wait_again(store: Store) -> int:
    """Puts games back that were being played when the play process ended. Returns how many."""
    with store.writing() as database:
        return database.execute(
            "UPDATE practice SET status = 'waiting', started_at = NULL WHERE status = 'playing'"
        ).rowcount
