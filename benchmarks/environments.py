"""Measures a step of environments for reinforcement learning, with whatever interpreter has them installed.

    PYTHON benchmarks/environments.py

`benchmarks/calls.py` starts it and asks for a round by a line. The reply is a line of JSON: row -> microseconds of a
step, wall and CPU time; null where the package cannot be imported. It imports nothing of the referee. A step is an
action and the observation after it. No game is over: a new one begins outside of the clock.
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable

GAMES = 100
"""A round."""
COLUMNS = [number % 7 for number in range(20)]
"""Connect four without four in a row."""
CELLS = [0, 3, 1, 4, 8, 2, 6]
"""Tic-tac-toe without three in a row, counted by columns or by rows."""

Environment = tuple[Callable[[], object], Callable[[int], object], list[int]]
"""The function that begins a game, the one that makes a step, and the actions of a game."""


def pettingzoo_connect_four() -> Environment:
    from pettingzoo.classic import connect_four_v3

    return _pettingzoo(connect_four_v3.env(), COLUMNS)  # type: ignore[no-untyped-call]


def pettingzoo_tictactoe() -> Environment:
    from pettingzoo.classic import tictactoe_v3

    return _pettingzoo(tictactoe_v3.env(), CELLS)  # type: ignore[no-untyped-call]


def _pettingzoo(environment, actions: list[int]) -> Environment:  # type: ignore[no-untyped-def]
    def step(action: int) -> None:
        environment.last()
        environment.step(action)

    return environment.reset, step, actions


def kaggle_connectx() -> Environment:
    from kaggle_environments import make  # type: ignore[import-not-found]

    environment = make("connectx")
    seats = [0]

    def begin() -> None:
        environment.reset(2)
        seats[0] = 0

    def step(action: int) -> None:
        environment.step([action, None] if seats[0] == 0 else [None, action])
        seats[0] = 1 - seats[0]

    return begin, step, COLUMNS


ROWS = {
    "a step, PettingZoo, tictactoe": pettingzoo_tictactoe,
    "a step, PettingZoo, connect four": pettingzoo_connect_four,
    "a step, kaggle-environments, connectx": kaggle_connectx,
}


def cost(environment: Environment) -> tuple[float, float]:
    """Microseconds of a step, wall and CPU time."""
    begin, step, actions = environment
    wall = own = 0.0
    for _ in range(GAMES):
        begin()
        started, started_own = time.perf_counter(), time.process_time()
        for action in actions:
            step(action)
        wall += time.perf_counter() - started
        own += time.process_time() - started_own
    steps = GAMES * len(actions)
    return wall * 1e6 / steps, own * 1e6 / steps


def main() -> None:
    """Answers every line of standard input with a round."""
    environments: dict[str, Environment | None] = {}
    with contextlib.redirect_stdout(sys.stderr):  # the packages print while they are imported
        for name, make in ROWS.items():
            try:
                environments[name] = make()
            except ImportError as error:
                environments[name] = None
                print(f"{name}: left out, {error}", file=sys.stderr)
    for _ in sys.stdin:
        print(json.dumps({name: each and cost(each) for name, each in environments.items()}), flush=True)


if __name__ == "__main__":
    main()
