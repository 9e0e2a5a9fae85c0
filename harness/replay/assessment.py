"""Where a match turned: what an add-on has found out about a replay, and keeps next to it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from referee.harness.addons import hooks
from referee.harness.replay.reader import Replay


class Point(Struct, frozen=True):
    """What each seat may expect after a turn."""

    turn: int
    """0 is the opening."""
    expected: Sequence[float]
    """The share of the other seats that each beats, from 0 to 1; a tie is half."""
    error: Sequence[float]
    """How far that may be off."""


class Moment(Struct, frozen=True):
    """A turn that changed what a seat may expect."""

    turn: int
    since: int
    """The turn before which nothing is known of the change."""
    words: str
    """What happened, in a sentence."""


class Assessment(Struct, frozen=True):
    """Where a match turned."""

    by: str
    """Who says so: a built-in bot or an engine."""
    points: Sequence[Point]
    moments: Sequence[Moment]
    """In the order of the match."""


class Assessor(Protocol):
    """An add-on that finds out where matches turned."""

    def kept(self, replay: Path, sha256: str) -> Assessment | None:
        """Returns what is kept beside a replay and belongs to this content; None if nothing is."""

    def made(self, replay: Replay, seconds: float, keep: Path) -> Assessment:
        """Returns what it finds out in about so many seconds, and keeps that beside `keep`; or what is kept there.

        Nothing that the replay names is started. UsageError for a replay that does not follow the rules.
        """


def assessor() -> Assessor | None:
    """Returns the add-on that finds out where matches turned; None if there is none."""
    return hooks().assessor()


def kept(replay: Path, sha256: str) -> Assessment | None:
    """Returns what is kept about a replay with this content; None if nothing is."""
    found = assessor()
    return None if found is None else found.kept(replay, sha256)
