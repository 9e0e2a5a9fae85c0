"""A watched match: paused, stepped and stopped, and played by people at its seats."""

import http.client
import json
import re
import select
import shlex
import sys
import time
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import psutil
import pytest
from pages import Played, Visited, barriers
from playwright.sync_api import Page
from watching import SHORT, Watched, watching_process

from referee.games import registry
from referee.harness.replay.reader import Replay

pytestmark = pytest.mark.slow

COMMAND = ("--game", "tictactoe", "Ada=human", "@random")
MANY_TURNS = 24
"""After so many, both people have answered all kinds of questions of a game."""


def test_a_person_plays_with_the_command_to_its_end(tmp_path: Path, viewer: None, visited: Visited) -> None:
    with watching_process(tmp_path, *COMMAND) as (process, links):
        page = visited(links["people"], ".desk:not(.waiting)")
        for _ in range(200):
            if process.poll() is not None:
                break
            if page.locator(".desk:not(.waiting) .answers button").count():
                page.locator(".answers button").first.click()
            page.wait_for_timeout(30)
        page.get_by_text("verified", exact=True).wait_for()
        assert process.wait(30) == 0


def test_a_page_without_its_server_offers_no_controls(tmp_path: Path, viewer: None, visited: Visited) -> None:
    gone = "the server does not answer"
    with watching_process(tmp_path, *COMMAND) as (process, links):
        page = visited(links["people"], ".desk:not(.waiting)")
        watcher = visited(links["watch"], ".steering")
        children = psutil.Process(process.pid).children(recursive=True)
        (room,) = [each for each in children if "referee.addons.web.watch_main" in each.cmdline()]
        room.kill()
        for each in (page, watcher):
            each.locator(".badge", has_text=gone).wait_for()
            assert each.locator(".steering, .target, .answers").count() == 0
        page.locator(".desk").get_by_text("nothing can be answered here").wait_for()
        watcher.get_by_role("link", name="all matches").click()
        watcher.wait_for_timeout(300)
        assert watcher.locator(".badge", has_text=gone).count() == 1


def test_a_match_is_stepped_paused_at_the_turn_of_a_condition_resumed_and_stopped(
    watched: Watched, visited: Visited
) -> None:
    """A condition holds even fast bots at the very turn. Without it they play on."""
    with watched("reantics", "@random", "@random", paused=True) as run:
        page = visited(run.links["watch"], ".timeline")
        page.get_by_role("button", name="Resume the match").wait_for()
        assert run.turns == 0
        for number in (1, 2):
            page.keyboard.press(".")
            page.wait_for_function(f"() => document.querySelector('#turn').value == {number}")
        assert run.turns == 2
        page.locator("summary", has_text="pause at").click()
        page.get_by_role("combobox", name="what").select_option("ants")
        page.get_by_role("spinbutton", name="how much").fill("3")
        page.get_by_role("button", name="add").click()
        page.keyboard.press("p")
        page.get_by_role("button", name="Pause the match").wait_for()
        page.get_by_role("button", name="Resume the match").wait_for()
        page.wait_for_timeout(300)
        held = run.turns
        state = Replay(run.replay).new()
        state.opening()
        ants = []
        for line in run.lines[2:]:
            state.apply({int(seat): answer for seat, answer in line["answers"].items()})
            ants.append(len(state.view(None).inventories[0].ants))
        assert held == len(ants)
        assert ants[-1] >= 3 and max(ants[:-1]) < 3
        page.get_by_role("button", name="remove").click()
        page.get_by_role("button", name="Resume the match").click()
        page.wait_for_function(f"() => document.querySelector('#turn').value > {held}")
        page.get_by_role("button", name="Stop the match").click()
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("End")
        assert page.locator(".headline").inner_text() == "a draw: stopped by somebody who watched"
        run.end()
    assert sum(line.get("paused_ms", 0) for line in run.lines) > 0


def test_the_page_says_that_bots_are_still_starting(tmp_path: Path, watched: Watched, visited: Visited) -> None:
    code = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.05)"
    silent = f"silent=cmd:{shlex.join(['env', '-C', str(tmp_path), sys.executable, '-c', code])}"
    with watched("tictactoe", silent, "@random") as run:
        page = visited(run.links["watch"], ".told")
        assert page.locator(".told").inner_text().startswith("The match has not started yet")
        (tmp_path / "go").touch()
        page.locator(".timeline").wait_for(timeout=20_000)


