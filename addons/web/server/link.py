"""Serves an ASGI application whose HTTP is read and written by a web process of its own.

The application runs here, in the process with the matches, and answers whole requests. The two processes speak over a
pair of sockets (`messages`), which no other program can open. If the web process ends, another one takes its place.
Open requests are lost. The clocks of the link and of this loop's matches stand meanwhile, and new connections wait at
the listening socket, which stays open here.

Needs the extra `web`.
"""

import logging
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace
from starlette.types import ASGIApp

from referee.addons.web.server.access_log import check_log
from referee.addons.web.server.limits import GRACE_S, RequestLimits
from referee.addons.web.server.messages import (
    HEALTH,
    Asked,
    FromMatches,
    FromWeb,
    Gone,
    LinkEnd,
    Ready,
    Respond,
    Sent,
    Serve,
    Stalled,
    State,
    Sync,
    Synced,
)
from referee.addons.web.server.pages import Pages
from referee.addons.web.server.request import Channel, Exchange
from referee.addons.web.server.start import Started
from referee.addons.web.server.web_clock import WebClock
from referee.harness.common.errors import RunError
from referee.harness.common.nurseries import ungrouped
from referee.harness.process.stall_clock import stall_clock
from referee.protocol.errors import RemoteProtocolError

STARTS = 5
"""A web process that ends so often within `STEADY_S` of its start cannot work here."""
STEADY_S = 5.0
START_S = 20.0
END_S = 3.0

log = logging.getLogger("referee.web")


class Lent:
    """Our end of a link to a web process that another process has started."""

    process = None
    code = 0

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)

    def end(self) -> None:
        """Closes the link."""
        self.socket.close()


NextWeb = Callable[[], Awaitable[Started | Lent | None]]
"""Returns the next web process; None: there will be none."""


class WebLink(trio.abc.Instrument):
    """The link to the web process. Made by `open_link`.

    It is an instrument of the loop, to write what all tasks have sent at once, before the loop waits.
    """

    def __init__(self, app: ASGIApp, next_web: NextWeb, order: Serve, nursery: trio.Nursery) -> None:
        self.app = app
        self.clock = WebClock()
        """Reads as the clock of the web process does."""
        self.process: subprocess.Popen[bytes] | None = None
        """The web process; None before the first, and if another process has started it."""
        self._next_web = next_web
        self._order = order
        self.nursery = nursery
        self._up = trio.Event()
        self._ends = False
        self._ended = trio.Event()
        self._running = trio.CancelScope(shield=True)
        self._socket: socket.socket
        self._end: LinkEnd
        self._unsent = bytearray()
        self._is_full = False
        """The socket is full. `_write_on` waits until it is not."""
        self._has_unsent = trio.Event()
        self._token = trio.lowlevel.current_trio_token()
        self._exchanges: dict[int, Exchange] = {}
        self.channels: dict[int, Channel] = {}
        self._syncs: dict[int, tuple[trio.Event, list[float]]] = {}
        self._count = 0

    # For the server's own tasks.

    async def latest(self) -> float:
        """Returns the web process's time. Every request that it has read before is known here by then."""
        while True:
            await self._up.wait()
            self._count = number = self._count + 1
            done, at = self._syncs[number] = trio.Event(), []
            self.send(Sync(number))
            await done.wait()
            if at:
                await trio.lowlevel.checkpoint()  # the tasks of those requests begin meanwhile
                return at[0]

    def channel(self) -> "Channel":
        """Opens a channel."""
        self._count += 1
        return Channel(self, self._count)

    async def started(self) -> None:
        """Waits until requests are read."""
        await self._up.wait()

    async def ended(self) -> None:
        """Waits until there will be no further web process."""
        await self._ended.wait()

    async def run(self) -> None:
        """Keeps a web process running until `end`, even if it is cancelled. Raises RunError if that cannot be done."""
        quick = 0
        try:
            with self._running:
                while True:
                    began = trio.current_time()
                    code = await self._serve()
                    if self._ends or code is None:
                        return
                    if self.process is None:
                        continue  # the process that has started it says so, and starts the next one
                    quick = 1 if trio.current_time() - began > STEADY_S else quick + 1
                    log.warning(
                        "the web process ended with exit code %s; the clocks stand until the next one runs", code
                    )
                    if quick == STARTS:
                        raise RunError(f"the web process ended {STARTS} times at once, last with exit code {code}")
        finally:
            stall_clock().go_on()
            self._ended.set()

    async def end(self) -> None:
        """Gives open requests a moment, then ends the web process, which sends open streams a last event."""
        with trio.move_on_after(GRACE_S):
            while self._exchanges:
                await trio.sleep(0.01)
        await trio.lowlevel.checkpoint()  # the last messages are written meanwhile
        self._ends = True
        if self._up.is_set():
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            with trio.move_on_after(END_S):
                await self._ended.wait()
        self._running.cancel()
        await self._ended.wait()

    # For the exchanges.

    def state(self, number: int) -> State:
        """Returns the state of an exchange."""
        return self._end.state(number)

    def send(self, message: FromMatches) -> None:
        """Sends a message when the loop waits next. Never waits itself."""
        self._unsent += self._end.send(message)

    def before_io_wait(self, timeout: float) -> None:
        if self._unsent and not self._is_full:
            self._write()
            if self._unsent:
                self._is_full = True
                self._token.run_sync_soon(self._has_unsent.set)

    # Internal.

    async def _serve(self) -> int | None:
        """Runs one web process to its end, and returns its exit code; None: there will be no other."""
        web = await self._next_web()
        if web is None:
            return None
        self.process = web.process
        web.socket.setblocking(False)
        self._socket, self._end, self._unsent = web.socket, LinkEnd(FromWeb), bytearray()
        self._is_full, self._has_unsent = False, trio.Event()
        try:
            self.send(replace(self._order, clock_s=self.clock.now()))
            for channel in self.channels.values():
                channel.publish_again()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write_on)
                await self._read()
                nursery.cancel_scope.cancel()
            if self._ends and web.process is not None:
                with trio.move_on_after(END_S):
                    await trio.to_thread.run_sync(web.process.wait, abandon_on_cancel=True)
        except RemoteProtocolError:
            log.exception("the web process broke the protocol of the link")
        finally:
            self._lose()
            web.end()
        return web.code

    async def _read(self) -> None:
        """Handles messages until the other end is closed."""
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            try:
                data = self._socket.recv(1 << 18)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not data:
                return
            for message in self._end.receive(data):
                self._handle(message)

    def _write(self) -> None:
        """Writes as much as fits into the socket."""
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the web process has ended, which `_read` is about to notice
            self._unsent.clear()

    async def _write_on(self) -> None:
        """Writes the rest whenever the socket was full."""
        while True:
            await self._has_unsent.wait()
            self._has_unsent = trio.Event()
            while self._unsent:
                await trio.lowlevel.wait_writable(self._socket)
                self._write()
            self._is_full = False

    def _handle(self, message: Any) -> None:
        if isinstance(message, Asked) and message.path == HEALTH:
            self.send(Respond(message.id, 200, [(b"content-type", b"text/plain"), (b"content-length", b"3")], b"ok\n"))
        elif isinstance(message, Asked):
            exchange = self._exchanges[message.id] = Exchange(self, message)
            self.nursery.start_soon(exchange.run)
        elif isinstance(message, Sent):
            exchange = self._exchanges[message.id]
            exchange.sent_at = message.at
            exchange.changed()
        elif isinstance(message, Gone):
            self._exchanges[message.id].leave()
        elif isinstance(message, Synced):
            done, at = self._syncs.pop(message.number)
            at.append(message.at)
            done.set()
        elif isinstance(message, Stalled):
            self.clock.follow(message.offset_s)
        elif isinstance(message, Ready):
            self.clock.follow(message.offset_s)
            stall_clock().go_on()
            self._up.set()

    def _lose(self) -> None:
        """Ends all exchanges with a web process that is gone, and stops the clocks until the next one is there."""
        self._up = trio.Event()
        if self.clock.is_running:
            self.clock.stop()
            stall_clock().stand_still()
        for done, _ in self._syncs.values():
            done.set()
        self._syncs.clear()
        for exchange in self._exchanges.values():
            exchange.is_cut = True
            exchange.leave()
        self._exchanges.clear()

    def forget(self, exchange: "Exchange") -> None:
        """Forgets an exchange that is over."""
        if self._exchanges.get(exchange.request.id) is exchange:
            del self._exchanges[exchange.request.id]


