"""The viewer's process beside a match: the pages of who watches, and of people who play.

`python -m referee.harness.web.watch_process DESCRIPTOR`: a socket to the referee (`referee.harness.web.watch`).
"""

import gc
import json
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from referee.games.contract import Player
from referee.harness.replay.lines import state_hash
from referee.harness.web import guard, server
from referee.harness.web.app import Rights, Viewer
from referee.harness.web.draft_turn import Draft
from referee.harness.web.growing_replay import POLL_S, Followed
from referee.harness.web.page import encoded
from referee.harness.web.replay_list import Entry, FileShelf

LEFT_S = 8.0
"""So long pages that are open may take to read the end."""
QUIET_S = 1.0


class Room(Viewer):
    """A viewer of what is played just now, and the table of its people."""

    def __init__(self, stream: trio.SocketStream, tokens: list[str]) -> None:
        """The tokens are those of `room_names`."""
        self._room_tokens = tokens
        super().__init__(FileShelf(), {token: Rights(frozenset()) for token in tokens})
        self._seat_people([])
        self.stream_to_referee = stream
        self.current: int | None = None
        self.shown: int | None = None
        """The current match, once its record has begun: before that no page could show it."""
        self._count = 0  # the referee's own number of the current match
        self.paused = False
        self.over = False
        self.drafts: dict[Player, Draft] = {}
        self.question = 0
        """Grows with all that changes on a desk."""
        self._numbers: dict[Player, int] = {}  # seat -> its question
        self._positions: dict[Player, str] = {}  # seat -> hash of the position it is asked in
        self.app.router.routes += [
            Route("/live", self._steer, methods=["POST"]),
            Route("/seats/{seat:int}", self._answer, methods=["POST"]),
        ]

    # What the referee says.

    async def listen(self) -> None:
        """Hears what is played until there will be no more."""
        rest = b""
        async for data in self.stream_to_referee:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._hear(json.loads(line))
                self.bell.ring()
            if self.over:
                return
        self.over = True

    async def drained(self) -> None:
        """Waits until open pages have read the end; they may come back once for what they were not to see before."""
        with trio.move_on_after(LEFT_S):
            await trio.sleep(QUIET_S)
            while self.lookers:
                await trio.sleep(0.05)
            await trio.sleep(QUIET_S)
            while self.lookers:
                await trio.sleep(0.05)

    def _hear(self, message: dict[str, Any]) -> None:
        if "playing" in message:
            assert isinstance(self.shelf, FileShelf)
            self.current = self.shelf.add(Path(message["playing"]))
            self._count = message["match"]
            self.drafts.clear()
            self._positions.clear()
            self._seat_people(message["people"])
            self.paused = message["paused"]
            assert self._nursery is not None
            self._nursery.start_soon(self._show, self.current)
        elif "asked" in message:
            self._positions[message["asked"]] = message["hash"]
            assert self._nursery is not None
            self._nursery.start_soon(self._seat, message["asked"], message["hash"], message["wrong"])
        elif "withdrawn" in message:
            self.drafts.pop(message["withdrawn"], None)
            self._positions.pop(message["withdrawn"], None)
            self.question += 1
        elif "paused" in message:
            self.paused = message["paused"]
        elif "over" in message:
            self.over = True

    async def _show(self, number: int) -> None:
        """Waits until that match is on record, and sends pages there."""
        while self.current == number and all(entry.number != number for entry in self.shelf.entries()):
            await trio.sleep(POLL_S)
        if self.current == number:
            self.shown = number
            self.bell.ring()

    def _seat_people(self, people: list[Player]) -> None:
        """Who may see and answer what: people change their seats between matches."""
        rights = [Rights(steers=True), Rights(frozenset(people), steers=True)]
        rights += [Rights(frozenset({seat})) for seat in people]
        empty = [Rights(frozenset())] * len(self._room_tokens)
        self.tokens = dict(zip(self._room_tokens, rights + empty, strict=False))

    async def _seat(self, player: Player, position: str, wrong: str) -> None:
        """Waits until our position is the one that the seat is asked in, and puts it before the person."""
        assert self.current is not None
        followed = self.follow(self.current, None)
        assert followed is not None
        followed.needed = True
        while self._positions.get(player) == position:
            if followed.replay is not None and followed.state is not None and state_hash(followed.state) == position:
                self.drafts[player] = draft = Draft(followed.replay.game.name, followed.state, player)
                draft.wrong = wrong
                self._put(player)
                return
            await self.bell.wait()

    def _put(self, player: Player) -> None:
        """There is another question on that seat's desk, or none; those of others stay."""
        self.question += 1
        self._numbers[player] = self.question
        self.bell.ring()

    async def _tell(self, message: dict[str, Any]) -> None:
        """Says it of the match that is played here; where the referee is further already, it is too late."""
        await self.stream_to_referee.send_all(json.dumps({"match": self._count, **message}).encode() + b"\n")

    # What pages say.

    async def _steer(self, request: Request) -> Response:
        if not self.rights(request).steers:
            raise HTTPException(403, "this link only plays\n")
        body = await _body(request)
        what = body.get("do")
        if what not in ("pause", "play", "step", "stop"):
            raise HTTPException(400, "do: wanted is pause, play, step or stop\n")
        if self.over or body.get("match", self.current) != self.current:
            raise HTTPException(409, "that match is over\n")
        await self._tell({"do": what})
        return Response(status_code=204)

    async def _answer(self, request: Request) -> Response:
        seat = request.path_params["seat"]
        if seat not in (self.rights(request).eyes or ()):
            raise HTTPException(403, "this link is not for that seat\n")
        body = await _body(request)
        draft = self.drafts.get(seat)
        if draft is None or body.get("number") != self._numbers.get(seat):
            raise HTTPException(409, "that question is no longer asked\n")
        if body.get("undo"):
            draft.undo()
        elif body.get("leave"):
            del self.drafts[seat]
            await self._tell({"leave": seat})
        else:
            value = draft.sample(secrets.randbits(63)) if body.get("sample") else body.get("answer")
            answers = draft.play(value)
            if answers is not None:
                del self.drafts[seat]
                self._positions.pop(seat, None)
                await self._tell({"seat": seat, "answers": answers})
        self._put(seat)
        return Response(status_code=204)

    # What pages are told.

    async def _matches(self, request: Request) -> Response:
        """People see the match that they play, without the seed of its luck."""
        waits = {} if self.over else {"x-referee-waits": "yes"}
        if self.rights(request).eyes is None:
            return Response(msgspec.json.encode(self.shelf.entries()), headers=waits, media_type="application/json")
        found = [entry for entry in self.shelf.entries() if entry.number == self.current]
        shown: list[Entry] = [msgspec.structs.replace(entry, seed=0, title="") for entry in found]
        return Response(msgspec.json.encode(shown), headers=waits, media_type="application/json")

    def status(self, rights: Rights) -> bytes:
        """What is going on, as a line."""
        seats = sorted(player for player in self.drafts if player in (rights.eyes or ()))
        choice = self.drafts[seats[0]].choice(self._numbers[seats[0]]) if seats else None
        live = {
            "current": self.shown,
            "paused": self.paused,
            "steers": rights.steers and not self.over,
            "choice": choice,
            "over": self.over,
        }
        return encoded({"live": live})

    async def _lines(self, number: int, followed: Followed, rights: Rights, at: int) -> AsyncIterator[bytes]:
        """The lines, and after what is there the status whenever it has changed."""
        last_state: tuple[Any, ...] | None = None
        while not (followed.looked or followed.over):
            await self.bell.wait()
        while True:
            if pieces := followed.batch(at):
                at += len(pieces)
                yield b"".join(pieces)
                continue
            state = self.shown, self.paused, self.over, self.question
            if state != last_state:
                last_state = state
                yield self.status(rights)
            elif followed.over and (self.over or followed.eyes is not None):
                return
            else:
                await self.bell.wait()


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(await request.body())
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, f"{error}\n") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "wanted is an object\n")
    return body


