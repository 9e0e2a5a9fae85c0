"""Wakes tasks that wait for something new."""

import trio


class Bell:
    """Wakes every task that waits. Each checks for itself what is new."""

    def __init__(self) -> None:
        self.next = trio.Event()
        """Set at the next ring. Take it before you check, and you miss no ring in between."""

    def ring(self) -> None:
        event, self.next = self.next, trio.Event()
        event.set()

    async def wait(self) -> None:
        await self.next.wait()
