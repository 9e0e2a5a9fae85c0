"""A call of AI Arena 21, which shows everything that the answer depends on."""

from typing import Any

import msgspec

from referee.games.aiarena21 import METHODS, Ground, Player, Situation, legal_answers
from referee.games.dice import Dice


class Turn:
    """One call."""

    def __init__(self, method: str, ground: Ground, params: dict[str, Any]) -> None:
        self.method, self.ground, self.params = method, ground, params

    @property
    def situation(self) -> Situation:
        situation: Situation = msgspec.convert(self.params, METHODS[self.method].params)
        return situation

    def sample(self, player: int, dice: Dice) -> Any:
        """Draws a legal answer, each with the same probability."""
        me = msgspec.convert(self.params["me"], Player)
        return dice.choice(list(legal_answers(METHODS[self.method], self.ground, me)))
