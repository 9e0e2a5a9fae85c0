"""Compares ways to tune a bot, on synthetic bots with known optima: how much Elo each still loses at the end.

`python -m referee.benchmarks.tuning [--optuna] [--runs N]`. With `--optuna`, it needs `pip install optuna cmaes`.
A bot's strength falls with the square of each parameter's distance from its optimum. All ways get the same games.
"""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from statistics import mean
from typing import Any

from referee.addons.tournament.statistics.spsa import Spsa
from referee.games.dice import Dice

DRAWS = 0.4
"""The share of draws between equal bots."""
UNIT = 1 << 53
A_TRIAL = 10
"""Games that Optuna gets for each trial, against the start."""
BEST = 0.1
"""The share of Optuna's best trials whose mean is its result. The best trial alone is mostly a lucky one."""


class Bots:
    """Bots with parameters from 0 to 1. Those in the middle lose `span` Elo."""

    def __init__(self, parameters: int, span: float, dice: Dice) -> None:
        self.dice = dice
        self.optimum = [self._drawn(0.1, 0.35) + 0.55 * dice.below(2) for _ in range(parameters)]
        self._weights = [self._drawn(0.3, 1) for _ in range(parameters)]
        self._scale = 1.0
        self._scale = span / self.loss([0.5] * parameters)

    def _drawn(self, low: float, high: float) -> float:
        return low + (high - low) * self.dice.below(UNIT) / UNIT

    def loss(self, values: Sequence[float]) -> float:
        """Returns how many Elo these parameters lose."""
        places = zip(self._weights, values, self.optimum, strict=True)
        return self._scale * sum(weight * (value - best) ** 2 for weight, value, best in places)

    def pair(self, one: Sequence[float], other: Sequence[float]) -> float:
        """Plays a game pair. Returns 1 if the one has won both games, -1 if it has lost them."""
        chance = 1 / (1 + 10 ** ((self.loss(one) - self.loss(other)) / 400))
        draw = DRAWS * 4 * chance * (1 - chance)
        points = 0.0
        for _ in range(2):
            luck = self.dice.below(UNIT) / UNIT
            points += 1 if luck < chance - draw / 2 else 0.5 if luck < chance + draw / 2 else 0
        return points - 1


def spsa(bots: Bots, games: int, at_once: int = 1) -> Sequence[float]:
    """Tunes as `referee tune` does, with so many steps at a time."""
    way = Spsa([0.5] * len(bots.optimum), games // 2, bots.dice)
    while way.asked < way.steps:
        steps = [way.ask() for _ in range(min(at_once, way.steps - way.asked))]
        for step in steps:
            way.tell(step, bots.pair(step.plus, step.minus))
    return way.best


def optuna(sampler: str) -> Callable[[Bots, int], Sequence[float]]:
    """Returns a way that tunes with a sampler of Optuna."""
    library: Any = import_module("optuna")
    library.logging.set_verbosity(library.logging.ERROR)

    def tuned(bots: Bots, games: int) -> Sequence[float]:
        names = [f"p{number}" for number in range(len(bots.optimum))]
        chosen = getattr(library.samplers, sampler)(seed=bots.dice.below(1 << 30))
        study = library.create_study(sampler=chosen, direction="maximize")
        study.enqueue_trial(dict.fromkeys(names, 0.5))
        for _ in range(games // A_TRIAL):
            trial = study.ask()
            values = [trial.suggest_float(name, 0, 1) for name in names]
            study.tell(trial, mean(bots.pair(values, [0.5] * len(names)) for _ in range(A_TRIAL // 2)))
        best = sorted(study.trials, key=lambda trial: -trial.value)[: max(1, int(BEST * len(study.trials)))]
        return [mean(trial.params[name] for trial in best) for name in names]

    return tuned


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--optuna", action="store_true")
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    ways: dict[str, Callable[[Bots, int], Sequence[float]]] = {
        "SPSA": spsa,
        "SPSA, 8 steps at a time": lambda bots, games: spsa(bots, games, 8),
    }
    if given.optuna:
        ways |= {"Optuna TPE": optuna("TPESampler"), "Optuna CMA-ES": optuna("CmaEsSampler")}
    print("| Elo lost at the start | parameters | games |", " | ".join(ways), "|")
    print("| --- " * (3 + len(ways)) + "|")
    for span in (30, 150):
        for parameters in (1, 3, 8):
            for games in (500, 2000):
                made = [[Bots(parameters, span, Dice(run)) for run in range(given.runs)] for _ in ways]
                losses = [
                    mean(each.loss(way(each, games)) for each in bots)
                    for way, bots in zip(ways.values(), made, strict=True)
                ]
                print(
                    f"| {span} | {parameters} | {games:,} |",
                    " | ".join(f"{each:.1f}" for each in losses),
                    "|",
                    flush=True,
                )


if __name__ == "__main__":
    main()
