"""What strangers may send to a server of ours: it holds no long body, waits for no slow one, and knows its name."""

import http.client
import os
import re
import socket
import ssl
import stat
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf

import httpx
import pytest
import trio
import trustme
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from referee.harness.errors import UsageError
from referee.harness.web.guard import Guarded, allowed_hosts, bearer, forget, new_token, redirect_file
from referee.harness.web.server import Bounds, Others, heard_at, listen, serving

pytestmark = pytest.mark.slow

TOKEN = new_token()
SLOW_S = 1.4


async def echo(request: Request) -> Response:
    body = await request.body()
    return PlainTextResponse(f"{len(body)} {bearer(request, {TOKEN: None}) == TOKEN}")


async def pieces(request: Request) -> Response:
    """Many pieces, or one after a while."""
    sizes = [int(size) for size in request.query_params["sizes"].split(",")]
    if len(sizes) == 1:
        await trio.sleep(SLOW_S)
        return PlainTextResponse("x" * sizes[0])

    async def parts() -> AsyncIterator[str]:
        for number, size in enumerate(sizes):
            yield chr(97 + number % 26) * size

    return StreamingResponse(parts())


async def when(request: Request) -> Response:
    return PlainTextResponse(str(heard_at(request)))


class Back:
    """Another process, which gives every connection back to us."""

    def __init__(self) -> None:
        self.stamps: list[float] = []
        self._given, self._taken = trio.open_memory_channel[tuple[socket.socket, bytes, float]](inf)

    def place(self, target: bytes) -> int | None:
        return 1

    async def give(self, number: int, connection: trio.socket.SocketType, data: bytes, heard_at: float) -> None:
        self.stamps.append(heard_at)
        await self._given.send((socket.socket(fileno=os.dup(connection.fileno())), data, heard_at))

    async def take(self) -> tuple[socket.socket, bytes, float]:
        return await self._taken.receive()


@contextmanager
def served(idle_s: int = 15, others: Others | None = None) -> Iterator[int]:
    """The port of a server that runs in a thread."""
    listening = listen("127.0.0.1")
    port = listening.getsockname()[1]
    routes = [Route("/", echo, methods=["GET", "POST"]), Route("/pieces", pieces), Route("/when", when)]
    app = Guarded(Starlette(routes=routes), allowed_hosts("127.0.0.1", port))
    over = threading.Event()

    async def run() -> None:
        bounds = Bounds(body_bytes=1000, request_s=0.5, idle_s=idle_s)
        async with serving(app, listening, bounds, others=others):
            while not over.is_set():
                await trio.sleep(0.02)

    thread = threading.Thread(target=trio.run, args=(run,))
    thread.start()
    try:
        yield port
    finally:
        over.set()
        thread.join(10)
        assert not thread.is_alive()


