"""Measures microseconds, in one run: bare pipes, bare trio streams, the referee, and environments of other libraries.

The referee's cost is split in two. A turn is a played call in the middle of a match: the request written, the answer
read, checked, applied and recorded, and the notices that it leads to. A match is its cost without the turns, both
greetings included. Both come from a round of short and long matches with the same bots, by two equations for the
medians. The bots are instant, or think for a while. They are started before the clock and used again.

An environment's step is an action and the observation after it, without any bot, in a process of another interpreter:
`ENVIRONMENTS_PYTHON`, default: this one. Where it lacks a package, its rows are empty.

The variants take turns, round by round, and a ratio is the median of the rounds' ratios, so that a machine that changes
its speed changes no ratio. The CPU time of the process, which is the referee's own, has its own column: instant bots
hide the cost of a real wait, and with bots that think the wall time is their own.

`python -m referee.benchmarks.calls` measures where the kernel places the processes; under `taskset -c N` on one core.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import trio

from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.protocol.messages import Encoding

BOTS = Path(__file__).parent / "bots"
ENVIRONMENTS = Path(__file__).with_name("environments.py")
ROUNDS = 7
PING_PONGS = 3000
PAIRS = {"tictactoe": 250, "reantics": 3}
"""Short and long matches a round, of each."""
ORDERS = "031425678", "021354687"
"""Both bots take the cells in this order: a win after 5 turns and a draw after 9."""
DRAW_AFTER = 20, 1000
"""The draw limits of ReAntics' matches. Its bots only end their turns, so this is the number of turns, less 6."""
THINKING_US = {100: 100, 1000: 25}
"""How long bots that think do so, each with its pairs of matches of tic-tac-toe a round."""
LINE = b"x" * 99 + b"\n"


class Cost(NamedTuple):
    """In microseconds."""

    wall: float
    own: float
    """CPU time of the process that measures."""


Measure = Callable[[], Awaitable[dict[str, Cost | None]]]
"""One round of a variant: its rows, None = not installed."""
Figures = dict[str, list[Cost]]
"""By row, a figure a round. No figures: not installed."""


def compiled(source: str, folder: Path) -> Path:
    """The program of a file in bots/."""
    compiler = ["g++", "-std=c++17"] if source.endswith(".cpp") else ["gcc"]
    program = folder / Path(source).stem
    subprocess.run([*compiler, "-O2", "-o", str(program), str(BOTS / source)], check=True)
    return program


async def measure(folder: Path, rounds: int) -> Figures:
    """The rows of all variants."""
    async with AsyncExitStack() as stack:
        echo = compiled("echo.c", folder)
        roster = await stack.enter_async_context(open_roster(Limits(isolation=OFF)))
        variants = [blocking(echo), streams(await stack.enter_async_context(_running([echo])))]
        programs = {game: str(compiled(f"{game}_instant.cpp", folder)) for game in PAIRS}
        for encoding in Encoding:
            command = programs["tictactoe"], "0", *ORDERS
            variants.append(referee(roster, "tictactoe", command, encoding, folder))
        for encoding in Encoding:
            variants.append(referee(roster, "reantics", (programs["reantics"],), encoding, folder))
        for thinks, pairs in THINKING_US.items():
            command = programs["tictactoe"], str(thinks), *ORDERS
            variants.append(referee(roster, "tictactoe", command, Encoding.JSON, folder, thinks, pairs))
        python = os.environ.get("ENVIRONMENTS_PYTHON", sys.executable)
        variants.append(environments(await stack.enter_async_context(_running([python, ENVIRONMENTS]))))
        figures: Figures = {}
        for number in range(rounds + 1):
            for variant in variants:
                for name, figure in (await variant()).items():
                    row = figures.setdefault(name, [])
                    if number and figure is not None:  # the first round warms up
                        row.append(figure)
    return figures


def blocking(program: Path) -> Measure:
    """os.write, os.read: the floor."""

    async def round() -> dict[str, Cost | None]:
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        write_to, read_from = process.stdin.fileno(), process.stdout.fileno()
        started = _now()
        for _ in range(PING_PONGS):
            os.write(write_to, LINE)
            os.read(read_from, 65536)
        cost = _since(started, PING_PONGS)
        process.communicate()
        return {"bare blocking pipes": cost}

    return round


