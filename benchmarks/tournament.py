"""Measures tournaments on the workers of this machine.

It prints games per second with their replays in packs, the driver's CPU time per game from the first game to the last,
and the time to read a large ledger.

`python -m referee.benchmarks.tournament [--seconds S] [--lines N]`. A run plays for so many seconds. A rate leaves
out the first third, in which workers start and jobs grow.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.addons.tournament.execution import worker_messages
from referee.addons.tournament.execution.local import open_local
from referee.addons.tournament.execution.tournament_games import TournamentGames, contest_of
from referee.addons.tournament.execution.worker_pool import DRAIN_S, WorkerPool
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports import site, standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Ledger, Line
from referee.addons.tournament.store.reader import Book
from referee.games import registry
from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import isolation
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

BOTS = Path(__file__).parent / "bots"


class Setting(Struct, frozen=True):
    """The matches to play."""

    game: str
    source: str
    """The bots': of an instant one, or a kit, whose example plays."""
    reuse: bool = True
    isolation: str = "off"


ROWS = {
    "tictactoe, instant C++ bots, used again": Setting("tictactoe", "tictactoe_instant.cpp"),
    "the same, isolated": Setting("tictactoe", "tictactoe_instant.cpp", isolation="auto"),
    "tictactoe, instant C++ bots, fresh processes": Setting("tictactoe", "tictactoe_instant.cpp", reuse=False),
    "the same fresh ones, isolated": Setting("tictactoe", "tictactoe_instant.cpp", reuse=False, isolation="auto"),
    "reantics, instant C++ bots, used again": Setting("reantics", "reantics_instant.cpp"),
    "reantics, the C++ kit's examples": Setting("reantics", "cpp"),
}
MONTH_S = 30 * 86_400
SPANS = 10
"""The simulated tournament is cut into so many parts of equal length."""


def compiled(source: str, reuse: bool, folder: Path) -> Path:
    """An instant bot that may be used again, or says that it may not."""
    for file in BOTS.iterdir():
        if file.suffix in (".hpp", ".cpp"):
            text = file.read_text()
            if not reuse:
                text = text.replace('"reuse":true', '"reuse":false').replace(r"\xa5reuse\xc3", r"\xa5reuse\xc2")
            (folder / file.name).write_text(text)
    program = folder / f"{Path(source).stem}-{reuse}"
    subprocess.run(["g++", "-std=c++17", "-O2", "-o", str(program), str(folder / source)], check=True)
    return program


def bots_of(setting: Setting, folder: Path) -> Entrant:
    """The program of both bots."""
    if "." in setting.source:
        return Entrant("bot", (str(compiled(setting.source, setting.reuse, folder)),), folder)
    return entrant(str(KITS / setting.source / "examples" / setting.game))


def played(setting: Setting, folder: Path, seconds: float, workers: int | None) -> dict[str, float]:
    """Games a second, the part of a core that the driver takes, and the part of all CPU time that is not the bots'."""
    bot = bots_of(setting, folder)
    bots = identified([Entry(name, "", f"{ord(name):064x}"[::-1], "cmd:bot") for name in "ab"])
    found = registry.game(setting.game)
    limits = Limits(isolation=isolation(setting.isolation))
    plan = Plan(
        setting.game, "round-robin", 1, bots, games=10_000_000, time=found.time, limits=limits, version=found.version
    )
    programs = {each.ident: msgspec.structs.replace(bot, name=each.name) for each in bots}
    before = runner_s()
    rate, driver, bots_s = timed(plan, folder, open_local(contest_of(plan, programs, "all", folder), workers), seconds)
    spent_s = runner_s() - before
    return {
        "games a second": rate,
        "driver, of a core": driver,
        "runner, of all CPU": spent_s / (spent_s + bots_s),
    }


