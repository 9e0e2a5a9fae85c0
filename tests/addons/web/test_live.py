"""A watched match: paused, stepped and stopped, and played by people at its seats."""

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
from pages import Visited
from playwright.sync_api import Page

from referee.games import registry
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

pytestmark = pytest.mark.slow

SHORT = {
    "aibg5": ["--set", "rounds=2"],
    "aiarena21": ["--set", "turns=4"],
    "reantics": ["--set", "draw_after=4"],
    "quoridor": ["--set", "max_turns=10"],
}


class Run:
    """A match under --watch: its links and its process."""

    def __init__(self, process: "subprocess.Popen[str]", links: dict[str, str], replay: Path) -> None:
        self.process = process
        self.links = links
        self.replay = replay

    def end(self) -> str:
        """Waits for the end and returns the output."""
        out, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, out
        replay = Replay(self.replay)
        assert verify(replay) is not None
        return out


@contextmanager
def watched(folder: Path, *words: str, links: int = 1) -> Iterator[Run]:
    replay = folder / "match.jsonl"
    command = [sys.executable, "-m", "referee.harness.cli.main", *words, "--watch", "--no-browser", "--seed", "7"]
    process = subprocess.Popen(
        [*command, "--replay", str(replay), "--isolation", "off"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        lines = [process.stderr.readline() for _ in range(links)]
        yield Run(process, {line[:10].strip(): line.split()[-1] for line in lines}, replay)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def turns(replay: Path) -> int:
    return replay.read_bytes().count(b'\n{"turn":')


def test_a_match_can_be_paused_stepped_resumed_and_stopped(tmp_path: Path, viewer: None, visited: Visited) -> None:
    with watched(tmp_path, "--game", "reantics", "@random", "@random", "--paused") as run:
        page = visited(run.links["watch"], ".timeline")
        page.get_by_role("button", name="Resume the match").wait_for()
        assert turns(run.replay) == 0
        for number in (1, 2):
            page.keyboard.press(".")
            page.wait_for_function(f"() => document.querySelector('#turn').value == {number}")
        assert turns(run.replay) == 2
        page.locator("summary", has_text="pause at").click()
        page.get_by_role("combobox", name="what").select_option("workers")
        page.get_by_role("spinbutton", name="how much").fill("1")
        page.get_by_role("button", name="add").click()
        page.get_by_role("button", name="Resume the match").click()
        page.get_by_role("button", name="Resume the match").wait_for()
        page.wait_for_timeout(300)
        held = turns(run.replay)
        page.wait_for_timeout(300)
        assert turns(run.replay) == held > 2
        page.get_by_role("button", name="Stop the match").click()
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("End")
        assert page.locator(".headline").inner_text() == "a draw: stopped by somebody who watched"
        run.end()
    lines = [json.loads(line) for line in run.replay.read_bytes().splitlines()]
    assert sum(line.get("paused_ms", 0) for line in lines) > 0


def test_a_running_match_pauses_at_the_very_turn_of_a_condition(tmp_path: Path, viewer: None, visited: Visited) -> None:
    """Even with fast bots. Without conditions it runs on."""
    with watched(tmp_path, "--game", "reantics", "@random", "@random", "--paused") as run:
        page = visited(run.links["watch"], ".timeline")
        page.locator("summary", has_text="pause at").click()
        page.get_by_role("combobox", name="what").select_option("ants")
        page.get_by_role("spinbutton", name="how much").fill("3")
        page.get_by_role("button", name="add").click()
        page.keyboard.press("p")
        page.get_by_role("button", name="Pause the match").wait_for()
        page.get_by_role("button", name="Resume the match").wait_for()
        page.wait_for_timeout(300)
        held = turns(run.replay)
        lines = [json.loads(line) for line in run.replay.read_bytes().splitlines()]
        state = Replay(run.replay).new()
        state.opening()
        ants = []
        for line in lines[2:]:
            state.apply({int(seat): answer for seat, answer in line["answers"].items()})
            ants.append(len(state.view(None).inventories[0].ants))
        assert held == len(ants)
        assert ants[-1] >= 3 and max(ants[:-1]) < 3
        page.get_by_role("button", name="remove").click()
        page.get_by_role("button", name="Resume the match").click()
        page.get_by_text("verified", exact=True).wait_for()
        run.end()


def test_the_page_says_that_bots_are_still_starting(tmp_path: Path, viewer: None, visited: Visited) -> None:
    silent = f"cmd:{sys.executable} -c 'import time; time.sleep(60)'"
    with watched(tmp_path, "--game", "tictactoe", silent, "@random", "--limit", "startup=8") as run:
        page = visited(run.links["watch"], ".told")
        assert page.locator(".told").inner_text().startswith("The match has not started yet")
        page.locator(".timeline").wait_for(timeout=20_000)


PLACE = """([part, draw]) => {
    const all = [...document.querySelectorAll(part)];
    const found = all[Math.floor(draw * all.length)];
    found?.scrollIntoView({block: "center"});
    const box = found?.getBoundingClientRect();
    return box ? [box.x + box.width / 2, box.y + box.height / 2] : null;
}"""
NAME = "() => [...document.querySelectorAll('.answers button')].at(-1)?.innerText ?? null"
NUMBER = "() => document.querySelector('#answer')?.type === 'number'"
DRAW = """() => {
    const found = [...document.querySelectorAll(".desk button")].find(each => each.innerText === "place for me");
    found?.focus();
    return found !== undefined;
}"""


def mouse(page: Page, dice: Random) -> None:
    """Clicks any place that can be clicked, for an answer or a part of one."""
    number = page.evaluate(NUMBER)
    if place := page.evaluate(PLACE, ["#answer" if number else ".target:not(.chosen), .desk .main", dice.random()]):
        page.mouse.click(*place)
    if number:
        page.keyboard.type("1")
        if place := page.evaluate(PLACE, [".desk form button", 0]):
            page.mouse.click(*place)


def keyboard(page: Page, dice: Random) -> None:
    """Types one answer into its field."""
    if not page.evaluate(DRAW):
        words = "1" if page.evaluate(NUMBER) else page.evaluate(NAME)
        if words is None:
            return
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.keyboard.type(words)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("game", registry.own_names())
def test_two_people_play_a_whole_match_one_with_the_mouse_and_one_with_the_keyboard(
    game: str, tmp_path: Path, viewer: None, visited: Visited
) -> None:
    others = ["@random"] * (registry.game(game).seats.start - 2)
    bots = ["Ada=human", "Bob=human", *others]
    with watched(tmp_path, "--game", game, *bots, *SHORT.get(game, []), links=4) as run:
        pages = {
            mouse: visited(run.links["human 1"], ".timeline"),
            keyboard: visited(run.links["human 2"], ".timeline"),
        }
        dice = Random(1)
        for _ in range(1500):
            if run.process.poll() is not None or all(page.locator(".badge.good").count() for page in pages.values()):
                break
            for by, page in pages.items():
                if page.locator(".desk:not(.waiting)").count():
                    by(page, dice)
                    assert by is mouse or not page.locator(".desk .bad").count()
            pages[mouse].wait_for_timeout(30)
        for page in pages.values():
            page.get_by_text("seed 7").wait_for()  # at the end there is everything to see
            page.get_by_text("verified", exact=True).wait_for()
        run.end()
    header = json.loads(run.replay.read_bytes().splitlines()[0])
    assert header["people"] == [0, 1]


def test_a_person_can_undo_answers_until_their_turn_ends(tmp_path: Path, viewer: None, visited: Visited) -> None:
    """In ReAntics a move is a draft until END. The replay contains nothing that was undone."""
    with watched(tmp_path, "--game", "reantics", "Ada=human", "@random", links=2) as run:
        page = visited(run.links["people"], ".timeline")
        moving = page.locator(".desk code", has_text="getMove")
        for _ in range(100):
            if moving.count():
                break
            if (draw := page.get_by_role("button", name="place for me")).count():
                draw.click()
            elif (food := page.locator(".answers button", has_text="food")).count():
                food.first.click()
            page.wait_for_timeout(300)
        pieces = "() => [...document.querySelectorAll('.boards [aria-label]')].map(each => each.ariaLabel).sort()"
        before, held = page.evaluate(pieces), turns(run.replay)
        drafted = page.get_by_text("after 1 that you can undo")
        page.locator(".answers button", has_not_text=re.compile("^end", re.IGNORECASE)).first.click()
        drafted.wait_for()
        assert page.evaluate(pieces) != before
        assert turns(run.replay) == held
        page.keyboard.press("u")
        drafted.wait_for(state="detached")
        assert page.evaluate(pieces) == before
        page.locator(".answers button", has_text=re.compile("^end", re.IGNORECASE)).first.click()
        page.wait_for_function(f"() => Number(document.querySelector('#turn').value) > {held}")
    lines = [json.loads(line) for line in run.replay.read_bytes().splitlines() if line.startswith(b'{"turn":')]
    first = next(line for line in lines if "moveType" in line.get("answers", {}).get("0", {}))
    assert first["answers"]["0"]["moveType"] == 2, "the first that counts is END"


def test_a_shared_screen_hides_the_hand_of_the_other_person(tmp_path: Path, viewer: None, visited: Visited) -> None:
    with watched(tmp_path, "--game", "cardgame", "Ada=human", "Bob=human", links=4) as run:
        page = visited(run.links["people"], ".timeline")
        page.get_by_text("Others, please look away.").wait_for()
        first, second = ("Ada", "Bob") if page.get_by_text("It is the turn of Ada").count() else ("Bob", "Ada")
        for name in (first, second):
            page.get_by_text(f"It is the turn of {name}").wait_for()
            assert page.locator(".curtain").count() == 1 and page.locator(".board, .answers").count() == 0
            page.get_by_role("button", name=f"I am {name}").click()
            seat = 0 if name == "Ada" else 1
            page.get_by_role("region", name=f"the board as seat {seat} sees it").wait_for()
            assert page.locator(".curtain").count() == 0
            page.keyboard.press("ArrowLeft")
            other = page.get_by_role("region", name=f"the board as seat {1 - seat} sees it")
            assert page.locator(".board").count() == 1 and other.count() == 0, "nor in an earlier position"
            page.keyboard.press("End")
            dice = Random(1)
            while name == first and not page.get_by_text(f"It is the turn of {second}").count():
                if page.locator(".desk:not(.waiting) .answers").count():
                    mouse(page, dice)
                page.wait_for_timeout(30)


def test_a_person_sees_only_the_view_of_their_seat(tmp_path: Path, viewer: None) -> None:
    with watched(tmp_path, "--game", "cardgame", "Ada=human", "Bob=human", links=4) as run:
        parts = urlsplit(run.links["human 1"])

        def get(path: str, link: str = "human 1", method: str = "GET", body: object = None) -> tuple[int, list[str]]:
            """Returns the response; of an open stream, the part up to the state of the match."""
            token = urlsplit(run.links[link]).fragment.removeprefix("token=")
            connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=5)
            connection.request(method, path, json.dumps(body) if body else None, {"X-Referee-Token": token})
            answer = connection.getresponse()
            lines = [answer.readline().decode()]
            while lines[-1] and not lines[-1].startswith('{"live"'):
                lines.append(answer.readline().decode())
            connection.close()
            return answer.status, lines

        until = time.monotonic() + 15
        while not (run.replay.exists() and turns(run.replay)) and time.monotonic() < until:
            time.sleep(0.05)
        entries = json.loads(get("/matches")[1][0])
        assert len(entries) == 1 and "seed" not in entries[0]
        _, lines = get("/matches/0")
        whole = "".join(lines)
        about, header = json.loads(lines[0]), json.loads(lines[1])[1]
        assert about["eyes"] == [0] and about["command"] == ""
        assert header["setup"]["seed"] is None
        first = json.loads(lines[2])[0][0]
        assert first["view"] is None and first["text"] == [] and first["seats"][1] is None
        assert '"deck"' not in whole
        assert get("/live", method="POST", body={"do": "stop"})[0] == 403
        assert get("/seats/1", method="POST", body={"sample": True, "number": 1})[0] == 403
        assert get("/seats/" + "9" * 5000, method="POST", body={"sample": True, "number": 1})[0] == 404
        assert get("/live", "watch", "POST", {"do": "explode"})[0] == 400
