"""A script at a seat: `script:FILE`."""

from pathlib import Path
from typing import Any

from referee.games import registry
from referee.games.contract import Call, Fault, FaultKind
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import expanded, read_limited
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.seats.kinds import SCRIPT
from referee.harness.seats.seat import LocalSeat, MatchContext, Reply
from referee.protocol.messages import Initialize

(PREFIX,) = SCRIPT.prefixes


def parse(spec: str) -> Parsed:
    """Parses a bot spec. UsageError if its file cannot be read."""
    if spec == PREFIX:
        raise UsageError(f"{PREFIX} needs a file with one answer per line, as in {PREFIX}moves.txt")
    file = expanded(spec.removeprefix(PREFIX))
    read_script(file)
    file = file.resolve()
    return file.stem, lambda context: Entrant(file.stem, (PREFIX + str(file),), file.parent, SCRIPT.name)


def read_script(path: Path) -> list[tuple[int, str]]:
    """Returns the answers of a script, each with its line number. UsageError if the file cannot be read.

    Blank lines and lines that begin with # are left out.
    """
    try:
        text = read_limited(path).decode("utf-8")
    except (OSError, ValueError) as error:  # not UTF-8, or a NUL in the name
        raise UsageError(f"{PREFIX}{path}: cannot be read: {reason(error)}") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def seat(entrant: Entrant) -> "ScriptSeat":
    """Returns the seat of a script."""
    return ScriptSeat(Path(entrant.argv[0].removeprefix(PREFIX)))


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
