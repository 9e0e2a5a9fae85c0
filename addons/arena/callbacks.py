"""POSTs to others: announces a battle to a team, and reports a score to a coordinator."""

import ssl
from functools import cache
from typing import Any

import httpx
import trio

CALL_S = 5.0
"""How long a team or a coordinator may take to accept a request."""


class CallFailed(Exception):
    """The URL could not be reached, or its server refused."""


class Coordinator:
    """The address of the coordinator, which alone gets our token."""

    def __init__(self, url: str) -> None:
        """Raises CallFailed if that is no plain http address."""
        self.url = url
        self._url = plain_url(url)

    def has(self, url: str) -> bool:
        """Tells whether an address is the coordinator's or below it."""
        try:
            asked = plain_url(url)
        except CallFailed:
            return False
        path, below = asked.path, self._url.path.rstrip("/")
        is_below = path == below or path.startswith(f"{below}/")
        return _origin(asked) == _origin(self._url) and is_below and ".." not in path.split("/") and "\\" not in path


def plain_url(url: str) -> httpx.URL:
    """Reads an address as `call` does. Raises CallFailed unless it is http or https, with a host and no user."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        raise CallFailed(f"{url[:100]} is not a URL") from None
    is_plain = parsed.scheme in ("http", "https") and parsed.host and not parsed.userinfo
    if not is_plain or parsed.port not in (None, *range(1, 1 << 16)):
        raise CallFailed(f"{url[:100]} is not a plain http URL")
    return parsed


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}[url.scheme]


async def call(
    url: str, body: dict[str, Any], headers: dict[str, str], reply_s: float, sent: trio.Event | None = None
) -> None:
    """POSTs JSON on a new connection, follows no redirect, and reads only the status. Raises CallFailed.

    `sent` is set once the request is sent. From then on, the response may take `reply_s` seconds.
    """

    async def trace(name: str, info: Any) -> None:
        if sent is not None and name.endswith("send_request_body.complete"):
            sent.set()

    extensions = {"trace": trace, "timeout": httpx.Timeout(CALL_S, read=reply_s).as_dict()}
    try:
        # The transport alone: a client with its cookies, redirects and proxies costs as much again.
        request = httpx.Request("POST", url, headers=headers, json=body, extensions=extensions)
        async with httpx.AsyncHTTPTransport(verify=_certificates(), trust_env=False) as transport:
            answer = await transport.handle_async_request(request)
            await answer.aclose()
        if answer.status_code >= 300:
            raise CallFailed(f"answered with status {answer.status_code}")
    except httpx.TimeoutException:
        raise CallFailed("the request timed out") from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:  # ValueError: for a name that is too long
        raise CallFailed(_reason(error)) from None


def _reason(error: BaseException) -> str:
    """Returns the first message along the causes: for a bad certificate, httpx itself says only that it failed."""
    cause: BaseException | None = error
    while cause is not None:
        if message := str(cause):
            return message
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


@cache
def _certificates() -> ssl.SSLContext:
    """Cached: reading them takes 20 ms."""
    return ssl.create_default_context()
