"""WebSockets through the web process: the application sends texts, and hears only that a client has left."""

import socket
import threading
from collections.abc import Iterator
from queue import Empty, Queue
from typing import Any

import pytest
import trio
from linked import linked
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.serving.http import until_gone

pytestmark = pytest.mark.slow
FLOOD = 10 << 20
events: Queue[str] = Queue()


async def counts(client: WebSocket) -> None:
    """Sends numbers, and closes."""
    await client.accept()
    for number in range(int(client.query_params["to"])):
        await client.send_text(f"é{number}")
    await client.close()


async def waits(client: WebSocket) -> None:
    """Greets, and waits until the client leaves."""
    await client.accept()
    await client.send_text("welcome")
    with trio.CancelScope() as scope:
        await until_gone(client.receive, scope)
    events.put("left")


async def floods(client: WebSocket) -> None:
    """Sends without end."""
    await client.accept()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_gone, client.receive, nursery.cancel_scope)
            for number in range(1000):
                await client.send_text("x" * (FLOOD // 10))
                events.put(f"sent {number}")
    finally:
        events.put("left")


async def refuses(client: WebSocket) -> None:
    await client.close(1008)


async def fails(client: WebSocket) -> None:
    await client.accept()
    raise ValueError("a bug of ours")


APP = Starlette(routes=[WebSocketRoute(f"/{each.__name__}", each) for each in (counts, waits, floods, refuses, fails)])
LIMITS = RequestLimits(body_bytes=1000)


@pytest.fixture(scope="module")
def served() -> Iterator[int]:
    with linked(APP, LIMITS) as server:
        yield server.port


@pytest.fixture
def port(served: int) -> int:
    while not events.empty():
        events.get()
    return served


def opened(port: int, path: str, **options: Any) -> ClientConnection:
    return connect(f"ws://127.0.0.1:{port}{path}", **options)


def close_code(client: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as raised:
        while True:
            client.recv(10)
    assert raised.value.rcvd is not None
    return raised.value.rcvd.code


def test_texts_come_in_order_and_the_close_is_clean(port: int) -> None:
    with opened(port, "/counts?to=50") as client:
        assert list(client) == [f"é{number}" for number in range(50)]
        assert close_code(client) == 1000


def test_the_application_hears_of_a_client_that_hangs_up(port: int) -> None:
    with opened(port, "/waits") as client:
        assert client.recv(10) == "welcome"
        client.send("this is heard by nobody")
        client.send(b"nor this")
        assert events.empty()
    assert events.get(timeout=10) == "left"


def test_the_application_hears_of_a_client_that_vanishes(port: int) -> None:
    with opened(port, "/waits") as client:
        assert client.recv(10) == "welcome"
        client.socket.shutdown(socket.SHUT_RDWR)
    assert events.get(timeout=10) == "left"


def test_a_client_that_does_not_read_is_not_sent_more(port: int) -> None:
    with opened(port, "/floods", max_size=None, max_queue=1, close_timeout=1, compression=None) as client:
        sent = 0
        while True:
            try:
                events.get(timeout=1.5)
                sent += 1
            except Empty:
                break
        assert sent < 20, "what nobody reads is in nobody's memory"
        client.socket.shutdown(socket.SHUT_RDWR)
    while events.get(timeout=10) != "left":
        pass


def test_a_message_that_is_too_long_ends_its_own_connection(port: int) -> None:
    with opened(port, "/waits") as long, opened(port, "/waits") as other:
        long.send("x" * 2000)
        assert close_code(long) == 1009
        assert events.get(timeout=10) == "left"
        assert other.recv(10) == "welcome"
        assert events.empty()


@pytest.mark.parametrize("path", ["/refuses", "/nowhere"])
def test_a_handshake_may_be_refused(port: int, path: str) -> None:
    with pytest.raises(InvalidStatus) as raised:
        opened(port, path)
    assert raised.value.response.status_code == 403


def test_a_socket_whose_application_failed_is_not_closed_as_if_it_had_ended(port: int) -> None:
    with opened(port, "/fails") as client:
        assert close_code(client) == 1011


def test_open_sockets_are_closed_with_a_reason_when_the_server_ends() -> None:
    with linked(APP, LIMITS) as server, opened(server.port, "/waits") as client:
        assert client.recv(10) == "welcome"
        threading.Thread(target=server.end).start()
        assert close_code(client) == 1011
