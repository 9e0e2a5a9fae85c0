"""A person at a seat: no program, no clock. Whatever shows them the position and takes their answer is handed in."""

from collections.abc import Awaitable, Callable
from types import NoneType
from typing import Any

from referee.games.contract import Call, Fault, Notice, Player, State
from referee.harness.seats.seat import Seat, Table, Withdrawn
from referee.protocol.messages import Clock, Hello, Initialize

Choose = Callable[[State, Player], Awaitable[Any]]
"""Shows a position, which it must not change, to whoever sits there, and waits for their answer: plain JSON values.

A Fault instead of an answer: they have left (CRASH), and the game's rules go on from there. Withdrawn: the match is to
end without it.
"""
WORD = "human"
"""What a person is named by on the command line, and what stands in the place of a command in records."""


class Person(Seat):
    """Asks a person. What is no legal answer is asked for again: nobody loses by a slip of the hand."""

    def __init__(self, choose: Choose, refused: Callable[[Player, Fault], None] | None = None) -> None:
        """`refused` is told of every answer that the rules do not allow, with the reason."""
        super().__init__()
        self.hello = Hello(name=WORD, reuse=True)
        self._choose = choose
        self._refused = refused
        self._table: Table | None = None

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        self._table, self.fault = table, None
        self.greeted, self.calls, self.wall_s = True, 0, 0.0
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        """No limit holds here, and nothing is charged. A call without an answer is not worth a question."""
        if self._table is None:
            raise RuntimeError("a seat is asked before it was greeted")
        self.charge.clear()
        if self.fault is not None:
            return self.fault
        self.calls += 1
        if call.method.result is NoneType:
            return None
        state = self._table.state
        while True:
            self._table.flush()  # programs at other seats hear the news while we wait
            answer = await self._choose(state, call.player)
            if isinstance(answer, Fault):
                self.fault = answer if answer.fatal else None
                return answer
            if isinstance(answer, Withdrawn):
                return answer
            refusal = state.check(call.player, answer)
            if refusal is None:
                return answer
            if self._refused is not None:
                self._refused(call.player, refusal)

    def tell(self, notice: Notice) -> None:
        """Whoever shows the position shows what happened, too."""
