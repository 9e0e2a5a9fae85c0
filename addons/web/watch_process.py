"""The viewer's process of `referee --watch` (`watch_main`): pages for those who watch, and for people who play."""

import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from referee.addons.web import guard
from referee.addons.web.app import Rights, Viewer
from referee.addons.web.draft_turn import Draft
from referee.addons.web.growing_replay import POLL_S, FollowedReplay
from referee.addons.web.json_lines import JsonLines
from referee.addons.web.page import encoded
from referee.addons.web.replay_list import FileList, stamp
from referee.addons.web.server.link import open_link
from referee.addons.web.server.start import Started
from referee.games.contract import Player
from referee.harness.replay.lines import state_hash
from referee.protocol.errors import UNDECODABLE

DRAIN_S = 8.0
"""How long open pages have to read the end."""
QUIET_S = 1.0


class Question:
    """A question to a person."""

    def __init__(self, position: str) -> None:
        self.position = position
        """The hash of the position."""
        self.draft: Draft | None = None
        """None until our own position is that one."""
        self.number = 0


class WatchServer(Viewer):
    """Shows the match that is being played, and asks people for their answers."""

    def __init__(self, messages: JsonLines, tokens: list[str]) -> None:
        """`tokens` belong to `link_names`, in that order."""
        self._link_tokens = tokens
        self._replays = FileList()
        super().__init__(self._replays, {})
        self._set_people([])
        self._messages = messages
        self._match = 0  # the referee's number of the current match
        self.current: int | None = None
        """The number of the current match in the list."""
        self.shown: int | None = None
        """The same, once its replay has begun: no page can show it before."""
        self.paused = False
        self.over = False
        self.questions: dict[Player, Question] = {}
        self._changes = 0  # to any question
        self.app.router.routes += [
            Route("/live", self._control, methods=["POST"]),
            Route("/seats/{seat:number}", self._answer, methods=["POST"]),
        ]

    # Messages from the referee.

    async def listen(self, messages: AsyncIterator[dict[str, Any]]) -> None:
        """Handles messages until the last match is over."""
        async for message in messages:
            self._handle(message)
            self.bell.ring()
            if self.over:
                return
        self.over = True

    async def drain(self) -> None:
        """Waits until open pages have read the end. They may reconnect once for what they were not allowed to see."""
        with trio.move_on_after(DRAIN_S):
            for _ in range(2):
                await trio.sleep(QUIET_S)
                while self.readers:
                    await trio.sleep(0.05)

    def _handle(self, message: dict[str, Any]) -> None:
        if "playing" in message:
            self.current = self._replays.add(Path(message["playing"]))
            self._match = message["match"]
            self.questions.clear()
            self._set_people(message["people"])
            self.paused = message["paused"]
            self.nursery.start_soon(self._show, self.current, Path(message["playing"]), message["before"])
        elif "asked" in message:
            self.questions[message["asked"]] = question = Question(message["hash"])
            self.nursery.start_soon(self._ask, message["asked"], question, message["wrong"])
        elif "withdrawn" in message:
            self.questions.pop(message["withdrawn"], None)
            self._changes += 1
        elif "paused" in message:
            self.paused = message["paused"]
        elif "over" in message:
            self.over = True

    async def _show(self, number: int, path: Path, before: list[int] | None) -> None:
        """Waits for the replay of a match, and sends pages there. `before` is the stamp of an older file there."""
        while self.current == number and (
            stamp(path) == before or all(entry.number != number for entry in self.replays.entries())
        ):
            await trio.sleep(POLL_S)
        if self.current == number:
            self.shown = number
            self.bell.ring()

    async def _until_shown(self, number: int) -> None:
        """Waits until the replay of the current match has begun. Who read it before would see an older one, or all."""
        while number == self.current != self.shown and not self.over:
            await self.bell.wait()

    def _set_people(self, people: list[Player]) -> None:
        """Sets what each link may see and answer. People change seats between matches."""
        rights = [Rights(steers=True), Rights(frozenset(people), steers=True)]
        rights += [Rights(frozenset({seat})) for seat in people]
        nothing = [Rights(frozenset())] * len(self._link_tokens)
        self.tokens = dict(zip(self._link_tokens, rights + nothing, strict=False))

    async def _ask(self, player: Player, question: Question, wrong: str) -> None:
        """Waits until our position is the one that the player is asked in, then shows the question."""
        assert self.current is not None
        await self._until_shown(number := self.current)
        followed = self.follow(number, None)
        assert followed is not None
        followed.needed = True
        while self.questions.get(player) is question:
            if followed.position is not None:
                game, state = followed.position
                if state_hash(state) == question.position:
                    question.draft = Draft(game, state, player)
                    question.draft.wrong = wrong
                    return self._changed(player)
            await self.bell.wait()
        return None

    def _changed(self, player: Player) -> None:
        """Gives a player's question a new number, and leaves those of others."""
        self._changes += 1
        if player in self.questions:
            self.questions[player].number = self._changes
        self.bell.ring()

    async def send(self, message: dict[str, Any]) -> None:
        """Sends a message about the current match. The referee ignores it if it plays another by now."""
        await self._messages.send({"match": self._match, **message})

    # Requests from pages.

    async def _control(self, request: Request) -> Response:
        if not self.rights(request).steers:
            raise HTTPException(403, "this link cannot control the match\n")
        body = await _body(request)
        command = body.get("do")
        if command not in ("pause", "play", "step", "stop"):
            raise HTTPException(400, "do: expected pause, play, step or stop\n")
        if self.over or body.get("match", self.current) != self.current:
            raise HTTPException(409, "that match is over\n")
        await self.send({"do": command})
        return Response(status_code=204)

    async def _answer(self, request: Request) -> Response:
        seat = request.path_params["seat"]
        if seat not in (self.rights(request).eyes or ()):
            raise HTTPException(403, "this link is not for that seat\n")
        body = await _body(request)
        question = self.questions.get(seat)
        if question is None or question.draft is None or body.get("number") != question.number:
            raise HTTPException(409, "that question is no longer open\n")
        if body.get("undo"):
            question.draft.undo()
        elif body.get("leave"):
            del self.questions[seat]
            await self.send({"leave": seat})
        else:
            value = question.draft.sample(secrets.randbits(63)) if body.get("sample") else body.get("answer")
            answers = question.draft.play(value)
            if answers is not None:
                del self.questions[seat]
                await self.send({"seat": seat, "answers": answers})
        self._changed(seat)
        return Response(status_code=204)

    async def _matches(self, request: Request) -> Response:
        """Lists all matches that have begun; for people, only the one that they play, without its seed."""
        headers = {} if self.over else {"x-referee-waits": "yes"}
        listed = self.replays.entries()
        entries = [entry for entry in listed if entry.number != self.current or entry.number == self.shown]
        if self.rights(request).eyes is not None:
            current = [entry for entry in entries if entry.number == self.current]
            entries = [msgspec.structs.replace(entry, seed=0, title="") for entry in current]
        return Response(msgspec.json.encode(entries), headers=headers, media_type="application/json")

    async def _frames(self, request: Request) -> Response:
        self.rights(request)
        await self._until_shown(request.path_params["number"])
        return await super()._frames(request)

    def status(self, rights: Rights) -> bytes:
        """Returns the state of play as a line."""
        asked = sorted(player for player, question in self.questions.items() if question.draft is not None)
        seat = next((player for player in asked if player in (rights.eyes or ())), None)
        question = None if seat is None else self.questions[seat]
        live = {
            "current": self.shown,
            "paused": self.paused,
            "steers": rights.steers and not self.over,
            "choice": question and question.draft and question.draft.choice(question.number),
            "over": self.over,
        }
        return encoded({"live": live})

    async def _lines(self, followed: FollowedReplay, rights: Rights, at: int) -> AsyncIterator[bytes]:
        """Yields the lines, and the status whenever it has changed after them."""
        last_state: tuple[Any, ...] | None = None
        while not (followed.caught_up or followed.over):
            await self.bell.wait()
        while True:
            state = self.shown, self.paused, self.over, self._changes
            piece, at = followed.piece(at)
            if piece:
                yield piece
            elif state != last_state:
                last_state = state
                yield self.status(rights)
            elif followed.over and (self.over or followed.eyes is not None):
                return
            else:
                await self.bell.wait()


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(await request.body())
    except UNDECODABLE as error:
        raise HTTPException(400, f"{error}\n") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "expected a JSON object\n")
    return body


def link_names(people: int) -> list[str]:
    """Returns the names of the links: to everything, to the seats of all people, and to the seat of each."""
    each = [f"human {number}" for number in range(1, people + 1)] if people > 1 else []
    return ["watch", *(["people"] if people else []), *each]


async def serve(referee: socket.socket, listening: socket.socket, people: int, web: Started) -> None:
    """Serves until the referee is done and open pages have read the end."""
    messages = JsonLines(referee)
    host, port = listening.getsockname()[:2]
    links = {name: secrets.token_urlsafe(32) for name in link_names(people)}
    watch = WatchServer(messages, list(links.values()))
    app = guard.Guarded(watch.app, guard.allowed_hosts(host, port))
    async with (
        aclosing(messages.receive()) as incoming,
        watch.open(),
        open_link(app, listening, web=web),
    ):
        urls = {name: guard.link(host, port, token) for name, token in links.items()}
        await watch.send({"links": urls})
        await watch.listen(incoming)
        await watch.drain()