def room_names(people: int) -> list[str]:
    """The links that there are: to everything; to the seats of all people, at one screen; to the seat of each."""
    each = [f"human {number}" for number in range(1, people + 1)] if people > 1 else []
    return ["watch", *(["people"] if people else []), *each]


async def main(descriptor: int) -> None:
    """Serves until the referee is done, and pages have read the end."""
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(socket.socket(fileno=descriptor)))
    terms = json.loads((await _first_line(stream)).decode())
    listening = server.listen(terms["bind"], terms["port"])
    host, port = listening.getsockname()[:2]
    names = room_names(terms["people"])
    tokens = [guard.new_token() for _ in names]
    room = Room(stream, tokens)
    app = guard.Guarded(room.app, guard.allowed_hosts(host, port))
    links = {name: guard.link(host, port, token) for name, token in zip(names, tokens, strict=True)}
    async with room.open(), server.serving(app, listening):
        await room._tell({"links": links})
        await room.listen()
        await room.drained()


async def _first_line(stream: trio.SocketStream) -> bytes:
    """Byte by byte: what comes after it is for the room."""
    line = b""
    while not line.endswith(b"\n"):
        data = await stream.receive_some(1)
        if not data:
            sys.exit(0)
        line += data
    return line


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
    gc.freeze()  # the referee waits for our end: Python would look for garbage in all that was loaded
