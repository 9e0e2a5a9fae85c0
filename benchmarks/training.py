"""Measures environments for training at Connect Four, ours and PettingZoo's, in one run on one core.

    python -m referee.benchmarks.training [--json]

A step is an action and the observation after it. The rounds of all rows alternate. A step of the vector environment
contains the answer of the opponent too, which is not counted. A new match begins inside its clock, because it begins
one itself, and outside of the clocks of the others. Matches against programs are timed by the wall clock: those of a
vector environment, and the same ones in an environment for each, stepped one after the other.
"""

import argparse
import json
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from referee import rl
from referee.benchmarks.environments import COLUMNS, Environment, cost, pettingzoo_connect_four

if TYPE_CHECKING:
    from referee.addons.rl.gymnasium_env import SeatEnv
    from referee.addons.rl.vector_env import VectorMatches

ROUNDS = 9
MATCHES = 64
STEPS = 100
"""Steps of the vector environment in a round."""
PETTINGZOO = "PettingZoo, `connect_four_v3`"
AEC = "`referee.rl.aec`"
VECTOR = f"`referee.rl.vector`, {MATCHES} matches"

PROGRAMS = 8
"""Matches against programs."""
PROGRAM_STEPS = 20
ONE_BY_ONE = f"{PROGRAMS} × `referee.rl.gym`, one after the other"
TOGETHER = f"`referee.rl.vector`, {PROGRAMS} matches"

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


def against_programs(rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The microseconds of a step of all matches against `@random`, a figure a round, by row. The first warms up."""
    one = [rl.gym("connectfour", ["@random"]) for _ in range(PROGRAMS)]
    many = rl.vector("connectfour", PROGRAMS, "@random")
    figures: dict[str, list[float]] = {ONE_BY_ONE: [], TOGETHER: []}
    try:
        for number in range(rounds + 1):
            figure = _gyms(one), _vector(many)
            for name, value in zip(figures, figure, strict=True):
                if number:
                    figures[name].append(value)
    finally:
        many.close()
        for env in one:
            env.close()
    return figures


def _gyms(envs: list["SeatEnv"]) -> float:
    """A step of each; a match that is over begins again inside the clock, as in a vector environment."""
    seen = [env.reset(seed=number)[0] for number, env in enumerate(envs)]
    started = time.perf_counter()
    for _ in range(PROGRAM_STEPS):
        for number, env in enumerate(envs):
            seen[number], _, over, _, _ = env.step(int(seen[number]["action_mask"].argmax()))
            if over:
                seen[number], _ = env.reset()
    return (time.perf_counter() - started) * 1e6 / PROGRAM_STEPS


def _vector(env: "VectorMatches") -> float:
    seen, _ = env.reset(seed=0)
    started = time.perf_counter()
    for _ in range(PROGRAM_STEPS):
        seen, *_ = env.step(seen["action_mask"].argmax(axis=1))
    return (time.perf_counter() - started) * 1e6 / PROGRAM_STEPS


def table(figures: dict[str, list[float]]) -> str:
    """Medians, and ratios of the same round to the first row of each part."""
    rows = (PETTINGZOO, AEC, VECTOR), (ONE_BY_ONE, TOGETHER)
    parts = [[name for name in names if name in figures] for names in rows]
    return "\n\n".join(_part({name: figures[name] for name in names}) for names in parts if names)


def _part(figures: dict[str, list[float]]) -> str:
    base = next(iter(figures))
    lines = [f"| a step at Connect Four | µs | steps a second ÷ {base} |", "| --- | --- | --- |"]
    for name, values in figures.items():
        ratio = median(first / value for first, value in zip(figures[base], values, strict=True))
        lines.append(f"| {name} | {median(values):.1f} | {ratio:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Prints the table, or with --json one object: row -> microseconds of each round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args().json
    figures = measured() | against_programs()
    print(json.dumps(figures) if as_json else table(figures))


if __name__ == "__main__":
    main()
