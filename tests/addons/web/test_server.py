"""The server's limits for unknown clients: hosts, origins, heads, bodies, time and connections."""

import http.client
import os
import re
import secrets
import socket
import ssl
import stat
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

import httpx
import pytest
import trio
import trustme
from linked import linked
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.addons.web.addresses import reachable
from referee.addons.web.guard import allowed_hosts, bearer, redirect_file
from referee.addons.web.server.limits import RequestLimits, listen
from referee.addons.web.server.request import arrived_at, sent_at
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow

TOKEN = secrets.token_urlsafe(32)
SLOW_S = 1.1


async def echo(request: Request) -> Response:
    body = await request.body()
    return PlainTextResponse(f"{len(body)} {bearer(request, {TOKEN: None}) == TOKEN}")


async def pieces(request: Request) -> Response:
    """Sends many pieces, or one after a while."""
    sizes = [int(size) for size in request.query_params["sizes"].split(",")]
    if len(sizes) == 1:
        await trio.sleep(SLOW_S)
        return PlainTextResponse("x" * sizes[0])

    async def parts() -> AsyncIterator[str]:
        for number, size in enumerate(sizes):
            yield chr(97 + number % 26) * size

    return StreamingResponse(parts())


left = threading.Event()


async def endless(request: Request) -> Response:
    """Sends a piece, and then waits for news that never come."""

    async def parts() -> AsyncIterator[str]:
        try:
            yield "begun"
            await trio.sleep_forever()
        finally:
            left.set()

    return StreamingResponse(parts())


times: list[float | None] = []


