"""An Arena of several processes: each battle is played in one of them, and clients see one server."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID

import psutil
import pytest
import requests
from teams import LIBRARIES, team

pytestmark = pytest.mark.slow
JOBS = 3


class Server:
    """A running Arena."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = f"{url}/tic-tac-toe"

    def order(self, run: str, team_url: str, case: str = "") -> list[str]:
        told = {"runId": run, "teamUrl": team_url, "callbackUrl": team_url} | ({"caseType": case} if case else {})
        answer = requests.post(f"{self.url}/evaluate", json=told, timeout=30)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["battleIds"])

    def children(self, module: str) -> list[psutil.Process]:
        found = []
        for each in psutil.Process(self.process.pid).children():
            with suppress(psutil.ZombieProcess):  # a process of one that was killed, adopted by the server
                found += [each] if module in each.cmdline() else []
        return found


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Server]:
    argv = [sys.executable, "-m", "referee.harness.cli.main", "serve", "arena", "--bind", "127.0.0.1:0"]
    (folder / "replays").mkdir()
    with subprocess.Popen(
        [*argv, "--replay", str(folder / "replays"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://[^ ]+", process.stdout.readline())
        assert found is not None
        try:
            yield Server(process, found[0])
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arena")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with served(folder, "--jobs", str(JOBS)) as server:
        yield server


def shard(battle: str) -> int:
    return UUID(battle).int % JOBS


def ordered(server: Server, team_url: str) -> dict[int, str]:
    """Orders a battle in each process, and returns their ids by process."""
    battles: dict[int, str] = {}
    for number in range(60):
        (battle,) = server.order(f"run {number}", team_url, "AB_AI_X")
        battles.setdefault(shard(battle), battle)
        if len(battles) == JOBS:
            return battles
    raise AssertionError("some process plays nothing")


def test_battles_of_every_process_are_played_and_shown_at_one_address(server: Server, folder: Path) -> None:
    with team(lambda url, battle: None, lambda: "") as idle:
        for battle in ordered(server, idle.url).values():
            heard = LIBRARIES["requests"](server.url, battle)
            assert heard[-1] == {"winner": "draw"}
            view = requests.get(f"{server.url}/admin/view/{battle}", timeout=10).json()
            assert view["id"] == battle and view["score"] == 20
            assert list((folder / "replays").glob(f"*{battle}*"))
        assert requests.get(f"{server.url}/result/run 0", timeout=10).status_code == 200
        assert requests.get(f"{server.url}/result/another", timeout=10).status_code == 404
        tried = requests.post(f"{server.url}/tryout", json={"teamUrl": idle.url}, timeout=30).json()
        assert requests.get(tried["resultUrl"], timeout=10).status_code == 200
        unknown = requests.post(f"{server.url}/play/{UUID(int=5)}", json={}, timeout=10)
        assert (unknown.status_code, unknown.json()) == (404, {"error": "Battle not found"})
    assert requests.get(f"{server.url.rpartition('/')[0]}/health", timeout=10).text == "ok\n"


def test_a_run_that_is_ordered_again_goes_to_the_same_process(server: Server) -> None:
    with team(lambda url, battle: None, lambda: "") as idle:
        shards = {
            shard(battle) for case in ("AB_AI_X", "AB_AI_O", "") for battle in server.order("same", idle.url, case)
        }
    assert len(shards) == 1


def test_battles_of_all_processes_go_on_when_the_web_process_was_killed(server: Server) -> None:
    with team(lambda url, battle: None, lambda: "") as idle:
        battles = ordered(server, idle.url)
        (web,) = server.children("referee.addons.web.server.web_process")
        web.kill()
        web.wait(10)
        for battle in battles.values():
            assert LIBRARIES["requests"](server.url, battle)[-1] == {"winner": "draw"}


def test_the_end_of_one_process_ends_its_battles_alone(tmp_path: Path) -> None:
    def status(battle: str) -> int:
        return requests.get(f"{server.url}/admin/view/{battle}", timeout=10).status_code

    with served(tmp_path, "--jobs", str(JOBS)) as server, team(lambda url, battle: None, lambda: "") as idle:
        battles = ordered(server, idle.url)
        server.children("referee.addons.arena.job_process")[0].kill()
        assert server.process.stderr is not None
        assert "its battles with it" in server.process.stderr.readline()
        assert sorted(map(status, battles.values())) == [200, 200, 503]
        for number in range(6):
            (battle,) = server.order(f"later {number}", idle.url, "AB_AI_X")
            assert status(battle) == 200
        assert ended_with(server, signal.SIGTERM)


def test_all_processes_end_with_a_server_that_was_killed(server: Server) -> None:
    """The last test of this server."""
    assert ended_with(server, signal.SIGKILL)


def ended_with(server: Server, number: int) -> bool:
    """Sends a signal to the first process, and tells whether all others end after it."""
    others = [
        *server.children("referee.addons.arena.job_process"),
        *server.children("referee.addons.web.server.web_process"),
    ]
    assert others
    os.kill(server.process.pid, number)
    server.process.wait(10)
    return not psutil.wait_procs(others, timeout=10)[1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--jobs", "0"], "--jobs 0: expected 1 to 64"),
        (["--jobs", "2", "--test"], "--jobs cannot be combined with --test"),
    ],
)
def test_jobs_are_checked(words: list[str], why: str) -> None:
    argv = [sys.executable, "-m", "referee.harness.cli.main", "serve", "arena", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and why in done.stderr
