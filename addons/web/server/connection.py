"""A client's connection: stamps what arrives, and closes a client that sends too much, too slowly or nothing at all.

Uvicorn's own settings limit none of this. Its setting `http` takes the class of a connection, which is
`ClientConnection`: an `asyncio.Protocol` that hands each event on to Uvicorn's.
"""

import asyncio
import ipaddress
import logging
from collections import Counter
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.server.web_clock import WebClock

LINGER_S = 1.0
"""How long we throw away the rest of a refused request, so that the client can read why."""
TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 21\r\nconnection: close\r\n\r\n"
    b"the head is too long\n"
)

log = logging.getLogger("referee.web")


class Connections:
    """All connections of a server."""

    def __init__(self, limits: RequestLimits, clock: WebClock) -> None:
        self.limits = limits
        self.clock = clock
        self._open: dict[ClientConnection, None] = {}
        """In the order of their last requests, the latest last."""
        self._by_network: Counter[str] = Counter()

    def make(self, config: Config, server_state: Any, app_state: dict[str, Any], _loop: Any = None) -> asyncio.Protocol:
        """Returns what serves a new connection. Uvicorn calls this with the arguments of its own classes."""
        connection = ClientConnection(self)
        state = {**app_state, "connection": connection}
        connection.inner = HttpToolsProtocol(config, server_state, state, _loop)
        return connection

    def upgrade(self, config: Config, server_state: Any, app_state: dict[str, Any]) -> asyncio.Protocol:
        """Returns what serves a connection that becomes a WebSocket. Uvicorn calls this as it calls `make`."""
        connection: ClientConnection = app_state["connection"]
        connection.inner = WebSocketsSansIOProtocol(config, server_state, app_state)
        return connection

    def add(self, connection: "ClientConnection") -> bool:
        """Adds a connection. Closes another for it if there are too many; False if all of those are being answered."""
        network = connection.network
        if self._by_network[network] >= self.limits.address_connections and not self._close_one(network):
            return False
        if len(self._open) >= self.limits.connections and not self._close_one():
            return False
        self._open[connection] = None
        self._by_network[network] += 1
        return True

    def _close_one(self, network: str | None = None) -> bool:
        """Closes the connection that has waited longest for a whole request, of all or of a network; False if none."""
        for each in self._open:
            if not each.answers and network in (None, each.network):
                self.remove(each)
                each.transport.abort()
                return True
        return False

    def __len__(self) -> int:
        return len(self._open)

    def have_unsent(self) -> bool:
        """Tells whether a client has yet to read what it was sent."""
        return any(each.transport.get_write_buffer_size() for each in self._open)

    def touch(self, connection: "ClientConnection") -> None:
        """Notes that a connection waits for its next request from now on."""
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    def remove(self, connection: "ClientConnection") -> None:
        """Forgets a connection."""
        if connection in self._open:
            del self._open[connection]
            self._by_network[connection.network] -= 1
            if not self._by_network[connection.network]:
                del self._by_network[connection.network]

    async def close_idle(self) -> None:
        """Closes connections whose clients send no request, or read no response, for too long, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.limits.idle_s / 4)
            now = loop.time()
            for connection in tuple(self._open):
                unsent = connection.transport.get_write_buffer_size()
                if unsent != connection.unsent[0]:
                    connection.unsent = unsent, now
                if unsent:
                    is_left = connection.unsent[1] <= now - self.limits.unread_s
                else:
                    is_left = not connection.requests and connection.active_at <= now - self.limits.idle_s
                if is_left:
                    connection.transport.abort()


class ClientConnection(asyncio.Protocol):
    """One connection. The application finds it in the scope, as `scope["state"]["connection"]`."""

    inner: HttpToolsProtocol | WebSocketsSansIOProtocol
    transport: asyncio.Transport

    def __init__(self, connections: Connections) -> None:
        self.read_at = 0.0
        """When bytes were read last, by the web process's clock."""
        self.active_at = asyncio.get_running_loop().time()
        """When the last request ended."""
        self.requests = 0
        """The number of open requests."""
        self.answers = False
        """A request has arrived whole, and its response has not ended."""
        self.network = ""
        """The client's address, of IPv6 the half that one customer has."""
        self.is_full = False
        """The client has yet to read much of its responses."""
        self.unsent = 0, 0.0
        """How many bytes of responses the client has yet to read, and since when it is as many."""
        self.lost = False
        self.on_lost: dict[int, Any] = {}
        """Called by exchange when the client has left."""
        self._connections = connections
        self._waiting_bytes = 0
        """How much was read since the last request began."""
        self._served = False
        self._refused = False

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.network = _network(transport.get_extra_info("peername"))
        self._served = self._served or self._connections.add(self)  # Uvicorn calls this for a WebSocket again
        if self._served:
            self.inner.connection_made(transport)
        else:
            self._refused = True
            transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return None
        self.read_at = self._connections.clock.now()
        if not self.requests:
            if self._waiting_bytes > self._connections.limits.head_bytes:
                self.transport.write(TOO_LONG)
                return self.refuse()
            self._waiting_bytes += len(data)
        self.inner.data_received(data)
        return None

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        self._connections.remove(self)
        if self._served:
            self.inner.connection_lost(error)
        for leave in tuple(self.on_lost.values()):
            leave()

    def pause_writing(self) -> None:
        self.is_full = True
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        self.is_full = False
        self.inner.resume_writing()

    # Called by the application.

    def request_begins(self) -> None:
        """Notes that the head of a request is complete."""
        self.requests += 1
        self._waiting_bytes = 0

    def request_ends(self) -> None:
        """Notes that the response is complete."""
        self.requests -= 1
        self.answers = False
        self.active_at = asyncio.get_running_loop().time()
        self._connections.touch(self)

    def refuse(self) -> None:
        """Throws away what else the client sends, and closes the connection when it has had time to read why."""
        self._refused = True
        asyncio.get_running_loop().call_later(LINGER_S, self.transport.abort)


def _network(peer: Any) -> str:
    return network(peer[0]) if peer else ""  # it has left already


def network(text: str) -> str:
    """Returns the address of a client, of which one customer has one: of IPv6 the first 64 bits.

    A text that is no address, as a proxy may hand one over, is returned as it is.
    """
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))
