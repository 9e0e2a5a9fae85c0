"""The cost of a call in each starter kit: a ReAntics state parsed, dispatched to the bot and answered.

    python -m referee.benchmarks.kits [--json] [--calls N] [KIT …]

The bot is the kit's template, which plays a random legal move. The figure is the CPU time of its process, threads
included, over calls that come one after another, in either encoding. A block of rounds is repeated until it is no
faster than the one before: the JIT compiler of Java works for some 30,000 calls, in threads of the same process. Kits
that this machine cannot build are left out, by name.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from referee.games import reantics
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.common.paths import KITS
from referee.harness.process.usage import cpu_clock, cpu_ns
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import environment, scratch_variables
from referee.harness.programs.spec import entrant
from referee.protocol.connection import AnswerDecoder, Connection
from referee.protocol.messages import NEED_DATA, Clock, Encoding, Initialize, Limits
from referee.tools.toolchains import TOOLCHAINS, missing

ROUNDS = 7  # a block
FEWEST_BLOCKS, MOST_BLOCKS = 4, 12
FASTER = 0.95  # of the time of the block before: the process is still warming up
CALLS = 1000  # a round
TURNS = 60  # answers into a random match: placements are done, ants are about
CLOCK = Clock(1000, None, None)
DECODER = AnswerDecoder(reantics.Move)


def main() -> None:
    """Prints a Markdown table, or with --json one object: kit -> encoding -> microseconds per call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kits", nargs="*", metavar="KIT", help="default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--calls", type=int, default=CALLS, help="a round")
    arguments = parser.parse_args()
    # `python3` is this interpreter, as in an activated environment: so it has msgpack.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    figures = measured(arguments.kits or sorted(folder.parent.parent.name for folder in templates()), arguments.calls)
    print(json.dumps(figures) if arguments.json else table(figures))


def templates() -> list[Path]:
    """The folders of the kits' ReAntics templates."""
    return sorted(KITS.glob("*/examples/my_reantics"))


def measured(kits: list[str], calls: int) -> dict[str, dict[str, float]]:
    """Microseconds of CPU time per call, the median of the last block."""
    found: dict[str, dict[str, float]] = {}
    for kit in kits:
        lacking = missing(kit) if kit in TOOLCHAINS else []
        if lacking:
            print(f"{kit}: left out, this machine lacks {', '.join(lacking)}", file=sys.stderr)
            continue
        bot = entrant(str(KITS / kit / "examples/my_reantics"))
        found[kit] = {encoding: cost(bot, encoding, calls) for encoding in Encoding}
    return found


def cost(bot: Entrant, encoding: Encoding, calls: int) -> float:
    """Microseconds per call of a process that has warmed up."""
    with tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            bot.argv,
            cwd=bot.cwd,
            env=environment() | scratch_variables(Path(scratch)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        player = _Player(process, encoding)
        medians = [statistics.median([player.round(calls) for _ in range(ROUNDS)]) for _ in range(FEWEST_BLOCKS)]
        while medians[-1] < FASTER * medians[-2] and len(medians) < MOST_BLOCKS:
            medians.append(statistics.median([player.round(calls) for _ in range(ROUNDS)]))
        process.communicate(timeout=10)
    return medians[-1]


class _Player:
    """Asks one bot, as the referee would."""

    def __init__(self, process: subprocess.Popen[bytes], encoding: Encoding) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.clock = cpu_clock(process.pid)
        self.write_to, self.read_from = process.stdin.fileno(), process.stdout.fileno()
        self.wire = Connection()
        seed = 1
        hello = Initialize(1, "reantics", {}, 0, ("mine", "theirs"), (encoding,), Limits(10_000), seed)
        self._write(self.wire.initialize(hello))
        while self.wire.handshake() is None:
            self.wire.receive(os.read(self.read_from, 1 << 16))
        self.params = self.wire.encode(position(seed))

    def round(self, calls: int) -> float:
        """Microseconds of CPU time of each of these calls."""
        before = cpu_ns(self.clock)
        for _ in range(calls):
            self.call()
        return (cpu_ns(self.clock) - before) / calls / 1000

    def call(self) -> None:
        """One getMove."""
        self._write(self.wire.call("getMove", self.params, CLOCK))
        while (answer := self.wire.answer(DECODER)) is NEED_DATA:
            self.wire.receive(os.read(self.read_from, 1 << 16))
        if not isinstance(answer, reantics.Move):
            raise RuntimeError(f"the template answered {answer}")

    def _write(self, frame: bytes) -> None:
        os.write(self.write_to, frame)


def position(seed: int) -> Any:
    """The parameters of a getMove in the middle of a random match."""
    state, dice = reantics.GAME.new(Setup(seed, ("mine", "theirs"), reantics.Options())), Dice(seed)
    for turn in itertools.count():
        (call,) = state.calls()
        if turn >= TURNS and call.method.name == "getMove":
            return call.params
        state.apply({call.player: state.sample(call.player, dice)})
    raise AssertionError


def table(figures: Mapping[str, Mapping[str, float]]) -> str:
    """One row a kit, with the ratio to the C++ kit's where that was measured too."""
    lines = [
        "| one call in a kit, µs of CPU time | " + " | ".join(Encoding) + " | × C++, json |",
        "| --- |" + " --- |" * (len(Encoding) + 1),
    ]
    base = figures.get("cpp", {}).get(Encoding.JSON)
    for kit, costs in figures.items():
        ratio = "" if base is None else f"{costs[Encoding.JSON] / base:.2f}"
        lines.append(f"| {kit} | " + " | ".join([f"{costs[each]:.1f}" for each in Encoding]) + f" | {ratio} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
