"""Uploads: bodies that an application reads in pieces, after it has checked who sends them."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from referee.harness.web.server.limits import RequestLimits, listen
from referee.harness.web.server.link import open_link
from referee.harness.web.uploads import saved

pytestmark = pytest.mark.slow
MOST = 3 << 20
"""The most bytes of a body that reach the application."""
FILE = 2 << 20
"""The most bytes that the application keeps."""


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """Runs a server that keeps uploads in a folder, and yields its port."""
    started, over = threading.Event(), threading.Event()
    ports = []

    async def upload(request: Request) -> Response:
        if "authorization" not in request.headers:
            return PlainTextResponse("who are you?\n", 401)
        size = await saved(request, folder / request.path_params["name"], FILE)
        return PlainTextResponse(str(size))

    async def run() -> None:
        listening = listen("127.0.0.1")
        ports.append(listening.getsockname()[1])
        limits = RequestLimits(body_bytes=1000, body_s=0.5, uploads=("/upload/",), upload_bytes=MOST, upload_s=2.0)
        routes = [
            Route("/upload/{name}", upload, methods=["PUT", "POST"]),
            Route("/other", upload, methods=["POST"]),
        ]
        async with open_link(Starlette(routes=routes), listening, limits):
            started.set()
            while not over.is_set():
                await trio.sleep(0.02)

    thread = threading.Thread(target=trio.run, args=(run,))
    thread.start()
    assert started.wait(30)
    try:
        yield ports[0]
    finally:
        over.set()
        thread.join(10)
        assert not thread.is_alive()


def put(port: int, path: str, body: bytes, who: str | None = "me") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("PUT", path, body, {} if who is None else {"Authorization": who})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def emptied(folder: Path) -> None:
    """Waits until a folder is empty. The application learns a moment after the client that a request is over."""
    until = time.monotonic() + 10
    while list(folder.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_an_upload_is_written_to_a_file(tmp_path: Path) -> None:
    content = bytes(range(256)) * (FILE // 256)
    with served(tmp_path) as port:
        assert put(port, "/upload/a", content) == (200, str(FILE))
        assert put(port, "/upload/empty", b"") == (200, "0")
        assert put(port, "/upload/b", b"x") == (200, "1")
    assert (tmp_path / "a").read_bytes() == content
    assert {file.name for file in tmp_path.iterdir()} == {"a", "b", "empty"}


def test_an_upload_that_is_too_long_leaves_no_file(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        assert put(port, "/upload/a", b"x" * (FILE + 1))[0] == 413
        assert put(port, "/upload/a", b"x" * (MOST + 1))[0] == 413
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            head = f"PUT /upload/a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: me\r\n"
            raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            for _ in range((FILE >> 16) + 1):
                raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 413")
        assert put(port, "/other", b"x" * 1001)[0] == 413, "other paths keep the limit"
        emptied(tmp_path)
        assert put(port, "/upload/a", b"x") == (200, "1")


def test_a_stranger_is_refused_before_the_body_has_come(tmp_path: Path) -> None:
    with served(tmp_path) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(f"PUT /upload/a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 100000\r\n\r\nx".encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 401")
        while raw.recv(1 << 16):
            pass
        assert put(port, "/upload/a", b"x" * 100_000, None)[0] == 401
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("pause_s", [60.0, 0.2], ids=["that stops", "that trickles"])
def test_an_upload_that_takes_too_long_is_refused(tmp_path: Path, pause_s: float) -> None:
    with served(tmp_path) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        head = f"PUT /upload/a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: me\r\n"
        raw.sendall(f"{head}Content-Length: 1000\r\n\r\n".encode())
        raw.settimeout(pause_s if pause_s < 1 else 10)
        received = b""
        while not received:
            raw.sendall(b"x")
            try:
                received = raw.recv(100)
            except TimeoutError:
                continue
        assert received.startswith(b"HTTP/1.1 408")
        emptied(tmp_path)


def test_an_upload_whose_client_leaves_leaves_no_file(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            head = f"PUT /upload/a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: me\r\n"
            raw.sendall(f"{head}Content-Length: 100000\r\n\r\n".encode() + b"x" * 70_000)
            while not list(tmp_path.iterdir()):
                time.sleep(0.01)
        emptied(tmp_path)
        assert put(port, "/upload/a", b"x") == (200, "1")
