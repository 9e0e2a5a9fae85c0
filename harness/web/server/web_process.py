"""The web process: serves HTTP/1.1 and WebSockets with Uvicorn, and hands whole requests to the process with matches.

`python -m referee.harness.web.server.web_process LINK LISTENING` takes two descriptors: a socket to that process
(`referee.harness.web.server.link`) and the socket that listens. No thread or task of a match runs here, so a request is
read when it comes.

If the process with the matches ends, every open stream gets a last event that says so, every open request the status
503, and every WebSocket is closed.
"""

import asyncio
import gc
import ipaddress
import logging
import socket
import sys
from contextlib import suppress
from time import monotonic
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.utils import ClientDisconnected

from referee.harness.isolation.self_protection import allow_descriptors, guarded
from referee.harness.web.server.answers import Answer, Response, Socket
from referee.harness.web.server.connection import ClientConnection, Connections
from referee.harness.web.server.exchange import Channel, Exchange
from referee.harness.web.server.limits import GRACE_S, OPEN_FILES, RequestLimits
from referee.harness.web.server.messages import (
    HEALTH,
    Asked,
    Begin,
    Body,
    End,
    Follow,
    Forget,
    FromMatches,
    FromWeb,
    Gone,
    LinkEnd,
    More,
    Piece,
    Publish,
    Ready,
    Respond,
    Sent,
    Serve,
    Stalled,
    Sync,
    Synced,
)
from referee.harness.web.server.observer import Observer
from referee.harness.web.server.pages import Pages
from referee.harness.web.server.upload import UploadBody, is_upload
from referee.harness.web.server.web_clock import WebClock

BEAT_S = 0.025
STALL_AFTER_S = 0.075
"""A longer gap between two beats is a stall. The clock leaves out the rest of the gap."""
METRICS = "/metrics"
HEALTH_S = 2.0
"""How long the matches may take to say that they are well."""
UNREAD_S = 2.0
"""How long clients may take for the rest of what they were sent when the server ends."""
ENDED = "the server has ended, and this goes no further"
FAILED = "the server has failed, and this goes no further"


class Link(asyncio.Protocol):
    """The link to the process with the matches."""

    def __init__(self) -> None:
        self.serve: asyncio.Future[Serve] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()
        """The process with the matches has ended."""
        self.clock = WebClock()
        self.exchanges: dict[int, Exchange] = {}
        self.channels: dict[int, Channel] = {}
        self._end = LinkEnd(FromMatches)
        self._transport: asyncio.Transport
        self._count = 0
        self._unsent: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for message in self._end.receive(data):
            self._handle(message)

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set()
        self.serve.cancel()  # unless it has come
        for exchange in self.exchanges.values():
            exchange.put(None)

    def send(self, message: FromWeb) -> None:
        """Sends a message after this round of the loop, unless the other end is gone."""
        if self.ended.is_set():
            return
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(self._end.send(message))

    def _flush(self) -> None:
        self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def begin(self, scope: Any, connection: ClientConnection, body: bytes, is_upload: bool) -> tuple[int, Exchange]:
        """Begins an exchange: hands a request over."""
        self._count = number = self._count + 1
        exchange = self.exchanges[number] = Exchange()
        self.send(
            Asked(
                number,
                connection.read_at,
                scope["http_version"],
                scope.get("method", "GET"),
                scope["path"],
                scope["raw_path"],
                scope["query_string"],
                scope["headers"],
                scope["client"],
                body,
                scope["type"] == "websocket",
                is_upload,
            )
        )
        if self.ended.is_set():
            exchange.put(None)
        return number, exchange

    def _handle(self, message: Any) -> None:
        if isinstance(message, Respond | Begin | Piece | Follow | More | End):
            if (exchange := self.exchanges.get(message.id)) is not None:
                exchange.put(message)
        elif isinstance(message, Publish):
            self.channels.setdefault(message.channel, Channel()).publish(message.body)
        elif isinstance(message, Forget):
            self.channels.pop(message.channel, None)
        elif isinstance(message, Sync):
            loop, synced = asyncio.get_running_loop(), lambda: self.send(Synced(message.number, self.clock.now()))
            # Requests that this round of the loop has read are handed over in the next one.
            loop.call_soon(loop.call_soon, loop.call_soon, synced)
        elif isinstance(message, Serve):
            self.serve.set_result(message)


