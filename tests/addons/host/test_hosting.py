"""A contest runs itself: two teams, from nothing to a table that moves, a final, and a start after each kind of end."""

import gzip
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from unittest import mock

import httpx
import msgspec
import psutil
import pytest
from contests import referee
from hostile_teams import HELD_OFF, STOLEN, thief
from hosting import Browser, Cup, Hosted, hosted, numbers, secret, wait_for
from submissions import RUN, folder_of, zipped

from referee.addons.host import finals
from referee.addons.host.store import FILE
from referee.addons.host.submissions import BEGUN
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.isolation.probe import probe

pytestmark = pytest.mark.slow
SLEEPS = RUN + 'build = "echo begun; sleep 3000"\n'
NOISY = """
def steal():
    os._exit(3)
{more}
whole, started = choose, begin
def begin(params):
    global names
    names = params["names"]
    started(params)

def choose():
    if seat == 0 and "Blue" in names and "Red" in names:
        print("private note of {name}", file=sys.stderr, flush=True)
        steal()
    return whole()
"""
"""Prints to standard error and ends at the first seat of each game between Blue and Red."""


class Spring:
    """A running contest with the teams Blue and Red, whose bots have played. Red's tries to steal first."""

    def __init__(self, contest: Hosted, files: Path) -> None:
        self.contest, self.cup, self.files = contest, contest.folder, files
        self.everybody, self.organiser = contest.browser(), contest.organiser()
        self.blue, self.red = (contest.team(self.organiser, name) for name in ("Blue", "Red"))
        steals = thief(str(self.cup), int(contest.address.rpartition(":")[2]))
        builds = RUN + 'build = "echo built by us; readlink /proc/self/ns/net"\n'
        self.blue.hand_in(zipped(files / "a.zip", 1, more=NOISY.format(name="Blue", more="")), note="the first")
        self.red.hand_in(zipped(files / "b.zip", 2, builds, NOISY.format(name="Red", more=steals)))
        self.states = [team.decided(1) for team in (self.blue, self.red)]
        assert [state["status"] for state in self.states] == ["accepted"] * 2
        wait_for(lambda: "Red" in self.blue.get("/team/practice"))
        self.blue.post("/team/practice", version="1", rival="Red", seed="5", seat="0")
        wait_for(lambda: "/team/practice/1" in self.blue.get("/team/practice"))
        wait_for(lambda: self.games() > 10)
        self.switch("rated", "off")  # tests that need more games switch them on

    def switch(self, name: str, value: str) -> None:
        self.organiser.post(f"/organiser/switches/{name}", value=value)

    def games(self) -> int:
        return reader.read(self.cup).count


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spring]:
    folder = tmp_path_factory.mktemp("spring")
    options = ("--game", "tictactoe", "--title", "Spring cup", "--seed", "7", "--set-aside", "1000")
    before = os.umask(0)
    try:
        with hosted(folder / "cup", *options, "--jobs", "1", "--checks", "1") as contest:
            yield Spring(contest, folder / "files")
    finally:
        os.umask(before)


def replay(browser: Browser, path: str) -> bytes:
    response = browser.http.get(path)
    assert response.status_code == 200, response.text
    return gzip.decompress(response.content)


def test_everybody_sees_the_table_and_the_games(spring: Spring) -> None:
    everybody = spring.everybody
    assert "Spring cup" in everybody.get("/") and "the first" in spring.blue.get("/team")
    (bot, *_) = wait_for(lambda: re.findall(r'href="(bots/\w+\.html)">Blue', everybody.get("/")))
    game = wait_for(lambda: re.search(r'href="\.\./games/([^"]+)\.jsonl\.gz"', everybody.get(f"/{bot}")))
    assert everybody.http.get(f"/games/{game[1]}.jsonl.gz").content[:2] == b"\x1f\x8b"
    policies = everybody.http.get(f"/games/{game[1]}.html").headers.get("content-security-policy", "").split("; ")
    assert "sandbox allow-scripts" in policies, "a game's painter would have the session of who looks at it"


