"""The base of all protocols of engines: settings, the time of a call, and waiting for an answer."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from msgspec import Struct, field

from referee.addons.engines.board import Board
from referee.addons.engines.child import Engine
from referee.addons.engines.info import Info
from referee.addons.engines.options import OVERHEAD_MS
from referee.harness.opponents._serve import Refused

LATE_SHARE = 0.5
"""The share of the overhead that is left when a late engine is noted."""
START_SHARE = 0.5
"""The share of the start-up limit after which a silent engine is noted."""
NO_TIME = "has neither a limit of time nor one of its own, so it would never move; add --clock or "


class Settings(Struct, frozen=True):
    """The options of a seat."""

    nodes: int | None = None
    depth: int | None = None
    movetime_ms: int | None = None
    options: tuple[tuple[str, str | None], ...] = ()
    """The engine's own options, in order; None: a button, which has no value."""
    overhead_ms: int = OVERHEAD_MS
    debug: bool = False

    @property
    def bounded(self) -> bool:
        """Whether the engine stops by itself."""
        return any(limit is not None for limit in (self.nodes, self.depth, self.movetime_ms))


class Time(Struct, frozen=True):
    """The time for one move, in milliseconds; None = no such limit."""

    call_ms: int | None
    remaining_ms: int | None
    increment_ms: int
    overhead_ms: int
    """How much of each limit the engine does not get."""
    answers_left: int | None = None
    """How many moves until the remaining time gets more."""
    began: float = field(default_factory=time.monotonic)

    @property
    def limit_ms(self) -> int | None:
        """The time of the whole call."""
        limits = [ms for ms in (self.call_ms, self.remaining_ms) if ms is not None]
        return min(limits) if limits else None

    def less(self, limit_ms: int) -> int:
        """Returns what the engine gets of a limit."""
        return max(1, limit_ms - self.overhead_ms)


class Dialect(ABC):
    """One protocol, spoken with one engine."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine = engine
        self.settings = settings
        self.info = Info()
        """The figures of the last search."""

    @abstractmethod
    def greet(self, note_at: float) -> str:
        """Does the handshake and sets the options. Returns the engine's name. `note_at`: see `started`."""

    @abstractmethod
    def start(self, board: Board, time: Time, seed: int) -> None:
        """Begins a match. Refused for a game that this protocol or the seat's settings cannot play."""

    @abstractmethod
    def move(self, board: Board, time: Time) -> str:
        """Asks for a move; the engine's position follows `board`. Returns the engine's whole line."""

    @abstractmethod
    def move_in(self, line: str) -> str:
        """Returns the move that such a line names."""

    def wait_for(self, word: str, note_at: float) -> str:
        """Waits for a line that begins with a word, and returns it. Notes a silent engine at the time `note_at`."""
        note = (note_at, lambda: self.engine.note(f"has not answered with {word!r} yet"))
        return self.engine.answer(lambda line: line.split(None, 1)[:1] == [word], note)

    def wait_for_move(self, accept: Callable[[str], bool], time: Time, asked: str, stop: str | None) -> str:
        """Waits for the line with a move. When the time is nearly over, sends `stop`, and then notes a late engine."""
        if time.limit_ms is None:
            return self.engine.answer(accept)
        stop_at = time.began + time.less(time.limit_ms) / 1000
        note_ms = round(time.limit_ms - LATE_SHARE * time.overhead_ms)
        note = (time.began + note_ms / 1000, lambda: self.engine.note(f"has not moved {note_ms} ms after {asked!r}"))
        if stop is None:
            return self.engine.answer(accept, note)
        return self.engine.answer(accept, (stop_at, lambda: self.engine.send(stop)), note)

    def check_options(self, known: list[str]) -> None:
        """Refused for an option that the engine does not offer."""
        names = {name.lower() for name in known}
        for name, _ in self.settings.options:
            if name.lower() not in names:
                offered = ", ".join(sorted(known)) or "none"
                raise Refused(f"the engine has no option {name!r}; it offers {offered}")