class Application:
    """The ASGI application: checks a request, reads it whole, hands it over, and sends what comes back."""

    def __init__(self, link: Link, limits: RequestLimits, pages: Pages, observer: Observer) -> None:
        self.link = link
        self.limits = limits
        self.pages = pages
        self.observer = observer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.observer.observed(self._serve, scope, receive, send)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        connection: ClientConnection = scope["state"]["connection"]
        connection.request_begins()
        try:
            refusal = _refusal(scope, self.limits)
            if scope["type"] == "websocket":
                return await self._websocket(scope, connection, receive, Socket(send), refusal)
            if refusal is None and is_upload(scope, self.limits):
                upload = UploadBody(receive, self.limits)
                return await self._exchange(scope, connection, b"", Response(send), upload)
            if refusal is None:
                try:
                    async with asyncio.timeout(self.limits.body_s):
                        body = await self._body(receive)
                except TimeoutError:
                    refusal = 408, "the body took too long"
                else:
                    if body is None:
                        return None
                    if len(body) <= self.limits.body_bytes:
                        return await self._answer_whole(scope, connection, body, Response(send))
                    refusal = 413, "the body is too long"
            await Response(send).text(*refusal)
            connection.refuse()
        finally:
            connection.request_ends()

    async def _answer_whole(self, scope: Any, connection: ClientConnection, body: bytes, answer: Response) -> None:
        """Answers a request that has arrived whole."""
        if (page := self.pages.answer(scope)) is not None:
            return await answer.respond(*page)
        if scope["path"] == METRICS and _is_local(scope["client"]) and self.pages.is_named(scope):
            return await answer.respond(*self.observer.metrics())
        if scope["path"] != HEALTH:
            return await self._exchange(scope, connection, body, answer)
        try:
            async with asyncio.timeout(HEALTH_S):
                return await self._exchange(scope, connection, body, answer)
        except TimeoutError:
            return await answer.text(503, f"the matches have not answered for {HEALTH_S:g} s")

    async def _body(self, receive: Any) -> bytes | None:
        """Returns the body, no further than is certain to be too long; None if the client left."""
        message = await receive()
        body: bytes = message.get("body", b"")
        while message["type"] == "http.request" and message["more_body"] and len(body) <= self.limits.body_bytes:
            message = await receive()
            body += message.get("body", b"")
        return None if message["type"] == "http.disconnect" else body

    async def _websocket(
        self, scope: Any, connection: ClientConnection, receive: Any, answer: Socket, refusal: tuple[int, str] | None
    ) -> None:
        await receive()  # the handshake, which is in the scope
        if refusal is not None:
            return await answer.text(*refusal)

        async def hear() -> None:
            while (await receive())["type"] != "websocket.disconnect":
                pass
            for leave in tuple(connection.on_lost.values()):
                leave()

        hearing = asyncio.ensure_future(hear())
        try:
            await self._exchange(scope, connection, b"", answer)
        finally:
            hearing.cancel()

    async def _exchange(
        self,
        scope: Any,
        connection: ClientConnection,
        body: bytes,
        answer: Answer,
        upload: UploadBody | None = None,
    ) -> None:
        link, connection.answers = self.link, upload is None
        number, exchange = link.begin(scope, connection, body, upload is not None)

        def leave() -> None:
            link.send(Gone(number))
            exchange.put(None)

        if connection.lost:
            leave()
        else:
            connection.on_lost[number] = leave
        try:
            await self._answer(number, exchange, connection, answer, upload)
        except ClientDisconnected:
            leave()
        except asyncio.CancelledError:
            leave()
            raise
        finally:
            connection.on_lost.pop(number, None)
            exchange.close()
            del link.exchanges[number]
            if upload is not None and not upload.is_whole:
                connection.refuse()

    async def _answer(
        self,
        number: int,
        exchange: Exchange,
        connection: ClientConnection,
        answer: Answer,
        upload: UploadBody | None,
    ) -> None:
        clock, begun = self.link.clock, False
        while True:
            message = await exchange.next()
            if isinstance(message, bytes):
                await answer.piece(message)
                continue
            if message is None and (connection.lost or not self.link.ended.is_set()):
                return None  # the client has left
            if message is None:
                return await (answer.cut(ENDED) if begun else answer.text(503, ENDED))
            if isinstance(message, Respond):
                return await answer.respond(message.status, message.headers, message.body)
            if isinstance(message, Begin):
                begun = True
                await answer.begin(message.status, message.headers)
            elif isinstance(message, Piece):
                # Taken before the write, which may wake the client and put us off the core.
                at, waits = clock.now(), connection.is_full
                await answer.piece(message.body)
                if not connection.lost:
                    self.link.send(Sent(number, clock.now() if waits else at))
            elif isinstance(message, Follow):
                exchange.follow(self.link.channels.setdefault(message.channel, Channel()))
            elif isinstance(message, More):
                assert upload is not None
                piece = await upload.next()
                if isinstance(piece, tuple):
                    self.link.send(Gone(number))
                    return await answer.text(*piece)
                if piece is not None:  # otherwise the client has left, which is the next message
                    connection.answers = upload.is_whole
                    self.link.send(Body(number, piece, upload.is_whole))
            else:
                return await (answer.cut(FAILED) if message.is_cut else answer.end())


