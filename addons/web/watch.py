"""`referee --watch`: the referee's end of a viewer that runs in a process of its own.

Lines of JSON go both ways. The referee sends which match is played and who is asked; the viewer sends pause, play, step
and stop, and people's answers.
"""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from referee.addons.web.json_lines import JsonLines
from referee.addons.web.replay_list import stamp
from referee.addons.web.server.limits import listen
from referee.games.contract import Fault, FaultKind, Player, State
from referee.harness.common.errors import RunError
from referee.harness.match.bell import Bell
from referee.harness.match.pause import PauseControl
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.lines import state_hash
from referee.harness.seats.person import Person
from referee.harness.seats.seat import Seat, Withdrawn

START_S = 20.0
END_S = 10.0
NICENESS = 5
"""The bots have priority over the viewer."""
LEFT = Fault(FaultKind.CRASH, "has left the table")


class ViewerLink:
    """The connection to the viewer's process."""

    def __init__(self, messages: JsonLines) -> None:
        self.pace = PauseControl()
        self.links: dict[str, str] = {}
        """Addresses: `watch` shows everything; `people`, `human 1`, … are for people who play."""
        self._messages = messages
        self._match = 0  # counts matches
        self._answers: dict[Player, list[Any]] = {}
        self._refusals: dict[Player, str] = {}
        self._changed = Bell()
        self._closed = False

    def person(self, entrant: Entrant) -> Seat:
        """Returns a seat whose answers come from a page."""
        return Person(self._choose, self._refused)

    async def playing(self, replay: Path, people: list[Player]) -> None:
        """Announces the next match. `people` are the seats of people, in the order of the command line."""
        self._match += 1
        self._answers.clear()
        self.pace.begin()
        playing = {"playing": str(replay.absolute()), "before": stamp(replay), "match": self._match}
        await self._messages.send({**playing, "people": people, "paused": self.pace.paused})

    async def _choose(self, state: State, player: Player) -> Any:
        answers = self._answers.setdefault(player, [])
        if not answers:
            wrong = self._refusals.pop(player, "")
            await self._messages.send({"asked": player, "hash": state_hash(state), "wrong": wrong})
        while not answers:
            if self._closed:
                return LEFT
            if self.pace.stopped:
                await self._messages.send({"withdrawn": player})
                return Withdrawn()
            await self._changed.wait()
        return answers.pop(0)

    def _refused(self, player: Player, fault: Fault) -> None:
        self._answers[player] = []
        self._refusals[player] = fault.detail

    async def listen(self) -> None:
        """Handles the viewer's messages until it ends."""
        async for message in self._messages.receive():
            await self._handle(message)
        self._closed = True
        self.pace.play()
        self._changed.ring()

    async def _handle(self, message: dict[str, Any]) -> None:
        if "links" in message:
            self.links = message["links"]
        elif message["match"] != self._match:
            return  # sent before the viewer had heard that the last match was over
        elif "answers" in message:
            self._answers.setdefault(message["seat"], []).extend(message["answers"])
        elif "leave" in message:
            self._answers.setdefault(message["leave"], []).append(LEFT)
        elif message.get("do") in ("pause", "play", "step", "stop"):
            getattr(self.pace, message["do"])()
            await self._messages.send({"paused": self.pace.paused})
        self._changed.ring()

    async def wait_started(self) -> None:
        """Waits until the viewer serves its pages. Raises RunError if it does not start."""
        with trio.move_on_after(START_S):
            while not self.links and not self._closed:
                await self._changed.wait()
        if not self.links:
            raise RunError(f"the viewer did not start within {START_S:g} s; try again, or play without --watch")


@asynccontextmanager
async def open_viewer(bind: str, port: int, people: int) -> AsyncIterator[ViewerLink]:
    """Runs the viewer's process while the block runs. At its end, open pages are sent the rest. Raises UsageError."""
    listening = listen(bind, port)
    ours, theirs = socket.socketpair()
    with theirs, listening:
        fds = [theirs.fileno(), listening.fileno()]
        process = subprocess.Popen(
            [sys.executable, "-m", "referee.addons.web.watch_main", *map(str, [*fds, people])],
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the referee, which then ends the viewer
            preexec_fn=lambda: os.nice(NICENESS),
        )
    try:
        async with trio.open_nursery() as nursery:
            messages = JsonLines(ours)
            link = ViewerLink(messages)
            nursery.start_soon(link.listen)
            await link.wait_started()
            yield link
            await messages.send({"over": True})
            with trio.move_on_after(END_S):
                await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()
    finally:
        ours.close()
        process.kill()
        process.wait()
