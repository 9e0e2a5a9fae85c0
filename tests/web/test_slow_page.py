"""A page that asks for a match and never reads: what is held for it is bounded, and others go on."""

from collections.abc import AsyncIterator
from pathlib import Path

import trio
from pages import Played

from referee.harness.web.app import Rights, Viewer
from referee.harness.web.follow import Followed
from referee.harness.web.server import listen, serving
from referee.harness.web.shelf import FileShelf

LINE = b"x" * 999 + b"\n"
MANY = 100_000
"""Lines of a long match: 100 MB. All are the same object."""
MOST_BYTES = 8 << 20
"""A batch of lines, and what the kernel takes of a connection."""


class Counting(Viewer):
    """Knows how many bytes were handed on to its clients."""

    handed = 0

    async def stream(self, number: int, followed: Followed, rights: Rights, start: int) -> AsyncIterator[bytes]:
        async for piece in super().stream(number, followed, rights, start):
            self.handed += len(piece)
            yield piece


def viewer_of(record: Path) -> Counting:
    viewer = Counting(FileShelf(record), {})
    viewer.rights = lambda request: Rights()  # type: ignore[method-assign]
    return viewer


async def asking(port: int) -> trio.SocketStream:
    """A client that has asked for the match."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    await stream.send_all(b"GET /matches/0 HTTP/1.1\r\nhost: here\r\n\r\n")
    return stream


async def settled(viewer: Counting) -> int:
    """What was handed on, once that has stopped."""
    before = -1
    while before != viewer.handed:
        before = viewer.handed
        await trio.sleep(0.5)
    return before


def test_a_page_that_never_reads_makes_nothing_grow(played: Played) -> None:
    record = played("tictactoe")

    async def run() -> None:
        with trio.fail_after(60):
            await look()

    async def look() -> None:
        viewer = viewer_of(record)
        listening = listen("127.0.0.1")
        port = listening.getsockname()[1]
        async with viewer.open(), serving(viewer.app, listening):
            followed = viewer.follow(0, None)
            assert followed is not None
            while not followed.over:
                await trio.sleep(0.01)
            followed.over = False  # it grows
            followed.lines += [LINE] * MANY
            stuck = await asking(port)
            while not viewer.handed:
                await trio.sleep(0.01)
            held = await settled(viewer)
            assert held < MOST_BYTES
            followed.lines += [LINE] * MANY
            viewer.bell.ring()
            assert await settled(viewer) == held, "nothing more is made ready for it"
            other, taken = await asking(port), 0
            while taken < 2 * MOST_BYTES:
                taken += len(await other.receive_some(1 << 20))
            assert viewer.lookers == 2
            await stuck.aclose()
            await other.aclose()
            while viewer.lookers:
                await trio.sleep(0.01)

    trio.run(run)
