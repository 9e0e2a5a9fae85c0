"""Who may look: requests for us alone, from our own pages, with a token that no other account and no page can read.

A page of somebody else's may send requests to any port of this machine, and a name of its own may lead there (DNS
rebinding): so `Host` and `Origin` are looked at first, and a token stands in a header of its own, never in a cookie.
A token comes to the page in the fragment of an address, which no request, log or Referer holds.
"""

import secrets
import socket
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hmac import compare_digest
from html import escape
from pathlib import Path

import psutil
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-referee-token"
EVERYWHERE = ("0.0.0.0", "::")
LOCAL = ("127.", "::1", "fe80:")
"""How addresses begin that mean something on one machine, or one cable, alone."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """256 bits."""
    return secrets.token_urlsafe(32)


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """What `Host` may say of a server that listens at `host`. Port 80 is left out by browsers.

    At every address of this machine, it may say any of them, and the machine's own name.
    """
    names = {"127.0.0.1", "localhost", "[::1]", bracketed(host)}
    if host in EVERYWHERE:
        names |= {socket.gethostname().lower(), *map(bracketed, _addresses())}
    return frozenset({f"{name}:{port}" for name in names} | (names if port == 80 else set()))


class Guarded:
    """Answers 403 to whatever is not for us by its `Host`, or comes from another origin's page. Adds `HEADERS`."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks WebSocket
        if (wrong := _foreign(scope, self.hosts)) is not None:
            await PlainTextResponse(f"{wrong}\n", 403)(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                added = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in there]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, guarded)


def _foreign(scope: Scope, hosts: frozenset[str]) -> str | None:
    """Why a request is none of ours; None = it is."""
    named, origins, sites = _values(scope, b"host"), _values(scope, b"origin"), _values(scope, b"sec-fetch-site")
    if len(named) != 1 or named[0] not in hosts:
        return "this server has another name"
    if not all(_is_own(origin, named[0], sites) for origin in origins):
        return "this page may not ask here"
    return None


def _is_own(origin: str, host: str, sites: Sequence[str]) -> bool:
    """Whether a page of that origin is ours. The scheme does not count, because a proxy may terminate TLS.

    A proxy may also put another name into `Host`. Then the browser's `Sec-Fetch-Site` decides, which no page can set.
    Browsers send it to HTTPS addresses and to this machine, so never to a foreign name that leads here by plain HTTP.
    """
    scheme, _, rest = origin.partition("://")
    if scheme not in ("http", "https"):
        return False
    if sites:
        return all(site == "same-origin" for site in sites)
    return rest == host


def _values(scope: Scope, wanted: bytes) -> list[str]:
    """The values of a header, in lower case."""
    return [value.decode("latin-1").lower() for name, value in scope["headers"] if name == wanted]


def bracketed(host: str) -> str:
    """As it stands before a port."""
    return f"[{host}]" if ":" in host else host


def link(host: str, port: int, token: str) -> str:
    """To the page of a server that listens at `host`, for whoever may use that token; if it listens everywhere, by an
    address that other machines know."""
    if host in EVERYWHERE:
        host = next((each for each in _addresses() if not each.startswith(LOCAL)), "127.0.0.1")
    return f"http://{bracketed(host)}:{port}/#token={token}"


def _addresses() -> list[str]:
    """Of this machine, those of version 4 first."""
    found = [each for named in psutil.net_if_addrs().values() for each in named]
    return [each.address for kind in (socket.AF_INET, socket.AF_INET6) for each in found if each.family == kind]


def bearer(request: Request, tokens: Mapping[str, object]) -> str | None:
    """Which of the tokens a request holds, compared without telling how much of one was right; None = none of them."""
    given = request.headers.get(HEADER, "").encode()
    found = [token for token in tokens if compare_digest(token.encode(), given)]
    return found[0] if found else None


def redirect_file(url: str) -> Path:
    """A page that only we can read and that leads to `url`: a browser's command line would show a token to all."""
    with tempfile.NamedTemporaryFile("w", prefix="referee-", suffix=".html", delete=False) as file:  # mode 0600
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}"><title>referee</title>\n')
    return Path(file.name)


def forget(file: Path) -> None:
    """Removes such a page."""
    with suppress(OSError):
        file.unlink()
