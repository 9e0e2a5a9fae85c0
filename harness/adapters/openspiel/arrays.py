"""OpenSpiel's games as arrays for training. An action is OpenSpiel's number of it.

In a game without hidden information the observation is OpenSpiel's own tensor, from the actions so far. In any other
game it is the text of the observation in UTF-8, a number for each byte and zeros after it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyspiel
from numpy.typing import NDArray

from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.adapters.openspiel.family import PREFIX
from referee.harness.adapters.openspiel.start import FEN_OPTION, MOVES_OPTION, first_state
from referee.harness.adapters.openspiel.state import loaded
from referee.harness.adapters.openspiel.types import Action, Position
from referee.harness.rl.encoding import FiniteEncoding
from referee.harness.seats.decision import Decision

if TYPE_CHECKING:
    from gymnasium import spaces

TEXT_BYTES = 4096
"""Of a longer text, this much is seen."""


class Shown:
    """A position as a call of `act` shows it."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._position = msgspec.convert(params, Position)

    def view(self, player: Player) -> Position:
        return self._position

    def legal(self, player: Player) -> Iterator[Action]:
        return iter([Action(each.action) for each in self._position.legal])

    def sample(self, player: Player, dice: Dice) -> Action:
        """Draws as `Spiel` does, so that the match is the same as in the process."""
        return Action(dice.choice([each.action for each in self._position.legal]))


class SpielArrays(FiniteEncoding):
    """The arrays of one game."""

    channels = ("OpenSpiel's observation tensor, or the bytes of the observation's text",)

    def __init__(self, game: Game, options: Any) -> None:
        super().__init__(game, options)
        names = tuple(map(str, range(getattr(options, "players", game.seats.start))))
        self._spiel, self._state = loaded(game.name.removeprefix(PREFIX), Setup(0, names, options))
        self.actions = self._spiel.num_distinct_actions()
        kind = self._spiel.get_type()
        perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        self._tensor = perfect and kind.provides_observation_tensor
        self._history: tuple[int, ...] = tuple(getattr(options, MOVES_OPTION, ()))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._spiel.observation_tensor_shape()) if self._tensor else (TEXT_BYTES,)

    def observation_space(self) -> "spaces.Dict":
        from gymnasium import spaces

        return spaces.Dict({"observation": spaces.Box(-np.inf, np.inf, self.shape, self.dtype), **self._more_space()})

    def observe(self, view: Position, player: Player) -> NDArray[Any]:
        if not self._tensor:
            text = np.frombuffer(view.observation.encode()[:TEXT_BYTES], np.uint8)
            return np.pad(text, (0, TEXT_BYTES - len(text))).astype(self.dtype)
        return np.array(self._position(view.history).observation_tensor(player), self.dtype).reshape(self.shape)

    def _position(self, history: tuple[int, ...]) -> Any:
        """Returns OpenSpiel's state after these actions; from the last one, if they continue it."""
        if history[: len(self._history)] != self._history:
            self._history, self._state = (), first_state(self._spiel, getattr(self.options, FEN_OPTION, ""))
        rest = list(history[len(self._history) :])
        while rest:
            if self._state.is_simultaneous_node():
                players = self._spiel.num_players()
                self._state.apply_actions(rest[:players])
                del rest[:players]
            else:
                self._state.apply_action(rest.pop(0))
        self._history = history
        return self._state

    def shown(self, params: dict[str, Any]) -> "Shown":
        return Shown(params)

    def number(self, answer: Action, decision: Decision) -> int:
        assert isinstance(answer.action, int)
        return answer.action

    def _answer(self, number: int, decision: Decision) -> Action:
        return Action(number)


ENCODING = SpielArrays
