"""The Arena and AIBG servers under load: many battles and games at once, with clients that think.

`python -m referee.benchmarks.servers [--battles N] [--game GAME] [--jobs N] [--games N] [--seconds S] [--think S]
[--cores LIST]`.
The server and its web process are on the listed cores, if any; the clients are another process, on plain sockets.
CPU time and memory are those of both. The latency of a move is the time from before a client writes its POST to when
its own move is on its stream (Arena), or to when the next player has its reply (AIBG). The time charged beyond a
client's thinking time is reported too: it holds the client's delays and the server's.

A client has 40 moves in a battle of Quoridor, in which it does not walk to its goal, 21 in one of Connect Four, and
about three in one of tic-tac-toe, where most of the work is that of orders. Measurement starts once all battles are
running.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import trio

from referee.addons.arena.judge import JUDGE_PLANS
from referee.addons.arena.runs import path_of
from referee.games import registry
from referee.games.arena import Battle
from referee.games.connectfour import ConnectFour
from referee.games.contract import Player, Setup
from referee.games.quoridor import Quoridor

SERVE = [sys.executable, "-m", "referee.harness.cli.main", "serve"]
CASES = {
    "tictactoe": ("AB_AI_O", "BASE_AI_X"),
    "connectfour": ("BASE_AI_R", "BASE_AI_Y"),
    "quoridor": ("BASE_AI_FIRST", "BASE_AI_SECOND"),
}
"""Opponents that cost almost nothing, one for each side."""
PASSWORD = "a password for all of them"
GAMES_RUN_IN_S = 0.5
DICE = random.Random(1)
QUANTILES = 0.5, 0.99, 1.0


class Connection:
    """A minimal HTTP client on one connection."""

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
        """Reads up to that mark and returns the text before it."""
        while (found := self.rest.find(mark)) < 0:
            data = await self.stream.receive_some(1 << 16)
            if not data:
                raise EOFError
            self.rest += data
        taken = bytes(self.rest[:found])
        del self.rest[: found + len(mark)]
        return taken

    async def answer(self) -> tuple[int, bytes]:
        """Reads a response, and returns status and body."""
        head = (await self.until(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(self.rest) < length:
            self.rest += await self.stream.receive_some(1 << 16)
        body = bytes(self.rest[:length])
        del self.rest[:length]
        return int(head.split(b" ", 2)[1]), body

    async def ask(self, method: str, path: str, value: Any = None, token: str = "") -> tuple[int, Any]:
        """Sends a request, and returns status and decoded body."""
        await self.send(method, path, value, token)
        status, body = await self.answer()
        return status, json.loads(body) if body else None

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """Yields the events of a requested stream."""
        await self.until(b"\r\n\r\n")
        while True:
            try:
                yield json.loads((await self.until(b"\n\n")).partition(b"data: ")[2])
            except EOFError:
                return


class Figures:
    """The measurements, in milliseconds."""

    def __init__(self) -> None:
        self.ways: list[float] = []
        self.beyond: list[float] = []
        """The time charged beyond the client's thinking time."""
        self.lengths: list[int] = []
        """Moves of a client in each finished battle or game."""
        self.timeouts = 0
        self.begin()

    def begin(self) -> None:
        """Starts the measurement."""
        self.started = time.perf_counter()
        self.ways.clear()
        self.beyond.clear()
        self.lengths.clear()


def thought_s(think_s: float) -> float:
    """Returns half to one and a half of `think_s`, so that clients do not run in step."""
    return think_s * DICE.uniform(0.5, 1.5)


def dull_answer(position: Battle, me: Player) -> dict[str, Any]:
    """Returns a legal answer that prolongs the battle."""
    if isinstance(position, Quoridor):
        goal = "91"[me]
        steps = takewhile(lambda answer: answer["action"] == "move", position.legal(me))
        return max(steps, key=lambda answer: abs(int(answer["position"][1]) - int(goal)))
    answer: dict[str, Any]
    for answer in position.legal(me) if isinstance(position, ConnectFour) else ():
        trial = position.copy()
        trial.apply({me: answer})
        if trial.result is None:
            trial.apply({1 - me: next(trial.legal(1 - me))})
            if trial.result is None:
                return answer
    return next(position.legal(me))


async def battle(port: int, name: str, ident: str, think_s: float, figures: Figures) -> None:
    """Plays one battle, and thinks before each move."""
    game = registry.game(name)
    position = game.new(Setup(0, ("", ""), game.options(**JUDGE_PLANS[name].options)))
    assert isinstance(position, Battle)
    clock, increment = (game.time.initial_s or 0) * 1000, game.time.increment_s * 1000
    stream, posts = await Connection.open(port), await Connection.open(port)
    async with stream.stream, posts.stream:
        await stream.send("GET", f"/{path_of(game)}/start/{ident}")
        me, posted, moves = -1, 0.0, 0
        async for event in stream.events():
            now = time.perf_counter()
            if "youAre" in event:
                me = position.SIDES.index(event["youAre"])
            elif "player" in event:
                player = position.SIDES.index(event.pop("player"))
                position.apply({player: event})
                if player == me:
                    moves += 1
                    figures.ways.append((now - posted) * 1000)
                figures.timeouts += position.result is not None and "FLIPPED" in position.result.reason
            if position.result is None and me in position.awaited:
                await trio.sleep(thought_s(think_s))
                action = dull_answer(position, me)
                posted = time.perf_counter()
                status, reply = await posts.ask("POST", f"/{path_of(game)}/play/{ident}", action)
                if status == 200:
                    figures.beyond.append(clock + increment - reply["clock"] - (posted - now) * 1000)
                    clock = reply["clock"]
    figures.lengths.append(moves)


