"""HTTP for pages and fronts: an ASGI application on Hypercorn, in our own trio loop, within bounds.

Whatever faces strangers here is Hypercorn's and Starlette's; what they leave open is closed by `Bounded`: a request's
body has a size and a time. Needs the extra `referee[web]`.
"""

import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
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
) -> AsyncIterator[None]:
    """Serves an application for the length of the block, on a socket of `listen`, which it takes over.

    `heard_at` tells a request when its last bytes were read, by the clock `now`.
    What is still open when the block ends is closed: a stream that never ends does not keep us.
    """
    config = Config()
    config.errorlog = log  # a stranger's half request is no matter for our terminal
    config.include_server_header = False
    config.h11_max_incomplete_size = bounds.head_bytes
    config.keep_alive_timeout = float(bounds.idle_s)
    config.keep_alive_max_requests = 1 << 30
    config.h2_max_concurrent_streams = 1  # nobody needs the newer protocol here
    config.websocket_max_message_size = bounds.body_bytes
    config.websocket_ping_interval = 20.0
    config.graceful_timeout = 0.2
    server = _Server(Bounded(app, bounds), config, bounds, now)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.accept, listening)
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
    """

    def __init__(self, app: ASGIApp, config: Config, bounds: Bounds, now: Callable[[], float]) -> None:
        self._app = app
        self._now = now
        self._config = config
        self._bounds = bounds
        self._context = WorkerContext(None)
        self._open: dict[tuple[str, int], _Connection] = {}
        """By the client's address and port."""

    async def accept(self, listening: socket.socket) -> None:
        """Until it is cancelled."""
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening))
        await trio.serve_listeners(self._connected, [listener])

    async def leave(self) -> None:
        """Tells connections to end, gives those that have something to say a moment, and closes the rest."""
        await self._context.terminated.set()
        with trio.move_on_after(self._config.graceful_timeout):
            while self._open:
                await trio.sleep(0.01)
        for connection in self._open.values():
            connection.stream.socket.close()  # also where Hypercorn still writes, which it does not let be cancelled

    async def _connected(self, stream: trio.SocketStream) -> None:
        """One connection, to its end. What it fails with is a matter between it and the client."""
        if len(self._open) >= self._bounds.connections:
            return await stream.aclose()
        try:
            peer = stream.socket.getpeername()[:2]
        except OSError:  # it is gone already
            return await stream.aclose()
        self._open[peer] = connection = _Connection(stream, self._now)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_idle, connection)
                app = ASGIWrapper(self._working)  # type: ignore[arg-type]  # the same ASGI
                await TCPServer(app, self._config, self._context, {}, connection)  # type: ignore[arg-type]
                nursery.cancel_scope.cancel()
        except* Exception:
            log.debug("a connection failed", exc_info=True)
        finally:
            self._open.pop(peer, None)
            stream.socket.close()
        return None

    async def _working(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request, for as long as it is worked upon."""
        connection = self._open.get(tuple(scope["client"] or ()))
        if connection is None:
            return
        scope[CONNECTION] = connection
        connection.requests += 1
        try:
            await self._app(scope, receive, send)
        finally:
            connection.requests -= 1
            connection.seen = trio.current_time()

    async def _until_idle(self, connection: "_Connection") -> None:
        """Closes a connection that Hypercorn has forgotten, as it does after an upgrade that it has refused."""
        idle_s = 2 * self._bounds.idle_s
        while connection.requests or trio.current_time() < connection.seen + idle_s:
            await trio.sleep(idle_s / 4)
        connection.stream.socket.close()


class _Connection:
    """A stream that notes when it was read."""

    def __init__(self, stream: trio.SocketStream, now: Callable[[], float]) -> None:
        self.stream = stream
        self.socket = stream.socket
        self.send_all, self.send_eof, self.aclose = stream.send_all, stream.send_eof, stream.aclose
        self.requests = 0
        """Those that are worked upon."""
        self.seen = trio.current_time()
        """When the last was done."""
        self.heard_at = now()
        self._now = now

    async def receive_some(self, most: int) -> bytes | bytearray:
        """What there is, and when it was there."""
        data = await self.stream.receive_some(most)
        self.heard_at = self._now()
        return data


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
        if _head(scope) > self.bounds.head_bytes:  # Hypercorn looks at heads that come in pieces only
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
