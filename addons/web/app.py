"""The viewer's server: its page, the list of replays, and each replay as a stream of lines."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec
import trio
from msgspec import Struct
from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor  # codespell:ignore convertors
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from referee.addons.web.growing_replay import FollowedReplay
from referee.addons.web.guard import HEADERS, bearer
from referee.addons.web.last_position import last_position
from referee.addons.web.page import STATIC, is_there, painters
from referee.addons.web.replay_list import ReplayList
from referee.addons.web.server.pages import Page, page
from referee.addons.web.viewer_frames import Eyes
from referee.games import registry
from referee.harness.match.bell import Bell

KEPT = 6
"""How many replays stay in memory after their last reader has left."""
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>referee</title>
<link rel="stylesheet" href="/viewer.css">
<div id="app"{mode}></div>
{painters}<script src="/viewer.js"></script>
</html>
"""

FILES = ("/viewer.js", "/viewer.css")
"""The files that the page loads, besides painters. `file` serves them."""
LINES = "application/jsonl; charset=utf-8"


class Number(IntegerConvertor):
    """A number in a path. Python converts no text of thousands of digits."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", Number())


def document(mode: str = "", games: Iterable[str] = ()) -> Response:
    """Returns the page in a mode of the script (`viewer/src/main.tsx`): "", "screen" or "projector".

    `games`: those whose painters it loads, each as a script of its own: one that is broken stops no other.
    """
    tags = "".join(f'<script src="/painters/{name}.js"></script>\n' for name in games)
    page = _PAGE.replace("{mode}", mode and f" data-{mode}").replace("{painters}", tags)
    return Response(page, media_type="text/html")


def painted_games() -> list[str]:
    """Returns the names of the games that bring a painter."""
    brought = sorted({*registry.names()} - {*registry.own_names()})
    return [name for name in brought if registry.game(name).painter]


async def file(request: Request) -> Response:
    """Serves the page's script or style."""
    path = request.url.path
    if not is_there():
        raise HTTPException(404, "this installation has no viewer\n")
    return Response(_content(path), media_type=_kind(path))


def pages(mode: str) -> dict[str, Page]:
    """Returns the page in a mode and its files, by path; empty if this installation has no viewer."""
    if not is_there():
        return {}
    files = {path: page(_content(path), f"{_kind(path)}; charset=utf-8", HEADERS) for path in FILES}
    return {"/": page(bytes(document(mode).body), "text/html; charset=utf-8", HEADERS), **files}


def kept(page: Page, request: Request) -> Response:
    """Returns a page for a client that may have it: one asks every few seconds, and most pages stay."""
    status, headers, body = page.answer(dict(request.headers.raw))
    response = Response(body, status)
    response.raw_headers = headers
    return response


def _kind(path: str) -> str:
    return "text/javascript" if path.endswith(".js") else "text/css"


def _content(path: str) -> bytes:
    return (STATIC / path.removeprefix("/")).read_bytes()


class Rights(Struct, frozen=True):
    """The rights of a token's holder."""

    eyes: Eyes = None
    """The seats whose views are shown and that may be answered for; None shows everything."""
    steers: bool = False
    """Whether they may pause, step and stop the match that is being played."""


Brackets = Callable[[], Sequence[Struct]]
"""Returns the brackets that a projector shows between matches, as `viewer/src/bracket.tsx` draws them."""


