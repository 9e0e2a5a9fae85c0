"""The painter in `docs/tutorials/game-of-your-own.md`: it draws the board, and people click on it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import Opened, Visited
from test_live import watched

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "game-of-your-own.md").read_text("utf-8")
FILES = dict(re.findall(r"^`nim/([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's package on the path, with its entry point."""
    site = tmp_path / "site"
    entry_points = "[referee.games]\nmisere_nim = misere_nim:GAME\n"
    metadata = "Metadata-Version: 2.1\nName: misere-nim\nVersion: 1.0\n"
    information = {
        "misere_nim-1.0.dist-info/entry_points.txt": entry_points,
        "misere_nim-1.0.dist-info/METADATA": metadata,
    }
    for path, text in (FILES | information).items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(site))
    return site


def test_people_click_on_the_painted_board(tmp_path: Path, viewer: None, installed: Path, visited: Visited) -> None:
    bots = ["Ada=human", "@greedy_nim", "--set", "heaps=[1,2,3]"]
    with watched(tmp_path, "--game", "misere_nim", *bots, links=2) as run:
        (link,) = (url for name, url in run.links.items() if name != "watch")
        page = visited(link, ".brought")
        assert page.locator(".brought span.target").count() == 6
        page.get_by_role("button", name="choose 3 from heap 2").click()  # heaps 1, 2, 0, then 1, 1, 0
        page.get_by_role("button", name="choose 1 from heap 0").click()  # leaves the last object to the rival
        page.get_by_text("verified", exact=True).wait_for()
        run.process.communicate(timeout=60)
        assert run.process.returncode == 0


def page_of_a_match(folder: Path) -> Path:
    words = [
        ["--game", "misere_nim", "@greedy_nim", "@random", "--seed", "5", "--replay", "match.jsonl"],
        ["replay", "html", "match.jsonl", "match.html"],
    ]
    for each in words:
        subprocess.run([sys.executable, "-m", "referee.harness.cli.main", *each], cwd=folder, check=True, timeout=60)
    return folder / "match.html"


def test_the_file_of_a_match_contains_the_painter(
    tmp_path: Path, viewer: None, installed: Path, opened: Opened
) -> None:
    page = opened(page_of_a_match(tmp_path), "#turn=1")
    assert page.locator(".brought p").count() == 3
    assert page.locator(".drawing").count() == 0


def test_a_painter_that_throws_leaves_the_text_drawing(
    tmp_path: Path, viewer: None, installed: Path, opened: Opened
) -> None:
    (installed / "misere_nim" / "painter.js").write_text("refereePainters.misere_nim = { draw() { throw 'no'; } };")
    page = opened(page_of_a_match(tmp_path), "#turn=1")
    assert "heap 0" in page.locator(".drawing").inner_text()
