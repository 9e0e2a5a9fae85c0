"""OpenSpiel's games as arrays for training. An action is OpenSpiel's number of it.

With the option `observation`, the observation is the tensor of OpenSpiel that calls then carry. Without it, the same
tensor is made from the actions so far in a game without hidden information. In any other game the observation is the
text in UTF-8, a number for each byte and zeros after it.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
import pyspiel
from numpy.typing import NDArray

from referee.addons.openspiel.family import PREFIX
from referee.addons.openspiel.start import TENSOR_OPTION, Course
from referee.addons.openspiel.state import Spiel, loaded, pays_a_point, stakes_of
from referee.addons.openspiel.types import Action, Position, TensorPosition
from referee.addons.rl.encoding import FiniteEncoding
from referee.games.contract import FaultKind, Player, Result, Setup, State
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.seats.decision import Decision

if TYPE_CHECKING:
    from gymnasium import spaces

TEXT_BYTES = 4096
"""Of a longer text, this much is seen."""
AT_FAULT = frozenset({*FaultKind, "no_winner"})
"""The reasons of results that a fault has decided."""


class Shown:
    """A position as a call of `act` shows it."""

    def __init__(self, params: dict[str, Any]) -> None:
        kind: type[Position] = TensorPosition if "tensor" in params else Position
        self._position = msgspec.convert(params, kind)

    def view(self, player: Player) -> Position:
        return self._position

    def legal(self, player: Player) -> Iterator[Action]:
        return iter([Action(each.action) for each in self._position.legal])

    def sample(self, player: Player, dice: Dice) -> Action:
        """Draws as `Spiel` does, so that the match is the same as in the process."""
        return Action(dice.choice([each.action for each in self._position.legal]))


class SpielArrays(FiniteEncoding):
    """The arrays of one game."""

    channels = ("OpenSpiel's tensor, or the bytes of the observation's text",)

    def __init__(self, game: Game, options: Any, seats: int | None = None) -> None:
        """`seats`: how many play; None = the fewest that can."""
        super().__init__(game, options)
        names = tuple(map(str, range(game.seats.start if seats is None else seats)))
        self._spiel, state = loaded(game.name.removeprefix(PREFIX), Setup(0, names, options), tried=True)
        self.actions = self._spiel.num_distinct_actions()
        kind = self._spiel.get_type()
        shown = getattr(options, TENSOR_OPTION, "")
        perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        known = perfect and kind.chance_mode != pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        self._follows = not shown and known and kind.provides_observation_tensor
        """Whether the tensor is made from the actions so far."""
        self._shape: tuple[int, ...] = (TEXT_BYTES,)
        if shown or self._follows:
            self._shape = tuple(getattr(self._spiel, f"{shown or 'observation'}_tensor_shape")())
        self._course = Course(self._spiel, state, options)
        self.pays_on_the_way = kind.reward_model == pyspiel.GameType.RewardModel.REWARDS

    @classmethod
    def of(cls, game: Game, options: Any, seats: int) -> Self:
        return cls(game, options, seats)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    def earned(self, state: State) -> Sequence[float]:
        assert isinstance(state, Spiel)
        returns: list[float] = state._state.returns()
        return returns

    def scores(self, result: Result) -> Sequence[float]:
        """Returns OpenSpiel's returns. A fault costs the least that the game pays, or losing would be worse."""
        if pays_a_point(self._spiel) and len(result.ranks) == 2:
            return [2 * score - 1 for score in result.scores]
        if result.reason not in AT_FAULT:
            return result.scores
        lost = [rank > 1 or result.reason == "no_winner" for rank in result.ranks]
        return stakes_of(self._spiel).after_faults(lost)

    def observation_space(self) -> "spaces.Dict":
        from gymnasium import spaces

        box = spaces.Box(-np.inf, np.inf, self.shape, self.dtype)
        return spaces.Dict({**super().observation_space().spaces, "observation": box})

    def observe(self, view: Position, player: Player) -> NDArray[Any]:
        if isinstance(view, TensorPosition):
            return np.array(view.tensor, self.dtype).reshape(self._shape)
        if not self._follows:
            text = np.frombuffer(view.observation.encode()[:TEXT_BYTES], np.uint8)
            return np.pad(text, (0, TEXT_BYTES - len(text))).astype(self.dtype)
        return np.array(self._course.after(view.history).observation_tensor(player), self.dtype).reshape(self._shape)

    def shown(self, params: dict[str, Any]) -> "Shown":
        return Shown(params)

    def number(self, answer: Action, decision: Decision) -> int:
        assert isinstance(answer.action, int)
        return answer.action

    def _answer(self, number: int, decision: Decision) -> Action:
        return Action(number)


ENCODING = SpielArrays