def timed(
    plan: Plan, folder: Path, opening: AbstractAsyncContextManager[WorkerPool], seconds: float
) -> tuple[float, float, float]:
    """Plays for that time. Returns games a second, the driver's part of a core, and the bots' CPU time in seconds."""
    opened = Ledger(folder, {})
    run = TournamentGames(plan, opened, Book())
    arrivals: list[tuple[float, int, float]] = []
    bots_s = 0.0

    def on_lines(lines: list[bytes]) -> None:
        nonlocal bots_s
        arrivals.append((time.monotonic(), len(lines), time.process_time()))
        bots_s += sum(sum(msgspec.json.decode(line, type=Line).c) for line in lines) / 1e6

    run.on_lines = on_lines

    async def play() -> None:
        async with opening as pool:
            await run.play(pool, trio.Event(), seconds)

    trio.run(play)
    opened.close()
    steady = [each for each in arrivals if each[0] > arrivals[0][0] + seconds / 3] or arrivals
    (first_s, first, first_cpu_s), (last_s, _, last_cpu_s) = steady[0], steady[-1]
    span_s = max(last_s - first_s, 1e-9)
    games = sum(count for _, count, _ in steady) - first
    return games / span_s, (last_cpu_s - first_cpu_s) / span_s, bots_s


def runner_s() -> float:
    """CPU time of ourselves and of the workers that have ended."""
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class Simulated(WorkerPool):
    """Workers that have played at once whatever they are given."""

    def __init__(self) -> None:
        super().__init__()
        self.dice = random.Random(1)

    def room(self) -> int:
        return 4 - self.events.statistics().current_buffer_used

    async def give(self, job: worker_messages.Job) -> None:
        games = [
            worker_messages.PlayedGame(game.key, a_line(game.key, game.bots, game.seed, self.dice), bytes(500))
            for game in job.games
        ]
        for first in range(0, len(games), 64):
            await self._send.send(worker_messages.Played(job.number, games[first : first + 64]))
        await self._send.send(worker_messages.Done(job.number, 2e-4 * len(games)))

    async def enter(self, contest: worker_messages.Contest, bots: Sequence[Entry]) -> None:
        pass

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        pass


