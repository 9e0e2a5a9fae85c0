"""UCI, and UGI, which differs from it in words.

Sources: Universal Chess Interface (Stefan Meyer-Kahlen, April 2006); Universal Game Interface (`ugi.md` of
kz04px/cutegames).
"""

from referee.addons.engines.board import Board
from referee.addons.engines.child import Engine
from referee.addons.engines.dialect import NO_TIME, Dialect, Settings, Time
from referee.addons.engines.info import Info
from referee.harness.opponents._serve import Refused

CLOCKS = {"uci": ("wtime", "btime", "winc", "binc"), "ugi": ("p1time", "p2time", "p1inc", "p2inc")}
CHESS960 = "UCI_Chess960"


class Uci(Dialect):
    """Asks with `position`, which repeats the whole game, and `go`."""

    def __init__(self, engine: Engine, settings: Settings, word: str) -> None:
        """`word`: uci or ugi."""
        super().__init__(engine, settings)
        self.word = word

    def greet(self, note_at: float) -> str:
        offered: list[str] = []
        names = [self.engine.name]

        def accept(line: str) -> bool:
            if line.startswith("option name "):
                offered.append(line.removeprefix("option name ").partition(" type ")[0].strip())
            elif line.startswith("id name "):
                names.append(line.removeprefix("id name "))
            return line == f"{self.word}ok"

        self.engine.send(self.word)
        self.engine.answer(accept, (note_at, lambda: self.engine.note(f"has not answered {self.word!r} yet")))
        self.check_options(offered)
        for name, value in self.settings.options:
            self.engine.send(f"setoption name {name}" + ("" if value is None else f" value {value}"))
        self._ready(note_at)
        return names[-1]

    def start(self, board: Board, time: Time, seed: int) -> None:
        if self.word == "uci" and board.name != "chess":
            raise Refused("uci: plays openspiel:chess; for other games there is ugi:")
        if time.limit_ms is None and not self.settings.bounded:
            raise Refused(f"the engine {NO_TIME}--nodes, --depth or --movetime")
        if board.name == "chess" and board.parameters.get("chess960"):
            self.engine.send(f"setoption name {CHESS960} value true")
        self.engine.send(f"{self.word}newgame")
        self._ready(time.began + (time.limit_ms or 0) / 1000)

    def move(self, board: Board, time: Time) -> str:
        start = f"fen {board.start_fen}" if board.start_fen else "startpos"
        moves = " moves " + " ".join(board.moves) if board.moves else ""
        go = self._go(time)
        self.engine.drop()
        self.info = Info()
        self.engine.send(f"position {start}{moves}", go)
        line = self.wait_for_move(self._is_move, time, go, "stop")
        if self.move_in(line).lower() == "resign":
            raise Refused(f"the engine resigns: {line!r}")
        return line

    def _is_move(self, line: str) -> bool:
        """Whether a line names the move. Any other may say something about the search."""
        if line.split(None, 1)[:1] == ["bestmove"]:
            return True
        self.info.read(line)
        return False

    def move_in(self, line: str) -> str:
        return "".join(line.split()[1:2])

    def _go(self, time: Time) -> str:
        settings = self.settings
        own = (("nodes", settings.nodes), ("depth", settings.depth), ("movetime", settings.movetime_ms))
        words = [f"{name} {value}" for name, value in own if value is not None]
        if not words and time.remaining_ms is None and time.call_ms is not None:
            words = [f"movetime {time.less(time.call_ms)}"]
        elif not words and time.limit_ms is not None:
            left_ms = time.less(time.limit_ms)
            figures = (left_ms, left_ms, time.increment_ms, time.increment_ms)  # the rival's clock is not shown to us
            words = [f"{name} {value}" for name, value in zip(CLOCKS[self.word], figures, strict=True)]
            if time.answers_left is not None:
                words.append(f"movestogo {time.answers_left}")
        return " ".join(["go", *words])

    def _ready(self, note_at: float) -> None:
        self.engine.send("isready")
        self.wait_for("readyok", note_at)
