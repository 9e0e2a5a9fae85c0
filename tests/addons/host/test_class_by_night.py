"""A class of 60 in one contest, from sign-up to marks, with all that goes wrong in a course.

Bots in up to five languages, a slow build, a team that hands in broken bots without end, an extension, a
disqualification, a sealed final that is shown match by match, and a kill during uploads and during the final. Two real
browsers look: a projector, and a phone of a team.
"""

import csv
import io
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from threading import Event

import httpx
import pytest
from contests import tournament
from hosting import Browser, Hosted, hosted, signed_in, wait_for
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import expect

from referee.addons.host import check_queue, finals, teams, versions
from referee.addons.host.first_bots import obstacles, packed
from referee.addons.host.rehearsal_dummies import variant
from referee.addons.host.store import Store
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.new import write as new

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
GAME, CODE = "tictactoe", "algorithms 2026"
LANGUAGES = ("python", "c", "cpp", "go", "rust")
SLOW, BROKEN, LATE, TOO_LATE = range(4)
"""The numbers of teams: a slow build, broken bots without end, one with an extension, and one without."""
RULE = "handed in = 1, plays = 1, no faults = 0.5, 5 games = 1, beats easy 60 % = 4, rank 10 = 2"
AGAIN_S = 0.5
LONG_S = 3600.0
"""A limit for what takes minutes on an idle machine."""


class Class:
    """The teams of a class with their browsers, and where their contest is."""

    def __init__(self, cup: Path, size: int) -> None:
        self.cup, self.size, self.address = cup, size, ""
        self.browsers: list[Browser] = []
        self.uploads, self.broken, self.stop = 0, 0, Event()
        missing = dict(obstacles(GAME, network=False))
        self.languages = [lang for lang in LANGUAGES if new.kits()[lang].name not in missing]
        self.salts = count()

    @property
    def names(self) -> list[str]:
        return [f"Team {number:02}" for number in range(self.size)]

    def bot(self, number: int, kind: str) -> bytes:
        """Returns a bot that no team has handed in before."""
        lang = self.languages[number % len(self.languages)]
        return variant(packed(GAME, lang), kind, next(self.salts))

    def sign_up(self) -> None:
        for number, name in enumerate(self.names):
            browser = Browser(self.address)
            browser.post("/sign-up", code=CODE, team=name, name=f"Person {number:02}")
            self.browsers.append(browser)

    def hand_in(self, number: int, kind: str) -> None:
        """Hands in, again and again until the contest has it: it may be killed meanwhile."""
        content = self.bot(number, kind)
        while self.upload(number, content) != 200:
            if self.stop.wait(AGAIN_S):
                return
        self.uploads += 1

    def upload(self, number: int, content: bytes) -> int:
        """Uploads a bot once. Returns the status; 0 = the contest was killed."""
        try:
            answer = self.browsers[number].http.post("/team/versions", files={"file": ("bot.zip", content)})
        except httpx.HTTPError:
            return 0
        return answer.status_code

    def break_down(self) -> None:
        """Hands in broken bots until it is stopped."""
        while not self.stop.wait(AGAIN_S):
            self.broken += self.upload(BROKEN, self.bot(BROKEN, "broken")) == 200


@contextmanager
def running(room: Class, *options: str) -> Iterator[Hosted]:
    """Runs the contest of a class at its address."""
    with hosted(room.cup, *options, "--jobs", "1") as contest:
        room.address = contest.address
        yield contest


def kill(contest: Hosted) -> None:
    contest.process.send_signal(signal.SIGKILL)
    contest.process.wait()
    wait_for(lambda: not listens(contest.address))  # its web process ends with it