def _refusal(scope: Any, limits: RequestLimits) -> tuple[int, str] | None:
    """Returns a status and a message, or None for a request that may pass."""
    headers = scope["headers"]
    named = dict(headers)
    size = len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(k) + len(v) + 4 for k, v in headers)
    if size > limits.head_bytes:
        return 431, "the head is too long"
    length = named.get(b"content-length", b"0")
    most = limits.upload_bytes if is_upload(scope, limits) else limits.body_bytes
    if len(length) > 15 or int(length) > most:
        return 413, "the body is too long"
    hosts = sum(name == b"host" for name, _ in headers)
    if hosts > 1 or (not hosts and scope["http_version"] == "1.1"):
        return 400, "expected one header Host"
    return None


def _is_local(client: tuple[str, int] | None) -> bool:
    """Tells whether a client is on this machine."""
    return client is not None and ipaddress.ip_address(client[0].partition("%")[0]).is_loopback


async def beat(link: Link) -> None:
    """Notices when this process did not run, and leaves that time out of the clock."""
    stop = monotonic() + STALL_AFTER_S
    while True:
        await asyncio.sleep(BEAT_S)
        now = monotonic()
        if now > stop:
            link.clock.follow(link.clock.offset_s + now - stop)
            link.send(Stalled(link.clock.offset_s))
        stop = now + STALL_AFTER_S


async def main(link_fd: int, listening_fd: int) -> None:
    """Serves until the other process ends."""
    loop, listening = asyncio.get_running_loop(), socket.socket(fileno=listening_fd)
    _, link = await loop.create_connection(Link, sock=socket.socket(fileno=link_fd))
    try:
        order = await link.serve
    except asyncio.CancelledError:
        return
    limits = order.limits
    connections = Connections(limits, link.clock)
    observer = Observer(lambda: len(connections), lambda: link.clock.offset_s, order.access_log)
    config = Config(
        Application(link, limits, order.pages, observer),
        http=connections.make,  # type: ignore[arg-type]
        ws=connections.upgrade,  # type: ignore[arg-type]
        ws_max_size=limits.body_bytes,
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_s,
        timeout_graceful_shutdown=1,
    )
    server = Server(config)
    link.clock = connections.clock = WebClock(order.clock_s)
    link.clock.run()
    link.send(Ready(link.clock.offset_s))
    gc.collect()
    gc.freeze()
    access_log = observer.access_log
    others = [asyncio.ensure_future(each) for each in (connections.close_idle(), beat(link))]
    if access_log is not None:
        others.append(asyncio.ensure_future(access_log.run()))
    serving = asyncio.ensure_future(server.serve([listening]))
    await asyncio.wait((serving, asyncio.ensure_future(link.ended.wait())), return_when=asyncio.FIRST_COMPLETED)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while link.exchanges:
                await asyncio.sleep(0.01)
    with suppress(TimeoutError):
        async with asyncio.timeout(UNREAD_S):
            while connections.have_unsent():
                await asyncio.sleep(0.01)
    server.should_exit = server.force_exit = True
    for each in others:
        each.cancel()
    await serving
    if access_log is not None:
        access_log.flush()


if __name__ == "__main__":
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a malformed request is not worth a line
    allow_descriptors(OPEN_FILES)
    with guarded():
        asyncio.run(main(*map(int, sys.argv[1:])))
