"""The web process: serves HTTP/1.1 and WebSockets with Uvicorn, and hands whole requests to the process with matches.

`python -m referee.addons.web.server.web_process LISTENING LINK …` takes descriptors: the socket that listens, and
sockets to the processes with matches (`referee.addons.web.server.link`), of which the first has started this one. No
thread or task of a match runs here, so a request is read when it comes.

If the process with the matches ends, every open stream gets a last event that says so, every open request the status
503, and every WebSocket is closed.
"""

import asyncio
import gc
import ipaddress
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected

from referee.addons.web.server.access_log import AccessLog
from referee.addons.web.server.answers import Answer, Response, Socket
from referee.addons.web.server.connection import ClientConnection, Connections
from referee.addons.web.server.exchange import Channel, Exchange
from referee.addons.web.server.limits import GRACE_S, OPEN_FILES, RequestLimits
from referee.addons.web.server.messages import (
    HEALTH,
    Asked,
    Begin,
    End,
    Follow,
    Forget,
    FromMatches,
    FromWeb,
    Gone,
    LinkEnd,
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
from referee.addons.web.server.observer import Observer
from referee.addons.web.server.pages import Pages
from referee.addons.web.server.shards import candidates
from referee.addons.web.server.uvicorn_server import make_server
from referee.addons.web.server.web_clock import OwnClock, WebClock
from referee.harness.isolation.self_protection import allow_descriptors, guarded

METRICS = "/metrics"
HEALTH_S = 2.0
"""How long the matches may take to say that they are well."""
BEGIN_S = 10.0
"""How long the processes with matches may take to say that they serve."""
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

    @property
    def has_ended(self) -> bool:
        """Tells whether that process has ended."""
        return self.ended.is_set()

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

    def begin(self, scope: Any, connection: ClientConnection, body: bytes) -> tuple[int, Exchange]:
        """Begins an exchange: hands a whole request over."""
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
            )
        )
        if self.ended.is_set():
            exchange.put(None)
        return number, exchange

    def _handle(self, message: Any) -> None:
        if isinstance(message, Respond | Begin | Piece | Follow | End):
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

    def __init__(self, links: Sequence[Link], limits: RequestLimits, pages: Pages, observer: Observer) -> None:
        self.links = links
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
        if scope["path"] == HEALTH:
            return await answer.text(*await self._health(scope, connection))
        return await self._exchange(scope, connection, body, answer)

    async def _health(self, scope: Any, connection: ClientConnection) -> tuple[int, str]:
        """Asks every process with matches whether it answers, and returns status and text."""
        exchanges = [(link, *link.begin(scope, connection, b"")) for link in self.links]
        try:
            async with asyncio.timeout(HEALTH_S):
                for _, _, exchange in exchanges:
                    if await exchange.next() is None:
                        return 503, ENDED
        except TimeoutError:
            return 503, f"the matches have not answered for {HEALTH_S:g} s"
        finally:
            for link, number, _ in exchanges:
                link.send(Gone(number))
                del link.exchanges[number]
        return 200, "ok"

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
    ) -> None:
        """Lets a process with matches answer; another one if that does not know what is asked for."""
        connection.answers = True
        *others, last = candidates(self.links, scope, body)
        for link in others:
            if await self._exchange_with(link, scope, connection, body, answer, passes_on=True):
                return
        await self._exchange_with(last, scope, connection, body, answer)

    async def _exchange_with(
        self,
        link: Link,
        scope: Any,
        connection: ClientConnection,
        body: bytes,
        answer: Answer,
        passes_on: bool = False,
    ) -> bool:
        """Returns whether the client has its answer. With `passes_on`, it is not sent a 404."""
        number, exchange = link.begin(scope, connection, body)

        def leave() -> None:
            link.send(Gone(number))
            exchange.put(None)

        if connection.lost:
            leave()
        else:
            connection.on_lost[number] = leave
        try:
            return await self._answer(link, number, exchange, connection, answer, passes_on)
        except ClientDisconnected:
            leave()
            return True
        except asyncio.CancelledError:
            leave()
            raise
        finally:
            connection.on_lost.pop(number, None)
            exchange.close()
            del link.exchanges[number]

    async def _answer(
        self,
        link: Link,
        number: int,
        exchange: Exchange,
        connection: ClientConnection,
        answer: Answer,
        passes_on: bool,
    ) -> bool:
        clock, begun = link.clock, False
        while True:
            message = await exchange.next()
            if isinstance(message, bytes):
                await answer.piece(message)
            elif message is None:
                if not connection.lost and link.has_ended:
                    await (answer.cut(ENDED) if begun else answer.text(503, ENDED))
                return True
            elif isinstance(message, Respond):
                if message.status == 404 and passes_on:
                    return False
                await answer.respond(message.status, message.headers, message.body)
                return True
            elif isinstance(message, Begin):
                begun = True
                await answer.begin(message.status, message.headers)
            elif isinstance(message, Piece):
                # Taken before the write, which may wake the client and put us off the core.
                at, waits = clock.now(), connection.is_full
                await answer.piece(message.body)
                if not connection.lost:
                    link.send(Sent(number, clock.now() if waits else at))
            elif isinstance(message, Follow):
                exchange.follow(link.channels.setdefault(message.channel, Channel()))
            else:
                await (answer.cut(FAILED) if message.is_cut else answer.end())
                return True


