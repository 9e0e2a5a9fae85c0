"""What the play process reads from the contest's database, and what it reports there.

The methods block for some microseconds, or while another process writes. The play process calls them in threads.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.harness.tournament.plan import Entry


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
    """Of the rules, in place of the contest's."""


class Orders:
    """The orders of a contest without a database: everything is on, and no team asks for a practice game."""

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
        """A version plays no more, for a reason that its team reads. `instead`: the older one that plays on."""
