"""Measures the time between two frames of a page while a match plays, for each game at its largest.

The page is 1,920 × 1,080 pixels and drawn by chromium's software renderer. A display shows 60 frames a second if there
are at most 16.7 ms between two of them. On a busy machine frames are late whatever is drawn: the row `nothing` is an
empty page, and the CPU time of a frame, of all of chromium's processes, says what the board needs.

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

import psutil
import trio
from playwright.sync_api import Browser, sync_playwright

from referee.addons.web.page import page
from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.seats.roster import open_roster

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


def cpu_s() -> float:
    """CPU seconds of the browser's processes so far."""
    times = [each.cpu_times() for each in psutil.Process().children(recursive=True) if "chrom" in each.name()]
    return sum(each.user + each.system for each in times)


def measured(browser: Browser, file: Path | None, seconds: float) -> dict[str, float]:
    """Frames while the second half of the match plays, with the board alone; of an empty page without a file."""
    opened = browser.new_page(viewport={"width": 1920, "height": 1080})
    if file:
        opened.goto(file.as_uri())
        opened.wait_for_selector(".timeline")
        middle = int(opened.get_attribute("#turn", "max") or 0) // 2
        opened.evaluate(f"location.hash = '#turn={middle}&panel=none'")
        opened.wait_for_function(f"() => document.querySelector('#turn').value == {middle}")
        opened.keyboard.press(" ")
    before = cpu_s()
    times = opened.evaluate(FRAMES, seconds)
    cpu_ms = 1000 * (cpu_s() - before) / len(times)
    opened.close()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    cuts = statistics.quantiles(gaps, n=20)
    return {"frames": len(gaps), "p50_ms": cuts[9], "p95_ms": cuts[18], "most_ms": max(gaps), "cpu_ms": cpu_ms}


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
        pages: dict[str, Path | None] = {"nothing": None}
        for name in arguments.games:
            path = Path(folder, f"{name}.jsonl")
            trio.run(record, name, path)
            pages[name] = path.with_suffix(".html")
            path.with_suffix(".html").write_bytes(page(Replay(path)))
        for name, file in pages.items():
            figures = {n: round(v, 1) for n, v in measured(browser, file, arguments.seconds).items()}
            print(json.dumps({"game": name} | figures), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
