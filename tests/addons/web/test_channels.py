"""Channels: one text for many clients, each of whom reads as fast as it can."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import psutil
import pytest
import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.addons.web.server.limits import RequestLimits, listen
from referee.addons.web.server.link import WebLink, open_link
from referee.addons.web.server.request import follow

pytestmark = pytest.mark.slow
CLIENTS = 1000
PERIOD_S = 0.1


class Events(Response):
    """An endless stream of what a channel publishes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        follow(scope, server.channel)
        while (await receive())["type"] != "http.disconnect":
            pass


class Server:
    """A server that publishes the numbers 1, 2, … until `runs` is false."""

    def __init__(self) -> None:
        self.published = 0
        self.publishes = self.runs = True
        self.started = threading.Event()
        self.link: WebLink

    async def run(self) -> None:
        async def events(request: Request) -> Response:
            return Events()

        app = Starlette(routes=[Route("/events", events)])
        listening = listen("127.0.0.1")
        self.port = listening.getsockname()[1]
        async with open_link(app, listening, RequestLimits(address_connections=2000)) as self.link:
            self.channel = self.link.channel()
            self.started.set()
            while self.runs:
                if self.publishes:
                    self.published += 1
                    self.channel.publish(b'data: {"number":%d}\n\n' % self.published)
                await trio.sleep(PERIOD_S)


server = Server()


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("test_channels.server", Server())
    thread = threading.Thread(target=trio.run, args=(server.run,))
    thread.start()
    assert server.started.wait(30)
    try:
        yield
    finally:
        server.runs = False
        thread.join(10)
        assert not thread.is_alive()


def joined() -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/events")
    return connection.getresponse()


def number(stream: http.client.HTTPResponse) -> int:
    """Returns the next number of a stream."""
    line = stream.readline()
    assert stream.readline() == b"\n"
    return int(json.loads(line.removeprefix(b"data: "))["number"])


def test_clients_get_every_text_in_order_and_late_ones_begin_with_the_newest() -> None:
    first = joined()
    numbers = [number(first) for _ in range(8)]
    assert numbers == list(range(numbers[0], numbers[0] + 8))
    assert number(joined()) >= numbers[-1]


def test_a_client_that_does_not_read_misses_texts_and_holds_up_nobody() -> None:
    big = b"data: " + b"x" * 900_000 + b"\n\n"
    server.publishes = False
    slow = joined()
    process = psutil.Process(server.link.process.pid) if server.link.process else None
    assert process is not None
    at_first = process.memory_info().rss
    for _ in range(60):
        trio.from_thread.run_sync(server.channel.publish, big, trio_token=server.link._token)
    last, server.publishes = server.published, True
    other = joined()
    while b"number" not in other.readline():
        pass
    assert process.memory_info().rss - at_first < 20 << 20
    texts = 0
    while not ((line := slow.readline()).startswith(b'data: {"number":') and json.loads(line[6:])["number"] > last):
        texts += b"xxx" in line
    assert texts < 20


def test_a_client_follows_again_after_the_web_process_was_killed() -> None:
    stream = joined()
    before = number(stream)
    server.publishes = False
    assert server.link.process is not None
    server.link.process.kill()
    with pytest.raises((ConnectionError, http.client.IncompleteRead)):
        while True:
            if not stream.read(1):
                raise ConnectionResetError
    assert number(joined()) >= before


def test_a_thousand_clients_cost_the_publisher_nothing_and_no_memory_that_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The publisher sends each text once, however many clients follow."""
    assert server.link.process is not None
    web = psutil.Process(server.link.process.pid)
    streams: list[socket.socket] = []
    try:
        for _ in range(CLIENTS):
            streams.append(socket.create_connection(("127.0.0.1", server.port)))
            streams[-1].sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        every = streams[:: CLIENTS // 20]
        for stream in every:
            stream.settimeout(20)
            assert b"data: " in stream.recv(1 << 16) + stream.recv(1 << 16)
        send, sent = server.link.send, []
        monkeypatch.setattr(server.link, "send", lambda message: (sent.append(message), send(message)))
        memory, count = web.memory_info().rss, server.published
        while server.published < count + 30:
            time.sleep(0.05)
            for stream in streams:
                stream.setblocking(False)
                try:
                    stream.recv(1 << 16)
                except BlockingIOError:
                    pass
        assert len(sent) <= server.published - count + 1
        assert web.memory_info().rss - memory < 8 << 20
    finally:
        for stream in streams:
            stream.close()
