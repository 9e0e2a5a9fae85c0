"""Clients of a running Arena: they order battles, listen to streams and post moves."""

import json
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import requests
from serving import Inside
from teams import Team, lines

from referee.addons.arena.callbacks import Coordinator
from referee.addons.arena.runs import Arena
from referee.harness.replay.reader import Replay

numbers = count()


def until(true: Callable[[], Any], within_s: float = 30.0) -> Any:
    """Waits until something holds, and returns it."""
    end = time.monotonic() + within_s
    while not (found := true()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return found


NOW_MS = 1_700_000_000_000


def at(ms: int) -> dict[str, dict[str, str]]:
    """Returns the header that sets the time of a server in test mode."""
    return {"headers": {"X-Referee-Now": str(NOW_MS + ms)}}


class Server:
    """A running Arena, and a team that does nothing. `arena` and `inside`: of one in this process."""

    arena: Arena
    inside: Inside
    team: Team
    replays: Path

    def __init__(self, url: str) -> None:
        self.url = url

    def post(self, path: str, value: Any = None, **options: Any) -> requests.Response:
        return requests.post(self.url + path, timeout=30, **({"json": value} | options))

    def get(self, path: str, **options: Any) -> requests.Response:
        return requests.get(self.url + path, timeout=30, **options)

    def evaluate(self, url: str, game: str = "tic-tac-toe", run: str = "", **more: str) -> requests.Response:
        told = {"runId": run or f"run {next(numbers)}", "teamUrl": url, "callbackUrl": f"{self.team.url}/callback"}
        return self.post(f"/{game}/evaluate", told | more)

    def order(self, case: str = "", run: str = "", game: str = "tic-tac-toe", url: str = "") -> list[str]:
        """Orders a run, of the idle team unless `url` names another one, and returns its battles."""
        answer = self.evaluate(url or self.team.url, game, run, caseType=case)
        assert answer.status_code == 200, answer.text
        assert answer.json()["errors"] == {}
        return list(answer.json()["battleIds"])

    def begin(self, case: str, heard: int = 1, game: str = "tic-tac-toe") -> tuple[str, "Events"]:
        """Orders a battle, opens its stream and reads as many events."""
        (battle,) = self.order(case, game=game)
        events = self.listen(battle, game)
        for _ in range(heard):
            events.next()
        return battle, events

    def coordinate(self, url: str) -> None:
        """Makes this the coordinator's address, as `--coordinator` does."""
        self.arena.settings = msgspec.structs.replace(self.arena.settings, coordinator=Coordinator(url))

    def view(self, battle: str, game: str = "tic-tac-toe") -> dict[str, Any]:
        return dict(self.get(f"/{game}/admin/view/{battle}").json() or {})

    def play(self, battle: str, action: Any, game: str = "tic-tac-toe", **options: Any) -> requests.Response:
        return self.post(f"/{game}/play/{battle}", action, **options)

    def sweep(self, battle: str, ms: int) -> Any:
        return self.post(f"/test/sweep/tic-tac-toe/{battle}", **at(ms)).json()

    def listen(self, battle: str, game: str = "tic-tac-toe") -> "Events":
        """Opens a stream."""
        return Events(lines(f"{self.url}/{game}/start/{battle}"))

    def report(self) -> dict[str, Any]:
        """Returns the coordinator's report."""
        assert self.team.reported.wait(30)
        return self.team.reports[0][0]

    def replay(self, battle: str, game: str = "tic-tac-toe") -> Replay:
        return Replay(self.replays / f"{game}-{battle}.jsonl")


class Events:
    """Reads a stream one event at a time."""

    def __init__(self, stream: Iterator[str]) -> None:
        self._lines = stream

    def next(self) -> Any:
        """Returns the next event; None if the stream was closed."""
        line = next(self._lines, None)
        return None if line is None else json.loads(line)

    def rest(self) -> list[Any]:
        return [*iter(self.next, None)]
