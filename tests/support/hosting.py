"""A hosted contest for tests: `referee host` in a process, and people with browsers."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from contests import environment

START_S = 30.0
SECRET = re.compile(r'<p class="secret">([^<]+)</p>')


def wait_for(what: Callable[[], Any], within_s: float = 60.0) -> Any:
    """Waits until something is true, and returns it."""
    until = time.monotonic() + within_s
    while not (found := what()):
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)
    return found


class Browser:
    """Somebody's browser: cookies, and the header Origin with each form."""

    def __init__(self, address: str) -> None:
        self.address = address
        headers = {"accept": "text/html", "origin": address}
        self.http = httpx.Client(
            base_url=address, headers=headers, follow_redirects=True, timeout=60, trust_env=False, verify=False
        )

    def get(self, path: str, status: int = 200) -> str:
        """Returns a page."""
        response = self.http.get(path)
        assert response.status_code == status, response.text
        return response.text

    def post(self, path: str, status: int = 200, **fields: str) -> str:
        """Sends a form, and returns the page behind it."""
        response = self.http.post(path, data=fields)
        assert response.status_code == status, response.text
        return response.text

    def join(self, link: str, name: str) -> "Browser":
        """Opens an invitation."""
        self.post(link.removeprefix(self.address), name=name)
        return self

    def hand_in(self, file: Path, status: int = 200, **fields: str) -> str:
        """Uploads a version, and returns the page behind the form."""
        with file.open("rb") as content:
            response = self.http.post("/team/versions", data=fields, files={"file": (file.name, content)})
        assert response.status_code == status, response.text
        return response.text

    def decided(self, version: int, within_s: float = 90.0) -> dict[str, Any]:
        """Waits for the verdict of a version, and returns its last state."""

        def state() -> dict[str, Any] | None:
            found: dict[str, Any] = self.http.get(f"/team/versions/{version}/state").json()
            return found if found["status"] in ("accepted", "refused") else None

        found: dict[str, Any] = wait_for(state, within_s)
        return found


class Hosted:
    """A running contest."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        self.process, self.folder = process, folder
        self.address, self.organisers_link = (_value(process, word) for word in ("contest", "organiser"))

    def browser(self) -> Browser:
        """Returns a stranger's browser."""
        return Browser(self.address)

    def organiser(self) -> Browser:
        """Returns the organiser's browser."""
        return self.browser().join(self.organisers_link, "Ada")

    def team(self, organiser: Browser, name: str) -> Browser:
        """Invites a team, and returns the browser of its first member."""
        page = organiser.post("/organiser/invite", name=name)
        return self.browser().join(secret(page), f"captain of {name}")


def secret(page: str) -> str:
    """Returns the link or token that a page shows once."""
    found = SECRET.search(page)
    assert found is not None, page
    return found[1]


def _value(process: "subprocess.Popen[str]", word: str) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(f"{word} "), line
    return line.split()[-1]


@contextmanager
def hosted(folder: Path, *options: str, end: int = signal.SIGINT) -> Iterator[Hosted]:
    """Runs `referee host` while the block runs, on a free port unless `--bind` names one."""
    bind = () if "--bind" in options else ("--bind", "127.0.0.1:0")
    command = [sys.executable, "-m", "referee.harness.cli.main", "host", str(folder), *options, *bind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(folder.parent)) as process:
        try:
            contest = Hosted(process, folder)
            http = httpx.Client(base_url=contest.address, trust_env=False, verify=False)
            wait_for(lambda: http.get("/health").status_code == 200, START_S)
            yield contest
        finally:
            process.send_signal(end)
            process.wait(60)
