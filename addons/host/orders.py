"""The orders that the play process reads from the contest's database, and its reports there.

Those of a database block for some microseconds, or while another process writes: call them in threads.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from referee.addons.host import practice, room, switches, versions
from referee.addons.host.practice import Practice
from referee.addons.host.store import Store
from referee.addons.tournament.plan import Entry

PRACTICE = "practice"
"""The folder of practice games in the contest's folder."""
WATCHED = "watched_at"
"""The setting that says when somebody last watched the table."""
WATCHED_S = 30.0
"""How long after that the first bots play more."""


class State(Struct, frozen=True):
    """How the switches are now."""

    rated: bool = True
    """Rated games are played."""
    practice: str = "open"
    """Practice games are played: `open`, `staff` (against the organiser's bots and built-in ones only) or `off`."""
    watched: bool = False
    """Somebody watches the table."""


class Request(Struct, frozen=True):
    """A practice game that a team asks for. The team chose everything but its version's entry."""

    id: int
    entry: Entry
    """The team's version."""
    rival: str
    """The name of a bot of the contest, or of a built-in one such as `@random`, which has all other seats."""
    rival_is_staff: bool = True
    """The rival is one of the organiser's."""
    seat: int = 0
    """The seat of the team's bot."""
    seed: str = ""
    """A number; empty = drawn."""
    options: dict[str, Any] = {}
    """Options of the rules that differ from the contest's."""


class Orders:
    """The orders of a contest without a database: everything is on, and no team asks for a practice game."""

    blocks = False
    """The methods may wait for a disk or for another process."""

    def begin(self, ended: Callable[[int, int], str | None]) -> None:
        """The play process starts: requests that were being played wait again, unless they have `ended`.

        `ended` returns the result of a practice game that was played, by its number and the seat of its team.
        """

    def look(self) -> State:
        """Returns how the switches are now."""
        return State()

    def next_practice(self) -> Request | None:
        """Takes the practice game that is played next. Teams take turns."""
        return None

    def practice_played(self, number: int, game: str, result: str) -> None:
        """A practice game was played. `game`: its replay, as a path below the contest's folder."""

    def practice_failed(self, number: int, reason: str) -> None:
        """A practice game could not be played, for a reason that its team reads."""

    def set_aside(self, entry: Entry, why: str, instead: Entry | None) -> None:
        """A version plays no more, for a reason that its team reads. `instead`: the other one that plays on."""

    def aside(self, entries: Iterable[Entry]) -> list[Entry]:
        """Returns those of these versions that are set aside."""
        return []

    def accepted(self, bot: str) -> list[Entry]:
        """Returns the versions of a team that were accepted and not set aside, oldest first."""
        return []


class DatabaseOrders(Orders):
    """The orders in a contest's database."""

    blocks = True

    def __init__(self, store: Store) -> None:
        self.store = store

    def begin(self, ended: Callable[[int, int], str | None]) -> None:
        for each in self.store.rows(Practice, "SELECT * FROM practice WHERE status = 'playing'"):
            if (result := ended(each.id, each.seat)) is not None:
                practice.played(self.store, each.id, replay_name(each.id), result)
        practice.wait_again(self.store)

    def look(self) -> State:
        has_room = not room.problem(self.store.folder)
        return State(
            has_room and switches.value_of(self.store, "rated") == "on",
            switches.value_of(self.store, "practice") if has_room else "off",
            float(self.store.setting(WATCHED) or 0) > time.time() - WATCHED_S,
        )

    def next_practice(self) -> Request | None:
        found = practice.next_practice(self.store)
        if found is None:
            return None
        version = versions.by_id(self.store, found.submission)
        assert version is not None  # a foreign key
        is_staff = practice.is_staff(self.store, found.rival)
        entry = version.tournament_entry
        return Request(found.id, entry, found.rival, is_staff, found.seat, found.seed, found.rules)

    def practice_played(self, number: int, game: str, result: str) -> None:
        practice.played(self.store, number, game, result)

    def practice_failed(self, number: int, reason: str) -> None:
        practice.failed(self.store, number, reason)

    def aside(self, entries: Iterable[Entry]) -> list[Entry]:
        found = versions.aside(self.store)
        return [entry for entry in entries if (entry.name, entry.hash) in found]

    def accepted(self, bot: str) -> list[Entry]:
        return [each.tournament_entry for each in versions.accepted(self.store, bot)]

    def set_aside(self, entry: Entry, why: str, instead: Entry | None) -> None:
        query = "SELECT id FROM submission WHERE bot = ? AND hash = ? ORDER BY entered_at DESC, id DESC LIMIT 1"
        number = self.store.value(query, entry.name, entry.hash)
        if number is not None and (version := versions.by_id(self.store, number)) is not None:
            versions.set_aside(self.store, version, why)  # otherwise it is the organiser's


def note_watched(store: Store) -> None:
    """Notes that somebody watches the table now."""
    with store.writing() as database:
        database.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (WATCHED, repr(time.time())))


def replay_name(number: int) -> str:
    """Returns the replay of a practice game, as a path below the contest's folder."""
    return f"{PRACTICE}/{number}.jsonl.gz"
