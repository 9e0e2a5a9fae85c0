"""Tunes numbers by games: simultaneous perturbation stochastic approximation (Spall 1992), as fishtest uses it.

Every step plays the numbers changed in one random direction against the numbers changed in the opposite one, and moves
towards the winner. Compared with Optuna's samplers on bots with known optima, it loses the least Elo; see
`docs/explanation/statistics.md`.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

WIDTH = 0.1
"""How far the last steps go to each side, as a share of the range."""
RATE = 0.02
"""How far the last step moves for a won game pair, as a share of the range."""
ALPHA, GAMMA, STABILITY = 0.602, 0.101, 0.1
"""How fast steps become shorter and sides closer, and the share of the steps before they do (Spall 1998)."""
AVERAGED = 0.5
"""The share of the steps, the last ones, whose mean is the result."""


class Luck(Protocol):
    """A source of luck, such as `referee.games.dice.Dice`."""

    def below(self, n: int, what: str = "") -> int: ...


class Step(Struct, frozen=True):
    """Two points to play against each other."""

    number: int
    signs: tuple[int, ...]
    plus: tuple[float, ...]
    minus: tuple[float, ...]


class Spsa:
    """Numbers from 0 to 1 that are tuned in a given number of steps."""

    def __init__(self, start: Sequence[float], steps: int, luck: Luck) -> None:
        self.point = tuple(start)
        """The numbers now."""
        self.asked = self.told = 0
        """How many steps were begun and ended."""
        self.moved = 0
        """How many of those that ended had a winner."""
        self.steps, self._luck = steps, luck
        self._sum, self._averaged = [0.0] * len(self.point), 0

    def ask(self) -> Step:
        """Begins a step. Several may be open at a time."""
        self.asked += 1
        width = WIDTH * (self.steps / self.asked) ** GAMMA if self.asked <= self.steps else WIDTH
        signs = tuple(1 - 2 * self._luck.below(2, "direction") for _ in self.point)
        plus, minus = (
            tuple(_inside(x + side * width * sign) for x, sign in zip(self.point, signs, strict=True))
            for side in (1, -1)
        )
        return Step(self.asked, signs, plus, minus)

    def tell(self, step: Step, result: float) -> None:
        """Ends a step. `result`: 1 if `plus` has won all games, -1 if `minus` has."""
        self.told += 1
        self.moved += result != 0
        stable = STABILITY * self.steps
        rate = RATE * ((stable + self.steps) / (stable + step.number)) ** ALPHA
        self.point = tuple(_inside(x + rate * result * sign) for x, sign in zip(self.point, step.signs, strict=True))
        if self.told > self.steps * (1 - AVERAGED):
            self._averaged += 1
            self._sum = [before + x for before, x in zip(self._sum, self.point, strict=True)]

    @property
    def best(self) -> tuple[float, ...]:
        """The result so far."""
        return tuple(each / self._averaged for each in self._sum) if self._averaged else self.point


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))
