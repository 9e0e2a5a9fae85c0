"""Prints all benchmarks as Markdown: `python -m referee.benchmarks`.

They measure the cost of a turn and of a match, pinned to one core and free, the cost of a game of `referee play`, the
cost of a call in each starter kit, the speed of the engines, and the time from an edit to a match.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from referee.benchmarks.calls import Figures, ratios

YARDSTICK = "bare trio streams"
PINNED, FREE = "taskset -c {core} {python} -m {module}", "{python} -m {module}"
PARTS = {
    "command": PINNED,
    "training": f"{PINNED} --json",
    "kits": f"{PINNED} --json",
    "metered": f"{FREE} --json",
    "tournament": FREE,
    "cluster": f"{FREE} --json",
    "edits": f"{FREE} --json",
}
"""The modules with a table, and how each is run. One that measures an add-on goes with it."""


def main() -> None:
    """Prints the machine, the table of calls, ratios first, and those of the engines and of the kits."""
    core = str(max(os.sched_getaffinity(0)))
    if shutil.which("taskset") is None:
        sys.exit("the benchmark pins itself with taskset, which is not on this machine (Debian: util-linux)")
    print(f"{machine()}\n", flush=True)
    pinned = run(["taskset", "-c", core, sys.executable, "-m", "referee.benchmarks.calls"])
    free = run([sys.executable, "-m", "referee.benchmarks.calls"])
    print(table_of_calls(pinned, free), flush=True)
    engines = run(["taskset", "-c", core, sys.executable, "benchmarks/engines.py", "--json"])
    print(f"\n{table_of_engines(engines)}", flush=True)
    for name, line in PARTS.items():
        if find_spec(f"referee.benchmarks.{name}"):
            module = import_module(f"referee.benchmarks.{name}")
            words = {"core": core, "python": sys.executable, "module": module.__name__}
            print(f"\n{module.table(run([word.format_map(words) for word in line.split()]))}", flush=True)


def machine() -> str:
    """The processor, the system and the Python that the figures belong to."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0] if names else platform.processor()}, {len(names)} cores, {memory_gib:.0f} GiB, "
        f"{platform.system()} {platform.release().split('-')[0]}, Python {platform.python_version()}"
    )


def run(command: list[str]) -> Any:
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def table_of_calls(pinned: Figures, free: Figures) -> str:
    """The figures to look at are the ratio of the pinned run and the CPU time of the referee itself."""
    lines = [
        f"| | × {YARDSTICK}, one core | µs, one core | of it our own CPU | × free | µs free |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    pinned_ratios, free_ratios = ratios(pinned, YARDSTICK), ratios(free, YARDSTICK)
    for name, values in pinned.items():
        if not values:
            lines.append(f"| {name} | not installed | | | | |")
            continue
        lines.append(
            f"| {name} | {pinned_ratios[name]:.2f} | {median(wall for wall, _ in values):.1f} "
            f"| {median(own for _, own in values):.1f} "
            f"| {free_ratios[name]:.2f} | {median(wall for wall, _ in free[name]):.1f} |"
        )
    return "\n".join(lines)


def table_of_engines(engines: dict[str, dict[str, dict[str, float]]]) -> str:
    """Calls per second on one core; medians. Somebody else's engine may lack operations of ours."""
    operations = list(next(iter(engines.values())))
    lines = [
        "| engine, calls a second on one core | " + " | ".join(operations) + " |",
        "| --- |" + " --- |" * len(operations),
    ]
    for game, rates in engines.items():
        cells = [figure(rates[operation]["median"]) if operation in rates else "" for operation in operations]
        lines.append(f"| {game} | {' | '.join(cells)} |")
    return "\n".join(lines)


def figure(rate: float) -> str:
    """With a decimal where it counts."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


if __name__ == "__main__":
    main()
