"""Teams' web services in threads, with the libraries that such services use."""

import asyncio
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from types import ModuleType
from typing import Any

import requests
from browsers import in_a_loop
from noughts import Player

QUIET_S = 0.05
"""How long a client waits for more events before it answers, since cheats may move twice in a row."""

Play = Callable[[str, str], list[dict[str, str]]]
"""Takes the game's address at the Arena and a battle's id, and returns the events."""


def plain_sseclient() -> ModuleType:
    """The library `sseclient`, which shares its module's name with `sseclient-py`."""
    file = distribution("sseclient").locate_file("sseclient.py")
    spec = importlib.util.spec_from_file_location("plain_sseclient", str(file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(url: str) -> Iterator[str]:
    """The data of each event, by `requests` alone."""
    with requests.get(url, stream=True, timeout=60) as answer:
        for line in answer.iter_lines(chunk_size=1):
            if line.startswith(b"data: "):
                yield line[6:].decode()


def by_sseclient(url: str) -> Iterator[str]:
    """The data of each event, by `sseclient`."""
    for event in plain_sseclient().SSEClient(url):
        yield event.data
        if "winner" in event.data or "\\u256f" in event.data:
            return  # the library would reconnect without end


def by_sseclient_py(url: str) -> Iterator[str]:
    """The data of each event, by `sseclient-py`."""
    import sseclient

    with requests.get(url, stream=True, headers={"Accept": "text/event-stream"}, timeout=60) as answer:
        for event in sseclient.SSEClient(answer).events():
            yield event.data


def playing(events: Callable[[str], Iterator[str]], post: Callable[[str, Any], Any] | None = None) -> Play:
    """Returns a client that streams with that library and posts moves with `requests`."""

    def play(url: str, battle: str) -> list[dict[str, str]]:
        player = Player()
        with requests.Session() as session:
            send = post or (lambda to, action: session.post(to, json=action, timeout=60))
            waiting: threading.Timer | None = None
            for data in events(f"{url}/start/{battle}"):
                if waiting is not None:
                    waiting.cancel()
                action = player.hear(json.loads(data))
                if action is not None:

                    def answer(action: Any = action, heard: int = len(player.heard)) -> None:
                        if all_heard(url, battle, heard):
                            send(f"{url}/play/{battle}", action)

                    waiting = threading.Timer(QUIET_S, answer)
                    waiting.start()
        return player.heard

    return play


def all_heard(url: str, battle: str, heard: int) -> bool:
    """Tells whether the client has received all moves so far. A slow machine must not surprise it."""
    answer = requests.get(f"{url}/admin/view/{battle}", timeout=60)
    return answer.status_code != 200 or len(answer.json().get("moves", ())) < heard


def by_aiosseclient(url: str, battle: str) -> list[dict[str, str]]:
    """Plays with `aiosseclient` and `aiohttp`."""
    import aiohttp
    from aiosseclient import aiosseclient

    async def play() -> list[dict[str, str]]:
        player = Player()
        async with aiohttp.ClientSession() as session:

            async def post(action: dict[str, str]) -> None:
                await asyncio.sleep(QUIET_S)
                if not await asyncio.to_thread(all_heard, url, battle, len(player.heard)):
                    return
                await (await session.post(f"{url}/play/{battle}", json=action)).read()

            waiting: asyncio.Task[None] | None = None
            async for event in aiosseclient(f"{url}/start/{battle}"):
                if waiting is not None:
                    waiting.cancel()
                action = player.hear(json.loads(event.data))
                if action is not None:
                    waiting = asyncio.create_task(post(action))
        return player.heard

    return in_a_loop(play())


LIBRARIES: dict[str, Play] = {
    "requests": playing(lines),
    "sseclient": playing(by_sseclient),
    "sseclient-py": playing(by_sseclient_py),
    "forms": playing(lines, lambda url, action: requests.post(url, data=action, timeout=60)),
    "aiosseclient": by_aiosseclient,
}


class Team:
    """A team's service and, at `/callback`, its coordinator."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.battles: list[str] = []
        self.invitations: list[dict[str, str]] = []
        """The headers of each."""
        self.reports: list[tuple[dict[str, Any], str | None]] = []
        """The coordinator's reports with their tokens."""
        self.reported = threading.Event()


@contextmanager
def team(
    play: Callable[[str, str], Any], arena: Callable[[], str], waits: bool = False, status: int = 200
) -> Iterator[Team]:
    """A service that plays every announced battle. With `waits`, it replies after the battle."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/callback":
                found.reports.append((told, self.headers["Authorization"]))
                self.answer(200)
                found.reported.set()
                return None
            found.battles.append(told["battleId"])
            found.invitations.append(dict(self.headers))
            if status != 200:
                return self.answer(status)
            url = f"{self.headers['X-Referee-Arena'] or arena()}{self.path}"
            thread = threading.Thread(target=play, args=(url, told["battleId"]), daemon=True)
            thread.start()
            if waits:
                thread.join()
            return self.answer(200)

        def answer(self, code: int) -> None:
            self.send_response(code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Team(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
