"""What is said on a page is of the match that is shown there, however late the referee hears of it."""

import json
import socket
from pathlib import Path

import pytest
import trio

from referee.harness.web.watch import Beside

pytestmark = pytest.mark.slow


@pytest.mark.trio
async def test_what_was_said_of_the_match_before_does_nothing_to_this_one(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    beside = Beside(trio.SocketStream(trio.socket.from_stdlib_socket(ours)))
    room = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))

    async def say(**message: object) -> None:
        await room.send_all(json.dumps(message).encode() + b"\n")

    async with room, trio.open_nursery() as nursery:
        nursery.start_soon(beside.listen)
        for name in ("first", "second"):
            await beside.playing(tmp_path / name, [0])
        first, second = [json.loads(line)["match"] for line in (await room.receive_some()).splitlines()]
        for message in ({"do": "stop"}, {"leave": 0}, {"seat": 0, "answers": [4]}):
            await say(match=first, **message)
        await say(match=second, do="pause")
        with trio.fail_after(5):
            while not beside.pace.paused:
                await trio.sleep(0.01)
        assert not beside.pace.stopped
        assert beside._queues == {}
        nursery.cancel_scope.cancel()
