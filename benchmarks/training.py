"""Measures environments for training at Connect Four, ours and PettingZoo's, in one run on one core.

    python -m referee.benchmarks.training [--json]

A step is an action and the observation after it. The rounds of all rows alternate. A step of the vector environment
contains the answer of the opponent too, which is not counted. A new match begins inside its clock, because it begins
one itself, and outside of the clocks of the others.
"""

import argparse
import json
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from referee import rl
from referee.benchmarks.environments import COLUMNS, Environment, cost, pettingzoo_connect_four

ROUNDS = 9
MATCHES = 64
STEPS = 100
"""Steps of the vector environment in a round."""
PETTINGZOO = "PettingZoo, `connect_four_v3`"
AEC = "`referee.rl.aec`"
VECTOR = f"`referee.rl.vector`, {MATCHES} matches"

Round = Callable[[], float]
"""Returns the microseconds of CPU time of a step."""


def measured(rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The microseconds of CPU time of a step, a figure a round, by row. The first round warms up."""
    rows: dict[str, Round] = {
        PETTINGZOO: _one_after_the_other(pettingzoo_connect_four()),
        AEC: _one_after_the_other(_aec()),
        VECTOR: vector_round(),
    }
    figures: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(rounds + 1):
        for name, play in rows.items():
            figure = play()
            if number:
                figures[name].append(figure)
    return figures


def _one_after_the_other(environment: Environment) -> Round:
    return lambda: cost(environment)[1]


def _aec() -> Environment:
    env = rl.aec("connectfour")

    def step(action: int) -> None:
        env.last()
        env.step(action)

    return env.reset, step, COLUMNS


def vector_round() -> Round:
    """Any legal actions on both sides."""
    env, luck = rl.vector("connectfour", MATCHES, seat=None), np.random.default_rng(1)

    def play() -> float:
        seen, _ = env.reset(seed=1)
        taken = 0.0
        for _ in range(STEPS):
            actions = (luck.random(seen["action_mask"].shape) * seen["action_mask"]).argmax(axis=1)
            started = time.process_time()
            seen, *_ = env.step(actions)
            taken += time.process_time() - started
        return taken * 1e6 / (STEPS * MATCHES)

    return play


def table(figures: dict[str, list[float]]) -> str:
    """Medians, and ratios of the same round."""
    lines = ["| a step at Connect Four, one core | µs | steps a second ÷ PettingZoo's |", "| --- | --- | --- |"]
    for name, values in figures.items():
        ratio = median(base / value for base, value in zip(figures[PETTINGZOO], values, strict=True))
        lines.append(f"| {name} | {median(values):.1f} | {ratio:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Prints the table, or with --json one object: row -> microseconds of each round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    figures = measured()
    print(json.dumps(figures) if parser.parse_args().json else table(figures))


if __name__ == "__main__":
    main()