@asynccontextmanager
async def open_link(
    app: ASGIApp,
    listening: socket.socket,
    limits: RequestLimits = RequestLimits(),  # noqa: B008
    pages: Pages = Pages(),  # noqa: B008
    access_log: Path | None = None,
    web: Started | None = None,
    others: Sequence[socket.socket] = (),
) -> AsyncIterator[WebLink]:
    """Serves an application while the block runs, on a socket from `listen`, which it takes over.

    `web` is the web process if it was started already. It sends `pages` itself. `access_log` is the file for a line
    about each request. `others` lead to further processes with matches, in `open_lent_link`. Raises RunError, and
    UsageError if that file cannot be written.
    """
    if access_log is not None:
        check_log(access_log)
    order = Serve(limits, 0.0, pages, None if access_log is None else str(access_log.absolute()))
    first = [] if web is None else [web]

    async def next_web() -> Started:
        started = first.pop() if first else Started(listening, 1 + len(others))
        for other, link in zip(others, started.others, strict=True):
            with link, suppress(OSError):  # that process has ended, and its matches with it
                socket.send_fds(other, [b"w"], [link.fileno()])
        return started

    with listening, ungrouped():
        async with trio.open_nursery() as nursery, _open(WebLink(app, next_web, order, nursery)) as link:
            with trio.move_on_after(START_S) as patience:
                await link.started()
            if patience.cancelled_caught:
                raise RunError(f"the web process did not start within {START_S:g} s; try again")
            yield link


@asynccontextmanager
async def open_lent_link(app: ASGIApp, control: socket.socket) -> AsyncIterator[WebLink]:
    """Serves an application behind the web process of another process, which sends the links through a socket.

    The link ends when that process does.
    """

    async def next_web() -> Lent | None:
        await trio.lowlevel.wait_readable(control)
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        return Lent(descriptors[0]) if descriptors else None

    order = Serve(RequestLimits(), 0.0)
    with control, ungrouped():
        async with trio.open_nursery() as nursery, _open(WebLink(app, next_web, order, nursery)) as link:
            yield link


@asynccontextmanager
async def _open(link: WebLink) -> AsyncIterator[WebLink]:
    """Runs a link while the block runs."""
    trio.lowlevel.add_instrument(link)
    link.nursery.start_soon(link.run)
    try:
        yield link
    finally:
        with trio.CancelScope(shield=True):
            await link.end()
        trio.lowlevel.remove_instrument(link)
        link.nursery.cancel_scope.cancel()
