"""A tournament of the kits' example bots in seven languages, and its site in a browser."""

import subprocess
import sys
from pathlib import Path

import pytest
from needs import skip_without
from playwright.sync_api import Browser, Page

from referee.harness.common.paths import KITS

pytestmark = pytest.mark.slow

LANGUAGES = ("c", "cpp", "go", "java", "javascript", "python", "rust")


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


@pytest.mark.timeout(1500)
def test_a_tournament_of_seven_languages_has_a_site_that_works_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    skip_without(*(language for language in LANGUAGES if language != "python"))
    folders = {language: KITS / language / "examples" / "my_aiarena21" for language in LANGUAGES}
    bots = [f"{language}={folder}" for language, folder in folders.items()]
    start = ["run", "--game", "aiarena21", "--set", "turns=10", *bots, "--format", "gauntlet", "--games", "2"]
    limits = ["--limit", "startup=60s", "--call-time", "60s"]
    assert "0 with faults" in referee(tmp_path, *start, *limits, "--seed", "5", "--strict", "--ledger", "cup")
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
        assert games.count() >= 2
        index.get_by_role("link", name="view").first.click()
        index.wait_for_selector(".timeline")
        assert index.locator(".badge").inner_text() == "verified"
    index.close()
    assert errors == []
