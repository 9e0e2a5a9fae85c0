"""Measures what rules in another language cost: tic-tac-toe with our engine and with C++ rules, in one run.

`python -m referee.benchmarks.rules [--json] [--rounds N]`. A turn is a played call of an instant bot: the request, the
answer, the rules, the record and the notices. Of each round, the fastest fiftieth counts: the turns in which nothing
else had our cores, also on a busy machine. The variants take turns, and a ratio is the median of the rounds' ratios, so
that a machine that changes its speed changes no ratio.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import trio

from referee.addons.rules.source import SOURCE
from referee.benchmarks.calls import BOTS, ORDERS, compiled
from referee.games.game import Game
from referee.harness.common.known_games import typed_game
from referee.harness.common.paths import KITS
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.roster import Roster, open_roster
from referee.protocol.messages import Encoding

ROUNDS, MATCHES = 15, 40
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
    options = ("-std=c++17", "-O2", "-DNDEBUG", "-I", str(kit / "include"))  # as the kit's own build has them
    subprocess.run(["g++", *options, "-o", str(program), *map(str, sources)], check=True)
    return program


def add_game(folder: Path, program: Path, name: str, padding: int) -> str:
    """Writes the folder of a game with these rules, and returns its path, which names the game."""
    place = folder / name
    place.mkdir()
    shutil.copy(program, place / "rules")
    (place / "game.toml").write_text(TOML.format(padding=padding))
    return str(place)


async def measure(folder: Path, rounds: int, program: Path) -> dict[str, list[float]]:
    """Returns the microseconds of a turn, by variant and round."""
    bot = str(compiled("tictactoe_instant.cpp", folder))
    games = {
        "our engine": "tictactoe",
        "C++ rules": add_game(folder, program, "small", 0),
        "C++ rules, positions of 4 kB": add_game(folder, program, "large", LARGE),
    }
    figures: dict[str, list[float]] = {name: [] for name in games}
    async with open_roster(Limits(isolation=OFF)) as roster:
        for number in range(rounds + 1):
            for name, path in games.items():
                turn_us = await _turn_us(typed_game(path), bot, roster, folder / "match.jsonl")
                if number:  # the first round warms up
                    figures[name].append(turn_us)
    return figures


async def _turn_us(game: Game, bot: str, roster: Roster, replay: Path) -> float:
    """Returns the time of the fastest fiftieth of the turns of some matches: nothing else had our cores in them."""
    entrants = tuple(Entrant(seat, (bot, "0", ORDERS[1]), replay.parent) for seat in "ab")
    turns: list[float] = []
    for number in range(MATCHES):
        at: list[float] = []

        def watch(*_: object, at: list[float] = at) -> None:
            at.append(time.perf_counter())

        await play(Match(game, entrants, number, game.options(), game.time, (Encoding.JSON,), replay), roster, watch)
        replay.unlink()
        turns += [later - before for before, later in pairwise(at)]
    return statistics.quantiles(turns, n=50)[0] * 1e6


def ratio(figures: dict[str, list[float]], name: str) -> float:
    """Returns the median of the rounds' ratios to our engine."""
    return statistics.median(us / base for us, base in zip(figures[name], figures["our engine"], strict=True))


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
        print(json.dumps({name: {"us": us, "ratio": ratio(figures, name)} for name, us in figures.items()}))
        return
    for name, us in figures.items():
        print(f"a turn, {name:30} {statistics.median(us):7.1f} µs {ratio(figures, name):6.2f}")


if __name__ == "__main__":
    main()
