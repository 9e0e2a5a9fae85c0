"""Measures the time between two frames of a page while a match plays, for each game at its largest.

The page is 1,920 × 1,080 pixels and drawn by chromium's software renderer. A display shows 60 frames a second if there
are at most 16.7 ms between two of them.

`python -m referee.benchmarks.board_frames` needs chromium and playwright. One line of JSON per game.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import trio
from playwright.sync_api import Browser, sync_playwright

from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.seats.roster import open_roster
from referee.harness.web.page import page

BOTS = {"aibg5": "@trainer", "cardgame": "@trader", "reantics": "@raider", "aiarena21": "@planner"}
"""Bots that fill the board; `@random` in the other games."""
LARGE: dict[str, dict[str, Any]] = {
    "aibg5": {"rounds": 60},
    "aiarena21": {"turns": 60},
    "connectfour": {"columns": 7, "rows": 9, "inarow": 5},
}
"""Options that make a board as large as it can be, and a match short enough to play at once."""
FRAMES = """seconds => new Promise(done => {
  const times = [];
  const until = performance.now() + 1000 * seconds;
  const look = now => { times.push(now); now < until ? requestAnimationFrame(look) : done(times); };
  requestAnimationFrame(look);
})"""


async def record(name: str, path: Path) -> None:
    """Plays a match whose board is as large as it can be."""
    game = registry.game(name)
    seats = (entrant(BOTS.get(name, "@random")),) * game.seats.start
    match = Match(game, seats, 3, game.options(**LARGE.get(name, {})), game.time, replay=path)
    async with open_roster(Limits(isolation=OFF)) as roster:
        await play(match, roster)


def gaps_ms(browser: Browser, file: Path, seconds: float) -> list[float]:
    """Milliseconds between frames while the second half of the match plays, with the board alone."""
    opened = browser.new_page(viewport={"width": 1920, "height": 1080})
    opened.goto(file.as_uri())
    opened.wait_for_selector(".timeline")
    middle = int(opened.get_attribute("#turn", "max") or 0) // 2
    opened.evaluate(f"location.hash = '#turn={middle}&panel=none'")
    opened.wait_for_function(f"() => document.querySelector('#turn').value == {middle}")
    opened.keyboard.press(" ")
    times = opened.evaluate(FRAMES, seconds)
    opened.close()
    return [later - earlier for earlier, later in pairwise(times)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=registry.own_names(), help="all of the project's own by default")
    parser.add_argument("--seconds", type=float, default=6)
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("this benchmark needs chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in arguments.games:
            path = Path(folder, f"{name}.jsonl")
            trio.run(record, name, path)
            path.with_suffix(".html").write_bytes(page(Replay(path)))
            gaps = gaps_ms(browser, path.with_suffix(".html"), arguments.seconds)
            cuts = statistics.quantiles(gaps, n=20)
            figures = {"game": name, "frames": len(gaps), "p50": cuts[9], "p95": cuts[18], "most": max(gaps)}
            print(
                json.dumps({what: round(v, 1) if isinstance(v, float) else v for what, v in figures.items()}),
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