def test_a_team_sees_its_own_standard_error_and_no_other(spring: Spring) -> None:
    """In rated games and in practice games, which a team plays with a rival, seat and seed of its choice."""
    blue, red, contest = spring.blue, spring.red, spring.contest
    content = replay(blue, "/team/practice/1/replay")
    assert b"private note of Blue" in content and b"private note of Red" not in content
    assert msgspec.json.decode(content.splitlines()[0])["setup"]["seed"] == 5
    red.get("/team/practice/1", 404)
    red.get("/team/practice/1/replay", 404)

    fault = r'href="games/([^"]+)\.(?:html|jsonl\.gz)"[^>]*>(?:View the game|Download the replay)'
    own = wait_for(lambda: re.findall(fault, blue.get("/team/bot")))[0]
    assert "private note of Blue" in blue.get("/team/bot") and "note of Red" not in blue.get("/team/bot")
    for team, own_note, other in ((blue, "note of Blue", "note of Red"), (red, "note of Red", "note of Blue")):
        wait_for(lambda team=team, note=own_note: note in team.get("/team/versions/1"))
        page = team.get("/team/versions/1")
        game = re.search(r"/team/games/[^.]+", page)
        assert other not in page and game is not None and replay(team, f"{game[0]}.jsonl.gz")
    for browser, path, seen in (
        (blue, "/team/games", {"Blue"}),
        (red, "/team/games", set()),
        (spring.everybody, "/games", set()),
    ):
        content = replay(browser, f"{path}/{own}.jsonl.gz")
        assert {name for name in ("Blue", "Red") if f"private note of {name}".encode() in content} == seen

    # Nobody learns the seed from which the luck of games to come follows.
    seed = f'seed":{read_plan(spring.cup / PLAN).seed}'
    pages = [spring.everybody.get("/"), *(blue.get(path) for path in ("/team", "/team/versions/1", "/team/bot"))]
    assert not [page for page in [*pages, content.decode()] if f"{seed}," in page or f"{seed}}}" in page]

    # A third team has no part in that game.
    third = contest.team(spring.organiser, "Third")
    third.get(f"/team/games/{own}.jsonl.gz", 404)
    third.get(f"/team/games/{own}.html", 404)


def test_a_bot_steals_nothing_of_the_contest(spring: Spring) -> None:
    details = [fault.detail for _, line in reader.counted_lines(spring.cup) for fault in line.f]
    assert not [each for each in details if f"code {STOLEN}" in each]
    assert [each for each in details if f"code {HELD_OFF}" in each]


@pytest.mark.skipif(probe().namespaces is None, reason="this machine has no namespaces")
def test_builds_have_no_network(spring: Spring) -> None:
    log = spring.states[1]["log"]
    assert "built by us" in log and "net:[" in log and os.readlink("/proc/self/ns/net") not in log
    assert not read_plan(spring.cup / PLAN).limits.build_network


@pytest.mark.nightly
@pytest.mark.skipif(probe().namespaces is None, reason="this machine has no namespaces")
def test_builds_have_the_network_if_the_organiser_allows_it(tmp_path: Path) -> None:
    with hosted(tmp_path / "cup", "--game", "tictactoe", "--build", "offline=false") as contest:
        blue = contest.team(contest.organiser(), "Blue")
        blue.hand_in(zipped(tmp_path / "files" / "a.zip", 1, RUN + 'build = "readlink /proc/self/ns/net"\n'))
        assert os.readlink("/proc/self/ns/net") in blue.decided(1)["log"]
    assert read_plan(tmp_path / "cup" / PLAN).limits.build_network