@pytest.mark.parametrize("is_old_there", [False, True])
def test_who_asks_for_a_match_before_its_replay_has_begun_waits_and_sees_what_their_seat_may_see(
    is_old_there: bool, tmp_path: Path, watched: Watched, played: Played
) -> None:
    if is_old_there:
        (tmp_path / "match.jsonl").write_bytes(played("cardgame").read_bytes())
    with watched("cardgame", "Ada=human", "@random", held=True) as run:
        parts = urlsplit(run.links["people"])
        token = {"X-Referee-Token": parts.fragment.removeprefix("token=")}
        status, waits = 404, False
        while not waits:
            assert status == 404, "an older replay, or all of this one"
            connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=20)
            connection.request("GET", "/matches/0", headers=token)
            waits = not select.select([connection.sock], [], [], 1)[0]
            status = 404 if waits else connection.getresponse().status
        run.go.set()
        stream = connection.getresponse()
        lines = [json.loads(stream.readline())]
        is_asked = False
        while not is_asked:
            lines.append(json.loads(stream.readline()))
            is_asked = isinstance(lines[-1], dict) and lines[-1]["live"]["choice"] is not None
        connection.close()
    assert lines[0]["eyes"] == [0] and lines[1][1]["setup"]["names"] == ["Ada", "@random"]
    assert '"deck"' not in json.dumps(lines)


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
def test_people_play_by_mouse_and_by_keyboard_and_their_questions_are_accessible(
    game: str, watched: Watched, visited: Visited
) -> None:
    others = ["@random"] * (registry.game(game).seats.start - 2)
    with watched(game, "Ada=human", "Bob=human", *others, **SHORT.get(game, {})) as run:
        pages = {
            mouse: visited(run.links["human 1"], ".timeline"),
            keyboard: visited(run.links["human 2"], ".timeline"),
        }
        dice, answered, was_checked = Random(1), dict.fromkeys(pages, 0), False
        for _ in range(1500):
            if run.over.is_set() or run.turns >= MANY_TURNS:
                break
            for by, page in pages.items():
                if page.locator(".desk:not(.waiting)").count():
                    if by is mouse and not was_checked:
                        assert barriers(page) == []
                        was_checked = True
                    by(page, dice)
                    answered[by] += 1
                    assert by is mouse or not page.locator(".desk .bad").count()
            pages[mouse].wait_for_timeout(20)
        else:
            pytest.fail(f"{run.turns} turns, asked: {[page.locator('.desk').inner_text() for page in pages.values()]}")
        assert was_checked and min(answered.values()) > 1
        if run.over.is_set():
            for page in pages.values():
                page.get_by_text("seed 7").wait_for()  # at the end there is everything to see
                page.get_by_text("verified", exact=True).wait_for()
            run.end()
    assert run.over.is_set() or game not in ("tictactoe", "quoridor")
    assert run.lines[0]["people"] == [0, 1]


def test_a_person_can_undo_answers_until_their_turn_ends(watched: Watched, visited: Visited) -> None:
    """In ReAntics a move is a draft until END. The replay contains nothing that was undone."""
    with watched("reantics", "Ada=human", "@random") as run:
        page = visited(run.links["people"], ".timeline")
        moving = page.locator(".desk code", has_text="getMove")
        for _ in range(600):
            if moving.count():
                break
            if (draw := page.get_by_role("button", name="place for me")).count():
                draw.click()
            elif (food := page.locator(".answers button", has_text="food")).count():
                food.first.click()
            page.wait_for_timeout(50)
        pieces = "() => [...document.querySelectorAll('.boards [aria-label]')].map(each => each.ariaLabel).sort()"
        before, held = page.evaluate(pieces), run.turns
        drafted = page.get_by_text("after 1 that you can undo")
        page.locator(".answers button", has_not_text=re.compile("^end", re.IGNORECASE)).first.click()
        drafted.wait_for()
        assert page.evaluate(pieces) != before
        assert run.turns == held
        page.keyboard.press("u")
        drafted.wait_for(state="detached")
        assert page.evaluate(pieces) == before
        page.locator(".answers button", has_text=re.compile("^end", re.IGNORECASE)).first.click()
        page.wait_for_function(f"() => Number(document.querySelector('#turn').value) > {held}")
    first = next(line for line in run.lines[2:] if "moveType" in line.get("answers", {}).get("0", {}))
    assert first["answers"]["0"]["moveType"] == 2, "the first that counts is END"


def test_a_shared_screen_hides_the_hand_of_the_other_person(watched: Watched, visited: Visited) -> None:
    with watched("cardgame", "Ada=human", "Bob=human") as run:
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


def test_a_person_sees_only_the_view_of_their_seat(watched: Watched) -> None:
    with watched("cardgame", "Ada=human", "Bob=human") as run:
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

        while not (run.replay.exists() and run.turns):
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
