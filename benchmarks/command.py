"""Measures the CPU time that a game costs the command that people type: `referee play` with a series of tic-tac-toe.

It is the difference between a long series and a short one, divided by the additional games, so that starting up does
not count. It includes everything that the command does from one game to the next, and the bots, which are instant.

`python -m referee.benchmarks.command [--rounds N] [--games N]` prints the microseconds as JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from referee.benchmarks.calls import ORDERS, compiled

ROWS = {
    "without replays": ("--jobs", "1", "--replay", "none"),
    "with replays": ("--jobs", "1"),
    "two workers, without replays": ("--jobs", "2", "--replay", "none"),
}
"""The options of each row."""
SHORT = 50
"""Games of the short series, which starts every worker."""


def measure(rounds: int, games: int, folder: Path) -> dict[str, list[float]]:
    """Returns a figure a round of every row; the rows take turns."""
    program = compiled("tictactoe_instant.cpp", folder)
    bots = [f"{name}=cmd:{program} 0 {' '.join(ORDERS)}" for name in "AB"]
    figures: dict[str, list[float]] = {name: [] for name in ROWS}
    for _ in range(rounds):
        for name, options in ROWS.items():
            command = ["--game", "tictactoe", *bots, *options, "--isolation", "off", "--json", "--games"]
            costs = [user_s([*command, str(count)], folder) for count in (SHORT, SHORT + games)]
            figures[name].append((costs[1] - costs[0]) / games * 1e6)
    return figures


def user_s(words: list[str], folder: Path) -> float:
    """Runs `referee` and returns the user CPU time of it and of all processes that it has waited for."""
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said.decode(errors="replace"))
    return used.ru_utime


def table(figures: dict[str, list[float]]) -> str:
    """The medians."""
    lines = ["| `referee play --game tictactoe --games N`, per game | µs of user CPU, bots included |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {name} | {median(values):.0f} |" for name, values in figures.items())])


def main() -> None:
    """Prints one JSON object: row -> microseconds a game, a figure a round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=2000)
    options = parser.parse_args()
    # Replays go to memory: what a new file costs is the disk's figure, not ours.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        json.dump(measure(options.rounds, options.games, Path(folder)), sys.stdout)


if __name__ == "__main__":
    main()
