"""Estimates when bytes arrived, in an event loop that also has other work to do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from referee.harness.process.stall_clock import stall_clock

WAITED_S = 0.00005
"""A poll that took longer had to wait: the bytes that it found have only just arrived."""


class ArrivalClock(trio.abc.Instrument):
    """Notes when the loop polls its sockets, so that no client pays for what the loop did before.

    `latest` is the earliest moment at which the bytes just read can have arrived: the last poll if that had to wait
    for them, otherwise the poll before it.
    """

    def __init__(self) -> None:
        self._now = stall_clock().now
        self.latest = self._polled_at = self._poll_began_at = self._now()

    def before_io_wait(self, timeout: float) -> None:
        self._poll_began_at = self._now()

    def after_io_wait(self, timeout: float) -> None:
        now = self._now()
        self.latest = now if now - self._poll_began_at > WAITED_S else self._polled_at
        self._polled_at = now


@asynccontextmanager
async def arrival_clock() -> AsyncIterator[ArrivalClock]:
    """Installs a clock while the block runs."""
    clock = ArrivalClock()
    trio.lowlevel.add_instrument(clock)
    try:
        yield clock
    finally:
        trio.lowlevel.remove_instrument(clock)