def _refusal(scope: Any, limits: RequestLimits) -> tuple[int, str] | None:
    """Returns a status and a message, or None for a request that may pass."""
    headers = scope["headers"]
    named = dict(headers)
    size = len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(k) + len(v) + 4 for k, v in headers)
    if size > limits.head_bytes:
        return 431, "the head is too long"
    length = named.get(b"content-length", b"0")
    if len(length) > 15 or int(length) > limits.body_bytes:
        return 413, "the body is too long"
    hosts = sum(name == b"host" for name, _ in headers)
    if hosts > 1 or (not hosts and scope["http_version"] == "1.1"):
        return 400, "expected one header Host"
    return None


def _is_local(client: tuple[str, int] | None) -> bool:
    """Tells whether a client is on this machine."""
    return client is not None and ipaddress.ip_address(client[0].partition("%")[0]).is_loopback


async def main(listening_fd: int, *link_fds: int) -> None:
    """Serves until the process that has started this one ends."""
    loop, listening = asyncio.get_running_loop(), socket.socket(fileno=listening_fd)
    links = [(await loop.create_connection(Link, sock=socket.socket(fileno=each)))[1] for each in link_fds]
    await asyncio.wait([link.serve for link in links], timeout=BEGIN_S)
    orders = [link.serve.result() for link in links if link.serve.done() and not link.serve.cancelled()]
    if not links[0].serve.done() or links[0].serve.cancelled():
        return

    def stalled(offset_s: float) -> None:
        for link in links:
            link.send(Stalled(offset_s))

    order, clock = links[0].serve.result(), OwnClock(max(each.clock_s for each in orders), stalled)
    limits = order.limits
    connections = Connections(limits, clock)
    access_log = None if order.access_log is None else AccessLog(order.access_log)
    observer = Observer(lambda: len(connections), lambda: clock.offset_s, access_log)
    server = make_server(Application(links, limits, order.pages, observer), connections)
    clock.run()
    for link in links:
        link.clock = clock
        link.send(Ready(clock.offset_s))
    gc.collect()
    gc.freeze()
    others = [asyncio.ensure_future(each) for each in (connections.close_idle(), clock.beat_on())]
    if access_log is not None:
        others.append(asyncio.ensure_future(access_log.run()))
    serving = asyncio.ensure_future(server.serve([listening]))
    await asyncio.wait((serving, asyncio.ensure_future(links[0].ended.wait())), return_when=asyncio.FIRST_COMPLETED)
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while links[0].exchanges:
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
    allow_descriptors(OPEN_FILES)
    with guarded():
        asyncio.run(main(*map(int, sys.argv[1:])))
