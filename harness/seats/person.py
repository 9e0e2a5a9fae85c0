"""A person at a seat, without a clock."""

from collections.abc import Awaitable, Callable
from types import NoneType
from typing import Any

from referee.games.contract import Call, Fault, Notice, Player, State
from referee.harness.programs.spec import WORD
from referee.harness.seats.seat import CallTotals, MatchContext, Reply, Seat, Withdrawn
from referee.protocol.messages import Clock, Hello, Initialize

Choose = Callable[[State, Player], Awaitable[Any]]
"""Shows a position, which it must not change, and waits for the person's answer: plain JSON values.

Returns a Fault if the person has left (CRASH); the game's rules go on from there. Returns Withdrawn if the match must
end without an answer.
"""


class Person(Seat):
    """Asks a person, and asks again after an illegal answer: nobody loses by a slip of the hand."""

    def __init__(self, choose: Choose, refused: Callable[[Player, Fault], None] | None = None) -> None:
        """`refused` is called with the reason for every answer that the rules do not allow."""
        super().__init__()
        self.handshake = Hello(name=WORD, reuse=True)
        self._choose = choose
        self._refused = refused
        self._context: MatchContext | None = None

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._context, self.fault = context, None
        self.greeted, self.totals = True, CallTotals()
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        """Ignores the limit and costs nothing. The person is not asked for calls without a result."""
        if self._context is None:
            raise RuntimeError("a seat is asked before it was greeted")
        if self.fault is not None:
            return Reply(self.fault)
        self.totals.calls += 1
        return Reply(None if call.method.result is NoneType else await self._answer(call, self._context))

    async def _answer(self, call: Call, context: MatchContext) -> Any:
        while True:
            context.flush()  # programs at other seats get their notices while the person thinks
            answer = await self._choose(context.state, call.player)
            if isinstance(answer, Fault):
                self.fault = answer if answer.fatal else None
                return answer
            if isinstance(answer, Withdrawn):
                return answer
            refusal = context.state.check(call.player, answer)
            if refusal is None:
                return answer
            if self._refused is not None:
                self._refused(call.player, refusal)

    def notify(self, notice: Notice) -> None:
        """Does nothing: the person sees the position."""
