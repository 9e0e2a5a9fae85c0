"""The faults of a gate's bots: which, how often, and the command that reproduces the first of each."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from referee.harness.replay.reader import Replay
from referee.harness.tournament.gate import FaultGroup
from referee.harness.tournament.plan import Plan
from referee.harness.tournament.reports.counted_games import of_plan
from referee.harness.tournament.store import reader
from referee.harness.tournament.store.ledger import Fault, Line
from referee.harness.tournament.store.reader import Book

FOLDER = "faults"
"""The folder of a ledger with the replays that the commands name."""
MOST = 4
"""The most groups of one bot, the most frequent ones."""


def fault_groups(
    plan: Plan, folder: Path, book: Book, games: int, bots: tuple[str, str], command: Sequence[str]
) -> tuple[FaultGroup, ...]:
    """Returns the faults of the new bot, the first of the plan, then those of the old one.

    Counts the first `games`, those that count. `bots` are the specs of both; `command` plays one match, without seed
    and bots. A replay that was kept goes into `folder`, because `referee repro` reads a file.
    """
    new = plan.bots[0].ident
    groups: dict[tuple[bool, str, str], FaultGroup] = {}
    firsts: dict[tuple[bool, str, str], tuple[Path, Line, Fault]] = {}
    lines = [
        (_number(line, plan.seats), file, line) for file, line in reader.counted_lines(folder, of_plan(plan, book))
    ]
    for number, file, line in sorted((each for each in lines if each[0] <= games), key=lambda each: each[0]):
        for fault in line.f:
            is_old = line.b[fault.seat] != new
            key = is_old, fault.kind, re.sub(r"\d+", "0", fault.detail)
            group = groups.get(key)
            if group is None:
                group = FaultGroup("old" if is_old else "new", fault.kind, fault.detail, 0, number)
                firsts[key] = file, line, fault
            groups[key] = msgspec.structs.replace(group, count=group.count + 1, slowed=group.slowed + fault.noise)
    shown = []
    for is_old in (False, True):
        of_bot = sorted((key for key in groups if key[0] is is_old), key=lambda key: -groups[key].count)
        for key in of_bot[:MOST]:
            file, line, fault = firsts[key]
            again = _repro(folder, file, line, fault, groups[key].first_game, bots[is_old])
            if not again:
                again = (*command, "--seed", str(line.s), *(bots[ident != new] for ident in line.b))
            shown.append(msgspec.structs.replace(groups[key], reproduce=again))
    return tuple(shown)


def _number(line: Line, seats: int) -> int:
    """Returns the number of a game of a gate, from 1."""
    _, seed_group, row = line.k.rsplit("/", 2)
    return int(seed_group) * seats + int(row) + 1


def _repro(folder: Path, file: Path, line: Line, fault: Fault, game: int, bot: str) -> tuple[str, ...]:
    """Writes the replay of a fault and returns the command that reproduces it; empty if there is no replay."""
    content = reader.replay(folder, file, line)
    if content is None:
        return ()
    path = folder / FOLDER / f"game-{game}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    ending = Replay(path, content).ending
    for number, each in enumerate(() if ending is None else ending.faults, 1):
        if (each.player, each.kind, each.call) == (fault.seat, fault.kind, fault.call):
            return "referee", "repro", str(path), bot, *(("--fault", str(number)) if number > 1 else ())
    return ()
