"""Measures the standings of large tournaments.

`python -m referee.benchmarks.standings [--bots N] [--games N] [--rounds N] [--json]`. The games are simulated: a
round robin of game pairs over 60 days. Each figure is the median over the rounds, each in a process of its own.
"""

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified, read_plan, write_plan
from referee.addons.tournament.reports.history import history
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Ledger, Line

DAYS = 60
START = 1_790_000_000
MOST_IN_HISTORY = 300
"""The most bots whose ratings over time are measured: they take time by their cube."""
BATCH = 10_000


def simulate(folder: Path, bots: int, games: int) -> None:
    """Writes the plan and the ledger of a tournament in which strengths decide, with luck and some faults."""
    luck = random.Random(1)
    entries = [Entry(f"bot {at}", "", hashlib.sha256(str(at).encode()).hexdigest(), "@random") for at in range(bots)]
    pairs = list(combinations(range(bots), 2))
    luck.shuffle(pairs)
    seed_groups = -(-games // (2 * len(pairs)))
    plan = Plan("tictactoe", "round-robin", 1, identified(entries), games=2 * seed_groups)
    folder.mkdir(exist_ok=True)
    write_plan(plan, folder / PLAN)
    keys, opened = Keys(plan), Ledger(folder, msgspec.to_builtins(plan))
    strengths = [luck.gauss(0, 100) for _ in entries]
    due = [(*seats, group) for group in range(seed_groups) for pair in pairs for seats in (pair, pair[::-1])][:games]
    batch: list[tuple[bytes, bytes | None]] = []
    for number, (first, second, group) in enumerate(due):
        performed = luck.gauss(strengths[first], 200) - luck.gauss(strengths[second], 200)
        ranks = (1, 1) if abs(performed) < 40 else (1, 2) if performed > 0 else (2, 1)
        game = ScheduledGame((first, second), group)
        line = Line(
            keys.key(game), (keys.idents[first], keys.idents[second]), 1, ranks, tuple(2.0 - each for each in ranks),
            why="three_in_a_row", t=7, ms=1, w=(61, 58), c=(40, 39), a=f"{luck.getrandbits(64):016x}",
            at=round(START + DAYS * 86_400 * number / len(due), 6), by="host:0",
        )  # fmt: skip
        batch.append((msgspec.json.encode(line), None))
        if len(batch) == BATCH or number == len(due) - 1:
            opened.append(batch)
            batch = []
    opened.close()


def measured(folder: Path) -> None:
    """Prints the CPU seconds of each step in this process, and its memory in MiB."""
    figures: dict[str, float] = {}
    started = time.process_time()

    def step(name: str) -> None:
        nonlocal started
        now = time.process_time()
        figures[name], started = now - started, now

    plan = read_plan(folder / PLAN)
    book = reader.read(folder)
    step("read")
    standings(plan, book, chances=False, rated=False)
    step("points, live")
    standings(plan, book, chances=False)
    step("points and ratings, live")
    standings(plan, book)
    step("show")
    figures["show, MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if len(plan.bots) <= MOST_IN_HISTORY:
        started = time.process_time()
        history(plan, book)
        step("history")
    print(json.dumps(figures))


def measure(bots: int, games: int, rounds: int) -> dict[str, float]:
    """Returns the medians by name."""
    found: list[dict[str, float]] = []
    with TemporaryDirectory(prefix="referee-") as scratch:
        simulate(Path(scratch), bots, games)
        command = f"measured(Path({scratch!r}))"
        code = f"from pathlib import Path; from referee.benchmarks.standings import measured; {command}"
        for _ in range(rounds):
            done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
            found.append(json.loads(done.stdout))
    return {name: median(each[name] for each in found) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--games", type=int, default=39_800)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.bots, arguments.games, arguments.rounds)
    if arguments.json:
        print(json.dumps(figures))
        return
    print(f"{arguments.bots} bots, {arguments.games} games, CPU seconds\n\n| | |\n| --- | --- |")
    for name, value in figures.items():
        print(f"| {name} | {value:.2f} |")


if __name__ == "__main__":
    main()
