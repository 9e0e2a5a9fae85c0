"""GTP, the Go Text Protocol, version 2 (Gunnar Farnebäck, draft of 2002)."""

import re
from collections.abc import Callable

from referee.addons.engines.board import Board
from referee.addons.engines.dialect import Dialect, Time
from referee.harness.opponents._serve import Refused

GAME = "go"


class Gtp(Dialect):
    """The engine keeps the position. It gets the moves that it does not know yet, and then `genmove`."""

    def greet(self, note_at: float) -> str:
        self.commands = self._ask("list_commands", note_at).split()
        self.known: list[str] = []
        """The moves on the engine's board."""
        return self._ask("name", note_at) or self.engine.name

    def start(self, board: Board, time: Time, seed: int) -> None:
        if board.name != GAME or board.parameters.get("handicap"):
            raise Refused("gtp: plays openspiel:go without handicap")
        self._time = time
        if "set_random_seed" in self.commands:
            self._ask(f"set_random_seed {seed % (1 << 31)}")
        self._clear(board)

    def _clear(self, board: Board) -> None:
        self._ask(f"boardsize {board.parameters['board_size']}")
        self._ask("clear_board")
        self._ask(f"komi {board.parameters['komi']}")
        self.known = []
        time = self._time
        if "time_settings" not in self.commands:
            return
        if time.remaining_ms is not None and time.remaining_ms == time.limit_ms:
            self._ask(f"time_settings {seconds(time.remaining_ms)} 0 0")
        elif time.call_ms is not None:
            self._ask(f"time_settings 0 {seconds(time.less(time.call_ms))} 1")

    def move(self, board: Board, time: Time) -> str:
        self.engine.drop()
        if board.moves[: len(self.known)] != self.known:
            self._clear(board)
        for number in range(len(self.known), len(board.moves)):
            self._ask(f"play {'bw'[number % 2]} {board.moves[number]}")
        color = "bw"[len(board.moves) % 2]
        self.known = list(board.moves)
        if "time_left" in self.commands and time.limit_ms is not None:
            stones = 0 if time.remaining_ms == time.limit_ms else 1
            self._ask(f"time_left {color} {seconds(time.less(time.limit_ms))} {stones}")
        asked = f"genmove {color}"
        line = self._answer(asked, lambda accept: self.wait_for_move(accept, time, asked, None))
        if self.move_in(line) == "RESIGN":
            raise Refused(f"the engine resigns: {line!r}")
        self.known.append(self.move_in(line))
        return line

    def move_in(self, line: str) -> str:
        return _content(line).upper()

    def _ask(self, command: str, note_at: float | None = None) -> str:
        """Returns the answer to a command. Refused if the engine refuses it."""
        steps = [] if note_at is None else [(note_at, lambda: self.engine.note(f"has not answered {command!r} yet"))]
        line = self._answer(command, lambda accept: self.engine.answer(accept, *steps))
        return _content(line)

    def _answer(self, command: str, wait: Callable[[Callable[[str], bool]], str]) -> str:
        """Returns all lines of an answer as one, which begins with its sign."""
        lines: list[str] = []

        def accept(line: str) -> bool:
            if lines or line[:1] in ("=", "?"):
                lines.append(line)
            return bool(lines) and not line

        self.engine.send(command)
        wait(accept)
        answer = " ".join(filter(None, lines))
        if answer.startswith("?"):
            raise Refused(f"the engine answered {command!r} with {answer!r}")
        return answer


def _content(answer: str) -> str:
    """Returns an answer without its sign and the number of the command that some engines repeat: `=1 D4`."""
    return re.sub(r"^=\d*", "", answer).strip()


def seconds(time_ms: int) -> int:
    """Returns whole seconds, at least one: GTP knows no parts."""
    return max(1, time_ms // 1000)
