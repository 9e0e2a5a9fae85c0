"""A hosted contest for tests: `referee host` in a process, and people with browsers."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any

import httpx
import msgspec
from contests import environment
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import BrowserContext, ConsoleMessage

from referee.addons.host import submissions, teams, versions
from referee.addons.host.contest import opened
from referee.addons.host.settings import WebSettings
from referee.addons.host.store import Store
from referee.addons.tournament import organise
from referee.addons.tournament.plan import Entry, read_plan, write_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.web.server.limits import listen

START_S = 30.0
ADDRESS = "http://127.0.0.1"
HASH = "cd" * 32
ENTRY = Entry("Blue", HASH[:10], HASH, "@random")
numbers = count()
SECRET = re.compile(r'<p class="secret">([^<]+)</p>')


def wait_for(what: Callable[[], Any], within_s: float = 60.0) -> Any:
    """Waits until something is true, and returns it."""
    until = time.monotonic() + within_s
    while not (found := what()):
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.1)
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


def signed_in(chromium: Chromium, browser: Browser, errors: list[str], width: int = 1280) -> BrowserContext:
    """Returns a window of a real browser with the session of somebody. `errors` gets those of its pages."""
    window = chromium.new_context(viewport={"width": width, "height": 860})
    cookies = [{"name": name, "value": value, "url": browser.address} for name, value in browser.http.cookies.items()]
    window.add_cookies(cookies)  # type: ignore[arg-type]
    window.on("weberror", lambda error: errors.append(str(error.error)))
    window.on("console", lambda said: errors.append(f"{said.text} {said.location['url']}") if is_error(said) else None)
    return window


def is_error(said: ConsoleMessage) -> bool:
    """Whether a page complains. A browser asks for an icon by itself."""
    return said.type == "error" and not said.location["url"].endswith("/favicon.ico")


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
            http = httpx.Client(base_url=contest.address, trust_env=False, verify=False, timeout=START_S)
            wait_for(lambda: http.get("/health").status_code == 200, START_S)
            yield contest
        finally:
            process.send_signal(end)
            process.wait(60)


def team(store: Store, name: str) -> int:
    """Adds a team, and returns its number."""
    return teams.invite(store, name, "", "organiser Ada")[0].id


class Cup:
    """A contest with the teams Blue and Red, and a web process."""

    def __init__(self, folder: Path, game: str = "tictactoe") -> None:
        request = organise.Request(game, (), format="ladder", seed=7)
        self.store = opened(folder / "cup", organise.plan_without_bots(request), ())
        self.blue, self.red, self.third = (team(self.store, name) for name in ("Blue", "Red", "Third"))
        self._headers: dict[str, dict[str, str]] = {}
        member = teams.person(self.store, self.session(self.blue))
        assert member is not None
        one = versions.hand_in(self.store, self.blue, member.member, "bot.zip", "uploads/none/bot.zip")
        versions.accept(self.store, one, ENTRY)
        submissions.enter(self.store, ENTRY)
        self.listening = listen("127.0.0.1")
        self.address = f"{ADDRESS}:{self.listening.getsockname()[1]}"

    def rename(self, title: str) -> None:
        """Changes what the table shows."""
        plan = self.store.folder / PLAN
        write_plan(msgspec.structs.replace(read_plan(plan), title=title), plan)

    def session(self, number: int | None) -> str:
        """Signs somebody of a team in, or an organiser."""
        token = teams.new_link(self.store, number, "join", "x")
        return teams.open_link(self.store, token, f"person {next(numbers)}")

    def headers(self, role: str) -> dict[str, str]:
        """Returns what a session of this role sends."""
        if role not in self._headers:
            self._headers[role] = self._signed_in(role)
        return self._headers[role]

    def forget(self, role: str) -> None:
        """Signs in anew for the next request of this role."""
        self._headers.pop(role, None)

    def _signed_in(self, role: str) -> dict[str, str]:
        if role == "stranger":
            return {}
        session = self.session({"other": self.red, "organiser": None}.get(role, self.blue))
        if role == "program":
            person = teams.person(self.store, session)
            assert person is not None
            return {"authorization": f"Bearer {teams.new_program_token(self.store, person)}"}
        if role == "ended":
            teams.end_session(self.store, session)
        return {"cookie": f"referee={session}"}


@contextmanager
def serving(cup: Cup, log: IO[bytes] | None = None, **settings: Any) -> Iterator[httpx.Client]:
    """Runs the web process of a contest while the block runs, and yields a client without a session.

    `log`: a file that gets the process's standard error.
    """
    text = msgspec.json.encode(WebSettings(cup.address, **settings)).decode()
    command = [sys.executable, "-m", "referee.addons.host.web_process", str(cup.store.folder)]
    descriptors, env = [cup.listening.fileno()], environment(cup.store.folder.parent)
    with (
        cup.listening,
        httpx.Client(base_url=cup.address, trust_env=False, verify=False, timeout=60) as client,
        subprocess.Popen(
            [*command, str(descriptors[0]), text], stdin=subprocess.PIPE, stderr=log, pass_fds=descriptors, env=env
        ) as process,
    ):
        wait_for(lambda: client.get("/health").status_code == 200)
        yield client
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
