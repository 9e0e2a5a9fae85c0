"""Measures milliseconds from the navigation to the first visible board.

It opens a page of 600 turns of AIBG 5 from disk and, for comparison, a page with nothing but a board. They take turns,
in a browser that has been used before.

`python -m referee.benchmarks.first_board` needs chromium and playwright. As many lines of JSON as there are pages.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

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

ROUNDS = 150
"""Of four turns."""
BOARD = (
    '<!doctype html><title>a board</title><div class="board"><svg viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg></div>'
)
SEEN = """
const watching = new MutationObserver(() => {
  if (!document.querySelector(".board svg")) return;
  watching.disconnect();
  requestAnimationFrame(() => setTimeout(() => (window.seen = performance.now())));
});
watching.observe(document, { childList: true, subtree: true });
"""


async def record(path: Path, rounds: int) -> None:
    """Plays a match of the built-in opponent against itself."""
    game = registry.game("aibg5")
    seats = (entrant("@trainer"),) * game.seats.start
    match = Match(game, seats, 3, game.options(rounds=rounds), game.time, replay=path)
    async with open_roster(Limits(isolation=OFF)) as roster:
        await play(match, roster)


def seen_ms(browser: Browser, file: Path) -> float:
    """Milliseconds until the first frame with a board in it was there, in a new page."""
    opened = browser.new_page(viewport={"width": 1200, "height": 860})
    opened.add_init_script(SEEN)
    opened.goto(file.as_uri())
    ms = float(opened.wait_for_function("() => window.seen").json_value())
    opened.close()
    return ms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "pages", nargs="*", type=Path, help="pages to compare instead, such as one that was made before"
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--game-rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("this benchmark needs chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        bare = Path(folder, "board.html")
        bare.write_text(BOARD)
        pages = [path.resolve() for path in arguments.pages]
        if not pages:
            trio.run(record, Path(folder, "match.jsonl"), arguments.game_rounds)
            pages = [Path(folder, "aibg5.html")]
            pages[0].write_bytes(page(Replay(Path(folder, "match.jsonl"))))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        taken: dict[Path, list[float]] = {file: [] for file in (bare, *pages)}
        for run in range(arguments.runs + 1):
            for file, times in taken.items():
                ms = seen_ms(browser, file)
                if run:  # the first one warms the browser up
                    times.append(ms)
        browser.close()
        for file, times in taken.items():
            figures = {"median": statistics.median(times), "least": min(times), "most": max(times)}
            print(
                json.dumps(
                    {"page": file.name, "KiB": file.stat().st_size >> 10} | {n: round(v) for n, v in figures.items()}
                )
            )


if __name__ == "__main__":
    main()
