"""Measures what spectators of a hosted contest wait for and cost, while real games of tic-tac-toe are played.

`python -m referee.benchmarks.spectators [--readers N] [--bots N] [--jobs N] [--seconds N] [--rounds N]`. Readers act as
the page's script: each keeps a stream of events open, and asks for the table some time after an event, on a
second connection. Rounds with readers and without take turns. For each, a line of JSON:

- `event`: from the first reader's event to each other's, in ms; `table`: from the request to the whole table, in ms;
- `us`: CPU time of the web process for an event, in µs a reader, with the table and without it (`--events-only`);
- `decided`, `slowed`: games that the machine may have decided, and in which it took a tenth of a bot's time.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from referee.addons.host.play import PlaySettings
from referee.addons.host.settings import WebSettings
from referee.addons.host.store import Store
from referee.addons.tournament import organise
from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.plan import read_plan, write_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.web.server.limits import listen
from referee.benchmarks.hosting import PLAY, bots
from referee.harness.isolation.self_protection import allow_descriptors

WEB = "referee.addons.host.web_process"
BEGIN_S = 5.0
"""How long the readers may take to connect, before a round is measured."""
DESCRIPTORS = 8192
Figures = dict[str, object]
HEAD = "GET {path} HTTP/1.1\r\nhost: {host}\r\naccept-encoding: gzip\r\n{more}\r\n"


class Stream(asyncio.Protocol):
    """A reader's stream of events."""

    def __init__(self, crowd: "Crowd") -> None:
        self.crowd, self.known, self.rest = crowd, -1, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(HEAD.format(path="/events", host=self.crowd.host, more="").encode())

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            if line.startswith(b"data: "):
                said = json.loads(line.removeprefix(b"data: "))
                if self.known not in (-1, said["number"]):
                    self.crowd.heard(self, said["number"], now, said["spread_ms"] / 1000)
                self.known = said["number"]


class Table(asyncio.Protocol):
    """A reader's connection for the table."""

    def __init__(self, crowd: "Crowd") -> None:
        self.crowd, self.tag, self.asked_at, self.rest = crowd, "", 0.0, b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._ask()

    def ask(self) -> None:
        """Asks for the table, on a new connection if the server has closed the last one, which was idle."""
        if self.asked_at:
            return
        if self.transport is None:
            self.crowd.connect(self)
        else:
            self._ask()

    def _ask(self) -> None:
        assert self.transport is not None
        self.asked_at = time.monotonic()
        more = f"if-none-match: {self.tag}\r\n" if self.tag else ""
        self.transport.write(HEAD.format(path="/", host=self.crowd.host, more=more).encode())

    def data_received(self, data: bytes) -> None:
        self.rest += data
        head, whole, body = self.rest.partition(b"\r\n\r\n")
        lines = head.decode().lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        if not whole or len(body) < int(fields.get("content-length", "0")):
            return
        self.crowd.tables.append(time.monotonic() - self.asked_at)
        self.crowd.wrong += lines[0].split()[1] not in ("200", "304")
        self.tag, self.asked_at, self.rest = fields.get("etag", ""), 0.0, b""

    def connection_lost(self, error: Exception | None) -> None:
        self.transport, self.rest = None, b""
        if self.asked_at:
            self.asked_at = 0.0
            self.crowd.connect(self)


class Crowd:
    """The readers."""

    def __init__(self, port: int, events_only: bool) -> None:
        self.port, self.host, self.events_only = port, f"127.0.0.1:{port}", events_only
        self.events: dict[int, list[float]] = {}
        """By number of the event, when each reader heard it."""
        self.tables: list[float] = []
        self.wrong = 0
        """Responses that are no table."""
        self._tables: dict[Stream, Table] = {}
        self._connecting: set[asyncio.Task[object]] = set()

    def heard(self, stream: Stream, number: int, at: float, spread_s: float) -> None:
        self.events.setdefault(number, []).append(at)
        if not self.events_only:
            table = self._tables.setdefault(stream, Table(self))
            asyncio.get_running_loop().call_later(spread_s * random.random(), table.ask)

    def connect(self, protocol: asyncio.Protocol) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(loop.create_connection(lambda: protocol, "127.0.0.1", self.port))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def read(self, readers: int, seconds: float) -> Figures:
        """Reads for some time after all have connected."""
        for number in range(readers):
            self.connect(Stream(self))
            if number % 50 == 49:
                await asyncio.sleep(0.05)
        await asyncio.sleep(BEGIN_S)
        self.events.clear()
        self.tables.clear()
        print("begin", flush=True)
        await asyncio.sleep(seconds)
        late = [at - min(heard) for heard in self.events.values() for at in heard]
        return {
            "events": len(self.events),
            "heard": len(late),
            "event": _shares(late),
            "tables": len(self.tables),
            "table": _shares(self.tables),
            "wrong": self.wrong,
        }


