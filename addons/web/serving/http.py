"""The common part of the Arena's and AIBG's servers: host names, strict request bodies, JSON responses, limits."""

import gc
import json
import socket
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.addons.web.addresses import bracketed
from referee.addons.web.guard import FOREIGN, is_foreign
from referee.addons.web.server.host_names import may_be_called, read_aliases
from referee.addons.web.server.limits import OPEN_FILES, RequestLimits, listen, where_to_listen
from referee.addons.web.server.link import WebLink, open_link
from referee.addons.web.server.pages import Page, Pages
from referee.harness.isolation.self_protection import allow_descriptors
from referee.protocol.codec import JSON
from referee.protocol.errors import RemoteProtocolError

LIMITS = RequestLimits(idle_s=30)
"""Bots think for longer between two requests than pages do."""
UNREAD_MS = 20_000
"""The kernel closes a connection whose client reads nothing for so long."""
OPEN_REQUESTS = 2000
FULL_COLLECTIONS = 50
"""Every how many collections of the middle generation the garbage collector searches everything.

A full search takes tens of milliseconds with hundreds of battles. Python's default of 10 delays one move in a hundred.
"""

_encode: Final = msgspec.json.Encoder().encode


def reply(status: int, value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Returns a JSON response."""
    return Response(_encode(value), status, headers, "application/json")


async def members(request: Request, arrays: bool = False) -> dict[str, Any]:
    """Returns the members of a JSON object or a form, and none of any other body. Raises HTTPException 400.

    Form text without `=` is a member without a value. With `arrays`, the members of a JSON array are named 0, 1, …;
    without, an array is refused. A lone text, number, true, false or null is always refused.
    """
    text = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        try:
            return dict(parse_qsl(text.decode(), keep_blank_values=True, max_num_fields=100))
        except (ValueError, UnicodeDecodeError):
            raise HTTPException(400, "the body is not a valid form") from None
    if kind != "application/json" and not kind.endswith("+json"):
        return {}
    return json_object(text, arrays) if text.strip() else {}


def json_object(text: bytes, arrays: bool = False) -> dict[str, Any]:
    """Reads a JSON object as strictly as a bot's answer. Raises HTTPException 400."""
    try:
        value = JSON.decode(b" ".join(text.split(b"\n")))
    except RemoteProtocolError:
        raise HTTPException(400, f"the body is not a JSON object: {_json_error(text)}") from None
    if arrays and isinstance(value, list):
        return {str(number): member for number, member in enumerate(value)}
    if not isinstance(value, dict):
        raise HTTPException(400, "the body is JSON, but not an object")
    return value


def _json_error(text: bytes) -> str:
    """Says why a body is refused, for the author of the client; the codec's messages speak of a bot's lines."""
    if text.startswith(BOM_UTF8):
        return "it starts with a byte order mark"
    try:
        json.loads(text.decode())
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except json.JSONDecodeError as error:
        return str(error)
    except (RecursionError, ValueError):
        pass
    return "it contains NaN, Infinity, a number out of range, a lone surrogate, or too many levels"


class Gate:
    """Refuses requests for other host names, of other HTTP versions, and too many at once.

    Normalises paths: absolute targets, which clients behind a proxy send, and a trailing slash.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app = app
        self.names = names
        self.open_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        refusal = self._refusal(scope)
        if refusal is not None:
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            status, why = refusal
            body = {"error": why, "message": why}  # the Arena's member, and AIBG's
            return await reply(status, body)(scope, receive, send)
        self.open_requests += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open_requests -= 1
        return None

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Returns a status and a message, or None for a request that may pass."""
        if not scope["http_version"].startswith("1."):
            return 505, "this server speaks HTTP/1.1"
        if self.open_requests >= OPEN_REQUESTS:
            return 503, "too many open requests; try again later"
        host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin1")
        path = scope["path"]
        if not path.startswith("/"):
            try:
                parts = urlsplit(path)
            except ValueError:
                return 400, "the target is not a path"
            host, path = parts.netloc or host, parts.path
        if not may_be_called(host, self.names):
            return 403, "this server does not have that name; --alias adds one"
        scope["path"] = "/" + path.strip("/")
        return None


def own_pages(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Returns the endpoint without requests from pages of another origin, which could send them as a form."""

    async def guarded(request: Request) -> Response:
        if is_foreign(request.scope):
            return reply(403, {"error": FOREIGN, "message": FOREIGN})
        return await endpoint(request)

    return guarded


async def refused(request: Request, error: HTTPException) -> Response:
    """Answers a request that was refused."""
    return reply(error.status_code, {"error": error.detail}, error.headers)


async def failed(request: Request, error: Exception) -> Response:
    """Answers after a bug of ours. The log says what it was."""
    return reply(500, {"error": "internal error"})


async def until_gone(receive: Receive, scope: trio.CancelScope) -> None:
    """Cancels the scope when the client disconnects, and ignores what it sends until then."""
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass
    scope.cancel()


ON_ERROR: dict[Any, Callable[..., Any]] = {HTTPException: refused, Exception: failed}
"""For `Starlette(exception_handlers=…)`."""


@asynccontextmanager
async def serving(
    app: ASGIApp,
    bind: str,
    names: Iterable[str],
    pages: Mapping[str, Page] = MappingProxyType({}),
    access_log: Path | None = None,
    others: Sequence[socket.socket] = (),
) -> AsyncIterator[tuple[str, WebLink]]:
    """Serves at `bind` while the block runs, and yields the address, such as `127.0.0.1:8080`, and the link.

    `names` are host names under which clients may call the server, besides localhost and any address. The
    web process sends `pages` itself. `access_log` is the file for a line about each request. `others` are as in
    `open_link`. Raises UsageError and RunError.
    """
    listening, known = listening_at(bind), read_aliases(names)
    address = address_of(listening)
    async with open_link(
        Gate(app, known), listening, LIMITS, Pages(dict(pages), known), access_log, others=others
    ) as link:
        with few_collections():
            yield address, link


@contextmanager
def few_collections() -> Iterator[None]:
    """Lets the garbage collector search everything less often while the block runs."""
    collections = gc.get_threshold()
    gc.collect()
    gc.freeze()  # clients would wait while the collector searches what exists already
    gc.set_threshold(*collections[:2], FULL_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*collections)


def address_of(listening: socket.socket) -> str:
    """Returns where a socket listens, as ADDRESS:PORT."""
    host, port = listening.getsockname()[:2]
    return f"{bracketed(host)}:{port}"


def listening_at(bind: str) -> socket.socket:
    """Returns a socket that listens at ADDRESS:PORT. Raises UsageError."""
    allow_descriptors(OPEN_FILES)
    listening = listen(*where_to_listen(bind, f"cannot listen on {bind!r}"))
    # Accepted connections inherit these, which close the connection of a client that stops reading or vanishes.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
    return listening
