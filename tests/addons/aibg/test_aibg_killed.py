"""When AIBG's process with the matches is killed, its clients get an answer that says so."""

import queue
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import requests
from serving import web_process
from ships import Client

from referee.addons.aibg.users import add_user

PASSWORD = "a password of everybody"
TEAMS = ["team1", "team2", "team3", "team4"]
GAME = {"gameId": 77, "playerUsernames": TEAMS, "time": 5, "mapName": "first_round"}


@pytest.mark.slow
def test_a_waiting_client_hears_that_the_process_with_the_matches_was_killed(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    add_user(users, "chief", "admin", PASSWORD)
    for name in TEAMS:
        add_user(users, name, "player", PASSWORD)
    argv = ["serve", "aibg", "--users", str(users), "--bind", "127.0.0.1:0", "--replay", "none"]
    with subprocess.Popen(
        [sys.executable, "-m", "referee.harness.cli.main", *argv], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[^ \n]+", process.stdout.readline())
            assert found is not None
            answer = Client(found[0], "chief", PASSWORD).post("/game/createGame", GAME)
            assert answer.status_code == 201, answer.text
            first, *others = (Client(found[0], name, PASSWORD) for name in TEAMS)
            twice = Client(found[0], TEAMS[0], PASSWORD)
            _together(*(client.join for client in (first, *others)))
            answers: queue.Queue[requests.Response] = queue.Queue()
            for client in (first, twice):
                threading.Thread(
                    target=lambda to: answers.put(to.post("/game/doAction", {"action": "move,-6,-7"})),
                    args=(client,),
                    daemon=True,
                ).start()
            assert answers.get(timeout=20).status_code == 202, "its other action waits for the rivals"
            web = web_process(process.pid)
        finally:
            process.kill()
    heard = answers.get(timeout=20)
    assert (heard.status_code, heard.text) == (503, "the server has ended, and this goes no further\n")
    web.wait(20)


def _together(*calls: object) -> None:
    threads = [threading.Thread(target=call, daemon=True) for call in calls]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
