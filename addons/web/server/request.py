"""A client's request in the process with the matches: what the application receives and sends, and what it may ask."""

import logging
from typing import TYPE_CHECKING, Any

import trio
from starlette.requests import Request
from starlette.types import Message, Scope

from referee.addons.web.server.messages import Asked, Begin, End, Follow, Forget, Piece, Publish, Respond, State

if TYPE_CHECKING:
    from referee.addons.web.server.link import WebLink

EXCHANGE = "referee.exchange"
"""The key of an ASGI scope at which the `Exchange` is."""
PIECE_BYTES = 1 << 20
"""The most of a body in one message. A text for a WebSocket or of a channel cannot be longer."""

log = logging.getLogger("referee.web")


class Channel:
    """A text that changes, for any number of clients. Publishing costs the same for one and for a thousand.

    The web process sends each client the newest text when that client has read the one before, so a slow client
    misses some and holds up nobody. `follow` lets a client follow. Made by `WebLink.channel`.
    """

    def __init__(self, link: "WebLink", number: int) -> None:
        self.number = number
        self._link = link
        self._body: bytes | None = None
        link.channels[number] = self

    def publish(self, body: bytes) -> None:
        """Publishes the next text: a message for WebSockets, a whole event (`data: …`) for event streams."""
        _check_size(body)
        self._body = body
        self.publish_again()

    def publish_again(self) -> None:
        """Tells a web process the newest text, if there is any."""
        if self._body is not None:
            self._link.send(Publish(self.number, self._body))

    def close(self) -> None:
        """Forgets the channel. Followers are still sent the last text."""
        if self._link.channels.pop(self.number, None) is not None:
            self._link.send(Forget(self.number))


class Exchange:
    """A request, and what the application answers to it."""

    def __init__(self, link: "WebLink", request: Asked) -> None:
        self.request = request
        self.sent_at: float | None = None
        """When the last piece was written to the client's socket, by the web process's clock; None if it was not."""
        self.has_left = False
        self.is_cut = False
        """The client's connection was lost because the web process ended."""
        self._link = link
        self._was_read = False
        self._changed = trio.Event()
        self._begun: tuple[int, Any] | None = None
        """Status and headers of a response that waits for its body."""

    def changed(self) -> None:
        """Wakes the tasks of the exchange."""
        event, self._changed = self._changed, trio.Event()
        event.set()

    def leave(self) -> None:
        """Notes that the client has left."""
        self.has_left = True
        self.changed()

    def follow(self, channel: Channel) -> None:
        """Hands the client over to a channel."""
        if not self.is_cut:
            self._link.send(Follow(self.request.id, channel.number))

    async def run(self) -> None:
        """Lets the application answer. If that is cancelled, the web process tells the client at its end."""
        request = self.request
        send = self._send_to_socket if request.is_websocket else self._send
        try:
            await self._link.app(_scope(request) | {EXCHANGE: self}, self._receive, send)
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
        self._finish()

    def _finish(self) -> None:
        """Ends a response that the application has not ended."""
        if not self.is_cut:
            state = self._link.state(self.request.id)
            if state in (State.WAITING, State.LEFT):
                self._link.send(Respond(self.request.id, 500, [(b"content-length", b"0")], b""))
            elif state is not State.OVER:
                self._link.send(End(self.request.id, is_cut=True))
        self._link.forget(self)

    async def _receive(self) -> Message:
        if not self._was_read:
            self._was_read = True
            if self.request.is_websocket:
                return {"type": "websocket.connect"}
            return {"type": "http.request", "body": self.request.body, "more_body": False}
        while not self.has_left:
            await self._changed.wait()
        return (
            {"type": "websocket.disconnect", "code": 1006} if self.request.is_websocket else {"type": "http.disconnect"}
        )

    async def _send(self, message: Message) -> None:
        if self.is_cut:
            return
        link, number = self._link, self.request.id
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if any(name == b"content-length" for name, _ in headers):
                self._begun = message["status"], headers
            else:
                link.send(Begin(number, message["status"], headers))
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if self._begun is not None:
            begun, self._begun = self._begun, None
            if not more and len(body) <= PIECE_BYTES:
                link.send(Respond(number, *begun, body))
                return
            link.send(Begin(number, *begun))
        for start in range(0, len(body), PIECE_BYTES):
            await self._send_piece(body[start : start + PIECE_BYTES])
        if not more and not self.is_cut:
            link.send(End(number))

    async def _send_to_socket(self, message: Message) -> None:
        if self.is_cut:
            return
        link, number = self._link, self.request.id
        if message["type"] == "websocket.accept":
            link.send(Begin(number, 101, list(message.get("headers", ()))))
        elif message["type"] == "websocket.send":
            await self._send_piece(message["text"].encode())
        elif link.state(number) in (State.WAITING, State.LEFT):
            link.send(Respond(number, 403, [], b""))
        else:
            link.send(End(number))

    async def _send_piece(self, body: bytes) -> None:
        """Sends a piece, and waits until it was written."""
        _check_size(body)
        self.sent_at = None
        if self.has_left:
            await trio.lowlevel.checkpoint()
            return
        self._link.send(Piece(self.request.id, body))
        while not self.has_left and self._link.state(self.request.id) is State.WRITING:
            await self._changed.wait()


def _check_size(body: bytes) -> None:
    if len(body) > PIECE_BYTES:
        raise ValueError(f"a message of {len(body)} bytes for a WebSocket or a channel; expected at most {PIECE_BYTES}")


def _scope(request: Asked) -> dict[str, Any]:
    """Returns the ASGI scope of a request or a WebSocket."""
    scope: dict[str, Any] = {
        "asgi": {"version": "3.0", "spec_version": "2.3"},  # from 2.4 on, Starlette's streams end only at a write
        "http_version": request.http_version,
        "path": request.path,
        "raw_path": request.raw_path,
        "query_string": request.query,
        "root_path": "",
        "headers": request.headers,
        "client": request.client,
        "server": None,
    }
    if request.is_websocket:
        return scope | {"type": "websocket", "scheme": "ws", "subprotocols": []}
    return scope | {"type": "http", "scheme": "http", "method": request.method}


def arrived_at(request: Request) -> float:
    """Returns when the last byte of a request was read, by the clock of its link."""
    return float(request.scope[EXCHANGE].request.at)


def sent_at(scope: Scope) -> float | None:
    """Returns when the last piece of a response was written to the client's socket, by the clock of its link.

    None if it was not, since the client has left.
    """
    exchange: Exchange = scope[EXCHANGE]
    return exchange.sent_at


def follow(scope: Scope, channel: Channel) -> None:
    """Lets the client of a response that has begun follow a channel. The application ends the response as any other."""
    exchange: Exchange = scope[EXCHANGE]
    exchange.follow(channel)


def is_cut(scope: Scope) -> bool:
    """Tells whether a client was lost because the web process ended. It may come back and expect the rest."""
    return bool(scope[EXCHANGE].is_cut)
