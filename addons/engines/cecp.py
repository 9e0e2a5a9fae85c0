"""CECP, the Chess Engine Communication Protocol of XBoard, version 2 (Tim Mann, H.G. Muller)."""

import re
import time as clock

from referee.addons.engines.board import Board
from referee.addons.engines.dialect import NO_TIME, Dialect, Time
from referee.addons.engines.info import Info
from referee.harness.opponents._serve import Refused

FEATURE = re.compile(r'(\w+)=("[^"]*"|\S+)')
MOVE = re.compile(r"(?:move|My move is\s*:)\s+(\S+)")
REFUSED = re.compile(r"Illegal move|resign|tellics resign|1-0|0-1|1/2-1/2", re.IGNORECASE)
"""Lines that come instead of a move."""
THOUGHT = re.compile(r"(\d+)[.&]?\s+([-+]?\d+)\s+\d+\s+(\d+)\b", re.ASCII)
"""A line about the search, after `post`: depth, centipawns, hundredths of a second, nodes."""
FEATURES_S = 2.0
"""How long an engine that knows no features, an old one, is waited for. Source: `protover` in the protocol."""
UNSUPPORTED = ("san",)
"""Features that would change how moves are written."""


class Cecp(Dialect):
    """The engine keeps the position. It gets the moves that it does not know yet, and then `go`."""

    def greet(self, note_at: float) -> str:
        self.features: dict[str, str] = {}
        self.offered: list[str] = []
        self.known: list[str] = []
        """The moves on the engine's board."""
        self._pings = 0
        self.engine.send("xboard", "protover 2")
        self._read_features(clock.monotonic() + FEATURES_S, note_at)
        self.check_options(self.offered)
        for name, value in self.settings.options:
            self.engine.send(f"option {name}" + ("" if value is None else f"={value}"))
        return self.features.get("myname", self.engine.name)

    def _read_features(self, until: float, note_at: float) -> None:
        """Reads the features up to `done=1`. An engine that says `done=0` may take its time."""

        def accept(line: str) -> bool:
            for name, value in FEATURE.findall(line) if line.startswith("feature ") else ():
                value = value.strip('"')
                if name == "option":
                    self.offered.append(value.partition(" -")[0])
                else:
                    self.features[name] = value
                    self.engine.send(f"{'rejected' if name in UNSUPPORTED else 'accepted'} {name}")
            return self.features.get("done") == "1"

        def is_old() -> bool:
            return self.features.get("done") != "0"

        self.engine.answer(accept, (until, is_old), (note_at, lambda: self.engine.note("has not said done=1 yet")))

    def start(self, board: Board, time: Time, seed: int) -> None:
        if board.name != "chess" or board.parameters.get("chess960"):
            raise Refused("cecp: plays openspiel:chess without chess960")
        if time.limit_ms is None and not self.settings.bounded:
            raise Refused(f"the engine {NO_TIME}--depth or --movetime")
        self._time, self._fen = time, board.start_fen
        self._answers_left: int | None = None
        if self._fen and self.features.get("setboard") != "1":
            raise Refused("the engine cannot begin from a position: it has not said setboard=1")
        self._clear()

    def _clear(self) -> None:
        self.engine.send("new", "easy", "post", "force")
        if self._fen:
            self.engine.send(f"setboard {self._fen}")
        settings, time = self.settings, self._time
        self.known = []
        if settings.depth is not None:
            self.engine.send(f"sd {settings.depth}")
        if settings.movetime_ms is not None:
            self.engine.send(f"st {max(1, settings.movetime_ms // 1000)}")
        elif time.remaining_ms is not None and time.limit_ms is not None:
            self._level(time)
        elif time.call_ms is not None:
            self.engine.send(f"st {max(1, time.less(time.call_ms) // 1000)}")
        self._ready()

    def _level(self, time: Time) -> None:
        """Says how much time there is for how many moves."""
        base_s = (time.limit_ms or 0) // 1000
        self.engine.send(f"level {time.answers_left or 0} {base_s // 60}:{base_s % 60:02} {time.increment_ms / 1000:g}")
        self._answers_left = time.answers_left

    def _ready(self) -> None:
        if self.features.get("ping") == "1":
            self._pings += 1
            pong = f"pong {self._pings}"
            self.engine.send(f"ping {self._pings}")
            self.engine.answer(lambda line: line == pong)

    def move(self, board: Board, time: Time) -> str:
        if board.moves[: len(self.known)] != self.known:
            self._clear()
        verb = "usermove " if self.features.get("usermove") == "1" else ""
        new = [verb + move for move in board.moves[len(self.known) :]]
        self.known = list(board.moves)
        limit_ms = time.limit_ms
        left = [] if limit_ms is None else [f"{name} {time.less(limit_ms) // 10}" for name in ("time", "otim")]
        self.engine.send("force")
        if limit_ms is not None and not self.settings.bounded:
            self._follow_periods(time)
        self.engine.drop()
        self.info = Info()
        self.engine.send(*new, *left, "go")
        line = self.wait_for_move(self._is_move, time, "go", "?")
        if not MOVE.match(line):
            raise Refused(f"the engine wrote {line!r} instead of a move")
        self.known.append(board.in_notation(self.move_in(line)))
        return line

    def _follow_periods(self, time: Time) -> None:
        """Says the level again when another period begins."""
        before, self._answers_left = self._answers_left, time.answers_left
        if (time.answers_left or 0) > (before or 0) or (time.answers_left is None) != (before is None):
            self._level(time)

    def _is_move(self, line: str) -> bool:
        """Whether a line names the move or comes instead of it. Any other may say something about the search."""
        if MOVE.match(line) or REFUSED.match(line):
            return True
        if thought := THOUGHT.match(line):
            depth, score, nodes = thought.groups()
            self.info.read(f"info depth {depth} score cp {score} nodes {nodes}")
        return False

    def move_in(self, line: str) -> str:
        match = MOVE.match(line)
        return match[1] if match else ""
