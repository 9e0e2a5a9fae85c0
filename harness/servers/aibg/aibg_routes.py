"""AIBG's requests: aibg5.md, 13.3. Where the original has a quirk that a client may count on, it is here too."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
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

from referee.harness.errors import RunError
from referee.harness.servers.aibg.aibg_seat import Reply
from referee.harness.servers.aibg.lobby import Refused, Room, Rooms
from referee.harness.servers.http import ON_ERROR, json_object, reply, until_gone
from referee.harness.servers.users import BadToken, Gatekeeper, Role, TooMany
from referee.harness.web.app import FILES, document, file
from referee.harness.web.guard import HEADERS
from referee.harness.web.page import check_there
from referee.harness.web.server import heard_at

NOT_ON_MOVE = "You are not on the move."
GAME_OVER = "The game is over."
TRAINING_OVER = "The training game is over."
TRAINING_BEGUN = "TrainingGame sa id-ijem: {} uspešno napravljen."
"""In the original's language, since a client cuts the game's number out of exactly this text (aibg5.md, 13.3)."""
NO_GAME = "You have not joined a game, or there is no such game."
NO_TRAINING = "You have no training game."
WANTED_ACTION = 'action is wanted: "move,Q,R" or "attack,Q,R"'
TICK_S = 1.0
"""Viewers hear of the clock so often."""
VIEWERS = 200
"""So many streams may be open."""
TAKEN_S = 1.0
"""So long a viewer has to take the last frame and leave: some lose what a connection brought last if we close it."""


class Written(Response):
    """An answer that says when it has gone out."""

    def __init__(self, status: int, value: Any, after: Reply | None = None) -> None:
        super().__init__(msgspec.json.encode(value), status, media_type="application/json")
        self.after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.after is not None:
                self.after.written()


class Refusal(Exception):
    """A status and a message."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.message = message


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return reply(error.status, {"message": error.message})


async def _http_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return reply(error.status_code, {"message": error.detail}, error.headers)


async def _impossible(request: Request, error: Exception) -> Response:
    return reply(400, {"message": str(error)})


async def _impatient(request: Request, error: Exception) -> Response:
    return reply(429, {"message": "too many wrong passwords; come again in a minute"}, {"Retry-After": "60"})


