"""A weekend of a contest: good, broken and hostile uploads, practice, kills, a freeze, a final, a restored backup.

The nightly one has 40 teams, bots in seven languages, and two people with a real browser.
"""

import io
import shutil
import signal
import subprocess
import time
import tomllib
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from contests import referee
from hostile_teams import CRASHES, HELD_OFF, STOLEN, bomb, thief
from hosting import Browser, Hosted, hosted, secret, wait_for
from needs import lacks
from submissions import RUN, zipped

from referee.addons.host import finals, versions
from referee.addons.host.backup import backup
from referee.addons.host.restore import restore
from referee.addons.host.store import Store
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.new.write import kits

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

pytestmark = pytest.mark.slow

BROKEN = RUN + 'build = "echo no compiler here; exit 1"\n'


class Weekend:
    """The contest, and what its teams know of it."""

    def __init__(self, folder: Path, teams: int) -> None:
        self.folder, self.cup = folder, folder / "cup"
        self.names = [f"Team {number}" for number in range(1, teams + 1)]
        self.broken = set(self.names[:: max(2, teams // 4)])
        """Those whose second upload is broken."""
        self.thief, self.bomb = self.names[-1], self.names[-2] if teams > 10 else ""
        self.hostile = {self.thief, self.bomb}
        languages = [name for name in kits() if name == "python" or not lacks(name)] if teams > 10 else []
        self.languages = dict(zip(self.names[3:], languages, strict=False))
        """Those that hand in a first bot of this language, as the contest's page has it."""
        self.broken -= {*self.hostile, *self.languages}
        self.browsers: dict[str, Browser] = {}
        self.expected: dict[tuple[str, int], str] = {}
        """By team and version, the verdict."""
        self.address = ""
        self.organiser: Browser
        self.flooding: Browser

    def host(self, end: int = signal.SIGINT) -> "hosted":  # type: ignore[valid-type]
        bind = ("--bind", self.address) if self.address else ("--game", "tictactoe", "--seed", "5")
        return hosted(self.cup, *bind, "--jobs", "1", "--checks", "2", end=end)

    def begin(self, contest: Hosted) -> None:
        """Invites the teams, whose members sign in."""
        self.address = contest.address.removeprefix("http://")
        self.organiser = contest.organiser()
        invited = "\n".join(f"{name}, x@y.org" for name in self.names)
        table = self.organiser.post("/organiser/invite-many", table=invited)
        links = {line.split(",")[0]: line.split(",")[-1] for line in table.splitlines()[1:]}
        for name in self.names:
            self.browsers[name] = contest.browser().join(links[name], f"captain of {name}")
        self.flooding = contest.team(self.organiser, "Flood")
        second = contest.browser().join(secret(self.browsers[self.names[0]].post("/team/link")), "second")
        assert self.names[0] in second.get("/team")

    def upload(self, round: int) -> None:
        """Each team hands in a version."""
        for number, name in enumerate(self.names):
            file = self.folder / "files" / f"{number}-{round}.zip"
            is_broken = round == 2 and name in self.broken
            toml = BROKEN if is_broken else RUN
            if name in self.languages:
                self._first_bot(file, name, round)
            else:
                zipped(file, 100 * round + number, toml, self._code(number, name, round))
            if round == 2 and number == 2:  # another hostile one leads out of its folder
                with zipfile.ZipFile(file, "a") as packed:
                    packed.writestr("../../outside.py", "print('out')")
                is_broken = True
            self.browsers[name].hand_in(file, note=f"round {round}")
            self.expected[name, round] = "refused" if is_broken else "accepted"

    def flood(self) -> None:
        """A hostile team hands in as often and as fast as it can."""
        file = zipped(self.folder / "files" / "flood.zip", 999).read_bytes()
        files = {"file": ("flood.zip", file)}
        statuses = Counter(self.flooding.http.post("/team/versions", files=files).status_code for _ in range(40))
        assert statuses.keys() <= {200, 400, 429} and statuses[200] <= versions.Quota().an_hour, statuses
        assert statuses[429] > 0

    def _code(self, number: int, name: str, round: int) -> str:
        if round == 1 and number == 1:
            return CRASHES
        if name == self.thief:
            return thief(str(self.cup), int(self.address.rpartition(":")[2]))
        return bomb() if name == self.bomb else ""

    def _first_bot(self, file: Path, name: str, round: int) -> None:
        """Downloads a first bot, and adds a file by which each version is another one."""
        kit = self.browsers[name].http.get(f"/kits/{self.languages[name]}.zip")
        assert kit.status_code == 200, kit.text
        if round == 1:
            _download_packages(kit.content, self.folder / "first" / self.languages[name])
        file.write_bytes(kit.content)
        with zipfile.ZipFile(file, "a") as packed:
            folder = zipfile.ZipFile(io.BytesIO(kit.content)).namelist()[0].split("/")[0]
            packed.writestr(f"{folder}/VERSION", f"{name}, round {round}")

    def decide(self, round: int) -> None:
        """Waits for all verdicts of a round."""
        for name in self.names:
            state = self.browsers[name].decided(round, 600.0 if self.languages else 180.0)
            assert state["status"] == self.expected[name, round], (name, state)

    def practise(self) -> None:
        for number, name in enumerate(self.names[:4]):
            rival = "@random" if number % 2 else self.names[0 if number else 2]  # both play by now
            self.browsers[name].post("/team/practice", version="1", rival=rival, seat=str(number % 2), seed="7")

    def games(self) -> dict[str, str]:
        """Returns the finished games: by key, their course."""
        return {line.k: line.a for _, line in reader.counted_lines(self.cup)}

    def until_played(self, more: int) -> None:
        before = len(self.games())
        wait_for(lambda: len(self.games()) >= before + more)

    def everybody_plays(self) -> bool:
        """Whether the versions of all teams but those that fail in games are in, and have games."""
        present = {entry.ident: entry.name for entry in read_plan(self.cup / PLAN).bots if not entry.absent}
        if {*self.names} - {*present.values()} - {self.names[1]} - self.hostile:
            return False
        return present.keys() <= reader.idents_of(reader.read(self.cup).line_ups)


def check_all(weekend: Weekend, known: dict[str, str]) -> None:
    """Every accepted upload and every finished game is there, and no game twice."""
    cup = weekend.cup
    store = Store(cup)
    for (name, number), verdict in weekend.expected.items():
        team = store.value("SELECT id FROM team WHERE name = ?", name)
        one = versions.version(store, team, number)
        assert one is not None and one.status == verdict, (name, number)
        assert verdict == "refused" or (cup / "bots" / f"{one.hash}.zip").is_file()
    store.close()
    assert known.items() <= weekend.games().items()
    twice = {key: n for key, n in Counter(line.k for _, line in reader.every_line(cup)).items() if n > 1}
    assert not twice
    idents = {entry.ident: entry.name for entry in read_plan(cup / PLAN).bots}
    faults = [(idents[line.b[fault.seat]], fault.detail) for _, line in reader.counted_lines(cup) for fault in line.f]
    assert not [each for each in faults if f"code {STOLEN}" in each[1]]
    assert any(name == weekend.thief and f"code {HELD_OFF}" in detail for name, detail in faults)
    assert not weekend.bomb or any(name == weekend.bomb for name, _ in faults)
    assert "0 differ" in referee(weekend.folder, "tournament", "verify", cup, "--sample", "20%")
    assert not (cup.parent / "outside.py").exists() and not (cup / "outside.py").exists()


def in_a_browser(browser: "Chromium", weekend: Weekend, contest: Hosted) -> None:
    """Two people use a browser: they join, hand in, follow the check, watch the table and a game, and practise."""
    errors: list[str] = []
    pages = []
    for number, name in enumerate(("Ann", "Bea")):
        page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(secret(weekend.organiser.post("/organiser/invite", name=f"{name}'s team")))
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Join").click()
        slow = RUN + 'build = "for i in 1 2 3; do echo step $i; sleep 1; done"\n'
        file = zipped(weekend.folder / "files" / f"{name}.zip", 5000 + number, slow)
        page.get_by_label("A zip of the bot's folder").set_input_files(file)
        page.get_by_role("button", name="Hand in").first.click()
        page.get_by_text("step 1").wait_for()
        page.get_by_text("accepted", exact=True).wait_for(timeout=60_000)
        pages.append(page)
    first, second = pages
    first.goto(contest.address)
    first.get_by_role("link", name="Bea's team").wait_for(timeout=60_000)  # the table moves without a reload
    first.get_by_role("link", name="Bea's team").click()
    game = first.get_by_role("link", name="view", exact=False).first
    wait_for(lambda: first.reload() and game.count())
    game.click()
    first.wait_for_selector(".timeline")
    second.goto(f"{contest.address}/team/practice")
    second.get_by_label("Against").select_option("@random")
    second.get_by_label("Seed").fill("7")
    second.get_by_role("button", name="Play").click()
    second.get_by_role("link", name="view").wait_for(timeout=60_000)
    for page in pages:
        page.context.close()
    assert errors == []


def _download_packages(kit: bytes, folder: Path) -> None:
    """Builds a first bot by hand, as the organiser's page says: builds of the contest have no network."""
    zipfile.ZipFile(io.BytesIO(kit)).extractall(folder)
    (home,) = folder.iterdir()
    if build := tomllib.loads((home / "bot.toml").read_text()).get("build"):
        subprocess.run(["sh", "-c", build], cwd=home, check=True)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("teams", [4, pytest.param(40, marks=pytest.mark.nightly)])
def test_a_weekend_loses_nothing(teams: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    weekend = Weekend(tmp_path, teams)
    with weekend.host(end=signal.SIGKILL) as contest:
        weekend.begin(contest)
        if teams > 10:
            in_a_browser(request.getfixturevalue("browser"), weekend, contest)
        weekend.upload(1)
        weekend.decide(1)
        wait_for(weekend.everybody_plays, 300.0)
        weekend.practise()
        known = weekend.games()
    with weekend.host(end=signal.SIGKILL):  # after the first kill
        weekend.until_played(3)
        known |= weekend.games()
        weekend.upload(2)  # and the second, in the middle of the checks
        weekend.flood()
        time.sleep(1.0)
    with weekend.host() as contest:
        weekend.decide(2)
        weekend.upload(3)
        weekend.decide(3)
        wait_for(weekend.everybody_plays, 300.0)
        store = Store(weekend.cup)
        wait_for(lambda: store.value("SELECT count(*) FROM practice WHERE status = 'played'") >= 4)
        for name in (weekend.names[1], weekend.thief):
            why = "SELECT set_aside_why FROM submission WHERE bot = ? AND version = 1"
            wait_for(lambda name=name, why=why: "in a row" in store.value(why, name))

        # The freeze, and the final.
        weekend.organiser.post("/organiser/switches/table", value="frozen")
        weekend.organiser.post("/organiser/switches/uploads", value="closed")
        at = finals.commitment(store)
        public = contest.browser()
        assert at.hash in public.get("/finals")
        late = zipped(tmp_path / "files" / "late.zip", 999)
        assert "uploads are closed" in weekend.browsers[weekend.names[0]].hand_in(late, status=400).lower()
        weekend.organiser.post("/organiser/final", name="Final", format="knockout", games="2")
        wait_for(lambda: finals.waiting(weekend.cup) is None, 300.0)
        assert "being played" not in weekend.organiser.get("/finals") and "frozen" in public.get("/finals")
        weekend.organiser.post("/organiser/switches/table", value="public")
        assert finals.finals(weekend.cup)[0].secret in wait_for(lambda: public.get("/finals"))
        known |= weekend.games()
        backup(weekend.cup, tmp_path / "backup.tar")
        store.close()
    check_all(weekend, known)
    final = weekend.cup / finals.FINALS / "Final"
    assert "its seed follows from its bots" in referee(tmp_path, "tournament", "verify", final)

    # The disk is lost; the backup goes on.
    shutil.rmtree(weekend.cup)
    restore(tmp_path / "backup.tar", weekend.cup)
    with weekend.host():
        weekend.until_played(3)
        assert weekend.names[0] in weekend.browsers[weekend.names[0]].get("/team"), "sessions outlast it"
    check_all(weekend, known)
    assert "its seed follows from its bots" in referee(tmp_path, "tournament", "verify", final)