def driven(folder: Path, games: int) -> list[float]:
    """Returns the driver's CPU time per game in each part of a tournament of that many games, in microseconds."""
    plan = plan_of_twenty(games)
    opened = Ledger(folder, {})
    run = TournamentGames(plan, opened, Book())
    part = max(1, games // SPANS)
    marks: list[tuple[int, float]] = [(0, time.process_time())]
    played = 0

    def on_lines(lines: list[bytes]) -> None:
        nonlocal played
        played += len(lines)
        if played >= marks[-1][0] + part:
            marks.append((played, time.process_time()))

    run.on_lines = on_lines

    async def drive() -> None:
        await run.play(Simulated(), trio.Event())

    trio.run(drive)
    opened.close()
    return [1e6 * (later[1] - sooner[1]) / (later[0] - sooner[0]) for sooner, later in pairwise(marks)]


KINDS = (((1, 2), (1.0, 0.0)), ((2, 1), (0.0, 1.0)), ((1, 1), (0.5, 0.5)))


def a_line(key: str, idents: tuple[str, ...], seed: int, dice: random.Random, after_s: float = 0.0) -> bytes:
    """A game that nobody has played."""
    ranks, points = dice.choice(KINDS)
    line = Line(
        key, idents, seed, ranks, points, "three_in_a_row", 7, 1, (61, 58), (40, 39),
        f"{dice.getrandbits(64):016x}", round(1790000000.123456 + after_s, 6), "host:0",
    )  # fmt: skip
    return msgspec.json.encode(line)


def plan_of_twenty(games: int) -> Plan:
    """A round robin of twenty bots, of about so many games."""
    bots = identified([Entry(f"b{n}", "", f"{n:064x}"[::-1], f"cmd:{n}") for n in range(20)])
    found = registry.game("tictactoe")
    each = 2 * max(1, games // 380)
    return Plan("tictactoe", "round-robin", 1, bots, games=each, time=found.time, version=found.version)


def read_large(folder: Path, lines: int) -> dict[str, float]:
    """A ledger of a tournament of twenty bots over a month, read in a new process.

    Returns the seconds and MiB to read it and to make its table, and those to write its pages.
    """
    plan = plan_of_twenty(lines)
    keys, opened, dice = Keys(plan), Ledger(folder, {}), random.Random(1)
    batch: list[tuple[bytes, bytes | None]] = []
    for number, game in enumerate(plan.scheduled_games({})):
        assert game is not None
        idents = tuple(keys.idents[bot] for bot in game.seats)
        batch.append((a_line(keys.key(game), idents, keys.seed(game), dice, MONTH_S * number / lines), None))
        if len(batch) == 1000:
            opened.append(batch)
            batch = []
    opened.append(batch)
    opened.close()
    (folder / "plan.json").write_bytes(msgspec.json.encode(plan))
    code = f"from referee.benchmarks.tournament import measured; measured({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def measured(folder: str) -> None:
    """Reads and tables a ledger in this process, writes its pages, and prints what it took."""
    plan = msgspec.json.decode(Path(folder, "plan.json").read_bytes(), type=Plan)
    started, cpu_s = time.monotonic(), time.process_time()
    found = standings.standings(plan, reader.read(Path(folder)))
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {
        "games": found.played,
        "seconds": time.monotonic() - started,
        "CPU seconds": time.process_time() - cpu_s,
        "MiB": peak_mib,
    }
    started, cpu_s = time.monotonic(), time.process_time()
    site.write(plan, Path(folder), Path(folder, "site"))
    figures["pages, seconds"] = time.monotonic() - started
    figures["pages, CPU seconds"] = time.process_time() - cpu_s
    figures["pages, MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures))


def measure(seconds: float, lines: int, workers: int | None) -> dict[str, Any]:
    """All rows."""
    figures: dict[str, Any] = {"load before": os.getloadavg()[0]}
    with TemporaryDirectory(prefix="referee-") as scratch:
        for number, (name, setting) in enumerate(ROWS.items()):
            folder = Path(scratch, str(number))
            folder.mkdir()
            figures[name] = played(setting, folder, seconds, workers)
        figures["the driver"] = driven(Path(scratch, "driven"), lines)
        figures["a ledger"] = read_large(Path(scratch, "large"), lines)
    return figures


def table(figures: dict[str, Any]) -> str:
    """As Markdown."""
    lines = [
        "| tournaments, all physical cores | games a second | driver, of a core | runner, of all CPU |",
        "| --- | --- | --- | --- |",
    ]
    for name in ROWS:
        rate, driver, runner = figures[name].values()
        lines.append(f"| {name} | {rate:,.0f} | {driver:.2f} | {runner:.0%} |")
    first, last = figures["the driver"][0], figures["the driver"][-1]
    lines.append(
        f"\nOf {figures['a ledger']['games']:,.0f} games on simulated workers each takes {first:.0f} µs of the "
        f"driver's "
        f"CPU time in the first tenth and {last:.0f} in the last."
    )
    large = figures["a ledger"]
    lines.append(
        f"\nA ledger of {large['games']:,.0f} games is read and tabled in {large['seconds']:.1f} s "
        f"({large['CPU seconds']:.1f} s of CPU) and {large['MiB']:.0f} MiB. Its pages take "
        f"{large['pages, seconds']:.1f} s ({large['pages, CPU seconds']:.1f} s of CPU) and "
        f"{large['pages, MiB']:.0f} MiB. "
        f"The machine's load before: {figures['load before']:.1f}."
    )
    return "\n".join(lines)


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    print(json.dumps(measure(given.seconds, given.lines, given.workers)))


if __name__ == "__main__":
    main()
