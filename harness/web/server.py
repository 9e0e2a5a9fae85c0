"""Serves an ASGI application with Hypercorn in the current event loop, and limits what clients may send.

Needs the extra `referee[web]`.
"""

import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.harness.errors import UsageError

STREAM = "referee.stream"
"""The key of an ASGI scope at which the connection's `TimedStream` is."""

log = logging.getLogger("referee.web")


class RequestLimits(Struct, frozen=True):
    """The limits for one client."""

    head_bytes: int = 16 << 10
    body_bytes: int = 64 << 10
    body_s: float = 10.0
    """From the end of the head to the end of the body."""
    idle_s: int = 15
    """How long a connection may take for the head of its next request."""
    connections: int = 2000
    """Open at a time. Further ones are closed at once."""


def listen(host: str, port: int = 0) -> socket.socket:
    """Returns a listening socket; port 0 means any free port. Raises UsageError if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1000)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    except OverflowError as error:
        raise UsageError(f"cannot listen on port {port}: expected 0 to 65535") from error
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


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
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.accept, listening)
        nursery.start_soon(server.close_idle)
        try:
            yield
        finally:
            with trio.CancelScope(shield=True):
                await server.stop()
            nursery.cancel_scope.cancel()


class _Server:
    """Runs Hypercorn's `TCPServer` for each connection.

    `hypercorn.trio.serve` is not enough: an exception in one connection ends it, and any client can cause one.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits, now: Callable[[], float]) -> None:
        self._app = LimitRequests(app, limits)
        self._limits = limits
        self._now = now
        self._config = _config(limits)
        self._context = WorkerContext(None)
        self._open: set[TimedStream] = set()

    async def accept(self, listening: socket.socket) -> None:
        """Serves connections until it is cancelled."""
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening))
        await trio.serve_listeners(self._connection, [listener])

    async def close_idle(self) -> None:
        """Closes connections without a request that Hypercorn forgets, such as an incomplete upgrade."""
        while True:
            await trio.sleep(self._limits.idle_s / 2)
            until = trio.current_time() - self._limits.idle_s
            for stream in self._open:
                if not stream.requests and stream.active_at < until:
                    stream.socket.close()

    async def stop(self) -> None:
        """Closes idle connections, gives open requests a moment, and closes the rest."""
        await self._context.terminated.set()
        with trio.move_on_after(self._config.graceful_timeout):
            while self._open:
                await trio.sleep(0.01)
        for stream in self._open:
            stream.socket.close()  # Hypercorn may be writing, which cannot be cancelled

    async def _connection(self, accepted: trio.SocketStream) -> None:
        if len(self._open) >= self._limits.connections:
            return await accepted.aclose()
        stream = TimedStream(accepted, self._now)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_held(message: Message) -> None:
                if message["type"] == "http.response.start":
                    stream.hold_head = any(name == b"content-length" for name, _ in message["headers"])
                await send(message)

            scope[STREAM] = stream
            stream.requests += 1
            try:
                await self._app(scope, receive, send_held)
            finally:
                stream.requests -= 1
                stream.active_at = trio.current_time()

        self._open.add(stream)
        try:
            await TCPServer(ASGIWrapper(app), self._config, self._context, {}, stream)  # type: ignore[arg-type]
        except* Exception:
            log.debug("a connection failed", exc_info=True)
        finally:
            self._open.discard(stream)
            accepted.socket.close()
        return None


class TimedStream:
    """A stream that knows when it was last read, and sends the head of a response together with its body."""

    def __init__(self, stream: trio.SocketStream, now: Callable[[], float]) -> None:
        self.socket = stream.socket
        self.send_eof, self.aclose = stream.send_eof, stream.aclose
        self.read_at = now()
        self.active_at = trio.current_time()
        self.requests = 0
        """The number of open requests."""
        self.hold_head = False
        """The next data is a head, which waits for the body."""
        self._stream = stream
        self._head = b""
        self._now = now

    async def receive_some(self, max_bytes: int) -> bytes | bytearray:
        """Reads like `trio.SocketStream`."""
        data = await self._stream.receive_some(max_bytes)
        self.read_at = self._now()
        return data

    async def send_all(self, data: bytes) -> None:
        """Sends like `trio.SocketStream`, without a checkpoint if there is room: Hypercorn has just had one."""
        if self.hold_head:
            self.hold_head, self._head = False, data
            return
        data, self._head = self._head + data, b""
        if data:
            with suppress(OSError):  # the socket is full or broken: the stream finds out
                data = data[os.write(self.socket.fileno(), data) :]
        if data:
            await self._stream.send_all(data)


def arrived_at(request: Request) -> float:
    """Returns when the connection of a request was last read, which is when the end of its body arrived."""
    stream: TimedStream = request.scope[STREAM]
    return stream.read_at


def _config(limits: RequestLimits) -> Config:
    config = Config()
    config.errorlog = log  # a malformed request is not worth a line on our terminal
    config.include_server_header = False
    config.h11_max_incomplete_size = limits.head_bytes
    config.keep_alive_timeout = limits.idle_s
    config.keep_alive_max_requests = 1 << 30
    config.h2_max_concurrent_streams = 1  # nobody needs HTTP/2 here
    config.websocket_max_message_size = limits.body_bytes
    config.websocket_ping_interval = 20.0
    config.graceful_timeout = 0.2
    return config


class LimitRequests:
    """Reads the body of each request. Refuses one that is too long (413) or too slow (408), or a long head (431)."""

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        refusal, body = self._refusal(scope), b""
        with trio.move_on_after(self.limits.body_s) as timeout:
            more = refusal is None
            while more and refusal is None:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > self.limits.body_bytes:
                    refusal = 413, "the body is too long"
        if timeout.cancelled_caught:
            refusal = 408, "the body took too long"
        if refusal is not None:
            return await PlainTextResponse(f"{refusal[1]}\n", refusal[0])(scope, receive, send)
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_whole() -> Message:
            return messages.pop() if messages else await receive()

        return await self.app(scope, receive_whole, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        if _head_bytes(scope) > self.limits.head_bytes:  # Hypercorn limits only heads that arrive in pieces
            return 431, "the head is too long"
        if _announced_bytes(scope) > self.limits.body_bytes:
            return 413, "the body is too long"
        return None


def _head_bytes(scope: Scope) -> int:
    headers = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers


def _announced_bytes(scope: Scope) -> int:
    """The Content-Length; 0 if there is none."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
