"""AIBG's requests: aibg5.md, 13.3. Quirks of the original that clients may rely on are kept."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from referee.addons.aibg.aibg_seat import PendingReply
from referee.addons.aibg.lobby import AibgGame, Lobby
from referee.addons.aibg.users import BadToken, Gatekeeper, Role, TooMany
from referee.addons.web.app import FILES, document, file, pages
from referee.addons.web.guard import HEADERS
from referee.addons.web.page import check_there
from referee.addons.web.server.link import WebLink
from referee.addons.web.server.request import Channel, arrived_at, follow, sent_at
from referee.addons.web.serving.http import ON_ERROR, json_object, own_pages, reply, serving, until_gone
from referee.addons.web.serving.match_host import open_match_host
from referee.harness.common.errors import RunError

NOT_ON_MOVE = "You are not on the move."
GAME_OVER = "The game is over."
TRAINING_OVER = "The training game is over."
TRAINING_BEGUN = "TrainingGame sa id-ijem: {} uspešno napravljen."
"""In the original's language: a client cuts the game's number out of exactly this text (aibg5.md, 13.3)."""
NO_GAME = "You have not joined a game, or there is no such game."
NO_TRAINING = "You have no training game."
EXPECTED_ACTION = 'expected action: "move,Q,R" or "attack,Q,R"'
TICK_S = 1.0
"""How often viewers are sent the clock."""
VIEWERS = 1000
"""The most streams that may be open."""
LAST_FRAME_S = 1.0
"""How long a viewer has to read the last frame and leave. Some lose it if we close the connection at once."""


class Tracked(Response):
    """A JSON response that notes when it was sent."""

    media_type = "application/json"

    def __init__(self, link: WebLink, status: int, value: Any, pending: PendingReply) -> None:
        super().__init__(msgspec.json.encode(value), status)
        self.link = link
        self.pending = pending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        self.pending.mark_sent(sent_at(scope) or self.link.clock.now())  # without the former, the client has left
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def refused(request: Request, error: HTTPException) -> Response:
    """Answers a request that was refused."""
    return reply(error.status_code, {"message": error.detail}, error.headers)


async def impatient(request: Request, error: TooMany) -> Response:
    """Answers after too many wrong passwords."""
    return reply(429, {"message": "too many wrong passwords; try again in a minute"}, {"Retry-After": "60"})


class Endpoints:
    """One method for each request."""

    def __init__(self, lobby: Lobby, keeper: Gatekeeper) -> None:
        self.lobby = lobby
        self.keeper = keeper
        self.viewers = 0
        self.screens: dict[int, Screen] = {}

    def tracked(self, status: int, value: Any, pending: PendingReply) -> Response:
        """Returns a JSON response that notes when it was sent."""
        return Tracked(self.lobby.link, status, value, pending)

    # The user.

    def user(self, request: Request, role: Role) -> str:
        """Returns the user whose token it is. Raises HTTPException."""
        header = request.headers.get("authorization")
        if header is None:
            raise HTTPException(400, "no header Authorization; expected: Bearer TOKEN, with the token from /user/login")
        try:
            name = self.keeper.name_of(header)
        except BadToken:
            raise HTTPException(401, "the token is invalid or has expired") from None
        if (user := self.keeper.users.get(name)) is None:
            raise HTTPException(400, "there is no such user")
        if user.role != role:
            raise HTTPException(403, f"only users with the role {role} may do this")
        return name

    def trainee(self, request: Request) -> str:
        """Does the same for training, where the original answered 500 to a bad token."""
        try:
            return self.user(request, "player")
        except HTTPException as error:
            raise HTTPException(500 if error.status_code == 401 else error.status_code, error.detail) from None

    # Users.

    async def log_in(self, request: Request) -> Response:
        body = await members(request)
        name, password = body.get("username"), body.get("password")
        if not isinstance(name, str) or not isinstance(password, str):
            return bad_request(request, "expected username and password, both as text")
        token = await self.keeper.log_in(name, password, address(request))
        if token is None:
            raise HTTPException(404, "unknown user or wrong password")
        return reply(202, {"token": token})

    # Games.

    async def join(self, request: Request) -> Response:
        name = self.user(request, "player")
        game = self.lobby.game_of(name)
        if game is None:
            raise HTTPException(400, NO_GAME)
        await self.lobby.join(game, name)
        index = game.names.index(name) + 1
        return self.tracked(202, {"playerIdx": index, "gameState": game.position()}, game.seats[name].first)

    async def do_action(self, request: Request) -> Response:
        name = self.user(request, "player")
        action = await posted_action(request)
        if action is None:
            return bad_request(request, EXPECTED_ACTION)
        game = self.lobby.game_of(name)
        if game is None or (name not in game.joined and not game.over):
            raise HTTPException(400, NO_GAME)
        if game.over:
            raise HTTPException(400, GAME_OVER)
        seat = game.seats[name]
        if not seat.on_move:
            return self.tracked(202, {"gameState": game.position(), "message": NOT_ON_MOVE}, seat.out_of_turn())
        pending = seat.act(action, arrived_at(request))
        await pending.ready.wait()
        if pending.turn is None:
            raise HTTPException(400, GAME_OVER)
        message = pending.turn.message or "null"
        return self.tracked(202, {"gameState": game.texts.encode(pending.turn.state), "message": message}, pending)

    # Training.

    async def train(self, request: Request) -> Response:
        name = self.trainee(request)
        body = await members(request)
        map_name, index, minutes = body.get("mapName"), number(body.get("playerIdx")), number(body.get("time"))
        if not isinstance(map_name, str) or index is None or minutes is None or index != int(index):
            return bad_request(request, "expected mapName, playerIdx (1 to 4) and time (minutes)")
        game = await self.lobby.train(name, int(index), minutes, map_name)
        shown = {"message": TRAINING_BEGUN.format(game.number), "gameState": game.position()}
        return self.tracked(202, shown, game.seats[name].first)

    async def action_train(self, request: Request) -> Response:
        name = self.trainee(request)
        action = await posted_action(request)
        if action is None:
            return bad_request(request, EXPECTED_ACTION)
        game = self.lobby.game_of(name, training=True)
        if game is None:
            raise HTTPException(400, NO_TRAINING)
        if game.over:
            raise HTTPException(400, TRAINING_OVER)
        seat = game.seats[name]
        if not seat.on_move:
            raise HTTPException(400, "your last action is still being played")
        pending = seat.act(action, arrived_at(request))
        await pending.ready.wait()
        if pending.turn is None:
            raise HTTPException(400, TRAINING_OVER)
        if pending.turn.message is not None:
            return self.tracked(400, {"message": pending.turn.message}, pending)
        return self.tracked(202, {"gameState": game.texts.encode(pending.turn.state)}, pending)

    # The organiser.

    async def create(self, request: Request) -> Response:
        self.user(request, "admin")
        body = await members(request)
        names, minutes, map_name = body.get("playerUsernames"), number(body.get("time")), body.get("mapName")
        if not isinstance(names, list) or not isinstance(map_name, str) or minutes is None:
            return bad_request(request, "expected playerUsernames (a list), time (minutes) and mapName")
        for name in names:
            user = self.keeper.users.get(name) if isinstance(name, str) else None
            if user is None or user.role != "player":
                raise HTTPException(400, f"there is no player {str(name)[:60]}")
        game = self.lobby.create(names, minutes, map_name)
        return reply(201, {"message": f"The game is created; its gameId is {game.number}"})

    async def delete(self, request: Request) -> Response:
        """Deletes a game, and answers 400 as the original does."""
        self.user(request, "admin")
        body = await members(request)
        which, training = number(body.get("gameId")), body.get("training", False)
        if which is None or not isinstance(training, bool):
            return bad_request(request, "expected gameId, and training (true or false)")
        self.lobby.delete(int(which), training)
        raise HTTPException(400, f"game {int(which)} is deleted")

    # Viewers.

    async def screen(self, request: Request) -> Response:
        """Returns the page that shows a game's stream to those who know the viewers' password.

        The web process sends it itself, except for requests of pages and where there is no viewer.
        """
        try:
            check_there()
        except RunError as error:
            raise HTTPException(404, str(error)) from None
        page = document("screen")
        page.headers.update(HEADERS)
        return page

    async def view(self, request: Request) -> Response:
        if not await self.keeper.may_look(request.query_params.get("password", ""), address(request)):
            return Response(status_code=200)
        return reply(202, frame(self._game(request.query_params.get("gameId", ""))))

    def _game(self, text: str) -> AibgGame:
        """Returns the game of that number. Raises HTTPException."""
        game = self.lobby.games.get(int(text)) if re.fullmatch("[0-9]{1,9}", text) else None
        if game is None:
            raise HTTPException(400, "there is no such game")
        return game

    async def stream(self, socket: WebSocket) -> None:
        """Sends a frame after every action and every second."""
        await socket.accept()
        try:
            if self.viewers >= VIEWERS:
                raise HTTPException(503, "too many viewers; try again later")
            if not await self.keeper.may_look(socket.query_params.get("password", ""), address(socket)):
                raise HTTPException(400, "the password is wrong")
            game = self._game(socket.query_params.get("gameId", ""))
        except TooMany:
            return await say(socket, "too many wrong passwords; try again in a minute")
        except HTTPException as error:
            return await say(socket, error.detail)
        self.viewers += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, socket.receive, nursery.cancel_scope)
                await self._show(game, socket.scope)
                nursery.cancel_scope.deadline = trio.current_time() + LAST_FRAME_S
            await close(socket)
        except* (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self.viewers -= 1
        return None

    async def _show(self, game: AibgGame, scope: Scope) -> None:
        """Lets a viewer follow a game until it is over. All viewers of a game follow one screen."""
        if game.number not in self.screens or self.screens[game.number].game is not game:
            self.screens[game.number] = screen = Screen(game, self.lobby.link.channel())
            self.lobby.link.nursery.start_soon(screen.run)
        screen = self.screens[game.number]
        screen.viewers += 1
        try:
            follow(scope, screen.channel)
            await screen.over.wait()
        finally:
            screen.viewers -= 1
            if not screen.viewers:
                if self.screens.get(game.number) is screen:
                    del self.screens[game.number]
                screen.close()


class Screen:
    """The frames that the viewers of a game see."""

    def __init__(self, game: AibgGame, channel: Channel) -> None:
        self.game = game
        self.channel = channel
        self.viewers = 0
        self.over = trio.Event()
        self._scope = trio.CancelScope()

    async def run(self) -> None:
        """Publishes a frame after every action and every second, until the game is over or nobody looks."""
        with self._scope:
            while True:
                changed, over = self.game.changed.next, self.game.over
                self.channel.publish(msgspec.json.encode(frame(self.game)))
                if over:
                    break
                with trio.move_on_after(TICK_S):
                    await changed.wait()
        self.over.set()

    def close(self) -> None:
        """Publishes nothing more."""
        self._scope.cancel()
        self.channel.close()


def app(lobby: Lobby, keeper: Gatekeeper) -> Starlette:
    """Returns the application."""
    endpoints = Endpoints(lobby, keeper)
    routes = [
        Route("/user/login", own_pages(endpoints.log_in), methods=["POST"]),
        Route("/game/joinGame", own_pages(endpoints.join)),
        Route("/game/doAction", own_pages(endpoints.do_action), methods=["POST"]),
        Route("/game/train", own_pages(endpoints.train), methods=["POST"]),
        Route("/game/actionTrain", own_pages(endpoints.action_train), methods=["POST"]),
        Route("/game/createGame", own_pages(endpoints.create), methods=["POST"]),
        Route("/game/deleteGame", own_pages(endpoints.delete), methods=["POST"]),
        Route("/game", own_pages(endpoints.view)),
        Route("/", own_pages(endpoints.screen)),
        *(Route(path, file) for path in FILES),
        WebSocketRoute("/streaming", endpoints.stream),
    ]
    return Starlette(routes=routes, exception_handlers=ON_ERROR | {HTTPException: refused, TooMany: impatient})


@asynccontextmanager
async def open_aibg(
    bind: str,
    keeper: Gatekeeper,
    names: Iterable[str] = (),
    replays: Path | None = None,
    seed: int | None = None,
    access_log: Path | None = None,
) -> AsyncIterator[tuple[str, Lobby]]:
    """Serves AIBG while the block runs, and yields its address and its games. Raises UsageError.

    `replays` is the folder of the replays, one a game. The seeds of all games are derived from `seed`.
    """
    async with open_match_host(seed) as host:
        lobby = Lobby(host, replays)
        async with serving(app(lobby, keeper), bind, names, pages("screen"), access_log) as (address, link):
            lobby.link = link
            yield address, lobby


def frame(game: AibgGame) -> dict[str, Any]:
    """Returns what a viewer sees."""
    return {"gameState": game.position(), "time": game.left_ms, "playerAttack": game.shot}


async def say(socket: WebSocket, message: str) -> None:
    """Sends one message, then closes the stream."""
    await socket.send_text(msgspec.json.encode({"message": message}).decode())
    with trio.move_on_after(LAST_FRAME_S) as patience:
        await until_gone(socket.receive, patience)
    await close(socket)


async def close(socket: WebSocket) -> None:
    """Closes a stream, unless the viewer has left."""
    if socket.client_state is not WebSocketState.DISCONNECTED:
        await socket.close()


def address(connection: Request | WebSocket) -> str:
    """Returns the address of the client."""
    return "" if connection.client is None else connection.client.host


async def members(request: Request) -> dict[str, Any]:
    """Returns the members of the body, which is JSON whatever its Content-Type says; none of an empty body."""
    text = await request.body()
    return json_object(text) if text.strip() else {}


async def posted_action(request: Request) -> str | None:
    """Returns the action, numbers as text; None if it is missing or empty, which the original refuses."""
    action = (await members(request)).get("action")
    if isinstance(action, (int, float)):
        action = str(action).lower() if isinstance(action, bool) else str(action)
    return action if isinstance(action, str) and action else None


def number(value: Any) -> float | None:
    """Returns a number, also from text; None for anything else, such as NaN and numbers of 1e9 or more."""
    if isinstance(value, str) and len(value) <= 20 and value.isascii():
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e9:
        return None
    return float(value)


def bad_request(request: Request, why: str) -> Response:
    """Returns the error body of the original's framework, with the reason added."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    body = {"timestamp": now, "status": 400, "error": "Bad Request", "message": why, "path": request.url.path}
    return reply(400, body)
