"""The cost of watching a match: CPU time of the referee's own process per call, by paired rounds.

`python -m referee.benchmarks.watched [--rounds N] [--draw-after N] [--nobody]` plays ReAntics between instant C++ bots:
unwatched; with the gate at which a page may pause the match, and nothing else (nobody looks); under `--watch` without a
page, with a page that reads everything as it comes, with a page that asked for everything and never reads, with a
thousand that read until the match is over. The variants take turns, and a ratio is the median of the rounds' ratios.
The pages are plain sockets in a process of their own. JSON, with the memory of the viewer's process and of its web
process after each quarter of the rounds.

Where the viewer shares a core with the referee it costs the caches too; many short matches give the finest ratios.
"""

import argparse
import http.client
import io
import json
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import psutil
import trio

from referee.addons.web.watch import ViewerLink, open_viewer
from referee.benchmarks.calls import compiled
from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.match.pause import PauseControl
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.writer import ReplayWriter
from referee.harness.seats.roster import Roster, open_roster

ROUNDS = 20
DRAW_AFTER = 10_000
"""Turns of a match in which nothing happens: long enough that a page comes while it is played."""
ALONE = "unwatched"
READS, NEVER, CROWD = "reads", "never", "crowd"
READERS = 1000
"""Of the crowd."""
Round = Callable[[], Awaitable[float]]
"""Plays, and returns microseconds of CPU time per call."""


class Pages:
    """The process with the clients."""

    def __init__(self, link: str) -> None:
        command = [sys.executable, "-m", "referee.benchmarks.watched", "--page", link]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, *words: object) -> None:
        assert self.process.stdin is not None
        print(*words, file=self.process.stdin, flush=True)

    def hear(self) -> None:
        """Waits until the client has read all."""
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def page(link: str) -> None:
    """Runs one client for each line of standard input: the way to read, the match's number and the path of its replay.

    A client connects once the replay exists, and ends after reading all of it or at an empty line.
    """
    parts = urlsplit(link)
    token = parts.fragment.removeprefix("token=")
    commands = io.FileIO(0, closefd=False)  # unbuffered: a selector sees each line that is not yet read
    for line in commands:
        kind, number, path = line.decode().split()
        while not Path(path).exists() or not Path(path).stat().st_size:
            time.sleep(0.001)
        if kind == CROWD:
            crowd(parts.hostname or "", parts.port or 0, f"/matches/{number}", token, commands)
            print("left", flush=True)
            continue
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0)
        connection.request("GET", f"/matches/{number}", headers={"X-Referee-Token": token})
        if kind == READS:
            answer = connection.getresponse()
            while (read_line := answer.readline()) and not read_line.startswith(b'{"verified":'):
                pass
        commands.readline()
        connection.close()
        print("left", flush=True)


def crowd(host: str, port: int, path: str, token: str, commands: io.FileIO) -> None:
    """Reads one stream over many connections, until a line comes from `commands`."""
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nX-Referee-Token: {token}\r\n\r\n".encode()
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        selector.register(commands, selectors.EVENT_READ)
        for _ in range(READERS):
            reader = stack.enter_context(socket.create_connection((host, port)))
            reader.sendall(request)
            reader.setblocking(False)
            selector.register(reader, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if not isinstance(key.fileobj, socket.socket):
                    commands.readline()
                    return
                if not key.fileobj.recv(1 << 16):
                    selector.unregister(key.fileobj)


class Watched:
    """The matches and the viewer."""

    def __init__(self, match: Match, roster: Roster, end: ViewerLink, pages: Pages, folder: Path) -> None:
        self.match, self.roster, self.end, self.pages = match, roster, end, pages
        self.folder = folder
        self.played = self.shown = 0

    def unwatched(self) -> dict[str, Round]:
        return {ALONE: self.alone, "unwatched, once more": self.alone, "nobody looks: the gate": self.gate}

    def shown_to_pages(self) -> dict[str, Round]:
        return {
            "--watch, no page": self.no_page,
            "--watch, a page that reads": self.reads,
            "--watch, a page that never reads": self.never_reads,
            f"--watch, {READERS:,} pages that read": self.crowd,
        }

    async def alone(self) -> float:
        return await self._round(None)

    async def gate(self) -> float:
        return await self._round(PauseControl(), as_ever=True)

    async def no_page(self) -> float:
        return await self._round(self.end.pace, shown=True)

    async def reads(self) -> float:
        return await self._round(self.end.pace, shown=True, kind=READS)

    async def never_reads(self) -> float:
        return await self._round(self.end.pace, shown=True, kind=NEVER)

    async def crowd(self) -> float:
        return await self._round(self.end.pace, shown=True, kind=CROWD)

    async def _round(
        self, pace: PauseControl | None, as_ever: bool = False, shown: bool = False, kind: str = ""
    ) -> float:
        self.played += 1
        path = self.folder / f"{self.played}.jsonl"
        if shown:
            await self.end.playing(path, [])
            self.shown += 1
        if kind:
            self.pages.say(kind, self.shown - 1, path)
        recorder = ReplayWriter(path) if as_ever else None
        started = time.process_time()
        verdict = await play(msgspec.structs.replace(self.match, replay=path), self.roster, None, pace, recorder)
        spent_us = (time.process_time() - started) * 1e6
        if kind:
            self.pages.say()
            await trio.to_thread.run_sync(self.pages.hear)
        path.unlink()
        return spent_us / sum(seat.calls for seat in verdict.seats)


async def measure(folder: Path, rounds: int, draw_after: int, nobody: bool) -> dict[str, object]:
    """Returns the microseconds of each variant, its ratio to an unwatched match, and the viewer's memory."""
    game = registry.game("reantics")
    command = (str(compiled("reantics_instant.cpp", folder)),)
    options = game.options(draw_after=draw_after)
    match = Match(game, tuple(Entrant(seat, command, folder) for seat in "ab"), 1, options, game.time)
    async with AsyncExitStack() as stack:
        roster = await stack.enter_async_context(open_roster(Limits(isolation=OFF)))
        end = await stack.enter_async_context(open_viewer("127.0.0.1", 0, 0))
        (viewer,) = (each for each in psutil.Process().children() if "referee.addons.web.watch_main" in each.cmdline())
        pages = Pages(end.links["watch"])
        stack.callback(pages.close)
        watched = Watched(match, roster, end, pages, folder)
        variants = watched.unwatched() if nobody else watched.unwatched() | watched.shown_to_pages()
        figures: dict[str, list[float]] = {name: [] for name in variants}
        memory: list[list[float]] = []
        tree = [viewer, *viewer.children()]
        for number in range(rounds + 1):
            for name, variant in sorted(variants.items(), reverse=number % 2 == 1):
                figure = await variant()
                if number:  # the first round warms up
                    figures[name].append(figure)
            if number and number % max(1, rounds // 4) == 0:
                memory.append([round(each.memory_info().rss / 2**20, 1) for each in tree])
    rows = {
        name: {
            "us": round(statistics.median(us), 1),
            "x": round(statistics.median(each / base for each, base in zip(us, figures[ALONE], strict=True)), 3),
        }
        for name, us in figures.items()
    }
    return {"calls": rows, "viewer and web process, MiB": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--draw-after", type=int, default=DRAW_AFTER, help="the length of a match")
    parser.add_argument("--nobody", action="store_true", help="only the variants in which nobody looks")
    parser.add_argument("--page", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.page:
        return page(arguments.page)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(trio.run(measure, Path(folder), arguments.rounds, arguments.draw_after, arguments.nobody)))
    return None


if __name__ == "__main__":
    main()
