"""The readers of the live table. Each keeps a stream of events open, and all of them get the same bytes."""

import time
from collections import Counter

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from referee.addons.host.access import client_address
from referee.addons.host.settings import WebSettings
from referee.addons.web.server.connection import ClientConnection, network

EVENTS_S = 15.0
"""A stream of events says something at least this often, so that no proxy closes it."""
TABLES_A_SECOND = 200
"""How many readers a second are asked to fetch a table that has changed: the more readers, the rarer the news."""
STREAMS = 3000
"""Open streams of events. They leave connections for pages and forms."""
OF_ADDRESS = STREAMS // 2
"""The same of one address. A school behind one router has one address."""
HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
FULL = b"too many pages are open; reload later\n"
FULL_HEADERS = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(FULL))]


class Readers:
    """The open streams, as an ASGI application. After a change, browsers ask for the table by its entity tag.

    An event is made once, and written to each connection without the layers of the application in between. A client
    that does not read gets no more events until it has read what it was sent. As each event says all that there is to
    know, it misses nothing. The first event comes at once: a page that was made before a change learns of it.
    """

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._by_network: Counter[str] = Counter()
        self._open: dict[ClientConnection, None] = {}
        self._number = self._newest = 0
        """Of the last event, and of the newest table."""
        self._told_at = -EVENTS_S

    def __len__(self) -> int:
        return len(self._open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, and keeps its connection until the client leaves."""
        address = network(client_address(Request(scope), self._settings))
        if len(self) >= STREAMS or self._by_network[address] >= OF_ADDRESS:
            await send({"type": "http.response.start", "status": 503, "headers": FULL_HEADERS})
            return await send({"type": "http.response.body", "body": FULL})
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        is_stream = scope["method"] != "HEAD"
        await send({"type": "http.response.body", "body": self._event(), "more_body": is_stream})
        if not is_stream:
            return None
        connection: ClientConnection = scope["state"]["connection"]
        self._open[connection] = None
        self._by_network[address] += 1
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            del self._open[connection]
            self._by_network[address] -= 1
            if not self._by_network[address]:
                del self._by_network[address]

    def tell(self, number: int) -> None:
        """Tells all readers the number of the newest table, if it has changed or they have heard nothing for long."""
        now, self._newest = time.monotonic(), number
        if now < self._told_at + (EVENTS_S if number == self._number else self._spread_s):
            return
        self._number, self._told_at, event = number, now, self._event()
        chunk = b"%x\r\n%b\r\n" % (len(event), event)
        for connection in self._open:
            if not connection.is_full:
                connection.transport.write(chunk)

    @property
    def _spread_s(self) -> float:
        return max(1.0, len(self) / TABLES_A_SECOND)

    def _event(self) -> bytes:
        return b'event: table\ndata: {"number":%d,"spread_ms":%d}\n\n' % (self._newest, self._spread_s * 1000)
