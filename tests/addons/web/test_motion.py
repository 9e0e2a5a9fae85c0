"""Pieces move when a match goes one step on, along the way that they went. The board itself is always exact."""

from typing import Any

import pytest
from pages import Played
from playwright.sync_api import Browser, Page

from referee.harness.programs.spec import entrant
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions

pytestmark = pytest.mark.slow

WATCHED = """
window.moves = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, how) {
  if (this.dataset.piece) window.moves.push({ piece: this.dataset.piece, way: frames.map((frame) => frame.transform) });
  return animate.call(this, frames, how);
};
"""
"""Notes every movement of a piece."""
BOARD = """() => [...document.querySelectorAll(".board [data-piece][role=img]")].map(
  (piece) => [piece.ariaLabel, piece.dataset.piece, piece.style.transform])"""


def step(page: Page, key: str, turn: int) -> list[Any]:
    """Presses a key and returns the movements that it began."""
    page.evaluate("window.moves = []")
    page.keyboard.press(key)
    page.wait_for_function(f"() => document.querySelector('#turn').value == {turn}")
    moves: list[Any] = page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(window.moves)))")
    return moves


def opened(browser: Browser, page_of: Any, place: str) -> Page:
    page = browser.new_page()
    page.add_init_script(WATCHED)
    page.goto(f"{page_of.as_uri()}{place}")
    page.wait_for_selector(".timeline")
    return page


def test_an_ant_goes_along_the_path_of_its_answer(paged: Played, played: Played, browser: Browser) -> None:
    """For both seats: the answers of seat 1 name the tiles of a turned board."""
    bots = (entrant("@raider"), entrant("@raider"))
    page = opened(browser, paged("reantics", *bots), "#turn=0")
    walked = [0, 0]
    for number, (_, _, line) in enumerate(positions(Replay(played("reantics", *bots)))):
        if number == 0 or min(walked) > 3:
            continue
        moves = step(page, "ArrowRight", number)
        ((seat, answer),) = line.answers.items() if isinstance(line, Turn) else ((0, None),)
        path = answer.get("coordList") if isinstance(answer, dict) else None
        if not path or len(path) < 3 or path[0] == path[-1]:
            continue
        tiles = [(x, y) if seat == 0 else (9 - x, 9 - y) for x, y in path]
        assert [f"translate({48 * x}px, {48 * y}px)" for x, y in tiles] in [move["way"] for move in moves], number
        walked[seat] += 1
    assert min(walked) > 3
    page.close()


@pytest.mark.parametrize("game", ["reantics", "aiarena21", "aibg5", "quoridor", "connectfour"])
def test_only_a_step_forward_moves_pieces_and_a_position_is_the_same_however_it_was_reached(
    game: str, paged: Played, browser: Browser
) -> None:
    """Step by step, back, and by a jump."""
    page = opened(browser, paged(game), "#turn=0")
    end = int(page.get_attribute("#turn", "max") or 0)
    last = min(60, end - 1)
    first = max(1, last - 15)  # ReAntics begins with turns in which nothing moves
    page.evaluate(f"location.hash = '#turn={first - 1}'")
    page.wait_for_function(f"() => document.querySelector('#turn').value == {first - 1}")
    moved, seen = False, []
    for turn in range(first, last + 1):
        moved |= step(page, "ArrowRight", turn) != []
        seen.append(page.evaluate(BOARD))
    assert moved
    for turn in range(last - 1, first - 1, -1):
        assert step(page, "ArrowLeft", turn) == []
        assert page.evaluate(BOARD) == seen[turn - first]
    page.evaluate(f"location.hash = '#turn={last}'")
    page.wait_for_function(f"() => document.querySelector('#turn').value == {last}")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate(BOARD) == seen[-1]
    assert step(page, "Home", 0) == [] and step(page, "End", end) == []
    page.close()
