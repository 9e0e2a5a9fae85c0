"""An Arena of several processes: each battle is played in one of them, and clients see one server."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import psutil
import pytest
import requests
from arena_servers import Server
from serving import served
from teams import LIBRARIES, team

from referee.harness.cli.main import main

pytestmark = pytest.mark.slow
JOBS = 3


class Jobs(Server):
    """A running Arena of several processes."""

    process: "subprocess.Popen[str]"

    def children(self, module: str) -> list[psutil.Process]:
        found = []
        for each in psutil.Process(self.process.pid).children():
            with suppress(psutil.ZombieProcess):  # a process of one that was killed, adopted by the server
                found += [each] if module in each.cmdline() else []
        return found

    def heard(self, battle: str) -> list[dict[str, str]]:
        return LIBRARIES["requests"](f"{self.url}/tic-tac-toe", battle)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arena")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Jobs]:
    with (
        team(lambda url, battle: None, lambda: "") as idle,
        served("--jobs", str(JOBS), "--replay", str(folder), cwd=folder) as (url, process),
    ):
        made = Jobs(url)
        made.team, made.process = idle, process
        yield made


def shard(battle: str) -> int:
    return UUID(battle).int % JOBS


def ordered(server: Jobs) -> dict[int, str]:
    """Orders a battle in each process, and returns their ids by process."""
    battles: dict[int, str] = {}
    for number in range(60):
        (battle,) = server.order("AB_AI_X", f"run {number}")
        battles.setdefault(shard(battle), battle)
        if len(battles) == JOBS:
            return battles
    raise AssertionError("some process plays nothing")


def test_battles_of_every_process_are_played_and_shown_at_one_address(server: Jobs, folder: Path) -> None:
    for battle in ordered(server).values():
        assert server.heard(battle)[-1] == {"winner": "draw"}
        view = server.view(battle)
        assert view["id"] == battle and view["score"] == 20
        assert list(folder.glob(f"*{battle}*"))
    assert server.get("/tic-tac-toe/result/run 0").status_code == 200
    assert server.get("/tic-tac-toe/result/another").status_code == 404
    tried = server.post("/tic-tac-toe/tryout", {"teamUrl": server.team.url}).json()
    assert requests.get(tried["resultUrl"], timeout=10).status_code == 200
    unknown = server.play(str(UUID(int=5)), {})
    assert (unknown.status_code, unknown.json()) == (404, {"error": "Battle not found"})
    assert server.get("/health").text == "ok\n"


def test_a_run_that_is_ordered_again_goes_to_the_same_process(server: Jobs) -> None:
    cases = ("AB_AI_X", "AB_AI_O", "")
    assert len({shard(battle) for case in cases for battle in server.order(case, "same")}) == 1


def test_battles_of_all_processes_go_on_when_the_web_process_was_killed(server: Jobs) -> None:
    battles = ordered(server)
    (web,) = server.children("referee.addons.web.server.web_process")
    web.kill()
    web.wait(10)
    for battle in battles.values():
        assert server.heard(battle)[-1] == {"winner": "draw"}


def test_the_end_of_one_process_ends_its_battles_alone(server: Jobs) -> None:
    def status(battle: str) -> int:
        return server.get(f"/tic-tac-toe/admin/view/{battle}").status_code

    battles = ordered(server)
    server.children("referee.addons.arena.job_process")[0].kill()
    assert server.process.stderr is not None
    while "its battles with it" not in server.process.stderr.readline():
        pass
    assert sorted(map(status, battles.values())) == [200, 200, 503]
    for number in range(6):
        (battle,) = server.order("AB_AI_X", f"later {number}")
        assert status(battle) == 200


def test_all_processes_end_with_a_server_that_was_killed(server: Jobs) -> None:
    """The last test of this server."""
    others = [
        *server.children("referee.addons.arena.job_process"),
        *server.children("referee.addons.web.server.web_process"),
    ]
    assert len(others) >= JOBS - 1
    server.process.kill()
    server.process.wait(10)
    assert not psutil.wait_procs(others, timeout=10)[1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--jobs", "0"], "--jobs 0: expected 1 to 64"),
        (["--jobs", "2", "--test"], "--jobs cannot be combined with --test"),
    ],
)
def test_jobs_are_checked(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "arena", *words]) == 2
    assert why in " ".join(capsys.readouterr().err.split())
