"""A client with many connections closes its own, and keeps nobody else out."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import trio
from linked import linked
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from referee.addons.web.server.connection import _network
from referee.addons.web.server.limits import RequestLimits

pytestmark = [pytest.mark.slow, pytest.mark.skipif("sys.platform != 'linux'", reason="other systems have one address")]
GREEDY, OTHER = "127.0.0.2", "127.0.0.3"
ASKED = b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def port() -> Iterator[int]:
    """Runs a server with five connections, three of them for one address."""

    async def ask(request: Request) -> Response:
        return PlainTextResponse("answer")

    async def wait(request: Request) -> Response:
        await trio.sleep(30)
        return PlainTextResponse("late")

    app = Starlette(routes=[Route("/ask", ask), Route("/wait", wait)])
    with linked(app, RequestLimits(connections=5, address_connections=3)) as server:
        yield server.port


def opened(port: int, address: str, stack: ExitStack) -> socket.socket:
    return stack.enter_context(socket.create_connection(("127.0.0.1", port), 5, source_address=(address, 0)))


def is_answered(raw: socket.socket) -> bool:
    """Sends a request, and tells whether it is answered; if not, the connection is closed."""
    received = b""
    try:
        raw.sendall(ASKED % b"ask")
        while not received.endswith(b"answer"):
            if not (data := raw.recv(1 << 16)):
                return False
            received += data
    except ConnectionError:
        return False
    return True


def test_further_connections_of_an_address_close_its_oldest_idle_one(port: int) -> None:
    with ExitStack() as stack:
        other = opened(port, OTHER, stack)
        assert is_answered(other)
        greedy = []
        for _ in range(12):
            greedy.append(opened(port, GREEDY, stack))
            assert is_answered(greedy[-1])
        assert is_answered(other), "another address lost its connection, the oldest of all"
        assert [is_answered(each) for each in greedy] == [False] * 9 + [True] * 3


def test_an_address_whose_connections_are_all_being_answered_gets_no_more(port: int) -> None:
    with ExitStack() as stack:
        waiting = [opened(port, GREEDY, stack) for _ in range(3)]
        for each in waiting:
            each.sendall(ASKED % b"wait")
        with pytest.raises(TimeoutError):
            waiting[-1].settimeout(0.5)
            waiting[-1].recv(1)
        assert not is_answered(opened(port, GREEDY, stack))
        assert is_answered(opened(port, OTHER, stack))
        waiting.pop().close()
        other = opened(port, OTHER, stack)
        assert is_answered(other)  # by then the server has seen that it left
        assert is_answered(opened(port, GREEDY, stack)), "a connection that has ended still counts"


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        (("10.1.2.3", 1), "10.1.2.3"),
        (("::ffff:10.1.2.3", 1, 0, 0), "10.1.2.3"),
        (("2001:db8:1:2:3:4:5:6", 1, 0, 0), "2001:db8:1:2::"),
        (("fe80::1%eth0", 1, 0, 2), "fe80::"),
        (None, ""),
    ],
)
def test_an_address_of_ipv6_counts_with_its_network(peer: object, network: str) -> None:
    assert _network(peer) == network
