"""The web process's side of an exchange: the messages about one request, and the channel that its client follows."""

import asyncio
from collections import deque

from referee.addons.web.server.messages import Begin, End, Follow, Piece, Respond

WOKEN = 16
"""How many followers are sent a text before what clients have sent is read again, so that nobody is charged for it."""

FromApp = Respond | Begin | Piece | Follow | End


class Channel:
    """The newest text of a channel, and who follows it."""

    def __init__(self) -> None:
        self.body: bytes | None = None
        self.count = 0
        """How many texts there were."""
        self.followers: dict[Exchange, None] = {}

    def publish(self, body: bytes) -> None:
        """Takes a text, and wakes the followers bit by bit."""
        self.body = body
        self.count += 1
        self._wake(list(self.followers))

    def _wake(self, followers: "list[Exchange]") -> None:
        for follower in followers[-WOKEN:]:
            follower.wake()
        if rest := followers[:-WOKEN]:
            asyncio.get_running_loop().call_soon(self._wake, rest)


class Exchange:
    """The messages of the application about one request."""

    def __init__(self) -> None:
        self._messages: deque[FromApp | None] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._channel: Channel | None = None
        self._seen = 0

    def put(self, message: FromApp | None) -> None:
        """Adds a message; None: there will be no more."""
        self._messages.append(message)
        self.wake()

    def wake(self) -> None:
        """Lets `next` look again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def follow(self, channel: Channel) -> None:
        """Adds what a channel publishes from now on, and its newest text."""
        self._channel = channel
        channel.followers[self] = None

    def close(self) -> None:
        """Follows no more."""
        if self._channel is not None:
            self._channel.followers.pop(self, None)

    async def next(self) -> FromApp | bytes | None:
        """Returns the next message, or the newest text of the channel."""
        while True:
            channel = self._channel
            if channel is not None and channel.count > self._seen and channel.body is not None:
                self._seen = channel.count
                return channel.body
            if self._messages:
                return self._messages.popleft()
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
