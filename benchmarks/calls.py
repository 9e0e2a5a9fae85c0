"""Measures microseconds per call, in one run: bare pipes, bare trio streams, and the whole referee.

The referee plays with instant bots and with bots that think. A call is a request written and an answer read; with the
referee also checked, applied and recorded, with the notices that it leads to: all that a match does, the greetings
included, divided by its requests. Bots are started before the clock and used again. The variants take turns, round by
round, and a ratio is the median of the rounds' ratios, so that a machine that changes its speed changes no ratio. The
CPU time of this process, which is the referee's own, stands apart: instant bots hide what a real wait costs, and to
bots that think the wall time is their own.

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

import msgspec
import trio

from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.match.series import Series, match_of
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.protocol.messages import Encoding

BOTS = Path(__file__).parent / "bots"
ROUNDS = 7
PING_PONGS = 3000
MATCHES = {"tictactoe": 250, "reantics": 3}
"""Matches a round. One of ReAntics between bots that only end their turns is 2,006 calls, up to the draw limit."""
THINKING_US = {100: 100, 1000: 25}
"""How long bots that think do so, each with its matches of tic-tac-toe a round."""
LINE = b"x" * 99 + b"\n"


class Cost(NamedTuple):
    """Of one call, in microseconds."""

    wall: float
    own: float
    """CPU time of this process."""


Measure = Callable[[], Awaitable[Cost]]
"""One round."""
Figures = dict[str, list[Cost]]
"""By variant, a figure a round."""


def compiled(source: str, folder: Path) -> Path:
    """The program of a file in bots/."""
    compiler = ["g++", "-std=c++17"] if source.endswith(".cpp") else ["gcc"]
    program = folder / Path(source).stem
    subprocess.run([*compiler, "-O2", "-o", str(program), str(BOTS / source)], check=True)
    return program


async def measure(folder: Path, rounds: int) -> Figures:
    """The cost of a call in every variant."""
    async with AsyncExitStack() as stack:
        echo = compiled("echo.c", folder)
        roster = await stack.enter_async_context(open_roster(Limits(isolation=OFF)))
        variants: dict[str, Measure] = {
            "bare blocking pipes": blocking(echo),
            "bare trio streams": streams(await stack.enter_async_context(_echo(echo))),
        }
        for game in MATCHES:
            program = compiled(f"{game}_instant.cpp", folder)
            for encoding in Encoding:
                variants[f"referee, {game}, {encoding}"] = referee(roster, game, (str(program),), encoding, folder)
        program = folder / "tictactoe_instant"
        for thinks, matches in THINKING_US.items():
            name = f"referee, tictactoe, json, bots that think {thinks} µs"
            command = (str(program), str(thinks))
            variants[name] = referee(roster, "tictactoe", command, Encoding.JSON, folder, matches)
        figures: Figures = {name: [] for name in variants}
        for number in range(rounds + 1):
            for name, variant in variants.items():
                figure = await variant()
                if number:  # the first round warms up
                    figures[name].append(figure)
    return figures


def blocking(program: Path) -> Measure:
    """os.write, os.read: the floor."""

    async def round() -> Cost:
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        write_to, read_from = process.stdin.fileno(), process.stdout.fileno()
        started = _now()
        for _ in range(PING_PONGS):
            os.write(write_to, LINE)
            os.read(read_from, 65536)
        cost = _since(started, PING_PONGS)
        process.communicate()
        return cost

    return round


def streams(process: trio.Process) -> Measure:
    """send_all, receive_some: what any trio program pays. The yardstick."""

    async def round() -> Cost:
        assert process.stdin is not None and process.stdout is not None
        started = _now()
        for _ in range(PING_PONGS):
            await process.stdin.send_all(LINE)
            await process.stdout.receive_some(65536)
        return _since(started, PING_PONGS)

    return round


def _now() -> Cost:
    return Cost(time.perf_counter() * 1e6, time.process_time() * 1e6)


def _since(started: Cost, calls: int) -> Cost:
    now = _now()
    return Cost((now.wall - started.wall) / calls, (now.own - started.own) / calls)


class _echo:
    """A running echo program with trio's own streams."""

    def __init__(self, program: Path) -> None:
        self.program = program

    async def __aenter__(self) -> trio.Process:
        self.process = await trio.lowlevel.open_process([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self.process

    async def __aexit__(self, *_: object) -> None:
        self.process.kill()
        await self.process.wait()


def referee(
    roster: Roster, game_name: str, command: tuple[str, ...], encoding: Encoding, folder: Path, matches: int = 0
) -> Measure:
    """Whole matches: clock, CPU accounting, checks, notices and the replay included."""
    game = registry.game(game_name)
    entrants = tuple(Entrant(f"{seat}-{encoding}", command, folder) for seat in "ab")
    match = Match(game, entrants, 1, game.options(), game.time, (encoding,))
    series = Series(match, matches or MATCHES[game_name])

    async def round() -> Cost:
        replays = Path(tempfile.mkdtemp(dir=folder))
        calls = 0
        started = _now()
        for number in range(series.games):
            one, _ = match_of(series, number)
            verdict = await play(msgspec.structs.replace(one, replay=replays / f"{number}.jsonl"), roster)
            if verdict.faults:
                raise RuntimeError(f"the benchmark's own bot is at fault: {verdict.faults[0].detail}")
            calls += sum(seat.calls for seat in verdict.seats) + len(entrants)
        return _since(started, calls)

    return round


def main() -> None:
    """Prints one JSON object: variant -> microseconds per call, a pair of wall and own CPU time a round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    # Replays go to memory: a new file on a disk costs up to 0.25 ms a match, which is the disk's figure, not ours.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        json.dump(trio.run(measure, Path(folder), rounds), sys.stdout)


def ratios(figures: Figures, yardstick: str) -> dict[str, float]:
    """The median of every variant's ratios of wall time to the yardstick of the same round."""
    return {
        name: statistics.median(value[0] / base[0] for value, base in zip(values, figures[yardstick], strict=True))
        for name, values in figures.items()
    }


if __name__ == "__main__":
    main()
