"""HTTP for pages and fronts: an ASGI application on Hypercorn, in our own trio loop, within bounds.

Whatever faces strangers here is Hypercorn's and Starlette's; what they leave open is closed by `Bounded`: a request's
body has a size and a time. Needs the extra `referee[web]`.
"""

import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import h11
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.harness.errors import UsageError


class Bounds(Struct, frozen=True):
    """What a client may make us hold."""

    head_bytes: int = 16 << 10
    body_bytes: int = 64 << 10
    request_s: float = 10.0
    """From the first byte of a request to the last one of its body."""
    idle_s: int = 15
    """How long a connection may lie idle between two requests."""
    connections: int = 2000
    """So many at a time; more are closed at once."""


class Others(Protocol):
    """Other processes that serve on the same socket. A connection can go from one to another between two requests."""

    def place(self, target: bytes) -> int | None:
        """The number of the one that a request for that target is for; None: ours."""

    async def give(self, number: int, connection: trio.socket.SocketType, data: bytes, heard_at: float) -> None:
        """Has a connection go on there; `data` was read of it, at that moment. OSError if it is closed meanwhile."""

    async def take(self) -> tuple[socket.socket, bytes, float]:
        """The next that one of them gives to us."""


AT_ONCE = 64 << 10
"""So many bytes are written to a connection without a look at the other tasks."""

log = logging.getLogger("referee.web")
CONNECTION = "referee.connection"


def listen(host: str, port: int = 0) -> socket.socket:
    """A socket that listens; port 0 = any that is free. UsageError if there is no such address, or it is taken."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1000)
    except OSError as error:
        raise UsageError(f"{host}:{port} cannot be listened at: {error.strerror or error}") from error
    except OverflowError as error:
        raise UsageError(f"{port} is no port; wanted 0 to 65535") from error
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


@asynccontextmanager
async def serving(
    app: ASGIApp,
    listening: socket.socket,
    bounds: Bounds = Bounds(),  # noqa: B008
    now: Callable[[], float] = trio.current_time,
    others: Others | None = None,
) -> AsyncIterator[None]:
    """Serves an application for the length of the block, on a socket of `listen`, which it takes over.

    `heard_at` tells a request when its last bytes were read, by the clock `now`. `others`: we are one of several.
    What is still open when the block ends is closed: a stream that never ends does not keep us.
    """
    config = Config()
    config.errorlog = log  # a stranger's half request is no matter for our terminal
    config.include_server_header = False
    config.h11_max_incomplete_size = bounds.head_bytes
    config.keep_alive_max_requests = 1 << 30
    config.h2_max_concurrent_streams = 1  # nobody needs the newer protocol here
    config.websocket_max_message_size = bounds.body_bytes
    config.websocket_ping_interval = 20.0
    config.graceful_timeout = 0.2
    server = _Server(Bounded(app, bounds), config, bounds, now, others)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.accept, listening)
        nursery.start_soon(server.close_idle)
        if others is not None:
            nursery.start_soon(server.take_over, others)
        try:
            yield
        finally:
            with trio.CancelScope(shield=True):
                await server.leave()
            nursery.cancel_scope.cancel()


class _Server:
    """Hypercorn's connections, each for itself.

    Hypercorn's own `serve` ends with the first connection that fails in a way it did not foresee, such as a client that
    writes on behind a request that closes; and it may wait for ever for one that does not read. So it is not used.

    Nor is its task for every pause between two requests, which costs a fifth of a small request and does not see
    connections that it has forgotten, such as those whose upgrade it has refused.
    """

    def __init__(
        self, app: ASGIApp, config: Config, bounds: Bounds, now: Callable[[], float], others: Others | None
    ) -> None:
        self._app = app
        self._now = now
        self._others = others
        self._config = config
        self._bounds = bounds
        self._context = WorkerContext(None)
        self._open: dict[tuple[str, int], _Connection] = {}
        """By the client's address and port."""
        self._idle: dict[_Connection, float] = {}
        """Those without a request, by when they are closed; the first is the next."""

    async def accept(self, listening: socket.socket) -> None:
        """Until it is cancelled."""
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening))
        await trio.serve_listeners(self._connected, [listener])

    async def take_over(self, others: Others) -> None:
        """Goes on with connections that others began, until it is cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                given, data, heard_at = await others.take()
                stream = trio.SocketStream(trio.socket.from_stdlib_socket(given))
                nursery.start_soon(self._connected, stream, data, heard_at)

    async def close_idle(self) -> None:
        """Closes connections on which nothing was asked for too long, until it is cancelled."""
        while True:
            connection, until = next(iter(self._idle.items()), (None, trio.current_time() + self._bounds.idle_s))
            if connection is None or until > trio.current_time():
                await trio.sleep_until(until)
            else:
                self._busy(connection)
                connection.stream.socket.close()

    async def leave(self) -> None:
        """Tells connections to end, gives those that have something to say a moment, and closes the rest."""
        await self._context.terminated.set()
        for connection in self._idle:
            connection.stream.socket.close()
        with trio.move_on_after(self._config.graceful_timeout):
            while self._open:
                await trio.sleep(0.01)
        for connection in self._open.values():
            connection.stream.socket.close()  # Hypercorn may still be writing, and cannot be cancelled there

    async def _connected(self, stream: trio.SocketStream, data: bytes = b"", heard_at: float = 0.0) -> None:
        """One connection, to its end; `data` was read of it, at that moment.

        What it fails with is a matter between it and the client.
        """
        if len(self._open) >= self._bounds.connections:
            return await stream.aclose()
        try:
            peer = stream.socket.getpeername()[:2]
        except OSError:  # it is gone already
            return await stream.aclose()
        self._open[peer] = connection = _Connection(stream, self._now, self._others, data, heard_at)
        self._rests(connection)
        talk = _Talk(ASGIWrapper(self._working), self._config, self._context, connection)  # type: ignore[arg-type]
        try:
            if self._others is not None and not data:
                await connection.begin()
            if not connection.gone:
                await talk
        except* Exception:
            log.debug("a connection failed", exc_info=True)
        finally:
            vars(talk).clear()  # otherwise it and all that it refers to would wait for the garbage collector
            self._busy(connection)
            if self._open.get(peer) is connection:  # otherwise another worker had it meanwhile, and gave it back
                del self._open[peer]
            stream.socket.close()
        return None

    async def _working(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request, for as long as it is worked upon."""
        connection = self._open.get(tuple(scope["client"] or ()))
        if connection is None or connection.gone:
            return
        scope[CONNECTION] = connection
        self._busy(connection)
        connection.requests += 1

        async def holding(message: Message) -> None:
            """The head of a short answer waits for its body: one write, and one wake-up of the client."""
            if message["type"] == "http.response.start":
                connection.holds = any(name == b"content-length" for name, _ in message["headers"])
            await send(message)

        try:
            await self._app(scope, receive, holding)
        finally:
            connection.requests -= 1
            if not connection.requests and connection.open:
                self._rests(connection)

    def _rests(self, connection: "_Connection") -> None:
        self._idle[connection] = trio.current_time() + self._bounds.idle_s

    def _busy(self, connection: "_Connection") -> None:
        self._idle.pop(connection, None)


