"""How fast the engines are: calls per second of `apply`, `copy`, `view`, `calls` and `legal`, game by game.

    python benchmarks/engines.py [--json] [GAME …]

Positions and answers are those of the middle half of random matches with fixed seeds, so that every run measures the
same work. Nothing but the engine runs: no pipes, no codecs. Pin it to a core (`taskset -c 0`) for figures that repeat.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from games import registry
from games.api import Game, Player, Setup, State
from games.dice import Dice, derive_seed

ROUNDS = 9
POSITIONS = 600
LEGAL_AT_MOST = 500  # a placement has more answers than can be listed

Moment = tuple[State, Mapping[Player, Any]]


def main() -> None:
    """Prints one table, or with --json one object: game -> operation -> median and best calls per second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", metavar="GAME", help="default: all that are installed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    report = {name: measured(registry.game(name)) for name in arguments.games or registry.names()}
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{'calls per second':<12} {'operation':<8} {'median':>12} {'best':>12} {'µs (median)':>12}")
    for name, operations in report.items():
        for operation, rates in operations.items():
            median, best = rates["median"], rates["best"]
            print(f"{name:<16} {operation:<8} {median:>12,.0f} {best:>12,.0f} {1e6 / median:>12.2f}")


def measured(game: Game) -> dict[str, dict[str, float]]:
    """Calls per second of each operation; the operations alternate round by round."""
    moments = middle_game(game, POSITIONS)
    operations: dict[str, Callable[[list[Moment]], float]] = {
        "apply": time_apply,
        "copy": time_copy,
        "view": time_view,
        "calls": time_calls,
        "key": time_key,
        "legal": time_legal,
    }
    times: dict[str, list[float]] = {name: [] for name in operations}
    for _ in range(ROUNDS):
        for name, operation in operations.items():
            times[name].append(operation(moments))
    return {
        name: {"median": len(moments) / statistics.median(taken), "best": len(moments) / min(taken)}
        for name, taken in times.items()
    }


def middle_game(game: Game, wanted: int) -> list[Moment]:
    """`wanted` positions with the answers given there, from the middle half of random matches."""
    found: list[Moment] = []
    seed = 0
    while len(found) < wanted:
        moments = random_match(game, seed)
        quarter = len(moments) // 4
        found += moments[quarter : len(moments) - quarter]
        seed += 1
    return found[:wanted]


def random_match(game: Game, seed: int) -> list[Moment]:
    """A whole match of random legal answers: every position and the answers given in it."""
    names = tuple(f"bot {seat}" for seat in range(game.seats[0]))
    state = game.new(Setup(seed, names, game.options()))
    dice = Dice(derive_seed(seed, "benchmark"))
    moments: list[Moment] = []
    while state.awaited and state.result is None:
        answers = {player: state.sample(player, dice) for player in state.awaited}
        moments.append((state.copy(), answers))
        state.apply(answers)
    return moments


def time_apply(moments: list[Moment]) -> float:
    """Seconds for one `apply` in each position; it judges the answers too."""
    pairs = [(state.copy(), answers) for state, answers in moments]
    start = time.perf_counter()
    for state, answers in pairs:
        state.apply(answers)
    return time.perf_counter() - start


def time_copy(moments: list[Moment]) -> float:
    """Seconds for one `copy` of each position."""
    start = time.perf_counter()
    for state, _ in moments:
        state.copy()
    return time.perf_counter() - start


def time_view(moments: list[Moment]) -> float:
    """Seconds for one `view` of each position, for the seat (or the first of the seats) that is asked."""
    pairs = [(state, next(iter(answers))) for state, answers in moments]
    start = time.perf_counter()
    for state, player in pairs:
        state.view(player)
    return time.perf_counter() - start


def time_calls(moments: list[Moment]) -> float:
    """Seconds for `calls`, the parameters included, in each position."""
    start = time.perf_counter()
    for state, _ in moments:
        state.calls()
    return time.perf_counter() - start


def time_key(moments: list[Moment]) -> float:
    """Seconds for one `key` of each position."""
    start = time.perf_counter()
    for state, _ in moments:
        state.key()
    return time.perf_counter() - start


def time_legal(moments: list[Moment]) -> float:
    """Seconds to list the legal answers of the asked seat in each position, at most LEGAL_AT_MOST of them."""
    pairs = [(state, next(iter(answers))) for state, answers in moments]
    start = time.perf_counter()
    for state, player in pairs:
        list(islice(state.legal(player), LEGAL_AT_MOST))
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
