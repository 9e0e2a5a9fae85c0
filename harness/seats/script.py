"""A bot of lines: `script:FILE`. An answer a line, and when they are used up the first legal one."""

from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any

from referee.games import registry
from referee.games.contract import Call, Fault, FaultKind, Notice
from referee.harness.errors import UsageError
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.seats.seat import Seat, Table
from referee.protocol.messages import Clock, Hello, Initialize

PREFIX = "script:"


class ScriptSeat(Seat):
    """Answers from a file, in the game's notation or as JSON; blank lines and those that begin with # are left out.

    A line that names no answer, or more than one, is at fault as an error in a bot is.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.hello = Hello(name=f"script {path.name}", reuse=True)
        self._lines = lines_of(path)
        self._rest: Iterator[tuple[int, str]] = iter(())
        self._table: Table | None = None

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        self._table, self._rest, self._game = table, iter(self._lines), registry.game(match.game)
        self.greeted, self.calls = True, 0
        return None

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        """Nothing is charged: it takes no time of its own."""
        if self._table is None:
            raise RuntimeError("a seat is asked before it was greeted")
        self.calls += 1
        if call.method.result is NoneType:
            return None
        state = self._table.state
        number, line = next(self._rest, (0, ""))
        if not number:
            return next(state.legal(call.player), None)
        try:
            return Answers(self._game, state, call.player).read(line)
        except Unclear as error:
            return Fault(FaultKind.ERROR, f"line {number} of the script: {error}")

    def tell(self, notice: Notice) -> None:
        """It hears nothing: its lines are written."""


def lines_of(path: Path) -> list[tuple[int, str]]:
    """The answers of a script, each with the number of its line. UsageError if it cannot be read."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{PREFIX}{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if line and not line.startswith("#")]
