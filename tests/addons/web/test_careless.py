"""People who stop, pause, double-click, open two pages, and lose their server: the page reports it and continues."""

import shutil
from pathlib import Path

import pytest
from pages import Played, Viewing, Visited
from playwright.sync_api import Page
from watching import Watched

pytestmark = pytest.mark.slow

ASKED = ".desk:not(.waiting)"
GONE = "the server does not answer"


def answer(page: Page) -> None:
    page.locator(".answers button").first.click()


def desk(page: Page, text: str) -> None:
    """Waits for a text in the question panel."""
    page.locator(".desk").get_by_text(text).wait_for()


@pytest.mark.parametrize("held", [False, True])
def test_a_match_can_be_stopped_while_a_person_is_asked(held: bool, watched: Watched, visited: Visited) -> None:
    with watched("tictactoe", "Ada=human", "@random") as run:
        page = visited(run.links["people"], ASKED)
        before = run.turns
        if held:
            page.get_by_role("button", name="Pause the match").click()
            page.get_by_role("button", name="Resume the match").wait_for()
        page.get_by_role("button", name="Stop the match").click()
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("End")
        assert page.locator(".headline").inner_text() == "a draw: stopped by somebody who watched"
        run.end()
        assert run.turns == before


def test_a_person_can_answer_while_the_match_is_paused(watched: Watched, visited: Visited) -> None:
    with watched("tictactoe", "Ada=human", "Bob=human") as run:
        watcher = visited(run.links["watch"], ".timeline")
        pages = [visited(run.links[f"human {number}"], ".desk") for number in (1, 2)]
        watcher.get_by_role("button", name="Pause the match").click()
        watcher.get_by_role("button", name="Resume the match").wait_for()
        asked, other = pages if pages[0].locator(ASKED).count() else pages[::-1]
        desk(other, "The match is paused.")
        answer(asked)
        desk(asked, "The match is paused.")
        watcher.wait_for_function("() => document.querySelector('#turn').value == 1")
        watcher.get_by_role("button", name="Resume the match").click()
        desk(asked, "The others are thinking.")
        other.locator(ASKED).wait_for()
        assert run.turns == 1


def test_a_question_answered_on_one_page_disappears_from_the_other(watched: Watched, visited: Visited) -> None:
    with watched("connectfour", "Ada=human", "@random") as run:
        one, other = (visited(run.links["people"], ASKED) for _ in range(2))
        before = run.turns
        answer(one)
        desk(other, "That question was answered on another page")
        other.locator(".answers").wait_for()
        assert one.get_by_text("another page").count() == 0
        answer(other)
        desk(one, "That question was answered on another page")
        one.locator(".answers").wait_for()
        assert other.get_by_text("another page").count() == 0
        assert run.turns == before + 4


def test_one_persons_answer_does_not_clear_anothers_input(watched: Watched, visited: Visited) -> None:
    """Both are asked at once, and each has a question of their own."""
    with watched("aiarena21", "Ada=human", "Bob=human", turns=3) as run:
        one, other = (visited(run.links[f"human {number}"], ".desk") for number in (1, 2))
        for _ in range(100):
            if all(page.locator(ASKED).get_by_text("play_turn").count() for page in (one, other)):
                break
            for page in (one, other):
                if page.get_by_role("button", name="buy nothing").count():
                    page.get_by_role("button", name="buy nothing").first.click()
            one.wait_for_timeout(100)
        before = run.turns
        one.locator("#answer").fill("to (")
        answer(other)
        other.locator(".desk.waiting").wait_for()
        assert one.input_value("#answer") == "to ("
        one.locator("#answer").press("Enter")
        one.wait_for_function(f"() => document.querySelector('#turn').value == {before + 1}")
        assert one.get_by_role("status").get_by_text("question").count() == 0


def test_a_double_click_answers_one_question(watched: Watched, visited: Visited) -> None:
    with watched("connectfour", "Ada=human", "@random") as run:
        page = visited(run.links["people"], ASKED)
        before = run.turns
        box = page.locator(".target").first.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        page.wait_for_function(f"() => document.querySelector('#turn').value == {before + 2}")
        page.locator(".answers").wait_for()
        page.mouse.down(click_count=2)
        page.mouse.up(click_count=2)
        page.locator(".answers button").first.dblclick()
        page.wait_for_timeout(500)
        assert run.turns == before + 4, "each double click is one answer"


def test_a_reloaded_page_keeps_answers_and_drops_choices(watched: Watched, visited: Visited) -> None:
    with watched("reantics", "Ada=human", "@random") as run:
        page = visited(run.links["people"], ASKED)
        page.locator(".target").first.click()
        desk(page, "after 1 that you can undo")
        page.reload()
        desk(page, "after 1 that you can undo")
        page.get_by_role("button", name="undo").click()
        page.get_by_text("after 1 that").wait_for(state="detached")
        assert run.turns == 0


@pytest.mark.parametrize("who", ["people", "watch"])
def test_a_finished_match_of_a_series_links_to_the_next(who: str, watched: Watched, visited: Visited) -> None:
    with watched("tictactoe", "Ada=human", "@random", games=2) as run:
        page = visited(run.links[who], ".timeline")
        page.get_by_role("button", name="Stop the match").dblclick()  # the second click ends no other match
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("End")
        assert page.locator(".headline").inner_text() == "a draw: stopped by somebody who watched"
        page.get_by_role("button", name="go to the running match").click()
        page.locator(".badge.live").wait_for()
        assert "match=1" in page.evaluate("location.hash")
        if who == "people":
            page.locator(ASKED).wait_for()
        page.wait_for_timeout(300)
        assert not run.over.is_set()


def test_a_list_and_a_match_without_their_server_say_so_and_stay(
    tmp_path: Path, played: Played, viewing_process: Viewing, visited: Visited
) -> None:
    for game in ("tictactoe", "quoridor"):
        shutil.copy(played(game), tmp_path / f"{game}.jsonl")
    with viewing_process(tmp_path) as url:
        match, entries, other = visited(f"{url}&match=0", ".badge.good"), visited(url, "table"), visited(url, "table")
        other.route("**/matches", lambda route: route.abort())
    other.get_by_role("link", name="tictactoe.jsonl").click()
    for each in (entries, other):
        each.locator(".badge", has_text=GONE).wait_for()
        assert each.locator("tbody tr").count() == 2
    match.get_by_role("link", name="all matches").click()
    match.locator(".badge", has_text="the server has ended; this page has the whole match").wait_for()
    match.keyboard.press("End")
    assert match.locator(".rank").count() == 2


def test_a_page_waits_for_its_server_and_says_so(watched: Watched, visited: Visited) -> None:
    with watched("tictactoe", "Ada=human", "@random") as run:
        page = visited(run.links["people"], ASKED)
        page.route("**/matches**", lambda route: route.abort())
        page.reload()
        page.locator(".told", has_text="The server does not answer").wait_for()
        page.unroute("**/matches**")
        page.locator(ASKED).wait_for()
        assert run.lines[0]["people"] == [0]
