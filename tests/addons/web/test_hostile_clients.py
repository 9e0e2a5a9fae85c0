"""Hostile clients: each is answered or dropped, the web process lives on, and others are served.

One server takes every request, as all have the same web process; the others those that reach an application's own code.
"""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import psutil
import pytest
from serving import web_process

from referee.addons.aibg.users import add_user

pytestmark = pytest.mark.slow
PASSWORD = "a password of everybody"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
CHUNKED = "Transfer-Encoding: chunked"

ANSWERED = {
    "a body that is too long": ("POST / HTTP/1.1\r\n{host}Content-Length: 70000\r\n\r\n" + "x" * 70_000, {413}),
    "a body of which only the length is sent": ("POST / HTTP/1.1\r\n{host}Content-Length: 99999999999\r\n\r\n", {413}),
    "a length of many digits": ("POST / HTTP/1.1\r\n{host}Content-Length: " + "9" * 500 + "\r\n\r\n", {400, 413}),
    "a negative length": ("POST / HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n", {400}),
    "two lengths": ("POST / HTTP/1.1\r\n{host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", {400}),
    "chunks without an end": (
        f"POST / HTTP/1.1\r\n{{host}}{CHUNKED}\r\n\r\n" + ("8000\r\n" + "x" * 0x8000 + "\r\n") * 3,
        {413},
    ),
    "a chunk of a size beyond counting": (f"POST / HTTP/1.1\r\n{{host}}{CHUNKED}\r\n\r\n{'F' * 40}\r\nx", {400, 0}),
    "a header that is too long": ("GET / HTTP/1.1\r\n{host}X: " + "x" * 20_000 + "\r\n\r\n", {431}),
    "many headers": ("GET / HTTP/1.1\r\n{host}" + "".join(f"X-{n}: {n}\r\n" for n in range(2000)) + "\r\n", {431}),
    "a target that is too long": ("GET /" + "x" * 20_000 + " HTTP/1.1\r\n{host}\r\n", {414, 431}),
    "no host": ("GET / HTTP/1.1\r\n\r\n", {400}),
    "two hosts": ("GET / HTTP/1.1\r\n{host}{host}\r\n", {400}),
    "the name of another host": ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", {403}),
    "the target of another host": ("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", {400, 403, 404}),
    "a page of another origin": ("GET / HTTP/1.1\r\n{host}Origin: http://evil.example\r\n\r\n", {403}),
    "TLS": ("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}),
    "HTTP/2": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", {400}),
    "HTTP/9.9": ("GET / HTTP/9.9\r\n{host}\r\n", {400, 505}),
    "no method": ("no http at all\r\n\r\n", {400}),
    "a NUL in a header": ("GET / HTTP/1.1\r\n{host}X: a\0b\r\n\r\n", {400}),
    "a header without a colon": ("GET / HTTP/1.1\r\n{host}nothing\r\n\r\n", {400}),
    "a path out of the folder": ("GET /../../../../etc/passwd HTTP/1.1\r\n{host}\r\n", {404, 405}),
    "the same in disguise": ("GET /%2e%2e/%2e%2e/etc/passwd%00 HTTP/1.1\r\n{host}\r\n", {404, 405}),
    "a path that is not UTF-8": ("GET /%ff%fe%c0%80 HTTP/1.1\r\n{host}\r\n", {404, 405}),
    "a WebSocket where there is none": (f"GET /matches HTTP/1.1\r\n{{host}}{UPGRADE}\r\n{KEY}\r\n\r\n", {403, 404}),
    "a WebSocket without a key": (f"GET / HTTP/1.1\r\n{{host}}{UPGRADE}\r\n\r\n", {400, 403, 0}),
}
"""The text that a client sends, and the statuses with which it may be answered; 0: the connection is closed."""
KEPT = {
    "sends nothing": "",
    "sends half a head": "GET / HTTP/1.1\r\nHo",
    "sends a head bit by bit": "G",
    "sends half a body": "POST / HTTP/1.1\r\n{host}Content-Length: 10\r\n\r\nabc",
    "does not read": "GET / HTTP/1.1\r\n{host}\r\n" * 200,
}
"""The texts of clients that stay until the end."""
SERVERS = ["arena", "aibg", "view", "--watch"]
OWN = [
    *("a body that is too long", "the name of another host", "a page of another origin", "a path out of the folder"),
    *("the same in disguise", "a path that is not UTF-8", "a WebSocket where there is none"),
]
"""The requests that a server's own application or guard refuses."""


class Server:
    """A running server."""

    def __init__(self, name: str, process: "subprocess.Popen[str]", address: str) -> None:
        self.name, self.process = name, process
        found = urlsplit(address)
        self.address = (found.hostname or "", found.port or 0)
        self.host = f"Host: {found.netloc}\r\n"

    def filled(self, text: str) -> bytes:
        return text.replace("{host}", self.host).encode("latin-1")

    def status(self, text: str) -> int:
        """Sends a text, and returns the status of the answer; 0 if there is none before the connection is closed."""
        with socket.create_connection(self.address, timeout=8) as raw, suppress(ConnectionError):
            with suppress(ConnectionError):
                raw.sendall(self.filled(text))
            received = b""
            while b"\r\n" not in received and (data := raw.recv(1 << 16)):
                received += data
            return int(received.split(b" ", 2)[1]) if received else 0
        return 0

    def web_process(self) -> psutil.Process:
        return web_process(self.process.pid)


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, viewer: None) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    add_user(folder / "users.json", "team1", "player", PASSWORD)
    words = {
        "arena": ["serve", "arena", "--bind", "127.0.0.1:0", "--replay", "none"],
        "aibg": ["serve", "aibg", "--users", "users.json", "--bind", "127.0.0.1:0", "--replay", "none"],
        "view": ["view", ".", "--no-browser"],
        "--watch": ["--game", "quoridor", "Ada=human", "@random", "--watch", "--no-browser", "--isolation", "off"],
    }[request.param]
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            stream = process.stderr if request.param == "--watch" else process.stdout
            assert stream is not None
            found = re.search(r"http://[^ \n]+", stream.readline())
            assert found is not None
            yield Server(request.param, process, found[0])
        finally:
            process.kill()


def test_hostile_requests_are_answered_and_end_with_their_connections(server: Server) -> None:
    web = server.web_process()
    for name in ANSWERED if server.name == "view" else OWN:
        text, expected = ANSWERED[name]
        assert server.status(text) in expected, name
        assert server.status("GET /health HTTP/1.1\r\n{host}\r\n") == 200, name
    assert server.web_process() == web, "another web process has taken its place"


def test_clients_that_stay_keep_nobody_out(server: Server) -> None:
    web = server.web_process()
    with ExitStack() as stack:
        for text in list(KEPT.values()) * 20:
            raw = stack.enter_context(socket.create_connection(server.address, timeout=8))
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            raw.sendall(server.filled(text))
        for _ in range(5):
            assert server.status("GET /health HTTP/1.1\r\n{host}\r\n") == 200
    assert server.web_process() == web
    assert web.memory_info().rss < 150 << 20
