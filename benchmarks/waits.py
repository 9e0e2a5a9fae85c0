"""Measures how long teams of a hosted contest wait that hand in Python bots within some minutes, at random times.

`python -m referee.benchmarks.waits [--game NAME] [--teams N] [--minutes M] [--json]` prints seconds: from the upload to
the verdict, and from that to the end of the first rated game. Nothing else should run on the machine. The queue of
checks and the play process are those of a contest; uploads do not go through its web process.
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

import trio

from referee.addons.host import submissions, versions
from referee.addons.host.contest import keep_playing, opened
from referee.addons.host.first_bots import packed
from referee.addons.host.play import PlaySettings
from referee.addons.host.rehearsal_dummies import summed_up, uploaded, variant
from referee.addons.host.store import Store
from referee.addons.host.versions import Version
from referee.addons.tournament import organise
from referee.addons.tournament.cli.prepare import write_report
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN

GAME, TEAMS, MINUTES, SEED = "tictactoe", 60, 10.0, 1
REST_S = 120.0
"""How long to wait for the last verdicts and games."""
LOOK_S = 1.0
VERDICT, FIRST_GAME = "from the upload to the verdict", "from the verdict to the end of the first rated game"


async def measure(game: str, content: bytes, count: int, minutes: float, folder: Path) -> dict[str, list[float]]:
    """Returns the waits of all teams, in seconds. RuntimeError if a bot is refused. `content`: what they hand in."""
    request = organise.Request(game, (), format="ladder", seed=SEED)
    store = opened(folder / "cup", organise.plan_without_bots(request), ())
    luck = random.Random(SEED)
    times = sorted(luck.uniform(0, 60 * minutes) for _ in range(count))
    ones: list[Version] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_playing, store, PlaySettings(), _note)
        nursery.start_soon(submissions.Queue(store, 1, write_report).run)
        began = trio.current_time()
        for number, at in enumerate(times):
            await trio.sleep_until(began + at)
            ones.append(uploaded(store, f"Team {number:02}", variant(content, "sound", number)))
        with trio.fail_after(REST_S):
            while len(found := waits(store, ones)[FIRST_GAME]) < count:
                print(f"{len(found)} of {count} have played", end="\r", file=sys.stderr)
                await trio.sleep(LOOK_S)
        nursery.cancel_scope.cancel()
    return waits(store, ones)


def waits(store: Store, ones: list[Version]) -> dict[str, list[float]]:
    """Returns the waits that are over."""
    first: dict[str, float] = {}
    for _, line in reader.counted_lines(store.folder):
        for ident in line.b:
            first[ident] = min(line.at, first.get(ident, line.at))
    idents = {entry.name: entry.ident for entry in read_plan(store.folder / PLAN).bots}
    found: dict[str, list[float]] = {VERDICT: [], FIRST_GAME: []}
    for each in ones:
        one = versions.by_id(store, each.id)
        if one is None or one.decided_at is None:
            continue
        if one.status != "accepted":
            raise RuntimeError(f"{one.bot}: {one.status}: {one.reason}")
        found[VERDICT].append(one.decided_at - one.handed_in_at)
        if one.bot in idents and idents[one.bot] in first:
            found[FIRST_GAME].append(first[idents[one.bot]] - one.decided_at)
    return found


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def table(figures: dict[str, list[float]]) -> str:
    """The median, that of 95 %, and the longest."""
    lines = ["| seconds | half | 95 % | longest |", "| --- | --- | --- | --- |"]
    for name, values in figures.items():
        lines.append(" | ".join([f"| {name}", *(f"{wait:.1f}" for wait in summed_up(values))]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Prints a Markdown table, or with --json one object: wait -> seconds of each team."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--game", default=GAME)
    parser.add_argument("--teams", type=int, default=TEAMS)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="within which all hand in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first_bot = packed(arguments.game, "python")
        figures = trio.run(measure, arguments.game, first_bot, arguments.teams, arguments.minutes, Path(folder))
    print(json.dumps(figures) if arguments.json else table(figures))


if __name__ == "__main__":
    main()
