"""The fronts under load: many battles of the Arena and many games of AIBG at once, with clients that think.

`python -m referee.benchmarks.fronts [--battles N] [--games N] [--seconds S] [--think S]`. The server is a process of
its own, the clients are another, on plain sockets. A move's way through the front is the time from before a client
writes its POST to when its own move is on its stream (Arena), or to when the next player has its reply (AIBG). What a
client is charged beyond its own thought is told too: both its own delays and ours are in that.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import trio

SERVE = [sys.executable, "-m", "referee.harness.cli.main", "serve"]
CELLS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
PASSWORD = "a password for all of them"
GAMES_RUN_IN_S = 0.5
DICE = random.Random(1)
QUANTILES = 0.5, 0.99, 1.0


class Connection:
    """HTTP on one connection, as little of it as will do."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.rest = bytearray()

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(await trio.open_tcp_stream("127.0.0.1", port))

    async def send(self, method: str, path: str, value: Any = None, token: str = "") -> None:
        """Writes a request."""
        body = b"" if value is None else json.dumps(value).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        auth = f"Authorization: Bearer {token}\r\n" if token else ""
        await self.stream.send_all(f"{head}{auth}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def until(self, mark: bytes) -> bytes:
        """What comes up to that mark, which is left out."""
        while (found := self.rest.find(mark)) < 0:
            data = await self.stream.receive_some(1 << 16)
            if not data:
                raise EOFError
            self.rest += data
        taken = bytes(self.rest[:found])
        del self.rest[: found + len(mark)]
        return taken

    async def answer(self) -> tuple[int, bytes]:
        """Status and body."""
        head = (await self.until(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(self.rest) < length:
            self.rest += await self.stream.receive_some(1 << 16)
        body = bytes(self.rest[:length])
        del self.rest[:length]
        return int(head.split(b" ", 2)[1]), body

    async def ask(self, method: str, path: str, value: Any = None, token: str = "") -> tuple[int, Any]:
        """A request and its answer."""
        await self.send(method, path, value, token)
        status, body = await self.answer()
        return status, json.loads(body) if body else None

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """The events of a stream that was asked for."""
        await self.until(b"\r\n\r\n")
        while True:
            try:
                yield json.loads((await self.until(b"\n\n")).partition(b"data: ")[2])
            except EOFError:
                return


class Figures:
    """What was measured, in milliseconds."""

    def __init__(self) -> None:
        self.ways: list[float] = []
        self.beyond: list[float] = []
        """What was charged beyond the client's own thought."""
        self.started = time.perf_counter()
        """When the clients began to play."""
        self.played = 0
        self.timeouts = 0


def thought_s(think_s: float) -> float:
    """Half of that to one and a half: clients that all think for the same time would march in step, and meet."""
    return think_s * DICE.uniform(0.5, 1.5)


async def battle(port: int, ident: str, think_s: float, figures: Figures) -> None:
    """One battle, in which the first empty cell is taken after some thought."""
    stream, posts = await Connection.open(port), await Connection.open(port)
    async with stream.stream, posts.stream:
        await stream.send("GET", f"/tic-tac-toe/start/{ident}")
        free, me, clock = list(CELLS), "", 18_000
        posted: tuple[float, trio.Event] | None = None
        async for event in stream.events():
            now = time.perf_counter()
            if "youAre" in event:
                me = event["youAre"]
                mine = me == "O"
            elif "winner" in event:
                break
            elif event["action"] != "putSymbol":
                figures.timeouts += event["player"] != me
                break
            else:
                free.remove(event["position"])
                mine = event["player"] != me and bool(free)
                if event["player"] == me and posted is not None:
                    figures.ways.append((now - posted[0]) * 1000)
            if mine:
                await trio.sleep(thought_s(think_s))
                posted = time.perf_counter(), trio.Event()
                status, told = await posts.ask(
                    "POST", f"/tic-tac-toe/play/{ident}", {"action": "putSymbol", "position": free[0]}
                )
                if status == 200:
                    figures.beyond.append(clock + 2_000 - told["clock"] - (posted[0] - now) * 1000)
                    clock = told["clock"]
    figures.played += 1


async def arena(port: int, battles: int, seconds: float, think_s: float) -> Figures:
    """So many battles at any time."""
    figures, until = Figures(), time.perf_counter() + seconds
    waiting_send, waiting = trio.open_memory_channel[str](10_000)

    async def team(request: trio.SocketStream) -> None:
        connection = Connection(request)
        try:
            while True:
                head = await connection.until(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                while len(connection.rest) < length:
                    connection.rest += await request.receive_some(4096)
                told = json.loads(bytes(connection.rest[:length]))
                del connection.rest[:length]
                await request.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                if "battleId" in told:
                    waiting_send.send_nowait(told["battleId"])
        except (EOFError, trio.BrokenResourceError):
            pass

    async def order(number: int) -> None:
        connection = await Connection.open(port)
        async with connection.stream:
            while time.perf_counter() < until:
                told = {"runId": f"{number}-{time.time()}", "caseType": "BASE_AI_X" if number % 2 else "AB_AI_O"}
                status, _ = await connection.ask("POST", "/tic-tac-toe/evaluate", told | urls)
                assert status == 200
                await battle(port, await waiting.receive(), think_s, figures)

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, team, 0)
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        urls = {"teamUrl": url, "callbackUrl": f"{url}/callback"}
        async with trio.open_nursery() as clients:
            for number in range(battles):
                clients.start_soon(order, number)
                await trio.sleep(think_s * 5 / battles)
        nursery.cancel_scope.cancel()
    return figures


async def game(
    port: int, number: int, tokens: dict[str, str], seconds: float, think_s: float, figures: Figures
) -> None:
    """One game of four, who act in turn."""
    names = [f"user{number * 4 + seat}" for seat in range(4)]
    admin = await Connection.open(port)
    told = {"playerUsernames": names, "time": (seconds + GAMES_RUN_IN_S) / 60, "mapName": "practice1.txt"}
    assert (await admin.ask("POST", "/game/createGame", told, tokens["chief"]))[0] == 201
    acted = [0.0]

    async def play(name: str) -> None:
        connection = await Connection.open(port)
        status, joined = await connection.ask("GET", "/game/joinGame", None, tokens[name])
        assert status == 202, joined
        index, turns = joined["playerIdx"], 0
        while True:
            if turns == 0 and index > 1:
                while not acted[0] or (acted[0] and len(order) % 4 != index - 1):
                    await trio.sleep(0.001)
            await trio.sleep(thought_s(think_s))
            order.append(index)
            acted[0] = time.perf_counter()
            await connection.send("POST", "/game/doAction", {"action": "attack,0,0"}, tokens[name])
            status, body = await connection.answer()
            if status != 202:
                figures.timeouts += b"over" not in body
                return
            turns += 1
            if b"not on the move" not in body[-200:]:
                figures.ways.append((time.perf_counter() - acted[0]) * 1000)

    order: list[int] = []
    async with trio.open_nursery() as nursery:
        for name in names:
            nursery.start_soon(play, name)
    figures.played += 1


async def aibg(port: int, games: int, seconds: float, think_s: float) -> Figures:
    """So many games at once."""
    figures, tokens = Figures(), {}
    connection = await Connection.open(port)
    for name in ["chief", *(f"user{number}" for number in range(games * 4))]:
        status, told = await connection.ask("POST", "/user/login", {"username": name, "password": PASSWORD})
        assert status == 202, told
        tokens[name] = told["token"]
    figures.started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for number in range(games):
            nursery.start_soon(game, port, number, tokens, seconds, think_s, figures)
    return figures


def write_users(path: Path, count: int) -> None:
    """All with one password, which is hashed once."""
    from referee.harness.fronts.users import add_user

    add_user(path, "chief", "admin", PASSWORD)
    users = json.loads(path.read_text())
    player = users["chief"] | {"role": "player"}
    path.write_text(json.dumps(users | {f"user{number}": player for number in range(count)}))


def measured(argv: list[str], load: Callable[[int], Awaitable[Figures]]) -> dict[str, Any]:
    """Starts the server, puts the load on it, and looks at its memory and CPU time."""
    server = subprocess.Popen(
        [*SERVE, *argv, "--bind", "127.0.0.1:0", "--no-replay"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        port = int(server.stdout.readline().split()[1].rpartition(":")[2])
        process = psutil.Process(server.pid)
        seen: list[tuple[float, int, float]] = []
        """Moment, memory and CPU time."""

        async def run() -> Figures:
            async with trio.open_nursery() as nursery:

                async def look() -> None:
                    while True:
                        times = process.cpu_times()
                        seen.append((time.perf_counter(), process.memory_info().rss, times.user + times.system))
                        await trio.sleep(0.25)

                nursery.start_soon(look)
                figures = await load(port)
                nursery.cancel_scope.cancel()
            return figures

        figures = trio.run(run)
        played = [each for each in seen if each[0] >= figures.started] or seen[-1:]
        took, cpu_s = played[-1][0] - played[0][0] or 1.0, played[-1][2] - played[0][2]
        quarters = played[0], played[len(played) // 4], played[-1]
        ways, beyond = sorted(figures.ways), sorted(figures.beyond)
        return {
            "played": figures.played,
            "moves": len(ways),
            "moves a second": round(len(ways) / took, 1),
            "timeouts": figures.timeouts,
            "way ms (median, p99, most)": [round(quantile(ways, share), 2) for share in QUANTILES],
            "charged beyond thought ms (the same)": [round(quantile(beyond, share), 2) for share in QUANTILES],
            "server CPU ms a move": round(cpu_s * 1000 / max(1, len(ways)), 2),
            "server CPU": round(cpu_s / took, 3),
            "RSS MiB (at first, after a quarter, at last)": [round(rss / 2**20, 1) for _, rss, _ in quarters],
            "load average": round(os.getloadavg()[0], 1),
        }
    finally:
        server.terminate()
        server.wait(10)


def quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--think", type=float, default=0.2)
    options = parser.parse_args()
    battles, games, seconds, think_s = options.battles, options.games, options.seconds, options.think
    figures = {}
    if battles:
        figures[f"{battles} battles"] = measured(["arena"], lambda port: arena(port, battles, seconds, think_s))
    if games:
        with TemporaryDirectory() as folder:
            users = Path(folder) / "users.json"
            write_users(users, games * 4)
            argv = ["aibg", "--users", str(users)]
            figures[f"{games} games"] = measured(argv, lambda port: aibg(port, games, seconds, think_s))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
