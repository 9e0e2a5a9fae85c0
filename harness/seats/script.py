"""A script at a seat: `script:FILE`."""

from pathlib import Path
from typing import Any

from referee.games import registry
from referee.games.contract import Call, Fault, FaultKind
from referee.harness.programs.spec import read_script
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.seats.seat import LocalSeat, MatchContext, Reply
from referee.protocol.messages import Initialize


class ScriptSeat(LocalSeat):
    """Answers with the lines of a file, in the game's notation or as JSON, and then with the first legal answer.

    A line that names no answer, or more than one, is a fault of kind `error`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"script {path.name}")
        self._lines = read_script(path)

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._rest, self._game = iter(self._lines), registry.game(match.game)
        return await super().greet(match, context)

    async def answer(self, call: Call) -> Any:
        state = self.context.state
        number, line = next(self._rest, (0, ""))
        if not number:
            return next(state.legal(call.player), None)
        try:
            return Answers(self._game, state, call.player).read(line)
        except Unclear as error:
            return Fault(FaultKind.ERROR, f"line {number} of the script: {error}")
