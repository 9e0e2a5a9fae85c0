"""A tournament of the kits' example bots in seven languages, in every game, and its site in a browser."""

import subprocess
import sys
from pathlib import Path

import pytest
from needs import skip_without
from playwright.sync_api import Browser, Page

from referee.games import registry
from referee.harness.common.paths import KITS

pytestmark = pytest.mark.slow

LANGUAGES = ("c", "cpp", "go", "java", "javascript", "python", "rust")
SHORT = {"aibg5": ["--set", "rounds=8"], "aiarena21": ["--set", "turns=20"], "reantics": ["--set", "draw_after=30"]}
"""Enough for a page: whole contests are played elsewhere."""


def referee(folder: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "referee.harness.cli.main", "tournament", *map(str, arguments)],
        cwd=folder, capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def looked_at(browser: Browser, address: str, errors: list[str]) -> Page:
    page = browser.new_page(viewport={"width": 1200, "height": 860})
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(address)
    return page


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("game", ["aiarena21", "aibg5"])
def test_a_tournament_of_seven_languages_has_a_site_that_works_in_a_browser(
    game: str, browser: Browser, tmp_path: Path
) -> None:
    skip_without(*(language for language in LANGUAGES if language != "python"))
    folders = {language: KITS / language / "examples" / f"my_{game}" for language in LANGUAGES}
    bots = [f"{language}={folder}" for language, folder in folders.items()]
    seats = registry.game(game).seats.start
    start = ["run", "--game", game, *bots, "--format", "gauntlet", "--games", str(seats), "--seed", "5", "--strict"]
    said = referee(
        tmp_path, *start, *SHORT.get(game, ()), "--limit", "startup=60s", "--call-time", "60s", "--ledger", "cup"
    )
    assert "0 with faults" in said
    referee(tmp_path, "page", "cup", "--to", "site", "--viewed", "1")

    errors: list[str] = []
    index = looked_at(browser, (tmp_path / "site" / "index.html").as_uri(), errors)
    standings = index.locator("table").first.locator("tbody tr")
    assert standings.count() == 7
    names = standings.locator("td.name").all_inner_texts()
    assert sorted(names) == sorted(LANGUAGES)
    assert index.locator("table").nth(1).locator("tbody tr").count() == 7
    for language in LANGUAGES:
        index.goto((tmp_path / "site" / "index.html").as_uri())
        index.get_by_role("link", name=language, exact=True).first.click()
        assert f". {language}" in index.locator("h1").inner_text()
        games = index.locator("table").last.locator("tbody tr")
        assert games.count() >= seats
        index.get_by_role("link", name="view").first.click()
        index.wait_for_selector(".timeline")
        assert index.locator(".badge").inner_text() == "verified"
    index.close()
    assert errors == []
