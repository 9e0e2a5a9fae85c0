"""Serves an ASGI application with Hypercorn in the current event loop, and limits what clients may send.

Needs the extra `web`.
"""

import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState
from hypercorn.utils import parse_socket_addr
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.harness.web.server.limits import GRACE_S, RequestLimits

CONNECTION = "referee.connection"
"""The key of an ASGI scope at which the `_Connection` is."""


log = logging.getLogger("referee.web")


@asynccontextmanager
async def serving(
    app: ASGIApp,
    listening: socket.socket,
    limits: RequestLimits = RequestLimits(),  # noqa: B008
    now: Callable[[], float] = trio.current_time,
) -> AsyncIterator[None]:
    """Serves an application while the block runs, on a socket from `listen`, which it takes over.

    `arrived_at` reads the clock `now`. When the block ends, every open connection is closed, even an endless stream.
    """
    server = _Server(app, limits, now)
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        nursery.start_soon(server.close_idle)
        try:
            yield
        finally:
            with trio.CancelScope(shield=True):
                await server.stop()
            nursery.cancel_scope.cancel()


class _Server:
    """Serves connections. `hypercorn.trio.serve` ends at an exception in one of them, and any client can cause one."""

    def __init__(self, app: ASGIApp, limits: RequestLimits, now: Callable[[], float]) -> None:
        self.app = _limited(app, limits)
        self.config = _config(limits)
        self.context = WorkerContext(None)
        self.now = now
        self._limits = limits
        self._open: dict[_Connection, None] = {}
        """In the order of their last requests, the latest last."""

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serves a connection until it is closed."""
        connection = _Connection(self, stream)
        try:
            if self._has_room():
                self._open[connection] = None
                await connection.serve()
        except* Exception:
            log.debug("a connection failed", exc_info=True)
        finally:
            self._open.pop(connection, None)
            stream.socket.close()

    async def close_idle(self) -> None:
        """Closes connections that have waited too long for a request, until it is cancelled."""
        while True:
            await trio.sleep(self._limits.idle_s / 4)
            self._close_idle_for(self._limits.idle_s)

    async def stop(self) -> None:
        """Closes idle connections, and gives open requests a moment."""
        await self.context.terminated.set()
        self._close_idle_for(0)
        with trio.move_on_after(GRACE_S):
            while self._open:
                await trio.sleep(0.01)

    def _has_room(self) -> bool:
        """Tells whether one more connection may be open. Closes another for it, unless requests are open at all."""
        if len(self._open) < self._limits.connections:
            return True
        oldest = next((connection for connection in self._open if not connection.answers), None)
        if oldest is None:
            return False
        del self._open[oldest]
        oldest.stream.socket.close()
        return True

    def request_ended(self, connection: "_Connection") -> None:
        """Notes that a connection waits for its next request from now on."""
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    def _close_idle_for(self, idle_s: float) -> None:
        until = trio.current_time() - idle_s
        for connection in self._open:
            if not connection.requests and connection.active_at <= until:
                connection.stream.socket.close()


class _Protocol(H11Protocol):
    """HTTP/1. Nobody needs HTTP/2 here, whose frames of a few bytes keep the loop from everybody else."""

    async def _check_protocol(self, event: object) -> None:
        pass


class _Connection:
    """Hands what arrives to Hypercorn's protocol, and sends what that replies.

    Hypercorn's own `TCPServer` starts a task for each wait between two requests, which costs more than the request.
    """

    def __init__(self, server: _Server, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.read_at = server.now()
        self.active_at = trio.current_time()
        """When the last request ended."""
        self.requests = 0
        """The number of open requests."""
        self.answers = False
        """A request has arrived whole, and its response has not ended."""
        self._server = server
        self._head = b""  # of a response, which waits for the body
        self._sending = trio.Lock()  # held while the socket is full
        self._protocol: _Protocol

    async def serve(self) -> None:
        """Serves requests until one side closes the connection."""
        ends, server = self.stream.socket, self._server
        us, client = (parse_socket_addr(ends.family, name) for name in (ends.getsockname(), ends.getpeername()))
        app, state = ASGIWrapper(self._app), ConnectionState({})  # type: ignore[arg-type]
        async with TaskGroup() as tasks:
            self._protocol = _Protocol(app, server.config, server.context, tasks, state, False, client, us, self._send)
            data: bytes | bytearray = b"-"
            while data:
                try:
                    data = await self.stream.receive_some(1 << 16)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    break
                self.read_at = server.now()
                await self._protocol.handle(RawData(bytes(data)))
            await self._protocol.handle(Closed())

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[CONNECTION] = self
        self.requests += 1
        try:
            await self._server.app(scope, receive, send)
        finally:
            self.answers = False
            self.requests -= 1
            self.active_at = trio.current_time()
            self._server.request_ended(self)

    async def _send(self, event: Event) -> None:
        if isinstance(event, RawData):
            try:
                await self._write(event.data)
                return
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
        elif not isinstance(event, Closed):
            return
        self.stream.socket.close()
        await self._protocol.handle(Closed())

    async def _write(self, data: bytes) -> None:
        """Writes at once if there is room. The head of a response with a length waits for the body."""
        if not self._head and data.startswith(b"HTTP/1.1 ") and b"\r\ncontent-length:" in data:
            self._head = data
            return
        data, self._head = self._head + data, b""
        if data and not self._sending.locked():
            with suppress(OSError):  # the socket is full or broken: the stream finds out
                data = data[os.write(self.stream.socket.fileno(), data) :]
        if data:
            async with self._sending:
                await self.stream.send_all(data)


def arrived_at(request: Request) -> float:
    """Returns when the connection of a request was last read, which is when the end of its body arrived."""
    connection: _Connection = request.scope[CONNECTION]
    return connection.read_at


def _config(limits: RequestLimits) -> Config:
    config = Config()
    config.errorlog = log  # a malformed request is not worth a line on our terminal
    config.include_server_header = False
    config.h11_max_incomplete_size = limits.head_bytes
    config.keep_alive_max_requests = 1 << 30
    config.websocket_max_message_size = limits.body_bytes
    config.websocket_ping_interval = 20.0
    return config


def _limited(app: ASGIApp, limits: RequestLimits) -> ASGIApp:
    """Reads the body of each request. Refuses one that is too long (413) or too slow (408), or a long head (431)."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        refusal, body, more = _refusal(scope, limits), b"", True
        with trio.move_on_after(limits.body_s) as timeout:
            while more and refusal is None:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message["body"]
                more = message["more_body"]
                if len(body) > limits.body_bytes:
                    refusal = 413, "the body is too long"
        if timeout.cancelled_caught:
            refusal = 408, "the body took too long"
        if refusal is not None:
            return await PlainTextResponse(f"{refusal[1]}\n", refusal[0])(scope, receive, send)
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_whole() -> Message:
            return messages.pop() if messages else await receive()

        scope[CONNECTION].answers = True
        return await app(scope, receive_whole, send)

    return limited


def _refusal(scope: Scope, limits: RequestLimits) -> tuple[int, str] | None:
    """Returns a status and a message, or None for a request that may pass."""
    headers = scope["headers"]
    size = (
        len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(name) + len(value) + 4 for name, value in headers)
    )
    if size > limits.head_bytes:  # Hypercorn limits only heads that arrive in pieces
        return 431, "the head is too long"
    if int(dict(headers).get(b"content-length", 0)) > limits.body_bytes:
        return 413, "the body is too long"
    return None
