"""Messages from a page count only for the match that the page shows."""

import json
import socket
from pathlib import Path

import pytest
import trio

from referee.addons.web.json_lines import JsonLines
from referee.addons.web.watch import ViewerLink

pytestmark = pytest.mark.slow


@pytest.mark.trio
async def test_messages_about_an_earlier_match_are_ignored(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    link = ViewerLink(JsonLines(ours))
    viewer = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))

    async def say(**message: object) -> None:
        await viewer.send_all(json.dumps(message).encode() + b"\n")

    async with viewer, trio.open_nursery() as nursery:
        nursery.start_soon(link.listen)
        for name in ("first", "second"):
            await link.playing(tmp_path / name, [0])
        first, second = [json.loads(line)["match"] for line in (await viewer.receive_some()).splitlines()]
        for message in ({"do": "stop"}, {"leave": 0}, {"seat": 0, "answers": [4]}):
            await say(match=first, **message)
        await say(match=second, do="pause")
        with trio.fail_after(5):
            while not link.pace.paused:
                await trio.sleep(0.01)
        assert not link.pace.stopped
        assert link._answers == {}
        nursery.cancel_scope.cancel()
