"""What every game looks like, light and dark: pictures for whoever looks at them; no barrier that axe-core finds."""

import os
from pathlib import Path
from typing import Any

import pytest
from pages import Played
from playwright.sync_api import Browser

from referee.games import registry

ROOT = Path(__file__).parents[2]
AXE = ROOT / "viewer" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: in CI a folder that it keeps."""
    kept = ROOT / "build" / "pictures" if "CI" in os.environ else tmp_path_factory.mktemp("pictures")
    folder = Path(os.environ.get("REFEREE_PICTURES", kept))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("game", registry.own_names())
def test_every_game_is_drawn_light_and_dark_and_without_a_barrier(
    game: str, paged: Played, browser: Browser, pictures: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.goto(f"{paged(game).as_uri()}#turn=12")
        page.wait_for_selector(".timeline")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert len(page.screenshot(path=pictures / f"{game}-{scheme}.png")) > 10_000
            page.evaluate(AXE.read_text("utf-8"))  # not as a script element, which the page's policy refuses
            found: Any = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            told = [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found["violations"]]
            assert told == [], scheme
        page.set_viewport_size({"width": 420, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 420, (
            "a narrow screen needs no sideways scrolling"
        )
    finally:
        page.close()
