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
"""`observation` and `action_mask`; `legal` too in a `ChoiceEncoding`."""
Seen = tuple[Any, Player, Decision | None]
"""The view of a seat, the seat, and its call; None = it is not asked now."""


class Encoding(ABC):
    """The arrays of a game under one set of options. Everything that it shows comes from the view of a seat.

    An action is a number below `actions`. The observation has an `action_mask`, with 1 for every legal action. It is
    all 0 for a seat that is not asked. A game of another package names a module with such a class as `ENCODING`, in
    `Game.encoding`.
    """

    channels: ClassVar[tuple[str, ...]]
    """What each plane (or each place, if there are no planes) of the observation shows."""
    dtype: ClassVar[Any] = np.float32
    high: ClassVar[float] = np.inf
    """The greatest value in an observation. The least is 0."""
    plane: tuple[int, ...] = ()
    """The shape of a plane."""
    actions: int
    """The number of actions."""

    pays_on_the_way: bool = False
    """Whether scores come during the match (`earned`), not only with the result."""

    def __init__(self, game: Game, options: Any) -> None:
        self.game, self.options = game, options
        asking = [each.name for each in game.methods.values() if each.result not in (None, NoneType)]
        self.asked = frozenset(asking)
        """The functions that ask for an action."""

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

        mask = spaces.Box(0, 1, (self.actions,), np.int8)
        return spaces.Dict({"observation": spaces.Box(0, self.high, self.shape, self.dtype), "action_mask": mask})

    def action_space(self) -> spaces.Discrete:
        """Makes the space of actions."""
        from gymnasium import spaces

        return spaces.Discrete(self.actions)

    def observation(self, view: Any, player: Player, decision: Decision | None) -> Observation:
        """Returns what a seat sees. `decision`: its call; None = it is not asked now."""
        return {"observation": self.observe(view, player), "action_mask": self.mask(decision)}

    def batch(self, seen: Sequence[Seen]) -> Observation:
        """Returns what several seats see, in arrays with one more axis in front."""
        rows = [self.observation(*each) for each in seen]
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    @abstractmethod
    def observe(self, view: Any, player: Player) -> NDArray[Any]:
        """Returns the view of a seat as an array of `shape` and `dtype`."""

    def answer(self, action: Any, decision: Decision) -> Any:
        """Returns the answer that an action means, which may be illegal. ValueError for what is no action."""
        try:
            number = int(action)
        except (TypeError, ValueError, OverflowError):  # an array, NaN, infinity
            number = -1
        if not 0 <= number < self.actions:
            raise ValueError(f"action {action}: expected 0 to {self.actions - 1}")
        return self._answer(number, decision)

    @abstractmethod
    def legal(self, decision: Decision) -> list[int]:
        """Returns all legal actions."""

    def mask(self, decision: Decision | None) -> NDArray[np.int8]:
        """Returns 1 for every legal action."""
        mask = np.zeros(self.actions, np.int8)
        if decision is not None:
            mask[self.legal(decision)] = 1
        return mask

    @abstractmethod
    def _answer(self, number: int, decision: Decision) -> Any:
        """Returns the answer that an action means."""

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


class FiniteEncoding(Encoding):
    """The arrays of a game whose legal answers come from a fixed finite set: an action is the number of one."""

    def legal(self, decision: Decision) -> list[int]:
        return [self.number(answer, decision) for answer in decision.legal()]

    @abstractmethod
    def number(self, answer: Any, decision: Decision) -> int:
        """Returns the action that a legal answer is."""


class ChoiceEncoding(Encoding):
    """The arrays of a game whose answers have several parts: an action is the place of one in the list of legal ones.

    So no action is illegal. A number beyond the list counts on from its start. The observation has the list as `legal`:
    a row for each answer, and rows of zeros after them.
    """

    parts: ClassVar[tuple[str, ...]]
    """What each column of `legal` shows."""

    @abstractmethod
    def choices(self, decision: Decision) -> dict[tuple[int, ...], Any]:
        """Returns the legal answers by their rows of `legal`, `actions` of them at most."""

    def listed(self, decision: Decision) -> dict[tuple[int, ...], Any]:
        """Returns `choices`, which are made once for a decision."""
        if decision.listed is None:
            decision.listed = self.choices(decision)
        found: dict[tuple[int, ...], Any] = decision.listed
        return found

    def observation_space(self) -> spaces.Dict:
        from gymnasium import spaces

        rows = spaces.Box(0, np.iinfo(np.int32).max, (self.actions, len(self.parts)), np.int32)
        return spaces.Dict({**super().observation_space().spaces, "legal": rows})

    def observation(self, view: Any, player: Player, decision: Decision | None) -> Observation:
        rows = np.zeros((self.actions, len(self.parts)), np.int32)
        mask = np.zeros(self.actions, np.int8)
        if decision is not None:
            listed = self.listed(decision)
            rows[: len(listed)], mask[: len(listed)] = list(listed), 1
        return {"observation": self.observe(view, player), "action_mask": mask, "legal": rows}

    def legal(self, decision: Decision) -> list[int]:
        return list(range(len(self.listed(decision))))

    def _answer(self, number: int, decision: Decision) -> Any:
        answers = list(self.listed(decision).values())
        return answers[number % len(answers)]


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