def listens(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", trust_env=False).status_code > 0
    except httpx.HTTPError:
        return False


def bind(room: Class) -> tuple[str, str]:
    return "--bind", room.address.removeprefix("http://")


def accepted(store: Store) -> set[str]:
    """Returns the names of the teams with a version that plays."""
    return {each.name for each in teams.teams(store) if versions.current(store, each.id) is not None}


def games(cup: Path) -> dict[str, int]:
    """Returns the number of rated games of each bot's present version."""
    names = {entry.ident: entry.name for entry in read_plan(cup / PLAN).bots if not entry.absent}
    found = dict.fromkeys(names.values(), 0)
    for _, line in reader.counted_lines(cup):
        for ident in line.b:
            if ident in names:
                found[names[ident]] += 1
    return found


def by_hand(room: Class, ranks: dict[str, int]) -> dict[str, float]:
    """Returns the marks of each team by RULE, from the lines of the ledger. `ranks`: from the organiser's table."""
    plan = read_plan(room.cup / PLAN)
    names = {entry.ident: entry.name for entry in plan.bots if not entry.absent}
    void = {entry.ident for entry in plan.bots if entry.void}
    played, faults, against = (
        defaultdict[str, int](int),
        defaultdict[str, int](int),
        defaultdict[str, list[float]](list),
    )
    for line in (line for _, line in reader.counted_lines(room.cup) if void.isdisjoint(line.b)):
        for seat, ident in enumerate(line.b):
            name, other = names.get(ident, ""), names.get(line.b[1 - seat], "")
            played[name] += 1
            faults[name] += sum(fault.seat == seat for fault in line.f) + (line.m[seat] if line.m else 0)
            if other == "easy":
                against[name].append(0.5 if line.r[0] == line.r[1] else float(line.r[seat] < line.r[1 - seat]))
    found = {}
    for name in room.names:
        points = 1.0
        if name in names.values():
            points += 1 + 0.5 * (played[name] > 0 and not faults[name]) + (played[name] >= 5)
            won = against[name]
            points += 4 * bool(won and sum(won) / len(won) >= 0.6) + 2 * (1 <= ranks.get(name, 0) <= 10)
        found[name] = points
    return found


def ranks_of(ada: Browser) -> dict[str, int]:
    """Returns the places in the organiser's table."""
    rows = csv.DictReader(io.StringIO(ada.get("/organiser/table.csv")))
    return {row["bot"]: int(row["#"]) for row in rows if row["#"].isdecimal()}


def steady(value: Callable[[], object]) -> None:
    """Waits until a value stays the same for three looks."""
    seen: list[object] = []

    def is_steady() -> bool:
        seen.append(value())
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]

    wait_for(is_steady, LONG_S)


def keys_of(folder: Path) -> list[str]:
    return [line.k for _, line in reader.every_line(folder)]