class Viewer:
    """A server for some replays. `app` is the ASGI application; it works inside the block of `open`."""

    nursery: trio.Nursery

    def __init__(
        self, replays: ReplayList, tokens: Mapping[str, Rights], mode: str = "", brackets: Brackets = list
    ) -> None:
        self.replays = replays
        self.brackets = brackets
        self.mode = mode
        """The page's, as in `document`."""
        self.tokens = tokens
        self.bell = Bell()
        self._followed: dict[tuple[int, Eyes], FollowedReplay] = {}
        self._ends = trio.CapacityLimiter(1)  # threads share one core, and matches that play need theirs
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                *(Route(path, file) for path in FILES),
                Route("/painters/{name}.js", self._painter),
                Route("/favicon.ico", self._nothing),
                Route("/brackets", self._brackets),
                Route("/matches", self._matches),
                Route("/matches/{number:number}", self._frames),
                Route("/matches/{number:number}/end", self._end),
            ]
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Follows replays while the block runs."""
        async with trio.open_nursery() as self.nursery:
            yield
            self.nursery.cancel_scope.cancel()

    def rights(self, request: Request) -> Rights:
        """Returns what the request's token allows. Answers 401 without a valid one."""
        token = bearer(request, self.tokens)
        if token is None:
            raise HTTPException(401, "this address lacks the token; open the link that was printed\n")
        return self.tokens[token]

    async def _page(self, request: Request) -> Response:
        return document(self.mode, await trio.to_thread.run_sync(painted_games))

    async def _painter(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in await trio.to_thread.run_sync(painted_games):
            raise HTTPException(404, "no game of this name brings a painter\n")
        return Response(painters([registry.game(name)]), media_type="text/javascript")

    async def _nothing(self, request: Request) -> Response:
        return Response(status_code=204)

    async def _matches(self, request: Request) -> Response:
        if self.rights(request).eyes is not None:
            raise HTTPException(403, "this link shows one match\n")
        entries = await trio.to_thread.run_sync(self.replays.entries)
        return kept(page(msgspec.json.encode(entries), "application/json", level=0), request)

    async def _end(self, request: Request) -> Response:
        """Answers with the last position of a finished match, or 204 if it has none."""
        if self.rights(request).eyes is not None:
            raise HTTPException(403, "this link shows one match\n")
        source = self.replays.source(request.path_params["number"])
        if source is None:
            raise HTTPException(404, "there is no such match\n")
        content = await trio.to_thread.run_sync(last_position, source, limiter=self._ends)
        return Response(content, media_type=LINES) if content else Response(status_code=204)

    async def _brackets(self, request: Request) -> Response:
        self.rights(request)
        brackets = await trio.to_thread.run_sync(self.brackets)
        return Response(msgspec.json.encode(brackets), media_type="application/json")

    async def _frames(self, request: Request) -> Response:
        rights = self.rights(request)
        number = request.path_params["number"]
        try:
            start = max(0, int(request.query_params.get("from", "0")))
        except ValueError as error:
            raise HTTPException(400, "from: expected a number\n") from error
        source = self.replays.source(number)
        if source is None:
            raise HTTPException(404, "there is no such match\n")
        eyes = rights.eyes if source.grows() else None  # everyone may see everything after the end
        followed = self.follow(number, eyes)
        assert followed is not None
        return StreamingResponse(self.stream(followed, rights, start), media_type=LINES)

    def follow(self, number: int, eyes: Eyes) -> FollowedReplay | None:
        """Returns the replay of that number as those seats see it; None if there is none."""
        key = number, eyes
        if key not in self._followed or self._followed[key].has_no_replay:
            source = self.replays.source(number)
            if source is None:
                return None
            self._drop_unread()
            self._followed[key] = followed = FollowedReplay(source, eyes, self.bell)
            self.nursery.start_soon(followed.run)
        return self._followed[key]

    async def stream(self, followed: FollowedReplay, rights: Rights, start: int) -> AsyncIterator[bytes]:
        """Yields the lines from `start` on, and new ones until the replay has ended."""
        followed.readers += 1
        try:
            async for piece in self._lines(followed, rights, start):
                yield piece
        finally:
            followed.readers -= 1

    async def _lines(self, followed: FollowedReplay, rights: Rights, at: int) -> AsyncIterator[bytes]:
        while True:
            piece, at = followed.piece(at)
            if piece:
                yield piece
            elif followed.over:
                return
            else:
                await self.bell.wait()

    @property
    def readers(self) -> int:
        """The number of open streams."""
        return sum(followed.readers for followed in self._followed.values())

    def _drop_unread(self) -> None:
        """Drops the oldest replays without readers, and keeps some."""
        unread = [key for key, followed in self._followed.items() if not followed.readers]
        for key in unread[: max(0, len(unread) - KEPT + 1)]:
            self._followed.pop(key).scope.cancel()
