"""The messages between the web process and a process with matches, and who may send which of them when.

A request and its response are an exchange, and so is a WebSocket. Its states are below. `LinkEnd` is either end. It
neither reads, writes nor waits: `receive` takes bytes, and `send` returns the frame to write. Each frame is one
MessagePack map.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum, auto
from typing import Any, Final

import msgspec
from msgspec import Struct

from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.server.pages import Headers, Pages
from referee.protocol.codec import MSGPACK
from referee.protocol.errors import LocalProtocolError, RemoteProtocolError

HEALTH = "/health"
"""The path that says whether both processes answer."""
MAX_FRAME_BYTES = 1 << 24

# From the process with matches.


class Serve(Struct, frozen=True, tag="serve"):
    """Begins: what a client may send, and the time at which the web process's clock begins."""

    limits: RequestLimits
    clock_s: float
    pages: Pages = Pages()
    access_log: str | None = None
    """The file for a line about each request."""


class Respond(Struct, frozen=True, tag="respond"):
    """A whole response. Ends the exchange."""

    id: int
    status: int
    headers: Headers
    body: bytes


class Begin(Struct, frozen=True, tag="begin"):
    """The head of a response that is sent in pieces. Accepts a WebSocket."""

    id: int
    status: int
    headers: Headers


class Piece(Struct, frozen=True, tag="piece"):
    """A piece of the body, or a text for a WebSocket. The next one follows after `Sent`."""

    id: int
    body: bytes


class End(Struct, frozen=True, tag="end"):
    """The end of a response that was sent in pieces. Closes a WebSocket."""

    id: int
    is_cut: bool = False
    """The application has not ended it, and never will."""


class Publish(Struct, frozen=True, tag="publish"):
    """The newest text of a channel."""

    channel: int
    body: bytes


class Follow(Struct, frozen=True, tag="follow"):
    """Sends the client the newest text of a channel, and each later one that it reads fast enough for, until `End`."""

    id: int
    channel: int


class Forget(Struct, frozen=True, tag="forget"):
    """A channel has no further texts and no further followers."""

    channel: int


class Sync(Struct, frozen=True, tag="sync"):
    """Asks for `Synced`, which comes after every request that has been read so far."""

    number: int


# From the web process.


class Ready(Struct, frozen=True, tag="ready"):
    """Requests are read from now on. The web process's clock is `offset_s` behind `time.monotonic`."""

    offset_s: float


class Stalled(Struct, frozen=True, tag="stalled"):
    """The web process did not run for a while. Its clock is so far behind `time.monotonic` now."""

    offset_s: float


class Asked(Struct, frozen=True, tag="asked"):
    """A request that has arrived whole. Begins the exchange."""

    id: int
    at: float
    """When its last byte was read, by the web process's clock."""
    http_version: str
    method: str
    path: str
    raw_path: bytes
    query: bytes
    headers: Headers
    client: tuple[str, int] | None
    body: bytes
    is_websocket: bool = False
    """The client opens a WebSocket. The web process throws away what it sends there."""


class Sent(Struct, frozen=True, tag="sent"):
    """A piece was written to the client's socket."""

    id: int
    at: float
    """By the web process's clock."""


class Gone(Struct, frozen=True, tag="gone"):
    """The client has left. The response is still owed, and is thrown away."""

    id: int


class Synced(Struct, frozen=True, tag="synced"):
    """The answer to `Sync`."""

    number: int
    at: float
    """By the web process's clock."""


FromMatches = Serve | Respond | Begin | Piece | End | Publish | Follow | Forget | Sync
FromWeb = Ready | Stalled | Asked | Sent | Gone | Synced


class State(IntEnum):
    """The state of an exchange."""

    NEW = auto()
    WAITING = auto()
    """The request has no response yet."""
    OPEN = auto()
    """The response has begun."""
    WRITING = auto()
    """The client is being sent a piece."""
    FOLLOWING = auto()
    """The client is sent what a channel publishes."""
    LEFT = auto()
    """The client has left before the response began."""
    LEFT_OPEN = auto()
    """The client has left after the response began."""
    OVER = auto()


TRANSITIONS: Final[Mapping[State, Mapping[str, State]]] = {
    State.NEW: {"Asked": State.WAITING},
    State.WAITING: {"Respond": State.OVER, "Begin": State.OPEN, "Gone": State.LEFT},
    State.OPEN: {"Piece": State.WRITING, "Follow": State.FOLLOWING, "End": State.OVER, "Gone": State.LEFT_OPEN},
    State.WRITING: {"Sent": State.OPEN, "End": State.OVER, "Gone": State.LEFT_OPEN},
    State.FOLLOWING: {"End": State.OVER, "Gone": State.LEFT_OPEN},
    State.LEFT: {"Respond": State.OVER, "Begin": State.LEFT_OPEN},
    State.LEFT_OPEN: {"Piece": State.LEFT_OPEN, "Follow": State.LEFT_OPEN, "End": State.OVER},
}
"""What may be said in each state, by either end, and the state that follows.

Both ends may speak at once. `Gone` and `Sent` may cross the message that ends the exchange. The sender drops them if it
knows of that end already, and otherwise the receiver does.
"""
CROSSING = ("Gone", "Sent")

_Messages = FromMatches | FromWeb


class LinkEnd:
    """One end of the link. `takes` is the type of the other end's messages: `FromMatches` or `FromWeb`."""

    def __init__(self, takes: Any) -> None:
        self._decode = msgspec.msgpack.Decoder(takes).decode
        self._splitter = MSGPACK.splitter(MAX_FRAME_BYTES, b"")
        self._states: dict[int, State] = {}

    def state(self, number: int) -> State:
        """Returns the state of an exchange."""
        return self._states.get(number, State.OVER)

    def send(self, message: _Messages) -> bytes:
        """Returns the frame; empty if it no longer matters. Raises LocalProtocolError if it may not be sent now."""
        return MSGPACK.frame(message) if self._enter(message) else b""

    def receive(self, data: bytes) -> Iterator[Any]:
        """Takes bytes of the other end, and yields its messages. Raises RemoteProtocolError."""
        self._splitter.feed(data)
        while (frame := self._splitter.next()) is not None:
            try:
                message = self._decode(frame)
            except msgspec.DecodeError as error:
                raise RemoteProtocolError(f"not a message of the link: {error}") from None
            try:
                if self._enter(message):
                    yield message
            except LocalProtocolError as error:
                raise RemoteProtocolError(str(error)) from None

    def _enter(self, message: _Messages) -> bool:
        """Moves the exchange to its next state. False if the message came too late to matter."""
        number = getattr(message, "id", None)
        if number is None:
            return True
        kind = type(message).__name__
        state = self._states.get(number, State.NEW if kind == "Asked" else State.OVER)
        next_state = TRANSITIONS.get(state, {}).get(kind)
        if next_state is None:
            if kind in CROSSING and state in (State.OVER, State.LEFT, State.LEFT_OPEN):
                return False
            raise LocalProtocolError(f"{kind} about exchange {number} in state {state.name}")
        if next_state is State.OVER:
            del self._states[number]
        else:
            self._states[number] = next_state
        return True
