"""The Arena's requests: tictactoe.md, part C."""

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.addons.arena.arena_seat import ArenaSeat, Compat, Terms
from referee.addons.arena.jobs import jobs, running
from referee.addons.arena.runs import Arena, Settings
from referee.addons.web.server.host_names import read_aliases
from referee.addons.web.server.request import arrived_at, is_cut, sent_at
from referee.addons.web.server.shards import Shard
from referee.addons.web.serving.http import ON_ERROR, members, own_pages, reply, serving, until_gone
from referee.addons.web.serving.match_host import open_match_host
from referee.games.game import Game

ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
"""Pages of any origin may play: the battle's id is the only credential."""
NOW_HEADER = b"x-referee-now"

FindSeat = Callable[[str], ArenaSeat | None]
"""Returns the client's seat of a battle."""


class Stream(Response):
    """The events of a battle, one chunk each."""

    def __init__(self, client: ArenaSeat) -> None:
        super().__init__()
        self.client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"access-control-allow-origin", b"*"),
            (b"connection", b"close"),  # otherwise some client libraries wait for more
        ]

        async def send_event(line: bytes) -> float | None:
            await send({"type": "http.response.body", "body": b"data: %b\n\n" % line, "more_body": True})
            return sent_at(scope)

        with self.client.events.listening():
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, receive, nursery.cancel_scope)
                await self.client.stream(send_event)
                nursery.cancel_scope.cancel()
            self.client.events.was_cut |= is_cut(scope)
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def player_routes(find: FindSeat) -> list[Route]:
    """Returns a player's routes: the stream and the moves. A battle's id is unique, whatever the game."""

    async def start(request: Request) -> Response:
        client = find(request.path_params["battle"])
        if client is None:
            return reply(404, {"error": "battle not found"}, ANY_ORIGIN)
        if request.method == "HEAD":  # a HEAD request does not start the battle
            return Response(headers=ANY_ORIGIN | {"Content-Type": "text/event-stream"})
        return Stream(client)

    async def play(request: Request) -> Response:
        client = find(request.path_params["battle"])
        if client is None:
            return reply(404, {"error": "Battle not found"}, ANY_ORIGIN)
        action = await members(request, arrays=True)
        left_ms = await client.post(action, arrived_at(request))
        if left_ms is None:
            return reply(423, {"error": "Battle already ended"}, ANY_ORIGIN)
        body = {"message": "received your command", "moveId": str(uuid4()), "clock": left_ms}
        return reply(200, body, ANY_ORIGIN)

    async def preflight(request: Request) -> Response:
        allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Allow-Headers": "Content-Type"}
        return Response(status_code=204, headers=ANY_ORIGIN | allowed)

    return [
        Route("/{game}/play/{battle}", play, methods=["POST"]),
        Route("/{game}/start/{battle}", start, methods=["GET"]),
        Route("/{game}/play/{battle}", preflight, methods=["OPTIONS"]),
    ]


