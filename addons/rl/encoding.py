"""What positions and answers look like as arrays: the base of every game's encoding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from importlib import import_module
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from referee.games.contract import Player, Result, State
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.seats.decision import Decision

if TYPE_CHECKING:  # a program that plays a policy needs numpy only
    from gymnasium import spaces

Observation = dict[str, Any]
"""`observation`, and `action_mask` or `asked`."""
Seen = tuple[Any, Player, Decision | None]
"""The view of a seat, the seat, and its call; None = it is not asked now."""


class Encoding(ABC):
    """The arrays of a game under one set of options. Everything that it shows comes from the view of a seat.

    A game of another package names a module with such a class as `ENCODING`, in `Game.encoding`.
    """

    channels: ClassVar[tuple[str, ...]]
    """What each plane (or each place, if there are no planes) of the observation shows."""
    dtype: ClassVar[Any] = np.float32
    high: ClassVar[float] = np.inf
    """The greatest value in an observation. The least is 0."""
    plane: tuple[int, ...] = ()
    """The shape of a plane."""

    pays_on_the_way: bool = False
    """Whether scores come during the match (`earned`), not only with the result."""

    def __init__(self, game: Game, options: Any) -> None:
        self.game, self.options = game, options
        asking = [each.name for each in game.methods.values() if each.result not in (None, NoneType)]
        self.asked = {name: number for number, name in enumerate(asking, 1)}
        """The number of each function that asks for an action. 0: the seat is not asked."""

    @classmethod
    def of(cls, game: Game, options: Any, seats: int) -> Self:
        """Makes the arrays of matches with that many seats. Most are the same for every number of seats."""
        return cls(game, options)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        return (len(self.channels), *self.plane)

    def observation_space(self) -> spaces.Dict:
        """Makes the space of `observation`."""
        from gymnasium import spaces

        return spaces.Dict({"observation": spaces.Box(0, self.high, self.shape, self.dtype), **self._more_space()})

    def observation(self, view: Any, player: Player, decision: Decision | None) -> Observation:
        """Returns what a seat sees. `decision`: its call; None = it is not asked now."""
        return {"observation": self.observe(view, player), **self._more(decision)}

    def batch(self, seen: Sequence[Seen]) -> Observation:
        """Returns what several seats see, in arrays with one more axis in front."""
        rows = [self.observation(*each) for each in seen]
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    @abstractmethod
    def observe(self, view: Any, player: Player) -> NDArray[Any]:
        """Returns the view of a seat as an array of `shape` and `dtype`."""

    @abstractmethod
    def action_space(self) -> spaces.Space[Any]:
        """Makes the space of actions."""

    @abstractmethod
    def answer(self, action: Any, decision: Decision) -> Any:
        """Returns the answer that an action means, which may be illegal. ValueError for what is no action."""

    @abstractmethod
    def legal(self, decision: Decision) -> list[Any]:
        """Returns all legal actions."""

    def earned(self, state: State) -> Sequence[float]:
        """Returns the scores so far, by seat, in an undecided match of a game that pays on the way."""
        raise NotImplementedError(f"{self.game.name} does not pay on the way")

    def scores(self, result: Result) -> Sequence[float]:
        """Returns the scores at the end, by seat, as rewards."""
        return result.scores

    def shown(self, params: dict[str, Any]) -> Any:
        """Returns the position that the params of a call show, with `view`, `legal` and `sample` of a `State`.

        None if the calls of this game do not show it: then a policy cannot play it as a program.
        """
        return None

    def _more_space(self) -> dict[str, spaces.Space[Any]]:
        from gymnasium import spaces

        return {"asked": spaces.Discrete(len(self.asked) + 1)}

    def _more(self, decision: Decision | None) -> Observation:
        return {"asked": np.int64(0 if decision is None else self.asked[decision.call.method.name])}


class FiniteEncoding(Encoding):
    """The arrays of a game whose legal answers come from a fixed finite set: an action is the number of one.

    The observation has an `action_mask`, with 1 for every legal action. It is all 0 for a seat that is not asked.
    """

    actions: int
    """The number of actions."""

    def action_space(self) -> spaces.Discrete:
        from gymnasium import spaces

        return spaces.Discrete(self.actions)

    def answer(self, action: Any, decision: Decision) -> Any:
        try:
            number = int(action)
        except (TypeError, ValueError, OverflowError):  # an array, NaN, infinity
            number = -1
        if not 0 <= number < self.actions:
            raise ValueError(f"action {action}: expected 0 to {self.actions - 1}")
        return self._answer(number, decision)

    def legal(self, decision: Decision) -> list[int]:
        return [self.number(answer, decision) for answer in decision.legal()]

    def mask(self, decision: Decision | None) -> NDArray[np.int8]:
        """Returns 1 for every legal action."""
        mask = np.zeros(self.actions, np.int8)
        if decision is not None:
            mask[self.legal(decision)] = 1
        return mask

    @abstractmethod
    def number(self, answer: Any, decision: Decision) -> int:
        """Returns the action that a legal answer is."""

    @abstractmethod
    def _answer(self, number: int, decision: Decision) -> Any:
        """Returns the answer that an action means."""

    def _more_space(self) -> dict[str, spaces.Space[Any]]:
        from gymnasium import spaces

        return {"action_mask": spaces.Box(0, 1, (self.actions,), np.int8)}

    def _more(self, decision: Decision | None) -> Observation:
        return {"action_mask": self.mask(decision)}


class ListedEncoding(FiniteEncoding):
    """The same, where an action always means the same answer."""

    answers: Sequence[Any]
    """The answer of every action."""

    def __init__(self, game: Game, options: Any) -> None:
        super().__init__(game, options)
        self.actions = len(self.answers)
        self._numbers = {self.key(answer): number for number, answer in enumerate(self.answers)}

    @staticmethod
    @abstractmethod
    def key(answer: Any) -> Hashable:
        """Returns what tells this answer from the others."""

    def number(self, answer: Any, decision: Decision) -> int:
        return self._numbers[self.key(answer)]

    def legal(self, decision: Decision) -> list[int]:
        numbers, key = self._numbers, self.key
        return [numbers[key(answer)] for answer in decision.legal()]

    def _answer(self, number: int, decision: Decision) -> Any:
        return self.answers[number]


def number_in(action: Any, part: str) -> int:
    """Returns a number of an action that has several. ValueError if the action has no such number."""
    try:
        return int(action[part])
    except (TypeError, ValueError, LookupError, OverflowError):
        raise ValueError(f"action {action!r}: expected {part!r} with a number, as in the action space") from None


def encoding_of(game: Game, options: Any, seats: int | None = None) -> Encoding:
    """Returns the encoding of a game, for matches with that many seats. UsageError if it has none."""
    module = game.encoding or f"{__package__}.encodings.{game.name}"
    try:
        found: type[Encoding] = import_module(module).ENCODING
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise UsageError(f"{game.name} has no arrays for training: its package names none in Game.encoding") from error
    return found.of(game, options, game.seats.start if seats is None else seats)
