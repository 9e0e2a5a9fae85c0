"""A bracket on a tournament's page, and on the projector between matches."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from contests import drawing_bot, table, tournament
from pages import Viewing, Visited

from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import read_plan

pytestmark = pytest.mark.slow
NAMES = ("ann", "bob", "<b>cid</b> & a name that is long", "dan", "eve")


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Swiss of five bots, and a knockout of the best four."""
    at = tmp_path_factory.mktemp("cup")
    lines = []
    for number, name in enumerate(NAMES):
        bot = drawing_bot(at / "bots", f"bot{number}", number).partition("=")[2]
        lines.append(f"{{ path = '''{bot}''', name = \"{name.replace('/', '')}\" }}")
    (at / "cup.toml").write_text(
        f'game = "tictactoe"\nformat = "swiss"\nseed = 1\nbots = [{", ".join(lines)}]\n'
        '[[stages]]\nformat = "knockout"\nbots = 4\nname = "play-offs"\n'
    )
    tournament(at, at / "cup.toml", "--ledger", at / "cup")
    return at / "cup"


def test_a_page_draws_the_bracket_with_links_to_the_pairs(cup: Path, visited: Visited) -> None:
    tournament(cup.parent, "page", cup, "--to", cup / "site", "--viewed", "0")
    rows = table(cup)["rows"]
    page = visited((cup / "site" / "index.html").as_uri(), "svg.bracket")
    assert page.locator("h2").all_inner_texts()[:2] == ["Bracket: play-offs", "Standings"]
    drawing = page.locator("svg.bracket")
    assert drawing.locator("rect").count() == 4, "two semi-finals, the final and the match for the third place"
    assert drawing.locator("polyline").count() == 2
    final = drawing.locator("a", has=page.locator("g")).nth(2)
    assert {rows[0]["name"], rows[1]["name"]} == {text for text in final.locator("title").all_text_contents()}
    assert drawing.locator("b").count() == 0, "names are escaped"
    box = drawing.bounding_box()
    assert box is not None and box["width"] > 400
    assert page.get_by_role("heading", name="Stage 1: swiss").count() == 1
    assert page.get_by_role("heading", name="Stage 2: play-offs").count() == 1
    final.click()
    page.wait_for_selector("h1")
    assert rows[0]["name"] in page.locator("h1").inner_text() and rows[1]["name"] in page.locator("h1").inner_text()


def test_a_page_of_a_running_bracket_has_no_podium_and_open_places(cup: Path, tmp_path: Path, visited: Visited) -> None:
    """The ledger without its last games is that of a tournament that was stopped."""
    copytree(cup, tmp_path / "cup")
    (file,) = (cup / "ledger").glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    final = {line["name"] for line in table(cup)["brackets"][0]["parts"][0]["columns"][1]["boxes"][0]["lines"]}
    idents = {row["ident"] for row in table(cup)["rows"] if row["name"] in final}
    bracket = Keys(read_plan(cup / "tournament.toml")).conditions["play-offs"]
    kept = []
    for line in lines:
        game = json.loads(line)
        if not game.get("k", "").startswith(bracket) or set(game["b"]) != idents:
            kept.append(line)
    (tmp_path / "cup" / "ledger" / file.name).write_bytes(b"".join(kept))
    tournament(tmp_path, "page", tmp_path / "cup", "--to", tmp_path / "site", "--viewed", "0")
    page = visited((tmp_path / "site" / "index.html").as_uri(), "svg.bracket")
    assert page.locator(".podium").count() == 0
    drawing = page.locator("svg.bracket")
    assert drawing.locator("rect").count() == 4
    assert drawing.locator("g > g[font-weight]").count() == 3, "the winners of the other three matches"
    found = table(tmp_path / "cup")
    assert [row["rank"] for row in found["rows"]] == [1, 1, 3, 4, 5]


def test_the_projector_plays_the_games_of_the_bracket_and_shows_it_between_them(
    cup: Path, viewing: Viewing, visited: Visited
) -> None:
    games = sum(row["games"] for row in table(cup)["stages"][1]["rows"]) // 2
    with viewing(cup, "--projector") as url:
        page = visited(url, "main.hall .sides")
        page.get_by_text(f"match 1 of {games}").wait_for()
        for _ in range(6):
            page.keyboard.press("+")
        page.wait_for_selector("main.bracket svg", timeout=60_000)
        assert page.locator("main.bracket h1").inner_text() == "play-offs"
        assert page.locator("main.bracket rect").count() == 4
        assert page.locator("main.bracket .match .won").count() == 4
        page.keyboard.press("ArrowRight")
        page.get_by_text(f"of {games}").wait_for()