class Endpoints:
    """The requests of coordinators and organisers, one method for each."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def client(self, ident: str) -> ArenaSeat | None:
        """Returns the client's seat of a battle."""
        battle = self.arena.battles.get(ident)
        return None if battle is None else battle.client

    def game(self, request: Request) -> Game:
        """Returns the game in the path. Raises HTTPException 404."""
        game = self.arena.games.get(request.path_params["game"])
        if game is None:
            raise HTTPException(404)
        return game

    async def root(self, request: Request) -> Response:
        return PlainTextResponse("The Arena: " + ", ".join(f"/{name}" for name in self.arena.games) + "\n")

    async def evaluate(self, request: Request) -> Response:
        game, body = self.game(request), await members(request)
        texts = [body.get(name) for name in ("runId", "callbackUrl", "teamUrl")]
        if not all(isinstance(value, str) and value for value in texts):
            return reply(400, {"error": "missing runId, callbackUrl or teamUrl"})
        ident, callback_url, team_url = map(str, texts)
        case = body["caseType"] if isinstance(body.get("caseType"), str) else None
        run = await self.arena.evaluate(game, ident, team_url, callback_url, case)
        return reply(200, {"battleIds": [battle.ident for battle in run.battles], "errors": run.errors})

    async def tryout(self, request: Request) -> Response:
        game, team_url = self.game(request), (await members(request)).get("teamUrl")
        if not isinstance(team_url, str) or not team_url:
            return reply(400, {"error": "missing teamUrl"})
        run = await self.arena.evaluate(game, self.arena.shard.new_ident(), team_url, None)
        path = request.url.path.removesuffix("tryout") + f"result/{run.ident}"
        return reply(200, {"resultUrl": str(request.url.replace(path=path)), "errors": run.errors})

    async def result(self, request: Request) -> Response:
        game, run = self.game(request), self.arena.runs.get(request.path_params["run"])
        if run is None or run.game is not game:
            return reply(404, {"error": "run not found"})
        if not run.over:
            return reply(200, {"message": "no result yet"})
        return reply(200, {battle.ident: battle.message() for battle in run.battles})

    async def view(self, request: Request) -> Response:
        self.game(request)
        battle = self.arena.battles.get(request.path_params["battle"])
        if battle is None:
            return reply(200, None)
        await battle.settled()
        return reply(200, battle.view())

    async def greet(self, request: Request) -> Response:
        self.game(request)
        return reply(200, {"hi": "hi"})

    async def ok(self, request: Request) -> Response:
        self.game(request)
        return PlainTextResponse("OK")

    async def to_root(self, request: Request) -> Response:
        self.game(request)
        return RedirectResponse("/", 302)

    # For the original's own tests, which set the time and hold the opponents back (C7).

    async def sweep(self, request: Request) -> Response:
        client = self.client(request.path_params["battle"])
        why = None if client is None else client.sweep()
        return reply(200, {} if client is None or why is None else {client.ident: why})

    async def pause(self, request: Request) -> Response:
        self.arena.pause.pause()
        return reply(200, {})

    async def resume(self, request: Request) -> Response:
        self.arena.pause.play()
        return reply(200, {})


def app(arena: Arena, test: bool = False) -> ASGIApp:
    """Returns the application. With `test`, requests set the time and can hold the opponents back."""
    endpoints = Endpoints(arena)
    routes = [
        *player_routes(endpoints.client),
        Route("/", own_pages(endpoints.root)),
        Route("/{game}/evaluate", own_pages(endpoints.evaluate), methods=["POST"]),
        Route("/{game}/tryout", own_pages(endpoints.tryout), methods=["POST"]),
        Route("/{game}/result/{run}", own_pages(endpoints.result)),
        Route("/{game}/admin/view/{battle}", own_pages(endpoints.view)),
        Route("/{game}/hi", own_pages(endpoints.greet)),
        Route("/{game}", own_pages(endpoints.ok), methods=["POST"]),
        Route("/{game}", own_pages(endpoints.to_root)),
    ]
    if not test:
        return Starlette(routes=routes, exception_handlers=ON_ERROR)
    routes += [
        Route("/test/sweep/{game}/{battle}", own_pages(endpoints.sweep), methods=["POST"]),
        Route("/test/pause", own_pages(endpoints.pause), methods=["POST"]),
        Route("/test/resume", own_pages(endpoints.resume), methods=["POST"]),
    ]
    inner = Starlette(routes=routes, exception_handlers=ON_ERROR)

    async def timed(scope: Scope, receive: Receive, send: Send) -> None:
        """Stops the clock at the time in the request. No limit passes by itself any more."""
        text = dict(scope["headers"]).get(NOW_HEADER, b"")
        if text.isdigit():
            now_s = int(text[:15]) / 1000
            arena.terms.now, arena.terms.real = lambda: now_s, False
        await inner(scope, receive, send)

    return timed


@asynccontextmanager
async def open_arena(
    bind: str,
    settings: Settings,
    compat: Compat = "seed",
    names: Iterable[str] = (),
    test: bool = False,
    access_log: Path | None = None,
    count: int = 1,
) -> AsyncIterator[tuple[str, Arena]]:
    """Serves the Arena while the block runs, and yields its address and itself. Raises UsageError.

    With `test`, requests set the time of day and can hold opponents back. `count` processes play the battles.
    """
    terms = Terms(compat, now=time.time, real=False) if test else Terms(compat)
    known = read_aliases(names)
    with running(jobs(settings, compat, known, count)) as further:
        async with open_match_host(settings.seed) as host:
            arena = Arena(host, terms, settings, Shard(0, count))
            links = [each.control for each in further]
            async with (
                serving(app(arena, test), bind, known, access_log=access_log, others=links) as (address, link),
                trio.open_nursery() as nursery,
            ):
                for each in further:
                    nursery.start_soon(each.report_end)
                if not test:
                    terms.now, terms.latest = link.clock.now, link.latest
                yield address, arena
                nursery.cancel_scope.cancel()
