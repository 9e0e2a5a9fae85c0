"""Pages of replays, and of matches that people play. All tests of a worker share one event loop and one web process."""

import json
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from linked import Linked, linked
from pages import Viewing
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.addons.web.app import Rights, Viewer
from referee.addons.web.cli.view import _final, _replays
from referee.addons.web.guard import Guarded, allowed_hosts, link
from referee.addons.web.json_lines import JsonLines
from referee.addons.web.watch import ViewerLink
from referee.addons.web.watch_process import WatchServer, link_names
from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match
from referee.harness.match.series import Outcome, People, Series, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrants
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.seats.kinds import PERSON

END_S = 60
SHORT = {
    "aibg5": {"rounds": 2},
    "aiarena21": {"turns": 4},
    "reantics": {"draw_after": 4},
    "quoridor": {"max_turns": 10},
}
"""Options with which people are done soon."""


class Run:
    """A match, or some, under `--watch`."""

    def __init__(self, series: Series, paused: bool) -> None:
        match = series.match
        assert match.replay is not None
        self.series, self.paused, self.replay = series, paused, match.replay
        self.people = [index for index, each in enumerate(match.entrants) if PERSON.plays(each)]
        self.tokens = {name: secrets.token_urlsafe(32) for name in link_names(len(self.people))}
        self.links: dict[str, str] = {}
        self.outcome: Outcome | None = None
        self.ready, self.over, self.scope = threading.Event(), threading.Event(), trio.CancelScope()
        self.go = threading.Event()
        """Set when matches may begin. Before, the viewer knows only that the first one comes."""

    @property
    def turns(self) -> int:
        """How many turns are in the replay."""
        return self.replay.read_bytes().count(b'\n{"turn":')

    @property
    def lines(self) -> list[Any]:
        """The lines of the replay."""
        return [json.loads(line) for line in self.replay.read_bytes().splitlines()]

    def end(self) -> None:
        """Waits for the end. The replay verifies."""
        assert self.over.wait(END_S)
        assert self.outcome is not None
        assert verify(Replay(self.replay)) is not None


class Room:
    """The event loop and its web process. `app` is what the newest run serves."""

    app: ASGIApp
    server: Linked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    @property
    def port(self) -> int:
        """The port of all pages."""
        return self.server.port

    async def play(self, run: Run) -> None:
        """Plays as the command line does, and serves until `run.scope` is cancelled."""
        sockets = socket.socketpair()
        ours, theirs = map(JsonLines, sockets)
        talk, watch = ViewerLink(ours), WatchServer(theirs, list(run.tokens.values()))
        run.links = {name: link("127.0.0.1", self.port, token) for name, token in run.tokens.items()}
        if run.paused:
            talk.pace.pause()

        async def begin(match: Match, order: tuple[int, ...]) -> None:
            assert match.replay is not None
            await talk.playing(match.replay, [order.index(index) for index in run.people])
            await trio.to_thread.run_sync(run.go.wait, abandon_on_cancel=True)

        try:
            with run.scope:
                async with trio.open_nursery() as nursery, aclosing(theirs.receive()) as incoming, watch.open():
                    self.serve(watch)
                    run.ready.set()
                    nursery.start_soon(talk.listen)
                    nursery.start_soon(watch.listen, incoming)
                    people = People(talk.person, talk.pace, begin)
                    run.outcome = await play_series(run.series, Limits(isolation=OFF), people=people)
                    await ours.send({"over": True})
                    run.over.set()
                    await trio.sleep_forever()
        finally:
            run.over.set()
            for each in sockets:
                each.close()

    def serve(self, viewer: Viewer) -> None:
        """Serves a viewer instead of the one before."""
        self.app = Guarded(viewer.app, allowed_hosts("127.0.0.1", self.port))

    async def show(self, viewer: Viewer, ends: trio.CancelScope, ready: threading.Event, over: threading.Event) -> None:
        """Serves replays until the scope is cancelled."""
        with ends:
            async with viewer.open():
                self.serve(viewer)
                ready.set()
                await trio.sleep_forever()
        over.set()


Watched = Callable[..., AbstractContextManager[Run]]


@pytest.fixture(scope="session")
def room(viewer: None) -> Iterator[Room]:
    """Runs a room."""
    room = Room()
    with linked(room) as room.server:
        yield room


@pytest.fixture
def watched(room: Room, tmp_path: Path) -> Watched:
    """Plays a match or some while the block runs, with options of the game."""

    @contextmanager
    def play(
        game: str, *bots: str, paused: bool = False, games: int = 1, held: bool = False, **options: Any
    ) -> Iterator[Run]:
        found = registry.game(game)
        seated = entrants(bots, game, people=True)
        match = Match(found, seated, 7, found.options(**options), found.time, replay=tmp_path / "match.jsonl")
        run = Run(Series(match, games), paused)
        if not held:
            run.go.set()
        room.server.begin(room.play, run)
        assert run.ready.wait(10)
        try:
            yield run
        finally:
            run.go.set()
            room.server.call(run.scope.cancel)
            assert run.over.wait(20)

    return play


@pytest.fixture
def viewing(room: Room) -> Viewing:
    """Serves replays as `referee view` does while the block runs, and yields the address."""

    @contextmanager
    def show(place: Path, other: Path | None = None, projector: bool = False) -> Iterator[str]:
        replays, brackets = _final(place) if projector else (_replays(place, other), list)
        token, ends, ready, over = secrets.token_urlsafe(32), trio.CancelScope(), threading.Event(), threading.Event()
        viewer = Viewer(replays, {token: Rights()}, "projector" if projector else "", brackets)
        room.server.begin(room.show, viewer, ends, ready, over)
        assert ready.wait(20)
        try:
            yield link("127.0.0.1", room.port, token, "" if other is None else "match=0&with=1&")
        finally:
            room.server.call(ends.cancel)
            assert over.wait(20)

    return show


@contextmanager
def watching_process(folder: Path, *words: str) -> Iterator[tuple["subprocess.Popen[str]", dict[str, str]]]:
    """Runs `referee --watch` with one person, and yields its process and links."""
    command = [sys.executable, "-m", "referee.harness.cli.main", *words, "--watch", "--no-browser", "--seed", "7"]
    with subprocess.Popen(
        [*command, "--isolation", "off"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        assert process.stderr is not None
        try:
            lines = [process.stderr.readline() for _ in ("watch", "people")]
            yield process, {line[:10].strip(): line.split()[-1] for line in lines}
        finally:
            process.kill()