def _shares(values: Sequence[float]) -> dict[str, float]:
    """Returns percentiles in milliseconds."""
    values = sorted(values) or [0.0]
    return {
        f"p{share}": round(1000 * values[min(len(values) - 1, len(values) * share // 100)], 1) for share in (50, 99)
    }


def one_round(folder: Path, readers: int, count: int, jobs: int, seconds: float, events_only: bool) -> Figures:
    """Plays a new contest, with readers or without, and returns its figures."""
    cup = folder / "cup"
    cup.mkdir(parents=True)
    write_plan(organise.plan_without_bots(organise.Request("tictactoe", (), format="ladder", seed=1)), cup / PLAN)
    Store(cup).close()
    hand_in(cup, Submit(bots(folder, range(count))))
    listening = listen("127.0.0.1")
    port = listening.getsockname()[1]
    settings = msgspec.json.encode(WebSettings(f"http://127.0.0.1:{port}")).decode()
    web = [sys.executable, "-m", WEB, str(cup), str(listening.fileno()), settings]
    play = [sys.executable, "-m", PLAY, str(cup), msgspec.json.encode(PlaySettings(jobs, pin=False)).decode()]
    crowd = [sys.executable, "-m", "referee.benchmarks.spectators", "--readers", str(readers), "--port", str(port)]
    crowd += ["--seconds", str(seconds), *(["--events-only"] if events_only else [])]
    serving = subprocess.Popen(web, stdin=subprocess.PIPE, pass_fds=[listening.fileno()])
    playing = subprocess.Popen(play, stdin=subprocess.PIPE)
    try:
        with subprocess.Popen(crowd, stdout=subprocess.PIPE, text=True) as reading:
            assert reading.stdout is not None
            if reading.stdout.readline() != "begin\n":
                raise RuntimeError("the readers ended")
            process, before = psutil.Process(serving.pid), reader.read(cup).count
            spent = sum(process.cpu_times()[:2])
            found: Figures = json.loads(reading.stdout.readline())
            spent = sum(process.cpu_times()[:2]) - spent
    finally:
        for each in (playing, serving):
            each.terminate()
            each.wait()
        listening.close()
    plan = read_plan(cup / PLAN)
    book = reader.read(cup, plan=plan)
    certificate = all_standings(plan, book, chances=False).fairness
    return found | {
        "readers": readers,
        "us": round(1e6 * spent / int(str(found["heard"])), 1) if found["heard"] else 0.0,
        "web": round(spent / seconds, 3),
        "games a second": round((book.count - before) / seconds, 1),
        "decided": f"{certificate.decided} of {certificate.games}",
        "slowed": round(certificate.slowed / max(1, certificate.games), 4),
    }


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=1000)
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events-only", action="store_true", help="the readers do not ask for the table")
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.port:
        allow_descriptors(DESCRIPTORS)
        crowd = Crowd(arguments.port, arguments.events_only)
        print(json.dumps(asyncio.run(crowd.read(arguments.readers, arguments.seconds))), flush=True)
        os._exit(0)
    common = arguments.bots, arguments.jobs, arguments.seconds, arguments.events_only
    for _ in range(arguments.rounds):
        for readers in (0, arguments.readers):
            with TemporaryDirectory() as folder:
                print(json.dumps(one_round(Path(folder), readers, *common)), flush=True)


if __name__ == "__main__":
    main()
