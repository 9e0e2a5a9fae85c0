"""Fixtures for the tests of pages: a browser and matches."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trio
from pages import Framed, Opened, Played, Viewing, Visited
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page

from referee.addons.web.page import page as page_of
from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.seats.roster import open_roster

BOTS = {"cardgame": "@trader", "aibg5": "@trainer"}
"""Bots that show more of a game than `@random`."""
SHORT = {"aibg5": {"rounds": 20}}


@pytest.fixture(scope="session")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """One window for all pages: a tab in it costs two fifths of what a page in a window of its own does.

    Nothing passes from tab to tab: the pages set no cookie and store only what belongs to their tab.
    """
    one = browser.new_context(viewport={"width": 1200, "height": 860})
    yield one
    one.close()


@pytest.fixture
def opened(window: BrowserContext) -> Iterator[Opened]:
    """Opens a page from disk at an address in it, by default at the beginning. A page error fails the test."""
    errors: list[str] = []
    pages: list[Page] = []

    def open_page(file: Path, place: str = "") -> Page:
        page = window.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(f"{file.as_uri()}{place or '#turn=0'}")
        page.wait_for_selector(".timeline")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert errors == []


@pytest.fixture
def framed(window: BrowserContext, tmp_path: Path) -> Iterator[Framed]:
    """Puts a cell's output into a page, as a notebook does, and returns its frame. A page error fails the test."""
    errors: list[str] = []
    page = window.new_page()
    page.set_default_timeout(15_000)
    page.on("pageerror", lambda error: errors.append(str(error)))

    def show(output: str) -> FrameLocator:
        notebook = tmp_path / "notebook.html"
        notebook.write_text(f'<!doctype html><meta charset="utf-8">{output}')
        page.goto(notebook.as_uri())
        return page.frame_locator("iframe")

    yield show
    page.close()
    assert errors == []


@pytest.fixture
def visited(window: BrowserContext) -> Iterator[Visited]:
    """Opens an address and waits for a part of the page. The test fails if the page had an error.

    `wait_for_function` needs a function, `() => …`: the page's policy forbids to evaluate a text a second time.
    """
    errors: list[str] = []
    pages: list[Page] = []

    def visit(url: str, part: str) -> Page:
        page = window.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" and ours(said.text) else None)
        page.goto(url)
        page.wait_for_selector(part)
        pages.append(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert errors == []


def ours(text: str) -> bool:
    """Ignores failed requests, which are expected where a test ends the server."""
    return not text.startswith(("Failed to load resource", "WebSocket connection to"))


@pytest.fixture(scope="session")
def viewing(viewer: None) -> Viewing:
    """Runs `referee view` while the block runs, and yields its address."""

    @contextmanager
    def run(*arguments: object, **environment: str) -> Iterator[str]:
        command = [sys.executable, "-m", "referee.harness.cli.main", "view", *map(str, arguments), "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0
            process.stdout.close()

    return run


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Plays a short match of built-in or other bots, with the game's options, and returns the replay."""

    @cache
    def record(game: str, *bots: Entrant, **options: Any) -> Path:
        found = registry.game(game)
        path = tmp_path_factory.mktemp(game) / "match.jsonl"
        seated = bots or (entrant(BOTS.get(game, "@random")),) * found.seats.start
        chosen = found.options(**{**found.short, **SHORT.get(game, {}), **options})
        match = Match(found, seated, 7, chosen, found.time, replay=path)

        async def run() -> None:
            async with open_roster(Limits(isolation=OFF)) as roster:
                await play(match, roster)

        trio.run(run)
        return path

    return record


@pytest.fixture(scope="session")
def paged(played: Played, viewer: None) -> Played:
    """Returns the page of such a match."""

    def write(game: str, *bots: Entrant, **options: Any) -> Path:
        record = played(game, *bots, **options)
        file = record.with_suffix(".html")
        if not file.exists():
            file.write_bytes(page_of(Replay(record)))
        return file

    return write
