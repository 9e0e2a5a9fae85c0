"""The viewer's server: its page, the list of records, each record as a stream of lines that lasts while it grows."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import msgspec
import trio
from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from referee.harness.bell import Bell
from referee.harness.replay.viewer_frames import Eyes
from referee.harness.web.growing_replay import Followed
from referee.harness.web.guard import bearer
from referee.harness.web.page import STATIC, is_there
from referee.harness.web.replay_list import Shelf

KEPT = 6
"""So many records stay ready that nobody looks at any more."""
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>referee</title>
<link rel="stylesheet" href="/viewer.css">
<div id="app"{mode}></div>
<script src="/viewer.js"></script>
</html>
"""

FILES = ("/viewer.js", "/viewer.css")
"""What the page needs; `file` answers for them."""
LINES = "application/jsonl; charset=utf-8"


def document(mode: str = "") -> Response:
    """The page, in one of the ways that the script knows (`viewer/src/main.tsx`): "" or "screen"."""
    return Response(_PAGE.replace("{mode}", mode and f" data-{mode}"), media_type="text/html")


async def file(request: Request) -> Response:
    """The page's script or style."""
    name = request.url.path.removeprefix("/")
    if not is_there():
        raise HTTPException(404, "no viewer in this installation\n")
    kind = "text/javascript" if name.endswith(".js") else "text/css"
    return Response((STATIC / name).read_bytes(), media_type=kind)


class Rights(Struct, frozen=True):
    """What the holder of a token may see and do."""

    eyes: Eyes = None
    """The seats whose views are shown, and answered for; None = everything is shown."""
    steers: bool = False
    """May pause a match that is played just now, and end it."""


class Viewer:
    """The state of one server. `app` speaks HTTP, `open` is the block in which it works."""

    def __init__(self, shelf: Shelf, tokens: Mapping[str, Rights]) -> None:
        self.shelf = shelf
        self.tokens = tokens
        self.bell = Bell()
        self._followed: dict[tuple[int, Eyes], _Task] = {}
        self._nursery: trio.Nursery | None = None
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                *(Route(path, file) for path in FILES),
                Route("/favicon.ico", self._nothing),
                Route("/matches", self._matches),
                Route("/matches/{number:int}", self._frames),
            ]
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Records are followed while the block lasts."""
        async with trio.open_nursery() as self._nursery:
            yield
            self._nursery.cancel_scope.cancel()

    def rights(self, request: Request) -> Rights:
        """Of whoever asks; 401 without a token of ours."""
        token = bearer(request, self.tokens)
        if token is None:
            raise HTTPException(401, "the address that was printed holds a token, which is missing here\n")
        return self.tokens[token]

    async def _page(self, request: Request) -> Response:
        return document()

    async def _nothing(self, request: Request) -> Response:
        return Response(status_code=204)

    async def _matches(self, request: Request) -> Response:
        if self.rights(request).eyes is not None:
            raise HTTPException(403, "this link shows one match\n")
        entries = await trio.to_thread.run_sync(self.shelf.entries)
        return Response(msgspec.json.encode(entries), media_type="application/json")

    async def _frames(self, request: Request) -> Response:
        rights = self.rights(request)
        number = request.path_params["number"]
        try:
            start = max(0, int(request.query_params.get("from", "0")))
        except ValueError as error:
            raise HTTPException(400, "from: wanted is a number\n") from error
        source = self.shelf.source(number)
        if source is None:
            raise HTTPException(404, "there is no such match\n")
        eyes = rights.eyes if source.grows() else None  # at the end everybody may see everything
        followed = self.follow(number, eyes)
        assert followed is not None
        return StreamingResponse(self.stream(number, followed, rights, start), media_type=LINES)

    def follow(self, number: int, eyes: Eyes) -> Followed | None:
        """The record of that number as those eyes see it; None if there is none."""
        key = number, eyes
        task = self._followed.get(key)
        if task is None:
            source = self.shelf.source(number)
            if source is None:
                return None
            self._tidy()
            task = self._followed[key] = _Task(Followed(source, eyes, self.bell))
            assert self._nursery is not None
            self._nursery.start_soon(task.run)
        return task.followed

    async def stream(self, number: int, followed: Followed, rights: Rights, start: int) -> AsyncIterator[bytes]:
        """The lines from `start` on, and what comes, until the record has ended."""
        followed.lookers += 1
        try:
            async for piece in self._lines(number, followed, rights, start):
                yield piece
        finally:
            followed.lookers -= 1

    async def _lines(self, number: int, followed: Followed, rights: Rights, at: int) -> AsyncIterator[bytes]:
        while True:
            if pieces := followed.batch(at):
                at += len(pieces)
                yield b"".join(pieces)
            elif followed.over:
                return
            else:
                await self.bell.wait()

    @property
    def lookers(self) -> int:
        """How many streams are open."""
        return sum(task.followed.lookers for task in self._followed.values())

    def _tidy(self) -> None:
        """Lets go of what was looked at longest ago."""
        idle = [key for key, task in self._followed.items() if not task.followed.lookers]
        for key in idle[: max(0, len(idle) - KEPT + 1)]:
            self._followed.pop(key).scope.cancel()


class _Task:
    """A record that is followed."""

    def __init__(self, followed: Followed) -> None:
        self.followed = followed
        self.scope = trio.CancelScope()

    async def run(self) -> None:
        with self.scope:
            await self.followed.run()
