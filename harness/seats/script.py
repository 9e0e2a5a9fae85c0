"""A script at a seat: `script:FILE`."""

from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any

from referee.games import registry
from referee.games.contract import Call, Fault, FaultKind, Notice
from referee.harness.programs.spec import read_script
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol.messages import Clock, Hello, Initialize


class ScriptSeat(Seat):
    """Answers with the lines of a file, in the game's notation or as JSON, and then with the first legal answer.

    A line that names no answer, or more than one, is a fault of kind `error`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.handshake = Hello(name=f"script {path.name}", reuse=True)
        self._lines = read_script(path)
        self._rest: Iterator[tuple[int, str]] = iter(())
        self._context: MatchContext | None = None

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._context, self._rest, self._game = context, iter(self._lines), registry.game(match.game)
        self.greeted, self.totals.calls = True, 0
        return Reply(None)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        if self._context is None:
            raise RuntimeError("a seat is asked before it was greeted")
        self.totals.calls += 1
        return Reply(None if call.method.result is NoneType else self._answer(call, self._context))

    def _answer(self, call: Call, context: MatchContext) -> Any:
        number, line = next(self._rest, (0, ""))
        if not number:
            return next(context.state.legal(call.player), None)
        try:
            return Answers(self._game, context.state, call.player).read(line)
        except Unclear as error:
            return Fault(FaultKind.ERROR, f"line {number} of the script: {error}")

    def notify(self, notice: Notice) -> None:
        """Does nothing: the script is fixed."""