class Followed(Response):
    """Sends a piece, and another one when its client has left. `times`: when each was written."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
            times.append(sent_at(scope))
            if len(times) == 2:
                break
            while (await receive())["type"] != "http.disconnect":
                pass
        left.set()


async def when(request: Request) -> Response:
    await request.body()
    return PlainTextResponse(str(arrived_at(request)))


APP = Starlette(
    routes=[
        Route("/", echo, methods=["GET", "POST"]),
        Route("/pieces", pieces),
        Route("/endless", endless),
        Route("/followed", lambda request: Followed()),
        Route("/when", when, methods=["POST"]),
    ]
)


@contextmanager
def served(idle_s: int = 15, connections: int = 2000) -> Iterator[int]:
    """Runs a server, and yields its port."""
    limits = RequestLimits(body_bytes=1000, body_s=0.5, idle_s=idle_s, connections=connections)
    with linked(APP, limits, guarded=True) as server:
        yield server.port


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as found:
        yield found


def connected(port: int, timeout: float = 5) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout)


def asked(port: int, body: bytes = b"", **headers: str) -> tuple[int, str]:
    """Posts a request, and returns status and text."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/", body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_only_requests_from_our_own_pages_are_answered(port: int) -> None:
    assert asked(port, b"x" * 1000) == (200, "1000 False")
    assert asked(port, X_Referee_Token=TOKEN) == (200, "0 True")
    assert asked(port, X_Referee_Token=TOKEN[:-1]) == (200, "0 False")
    assert asked(port, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert asked(port, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    assert asked(port, Origin="http://evil.example")[0] == 403
    assert asked(port, Origin=f"http://localhost:{port}")[0] == 403  # another origin than the one that is asked
    assert asked(port, Origin="null")[0] == 403
    assert asked(port, Host="evil.example")[0] == 403
    assert asked(port, Host=f"evil.example:{port}")[0] == 403
    assert asked(port, Host=f"127.0.0.1:{port + 1}")[0] == 403
    assert asked(port, Origin=f"ftp://127.0.0.1:{port}")[0] == 403
    own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
    assert asked(port, **own, Sec_Fetch_Site="same-origin")[0] == 200
    assert asked(port, **own, Sec_Fetch_Site="cross-site")[0] == 403, "whatever its origin"


@contextmanager
def behind_tls(port: int, renames: bool) -> Iterator[httpx.Client]:
    """A client of a proxy that terminates TLS. `renames`: it replaces `Host` by the server's address, as nginx does."""
    authority = trustme.CA()
    ours, theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(ours)
    authority.configure_trust(theirs)
    started, over, ports = threading.Event(), threading.Event(), [0]

    async def forward(stream: trio.SSLStream[trio.SocketStream]) -> None:
        with suppress(trio.BrokenResourceError):
            request = b""
            while b"\r\n\r\n" not in request:
                request += await stream.receive_some()
            if renames:
                request = re.sub(rb"(?i)\r\nhost: [^\r]*", b"\r\nHost: 127.0.0.1:%d" % port, request)
            async with await trio.open_tcp_stream("127.0.0.1", port) as inner:
                await inner.send_all(request)
                async for data in inner:
                    await stream.send_all(data)

    async def serve() -> None:
        async with trio.open_nursery() as nursery:
            (listener,) = await nursery.start(partial(trio.serve_ssl_over_tcp, forward, 0, ours, host="127.0.0.1"))
            ports[0] = listener.transport_listener.socket.getsockname()[1]
            started.set()
            while not over.is_set():
                await trio.sleep(0.02)
            nursery.cancel_scope.cancel()

    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    assert started.wait(10)
    try:
        with httpx.Client(
            base_url=f"https://localhost:{ports[0]}", verify=theirs, headers={"Connection": "close"}, trust_env=False
        ) as client:
            yield client
    finally:
        over.set()
        thread.join(10)


def test_a_page_behind_a_tls_proxy_may_post(port: int) -> None:
    host = f"localhost:{port}"

    def status(client: httpx.Client, origin: str, **headers: str) -> int:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.post("/", headers={"Origin": origin, **given}).status_code

    with behind_tls(port, renames=False) as client:
        assert status(client, f"https://{host}", Host=host) == 200
        assert status(client, f"https://{host}", Host=host, Sec_Fetch_Site="same-origin") == 200
        assert status(client, "https://evil.example", Host=host) == 403
        assert status(client, f"https://{host}.evil.example", Host=host) == 403
        assert status(client, "https://evil.example", Host="evil.example") == 403
        assert status(client, "https://evil.example", Host="evil.example", Sec_Fetch_Site="same-origin") == 403
    with behind_tls(port, renames=True) as client:
        public = f"https://{client.base_url.netloc.decode()}"
        assert client.get("/").status_code == 200
        assert status(client, public, Sec_Fetch_Site="same-origin") == 200
        assert status(client, public) == 403, "no browser says that the page is ours"
        for site in ("same-site", "cross-site", "none"):
            assert status(client, "https://evil.example", Sec_Fetch_Site=site) == 403
        assert status(client, "null", Sec_Fetch_Site="cross-site") == 403


def test_every_response_has_the_security_headers(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/")
    headers = connection.getresponse().headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_a_body_is_limited_in_size_and_time(port: int) -> None:
    assert asked(port, b"x" * 1001)[0] == 413
    with connected(port, 10) as slow:
        slow.sendall(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 10\r\n\r\nabc".encode())
        assert slow.recv(100).startswith(b"HTTP/1.1 408")
    with connected(port, 10) as unknown:
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n"
        unknown.sendall(head.encode() + b"3ff\r\n" + b"x" * 1023 + b"\r\n")
        assert unknown.recv(100).startswith(b"HTTP/1.1 413")
    assert asked(port)[0] == 200


def test_a_slow_reader_gets_every_response_whole_and_in_order(port: int) -> None:
    sizes = [1, 70_000, 3, *[500] * 4000, 5_000_000, 2]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/pieces?sizes=" + ",".join(map(str, sizes[:3] + sizes[-2:])))
    time.sleep(0.3)
    assert connection.getresponse().read().decode() == "a" + "b" * 70_000 + "ccc" + "d" * 5_000_000 + "ee"
    connection.request("GET", "/pieces?sizes=" + ",".join(map(str, sizes[2:1002])))
    assert len(connection.getresponse().read()) == sum(sizes[2:1002])
    connection.request("HEAD", "/")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["content-length"], answer.read()) == (200, "7", b"")
    connection.request("GET", "/pieces?sizes=3000000")
    assert connection.getresponse().read() == b"x" * 3_000_000


def whole(raw: socket.socket) -> bytes:
    """Receives a response with a content-length, whose head and body may come one after the other."""
    received, size = b"", 1
    while len(received) < size:
        data = raw.recv(1 << 16)
        assert data, received
        received += data
        head, end, _ = received.partition(b"\r\n\r\n")
        size = len(received) + 1
        if end:
            size = len(head + end) + int(head.lower().partition(b"content-length: ")[2].split()[0])
    return received


UNFINISHED = {
    "silence": "",
    "half a line": "GET /",
    "no end of the head": "GET / HTTP/1.1\r\n{host}",
    "half a header": "GET / HTTP/1.1\r\n{host}X: ",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an incomplete upgrade": "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
}


def test_only_idle_connections_are_closed() -> None:
    """Those without a whole request close by and by; one whose requests are answered does not."""

    def closed_after_s(raw: socket.socket, since: float) -> float:
        while raw.recv(1 << 16):
            pass
        return time.monotonic() - since

    with served(idle_s=1) as port, ExitStack() as stack:
        host, started = f"Host: 127.0.0.1:{port}\r\n", time.monotonic()
        waiting = {name: stack.enter_context(connected(port, 10)) for name in UNFINISHED}
        busy = stack.enter_context(connected(port))
        for name, raw in waiting.items():
            raw.sendall(UNFINISHED[name].replace("{host}", host).encode())
        waiting["silence"].setblocking(False)
        with pytest.raises(BlockingIOError):
            waiting["silence"].recv(1)
        waiting["silence"].settimeout(10)
        for _ in range(2):
            busy.sendall(f"GET /pieces?sizes=3 HTTP/1.1\r\n{host}\r\n".encode())
            assert whole(busy).endswith(b"\r\n\r\nxxx")
        for raw in waiting.values():
            closed_after_s(raw, started)
        assert closed_after_s(busy, started) > 2 * SLOW_S + 0.9


def test_requests_that_a_client_sends_ahead_are_answered_in_order(port: int) -> None:
    with connected(port) as raw:
        raw.sendall(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 1\r\n\r\nx".encode() * 5)
        received = b""
        while received.count(b"1 False") < 5:
            received += raw.recv(1 << 16)


@pytest.mark.parametrize("sizes", [[5_000_000], [1, 20_000_000, 2]])
def test_a_response_may_be_larger_than_a_message_between_the_processes(port: int, sizes: list[int]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/pieces?sizes=" + ",".join(map(str, sizes)))
    assert len(connection.getresponse().read()) == sum(sizes)
    assert asked(port)[0] == 200


def begun_and_left(port: int, path: str) -> None:
    """Reads the first piece of a stream, leaves, and waits until the stream has ended."""
    left.clear()
    with connected(port, 10) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        received = b""
        while b"begun" not in received:
            received += raw.recv(1 << 16)
        assert not left.is_set()
    assert left.wait(10)


def test_a_stream_ends_when_its_client_has_left(port: int) -> None:
    begun_and_left(port, "/endless")


def test_a_piece_has_a_time_only_if_it_was_written(port: int) -> None:
    times.clear()
    begun_and_left(port, "/followed")
    first, second = times
    assert first is not None and first <= time.monotonic() and second is None


def test_a_request_has_arrived_when_the_end_of_its_body_was_read(port: int) -> None:
    with connected(port) as raw:
        head = f"POST /when HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 2\r\n\r\nx".encode()
        sent, arrived = [], []
        for pause_s in (0.0, 0.3):
            raw.sendall(head)
            time.sleep(pause_s)
            sent.append(time.monotonic())
            raw.sendall(b"y")
            arrived.append(float(whole(raw).partition(b"\r\n\r\n")[2]))
        assert arrived[1] - arrived[0] == pytest.approx(sent[1] - sent[0], abs=0.15)


@pytest.mark.parametrize("ending", [b"", b"x" * 100, b"\x81\x85\x00\x00\x00\x00hello"])
def test_a_client_that_breaks_the_protocol_ends_its_own_connection_only(port: int, ending: bytes) -> None:
    """It sends on behind a refused upgrade."""
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    for key in (b"", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"):
        with connected(port) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + upgrade + key + b"\r\n" + ending)
            raw.sendall(b"GET / HTTP/1.1\r\n\r\n" + ending)
    assert asked(port)[0] == 200


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\n%bContent-Length: 9\r\n\r\n"])
def test_connections_without_a_whole_request_keep_nobody_out(start: bytes) -> None:
    """The connection is closed that has waited longest."""
    with served(connections=3) as port, ExitStack() as stack:
        head = f"Host: 127.0.0.1:{port}\r\n".encode()
        waiting = []
        for _ in range(3):
            waiting.append(stack.enter_context(connected(port)))
            waiting[-1].sendall(start.replace(b"%b", head))
            time.sleep(0.05)
        assert asked(port)[0] == 200
        assert waiting[0].recv(12) == b""
        waiting[2].settimeout(0.1)
        with pytest.raises(TimeoutError):
            waiting[2].recv(12)


def test_a_connection_beyond_the_limit_is_closed_if_all_others_are_answered() -> None:
    with served(connections=1) as port, connected(port) as first:
        first.sendall(f"GET /pieces?sizes=3 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        time.sleep(SLOW_S / 2)
        with connected(port) as second:
            assert second.recv(12) == b""
        assert first.recv(12) == b"HTTP/1.1 200"


H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM\r\n"


@pytest.mark.parametrize("upgrade", [b"", H2C])
def test_no_client_gets_http_2(port: int, upgrade: bytes) -> None:
    """A flood of its frames held up all others for seconds."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" * 100
    with connected(port) as raw:
        head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
        raw.sendall(head + upgrade + b"\r\n" if upgrade else preface)
        assert raw.recv(12) in ([b"HTTP/1.1 200"] if upgrade else [b"HTTP/1.1 403", b"HTTP/1.1 400"])


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with listen("127.0.0.1") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"cannot listen on 127\.0\.0\.1:{port}: Address already in use"):
            listen("127.0.0.1", port)
    with pytest.raises(UsageError, match="port 70000: expected 0 to 65535"):
        listen("127.0.0.1", 70000)


def test_only_we_can_read_the_redirecting_page() -> None:
    with redirect_file("http://127.0.0.1:1/#token=a&b") as file:
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        assert "#token=a&amp;b" in file.read_text()
    assert not file.exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_links_to_a_server_on_all_addresses_name_one_that_can_be_reached(host: str) -> None:
    found = reachable(host)
    assert found not in ("0.0.0.0", "[::]", "") and f"{found}:80" in allowed_hosts("0.0.0.0", 80)
    assert (reachable("::1"), reachable("cup.example.org")) == ("[::1]", "cup.example.org")
