"""The faults of a gate's bots: which, how often, and the command that reproduces the first of each."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from referee.addons.tournament.gate import FaultGroup
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import of_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Fault, Line
from referee.addons.tournament.store.reader import Book
from referee.harness.replay.reader import Replay

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
            path = _kept(folder, file, line, groups[key].first_game)
            again = () if path is None else _repro(path, fault, bots[is_old])
            if not again:
                again = (*command, "--seed", str(line.s), *(bots[ident != new] for ident in line.b))
            look = () if path is None else ("referee", "replay", "show", str(path), "--turn", str(fault.turn))
            shown.append(msgspec.structs.replace(groups[key], reproduce=again, look=look))
    return tuple(shown)


def _number(line: Line, seats: int) -> int:
    """Returns the number of a game of a gate, from 1."""
    _, seed_group, row = line.k.rsplit("/", 2)
    return int(seed_group) * seats + int(row) + 1


def _kept(folder: Path, file: Path, line: Line, game: int) -> Path | None:
    """Writes the replay of a game to a file of its own; None if it was not kept."""
    content = reader.replay(folder, file, line)
    if content is None:
        return None
    path = folder / FOLDER / f"game-{game}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def _repro(path: Path, fault: Fault, bot: str) -> tuple[str, ...]:
    """Returns the command that reproduces a fault of a replay; empty if the replay does not report it."""
    ending = Replay(path).ending
    for number, each in enumerate(() if ending is None else ending.faults, 1):
        if (each.player, each.kind, each.call) == (fault.seat, fault.kind, fault.call):
            return "referee", "repro", str(path), bot, *(("--fault", str(number)) if number > 1 else ())
    return ()
