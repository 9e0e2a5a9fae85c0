"""Measures what rules in another language cost: tic-tac-toe with our engine and with C++ rules, in one run.

`python -m referee.benchmarks.rules [--json] [--rounds N]`. A turn is a played call of an instant bot: the request, the
answer, the rules, the record and the notices. The variants take turns, and a ratio is the median of the rounds' ratios,
so that a machine that changes its speed changes no ratio.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import trio

from referee.benchmarks.calls import BOTS, ORDERS, Cost, compiled, referee
from referee.harness.adapters.rules.source import SOURCE
from referee.harness.isolation.plan import OFF
from referee.harness.paths import KITS
from referee.harness.process.limits import Limits
from referee.harness.seats.roster import open_roster
from referee.protocol.messages import Encoding

ROUNDS, PAIRS = 7, 100
LARGE = 650
"""Numbers of six characters in a position, which then has 4 kB."""
TOML = """
name = "tictactoe_rules"
run = ["./rules", "{padding}"]
[methods.play]
doc = "Your turn."
params = {{ type = "object", title = "Play", properties = {{ id = {{ type = "string" }} }}, required = ["id"] }}
result = {{}}
[notices.event]
doc = "Something happened."
params = {{ type = "object", title = "Event", properties = {{ youAre = {{}}, id = {{}}, player = {{}}, action = {{}},\
 position = {{}}, winner = {{}} }} }}
"""


def rules(folder: Path) -> Path:
    """Compiles the rules, and returns the program."""
    program, kit = folder / "rules", KITS / "cpp"
    sources = [BOTS / "tictactoe_rules.cpp", *[kit / "src" / f"{name}.cpp" for name in ("rules", "wire", "frames")]]
    subprocess.run(
        ["g++", "-std=c++17", "-O2", "-I", str(kit / "include"), "-o", str(program), *map(str, sources)], check=True
    )
    return program


def add_game(folder: Path, program: Path, name: str, padding: int) -> str:
    """Writes the folder of a game with these rules, and returns its path, which names the game."""
    place = folder / name
    place.mkdir()
    shutil.copy(program, place / "rules")
    (place / "game.toml").write_text(TOML.format(padding=padding))
    return str(place)


async def measure(folder: Path, rounds: int, program: Path) -> dict[str, list[Cost]]:
    """Returns the figures of a turn, by variant and round."""
    bot = str(compiled("tictactoe_instant.cpp", folder))
    games = {
        "our engine": "tictactoe",
        "C++ rules": add_game(folder, program, "small", 0),
        "C++ rules, positions of 4 kB": add_game(folder, program, "large", LARGE),
    }
    figures: dict[str, list[Cost]] = {name: [] for name in games}
    async with open_roster(Limits(isolation=OFF)) as roster:
        variants = {
            name: referee(roster, game, (bot, "0", *ORDERS), Encoding.JSON, folder, pairs=PAIRS)
            for name, game in games.items()
        }
        for number in range(rounds + 1):
            for name, variant in variants.items():
                rows = await variant()
                turn = next(cost for row, cost in rows.items() if row.startswith("a turn"))
                if number and turn is not None:  # the first round warms up
                    figures[name].append(turn)
    return figures


def ratio(figures: dict[str, list[Cost]], name: str) -> float:
    """Returns the median of the rounds' ratios of wall time to our engine's."""
    pairs = zip(figures[name], figures["our engine"], strict=True)
    return statistics.median(cost.wall / base.wall for cost, base in pairs)


def main() -> None:
    """Prints a row for each variant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        Path(folder).chmod(0o755)
        try:
            figures = trio.run(measure, Path(folder), given.rounds, rules(Path(folder)))
        finally:
            SOURCE.forget()
    if given.json:
        print(json.dumps({name: {"us": costs, "ratio": ratio(figures, name)} for name, costs in figures.items()}))
        return
    for name, costs in figures.items():
        wall, own = (statistics.median(each) for each in zip(*costs, strict=True))
        print(f"a turn, {name:30} {wall:7.1f} µs, of it our own CPU time {own:6.1f} µs, {ratio(figures, name):5.2f}")


if __name__ == "__main__":
    main()
