"""How a page opens a finished match, and how one moves through it by rounds."""

import sys
from pathlib import Path
from typing import Any

import pytest
from pages import Opened, Played, Viewing, Visited, barriers
from playwright.sync_api import Browser

from referee.addons.web.replay_list import FolderList
from referee.harness.cli.main import main
from referee.harness.programs.entrant import Entrant

pytestmark = pytest.mark.slow

WRONG = """
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        result = {"name": "x", "version": "1"} if call["method"] == "initialize" else {"action": "dance"}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


SWIPE = """right => {
  const board = document.querySelector(".board");
  for (const [kind, x] of [["pointerdown", 200], ["pointerup", 200 + right]])
    board.dispatchEvent(
      new PointerEvent(kind, { pointerType: "touch", isPrimary: true, clientX: x, clientY: 300, bubbles: true }));
}"""


@pytest.fixture
def wrong(tmp_path: Path) -> Entrant:
    """A bot whose every answer is illegal."""
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    return Entrant("wrong", (sys.executable, str(script)), tmp_path)


@pytest.mark.parametrize(("game", "width", "scheme"), [("cardgame", 390, "dark"), ("reantics", 1280, "light")])
def test_the_opening_frame_and_the_board_alone_are_accessible(
    game: str, width: int, scheme: Any, paged: Played, browser: Browser
) -> None:
    """A narrow screen by night and a wide one by day."""
    page = browser.new_page(viewport={"width": width, "height": 844}, reduced_motion="reduce", color_scheme=scheme)
    page.goto(paged(game).as_uri())
    page.wait_for_selector(".poster")
    assert barriers(page) == []
    page.keyboard.press("End")
    page.wait_for_selector(".rank")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_the_result_is_shown_when_asked_for(paged: Played, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(paged("connectfour").as_uri())
    page.get_by_role("button", name="show the result").click()
    assert page.input_value("#turn") == page.get_attribute("#turn", "max")
    assert "wins: " in page.locator(".headline").inner_text()
    assert page.locator(".rank").count() == 2
    page.keyboard.press("d")
    page.locator(".charts").wait_for()
    assert page.locator("svg.connectfour .four").count() == 4
    colours = "seat => getComputedStyle(document.querySelector(`svg.connectfour .piece.seat-${seat}`)).fill"
    assert [page.evaluate(colours, seat) for seat in (0, 1)] == ["rgb(244, 96, 106)", "rgb(245, 197, 24)"]
    page.close()


def test_the_first_fault_is_one_key_away_from_the_opening_frame(
    wrong: Entrant, paged: Played, browser: Browser
) -> None:
    page = browser.new_page()
    page.goto(paged("tictactoe", wrong, wrong).as_uri())
    page.wait_for_selector(".poster")
    assert page.get_by_text("next fault").count() == 0, "a fault may be the end"
    page.keyboard.press("f")
    assert page.input_value("#turn") == "1"
    assert "wrong is at fault" in page.locator(".headline").inner_text()
    page.close()


def test_the_served_page_opens_with_play_again_when_it_is_loaded_again(
    played: Played, viewing: Viewing, visited: Visited
) -> None:
    with viewing(played("quoridor")) as url:
        page = visited(url, ".poster")
        page.get_by_text("verified", exact=True).wait_for()
        assert page.input_value("#turn") == "0"
        page.reload()
        page.wait_for_selector(".poster")
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("End")
        page.reload()
        page.wait_for_selector(".rank")
        assert page.locator("main.stage").count() == 1 and page.locator(".poster").count() == 0


def test_fingers_play_pause_and_step(paged: Played, browser: Browser) -> None:
    """A tap on the board plays and pauses, a swipe goes a turn on or back."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{paged('reantics').as_uri()}#turn=3&panel=none")
    page.wait_for_selector(".timeline")
    for right, turn in ((-120, "4"), (120, "3"), (120, "2")):
        page.evaluate(SWIPE, right)
        page.wait_for_function(f"() => document.querySelector('#turn').value == {turn}")
    page.evaluate(SWIPE, 0)
    page.get_by_role("button", name="pause", exact=True).wait_for()
    page.evaluate(SWIPE, 0)
    page.get_by_role("button", name="play", exact=True).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_reantics_moves_by_rounds_and_a_seats_own_side_has_its_colour(paged: Played, opened: Opened) -> None:
    page = opened(paged("reantics"), "#turn=0")
    rounds = page.locator(".rounds")
    assert "round 0" in rounds.inner_text()
    page.keyboard.press("r")
    assert "round 1" in rounds.inner_text()
    first = page.input_value("#turn")
    page.keyboard.press("r")
    assert "round 2" in rounds.inner_text()
    page.keyboard.press("Shift+r")
    assert page.input_value("#turn") == first
    top = "document.querySelector('svg.reantics .cell').getAttribute('class').trim()"
    assert page.evaluate(top) == "cell home-0"
    page.get_by_role("button", name="seat 1").click()
    assert page.evaluate(top) == "cell home-1"


def test_a_fault_report_is_not_listed_as_a_match(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    replay = tmp_path / "match.jsonl"
    bot = str(tmp_path / "wrong.py")
    command = ["--game", "tictactoe", f"cmd:{sys.executable} {bot}", "@random", "--seed", "1", "--replay", str(replay)]
    main(command)
    assert list(tmp_path.glob("match.seat0.fault1/match.jsonl")), "there is a report"
    assert [entry.title for entry in FolderList(tmp_path).entries()] == ["match.jsonl"]


def test_a_list_fits_its_screen_and_breaks_inside_no_word(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    name = "the-last-round-of-an-evening-between-two-old-rivals.jsonl"
    record = played("connectfour").read_text()
    (tmp_path / name).write_text(record)
    (tmp_path / "other.jsonl").write_text(record.replace('"@random"', '"' + "long" * 50 + '"', 1))
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        assert barriers(page) == []
        page.set_viewport_size({"width": 390, "height": 600})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        (tmp_path / "other.jsonl").write_text(record)
        page.reload()
        page.wait_for_selector("table")
        heights = [player.bounding_box()["height"] for player in page.locator(".player").all()]  # type: ignore[index]
        assert len(heights) == 4 and max(heights) < 40, "a name stays with its seat"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1000, "height": 600})
        for column in ("game", "players", "turns", "faults"):
            assert page.get_by_role("columnheader", name=column, exact=True).bounding_box()["height"] < 40  # type: ignore[index]
        assert page.locator("tbody td.match a").first.bounding_box()["height"] < 80  # type: ignore[index]
