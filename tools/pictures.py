"""`python -m referee.tools.pictures`: the pictures in docs/images, taken from today's viewer.

Every game has a picture of a match between its strongest built-in bots, and README has a film of one. `words.json`
holds the words of the viewer's buttons, badges and legends on each picture: a test compares them with today's viewer.
"""

import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import referee
from referee.addons.web.browser import BROWSERS
from referee.addons.web.film import Cut, write_film
from referee.addons.web.page import page as page_of
from referee.games import registry
from referee.harness.opponents import levels
from referee.harness.replay.reader import Replay
from referee.tools.generated import ROOT

FOLDER = ROOT / "docs" / "images"
WORDS = FOLDER / "words.json"
NAMES = ("Ada", "Bert", "Cleo", "Dora")
SEED = 7
SIZE = {"width": 960, "height": 700}
PART = 0.6
"""How far each match has gone on its picture."""
OPTIONS = {"aibg5": {"rounds": 150}}
"""Of games that only a clock would end."""
FILM = ("reantics", "match.gif", Cut(first=60, last=79, turn_s=0.5, width=360, height=400, theme="light"))
"""The film's game, its file and what it shows."""
PARTS = "header button, header a, .badge, .views button, .panel nav button, .controls button, .legend li"
READ = "parts => [...document.querySelectorAll(parts)].map((each) => each.innerText || each.ariaLabel || '')"


def play_match(game: str, folder: Path) -> Replay:
    """Plays a match between the strongest built-in bots of a game."""
    bots = [f"{name}=@{levels(game)[-1]}" for name in NAMES[: registry.game(game).seats.start]]
    path = folder / f"{game}.jsonl"
    referee.play(game, bots, seed=SEED, replay=path, options=OPTIONS.get(game, {}))
    return Replay(path)


@contextmanager
def opened(browser: Browser, file: Path) -> Iterator[Page]:
    """Opens the page of a match as its picture shows it: the board alone, in the middle of the match."""
    page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")  # type: ignore[arg-type]
    try:
        page.goto(f"{file.as_uri()}#turn=0")
        page.wait_for_selector(".timeline")
        last = int(page.get_attribute("#turn", "max") or 0)
        page.evaluate("turn => { location.hash = `#turn=${turn}&panel=none` }", round(last * PART))
        page.wait_for_function("turn => document.querySelector('#turn').value == turn", arg=round(last * PART))
        page.wait_for_selector("main.stage")
        yield page
    finally:
        page.close()


def words(page: Page) -> list[str]:
    """Returns the viewer's own words on a page, without numbers."""
    found = (re.sub(r"\d+(\.\d+)?", "#", " ".join(text.split())) for text in page.evaluate(READ, PARTS))
    return sorted({text for text in found if text})


def take_pictures(browser: Browser, folder: Path) -> dict[str, list[str]]:
    """Takes a picture of each game, and returns the words on each."""
    found = {}
    for game in registry.own_names():
        file = folder / f"{game}.html"
        file.write_bytes(page_of(play_match(game, folder)))
        with opened(browser, file) as page:
            found[game] = words(page)
            with Image.open(io.BytesIO(page.screenshot())) as picture:
                few = picture.convert("RGB").quantize(255, dither=Image.Dither.NONE)
            few.save(FOLDER / f"{game}.png", optimize=True)
    return found


def main() -> int:
    """Takes all pictures; returns the exit code."""
    arguments = [] if os.geteuid() else ["--no-sandbox"]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        WORDS.write_text(json.dumps(take_pictures(browser, Path(name)), indent=1, ensure_ascii=False) + "\n", "utf-8")
        browser.close()
    with tempfile.TemporaryDirectory() as name:
        game, file, cut = FILM
        write_film(play_match(game, Path(name)), FOLDER / file, cut, replaces=True)
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
