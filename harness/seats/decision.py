"""What a Python function at a seat is asked. Light to import, for programs that play a trained policy."""

from collections.abc import Iterator
from typing import Any

from referee.games.contract import Call, Player, State
from referee.games.dice import Dice


class Decision:
    """A call to a Python function at a seat: what the seat may see, and what it may answer."""

    __slots__ = ("_state", "call", "dice", "listed")

    def __init__(self, state: State, call: Call, dice: Dice) -> None:
        self._state = state
        self.call = call
        """The question: its `method`, and the `params` that a program gets."""
        self.dice = dice
        """Luck for this seat, which follows from the seed of the match."""
        self.listed: Any = None
        """The legal answers as an encoding has numbered them."""

    @property
    def player(self) -> Player:
        """The seat."""
        return self.call.player

    @property
    def seats(self) -> int:
        """How many play in this match."""
        return len(self._state.setup.names)

    @property
    def options(self) -> Any:
        """The options of the rules in this match."""
        return self._state.setup.options

    @property
    def view(self) -> Any:
        """What the seat may see: `State.view(player)`."""
        return self._state.view(self.call.player)

    def legal(self) -> Iterator[Any]:
        """Returns every legal answer, lazily: `State.legal(player)`."""
        return self._state.legal(self.call.player)

    def sample(self) -> Any:
        """Draws a legal answer with `dice`."""
        return self._state.sample(self.call.player, self.dice)

    def __str__(self) -> str:
        """Draws what the seat may see."""
        return self._state.shown_to(self.call.player)
