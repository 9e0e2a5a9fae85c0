"""Measures what metering costs: the same instant bot as a native program and as a module, in one run.

`python -m referee.benchmarks.metered [--json] [--steps N]`. The rows are a call, of which the referee's own CPU time
and the bot's are parts, and the CPU time of a start from the cache. The two bots take turns, and a ratio is the median
of the rounds' ratios. Memory-bound code is the worst that fuel does not see: a module that follows pointers through
256 MiB.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import trio
from wasmtime import wat2wasm

from referee.addons.wasm import runner
from referee.addons.wasm.frames import CALL, ENDED, GO_ON, MATCH, NO_LIMIT, Channel
from referee.addons.wasm.prices import UNITS_PER_S
from referee.benchmarks.calls import BOTS, compiled
from referee.games import registry
from referee.games.contract import Setup
from referee.games.game import TimeControl
from referee.harness.isolation.plan import OFF
from referee.harness.match.turn import Driver
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.random_seat import RandomSeat
from referee.harness.seats.roster import Roster, open_roster
from referee.protocol.messages import Encoding
from referee.tools.toolchains import missing

ROUNDS, CALLS, STARTS = 7, 1000, 10
STEPS = 2_000_000
"""Pointers that are followed."""
CHASE = f"""(module (memory (export "memory") 4097)
  (func (export "_start") (local $i i32) (local $p i32)
    (loop $fill
      (i32.store (i32.shl (local.get $i) (i32.const 6))
        (i32.shl (i32.and (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223))
          (i32.const 4194303)) (i32.const 6)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $fill (i32.lt_u (local.get $i) (i32.const 4194304))))
    (local.set $i (i32.const {{steps}}))
    (loop $follow
      {"(local.set $p (i32.load (local.get $p)))" * 8}
      (local.set $i (i32.sub (local.get $i) (i32.const 8)))
      (br_if $follow (i32.gt_s (local.get $i) (i32.const 0))))))"""
"""One pointer in every 64 bytes of 256 MiB, each to another place."""


async def calls(bots: dict[str, Entrant]) -> dict[str, list[tuple[float, float, float]]]:
    """Returns by bot and round: microseconds of a call, of it our own CPU time, and the bot's CPU time."""
    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in bots}
    async with open_roster(Limits(isolation=OFF)) as roster:
        seats = {name: await _greeted(roster, bot) for name, bot in bots.items()}
        for number in range(ROUNDS + 1):
            for name, (seat, driver) in seats.items():
                call = driver.state.calls()[0]
                clock = driver.shown_clock(call)
                before = time.perf_counter(), time.process_time(), seat.program.cpu_ns() / 1e9
                for _ in range(CALLS):
                    await seat.ask(call, clock, 5.0)
                after = time.perf_counter(), time.process_time(), seat.program.cpu_ns() / 1e9
                if number:  # the first round warms up
                    wall, own, bot = ((now - then) * 1e6 / CALLS for then, now in zip(before, after, strict=True))
                    figures[name].append((wall, own, bot))
    return figures


async def _greeted(roster: Roster, bot: Entrant) -> tuple[Bot, Driver]:
    game, seat = registry.game("connectfour"), await roster.start(bot)
    driver = Driver(game, Setup(1, ("a", "b"), game.options()), TimeControl(per_call_s=5.0))
    driver.seats += [seat, RandomSeat()]
    await driver.greet(0, roster.limits, (Encoding.JSON,), 1)
    driver.state.opening()
    return seat, driver


def start_ms(bot: Entrant) -> float:
    """Returns the CPU time of a process that ends as soon as it has started."""
    argv = runner.started(bot.argv, None)

    def run() -> None:
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=bot.cwd, check=False)

    return statistics.median(_cpu_s(run) * 1000 for _ in range(STARTS))


