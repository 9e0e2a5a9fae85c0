"""`referee view --projector`: one match after another, without anyone at the keyboard."""

import re
from pathlib import Path

import pytest
from contests import drawing_bot, tournament
from pages import Viewing, Visited

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN

pytestmark = pytest.mark.slow


def test_a_contests_final_plays_by_itself_and_goes_on(tmp_path: Path, viewing: Viewing, visited: Visited) -> None:
    bots = [drawing_bot(tmp_path, name, number) for number, name in enumerate(("ann", "bob", "cid"))]
    folder = tmp_path / "cup"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--games", "2", "--seed", "1", "--ledger", folder)
    first, second = standings(read_plan(folder / PLAN), reader.read(folder)).rows[:2]
    with viewing(folder, projector=True) as url:
        page = visited(url, "main.hall")
        names = page.locator(".sides strong").all_inner_texts()
        assert sorted(names) == sorted((first.name, second.name)), "the games of the first two only"
        assert page.get_by_text("match 1 of 2").count() == 1
        page.locator(".tictactoe .sign").nth(2).wait_for()
        assert re.search("(ann|bob|cid): [OX] to [NSWEC]+", page.locator(".commentary").inner_text())
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        page.keyboard.press("ArrowRight")
        page.get_by_text("match 2 of 2").wait_for()
        for _ in range(6):
            page.keyboard.press("+")
        page.locator(".commentary.over").wait_for()
        page.get_by_text("match 1 of 2").wait_for()
