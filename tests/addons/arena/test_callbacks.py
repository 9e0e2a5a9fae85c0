"""Our own HTTP calls: what is sent, and every way to fail."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio

from referee.addons.arena import callbacks
from referee.addons.arena.callbacks import CallFailed, Coordinator, call

pytestmark = [pytest.mark.trio, pytest.mark.slow]


@asynccontextmanager
async def service(reply: bytes | None, heard: bytearray) -> AsyncIterator[str]:
    """Reads a request, sends the reply and closes; None stays silent."""

    async def serve(stream: trio.SocketStream) -> None:
        while not heard.endswith(b"}"):
            heard.extend(await stream.receive_some())
        if reply is None:
            await trio.sleep_forever()
        else:
            await stream.send_all(reply)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


async def test_a_call_posts_json_and_accepts_interim_responses() -> None:
    heard, sent = bytearray(), trio.Event()
    reply = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nnever"
    async with service(reply, heard) as url:
        await call(f"{url}/some where/ü?a=b#c", {"battleId": "x"}, {"Authorization": "t"}, 5, sent)
    assert sent.is_set()
    head, _, body = bytes(heard).partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    assert first == "POST /some%20where/%C3%BC?a=b HTTP/1.1"
    assert headers[0] == f"Host: {url.removeprefix('http://')}"
    assert {"Content-Type: application/json", "Content-Length: 16", "Authorization: t"} <= set(headers)
    assert body == b'{"battleId":"x"}'


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", "answered with status 302"),
        (b"HTTP/1.1 500 Oh\r\n\r\n", "answered with status 500"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "without a pending proposal"),
        (b"no http\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, "too long"),
        (b"", "disconnected without sending"),
        (None, "the request timed out"),
    ],
)
async def test_a_call_that_fails_says_why(reply: bytes | None, why: str) -> None:
    sent = trio.Event()
    async with service(reply, bytearray()) as url:
        with pytest.raises(CallFailed, match=why) as failure:
            await call(url, {}, {}, 0.3, sent)
    assert str(failure.value)
    assert sent.is_set()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "http://[::1", "http://127.0.0.1:99999", "http://a\x00b/", "http:///x"]
)
async def test_an_unreachable_url_raises_call_failed(url: str) -> None:
    with pytest.raises(CallFailed, match=r"."):
        await call(url, {}, {}, 5)


INSIDE = ["http://c/a", "http://c:80/a/b?run=1", "HTTP://c/a"]
OUTSIDE = [
    "http://c/ab",
    "http://c/a/../b",
    "http://c/a/%2e%2e/b",
    "http://c/a\\..\\b",
    "http://c@d/a",
    "http://c\\@d/a",
]
OUTSIDE += ["http://u:p@c/a", "http://c.d/a", "http://c:81/a", "http://\0/a", "https://c/a", "http://c"]


@pytest.mark.parametrize("coordinator", ["http://C/a", "http://c/a/"])
async def test_the_coordinator_is_an_address_and_all_below_it(coordinator: str) -> None:
    found = {url: Coordinator(coordinator).has(url) for url in (*INSIDE, *OUTSIDE)}
    assert found == dict.fromkeys(INSIDE, True) | dict.fromkeys(OUTSIDE, False)


async def test_certificates_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    told: list[bytes | bytearray] = []
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(ours)

    async def serve(stream: trio.SSLStream[trio.SocketStream]) -> None:
        with suppress(trio.BrokenResourceError):
            told.append(await stream.receive_some())
            await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_ssl_over_tcp, serve, 0, ours, host="127.0.0.1"))
        url = f"https://127.0.0.1:{listener.transport_listener.socket.getsockname()[1]}"
        with pytest.raises(CallFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await call(url, {}, {}, 5)
        known = ssl.create_default_context()
        authority.configure_trust(known)
        monkeypatch.setattr(callbacks, "_certificates", lambda: known)
        await call(url, {}, {}, 5)
        nursery.cancel_scope.cancel()
    assert told[0].startswith(b"POST / HTTP/1.1\r\n")
