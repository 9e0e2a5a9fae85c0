"""A relay that stands for a slow network: it delays what passes, and may hold everything back for a while."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf

import trio

PIECE = 1 << 16


class Relay:
    """Forwards the connections to an address. Made by `relay`."""

    def __init__(self, host: str, port: int, delay_s: float) -> None:
        self.host, self.target, self.delay_s = host, port, delay_s
        self.port = 0
        """Where it listens."""
        self.carried = 0
        """Bytes so far, in both directions."""
        self.open = trio.Event()
        """Nothing passes before this is set. Put a new event here to hold everything back."""
        self.open.set()

    async def _serve(self, near: trio.SocketStream) -> None:
        try:
            far = await trio.open_tcp_stream(self.host, self.target)
        except OSError:
            await near.aclose()
            return
        async with near, far, trio.open_nursery() as nursery:
            for source, sink in ((near, far), (far, near)):
                send, receive = trio.open_memory_channel[tuple[float, bytes]](inf)
                nursery.start_soon(self._read, source, send)
                nursery.start_soon(self._write, receive, sink)

    async def _read(self, source: trio.SocketStream, send: trio.MemorySendChannel[tuple[float, bytes]]) -> None:
        async with send:
            try:
                while data := await source.receive_some(PIECE):
                    await send.send((trio.current_time() + self.delay_s, data))
            except trio.BrokenResourceError:
                pass

    async def _write(self, receive: trio.MemoryReceiveChannel[tuple[float, bytes]], sink: trio.SocketStream) -> None:
        try:
            async for due, data in receive:
                await trio.sleep_until(due)
                await self.open.wait()
                await sink.send_all(data)
                self.carried += len(data)
            await sink.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass


@asynccontextmanager
async def relay(host: str, port: int, delay_s: float) -> AsyncIterator[Relay]:
    """Listens at a free port of this machine. Each direction of a connection is delayed by `delay_s`."""
    made = Relay(host, port, delay_s)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    made.port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, made._serve, [listener])
        yield made
        nursery.cancel_scope.cancel()
