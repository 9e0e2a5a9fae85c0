"""A seat that answers at random, as the engine draws: `@random` in most games."""

from typing import Any

from referee.games.contract import Call, Fault, FaultKind
from referee.games.dice import Dice
from referee.harness.seats.seat import LocalSeat, MatchContext, Reply
from referee.protocol.messages import Initialize


class RandomSeat(LocalSeat):
    """Answers with any legal answer, as `State.sample` draws it, in every game."""

    def __init__(self, dice: Dice | None = None) -> None:
        """Without `dice`, the luck follows from the seed in the greeting, as a bot's does."""
        super().__init__("random")
        self._fixed_dice = dice

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._dice = self._fixed_dice or Dice(match.seed)
        return await super().greet(match, context)

    async def answer(self, call: Call) -> Any:
        try:
            return self.context.state.sample(call.player, self._dice)
        except ValueError as error:
            return Fault(FaultKind.ERROR, f"no legal answer: {error}")
