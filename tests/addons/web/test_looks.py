"""Screenshots of every game, light and dark, and accessibility checks with axe-core."""

import os
import shutil
from pathlib import Path

import pytest
from pages import Played, Viewing, Visited, barriers
from playwright.sync_api import Browser
from test_live import watched

from referee.games import registry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for screenshots, which CI keeps."""
    kept = ROOT / "build" / "pictures" if "CI" in os.environ else tmp_path_factory.mktemp("pictures")
    folder = Path(os.environ.get("REFEREE_PICTURES", kept))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("game", registry.own_names())
def test_the_questions_to_a_person_are_accessible(game: str, tmp_path: Path, viewer: None, visited: Visited) -> None:
    others = ["@random"] * (registry.game(game).seats.start - 1)
    with watched(tmp_path, "--game", game, "Ada=human", *others, links=2) as run:
        page = visited(list(run.links.values())[-1], ".desk:not(.waiting)")
        assert barriers(page) == []


def test_the_list_and_the_help_are_accessible(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    for name in ("tictactoe", "quoridor"):
        shutil.copy(played(name), tmp_path / f"{name}.jsonl")
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        assert barriers(page) == []
        page.get_by_role("link", name="tictactoe.jsonl").click()
        page.wait_for_selector(".timeline")
        page.keyboard.press("?")
        page.get_by_role("dialog").wait_for()
        assert barriers(page) == []


@pytest.mark.parametrize(("game", "width"), [("aibg5", 390), ("cardgame", 390), ("reantics", 1280)])
def test_the_opening_frame_and_the_board_alone_are_accessible(
    game: str, width: int, paged: Played, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844}, reduced_motion="reduce")
    page.goto(paged(game).as_uri())
    page.wait_for_selector(".poster")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert barriers(page) == [], scheme
    page.keyboard.press("End")
    page.wait_for_selector(".rank")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("game", registry.own_names())
def test_every_game_is_drawn_light_and_dark_and_is_accessible(
    game: str, paged: Played, browser: Browser, pictures: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.goto(f"{paged(game).as_uri()}#turn=12")
        page.wait_for_selector(".timeline")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert len(page.screenshot(path=pictures / f"{game}-{scheme}.png")) > 10_000
            assert barriers(page) == [], scheme
        page.set_viewport_size({"width": 420, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 420, (
            "a narrow screen needs no sideways scrolling"
        )
    finally:
        page.close()
