"""The Arena's requests: tictactoe.md, part C."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.games.contract import Game
from referee.harness.servers.arena.arena_seat import RemotePlayer
from referee.harness.servers.arena.runs import Arena, NoRoom, NotAllowed
from referee.harness.servers.http import ON_ERROR, members, reply, until_gone
from referee.harness.web.server import heard_at

ANYBODY = {"Access-Control-Allow-Origin": "*"}
"""Pages of any origin may play: whoever knows a battle's id is its player, and nothing else counts."""
NOW_HEADER = "x-referee-now"

Find = Callable[[str], RemotePlayer | None]
"""Gives the client of a battle by its id."""


class Stream(Response):
    """The events of a battle, each a chunk of its own."""

    def __init__(self, client: RemotePlayer) -> None:
        super().__init__()
        self.client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"access-control-allow-origin", b"*"),
            (b"connection", b"close"),  # a library that reads the socket itself would wait for more after the end
        ]
        with self.client.listening():
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, receive, nursery.cancel_scope)
                async for line in self.client.stream():
                    await send({"type": "http.response.body", "body": b"data: %b\n\n" % line, "more_body": True})
                nursery.cancel_scope.cancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def playing(path: str, find: Find) -> list[Route]:
    """What a player needs, below a game's `path`: its stream and its moves."""

    async def start(request: Request) -> Response:
        client = find(request.path_params["battle"])
        if client is None:
            return reply(404, {"error": "battle not found"}, ANYBODY)
        if request.method == "HEAD":  # a HEAD request does not start the battle
            return Response(headers=ANYBODY | {"Content-Type": "text/event-stream"})
        return Stream(client)

    async def play(request: Request) -> Response:
        client = find(request.path_params["battle"])
        if client is None:
            return reply(404, {"error": "Battle not found"}, ANYBODY)
        action = await members(request, arrays=True)
        left_ms = await client.post(action, heard_at(request))
        if left_ms is None:
            return reply(423, {"error": "Battle already ended"}, ANYBODY)
        body = {"message": "received your command", "moveId": str(uuid4()), "clock": left_ms}
        return reply(200, body, ANYBODY)

    async def preflight(request: Request) -> Response:
        allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Allow-Headers": "Content-Type"}
        return Response(status_code=204, headers=ANYBODY | allowed)

    return [
        Route(f"{path}/start/{{battle}}", start, methods=["GET"]),
        Route(f"{path}/play/{{battle}}", play, methods=["POST"]),
        Route(f"{path}/play/{{battle}}", preflight, methods=["OPTIONS"]),
    ]


def app(arena: Arena, test: bool = False) -> Starlette:
    """The whole front; `test` adds what moves the time and holds the opponents back."""

    def client_of(ident: str) -> RemotePlayer | None:
        battle = arena.battles.get(ident)
        return None if battle is None else battle.client

    async def root(request: Request) -> Response:
        return PlainTextResponse("The Arena: " + ", ".join(f"/{name}" for name in arena.games) + "\n")

    routes = [route for name in arena.games for route in playing(f"/{name}", client_of)]  # they are tried one by one
    for name, game in arena.games.items():
        routes += _coordinating(f"/{name}", arena, game)
    routes.append(Route("/", root))
    if test:
        routes = [Route(route.path, _in_test(arena, route.endpoint), methods=route.methods) for route in routes]
        routes += _testing(arena)
    return Starlette(routes=routes, exception_handlers=ON_ERROR)


def _coordinating(path: str, arena: Arena, game: Game) -> list[Route]:
    """What a coordinator and an organiser need, below a game's `path`."""

    async def evaluate(request: Request) -> Response:
        given = await members(request)
        texts = [given.get(name) for name in ("runId", "callbackUrl", "teamUrl")]
        if not all(isinstance(value, str) and value for value in texts):
            return reply(400, {"error": "missing runId, callbackUrl or teamUrl"})
        ident, callback_url, team_url = map(str, texts)
        case = given["caseType"] if isinstance(given.get("caseType"), str) else None
        run = await _ordered(arena.evaluate(game, ident, team_url, callback_url, case))
        return reply(200, {"battleIds": [battle.ident for battle in run.battles], "errors": run.errors})

    async def tryout(request: Request) -> Response:
        team_url = (await members(request)).get("teamUrl")
        if not isinstance(team_url, str) or not team_url:
            return reply(400, {"error": "missing teamUrl"})
        run = await _ordered(arena.evaluate(game, str(uuid4()), team_url, None))
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


def places(arena: Arena) -> Callable[[bytes], int | None]:
    """Tells by a request's target which worker it is for; None: any.

    Orders go round, so that a coordinator with a single connection has all workers play.
    """
    turn = count(arena.crew.number)

    def place(target: bytes) -> int | None:
        *_, verb, ident = ["", *unquote(target.partition(b"?")[0].decode("latin1")).rstrip("/").split("/")]
        if ident in ("evaluate", "tryout"):
            return next(turn) % arena.crew.of
        if verb in ("start", "play", "view"):
            return arena.crew.owner(ident)
        return arena.place_of_run(ident) if verb == "result" else None

    return place


async def _ordered(run: Awaitable[Any]) -> Any:
    try:
        return await run
    except NotAllowed as error:
        raise HTTPException(400, str(error)) from None
    except NoRoom:
        raise HTTPException(503, "as many battles go on as there may be; come again") from None


# For tests of the original's own, which set the time and hold the opponents back (C7).


def _in_test(arena: Arena, endpoint: Any) -> Any:
    """The endpoint with the time that the request brings along."""

    async def at_that_time(request: Request) -> Response:
        _set_time(arena, request)
        response: Response = await endpoint(request)
        return response

    return at_that_time


def _set_time(arena: Arena, request: Request) -> None:
    """From now on that is the time: it stands, and no limit passes by itself."""
    text = request.headers.get(NOW_HEADER, "")
    if text.isdigit():
        now_s = int(text[:15]) / 1000
        arena.terms.now, arena.terms.real = lambda: now_s, False


def _testing(arena: Arena) -> list[Route]:
    async def sweep(request: Request) -> Response:
        _set_time(arena, request)
        battle = arena.battles.get(request.path_params["battle"])
        why = None if battle is None else battle.client.sweep()
        return reply(200, {} if battle is None or why is None else {battle.ident: why})

    async def pause(request: Request) -> Response:
        _set_time(arena, request)
        arena.switch.hold()
        return reply(200, {})

    async def resume(request: Request) -> Response:
        _set_time(arena, request)
        arena.switch.release()
        return reply(200, {})

    return [
        Route("/test/sweep/{game}/{battle}", sweep, methods=["POST"]),
        Route("/test/pause", pause, methods=["POST"]),
        Route("/test/resume", resume, methods=["POST"]),
    ]
