"""The misbehaving bots of `bots/`, and the conditions that must hold after each of their matches.

A program says in lines that begin with `#:` (TOML) what it must get. `conditions` is the whole list. As a script, in a
process of its own and perhaps under another account, it plays a family of them: `misbehaving.py FOLDER FAMILY`; a line
of JSON for each tells what did not hold. `misbehaving.py FOLDER honest` plays honest matches meanwhile.
"""

import gc
import io
import json
import os
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import psutil
import trio
from msgspec import Struct
from rich.console import Console
from scripted import GRACE_S, HEARD, Arena

from referee.games import registry
from referee.games.contract import FaultKind
from referee.games.game import TimeControl
from referee.harness.cli.reports.verdict import verdict as report
from referee.harness.isolation import plan
from referee.harness.isolation.plan import NONE, Isolation
from referee.harness.match.match import play
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify
from referee.harness.seats.roster import open_roster

BOTS = Path(__file__).with_name("bots")
FAMILIES = sorted(path.name for path in BOTS.iterdir() if path.is_dir())
MATCHES = 20
"""Fewest matches in one process, which must be unchanged after them."""
GROWTH_BYTES = 24 << 20
WORKERS = 4
"""Most threads that trio keeps for a while."""
RIVAL = HEARD + "greet(); put('C'); put('N'); put('S'); put('E'); call()"
LOSER = HEARD + "greet(); put('C'); put('E'); call()"
WINNER = "greet(); put('NW'); put('W'); put('SW'); call()"


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """The verdict that a program must get."""

    kind: str | list[str] = []
    """Kind of its first fault, or one of these; empty = no fault."""
    detail: str = "…"
    """Text of that fault; `…` at the end stands for anything."""
    method: str = "play"
    last_words: str | None = None
    wins: bool = False
    """It has won before it misbehaves."""
    call_s: float = 5.0
    granted_s: float | None = None
    """Time that the limits grant before the bot is ended; `call_s` for a time-out, else nothing."""
    needs: str | None = None
    """The guarantee without which there is no such verdict."""
    limits: dict[str, Any] = {}

    @property
    def kinds(self) -> list[str]:
        return [self.kind] if isinstance(self.kind, str) else self.kind


class Program(Struct, frozen=True):
    """A misbehaving bot."""

    name: str
    wanted: Request
    body: str


class Played(Struct, frozen=True):
    """The outcome of a match with such a bot at seat 0."""

    program: Program
    verdict: Verdict
    took_s: float
    heard: list[Any]
    """Frames that the rival read."""
    alive: list[str]
    """Processes that were left of the match."""
    limits: Limits


def programs(family: str) -> list[Program]:
    """Returns the bots of a family, by name."""
    found = []
    for path in sorted((BOTS / family).glob("*.py")):
        text = path.read_text()
        header = "\n".join(line[3:] for line in text.splitlines() if line.startswith("#:"))
        found.append(Program(path.stem, msgspec.convert(tomllib.loads(header), Request), text))
    return found


def conditions(played: Played) -> list[str]:
    """Returns the conditions, in the order of `docs/explanation/isolation.md`, that do not hold after a match."""
    verdict, wanted, heard = played.verdict, played.program.wanted, played.heard
    first = verdict.faults[0] if verdict.faults else None
    granted_s = wanted.granted_s
    if granted_s is None:
        granted_s = wanted.call_s if "timeout" in wanted.kinds else 0.0
    shown = io.StringIO()
    Console(file=shown, width=400, soft_wrap=True).print(report(verdict, registry.game(verdict.game)))
    readmes = [(Path(fault.bundle) / "README.txt").read_text() for fault in verdict.faults if fault.bundle]
    record = Path(str(verdict.replay)).read_text()
    texts = [shown.getvalue(), msgspec.json.encode(verdict).decode(), record, *readmes]
    logs = [Path(seat.stderr).stat().st_size for seat in verdict.seats if seat.stderr is not None]
    rival_calls = sum(frame["method"] == "play" for frame in heard if isinstance(frame, dict))
    won = {"params": {"winner": "O" if wanted.wins else "X"}}
    holds = {
        f"1: it ended in time (it took {played.took_s:.1f} s)": played.took_s < granted_s + GRACE_S,
        f"2: the right seat lost ({verdict.result})": verdict.result.ranks == ((1, 2) if wanted.wins else (2, 1)),
        f"2: the right cause ({first and (first.kind, first.method, first.detail)})": _as_wanted(verdict, wanted),
        "2: the record verifies": _verified(verdict),
        f"3: the rival came to no harm ({heard[-2:]})": heard[-1] == {"jsonrpc": "2.0", "method": "exit"}
        and {"params": heard[-2]["params"]} == won
        and verdict.seats[1].calls == rival_calls
        and {fault.player for fault in verdict.faults} <= {0},
        f"4: nothing is left ({played.alive})": not played.alive,
        f"5: logs are capped ({logs})": all(size <= played.limits.stderr_bytes for size in logs),
        "6: nothing that a terminal would obey": all(map(_harmless, texts)),
        "6: no traceback of ours": "referee/harness" not in shown.getvalue(),
        "8: no fault of ours is the bot's": not any(_ours(fault.detail) for fault in verdict.faults),
    }
    return [what for what, held in holds.items() if not held]