async def memory_bound(folder: Path, most_steps: int) -> float:
    """Returns how many seconds it takes to follow pointers for one second of fuel."""
    costs = []
    for steps in (8, most_steps):
        module = folder / f"chase{steps}.wasm"
        module.write_bytes(wat2wasm(CHASE.format(steps=steps)))
        async with open_roster(Limits(isolation=OFF, memory_bytes=512 << 20)) as roster:
            seat = await roster.start(entrant(str(module)))
            game = registry.game("connectfour")
            driver = Driver(game, Setup(1, ("a", "b"), game.options()), TimeControl(per_call_s=5.0))
            driver.seats += [seat, RandomSeat()]
            started = time.perf_counter()
            await driver.greet(0, roster.limits, (Encoding.JSON,), 1)
            costs.append((time.perf_counter() - started, int(driver.costs[0].measured["fuel"])))
    (short_s, short), (long_s, long) = costs
    return (long_s - short_s) / ((long - short) / UNITS_PER_S)


KERNELS = ("paths", "sieve", "queens", "matrix")
COMPUTE_ROUNDS = 3


def compute(folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Returns by kernel and round the CPU seconds of the native program and of the module; empty without clang."""
    clang = shutil.which("clang-19")
    if clang is None or missing("c-wasm"):
        return {}
    program, module = compiled("kernels.c", folder), folder / "kernels.wasm"
    command = [clang, "--target=wasm32-wasi", "-O2", "-msimd128", "-o", str(module), str(BOTS / "kernels.c")]
    subprocess.run(command, check=True)
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in KERNELS}
    for _ in range(COMPUTE_ROUNDS):
        start_s = _module_s(module, "nothing")
        for name in KERNELS:
            native_s = _cpu_s(partial(subprocess.run, [str(program), name], stdout=subprocess.DEVNULL))
            figures[name].append((native_s, _module_s(module, name) - start_s))
    return figures


def _module_s(module: Path, kernel: str) -> float:
    """Returns the CPU time of the runner that runs a kernel."""
    argv = runner.started(runner.command(module, BuildContext(), (kernel,)), None)

    def play() -> None:
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as runner:
            assert runner.stdin is not None and runner.stdout is not None
            channel = Channel(runner.stdout.fileno(), runner.stdin.fileno())
            channel.send(MATCH, 1)
            channel.send(CALL, NO_LIMIT)
            while channel.receive().kind != ENDED:
                channel.send(GO_ON, 0)

    return _cpu_s(play)


def _cpu_s(run: Callable[[], object]) -> float:
    """Returns the CPU time of the programs that `run` starts and awaits."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def measure(steps: int) -> dict[str, Any]:
    """Returns all figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        module = folder / "constant.wasm"
        module.write_bytes(wat2wasm((BOTS / "constant.wat").read_text()))
        bots = {"native": entrant(str(compiled("constant.c", folder))), "metered": entrant(str(module))}
        return {
            "calls": await calls(bots),
            "start_ms": {each: start_ms(bot) for each, bot in bots.items()},
            "memory_bound": await memory_bound(folder, steps),
            "compute": compute(folder),
        }


def table(figures: dict[str, Any]) -> str:
    """Returns the figures as Markdown."""
    native, metered = figures["calls"]["native"], figures["calls"]["metered"]

    def row(name: str, place: int) -> str:
        ratio = statistics.median(two[place] / one[place] for one, two in zip(native, metered, strict=True))
        one, two = (statistics.median(each[place] for each in rounds) for rounds in (native, metered))
        return f"| {name} | {one:.1f} µs | {two:.1f} µs | {ratio:.1f} |"

    start = figures["start_ms"]
    kernels = []
    for name, rounds in figures["compute"].items():
        ratio = statistics.median(module_s / native_s for native_s, module_s in rounds)
        native_s, module_s = (statistics.median(each) for each in zip(*rounds, strict=True))
        kernels.append(f"| computing: {name} | {native_s:.2f} s | {module_s:.2f} s | {ratio:.1f} |")
    return "\n".join(
        [
            "| | native | metered | ratio |",
            "| --- | --- | --- | --- |",
            row("an instant call", 0),
            row("of it the referee's own CPU time", 1),
            row("of it the bot's CPU time", 2),
            f"| CPU time of a start | {start['native']:.1f} ms | {start['metered']:.1f} ms | |",
            f"| following pointers through 256 MiB, seconds a second of fuel | | {figures['memory_bound']:.0f} | |",
            *kernels,
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--steps", type=int, default=STEPS, help="pointers that are followed")
    figures = trio.run(measure, parser.parse_args().steps)
    sys.stdout.write((json.dumps(figures) if parser.parse_args().json else table(figures)) + "\n")
