"""The painters in the tutorials about games: they draw the board, and people click on it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import Opened, Visited
from watching import watching_process

pytestmark = pytest.mark.slow

TUTORIALS = Path(__file__).parents[3] / "docs" / "tutorials"


def package(page: str, folder: str, game: str, site: Path) -> Path:
    """Writes a page's package and its entry point to a folder, which is to be on the path."""
    content = (TUTORIALS / page).read_text("utf-8")
    files = dict(re.findall(rf"^`{folder}/([\w./]+)`:\n\n```\w+\n(.*?)^```$", content, re.MULTILINE | re.DOTALL))
    information = {
        f"{game}-1.0.dist-info/entry_points.txt": f"[referee.games]\n{game} = {game}:GAME\n",
        f"{game}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {game.replace('_', '-')}\nVersion: 1.0\n",
    }
    for path, text in (files | information).items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, "utf-8")
    return site


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first page's package on the path."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    return package("game-of-your-own.md", "nim", "misere_nim", tmp_path / "site")


def test_people_click_on_the_painted_board(tmp_path: Path, viewer: None, installed: Path, visited: Visited) -> None:
    words = ["--game", "misere_nim", "Ada=human", "@greedy_nim", "--set", "heaps=[1,2,3]"]
    with watching_process(tmp_path, *words) as (process, links):
        page = visited(links["people"], ".brought")
        assert page.locator(".brought span.target").count() == 6
        page.get_by_role("button", name="choose 3 from heap 2").click()  # heaps 1, 2, 0, then 1, 1, 0
        page.get_by_role("button", name="choose 1 from heap 0").click()  # leaves the last object to the rival
        page.get_by_text("verified", exact=True).wait_for()
        assert process.wait(60) == 0


RUN = "import json, sys; from referee.harness.cli.main import main; sys.exit(any(map(main, json.loads(sys.argv[1]))))"
"""Runs command lines in an interpreter that finds what was installed."""
HTML = ["replay", "html", "match.jsonl"]


def page_of_a_match(folder: Path, *words: str) -> Path:
    """Plays a match, and writes its page."""
    lines = [["--game", *words, "--replay", "match.jsonl"], [*HTML, "match.html"]]
    subprocess.run([sys.executable, "-c", RUN, json.dumps(lines)], cwd=folder, check=True, timeout=60)
    return folder / "match.html"


def test_the_file_of_a_match_contains_the_painter_and_if_it_throws_the_text_drawing(
    tmp_path: Path, viewer: None, installed: Path, opened: Opened
) -> None:
    file = page_of_a_match(tmp_path, "misere_nim", "@greedy_nim", "@random", "--seed", "5")
    page = opened(file, "#turn=1")
    assert page.locator(".brought p").count() == 3
    assert page.locator(".drawing").count() == 0
    (installed / "misere_nim" / "painter.js").write_text("refereePainters.misere_nim = { draw() { throw 'no'; } };")
    subprocess.run([sys.executable, "-c", RUN, json.dumps([[*HTML, "broken.html"]])], cwd=tmp_path, check=True)
    assert "heap 0" in opened(tmp_path / "broken.html", "#turn=1").locator(".drawing").inner_text()


def test_the_painter_of_the_larger_game_draws_all_dice(
    tmp_path: Path, viewer: None, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    package("larger-game-of-your-own.md", "dice", "liars_dice", tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    file = page_of_a_match(tmp_path, "liars_dice", "@random", "@random", "@random", "--seed", "7")
    page = opened(file, "#turn=1")
    assert page.locator(".brought p").count() == 4
    assert page.locator(".brought span").count() == 9
    assert page.locator(".drawing").count() == 0
