"""What we ask of others by HTTP: a team hears of its battle, a coordinator of a score."""

import ssl
from functools import cache
from typing import Any

import httpx
import trio

CALL_S = 5.0
"""How long a team or a coordinator may take to be reached."""


class CallFailed(Exception):
    """Somebody could not be reached by HTTP, or refused."""


async def call(
    url: str, body: dict[str, Any], headers: dict[str, str], reply_s: float, sent: trio.Event | None = None
) -> None:
    """POSTs JSON, follows no redirect and reads no answer but its status. CallFailed.

    `sent` is set when the request is on its way. The answer may take `reply_s` seconds from then on. A connection of
    its own each time: a kept one may be closed at the other end just when it is needed.
    """

    async def trace(name: str, info: Any) -> None:
        if sent is not None and name.endswith("send_request_body.complete"):
            sent.set()

    timeout = httpx.Timeout(CALL_S, read=reply_s)
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, trust_env=False, verify=_certificates()) as client,
            client.stream("POST", url, json=body, headers=headers, extensions={"trace": trace}) as answer,
        ):
            if answer.status_code >= 300:
                raise CallFailed(f"answered with status {answer.status_code}")
    except httpx.TimeoutException:
        raise CallFailed("it took too long") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CallFailed(_why(error)) from None


def _why(error: BaseException) -> str:
    """What it says, or what it came of says: of a certificate httpx knows only that there is no connection."""
    found: BaseException | None = error
    while found is not None:
        if words := str(found):
            return words
        found = found.__cause__ or found.__context__
    return type(error).__name__


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes 20 ms."""
    return ssl.create_default_context()