@pytest.mark.timeout(4 * LONG_S)
@pytest.mark.parametrize("size", [60])
def test_a_class_gets_its_verdicts_games_final_and_marks(size: int, tmp_path: Path, browser: Chromium) -> None:
    room = Class(tmp_path / "cup", size)
    with ThreadPoolExecutor(8) as pool:
        try:
            with running(room, "--game", GAME, "--title", "Night", "--with", "easy=@random") as contest:
                ada = contest.organiser()
                ada.post("/organiser/code", code=CODE)
                room.sign_up()
                forever = pool.submit(room.break_down)
                others = [number for number in range(size) if number != BROKEN]
                kinds = {SLOW: "slow"}
                handed_in = [pool.submit(room.hand_in, number, kinds.get(number, "sound")) for number in others]
                wait_for(lambda: room.uploads > size // 3, LONG_S)
                kill(contest)  # during uploads
            with running(room, *bind(room)) as contest:
                for each in handed_in:
                    each.result()
                the_week(room, ada)
                the_phone(room, browser)
                wait_for(lambda: room.broken > 2, LONG_S)  # they are taken, with growing pauses
                room.stop.set()
                forever.result()
                the_deadline(room, ada)
                the_final(room, ada, contest)
            with running(room, *bind(room)):
                the_reveal(room, ada, browser)
                the_marks(room, ada)
        finally:
            room.stop.set()
    keys = keys_of(room.cup)
    assert len(keys) == len({*keys})
    for folder in (room.cup, room.cup / "finals" / "CUP"):
        assert "0 differ" in tournament(tmp_path, "verify", folder)


def the_week(room: Class, ada: Browser) -> None:
    """Each sound bot is accepted and plays, also while others build slowly or break down."""
    store = Store(room.cup)
    sound = {name for number, name in enumerate(room.names) if number != BROKEN}
    wait_for(lambda: accepted(store) == sound, LONG_S)
    wait_for(lambda: {name for name, played in games(room.cup).items() if played >= 5} >= sound, LONG_S)
    refused = versions.versions(store, next(each.id for each in teams.teams(store) if each.name == room.names[BROKEN]))
    assert not [each for each in refused if each.status == "accepted"]
    assert room.names[SLOW] in ada.get("/")
    store.close()


def the_phone(room: Class, browser: Chromium) -> None:
    """On a phone, a team sees its own row, and what ranks, without scrolling."""
    errors: list[str] = []
    window = signed_in(browser, room.browsers[LATE], errors, width=390)
    page = window.new_page()
    page.goto(f"{room.address}/team")
    page.goto(room.address)
    own = page.locator(".own-line")
    expect(own).to_be_in_viewport()
    expect(own).to_contain_text(room.names[LATE])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    head = page.locator("th[scope=col]").filter(has_text="Elo").bounding_box()
    assert head is not None and head["x"] + head["width"] <= 390
    window.close()
    assert errors == []


def the_deadline(room: Class, ada: Browser) -> None:
    """After the deadline, only the team with an extension hands in."""
    ada.post("/organiser/switches/uploads", value="closed")
    numbers = {each.name: each.id for each in teams.teams(Store(room.cup))}
    late = f"/organiser/teams/{numbers[room.names[LATE]]}/extension"
    assert room.upload(LATE, room.bot(LATE, "sound")) == 400
    ada.post(late, until="2999-01-01T00:00")
    assert room.upload(LATE, room.bot(LATE, "sound")) == 200
    assert room.upload(TOO_LATE, room.bot(TOO_LATE, "sound")) == 400
    state = wait_for(lambda: room.browsers[LATE].http.get("/team/status").json()["version"] == 2, LONG_S)
    assert state
    final = {"name": "CUP", "format": "knockout", "games": "2", "first": "16", "sealed": "1"}
    assert "may still hand in" in ada.post("/organiser/final", 400, **final)
    ada.post(late, until="")
    wait_for(lambda: games(room.cup)[room.names[LATE]] > 0, LONG_S)
    with closing(Store(room.cup)) as store:
        wait_for(lambda: not check_queue.queue(store), LONG_S)  # also what was handed in again when an answer was lost
    ada.post("/organiser/switches/rated", value="off")
    ada.post("/organiser/final", **final)


def the_final(room: Class, ada: Browser, contest: Hosted) -> None:
    """The final is sealed, and the contest is killed while it is played."""
    folder = room.cup / "finals" / "CUP"
    wait_for(lambda: (folder / "ledger").is_dir() and len(keys_of(folder)) > 2, LONG_S)
    assert "0 matches are shown" in ada.get("/finals")
    kill(contest)


def the_reveal(room: Class, ada: Browser, browser: Chromium) -> None:
    """Everybody sees what the organiser has shown. After a disqualification, the page of the final says so."""
    everybody, errors = Browser(room.address), list[str]()
    window = signed_in(browser, everybody, errors)
    projector = window.new_page()
    projector.goto(f"{room.address}/finals")
    wait_for(lambda: finals.waiting(room.cup) is None, LONG_S)
    keys = keys_of(room.cup / "finals" / "CUP")
    assert len(keys) == len({*keys})
    one = keys[0].replace("/", "_")
    path = f"/finals/CUP/games/{one}.jsonl.gz"
    assert everybody.http.get(path).status_code == 404
    ada.post("/organiser/finals/CUP/show", what="match")
    assert "1 match is shown" in everybody.get("/finals")
    expect(projector.get_by_text("1 match is shown")).to_be_visible(timeout=60_000)
    ada.post("/organiser/finals/CUP/show", what="round")
    ada.post("/organiser/finals/CUP/show", what="all")
    wait_for(lambda: everybody.http.get(path).status_code == 200)
    in_final = [entry.name for entry in read_plan(room.cup / "finals" / "CUP" / PLAN).bots]
    first = min(in_final, key=ranks_of(ada).__getitem__)
    number = next(each.id for each in teams.teams(Store(room.cup)) if each.name == first)
    ada.post(f"/organiser/teams/{number}/state", state="disqualified", reason="two accounts")
    assert f"{first} was disqualified" in everybody.get("/finals")
    expect(projector.get_by_text(f"{first} was disqualified").first).to_be_visible(timeout=60_000)
    window.close()
    assert errors == []
    wait_for(lambda: first not in ranks_of(ada), LONG_S)


def the_marks(room: Class, ada: Browser) -> None:
    """Everybody of the class list has a row, with marks as a calculation by hand has them."""
    steady(lambda: ada.get("/organiser/table.csv"))
    people = "Name\n" + "".join(f"Person {number:02}\n" for number in range(room.size)) + "Somebody Else\n"
    answer = ada.post("/organiser/marks", rule=RULE, people=people)
    rows = [row for row in csv.DictReader(io.StringIO(answer)) if row["class Name"]]
    assert len(rows) == room.size + 1 and rows[-1]["status"] == "nothing handed in" and not rows[-1]["marks"]
    out = {each.name for each in teams.teams(Store(room.cup)) if each.state == "disqualified"}
    expected = {name: 0.0 if name in out else points for name, points in by_hand(room, ranks_of(ada)).items()}
    assert {row["name"]: float(row["marks"]) for row in rows[:-1]} == expected
    assert expected[room.names[BROKEN]] == 1.0 and len(out) == 1
