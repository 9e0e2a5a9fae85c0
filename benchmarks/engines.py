"""Measures how fast the engines are, game by game.

It counts calls per second of `apply`, `check`, `copy`, `view`, `calls` and `legal`, and whole matches per second with
the parameters of every call.

    python benchmarks/engines.py [--json] [GAME …]

Positions and answers are those of the middle half of random matches with fixed seeds, or of the part that MIDDLE_GAME
names, so that every run measures the same work. Nothing but the engine runs: no pipes, no codecs. Pin it to a core
(`taskset -c 0`) for figures that repeat. Where OpenSpiel is installed, its Quoridor is timed in the same positions.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import dropwhile, islice, takewhile
from typing import Any

from referee.games import registry
from referee.games.contract import Player, Setup, State
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.games.quoridor import Quoridor

ROUNDS = 9
POSITIONS = 600
MATCHES = 3
LEGAL_AT_MOST = 500  # a placement has more answers than can be listed

Moment = tuple[State, Mapping[Player, Any]]

MIDDLE_GAME: dict[str, Callable[[Any], bool]] = {
    "quoridor": lambda state: len(state.walls) == 12,  # random players put theirs early: the middle half has all twenty
}
"""Which positions count where the middle half of a random match is not what players think about."""


def main() -> None:
    """Prints one table, or with --json one object: game -> operation -> median and best calls per second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", metavar="GAME", help="default: all that are installed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    names = arguments.games or registry.names()
    report = {name: measured(registry.game(name)) for name in names}
    if "quoridor" in names and find_spec("pyspiel") is not None:
        report["quoridor (OpenSpiel)"] = measured_openspiel()
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{'calls per second':<20} {'operation':<8} {'median':>12} {'best':>12} {'µs (median)':>12}")
    for name, operations in report.items():
        for operation, rates in operations.items():
            median, best = rates["median"], rates["best"]
            print(f"{name:<20} {operation:<8} {median:>12,.0f} {best:>12,.0f} {1e6 / median:>12.2f}")


def measured(game: Game) -> dict[str, dict[str, float]]:
    """Calls per second of each operation."""
    operations: dict[str, Callable[[list[Moment]], float]] = {
        "apply": time_apply,
        "check": time_check,
        "copy": time_copy,
        "view": time_view,
        "calls": time_calls,
        "key": time_key,
        "legal": time_legal,
    }
    matches = {"match": lambda seeds: elapsed(lambda seed: whole_match(game, seed), seeds)}
    return {**timed(operations, middle_game(game, POSITIONS)), **timed(matches, list(range(MATCHES)))}


def measured_openspiel() -> dict[str, dict[str, float]]:
    """The same for OpenSpiel's Quoridor, where it has the operation. Its board is ours upside down."""
    game = import_module("pyspiel").load_game("quoridor")
    states = []
    for state, _ in middle_game(registry.game("quoridor"), POSITIONS):
        assert isinstance(state, Quoridor)
        states.append(game.new_initial_state())
        for shown in state.shown:
            states[-1].apply_action(states[-1].string_to_action(mirrored(shown["position"])))
    operations = {
        "copy": lambda states: elapsed(lambda state: state.clone(), states),
        "legal": lambda states: elapsed(lambda state: state.legal_actions(), states),
    }
    return timed(operations, states)


def mirrored(name: str) -> str:
    """The name of a square or a wall with row 9 at the bottom."""
    return f"{name[0]}{10 - int(name[1])}" if len(name) == 2 else f"{name[0]}{9 - int(name[1])}{name[2]}"


def timed(operations: Mapping[str, Callable[[list[Any]], float]], work: list[Any]) -> dict[str, dict[str, float]]:
    """Calls per second of each operation; the operations alternate round by round."""
    times: dict[str, list[float]] = {name: [] for name in operations}
    for _ in range(ROUNDS):
        for name, operation in operations.items():
            times[name].append(operation(work))
    return {
        name: {"median": len(work) / statistics.median(taken), "best": len(work) / min(taken)}
        for name, taken in times.items()
    }


def elapsed(operation: Callable[[Any], object], work: list[Any]) -> float:
    """Seconds for one `operation` of each."""
    start = time.perf_counter()
    for item in work:
        operation(item)
    return time.perf_counter() - start


def middle_game(game: Game, count: int) -> list[Moment]:
    """`count` positions with the answers given there, from the middle of random matches."""
    found: list[Moment] = []
    seed = 0
    while len(found) < count:
        found += middle_part(game, random_match(game, seed))
        seed += 1
    return found[:count]


def middle_part(game: Game, match: Iterator[Moment]) -> list[Moment]:
    """The middle half, or the first stretch of positions that MIDDLE_GAME takes."""
    is_middle = MIDDLE_GAME.get(game.name)
    if is_middle is not None:
        later = dropwhile(lambda moment: not is_middle(moment[0]), match)
        return list(takewhile(lambda moment: is_middle(moment[0]), later))
    moments = list(match)
    quarter = len(moments) // 4
    return moments[quarter : len(moments) - quarter]


def random_match(game: Game, seed: int) -> Iterator[Moment]:
    """A match of random legal answers: every position and the answers given in it."""
    state, dice = started(game, seed)
    while state.awaited and state.result is None:
        answers = {player: state.sample(player, dice) for player in state.awaited}
        yield state.copy(), answers
        state.apply(answers)


def whole_match(game: Game, seed: int) -> None:
    """A match of random legal answers with the parameters of every call, as the referee plays it."""
    state, dice = started(game, seed)
    while state.awaited and state.result is None:
        state.apply({call.player: state.sample(call.player, dice) for call in state.calls()})


def started(game: Game, seed: int) -> tuple[State, Dice]:
    """A new match, and the luck of its answers."""
    names = tuple(f"bot {seat}" for seat in range(game.seats[0]))
    options = game.options(**game.ending)
    return game.new(Setup(seed, names, options)), Dice(derive_seed(seed, "benchmark"))


def time_apply(moments: list[Moment]) -> float:
    """Seconds for one `apply` in each position; it judges the answers too."""
    pairs = [(state.copy(), answers) for state, answers in moments]
    start = time.perf_counter()
    for state, answers in pairs:
        state.apply(answers)
    return time.perf_counter() - start


def time_check(moments: list[Moment]) -> float:
    """Seconds for one `check` in each position, of the answer of the first seat that is asked."""
    triples = [(state, *next(iter(answers.items()))) for state, answers in moments]
    start = time.perf_counter()
    for state, player, answer in triples:
        state.check(player, answer)
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