def asked(port: int, body: bytes = b"", **headers: str) -> tuple[int, str]:
    """Status and text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/", body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_a_server_answers_its_own_pages_and_nobody_elses() -> None:
    with served() as port:
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


def test_a_page_behind_a_proxy_with_tls_may_post() -> None:
    with served() as port:
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


def test_a_browser_that_tells_of_another_site_is_refused_whatever_the_origin_says() -> None:
    with served() as port:
        own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
        assert asked(port, **own, Sec_Fetch_Site="same-origin")[0] == 200
        assert asked(port, **own, Sec_Fetch_Site="cross-site")[0] == 403
        assert asked(port, Origin=f"ftp://127.0.0.1:{port}")[0] == 403


def test_every_answer_forbids_what_a_page_of_ours_never_does() -> None:
    with served() as port:
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


def test_a_body_is_bounded_in_size_and_in_time() -> None:
    with served() as port:
        assert asked(port, b"x" * 1001)[0] == 413
        with socket.create_connection(("127.0.0.1", port), timeout=10) as slow:
            slow.sendall(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 10\r\n\r\nabc".encode())
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        with socket.create_connection(("127.0.0.1", port), timeout=10) as unknown:
            head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n"
            unknown.sendall(head.encode() + b"3ff\r\n" + b"x" * 1023 + b"\r\n")
            assert unknown.recv(100).startswith(b"HTTP/1.1 413")
        assert asked(port)[0] == 200


def test_what_is_written_arrives_whole_and_in_order_also_where_the_client_is_slow_to_read() -> None:
    sizes = [1, 70_000, 3, *[500] * 4000, 5_000_000, 2]
    with served() as port:
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


def test_a_connection_is_closed_when_nothing_is_asked_for_and_not_before() -> None:
    def closed_after_s(raw: socket.socket, since: float) -> float:
        while raw.recv(1 << 16):
            pass
        return time.monotonic() - since

    with served(idle_s=1) as port:
        head = f"Host: 127.0.0.1:{port}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", port), timeout=5) as silent:
            assert 0.9 < closed_after_s(silent, time.monotonic()) < 4
        with socket.create_connection(("127.0.0.1", port), timeout=5) as half:
            half.sendall(b"GET / HTTP/1.1\r\n")
            assert 0.9 < closed_after_s(half, time.monotonic()) < 4
        with socket.create_connection(("127.0.0.1", port), timeout=5) as busy:
            started = time.monotonic()
            for _ in range(2):
                busy.sendall(b"GET /pieces?sizes=3 HTTP/1.1\r\n" + head)
                assert busy.recv(1 << 16).endswith(b"\r\n\r\nxxx")  # head and body in one
            assert closed_after_s(busy, started) > 2 * SLOW_S + 0.9


def test_a_connection_that_others_began_has_the_same_bounds() -> None:
    back = Back()
    with served(idle_s=1, others=back) as port:
        host = f"Host: 127.0.0.1:{port}\r\n"
        kept = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        for number in range(3):
            kept.request("GET", "/when")
            assert float(kept.getresponse().read()) == back.stamps[-1]
            assert len(back.stamps) == number + 1
        assert asked(port, b"x" * 1000)[0] == 200
        assert asked(port, b"x" * 1001)[0] == 413
        for told, wanted in (
            (f"POST / HTTP/1.1\r\n{host}Content-Length: 10\r\n\r\nabc", b"HTTP/1.1 408"),
            (f"GET / HTTP/1.1\r\n{host}X: {'x' * 20_000}\r\n\r\n", b"HTTP/1.1 431"),
            ("no http at all\r\n\r\n", b"HTTP/1.1 400"),
            ("x" * 20_000, b"HTTP/1.1 431"),
            (f"GET / HTTP/1.1\r\n{host}", b""),
            (f"GET / HTTP/1.1\r\n{host}X: ", b""),
            ("GET /", b""),
            ("", b""),
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=4) as raw:
                raw.sendall(told.encode())
                assert raw.recv(12) == wanted, told[:50]
        before = len(back.stamps)
        with socket.create_connection(("127.0.0.1", port), timeout=4) as early:
            early.sendall(f"POST / HTTP/1.1\r\n{host}Content-Length: 1\r\n\r\nx".encode() * 5)
            received = b""
            while received.count(b"1 False") < 5:
                received += early.recv(1 << 16)
        assert len(back.stamps) == before + 5


def test_a_port_that_is_taken_is_said_in_one_line() -> None:
    with listen("127.0.0.1") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"127\.0\.0\.1:{port} cannot be listened at: Address already in use"):
            listen("127.0.0.1", port)
    with pytest.raises(UsageError, match="70000 is no port"):
        listen("127.0.0.1", 70000)


def test_the_page_that_leads_to_a_token_is_read_by_us_alone() -> None:
    file = redirect_file("http://127.0.0.1:1/#token=a&b")
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert "#token=a&amp;b" in file.read_text()
    forget(file)
    assert not file.exists()
