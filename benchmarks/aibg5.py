"""The cost of a call in AIBG 5, whose state is the largest: four bots of the C++ kit that parse it and answer at once.

CPU time, the referee's own against that of a bot, per call of whole matches: everything the referee does, the checks,
the boss and the replay included, against everything the bot does, which is hardly more than to parse.

`python -m referee.benchmarks.aibg5` measures where the kernel places the processes; under `taskset -c N` on one core.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trio

from referee.benchmarks.calls import BOTS
from referee.games import registry
from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.protocol.messages import Encoding

ROUNDS = 5
GAME_ROUNDS = 300


def compiled(folder: Path) -> Path:
    """The program of bots/aibg5_parser.cpp."""
    program = folder / "aibg5_parser"
    compiler = ["g++", "-std=c++17", "-O2", "-I", str(KITS / "cpp" / "include")]
    sources = [str(KITS / "cpp" / "src" / f"{part}.cpp") for part in ("wire", "frames", "aibg5")]
    subprocess.run([*compiler, "-o", str(program), str(BOTS / "aibg5_parser.cpp"), *sources], check=True)
    return program


async def measure(folder: Path, rounds: int, game_rounds: int) -> dict[str, dict[str, float]]:
    """Encoding -> microseconds of CPU time per call, of the referee and of a bot: medians of the rounds."""
    program = compiled(folder)
    figures: dict[str, dict[str, float]] = {}
    async with open_roster(Limits(isolation=OFF)) as roster:
        for encoding in Encoding:
            match = prepared(program, encoding, folder, game_rounds)
            await one(match, roster)  # the first match warms up
            measured = [await one(match, roster) for _ in range(rounds)]
            referee, bot = (statistics.median(part) for part in zip(*measured, strict=True))
            figures[encoding] = {"referee": referee, "bot": bot}
    return figures


def prepared(program: Path, encoding: Encoding, folder: Path, game_rounds: int) -> Match:
    """A match of four, whose replay is written."""
    game = registry.game("aibg5")
    entrants = tuple([Entrant(f"{seat}-{encoding}", (str(program),), folder) for seat in "abcd"])
    options = game.options(rounds=game_rounds)
    return Match(game, entrants, 1, options, game.time, (encoding,), folder / f"{encoding}.jsonl")


async def one(match: Match, roster: Roster) -> tuple[float, float]:
    """Microseconds of CPU time per call: the referee's own, a bot's."""
    before = time.process_time()
    verdict = await play(match, roster)
    own = time.process_time() - before
    if verdict.faults:
        raise RuntimeError(f"the benchmark's own bot is at fault: {verdict.faults[0].detail}")
    calls = sum(seat.calls for seat in verdict.seats)
    return own / calls * 1e6, sum(seat.cpu_s for seat in verdict.seats) / calls * 1e6


def table_of_aibg5(figures: dict[str, dict[str, float]]) -> str:
    """One row an encoding; the ratio is the figure to look at."""
    lines = [
        "| a call of AIBG 5, CPU time | referee ÷ bot | µs, the referee's own | µs, a C++ bot that parses |",
        "| --- | --- | --- | --- |",
    ]
    for encoding, figure in figures.items():
        referee, bot = figure["referee"], figure["bot"]
        lines.append(f"| {encoding} | {referee / bot:.2f} | {referee:.0f} | {bot:.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Prints one JSON object: encoding -> referee and bot -> microseconds per call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often a match is measured")
    parser.add_argument("--game-rounds", type=int, default=GAME_ROUNDS, help="how long a match is")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        json.dump(trio.run(measure, Path(folder), arguments.rounds, arguments.game_rounds), sys.stdout)


if __name__ == "__main__":
    main()
