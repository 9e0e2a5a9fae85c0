"""The messages of the wire that belong to no game, with their members' names as sent.

Source: SPEC.md. Each game defines its own methods, with their parameters and answers.
"""

from enum import Enum, StrEnum
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

PROTOCOL_VERSION = 1


class Encoding(StrEnum):
    """The encoding of the JSON-RPC objects."""

    JSON = "json"
    MSGPACK = "msgpack"


class NeedData(Enum):
    """The type of NEED_DATA."""

    NEED_DATA = "need data"


NEED_DATA: Final = NeedData.NEED_DATA
"""No whole message has arrived yet."""


class Limits(Struct, frozen=True):
    """A bot's limits; null = no such limit. Milliseconds of wall time, or of fuel, unless it says otherwise."""

    startup_ms: Annotated[int, Meta(description="from the start of the process to the answer to initialize")]
    call_ms: Annotated[int | None, Meta(description="for one call")] = None
    opening_ms: Annotated[int | None, Meta(description="for one call in the opening; null: as later")] = None
    closing_ms: Annotated[int | None, Meta(description="for a call after the result; null: no such calls")] = None
    exit_ms: Annotated[int | None, Meta(description="from exit to the program's end")] = None
    initial_ms: Annotated[int | None, Meta(description="the time bank at the start of the match")] = None
    increment_ms: Annotated[int, Meta(description="added to the bank after every answer in time")] = 0
    cpu_ms: Annotated[int | None, Meta(description="CPU time for the whole match")] = None
    memory_bytes: Annotated[int | None, Meta(description="memory of the process and all that it started")] = None
    processes: Annotated[int | None, Meta(description="how many of them may live at a time")] = None
    frame_bytes: Annotated[int | None, Meta(description="one frame of the bot's, its LF apart")] = None
    call_output_bytes: Annotated[int | None, Meta(description="standard output in one call")] = None
    stderr_bytes: Annotated[int | None, Meta(description="standard error that is kept; the rest is dropped")] = None
    file_bytes: Annotated[int | None, Meta(description="one file that is written")] = None
    scratch_bytes: Annotated[int | None, Meta(description="all files in HOME together")] = None
    fuel_per_ms: Annotated[int | None, Meta(description="units of fuel that are a millisecond; null: wall time")] = None


class Initialize(Struct, frozen=True):
    """Parameters of `initialize`: a match begins."""

    protocol: Annotated[int, Meta(description="the protocol's version")]
    game: Annotated[str, Meta(description="the game's name")]
    options: Annotated[Any, Meta(description="the game's options, an object")]
    seat: Annotated[int, Meta(ge=0, description="the bot's own seat, from 0")]
    names: Annotated[tuple[str, ...], Meta(description="the bots' names, in seat order")]
    encodings: Annotated[tuple[Encoding, ...], Meta(description="what the bot may choose from, best first")]
    limits: Limits
    seed: Annotated[int, Meta(description="for the bot's own luck, so that whole matches repeat")]


class Hello(Struct, frozen=True):
    """Result of `initialize`. Every member may be left out."""

    name: Annotated[str | None, Meta(description="the bot's name; none: the file's name")] = None
    version: Annotated[str | None, Meta(description="the bot's version, for the record")] = None
    encoding: Annotated[Encoding, Meta(description="how both sides write from the next frame on")] = Encoding.JSON
    reuse: Annotated[bool, Meta(description="the process can play another match after this one")] = False


class Clock(Struct, frozen=True):
    """The member `clock`, added to the parameters of every call. Milliseconds of wall time, or of fuel."""

    call_ms: Annotated[int | None, Meta(description="the limit of this call; null = no such limit")]
    remaining_ms: Annotated[int | None, Meta(description="the bank that is left; null = no bank")]
    last_ms: Annotated[int | None, Meta(description="what the bot's previous call was charged; null = no call yet")]
    answers_left: Annotated[
        int | UnsetType, Meta(description="how many answers until the bank gets more; left out = it will not")
    ] = UNSET


class ErrorObject(Struct, frozen=True):
    """A bot's answer that it failed."""

    code: Annotated[int, Meta(description="JSON-RPC's codes, or -32000 for a failure of the bot's own")]
    message: Annotated[str, Meta(description="what went wrong, in words")]
    data: Annotated[Any, Meta(description="whatever else the author wants to see")] = None
