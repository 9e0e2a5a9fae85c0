"""People who end, hold, hurry, look twice, and lose their server: the page says what became of it and goes on."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from pages import Played, Visited
from playwright.sync_api import Page
from test_live import turns, watched

pytestmark = pytest.mark.slow

ASKED = ".desk:not(.waiting)"
GONE = "the server does not answer"


def answer(page: Page) -> None:
    page.locator(".answers button").first.click()


def desk(page: Page, text: str) -> None:
    """Waits until the desk says so."""
    page.locator(".desk").get_by_text(text).wait_for()


@pytest.mark.parametrize("held", [False, True])
def test_a_match_is_ended_while_a_person_is_asked(held: bool, tmp_path: Path, viewer: None, visited: Visited) -> None:
    with watched(tmp_path, "--game", "tictactoe", "Ada=human", "@random", links=2) as run:
        page = visited(run.links["people"], ASKED)
        before = turns(run.replay)
        if held:
            page.get_by_role("button", name="hold the match").click()
            page.get_by_role("button", name="let it go on").wait_for()
        page.get_by_role("button", name="end it").click()
        page.get_by_text("identical", exact=True).wait_for()
        page.keyboard.press("End")
        assert page.locator(".reason").inner_text() == "stopped by somebody who watched"
        run.end()
        assert turns(run.replay) == before


def test_whoever_waits_is_told_that_the_match_is_held_and_an_answer_counts_meanwhile(
    tmp_path: Path, viewer: None, visited: Visited
) -> None:
    with watched(tmp_path, "--game", "tictactoe", "Ada=human", "Bob=human", links=4) as run:
        watcher = visited(run.links["watch"], ".timeline")
        pages = [visited(run.links[f"human {number}"], ".desk") for number in (1, 2)]
        watcher.get_by_role("button", name="hold the match").click()
        watcher.get_by_role("button", name="let it go on").wait_for()
        asked, other = pages if pages[0].locator(ASKED).count() else pages[::-1]
        desk(other, "The match is held.")
        answer(asked)
        desk(asked, "The match is held.")
        watcher.wait_for_function("() => document.querySelector('#turn').value == 1")
        watcher.get_by_role("button", name="let it go on").click()
        desk(asked, "The others are thinking.")
        other.locator(ASKED).wait_for()
        assert turns(run.replay) == 1


def test_a_turn_that_two_pages_show_is_answered_by_one_and_the_other_says_so_and_goes_on(
    tmp_path: Path, viewer: None, visited: Visited
) -> None:
    with watched(tmp_path, "--game", "connectfour", "Ada=human", "@random", links=2) as run:
        one, other = (visited(run.links["people"], ASKED) for _ in range(2))
        before = turns(run.replay)
        answer(one)
        desk(other, "That question was answered on another page")
        other.locator(".answers").wait_for()
        assert one.get_by_text("another page").count() == 0
        answer(other)
        desk(one, "That question was answered on another page")
        one.locator(".answers").wait_for()
        assert other.get_by_text("another page").count() == 0
        assert turns(run.replay) == before + 4


def test_what_one_person_began_is_not_undone_by_the_answer_of_another(
    tmp_path: Path, viewer: None, visited: Visited
) -> None:
    """Both are asked at once: each has a question of its own."""
    with watched(tmp_path, "--game", "aiarena21", "Ada=human", "Bob=human", "--turns", "3", links=4) as run:
        one, other = (visited(run.links[f"human {number}"], ".desk") for number in (1, 2))
        for _ in range(100):
            if all(page.locator(ASKED).get_by_text("play_turn").count() for page in (one, other)):
                break
            for page in (one, other):
                if page.get_by_role("button", name="buy nothing").count():
                    page.get_by_role("button", name="buy nothing").first.click()
            one.wait_for_timeout(100)
        before = turns(run.replay)
        one.locator("#answer").fill("to (")
        answer(other)
        other.locator(".desk.waiting").wait_for()
        assert one.input_value("#answer") == "to ("
        one.locator("#answer").press("Enter")
        one.wait_for_function(f"() => document.querySelector('#turn').value == {before + 1}")
        assert one.get_by_role("status").get_by_text("question").count() == 0


def test_the_second_click_of_a_double_one_answers_no_question_that_came_after_the_first(
    tmp_path: Path, viewer: None, visited: Visited
) -> None:
    with watched(tmp_path, "--game", "connectfour", "Ada=human", "@random", links=2) as run:
        page = visited(run.links["people"], ASKED)
        before = turns(run.replay)
        box = page.locator(".target").first.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        page.wait_for_function(f"() => document.querySelector('#turn').value == {before + 2}")
        page.locator(".answers").wait_for()
        page.mouse.down(click_count=2)
        page.mouse.up(click_count=2)
        page.locator(".answers button").first.dblclick()
        page.wait_for_timeout(500)
        assert turns(run.replay) == before + 4, "each double click is one answer"


def test_a_page_that_is_read_again_has_what_was_answered_of_a_turn_and_nothing_that_was_only_chosen(
    tmp_path: Path, viewer: None, visited: Visited
) -> None:
    with watched(tmp_path, "--game", "reantics", "Ada=human", "@random", links=2) as run:
        page = visited(run.links["people"], ASKED)
        page.locator(".target").first.click()
        desk(page, "after 1 that still can be taken back")
        page.reload()
        desk(page, "after 1 that still can be taken back")
        page.get_by_role("button", name="undo").click()
        page.get_by_text("after 1 that").wait_for(state="detached")
        assert turns(run.replay) == 0


@pytest.mark.parametrize("who", ["people", "watch"])
def test_from_a_match_of_a_series_that_is_over_one_comes_to_the_next(
    who: str, tmp_path: Path, viewer: None, visited: Visited
) -> None:
    with watched(tmp_path, "--game", "tictactoe", "Ada=human", "@random", "--games", "2", links=2) as run:
        page = visited(run.links[who], ".timeline")
        page.get_by_role("button", name="end it").dblclick()  # the second click ends no other match
        page.get_by_text("identical", exact=True).wait_for()
        page.keyboard.press("End")
        assert page.locator(".reason").inner_text() == "stopped by somebody who watched"
        page.get_by_role("button", name="to the match that is played").click()
        page.locator(".badge.live").wait_for()
        assert "match=1" in page.evaluate("location.hash")
        if who == "people":
            page.locator(ASKED).wait_for()
        page.wait_for_timeout(300)
        assert run.process.poll() is None


def test_at_a_table_whose_server_is_gone_nothing_looks_alive(tmp_path: Path, viewer: None, visited: Visited) -> None:
    with watched(tmp_path, "--game", "quoridor", "Ada=human", "@random", links=2) as run:
        page = visited(run.links["people"], ASKED)
        watcher = visited(run.links["watch"], ".steering")
        children = psutil.Process(run.process.pid).children(recursive=True)
        (room,) = [each for each in children if "referee.harness.web.watch_process" in each.cmdline()]
        room.kill()
        for each in (page, watcher):
            each.locator(".badge", has_text=GONE).wait_for()
            assert each.locator(".steering, .target, .answers").count() == 0
        desk(page, "nothing can be answered here")
        watcher.get_by_role("link", name="all matches").click()
        watcher.wait_for_timeout(300)
        assert watcher.locator(".badge", has_text=GONE).count() == 1


def test_a_list_and_a_match_whose_server_is_gone_say_so_and_stay(
    tmp_path: Path, played: Played, viewer: None, visited: Visited
) -> None:
    for game in ("tictactoe", "quoridor"):
        shutil.copy(played(game), tmp_path / f"{game}.jsonl")
    command = [sys.executable, "-m", "referee.harness.cli.main", "view", str(tmp_path), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        match, entries, other = visited(f"{url}&match=0", ".badge.good"), visited(url, "table"), visited(url, "table")
        other.route("**/matches", lambda route: route.abort())
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        process.stdout.close()
    other.get_by_role("link", name="tictactoe.jsonl").click()
    for each in (entries, other):
        each.locator(".badge", has_text=GONE).wait_for()
        assert each.locator("tbody tr").count() == 2
    match.get_by_role("link", name="all matches").click()
    match.locator(".badge", has_text="the server has ended; this page has the whole match").wait_for()
    match.keyboard.press("End")
    assert match.locator(".reason").count() == 1


def test_a_page_that_finds_no_server_when_it_begins_says_so_and_begins_when_there_is_one(
    tmp_path: Path, viewer: None, visited: Visited
) -> None:
    with watched(tmp_path, "--game", "tictactoe", "Ada=human", "@random", links=2) as run:
        page = visited(run.links["people"], ASKED)
        page.route("**/matches**", lambda route: route.abort())
        page.reload()
        page.locator(".told", has_text="The server does not answer").wait_for()
        page.unroute("**/matches**")
        page.locator(ASKED).wait_for()
        header = json.loads(run.replay.read_bytes().splitlines()[0])
        assert header["people"] == [0]
