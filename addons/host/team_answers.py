"""What a contest answers to `referee team`. Needs no extra: the command decodes what the web process encodes."""

from msgspec import Struct


class TeamStatus(Struct, frozen=True):
    """The state of a team."""

    team: str
    state: str
    version: int | None
    """The version that plays; None before the first one."""
    text: str
    """What that version does: its place, or why it was set aside."""
    uploads: str
    """Whether the team may hand in, and until when."""
    deadlines: list[str]
    """Sentences about the changes that are to come."""


class TeamVersion(Struct, frozen=True):
    """A version of a team."""

    version: int
    state: str
    """plays, accepted, set aside, refused, waiting or checking."""
    handed_in: str
    reason: str
    note: str


class TeamGame(Struct, frozen=True):
    """A rated game of a team."""

    name: str
    """By which its replay is fetched; empty if it was not kept."""
    ended: str
    rivals: str
    seat: int
    place: int
    seats: int
    is_lost: bool
    """Another bot finished ahead."""
    result: str
    """In words."""


class StandardError(Struct, frozen=True):
    """The standard error of a version before a fault."""

    name: str
    """Of the game."""
    fault: str
    lines: list[str]


class PracticeState(Struct, frozen=True):
    """The state of a practice game."""

    game: int
    status: str
    """waiting, playing, played or failed."""
    result: str
    has_replay: bool
