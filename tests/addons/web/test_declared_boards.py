"""Boards that games declare, on pages: nothing is clipped or covered, and people click the legal answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsers import elsewhere
from pages import Played, Visited
from PIL import Image, ImageChops
from playwright.sync_api import BrowserContext
from watching import Watched

from referee.addons.openspiel.family import PREFIX, game_of, listed_games
from referee.addons.web.draft_turn import Draft
from referee.addons.web.page import built
from referee.addons.web.pictures import lines
from referee.addons.web.viewer_frames import shown
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

GAMES = [each.name.removeprefix(PREFIX) for each in listed_games()]
DAILY = ("backgammon", "battleship", "chess", "go", "hearts", "hex", "leduc_poker", "nine_mens_morris")
QUICK = {"bridge": {"use_double_dummy_result": False}, "bridge_uncontested_bidding": {"num_redeals": 1}}
WIDTHS = ((1100, 760), (360, 640))

WRONG = """() => {
  const svg = document.querySelector(".board svg");
  if (!svg) return ["nothing is drawn"];
  const found = [], box = svg.getBoundingClientRect(), scale = svg.getScreenCTM().a;
  if (box.width < 300 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) found.push("the board is cut");
  const view = svg.viewBox.baseVal;
  const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent.trim());
  const boxes = texts.map((each) => {
    const matrix = svg.getScreenCTM().inverse().multiply(each.getScreenCTM()), part = each.getBBox();
    return { words: each.textContent, x: part.x + matrix.e, y: part.y + matrix.f, w: part.width, h: part.height };
  });
  for (const { words, x, y, w, h } of boxes)
    if (x < view.x - 1 || y < view.y - 1 || x + w > view.x + view.width + 1 || y + h > view.y + view.height + 1)
      found.push(`clipped: ${words}`);
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      const across = Math.min(one.x + one.w, other.x + other.w) - Math.max(one.x, other.x);
      const down = Math.min(one.y + one.h, other.y + other.h) - Math.max(one.y, other.y);
      if (across > 1 && down > 5) found.push(`${one.words} covers ${other.words}`);
    }
  });
  return found;
}"""
"""Returns what is clipped or covers something else, in words."""


def start(name: str) -> Any:
    game = game_of(name)
    return game.new(Setup(1, tuple(map(str, range(game.seats.start))), game.options(**QUICK.get(name, {}))))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in DAILY else pytest.mark.nightly) for name in GAMES]
)
def test_nothing_on_a_board_is_clipped_or_covers_a_text(name: str, viewer: None, window: BrowserContext) -> None:
    state, dice = start(name), Dice(2)
    page = window.new_page()
    page.set_content(f'<!doctype html><style>{built("viewer.css")}</style><div id="app" data-picture></div>')
    page.add_script_tag(content=built("viewer.js"))
    try:
        for plies in (0, 5, 30):
            for _ in range(plies):
                if state.result is None:
                    state.step({player: state.sample(player, dice) for player in state.awaited})
            for seat in (None, 0, 1):
                page.evaluate("([lines, seat]) => refereePaint(lines, seat)", [lines(game_of(name), state, seat), seat])
                for width, height in WIDTHS:
                    page.set_viewport_size({"width": width, "height": height})
                    assert page.evaluate(WRONG) == [], (plies, seat, width)
    finally:
        page.close()


def test_a_seat_is_sent_its_own_board_alone() -> None:
    state = start("dark_hex")
    sent = shown(state, frozenset({1}), True, game_of("dark_hex").presentation)
    assert [board is not None for board in sent["boards"]] == [False, False, True]


def test_an_answer_whose_clicks_begin_those_of_another_ends_with_a_button() -> None:
    """In Quoridor a square is where a pawn goes, and the first click of a wall."""
    state = start("quoridor")
    (player,) = state.awaited
    clicks = Draft("openspiel:quoridor", state, player).choice(1).clicks
    assert clicks is not None
    assert ["e8", "!e8"] in clicks
    assert ["e8", "!wall v"] in clicks
    assert len({tuple(each) for each in clicks}) == len(clicks)


def test_a_film_shows_the_pieces_of_each_turn(tmp_path: Path, played: Played, viewer: None) -> None:
    """Two grids of tic-tac-toe differ where a sign was put, and where the last move is no longer marked."""
    film = tmp_path / "match.gif"
    command = ["replay", "video", str(played("openspiel:tic_tac_toe")), str(film), "--from", "1", "--to", "2"]
    assert elsewhere(main, [*command, "--size", "640x480"]) == 0
    with Image.open(film) as picture:
        first = picture.convert("RGB")
        picture.seek(1)
        changed = ImageChops.difference(first, picture.convert("RGB")).convert("L").point(lambda value: value // 64)
    cells = [
        changed.crop((168 + 104 * x, 110 + 104 * y, 264 + 104 * x, 206 + 104 * y)) for x in range(3) for y in range(3)
    ]
    assert sum(cell.getbbox() is not None for cell in cells) == 2


def test_a_person_clicks_two_squares_of_chess_and_sees_the_move(watched: Watched, visited: Visited) -> None:
    with watched("openspiel:chess", "Ada=human", "Bob=human") as run:
        white, black = (visited(run.links[f"human {number}"], ".timeline") for number in (2, 1))
        for square in ("e2", "e4"):
            white.locator(f'[data-key="{square}"]').click()
        black.locator(".declared .arrow").wait_for(state="attached")
        assert black.get_by_role("img", name="e4, pawn of seat 1").count() == 1
        assert black.locator('[data-key="e7"]').count() == 1
        (turn,) = [line for line in run.lines if "turn" in line]
        assert json.dumps(turn["answers"]).startswith('{"1": {"action": ')
