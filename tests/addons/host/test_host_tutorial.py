"""docs/tutorials/host-a-contest.md, followed to the letter: two teams, from nothing to a table that moves."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from contests import environment
from hosting import Browser, Hosted, secret, wait_for

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "tutorials" / "host-a-contest.md"
ADDRESS = "http://127.0.0.1:8000"


class Reader:
    """Somebody who follows the page: types its commands, and compares what it shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.bind = f"127.0.0.1:{free.getsockname()[1]}"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = environment(folder) | {"PATH": path}

    def next(self, kind: str) -> str:
        """Returns the next block, with the address of this contest."""
        found, text = self.blocks.pop(0)
        assert found == kind, text
        return text.replace(ADDRESS, f"http://{self.bind}")

    def start(self) -> "subprocess.Popen[str]":
        """Starts the contest by the command of the page."""
        words = [*shlex.split(self.next("sh")), "--bind", self.bind]
        return subprocess.Popen(words, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, text=True)

    def type(self, code: int = 0, shown: bool = True) -> None:
        """Types the next commands, and compares what they print with the block that follows."""
        text = self.next("sh")
        done = subprocess.run(["sh", "-ec", text], cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert done.returncode == code, f"{text}\n{done.stdout}{done.stderr}"
        if shown:
            lines = self.next("").splitlines()
            assert all(line in done.stdout for line in lines), (lines, done.stdout)


@pytest.mark.timeout(280)
def test_the_tutorial_of_a_hosted_contest_works_to_the_letter(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    with reader.start() as process:
        contest = Hosted(process, tmp_path / "spring-cup")
        first, second = reader.next("").splitlines()
        assert contest.address in first and contest.organisers_link.startswith(second.split()[1])
        everybody = contest.browser()
        wait_for(lambda: everybody.http.get("/health").status_code == 200)
        assert "Spring cup" in everybody.get("/")
        organiser = contest.organiser()
        blue, red = contest.team(organiser, "Blue"), contest.team(organiser, "Red")

        token = secret(blue.post("/team/token")).split()[0]
        assert reader.next("sh") == "export REFEREE_TOKEN=TOKEN-OF-BLUE\n"
        name, reader.env["REFEREE_TOKEN"] = token.split("=")
        assert name == "REFEREE_TOKEN"
        reader.type()
        reader.type(shown=False)
        red.hand_in(tmp_path / "red.zip")
        assert red.decided(1)["status"] == "accepted"
        (bot, *_) = wait_for(lambda: re.findall(r'href="(bots/\w+\.html)">Blue', everybody.get("/")))
        wait_for(lambda: "games/" in everybody.get(f"/{bot}"))

        reader.type(code=1)
        assert "Version 1 plays" in blue.get("/team") and "NameError" in blue.get("/team/versions/2")
        reader.type()
        assert "Version 3 plays" in blue.get("/team")
        blue.post("/team/versions/1/play")
        assert "Version 1 plays" in blue.get("/team")

        blue.post("/team/practice", version="1", rival="@random", seat="0", seed="7")
        wait_for(lambda: "/team/practice/1" in blue.get("/team/practice"))
        red.get("/team/practice/1", 404)

        organiser.post("/organiser/switches/uploads", value="closed")
        organiser.post("/organiser/switches/table", value="frozen")
        wait_for(lambda: "frozen at" in everybody.get("/"))
        organiser.post("/organiser/switches/table", value="public")
        process.send_signal(signal.SIGINT)
    reader.type()
    with reader.start() as process:
        Hosted(process, tmp_path / "spring-cup")
        again = Browser(contest.address)
        wait_for(lambda: again.http.get("/health").status_code == 200)
        assert "Version 1 plays" in blue.get("/team")
        process.send_signal(signal.SIGINT)
    assert reader.blocks == []
