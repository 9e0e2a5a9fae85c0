"""The Arena's requests: tictactoe.md, part C."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.games.game import Game
from referee.harness.servers.arena.arena_seat import ArenaSeat
from referee.harness.servers.arena.runs import Arena, NotAllowed, Run, TooManyBattles
from referee.harness.servers.http import ON_ERROR, members, reply, until_gone
from referee.harness.web.server import arrived_at

ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
"""Pages of any origin may play: the battle's id is the only credential."""
NOW_HEADER = "x-referee-now"

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
        with self.client.events.listening():
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, receive, nursery.cancel_scope)
                async for line in await self.client.open_stream():
                    await send({"type": "http.response.body", "body": b"data: %b\n\n" % line, "more_body": True})
                nursery.cancel_scope.cancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def player_routes(path: str, find: FindSeat) -> list[Route]:
    """Returns a player's routes below a game's `path`: the stream and the moves."""

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
        Route(f"{path}/start/{{battle}}", start, methods=["GET"]),
        Route(f"{path}/play/{{battle}}", play, methods=["POST"]),
        Route(f"{path}/play/{{battle}}", preflight, methods=["OPTIONS"]),
    ]


def app(arena: Arena, test: bool = False) -> Starlette:
    """Returns the application. `test` adds routes that set the time and hold the opponents back."""

    def client_of(ident: str) -> ArenaSeat | None:
        battle = arena.battles.get(ident)
        return None if battle is None else battle.client

    async def root(request: Request) -> Response:
        return PlainTextResponse("The Arena: " + ", ".join(f"/{name}" for name in arena.games) + "\n")

    routes: list[Route] = []
    for name in arena.games:  # first, as Starlette tries routes in order
        routes += player_routes(f"/{name}", client_of)
    for name, game in arena.games.items():
        routes += _coordinator_routes(f"/{name}", arena, game)
    routes.append(Route("/", root))
    if test:
        routes = [Route(route.path, _with_time(arena, route.endpoint), methods=route.methods) for route in routes]
        routes += _test_routes(arena)
    return Starlette(routes=routes, exception_handlers=ON_ERROR)


def _coordinator_routes(path: str, arena: Arena, game: Game) -> list[Route]:
    """Returns the routes of a coordinator and an organiser below a game's `path`."""

    async def evaluate(request: Request) -> Response:
        body = await members(request)
        texts = [body.get(name) for name in ("runId", "callbackUrl", "teamUrl")]
        if not all(isinstance(value, str) and value for value in texts):
            return reply(400, {"error": "missing runId, callbackUrl or teamUrl"})
        ident, callback_url, team_url = map(str, texts)
        case = body["caseType"] if isinstance(body.get("caseType"), str) else None
        run = await _started(arena.evaluate(game, ident, team_url, callback_url, case))
        return reply(200, {"battleIds": [battle.ident for battle in run.battles], "errors": run.errors})

    async def tryout(request: Request) -> Response:
        team_url = (await members(request)).get("teamUrl")
        if not isinstance(team_url, str) or not team_url:
            return reply(400, {"error": "missing teamUrl"})
        run = await _started(arena.evaluate(game, str(uuid4()), team_url, None))
        result = (
            f"{request.url.scheme}://{request.url.netloc}{request.url.path.removesuffix('tryout')}result/{run.ident}"
        )
        return reply(200, {"resultUrl": result, "errors": run.errors})

    async def result(request: Request) -> Response:
        run = arena.runs.get(request.path_params["run"])
        if run is None or run.game is not game:
            return reply(404, {"error": "run not found"})
        if not run.over:
            return reply(200, {"message": "no result yet"})
        return reply(200, {battle.ident: battle.message() for battle in run.battles})

    async def view(request: Request) -> Response:
        battle = arena.battles.get(request.path_params["battle"])
        if battle is None:
            return reply(200, None)
        await battle.settled()
        return reply(200, battle.view())

    async def greet(request: Request) -> Response:
        return reply(200, {"hi": "hi"})

    async def ok(request: Request) -> Response:
        return PlainTextResponse("OK")

    async def to_root(request: Request) -> Response:
        return RedirectResponse("/", 302)

    return [
        Route(f"{path}/evaluate", evaluate, methods=["POST"]),
        Route(f"{path}/tryout", tryout, methods=["POST"]),
        Route(f"{path}/result/{{run}}", result),
        Route(f"{path}/admin/view/{{battle}}", view),
        Route(f"{path}/hi", greet),
        Route(path, ok, methods=["POST"]),
        Route(path, to_root),
    ]


async def _started(run: Awaitable[Run]) -> Run:
    try:
        return await run
    except NotAllowed as error:
        raise HTTPException(400, str(error)) from None
    except TooManyBattles:
        raise HTTPException(503, "too many battles are being played; try again later") from None


# For the original's own tests, which set the time and hold the opponents back (C7).


def _with_time(arena: Arena, endpoint: Any) -> Any:
    """Returns an endpoint that first sets the time to the one in the request."""

    async def timed(request: Request) -> Response:
        _set_time(arena, request)
        response: Response = await endpoint(request)
        return response

    return timed


def _set_time(arena: Arena, request: Request) -> None:
    """Stops the clock at the time in the request. No limit passes by itself any more."""
    text = request.headers.get(NOW_HEADER, "")
    if text.isdigit():
        now_s = int(text[:15]) / 1000
        arena.terms.now, arena.terms.real = lambda: now_s, False


def _test_routes(arena: Arena) -> list[Route]:
    async def sweep(request: Request) -> Response:
        _set_time(arena, request)
        battle = arena.battles.get(request.path_params["battle"])
        why = None if battle is None else battle.client.sweep()
        return reply(200, {} if battle is None or why is None else {battle.ident: why})

    async def pause(request: Request) -> Response:
        _set_time(arena, request)
        arena.switch.pause()
        return reply(200, {})

    async def resume(request: Request) -> Response:
        _set_time(arena, request)
        arena.switch.resume()
        return reply(200, {})

    return [
        Route("/test/sweep/{game}/{battle}", sweep, methods=["POST"]),
        Route("/test/pause", pause, methods=["POST"]),
        Route("/test/resume", resume, methods=["POST"]),
    ]