class _Connection:
    """A stream that notes when it was read."""

    def __init__(
        self,
        stream: trio.SocketStream,
        now: Callable[[], float],
        others: Others | None,
        data: bytes = b"",
        heard_at: float = 0.0,
    ) -> None:
        """`data` of it was read already, at that moment."""
        self.stream = stream
        self.socket = stream.socket
        self.send_all, self.send_eof, self.aclose = stream.send_all, stream.send_eof, stream.aclose
        self.requests = 0
        """Those that are worked upon."""
        self.holds = False
        """What is written next waits for what is written then."""
        self.heard_at = heard_at
        self.others = others
        self.gone = False
        """Others go on with it."""
        self.begun: Callable[[], bytes | None] = lambda: None
        """What Hypercorn has of a request that has just begun; None: it is further, or works upon one."""
        self._now = now
        self._data = data
        self._kept_back = b""
        self._at_once = 0

    @property
    def open(self) -> bool:
        """We have not closed it."""
        return self.socket.fileno() >= 0

    async def receive_some(self, most: int) -> bytes | bytearray:
        """What there is, and when it was there. ClosedResourceError if others go on with it."""
        if self._data:
            data, self._data = self._data, b""
            return data
        data = await self._read(most)
        self.heard_at = self._now()
        if self.others is not None and (begun := self.begun()) is not None and b"\n" not in begun:
            await self.move(begun + data)
            if self.gone:
                raise trio.ClosedResourceError
        return data

    async def begin(self) -> None:
        """Reads what comes first. Where it is for others nothing more is made for the connection here."""
        self._data = await self._read(AT_ONCE)
        self.heard_at = self._now()
        await self.move(self._data)

    async def move(self, begun: bytes) -> None:
        """Has others go on, if the request that begins so is for them."""
        line, end, _ = begun.partition(b"\n")
        words = line.split(b" ")
        if self.others is None or not end or len(words) < 2 or (number := self.others.place(words[1])) is None:
            return
        self.gone = True
        try:
            await self.others.give(number, self.socket, begun, self.heard_at)
        finally:
            self.socket.close()

    async def _read(self, most: int) -> bytes:
        data: bytes | None = None
        while data is None:
            await trio.lowlevel.wait_readable(self.socket)
            try:
                data = os.read(self.socket.fileno(), most)
            except BlockingIOError:
                pass
            except OSError as error:
                raise trio.BrokenResourceError from error
        return data

    def write(self, data: bytes, at_once: bool) -> bytes:
        """Writes as much as can be written `at_once`; gives what is left.

        After some that went so the next does not: it is left to be written in a way that lets others have their turn.
        """
        if self.holds:
            self.holds, self._kept_back = False, self._kept_back + data
            return b""
        data, self._kept_back = self._kept_back + data, b""
        self._at_once += len(data)
        if self._at_once > AT_ONCE:
            self._at_once = 0
        elif data and at_once:
            with suppress(OSError):  # the socket is full, or broken: the usual way of writing finds out
                return data[os.write(self.socket.fileno(), data) :]
        return data