def _as_wanted(verdict: Verdict, wanted: Request) -> bool:
    if not wanted.kinds or not verdict.faults:
        return not wanted.kinds and not verdict.faults
    fault = verdict.faults[0]
    words = wanted.detail
    told = fault.detail.startswith(words[:-1]) if words.endswith("…") else fault.detail == words
    said = wanted.last_words is None or fault.last_words[-1:] == (wanted.last_words,)
    late = fault.kind is FaultKind.TIMEOUT and fault.method == "play" and fault.wall_s < wanted.call_s
    return fault.kind in wanted.kinds and fault.method == wanted.method and told and said and not late


def _verified(verdict: Verdict) -> bool:
    try:
        return verify(Replay(Path(str(verdict.replay)))) == verdict.result
    except Difference:
        return False


def _harmless(text: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in text)


def _ours(detail: str) -> bool:
    return "launcher" in detail or "cannot be started" in detail


# A batch, in a process of its own.


class Ring:
    """Plays two bots, each in its own folder, under every layer that this machine has."""

    def __init__(self, folder: Path) -> None:
        self.arena = Arena(folder)
        self.heard = folder / "heard"
        self.heard.mkdir(exist_ok=True)
        self.heard.chmod(0o1777)

    def arenas(self, name: str) -> Arena:
        folder = self.arena.folder / name
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        return Arena(folder)

    async def play(self, program: Program) -> Played:
        wanted, log = program.wanted, self.heard / "rival"
        log.unlink(missing_ok=True)
        limits = Limits(isolation=Isolation(writable=(str(self.heard),)))
        limits = msgspec.structs.replace(limits, **wanted.limits)
        bot = self.arenas("bot").bot(program.body, name=program.name)
        rival = self.arenas("rival").bot(LOSER if wanted.wins else RIVAL, str(log), name="rival")
        match = self.arena.match(bot, rival, time=TimeControl(per_call_s=wanted.call_s))
        match = msgspec.structs.replace(match, fault_reports=True)
        started = time.monotonic()
        async with open_roster(limits) as roster:
            verdict = await play(match, roster)
        took_s = time.monotonic() - started
        heard = [json.loads(line) if line.startswith(b"{") else line.decode() for line in log.read_bytes().splitlines()]
        return Played(program, verdict, took_s, heard, self.arena.alive(), limits)


async def batch(folder: Path, family: str) -> None:
    """Plays a family, one match after the other."""
    kept = plan.layer_by_guarantee(Isolation())
    ring, found = Ring(folder), programs(family)
    can = [program for program in found if program.wanted.needs is None or kept[program.wanted.needs] != NONE]
    for program in found:
        if program not in can:
            print(json.dumps({"name": program.name, "skipped": f"nothing here keeps {program.wanted.needs!r}"}))
    quick = [program for program in can if "timeout" not in program.wanted.kinds and not program.wanted.limits]
    again = (quick * MATCHES)[: max(0, MATCHES - len(can))]
    before: tuple[int, int] | None = None
    memory = 0
    for number, program in enumerate([*can, *again]):
        played = await ring.play(program)
        broken = conditions(played)
        if broken and all(each.startswith("1:") for each in broken):  # a machine may be busy; a bot is so each time
            played = await ring.play(program)
            broken = conditions(played)
        gc.collect()
        now = len(os.listdir("/proc/self/fd")), threading.active_count()
        before = now if number == 0 else before
        if number == 4:
            memory = psutil.Process().memory_info().rss
        if before is not None and (now[0] > before[0] or now[1] > before[1] + WORKERS):
            broken.append(f"5: our descriptors are as they were ({before} before, now {now})")
        print(json.dumps({"name": program.name, "broken": broken, "took_s": round(played.took_s, 2)}), flush=True)
    grown = psutil.Process().memory_info().rss - memory
    broken = [] if grown < GROWTH_BYTES else [f"5: our memory is flat (it grew by {grown >> 20} MiB)"]
    print(json.dumps({"name": "all of them", "broken": broken}))


async def honest(folder: Path) -> None:
    """Plays matches without any fault until standard input ends; then prints their number and all faults."""
    folder.mkdir()
    arena = Arena(folder)
    winner, loser = arena.bot(WINNER, name="winner"), arena.bot("greet(); put('C'); put('E'); call()", name="loser")
    matches, faults = 0, []
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    while not over.is_set() or not matches:
        async with open_roster(Limits(isolation=Isolation())) as roster:
            verdict = await play(arena.match(winner, loser), roster)
        matches += 1
        faults += [fault.detail for fault in verdict.faults]
        faults += [] if verdict.result.ranks == (1, 2) else [f"ranks {verdict.result.ranks}"]
        await trio.sleep(0.2)
    print(json.dumps({"matches": matches, "faults": faults}))


def main() -> None:
    folder, family = Path(sys.argv[1]), sys.argv[2]
    folder.parent.mkdir(parents=True, exist_ok=True)
    if family == "honest":
        trio.run(honest, folder)
    else:
        tempfile.tempdir = str(folder)
        trio.run(batch, folder, family)


if __name__ == "__main__":
    main()
