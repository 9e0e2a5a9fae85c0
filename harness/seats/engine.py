"""The engine at a seat."""

from types import NoneType

from referee.games.contract import Call, Fault, FaultKind, Notice
from referee.games.dice import Dice
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol.messages import Clock, Hello, Initialize


class EngineSeat(Seat):
    """Answers with any legal answer, as `State.sample` draws it, in every game."""

    def __init__(self, dice: Dice | None = None) -> None:
        """Without `dice`, the luck follows from the seed in the greeting, as a bot's does."""
        super().__init__()
        self.handshake = Hello(name="random", reuse=True)
        self._fixed_dice = dice
        self._dice = Dice(0)
        self._context: MatchContext | None = None

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._dice = Dice(match.seed) if self._fixed_dice is None else self._fixed_dice
        self._context = context
        self.greeted, self.totals.calls = True, 0
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        if self._context is None:
            raise RuntimeError("a seat is asked before it was greeted")
        self.totals.calls += 1
        if call.method.result is NoneType:
            return Reply(None)
        try:
            return Reply(self._context.state.sample(call.player, self._dice))
        except ValueError as error:
            return Reply(Fault(FaultKind.ERROR, f"no legal answer: {error}"))

    def notify(self, notice: Notice) -> None:
        """Does nothing: the engine sees the position."""
