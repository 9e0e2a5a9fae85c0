"""A person at a seat, without a clock."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from referee.games.contract import Call, Fault, Player, State
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.seats.kinds import PERSON
from referee.harness.seats.seat import LocalSeat, Withdrawn

Choose = Callable[[State, Player], Awaitable[Any]]
"""Shows a position, which it must not change, and waits for the person's answer: plain JSON values.

Returns a Fault if the person has left (CRASH); the game's rules go on from there. Returns Withdrawn if the match must
end without an answer.
"""


def parse(spec: str) -> Parsed:
    """Parses the bot spec `human`."""
    return spec, lambda context: Entrant(spec, (spec,), Path.cwd(), PERSON.name)


class Person(LocalSeat):
    """Asks a person, and asks again after an illegal answer: nobody loses by a slip of the hand."""

    def __init__(self, choose: Choose, refused: Callable[[Player, Fault], None]) -> None:
        """`refused` is called with the reason for every answer that the rules do not allow."""
        super().__init__(PERSON.word)
        self._choose = choose
        self._refused = refused

    async def answer(self, call: Call) -> Any:
        while True:
            self.context.flush()  # programs at other seats get their notices while the person thinks
            answer = await self._choose(self.context.state, call.player)
            if isinstance(answer, Fault):
                self.fault = answer if answer.fatal else None
                return answer
            if isinstance(answer, Withdrawn):
                return answer
            refusal = self.context.state.check(call.player, answer)
            if refusal is None:
                return answer
            self._refused(call.player, refusal)
