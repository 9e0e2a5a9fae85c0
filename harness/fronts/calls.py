"""What we ask of others by HTTP: a team hears of its battle, a coordinator of a score."""

import ssl
from functools import cache
from string import punctuation
from typing import Any
from urllib.parse import quote, urlsplit

import h11
import msgspec
import trio

CALL_S = 5.0
"""How long a team or a coordinator may take to be reached."""


class CallFailed(Exception):
    """Somebody could not be reached by HTTP, or refused."""


async def call(
    url: str, told: dict[str, Any], headers: dict[str, str], reply_s: float, sent: trio.Event | None = None
) -> None:
    """POSTs JSON, follows no redirect and reads no answer but its status. CallFailed.

    `sent` is set when the request is on its way. The answer may take `reply_s` seconds from then on.
    """
    try:
        parts = urlsplit(url)
        host, port, secret = parts.hostname or "", parts.port, parts.scheme == "https"
        name = f"[{host}]" if ":" in host else host.encode("idna").decode()
        body = msgspec.json.encode(told)
        target = quote(f"{parts.path or '/'}?{parts.query}".removesuffix("?"), safe=punctuation)
        common = {
            "Host": name if port is None else f"{name}:{port}",
            "User-Agent": "referee",
            "Accept": "*/*",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
        talk = h11.Connection(h11.CLIENT)
        request = h11.Request(method="POST", target=target, headers=list((common | headers).items()))
        frames = [talk.send(request), talk.send(h11.Data(data=body)), talk.send(h11.EndOfMessage())]
        with trio.fail_after(CALL_S):
            stream = await _reached(host, port or (443 if secret else 80), secret)
        try:
            with trio.fail_after(CALL_S):
                await stream.send_all(b"".join(filter(None, frames)))
            if sent is not None:
                sent.set()
            with trio.fail_after(reply_s):
                status = await _status(talk, stream)
        finally:
            await trio.aclose_forcefully(stream)
    except trio.TooSlowError:
        raise CallFailed("it took too long") from None
    except (OSError, ValueError, trio.BrokenResourceError, h11.ProtocolError) as error:
        raise CallFailed(str(error) or str(error.__cause__ or type(error).__name__)) from None
    if status >= 300:
        raise CallFailed(f"answered with status {status}")


async def _reached(host: str, port: int, secret: bool) -> trio.abc.Stream:
    stream = await trio.open_tcp_stream(host, port)
    if not secret:
        return stream
    safe = trio.SSLStream(stream, _certificates(), server_hostname=host, https_compatible=True)
    try:
        await safe.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return safe


async def _status(talk: h11.Connection, stream: trio.abc.Stream) -> int:
    """Of the answer, behind what only announces it."""
    while not isinstance(event := talk.next_event(), h11.Response):
        if event is h11.NEED_DATA:
            if not (data := await stream.receive_some()):
                raise h11.RemoteProtocolError("it left without an answer")
            talk.receive_data(bytes(data))
    return event.status_code


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes 20 ms."""
    return ssl.create_default_context()