class Front:
    """The requests, as methods of what they need."""

    def __init__(self, rooms: Rooms, keeper: Gatekeeper) -> None:
        self.rooms = rooms
        self.keeper = keeper
        self.viewers = 0

    # Who asks.

    def user(self, request: Request, role: Role) -> str:
        """The user whose token it is. Refusal."""
        header = request.headers.get("authorization")
        if header is None:
            raise Refusal(
                400, "there is no header Authorization; wanted is: Bearer TOKEN, with the token of /user/login"
            )
        try:
            name = self.keeper.name_of(header)
        except BadToken:
            raise Refusal(401, "the token is none of ours, or has ended") from None
        if (user := self.keeper.users.get(name)) is None:
            raise Refusal(400, "there is no such user")
        if user.role != role:
            raise Refusal(403, f"this is for a user whose role is {role}")
        return name

    def trainee(self, request: Request) -> str:
        """The same for training, where the original failed upon a bad token."""
        try:
            return self.user(request, "player")
        except Refusal as error:
            raise Refusal(500 if error.status == 401 else error.status, error.message) from None

    # Users.

    async def log_in(self, request: Request) -> Response:
        given = await members(request)
        name, password = given.get("username"), given.get("password")
        if not isinstance(name, str) or not isinstance(password, str):
            return bad_request(request, "username and password are wanted, both as text")
        token = await self.keeper.log_in(name, password, address(request))
        if token is None:
            raise Refusal(404, "there is no user of that name and password")
        return reply(202, {"token": token})

    # Games.

    async def join(self, request: Request) -> Response:
        name = self.user(request, "player")
        room = self.rooms.of(name)
        if room is None:
            raise Refusal(400, NO_GAME)
        await self.rooms.join(room, name)
        index = room.names.index(name) + 1
        return Written(202, {"playerIdx": index, "gameState": room.position()}, room.players[name].first)

    async def do_action(self, request: Request) -> Response:
        name = self.user(request, "player")
        action = await posted_action(request)
        if action is None:
            return bad_request(request, WANTED_ACTION)
        room = self.rooms.of(name)
        if room is None or (name not in room.joined and not room.over):
            raise Refusal(400, NO_GAME)
        if room.over:
            raise Refusal(400, GAME_OVER)
        player = room.players[name]
        if not player.on_move:
            return Written(202, {"gameState": room.position(), "message": NOT_ON_MOVE}, player.out_of_turn())
        turn = player.act(action, heard_at(request))
        await turn.ready.wait()
        if turn.shown is None:
            raise Refusal(400, GAME_OVER)
        message = turn.shown.message or "null"
        return Written(202, {"gameState": room.texts.of(turn.shown.state), "message": message}, turn)

    # Training.

    async def train(self, request: Request) -> Response:
        name = self.trainee(request)
        given = await members(request)
        map_name, index, minutes = given.get("mapName"), number(given.get("playerIdx")), number(given.get("time"))
        if not isinstance(map_name, str) or index is None or minutes is None or index != int(index):
            return bad_request(request, "mapName, playerIdx (1 to 4) and time (minutes) are wanted")
        room = await self.rooms.train(name, int(index), minutes, map_name)
        body = {"message": TRAINING_BEGUN.format(room.number), "gameState": room.position()}
        return Written(202, body, room.players[name].first)

    async def action_train(self, request: Request) -> Response:
        name = self.trainee(request)
        action = await posted_action(request)
        if action is None:
            return bad_request(request, WANTED_ACTION)
        room = self.rooms.of(name, training=True)
        if room is None:
            raise Refusal(400, NO_TRAINING)
        if room.over:
            raise Refusal(400, TRAINING_OVER)
        player = room.players[name]
        if not player.on_move:
            raise Refusal(400, "an action of yours is being played")
        turn = player.act(action, heard_at(request))
        await turn.ready.wait()
        if turn.shown is None:
            raise Refusal(400, TRAINING_OVER)
        if turn.shown.message is not None:
            return Written(400, {"message": turn.shown.message}, turn)
        return Written(202, {"gameState": room.texts.of(turn.shown.state)}, turn)

    # The organiser.

    async def create(self, request: Request) -> Response:
        self.user(request, "admin")
        given = await members(request)
        names, minutes, map_name = given.get("playerUsernames"), number(given.get("time")), given.get("mapName")
        if not isinstance(names, list) or not isinstance(map_name, str) or minutes is None:
            return bad_request(request, "playerUsernames (a list), time (minutes) and mapName are wanted")
        for name in names:
            user = self.keeper.users.get(name) if isinstance(name, str) else None
            if user is None or user.role != "player":
                raise Refusal(400, f"there is no player {str(name)[:60]}")
        room = self.rooms.create(names, minutes, map_name)
        return reply(201, {"message": f"The game is created; its gameId is {room.number}"})

    async def delete(self, request: Request) -> Response:
        """Works, and answers with 400 all the same, as the original does."""
        self.user(request, "admin")
        given = await members(request)
        which, training = number(given.get("gameId")), given.get("training", False)
        if which is None or not isinstance(training, bool):
            return bad_request(request, "gameId is wanted, and training (true or false)")
        self.rooms.delete(int(which), training)
        raise Refusal(400, f"game {int(which)} is deleted")

    # Viewers.

    async def screen(self, request: Request) -> Response:
        """The page that shows a game's stream to those who have the viewers' password."""
        try:
            check_there()
        except RunError as error:
            raise Refusal(404, str(error)) from None
        shown = document("screen")
        shown.headers.update(HEADERS)
        return shown

    async def view(self, request: Request) -> Response:
        if not await self.keeper.may_look(request.query_params.get("password", ""), address(request)):
            return Response(status_code=200)
        return reply(202, frame(self.room(request.query_params.get("gameId", ""))))

    def room(self, text: str) -> Room:
        """The game of that number. Refusal."""
        found = self.rooms.rooms.get(int(text)) if text.isdigit() and len(text) < 10 else None
        if found is None:
            raise Refusal(400, "there is no such game")
        return found

    async def stream(self, socket: WebSocket) -> None:
        """A frame after every action and every second."""
        await socket.accept()
        try:
            if self.viewers >= VIEWERS:
                raise Refusal(503, "as many look as may; come again")
            if not await self.keeper.may_look(socket.query_params.get("password", ""), address(socket)):
                raise Refusal(400, "the password is wrong")
            room = self.room(socket.query_params.get("gameId", ""))
        except TooMany:
            return await say(socket, "too many wrong passwords; come again in a minute")
        except Refusal as error:
            return await say(socket, error.message)
        self.viewers += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, socket.receive, nursery.cancel_scope)
                while True:
                    changed, over = room.changed.next, room.over
                    await socket.send_text(msgspec.json.encode(frame(room)).decode())
                    if over:
                        break
                    with trio.move_on_after(TICK_S):
                        await changed.wait()
                nursery.cancel_scope.deadline = trio.current_time() + TAKEN_S
            await close(socket)
        except* (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self.viewers -= 1
        return None


def app(rooms: Rooms, keeper: Gatekeeper) -> Starlette:
    """The whole front."""
    front = Front(rooms, keeper)
    routes = [
        Route("/user/login", front.log_in, methods=["POST"]),
        Route("/game/joinGame", front.join),
        Route("/game/doAction", front.do_action, methods=["POST"]),
        Route("/game/train", front.train, methods=["POST"]),
        Route("/game/actionTrain", front.action_train, methods=["POST"]),
        Route("/game/createGame", front.create, methods=["POST"]),
        Route("/game/deleteGame", front.delete, methods=["POST"]),
        Route("/game", front.view),
        Route("/", front.screen),
        *(Route(path, file) for path in FILES),
        WebSocketRoute("/streaming", front.stream),
    ]
    handlers: Mapping[Any, Callable[..., Awaitable[Response]]] = {
        Refusal: _refused,
        Refused: _impossible,
        TooMany: _impatient,
        HTTPException: _http_refused,
    }
    return Starlette(routes=routes, exception_handlers={**ON_ERROR, **handlers})


def frame(room: Room) -> dict[str, Any]:
    """What a viewer sees."""
    return {"gameState": room.position(), "time": room.left_ms, "playerAttack": room.shot}


async def say(socket: WebSocket, message: str) -> None:
    """One frame, then the end."""
    await socket.send_text(msgspec.json.encode({"message": message}).decode())
    with trio.move_on_after(TAKEN_S) as patience:
        await until_gone(socket.receive, patience)
    await close(socket)


async def close(socket: WebSocket) -> None:
    """Ends a stream, unless the viewer has."""
    if socket.client_state is not WebSocketState.DISCONNECTED:
        await socket.close()


def address(connection: Request | WebSocket) -> str:
    """Where a request comes from."""
    return "" if connection.client is None else connection.client.host


async def members(request: Request) -> dict[str, Any]:
    """The members of the body, which is JSON whatever its head says; none where there is none."""
    text = await request.body()
    return json_object(text) if text.strip() else {}


async def posted_action(request: Request) -> str | None:
    """The action, a number as text; None if it is missing or empty, which the original refuses before it is one."""
    action = (await members(request)).get("action")
    if isinstance(action, (int, float)):
        action = str(action).lower() if isinstance(action, bool) else str(action)
    return action if isinstance(action, str) and action else None


def number(value: Any) -> float | None:
    """A number, also as text; None for anything else."""
    if isinstance(value, str) and len(value) <= 20:
        try:
            value = float(value)
        except ValueError:
            return None
    return (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9 else None
    )


def bad_request(request: Request, why: str) -> Response:
    """The error body of the original's framework, with the reason that it left out."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    body = {"timestamp": now, "status": 400, "error": "Bad Request", "message": why, "path": request.url.path}
    return reply(400, body)
