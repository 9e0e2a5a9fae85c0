"""The messages of a rules program, as SPEC.md, 18 to 29, describes them."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from referee.games.contract import FaultKind, Result

RULES_VERSION = 1
REQUESTS = ("view", "legal", "sample", "forfeit", "stop", "deal", "inject")
"""The optional requests."""
UNKNOWN_POSITION, REFUSED_OPTIONS = -32001, -32602
"""Codes of errors that are no failure."""
STARTUP_S, CALL_S = 30.0, 10.0
FRAME_BYTES = 8 << 20
POSITION_BYTES = 1 << 20
ANSWER_BYTES, ANSWER_DEPTH = 1 << 16, 64
MEMORY_BYTES = 1 << 30
TEXT_CHARACTERS = 1 << 16
"""Most characters of a drawn position."""
MOST_ITEMS = 4096
"""Most notices and rulings of a turn."""

Seat = Annotated[str, Meta(max_length=4)]
Line = Annotated[str, Meta(max_length=4096)]


class Limits(Struct, frozen=True):
    """The limits of a rules program, as `initialize` shows them."""

    startup_ms: int = round(STARTUP_S * 1000)
    call_ms: int = round(CALL_S * 1000)
    frame_bytes: int = FRAME_BYTES
    position_bytes: int = POSITION_BYTES
    answer_bytes: int = ANSWER_BYTES
    memory_bytes: int = MEMORY_BYTES


class Hello(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `initialize`."""

    name: Line = ""
    encoding: Literal["json", "msgpack"] = "json"
    requests: tuple[Literal["view", "legal", "sample", "forfeit", "stop", "deal", "inject"], ...] = ()


class Asked(Struct, frozen=True, forbid_unknown_fields=True):
    """A call to one seat, before its params have their type."""

    method: str
    params: Any = msgspec.field(default_factory=dict)


class Told(Struct, frozen=True, forbid_unknown_fields=True):
    """A notice, before its params have their type."""

    method: str
    params: Any = msgspec.field(default_factory=dict)
    to: tuple[int, ...] | None = None
    """None = every seat."""


class Ruled(Struct, frozen=True, forbid_unknown_fields=True):
    """The penalty for the fault of a seat."""

    seat: int
    penalty: Line
    kind: FaultKind | None = None
    detail: Line | None = None
    answer: Any = msgspec.UNSET
    after: Annotated[int, Meta(ge=0)] = 0
    """How many notices of the turn come before it."""


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """A position and what follows from it."""

    position: msgspec.Raw
    """JSON, whatever the encoding of the conversation."""
    calls: dict[Seat, Asked]
    notices: Annotated[tuple[Told, ...], Meta(max_length=MOST_ITEMS)] = ()
    rulings: Annotated[tuple[Ruled, ...], Meta(max_length=MOST_ITEMS)] = ()
    result: Result | None = None
    out: tuple[int, ...] = ()
    text: Annotated[str, Meta(max_length=TEXT_CHARACTERS)] = ""
    scores: tuple[float, ...] = ()
    marks: dict[str, Any] = {}
    opening: bool = False
    warnings: Annotated[tuple[Line, ...], Meta(max_length=100)] = ()
    at: Annotated[int, Meta(ge=0, lt=1 << 53)] | None = None
    canonical: bool = False
    """Whether the position is in its canonical form."""


class Seen(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `view`."""

    view: Any
    text: Annotated[str, Meta(max_length=TEXT_CHARACTERS)] | None = None


class Failure(Struct, frozen=True):
    """The error of a program that does not do what was requested."""

    code: int
    message: str
    data: Any = None
