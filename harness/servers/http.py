"""What every front has in common: who is let in, requests read as strictly as a bot's answers, answers as JSON.

The server and its bounds are those of the pages (`referee.harness.web.server`); beside them, requests in work have a
number, and whoever does not read what is sent is left by the kernel.
"""

import gc
import json
import socket
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.harness.errors import UsageError
from referee.harness.isolation.self_protection import allow_descriptors
from referee.harness.servers.arrival import Arrivals
from referee.harness.servers.host_names import may_be_called, read_aliases
from referee.harness.web import server
from referee.harness.web.guard import bracketed
from referee.protocol.codec import JSON
from referee.protocol.errors import RemoteProtocolError

BOUNDS = server.Bounds(idle_s=30)
"""A connection may be silent for so long between two requests: clients think longer than pages do."""
UNREAD_MS = 20_000
"""How long what was sent may stay unread."""
REQUESTS = 2000
"""So many may be in work at a time."""
OPEN_FILES = 8192
FULL_SEARCHES = 50
"""Every so many searches for garbage among what is young, all is searched: that takes tens of milliseconds where there
are hundreds of battles, and with Python's own 10 it would be often enough for one move in a hundred to wait for it."""

_encode: Final = msgspec.json.Encoder().encode


def reply(status: int, value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(_encode(value), status, headers, "application/json")


async def members(request: Request, arrays: bool = False) -> dict[str, Any]:
    """The members of a body: of a JSON object, of a form, or none of anything else. HTTPException 400 for broken JSON.

    A form's text without a `=` is a member without a value. `arrays`: a JSON array's members are called 0, 1, …;
    otherwise it is refused too, as a lone text, number, true, false and null always are.
    """
    text = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        try:
            return dict(parse_qsl(text.decode(), keep_blank_values=True, max_num_fields=100))
        except (ValueError, UnicodeDecodeError):
            raise HTTPException(400, "the body is no form") from None
    if kind != "application/json" and not kind.endswith("+json"):
        return {}
    return json_object(text, arrays) if text.strip() else {}


def json_object(text: bytes, arrays: bool = False) -> dict[str, Any]:
    """A JSON object, as strictly read as a bot's answer. HTTPException 400 for anything else."""
    try:
        value = JSON.decode(b" ".join(text.split(b"\n")))
    except RemoteProtocolError:
        raise HTTPException(400, f"the body is no JSON object: {_why_not(text)}") from None
    if arrays and isinstance(value, list):
        return {str(number): member for number, member in enumerate(value)}
    if not isinstance(value, dict):
        raise HTTPException(400, "the body is JSON, but no object")
    return value


def _why_not(text: bytes) -> str:
    """Why a body is refused, in words for whoever wrote the request; those of a bot's answer speak of lines."""
    if text.startswith(BOM_UTF8):
        return "it begins with a byte order mark"
    try:
        json.loads(text.decode())
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except json.JSONDecodeError as error:
        return str(error)
    except (RecursionError, ValueError):
        pass
    return "it holds NaN, Infinity, a number out of range, half a character or too many levels"


class Gate:
    """In front of every application: who may be called by which name, how many at a time, and what a failure tells."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self.app = app
        self.names = read_aliases(names)
        self.working = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        refusal = self._refusal(scope)
        if refusal is not None:
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            status, why = refusal
            body = {"error": why, "message": why}  # the one word is the Arena's, the other AIBG's
            return await reply(status, body)(scope, receive, send)
        self.working += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.working -= 1
        return None

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words for what is not let in. Absolute targets, as clients behind a proxy send them, and a slash
        at the end are made plain."""
        if not scope["http_version"].startswith("1."):
            return 505, "HTTP/1.1 is spoken here"
        if self.working >= REQUESTS:
            return 503, "too many requests at a time; come again"
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin1")
        path = scope["path"]
        if not path.startswith("/"):
            try:
                parts = urlsplit(scope["path"])
            except ValueError:
                return 400, "the target is no path"
            host, path = parts.netloc or host, parts.path
        if not may_be_called(host, self.names):
            return 403, "this server is not called by that name; --alias adds one"
        scope["path"] = "/" + path.strip("/")
        return None


async def refused(request: Request, error: Exception) -> Response:
    """What a request is told that was refused."""
    assert isinstance(error, HTTPException)
    return reply(error.status_code, {"error": error.detail}, error.headers)


async def failed(request: Request, error: Exception) -> Response:
    """What a request is told upon a bug of ours; what it was stands in the log."""
    return reply(500, {"error": "internal error"})


async def gone(request: Request, error: Exception) -> Response:
    """A client that left while it was read."""
    return Response(status_code=400)


async def until_gone(receive: Receive, scope: trio.CancelScope) -> None:
    """Ends the scope when a client has left. What it says does not matter."""
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass
    scope.cancel()


ON_ERROR: Mapping[Any, Callable[..., Any]] = {HTTPException: refused, ClientDisconnect: gone, Exception: failed}
"""For `Starlette(exception_handlers=…)`."""


@asynccontextmanager
async def serving(
    app: ASGIApp,
    bind: str | socket.socket,
    names: Iterable[str],
    arrivals: Arrivals,
    others: server.Others | None = None,
) -> AsyncIterator[str]:
    """Serves while the block runs; gives the address, such as `127.0.0.1:8080`. UsageError if it cannot be had.

    What is read is stamped by `arrivals`. `others` serve on the same socket, which `listening_at` made.
    """
    allow_descriptors(OPEN_FILES)
    listening = listening_at(bind) if isinstance(bind, str) else bind
    host, port = listening.getsockname()[:2]
    gc.collect()
    gc.freeze()  # what is there by now stays: each later search for what is gone would go through it, and clients wait
    usual = gc.get_threshold()
    gc.set_threshold(*usual[:2], FULL_SEARCHES)
    async with server.serving(Gate(app, names), listening, BOUNDS, lambda: arrivals.latest, others):
        try:
            yield f"{bracketed(host)}:{port}"
        finally:
            gc.set_threshold(*usual)


def listening_at(bind: str) -> socket.socket:
    """A socket that listens at ADDRESS:PORT. UsageError."""
    host, colon, port = bind.rpartition(":")
    if not colon or not port.isdigit():
        raise UsageError(f"{bind!r} cannot be listened at: wanted is ADDRESS:PORT such as 127.0.0.1:8080")
    listening = server.listen(host.strip("[]"), int(port))
    # What is accepted here has these too: a client that stops reading, or that is gone without a word, is left.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
    return listening
