"""Lets only our own pages ask, with a token that no other account and no other page can read.

A foreign page may send requests to any port of this machine, and a foreign host name may lead here (DNS rebinding). So
`Host` and `Origin` are checked first. The token is in a header, never in a cookie. A page gets it from the fragment of
its address, which is in no request, log or Referer.
"""

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hmac import compare_digest
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.addons.web.addresses import EVERYWHERE, addresses, bracketed, reachable

HEADER = "x-referee-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
FOREIGN = "pages of another origin may not send requests here"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """Returns the valid values of `Host` for a server that listens on `host`.

    A server on all addresses accepts each of them and the machine's name. Browsers omit port 80.
    """
    names = {"127.0.0.1", "localhost", "[::1]", bracketed(host)}
    if host in EVERYWHERE:
        names |= {socket.gethostname().lower(), *map(bracketed, addresses())}
    return frozenset({f"{name}:{port}" for name in names} | (names if port == 80 else set()))


class Guarded:
    """Answers 403 to requests for another `Host` or from another origin's page. Adds `HEADERS` to all responses."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})  # the viewer uses none
            return
        if (refusal := _refusal(scope, self.hosts)) is not None:
            await PlainTextResponse(f"{refusal}\n", 403)(scope, receive, send)
            return

        await self.app(scope, receive, with_headers(send, HEADERS))


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Returns a function that sends a response, with these headers where it does not have them."""

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            added = [(k.encode(), v.encode()) for k, v in headers.items() if k.encode() not in present]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return headed


def _refusal(scope: Scope, hosts: frozenset[str]) -> str | None:
    """Returns why a request is refused; None if it is not."""
    host = _values(scope, b"host")
    if len(host) != 1 or host[0] not in hosts:
        return "this server has another name"
    return FOREIGN if is_foreign(scope) else None


def is_foreign(scope: Scope) -> bool:
    """Tells whether a request comes from a page of another origin. Programs send no `Origin`, browsers do."""
    host, sites = "".join(_values(scope, b"host")), _values(scope, b"sec-fetch-site")
    return not all(_is_own(origin, host, sites) for origin in _values(scope, b"origin"))


def _is_own(origin: str, host: str, sites: Sequence[str]) -> bool:
    """Tells whether a page of that origin is ours. The scheme does not count, because a proxy may terminate TLS.

    A proxy may also change `Host`. Then the browser's `Sec-Fetch-Site` decides, which no page can set. Browsers send it
    to HTTPS addresses and to this machine, so never to a foreign name that leads here by plain HTTP.
    """
    scheme, _, rest = origin.partition("://")
    if scheme not in ("http", "https"):
        return False
    if sites:
        return all(site == "same-origin" for site in sites)
    return rest == host


def _values(scope: Scope, header: bytes) -> list[str]:
    """Returns the values of a header in lower case."""
    return [value.decode("latin-1").lower() for name, value in scope["headers"] if name == header]


def link(host: str, port: int, token: str, place: str = "") -> str:
    """Returns the address of the page with a token. If the server listens on all addresses, others can reach it.

    `place`: what the page opens, as `match=0&`.
    """
    return f"http://{reachable(host)}:{port}/#{place}token={token}"


def bearer(request: Request, tokens: Mapping[str, object]) -> str | None:
    """Returns the token in a request, or None if it is not one of `tokens`. Compares in constant time."""
    sent = request.headers.get(HEADER, "").encode()
    matching = [token for token in tokens if compare_digest(token.encode(), sent)]
    return matching[0] if matching else None


@contextmanager
def redirect_file(url: str) -> Iterator[Path]:
    """Writes a page that only we can read and that redirects to `url`; removed after the block.

    A browser's command line is public.
    """
    with tempfile.NamedTemporaryFile("w", prefix="referee-", suffix=".html", delete=False) as file:  # mode 0600
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}"><title>referee</title>\n')
    try:
        yield Path(file.name)
    finally:
        with suppress(OSError):
            os.unlink(file.name)
