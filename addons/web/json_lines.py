"""JSON messages between the referee and its viewer, one per line."""

import json
import socket
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import trio


class JsonLines:
    """Messages over a connected socket, which it takes over."""

    def __init__(self, connected: socket.socket) -> None:
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(connected))
        self._sending = trio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Sends a message, unless the other end is closed."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async with self._sending:
                await self._stream.send_all(json.dumps(message).encode() + b"\n")

    async def receive(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yields messages until the other end is closed."""
        rest = b""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for data in self._stream:
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    yield json.loads(line)
