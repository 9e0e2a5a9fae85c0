"""The web process of a contest: `python -m referee.addons.host.web_process FOLDER LISTENING SETTINGS`.

No game is played here. It ends when its standard input does, which is when `referee host` ends.
"""

import asyncio
import logging
import os
import re
import socket
import sys
import tempfile
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.addons.host.access import ID, client_address, request_id
from referee.addons.host.app import Application
from referee.addons.host.settings import LOOPBACK, WebSettings, is_in
from referee.addons.host.store import Store
from referee.addons.host.submissions import COMING
from referee.addons.web.server.access_log import AccessLog
from referee.addons.web.server.connection import ClientConnection, Connections
from referee.addons.web.server.limits import OPEN_FILES, RequestLimits
from referee.addons.web.server.observer import Observer
from referee.addons.web.server.uvicorn_server import make_server
from referee.addons.web.server.web_clock import WebClock
from referee.harness.isolation.self_protection import allow_descriptors, guarded

METRICS = "/metrics"
FORWARDED = (b"x-forwarded-for", b"forwarded", b"via", b"x-real-ip")
"""Headers that a proxy adds."""
SWITCH_S = 0.0005
"""How long a thread that makes a page may keep the interpreter while the thread that answers wants it. Python's default
is ten times as long, and a response gives the interpreter up several times."""
LINK = re.compile("join/[^/]+")
"""The part of a path that is a secret."""
LIMITS = RequestLimits(connections=4000, address_connections=2000)


def limits(settings: WebSettings) -> RequestLimits:
    """Returns the limits of clients. With TLS, a proxy has one address for all of them."""
    most = LIMITS.connections if settings.is_secure else LIMITS.address_connections
    return msgspec.structs.replace(LIMITS, address_connections=most)


class ContestLog(AccessLog):
    """The access log of a contest. The tokens of links are left out of paths, and a line ends with the request's id."""

    def __init__(self, settings: WebSettings) -> None:
        super().__init__(settings.access_log)
        self._settings = settings

    def shown(self, scope: Scope) -> tuple[str, bytes, tuple[str, ...]]:
        address = quote(client_address(Request(scope), self._settings), safe=":.")
        return address or "-", LINK.sub("join/-", scope["path"]).encode(), (request_id(scope),)


class Served:
    """Counts the requests of each connection, so that idle ones can be closed, and notes them.

    Each gets an id, which is in the response, in the access log, and in the log of failures.
    """

    def __init__(self, app: ASGIApp, connections: Connections, access_log: AccessLog | None) -> None:
        self.app = app
        self.observer = Observer(lambda: len(connections), lambda: 0.0, access_log)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request. One that is answered before it has come whole is the last of its connection."""
        connection: ClientConnection = scope["state"]["connection"]
        names = {name for name, _ in scope["headers"]}
        is_whole = not names & {b"content-length", b"transfer-encoding"}

        async def receiving() -> Message:
            nonlocal is_whole
            message = await receive()
            is_whole |= not message.get("more_body", False)
            return message

        scope["state"][ID] = token_hex(4)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [] if is_whole else [(b"connection", b"close")]
                message["headers"] = [*message["headers"], *more, (b"x-request-id", request_id(scope).encode())]
            await send(message)

        connection.request_begins()
        connection.answers = True
        try:
            if scope["path"] == METRICS and _is_local(scope):
                status, headers, body = self.observer.metrics()
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": body})
            else:
                await self.observer.observed(self.app, scope, receiving, sending)
        finally:
            if not is_whole:
                connection.refuse()
            connection.request_ends()


def _is_local(scope: Scope) -> bool:
    """Tells whether a client is on this machine, and no proxy that hands over the request of another one."""
    forwarded = any(name in FORWARDED for name, _ in scope["headers"])
    return not forwarded and scope["client"] is not None and is_in(scope["client"][0], LOOPBACK)


async def main(folder: Path, listening_fd: int, settings: WebSettings) -> None:
    """Serves until standard input ends."""
    os.umask(0o077)  # what it writes is in the contest's folder
    (folder / COMING).mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(folder / COMING)  # where uploads go while they come: /tmp may be memory
    app = await asyncio.to_thread(lambda: Application(Store(folder), settings))
    connections = Connections(limits(settings), WebClock())
    access_log = ContestLog(settings) if settings.access_log else None
    served, loop = Served(app, connections, access_log), asyncio.get_running_loop()
    server = make_server(served, connections, has_sockets=False)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    connections.clock.run()

    def ended() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            server.should_exit = True

    loop.add_reader(0, ended)
    others: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(each) for each in (connections.close_idle(), app.watch())
    ]
    if access_log is not None:
        others.append(asyncio.ensure_future(access_log.run()))
    await server.serve([socket.socket(fileno=listening_fd)])
    for each in others:
        each.cancel()
    if access_log is not None:
        access_log.flush()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    allow_descriptors(OPEN_FILES)
    sys.setswitchinterval(SWITCH_S)
    with guarded():
        asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), msgspec.json.decode(sys.argv[3], type=WebSettings)))
