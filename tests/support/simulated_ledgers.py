"""The ledger of a large tournament, with simulated games: a round robin of game pairs over 60 days."""

import hashlib
import random
from itertools import combinations
from pathlib import Path

import msgspec

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified, write_plan
from referee.addons.tournament.store.ledger import PLAN, Ledger, Line

DAYS = 60
START = 1_790_000_000
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
