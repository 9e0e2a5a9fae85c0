"""A page that requests a match and never reads uses bounded memory and does not block others."""

import fcntl
import shutil
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from pages import Played

from referee.addons.web import growing_replay, replay_list
from referee.addons.web.app import Rights, Viewer
from referee.addons.web.growing_replay import POLL_S, FollowedReplay
from referee.addons.web.replay_list import FileList, FileSource
from referee.addons.web.server.limits import listen
from referee.addons.web.server.link import open_link
from referee.harness.match.bell import Bell

pytestmark = pytest.mark.slow

LINE = b"x" * 999 + b"\n"
MANY = 100_000
"""Lines of a long match, 100 MB. All are the same object."""
MOST_BYTES = 8 << 20
"""A batch of lines and the kernel's buffers of a connection."""


class Counting(Viewer):
    """Counts the bytes that were handed to clients."""

    handed = 0

    async def stream(self, followed: FollowedReplay, rights: Rights, start: int) -> AsyncIterator[bytes]:
        async for piece in super().stream(followed, rights, start):
            self.handed += len(piece)
            yield piece


def viewer_of(record: Path) -> Counting:
    viewer = Counting(FileList(record), {})
    viewer.rights = lambda request: Rights()  # type: ignore[method-assign]
    return viewer


async def asking(port: int) -> trio.SocketStream:
    """Connects a client that requests the match."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    await stream.send_all(b"GET /matches/0 HTTP/1.1\r\nhost: here\r\n\r\n")
    return stream


async def settled(viewer: Counting) -> int:
    """Waits until no more bytes are handed to clients, and returns their number."""
    before = -1
    while before != viewer.handed:
        before = viewer.handed
        await trio.sleep(0.5)
    return before


def test_a_page_that_never_reads_uses_bounded_memory(played: Played) -> None:
    record = played("tictactoe")

    async def run() -> None:
        with trio.fail_after(60):
            await look()

    async def look() -> None:
        viewer = viewer_of(record)
        listening = listen("127.0.0.1")
        port = listening.getsockname()[1]
        async with viewer.open(), open_link(viewer.app, listening):
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
            assert viewer.readers == 2
            await stuck.aclose()
            await other.aclose()
            while viewer.readers:
                await trio.sleep(0.01)

    trio.run(run)


def test_readers_at_the_same_line_share_one_piece_of_bounded_size(played: Played) -> None:
    followed = FollowedReplay(FileSource(played("tictactoe")), None, Bell())
    followed.lines = [LINE] * 100 + [LINE * 100]
    first, at = followed.piece(0)
    assert followed.piece(0)[0] is first and first == LINE * 16 and at == 16
    assert followed.piece(100) == (LINE * 100, 101), "a line is never cut"
    assert followed.piece(101) == (b"", 101)
    followed.lines.append(LINE)
    assert followed.piece(101) == (LINE, 102)


def test_a_replay_is_not_followed_while_all_readers_have_stopped(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_replay, "AHEAD", 5)
    *lines, _ = played("reantics").read_bytes().splitlines(keepends=True)
    record = tmp_path / "growing.jsonl"

    async def run() -> None:
        with trio.fail_after(60), record.open("wb", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # like the writer of a replay
            file.write(b"".join(lines[:10]))
            viewer = viewer_of(record)
            async with viewer.open():
                followed = viewer.follow(0, None)
                assert followed is not None
                page = viewer.stream(followed, Rights(), 0)
                await anext(page)
                for line in lines[10:]:
                    file.write(line)
                    await trio.sleep(POLL_S if len(followed.lines) < 30 else 0)
                await trio.sleep(5 * POLL_S)
                made = len(followed.lines)
                assert made < len(lines), "the page has stopped reading"
                taken = 0
                while taken < made:
                    taken += (await anext(page)).count(b"\n")
                while len(followed.lines) < len(lines):
                    await trio.sleep(POLL_S)
                await page.aclose()

    trio.run(run)


def test_a_file_without_end_is_not_read_to_its_end(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Path(shutil.copy(played("tictactoe"), tmp_path))
    monkeypatch.setattr(replay_list, "PIECE_BYTES", 1 << 20)
    monkeypatch.setattr(growing_replay, "MAX_BYTES", 5 << 20)
    with record.open("ab") as file:
        file.truncate(1 << 30)

    async def followed() -> FollowedReplay:
        replay = FollowedReplay(FileSource(record), None, Bell())
        with trio.fail_after(20):
            await replay.run()
        return replay

    tracemalloc.start()
    try:
        lines = trio.run(followed).lines
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert b"cannot read the replay: it has more than 5 MiB" in lines[-1]
    assert peak < 40 << 20
