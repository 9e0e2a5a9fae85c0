"""Channels: one text for many clients, each of whom reads as fast as it can."""

import http.client
import json
import socket
import time
from collections.abc import Iterator

import psutil
import pytest
import trio
from linked import Linked, linked
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.server.request import Channel, follow

pytestmark = pytest.mark.slow
CLIENTS = 300
PERIOD_S = 0.03


class Events(Response):
    """An endless stream of what a channel publishes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        follow(scope, server.channel)
        while (await receive())["type"] != "http.disconnect":
            pass


class Server:
    """A server that publishes the numbers 1, 2, … while `publishes` is true."""

    def __init__(self) -> None:
        self.published = 0
        self.publishes = True
        self.linked: Linked
        self.channel: Channel

    async def publish(self) -> None:
        while True:
            if self.publishes:
                self.published += 1
                self.channel.publish(b'data: {"number":%d}\n\n' % self.published)
            await trio.sleep(PERIOD_S)


server = Server()


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("test_channels.server", Server())

    async def events(request: Request) -> Response:
        return Events()

    app = Starlette(routes=[Route("/events", events)])
    with linked(app, RequestLimits(address_connections=2000)) as server.linked:
        server.channel = server.linked.call(server.linked.link.channel)
        server.linked.begin(server.publish)
        yield


def joined() -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.linked.port, timeout=20)
    connection.request("GET", "/events")
    return connection.getresponse()


def number(stream: http.client.HTTPResponse) -> int:
    """Returns the next number of a stream, past other texts."""
    while not (line := stream.readline()).startswith(b'data: {"number":'):
        assert line, "the stream has ended"
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
    process = psutil.Process(server.linked.link.process.pid) if server.linked.link.process else None
    assert process is not None
    at_first = process.memory_info().rss
    for _ in range(60):
        server.linked.call(server.channel.publish, big)
    last, server.publishes = server.published, True
    number(joined())
    assert process.memory_info().rss - at_first < 20 << 20
    texts = 0
    while not ((line := slow.readline()).startswith(b'data: {"number":') and json.loads(line[6:])["number"] > last):
        assert line, "the stream has ended"
        texts += b"xxx" in line
    assert texts < 20


def test_a_client_follows_again_after_the_web_process_was_killed() -> None:
    stream = joined()
    before = number(stream)
    server.publishes = False
    assert server.linked.link.process is not None
    server.linked.link.process.kill()
    with pytest.raises((ConnectionError, http.client.IncompleteRead)):
        while True:
            if not stream.read(1):
                raise ConnectionResetError
    assert number(joined()) >= before


def test_many_clients_cost_the_publisher_nothing_and_no_memory_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The publisher sends each text once, however many clients follow."""
    assert server.linked.link.process is not None
    web = psutil.Process(server.linked.link.process.pid)
    streams: list[socket.socket] = []
    try:
        for _ in range(CLIENTS):
            streams.append(socket.create_connection(("127.0.0.1", server.linked.port)))
            streams[-1].sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        every = streams[:: CLIENTS // 20]
        for stream in every:
            stream.settimeout(20)
            assert b"data: " in stream.recv(1 << 16) + stream.recv(1 << 16)
        send, sent = server.linked.link.send, []
        monkeypatch.setattr(server.linked.link, "send", lambda message: (sent.append(message), send(message)))
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
