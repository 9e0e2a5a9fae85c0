"""Several processes that are one Arena: a connection finds its battle where that lives, and none outlives another."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
import requests
from noughts import FLIP
from teams import LIBRARIES, Team, lines, team

from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

pytestmark = pytest.mark.slow

WORKERS = 2


class Served:
    """`referee serve arena` in processes of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.url = process.stdout.readline().split()[1]
        self.address = self.url.removeprefix("http://")
        first = psutil.Process(process.pid)
        self.others = first.children(recursive=True)
        self.workers = [other for other in self.others if other.cmdline() == first.cmdline()]
        self.game = f"{self.url}/tic-tac-toe"

    def order(self, idle: Team, run: str, case: str | None = None, to: Any = requests) -> list[str]:
        """The battles of a new run."""
        told = {"runId": run, "teamUrl": idle.url, "callbackUrl": f"{idle.url}/callback", "caseType": case}
        answer = to.post(f"{self.game}/evaluate", json=told, timeout=30).json()
        assert answer["errors"] == {}
        return list(answer["battleIds"])

    def view(self, battle: str, to: Any = requests) -> dict[str, Any]:
        return dict(to.get(f"{self.game}/admin/view/{battle}", timeout=30).json())

    def ended(self) -> tuple[int, str]:
        """How all of it ended: the first process's exit code and what it said. Nothing of it is left."""
        code = self.process.wait(20)
        _, alive = psutil.wait_procs(self.others, 5)
        assert not alive
        assert self.process.stderr is not None
        return code, self.process.stderr.read()


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "referee.harness.cli.main", "serve", "arena", "--bind", "127.0.0.1:0", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "--replay", str(folder)], stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield Served(process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replays")


@pytest.fixture(scope="module")
def arena(folder: Path) -> Iterator[Served]:
    with served(folder, "--workers", str(WORKERS)) as found:
        assert len(found.workers) == WORKERS - 1
        yield found
        found.process.terminate()
        code, said = found.ended()
        assert code == 128 + signal.SIGTERM and said == "referee: ended by SIGTERM\n"


@pytest.fixture(scope="module")
def idle() -> Iterator[Team]:
    with team(lambda url, battle: None, lambda: "") as found:
        yield found


def worker(battle: str) -> int:
    return UUID(battle).int % WORKERS


@pytest.mark.parametrize("library", ["requests", "forms"], ids=["kept connections", "a connection a move"])
def test_a_team_has_all_points_from_every_worker(arena: Served, folder: Path, library: str) -> None:
    seen = set()
    with team(LIBRARIES[library], lambda: arena.url) as strong, requests.Session() as coordinator:
        for run in range(WORKERS):
            strong.reported.clear()
            battles = arena.order(strong, f"{library} {run}", to=coordinator)
            assert strong.reported.wait(30)
            assert strong.reports[-1][0]["score"] == 100, strong.reports[-1]
            seen |= set(map(worker, battles))
            for battle in battles:
                assert verify(Replay(folder / f"tic-tac-toe-{battle}.jsonl")) is not None
    assert seen == set(range(WORKERS)), "a coordinator with one connection has all of them play"


def test_a_kept_connection_goes_to_and_fro_between_battles(arena: Served, idle: Team) -> None:
    battles = {
        worker(battle): battle for run in range(WORKERS) for battle in arena.order(idle, f"to {run}", "BASE_AI_X")
    }
    assert len(battles) == WORKERS
    streams = {battle: lines(f"{arena.game}/start/{battle}") for battle in battles.values()}
    assert all(json.loads(next(stream))["youAre"] == "O" for stream in streams.values())
    kept = http.client.HTTPConnection(arena.address, timeout=10)
    kept.connect()
    ours = kept.sock.getsockname()
    for cell in ("C", "NE", "SW"):
        for battle in battles.values():
            body = json.dumps({"action": "putSymbol", "position": cell})
            kept.request("POST", f"/tic-tac-toe/play/{battle}", body, {"Content-Type": "application/json"})
            answer = kept.getresponse()
            assert answer.status == 200 and json.load(answer)["message"] == "received your command"
            heard = [json.loads(next(streams[battle]))["player"] for _ in range(1 if cell == "SW" else 2)]
            assert heard == ["O", "X"][: len(heard)]
    for battle, stream in streams.items():
        assert list(map(json.loads, stream)) == [{"winner": "O"}]
        kept.request("GET", f"/tic-tac-toe/admin/view/{battle}")
        assert json.load(kept.getresponse())["result"] == "O_WIN"
    assert kept.sock.getsockname() == ours, "it was one connection all the time"
    kept.close()


def test_requests_in_pieces_or_too_early_find_their_way(arena: Served, idle: Team) -> None:
    battles = [battle for run in range(WORKERS) for battle in arena.order(idle, f"pieces {run}", "BASE_AI_X")]
    ask = [f"GET /tic-tac-toe/admin/view/{battle} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for battle in battles]
    host, _, port = arena.address.partition(":")

    def answers(raw: socket.socket, number: int) -> bytes:
        received = b""
        while received.count(b'"clock":18000') < number:
            data = raw.recv(1 << 16)
            assert data, received
            received += data
        return received

    with socket.create_connection((host, int(port)), timeout=10) as raw:
        for _ in range(2):
            for number, data in enumerate(ask):
                for at in range(0, len(data), 7):
                    raw.sendall(data[at : at + 7])
                    time.sleep(0.0005)
                assert battles[number].encode() in answers(raw, 1)
        raw.sendall(b"".join(ask * 4))
        received = answers(raw, 4 * len(ask))
        order = [received.find(battle.encode()) for battle in battles]
        assert order == sorted(order), "answers come in the order of their requests"


def test_results_are_found_on_every_worker_and_a_run_of_the_same_name_takes_the_place(
    arena: Served, idle: Team
) -> None:
    (first,) = arena.order(idle, "same", "BASE_AI_X")
    (second,) = arena.order(idle, "same", "BASE_AI_X")
    assert worker(first) != worker(second)
    while "score" not in arena.view(first):
        time.sleep(0.01)
    assert arena.view(first)["score"] == 0, "it was broken off"
    for _ in range(4):
        assert requests.get(f"{arena.game}/result/same", timeout=10).json() == {"message": "no result yet"}
    requests.post(f"{arena.game}/play/{second}", json={"action": FLIP}, timeout=10)
    while "score" not in arena.view(second):
        time.sleep(0.01)
    for _ in range(4):
        told = requests.get(f"{arena.game}/result/same", timeout=10).json()
        assert told == {second: "You are not supposed to flip the table now"}
    assert requests.get(f"{arena.game}/result/other", timeout=10).status_code == 404
    assert requests.get(f"{arena.game}/start/{UUID(int=WORKERS + 1)}", timeout=10).status_code == 404


def test_a_worker_that_dies_ends_all(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "3") as arena:
        assert len(arena.workers) == 2
        arena.workers[1].kill()
        assert arena.ended() == (3, "referee: worker 2 was ended by SIGKILL, so the others end too\n")


def test_no_worker_outlives_the_first(tmp_path: Path, idle: Team) -> None:
    with served(tmp_path, "--workers", "3") as arena:
        arena.order(idle, "run")
        arena.process.kill()
        assert arena.ended() == (-signal.SIGKILL, "")