def streams(process: trio.Process) -> Measure:
    """send_all, receive_some: what any trio program pays. The yardstick."""

    async def round() -> dict[str, Cost | None]:
        assert process.stdin is not None and process.stdout is not None
        started = _now()
        for _ in range(PING_PONGS):
            await process.stdin.send_all(LINE)
            await process.stdout.receive_some(65536)
        return {"bare trio streams": _since(started, PING_PONGS)}

    return round


def _now() -> Cost:
    return Cost(time.perf_counter() * 1e6, time.process_time() * 1e6)


def _since(started: Cost, calls: int = 1) -> Cost:
    now = _now()
    return Cost((now.wall - started.wall) / calls, (now.own - started.own) / calls)


class _running:
    """A running program with trio's own streams."""

    def __init__(self, command: list[str | Path]) -> None:
        self.command = command

    async def __aenter__(self) -> trio.Process:
        self.process = await trio.lowlevel.open_process(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self.process

    async def __aexit__(self, *_: object) -> None:
        self.process.kill()
        await self.process.wait()


def environments(process: trio.Process) -> Measure:
    """A step of other libraries' environments, measured by `environments.py`."""

    async def round() -> dict[str, Cost | None]:
        assert process.stdin is not None and process.stdout is not None
        await process.stdin.send_all(b"\n")
        line = b""
        while not line.endswith(b"\n"):
            if not (piece := await process.stdout.receive_some(65536)):
                raise RuntimeError(f"{ENVIRONMENTS.name} has ended; its error is above")
            line += piece
        return {name: cost and Cost(*cost) for name, cost in json.loads(line).items()}

    return round


def referee(
    roster: Roster,
    game_name: str,
    command: tuple[str, ...],
    encoding: Encoding,
    folder: Path,
    thinks_us: int = 0,
    pairs: int = 0,
) -> Measure:
    """Whole matches: clock, CPU accounting, checks, notices and the replay included.

    Bots that think have no row for the match, which costs what it costs with instant ones.
    """
    game = registry.game(game_name)
    entrants = tuple(Entrant(f"{seat}-{encoding}", command, folder) for seat in "ab")
    # Bots of tic-tac-toe change the length themselves, from match to match.
    options = (
        [game.options(draw_after=turns) for turns in DRAW_AFTER] if game_name == "reantics" else [game.options()] * 2
    )
    replay = folder / "match.jsonl"  # one for all matches: a roster looks at all names so far before each match
    name = f"{game_name}, {encoding}" + (f", bots that think {thinks_us} µs" if thinks_us else "")

    async def round() -> dict[str, Cost | None]:
        costs: tuple[list[Cost], list[Cost]] = [], []
        turns = [0, 0]
        for number in range(2 * (pairs or PAIRS[game_name])):
            which = number % 2
            match = Match(game, entrants, number, options[which], game.time, (encoding,), replay)
            started = _now()
            verdict = await play(match, roster)
            costs[which].append(_since(started))
            replay.unlink()
            if verdict.faults:
                raise RuntimeError(f"the benchmark's own bot is at fault: {verdict.faults[0].detail}")
            turns[which] = sum(seat.calls for seat in verdict.seats)
        short, long = [Cost(*map(statistics.median, zip(*each, strict=True))) for each in costs]
        extra = turns[1] - turns[0]
        turn = Cost((long.wall - short.wall) / extra, (long.own - short.own) / extra)
        once = Cost(short.wall - turns[0] * turn.wall, short.own - turns[0] * turn.own)
        rows: dict[str, Cost | None] = {f"a turn, {name}": turn}
        return rows if thinks_us else {**rows, f"a match, {name}": once}

    return round


def main() -> None:
    """Prints one JSON object: row -> microseconds, a pair of wall and own CPU time a round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    # Replays go to memory: a new file on a disk costs up to 0.25 ms a match, which is the disk's figure, not ours.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        json.dump(trio.run(measure, Path(folder), rounds), sys.stdout)


def ratios(figures: Figures, yardstick: str) -> dict[str, float]:
    """The median of every row's ratios of wall time to the yardstick of the same round. No row that is empty."""
    return {
        name: statistics.median(value[0] / base[0] for value, base in zip(values, figures[yardstick], strict=True))
        for name, values in figures.items()
        if values
    }


if __name__ == "__main__":
    main()