async def arena(port: int, name: str, battles: int, seconds: float, think_s: float) -> Figures:
    """Keeps that many battles running."""
    figures = Figures()
    waiting_send, waiting = trio.open_memory_channel[str](10_000)

    async def team(request: trio.SocketStream) -> None:
        connection = Connection(request)
        try:
            while True:
                head = await connection.until(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                while len(connection.rest) < length:
                    connection.rest += await request.receive_some(4096)
                body = json.loads(bytes(connection.rest[:length]))
                del connection.rest[:length]
                await request.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                if "battleId" in body:
                    waiting_send.send_nowait(body["battleId"])
        except (EOFError, trio.BrokenResourceError):
            pass

    async def order(number: int, task_status: trio.TaskStatus[None]) -> None:
        while True:
            order = {"runId": f"{number}-{time.time()}", "caseType": CASES[name][number % 2]}
            connection = await Connection.open(port)
            async with connection.stream:
                status, _ = await connection.ask("POST", f"/{path_of(registry.game(name))}/evaluate", order | urls)
            assert status == 200
            task_status.started()
            task_status = trio.TASK_STATUS_IGNORED
            await battle(port, name, await waiting.receive(), think_s, figures)

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, team, 0)
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        urls = {"teamUrl": url, "callbackUrl": f"{url}/callback"}
        for number in range(battles):
            await nursery.start(order, number)
        figures.begin()
        await trio.sleep(seconds)
        nursery.cancel_scope.cancel()
    return figures


async def game(
    port: int, number: int, tokens: dict[str, str], seconds: float, think_s: float, figures: Figures
) -> None:
    """Plays one game of four, who act in turn."""
    names = [f"user{number * 4 + seat}" for seat in range(4)]
    admin = await Connection.open(port)
    request = {"playerUsernames": names, "time": (seconds + GAMES_RUN_IN_S) / 60, "mapName": "practice1.txt"}
    assert (await admin.ask("POST", "/game/createGame", request, tokens["chief"]))[0] == 201
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
    figures.lengths.append(len(order) // 4)


async def aibg(port: int, games: int, seconds: float, think_s: float) -> Figures:
    """Plays that many games at once."""
    figures, tokens = Figures(), {}
    connection = await Connection.open(port)
    for name in ["chief", *(f"user{number}" for number in range(games * 4))]:
        status, reply = await connection.ask("POST", "/user/login", {"username": name, "password": PASSWORD})
        assert status == 202, reply
        tokens[name] = reply["token"]
    figures.started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for number in range(games):
            nursery.start_soon(game, port, number, tokens, seconds, think_s, figures)
    return figures


def write_users(path: Path, count: int) -> None:
    """Writes a file of users with one password, which is hashed once."""
    from referee.addons.aibg.users import add_user

    add_user(path, "chief", "admin", PASSWORD)
    users = json.loads(path.read_text())
    player = users["chief"] | {"role": "player"}
    path.write_text(json.dumps(users | {f"user{number}": player for number in range(count)}))


def measured(argv: list[str], cores: str, load: Callable[[int], Awaitable[Figures]]) -> dict[str, Any]:
    """Starts the server, runs the load, and measures memory and CPU time."""
    pinned = ["taskset", "-c", cores] if cores else []
    server = subprocess.Popen(
        [*pinned, *SERVE, *argv, "--bind", "127.0.0.1:0", "--replay", "none"], stdout=subprocess.PIPE, text=True
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
                        tree = [process, *process.children(recursive=True)]
                        rss = sum(each.memory_info().rss for each in tree)
                        seen.append((time.perf_counter(), rss, sum(sum(each.cpu_times()[:2]) for each in tree)))
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
            "played": len(figures.lengths),
            "moves": len(ways),
            "moves of a client": round(sum(figures.lengths) / max(1, len(figures.lengths)), 1),
            "moves a second": round(len(ways) / took, 1),
            "timeouts": figures.timeouts,
            "way ms (median, p99, most)": [round(quantile(ways, share), 2) for share in QUANTILES],
            "charged beyond thought ms (least, median, p95, most)": [
                round(quantile(beyond, share), 2) for share in (0.0, 0.5, 0.95, 1.0)
            ],
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
    parser.add_argument("--game", choices=CASES, default="quoridor", help="what is played at the Arena")
    parser.add_argument("--cores", default="", help="the server's, as for taskset; default: any")
    parser.add_argument("--jobs", type=int, default=1, help="the Arena's processes for battles")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--think", type=float, default=0.2)
    options = parser.parse_args()
    battles, games, seconds, think_s = options.battles, options.games, options.seconds, options.think
    figures = {}
    if battles:
        figures[f"{battles} battles"] = measured(
            ["arena", "--jobs", str(options.jobs)],
            options.cores,
            lambda port: arena(port, options.game, battles, seconds, think_s),
        )
    if games:
        with TemporaryDirectory() as folder:
            users = Path(folder) / "users.json"
            write_users(users, games * 4)
            argv = ["aibg", "--users", str(users)]
            figures[f"{games} games"] = measured(argv, options.cores, lambda port: aibg(port, games, seconds, think_s))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
