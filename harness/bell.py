"""How those who wait for something new are woken."""

import trio


class Bell:
    """Wakes all who wait; each looks for itself what is new."""

    def __init__(self) -> None:
        self.next = trio.Event()
        """Of the next ring. Whoever takes it before looking misses nothing that comes in between."""

    def ring(self) -> None:
        rung, self.next = self.next, trio.Event()
        rung.set()

    async def wait(self) -> None:
        await self.next.wait()