def test_a_folder_is_handed_in_from_the_command_line(spring: Spring, tmp_path: Path) -> None:
    number = next(numbers)  # the contest may know a team of the run before
    name, good = f"Green {number}", folder_of(tmp_path / f"good{number}", 3, RUN + 'build = "echo one; echo two"\n')
    (good / ".git").mkdir()
    (good / ".git" / "secret").write_text("mine")
    broken = folder_of(tmp_path / "broken", 4, RUN + 'build = "echo no compiler; exit 1"\n')
    green = spring.contest.team(spring.organiser, name)
    token = secret(green.post("/team/token")).split()[0].removeprefix("REFEREE_TOKEN=")

    def submit(*words: str | Path, code: int, token: str = token, to: str = spring.contest.address) -> str:
        with mock.patch.dict(os.environ, {"REFEREE_TOKEN": token}):
            text = referee(tmp_path, "submit", *words, "--to", to, code=code, errors=True)
        assert len(token) < 40 or token not in text
        return " ".join(text.split())

    text = submit(good, "--note", "by hand", code=0)
    assert f"version 1: {spring.contest.address}/team/versions/1" in text and text.index("two") > 0
    assert text.endswith("accepted") and "by hand" in green.get("/team")

    def playing() -> list[str]:
        return [entry.hash for entry in read_plan(spring.cup / PLAN).bots if entry.name == name and not entry.absent]

    first = wait_for(playing)
    text = submit(broken, code=1)
    assert "no compiler" in text and "refused: the build failed with exit code 1" in text
    submit(good / "bot.py", "--no-wait", code=0)
    assert "a repository may be at https://github.com" in submit("https://evil.example/bot.git", code=2)
    assert "does not know the token" in submit(good, code=2, token="wrong")
    submit(folder_of(tmp_path / "other", 5), code=2, token="")  # for the folder of `good`, it is remembered
    submit(tmp_path / "nowhere", code=2)
    assert "cannot be reached" in submit(good, code=3, to="http://127.0.0.1:9")
    (uploaded,) = (spring.cup / "uploads").rglob(f"good{number}.zip")
    assert b"secret" not in uploaded.read_bytes()

    # A second member joins, and the team goes back to its first version.
    second = spring.contest.browser().join(secret(green.post("/team/link")), "Cy")
    assert second.decided(3)["status"] == "accepted"
    wait_for(lambda: playing() != first)
    second.post("/team/versions/1/play")
    wait_for(lambda: playing() == first)


def test_the_web_process_starts_again_after_a_kill(spring: Spring) -> None:
    below = psutil.Process(spring.contest.process.pid).children()
    (web,) = [each for each in below if "referee.addons.host.web_process" in each.cmdline()]
    web.kill()
    wait_for(lambda: web_answers(spring.blue))
    assert "Version 1 plays" in spring.blue.get("/team")


def web_answers(browser: Browser) -> bool:
    try:
        return browser.http.get("/health").status_code == 200
    except httpx.HTTPError:
        return False


def test_a_final_is_played_with_the_seed_that_was_committed_before(spring: Spring) -> None:
    everybody, organiser = spring.everybody, spring.organiser
    committed = re.search(r'"secret">([0-9a-f]{64})<', everybody.get("/finals"))
    form = {"name": "CUP-1", "format": "knockout", "games": "2", "first": "2"}
    organiser.post("/organiser/final", status=400, **form)  # while uploads are open
    spring.switch("uploads", "closed")
    organiser.post("/organiser/final", **form)
    assert "bots/" in everybody.get("/finals/CUP-1")
    secret_of = re.compile(r'<dt>Secret</dt>\s*<dd class="secret">([0-9a-f]+)<')
    shown = wait_for(lambda: secret_of.search(everybody.get("/finals")))
    assert committed is not None and sha256(shown[1].encode()).hexdigest() == committed[1]
    page = everybody.get("/finals/CUP-1/index.html")
    bots = re.findall(r'href="(bots/\w+\.html)"', page)
    assert "bracket" in page.casefold() and len(bots) == 2
    link = re.compile(r'href="\.\./games/([^"]+)\.jsonl\.gz"')
    one = wait_for(lambda: link.search(everybody.get(f"/finals/CUP-1/{bots[0]}")))  # pages follow a moment later
    assert replay(everybody, f"/finals/CUP-1/games/{one[1]}.jsonl.gz")
    everybody.get("/finals/%2e%2e/index.html", 404)
    assert finals.finals(spring.cup)[0].ended_at


def open_to_others(folder: Path) -> list[str]:
    paths = [folder, *folder.rglob("*")]
    return [str(path.relative_to(folder)) for path in paths if stat.S_IMODE(path.lstat().st_mode) & 0o077]


