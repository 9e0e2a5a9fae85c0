"""`referee --watch`: a viewer in a process beside the match, which pays for a socket that it looks at when it waits.

Lines of JSON go both ways: what is played and who is asked to the viewer; pause, step, stop and answers back.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio

from referee.games.contract import Fault, FaultKind, Player, State
from referee.harness.bell import Bell
from referee.harness.errors import RunError
from referee.harness.match.pause import Pace
from referee.harness.programs.spec import Entrant
from referee.harness.replay.lines import state_hash
from referee.harness.seats.person import Person
from referee.harness.seats.seat import Seat, Withdrawn

START_S = 20.0
END_S = 10.0
NICE = 5
"""The viewer gives way to the bots."""
LEFT = Fault(FaultKind.CRASH, "has left the table")


class Beside:
    """The referee's end."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.pace = Pace()
        self.links: dict[str, str] = {}
        """The address of everything, `watch`, and one for people where there are some: `people`, `seat 0`, …"""
        self._stream = stream
        self._count = 0
        self._queues: dict[Player, list[Any]] = {}
        self._news = Bell()
        self._gone = False
        self._sending = trio.Lock()
        self._wrong: dict[Player, str] = {}

    def person(self, entrant: Entrant) -> Seat:
        """A seat whose answers come from the page."""
        return Person(self._choose, self._refused)

    async def playing(self, record: Path, people: list[Player]) -> None:
        """The next match begins; `people`: their seats, in the order in which they were named."""
        self._count += 1
        self._queues.clear()
        self.pace.begin()
        playing = {"playing": str(record.absolute()), "match": self._count}
        await self._send({**playing, "people": people, "paused": self.pace.paused})

    def hold(self) -> None:
        """The match begins paused."""
        self.pace.pause()

    async def _choose(self, state: State, player: Player) -> Any:
        queue = self._queues.setdefault(player, [])
        if not queue:
            wrong = self._wrong.pop(player, "")
            await self._send({"asked": player, "hash": state_hash(state), "wrong": wrong})
        while not queue:
            if self._gone:
                return LEFT
            if self.pace.stopped:
                await self._send({"withdrawn": player})
                return Withdrawn()
            await self._news.wait()
        return queue.pop(0)

    def _refused(self, player: Player, fault: Fault) -> None:
        self._queues[player] = []
        self._wrong[player] = fault.detail

    async def listen(self) -> None:
        """Obeys what comes from the page until its end."""
        rest = b""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for data in self._stream:
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    await self._obey(json.loads(line))
        self._gone = True
        self.pace.play()
        self._news.ring()

    async def _obey(self, message: dict[str, Any]) -> None:
        if "links" in message:
            self.links = message["links"]
        elif message["match"] != self._count:
            return  # it was said of the match before, whose end had not been heard of there
        elif "answers" in message:
            self._queues.setdefault(message["seat"], []).extend(message["answers"])
        elif "leave" in message:
            self._queues.setdefault(message["leave"], []).append(LEFT)
        elif message.get("do") in ("pause", "play", "step", "stop"):
            getattr(self.pace, message["do"])()
            await self._send({"paused": self.pace.paused})
        self._news.ring()

    async def started(self) -> None:
        """Waits until the pages are there. RunError if they do not come."""
        with trio.move_on_after(START_S):
            while not self.links and not self._gone:
                await self._news.wait()
        if not self.links:
            raise RunError("the viewer has not started")

    async def _send(self, message: dict[str, Any]) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async with self._sending:
                await self._stream.send_all(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def beside(bind: str, port: int, people: int) -> AsyncIterator[Beside]:
    """The viewer's process for the length of the block; pages that are open are given what is left at its end."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "referee.harness.web.watch_process", str(theirs.fileno())]
        process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the referee, which then tells it
            preexec_fn=_give_way,
        )
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
    try:
        async with trio.open_nursery() as nursery:
            end = Beside(stream)
            nursery.start_soon(end.listen)
            await end._send({"bind": bind, "port": port, "people": people})
            await end.started()
            yield end
            await end._send({"over": True})
            with trio.move_on_after(END_S):
                await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()
    finally:
        ours.close()
        process.kill()
        process.wait()


def _give_way() -> None:
    os.nice(NICE)