class _Talk(TCPServer):
    """Hypercorn's side of a connection. Most of what it writes goes at once, without a wait."""

    def __init__(self, app: ASGIWrapper, config: Config, context: WorkerContext, connection: _Connection) -> None:
        super().__init__(app, config, context, {}, connection)  # type: ignore[arg-type]
        self.idle_task = _NoTask()  # type: ignore[assignment]
        self._connection = connection
        connection.begun = self._begun

    def _begun(self) -> bytes | None:
        """What there is of a next request, whose head is not there yet; None: one is worked upon."""
        http = self.protocol.protocol
        if not isinstance(http, H11Protocol) or http.connection.their_state is not h11.IDLE:
            return None
        return http.connection.trailing_data[0]

    async def protocol_send(self, event: Event) -> None:
        """Has the client hear what the protocol says."""
        if self._connection.gone:
            return
        if isinstance(event, Updated):  # Hypercorn would see to its idle task
            if event.idle and self._connection.others is not None:  # what came too early may be for others
                await self._connection.move(self._begun() or b"")
            return
        if isinstance(event, RawData):
            rest = self._connection.write(event.data, at_once=not self.send_lock.locked())
            if not rest:
                return
            event = RawData(rest)
        await super().protocol_send(event)


class _NoTask:
    """In the place of what Hypercorn starts when a connection becomes idle, and ends when it does no longer."""

    async def restart(self, group: object, action: object) -> None:
        """Nothing."""

    async def stop(self) -> None:
        """Nothing."""


def heard_at(request: Request) -> float:
    """When the last bytes of the connection were read that a request came by."""
    connection: _Connection = request.scope[CONNECTION]
    return connection.heard_at


class Bounded:
    """Refuses a body that is too long (413) or too slow (408) before the application has to hold it.

    The application is Starlette's, which makes an answer of the exception.
    """

    def __init__(self, app: ASGIApp, bounds: Bounds) -> None:
        self.app = app
        self.bounds = bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if _head(scope) > self.bounds.head_bytes:  # Hypercorn itself only limits heads that come in pieces
            return await PlainTextResponse("the head is too long\n", 431)(scope, receive, send)
        if _length(scope) > self.bounds.body_bytes:
            return await PlainTextResponse("the body is too long\n", 413)(scope, receive, send)
        until, taken, whole = trio.current_time() + self.bounds.request_s, 0, False

        async def bounded() -> Message:
            nonlocal taken, whole
            if whole:
                return await receive()  # waits for the client to leave
            with trio.move_on_at(until):
                message = await receive()
                taken += len(message.get("body", b""))
                if taken > self.bounds.body_bytes:
                    raise HTTPException(413, "the body is too long\n")
                whole = not message.get("more_body", False)
                return message
            raise HTTPException(408, "the body did not come in time\n")

        return await self.app(scope, bounded, send)


def _head(scope: Scope) -> int:
    """Bytes of the target and the headers."""
    return len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(k) + len(v) + 4 for k, v in scope["headers"])


def _length(scope: Scope) -> int:
    """The length that the head announces; 0 = none, or no number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
