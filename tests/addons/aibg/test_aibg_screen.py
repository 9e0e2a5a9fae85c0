"""AIBG's page for viewers, from `referee serve aibg`: a training game while it is played."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from pages import Visited

from referee.addons.aibg.users import add_user

pytestmark = pytest.mark.slow

PASSWORD = "a password of everybody"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory, viewer: None) -> Path:
    """Team1 may train, and there is a viewer."""
    file = tmp_path_factory.mktemp("aibg") / "users.json"
    add_user(file, "team1", "player", PASSWORD)
    add_user(file, "wall", "viewer", PASSWORD)
    return file


@pytest.fixture(scope="module")
def server(users: Path) -> Iterator[str]:
    """The address of a server."""
    with serving(users) as address:
        yield address


@contextmanager
def serving(users: Path, port: str = "0") -> Iterator[str]:
    """Runs a server while the block runs, and yields its address."""
    command = [sys.executable, "-m", "referee.harness.cli.main", "serve", "aibg", "--users", str(users)]
    process = subprocess.Popen(
        [*command, "--bind", f"127.0.0.1:{port}", "--replay", "none"], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert process.stdout is not None
        process.stdout.close()


class Trainee:
    """A client that trains."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.headers: dict[str, str] = {}
        token = self.post("/user/login", {"username": "team1", "password": PASSWORD})["token"]
        self.headers = {"Authorization": token}
        told = self.post("/game/train", {"mapName": "practice1.txt", "playerIdx": 1, "time": 5})
        self.number = int(told["message"].split(": ")[1].split()[0])
        self.state = json.loads(told["gameState"])

    def post(self, path: str, value: Any) -> Any:
        answer = requests.post(self.url + path, json=value, headers=self.headers, timeout=60)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def act(self, action: str) -> None:
        self.state = json.loads(self.post("/game/actionTrain", {"action": action})["gameState"])


def test_a_game_is_shown_at_the_old_address_with_the_viewers_password(server: str, visited: Visited) -> None:
    trainee = Trainee(server)
    page = visited(f"{server}/?gameId={trainee.number}", "form")
    assert page.locator("svg.aibg5").count() == 0
    page.get_by_label("the viewers' password").fill("something else")
    page.keyboard.press("Enter")
    page.get_by_text("the password is wrong").wait_for()
    page.get_by_label("the viewers' password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.locator("svg.aibg5").wait_for()
    assert page.get_by_text("live", exact=True).count() == 1
    for action in ("move,-6,-7", "move,-7,-7"):
        trainee.act(action)
        for number in range(1, 5):
            ship = trainee.state[f"player{number}"]
            label = f"{ship['name']} on {ship['q']},{ship['r']}, health {ship['health']}, level {ship['level']}"
            page.get_by_label(label).wait_for()
    names = [ship["name"] for ship in trainee.state["scoreBoard"]["players"]]
    assert page.locator("tbody th").all_inner_texts() == names
    page.reload()
    page.locator("svg.aibg5").wait_for()
    assert PASSWORD not in page.evaluate("location.href") and not page.locator("form").count()


def test_a_link_may_contain_the_password_and_an_unknown_game_is_reported(server: str, visited: Visited) -> None:
    page = visited(f"{server}/?gameId=77#password={PASSWORD.replace(' ', '%20')}", "form")
    page.get_by_text("there is no such game").wait_for()
    assert page.evaluate("location.href") == f"{server}/?gameId=77"
    answer = requests.get(f"{server}/", timeout=10)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_page_says_when_its_server_is_gone_and_drops_a_game_that_the_next_one_lacks(
    users: Path, visited: Visited
) -> None:
    with serving(users) as first:
        trainee = Trainee(first)
        page = visited(f"{first}/?gameId={trainee.number}#password={PASSWORD.replace(' ', '%20')}", "svg.aibg5")
    page.get_by_text("the server does not answer; trying again").wait_for()
    with serving(users, first.rpartition(":")[2]):
        page.get_by_text("there is no such game").wait_for()
        assert page.locator("header").inner_text() == f"AIBG 5, game {trainee.number}"