def test_a_contest_goes_on_and_its_folder_is_closed_to_other_accounts_before_and_afterwards(spring: Spring) -> None:
    """The last test of this contest. Its umask is 0."""
    cup, played = spring.cup, spring.games()
    assert {path.name for path in cup.iterdir() if path.is_dir()} >= {
        "ledger", "replays", "bots", "inbox", "uploads", "reports", "practice", "finals",
    }  # fmt: skip
    assert open_to_others(cup) == []
    spring.switch("rated", "on")
    spring.contest.process.send_signal(signal.SIGINT)
    spring.contest.process.wait(60)
    for path in (cup, *cup.rglob("*")):
        path.chmod(0o777)
    with hosted(cup, "--bind", spring.contest.address.removeprefix("http://")) as contest:
        assert open_to_others(cup) == []
        assert "Version 1 plays" in spring.blue.get("/team"), "nobody signs in again"
        wait_for(lambda: spring.games() > played)
        command = [sys.executable, "-m", "referee.harness.cli.main", "host", str(cup), "--bind", "127.0.0.1:0"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode != 0 and "another host is using this folder" in done.stderr
        assert "/join/" not in done.stdout
        contest.organiser().get("/organiser")  # the link that was printed is still the one


def test_a_kill_during_a_check_loses_no_upload_and_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the processes below end with `referee host`, and leave the folder and the port free.

    Its copies of the uploads are removed at the next start, but not the files of others.
    """
    cup, temporary = tmp_path / "cup", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    slow = RUN + 'build = "echo begun; sleep 8; echo ended"\n'
    options = ("--jobs", "1", "--checks", "2")
    with hosted(cup, "--game", "tictactoe", *options, end=signal.SIGKILL) as contest:
        organiser = contest.organiser()
        blue, red = contest.team(organiser, "Blue"), contest.team(organiser, "Red")
        red.hand_in(zipped(tmp_path / "files" / "c.zip", 3, SLEEPS))
        blue.hand_in(zipped(tmp_path / "files" / "a.zip", 1, slow))
        for team in (blue, red):
            wait_for(lambda team=team: "begun" in team.http.get("/team/versions/1/state").json()["log"])
        blue.hand_in(zipped(tmp_path / "files" / "b.zip", 2))
        below = psutil.Process(contest.process.pid).children(recursive=True)
        assert ["sleep", "3000"] in [each.cmdline() for each in below]
        stray = cup / "uploads" / "1" / "torn"
        stray.mkdir()
        (stray / "half.zip").write_bytes(b"PK")
        (stray / BEGUN).touch()
        kept = [cup / "uploads" / team / "earlier" / "a.zip" for team in ("1", "7")]
        for file in kept:
            file.parent.mkdir(parents=True)
            file.write_bytes(b"PK")
        page = cup / "uploads" / ".coming" / "referee-1"
        page.mkdir()
        (page.parent / "part").write_bytes(b"PK")
    assert psutil.wait_procs(below, 30)[1] == []
    assert sorted(file.name for file in temporary.rglob("*.zip")) == ["a.zip", "c.zip"]
    others = temporary / f"referee-host-0-{cup.stat().st_ino:x}-1"
    others.mkdir()
    with hosted(cup, "--bind", contest.address.removeprefix("http://"), *options):
        assert [blue.decided(number)["status"] for number in (1, 2)] == ["accepted"] * 2
        assert "Version 2 plays" in blue.get("/team") and not stray.exists()
        assert all(file.is_file() for file in kept), "another database may name them"
        wait_for(lambda: "Blue" in blue.get("/"))
        assert red.http.get("/team/versions/1/state").json()["status"] == "checking"
    assert [*temporary.iterdir()] == [others] and [*page.parent.iterdir()] == []


def test_a_contest_that_has_lost_its_database_or_its_plan_is_refused_and_loses_no_upload(tmp_path: Path) -> None:
    made = Cup(tmp_path)
    made.listening.close()
    made.store.close()
    cup = made.store.folder
    upload = cup / "uploads" / "1" / "first" / "bot.zip"
    upload.parent.mkdir(parents=True)
    upload.write_bytes(b"PK")
    for name, trace in ((FILE, "uploads"), (PLAN, FILE)):
        (cup / name).rename(tmp_path / name)
        before = sorted(cup.rglob("*"))
        for words in ((), ("--game", "tictactoe")):
            said = referee(tmp_path, "host", cup, *words, code=2)
            assert f"has {trace} of a contest and no {name}; copy {name} back" in said and len(said.splitlines()) == 1
            assert sorted(cup.rglob("*")) == before and upload.read_bytes() == b"PK"
        (tmp_path / name).rename(cup / name)
