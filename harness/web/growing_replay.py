"""The frames of one record, made once for all who look at it, and more of them as the record grows.

Each client has an index into one list: a browser that stops reading holds nothing up. Where nobody reads any more who
looks, a record that grows is not followed on until somebody does.
"""

from time import perf_counter

import trio

from referee.games.contract import State
from referee.harness.bell import Bell
from referee.harness.errors import UsageError
from referee.harness.replay.formats.imported_frames import OriginalFramer, framer_of, read_record
from referee.harness.replay.formats.imports import Original
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference
from referee.harness.replay.viewer_frames import Eyes, Framer
from referee.harness.web.page import Closing, about, conclusion, encoded, is_painted
from referee.harness.web.replay_list import Source

POLL_S = 0.03
"""So often a record that grows is looked at."""
AHEAD = 4096
"""So many lines are made that nobody has asked for yet."""
BATCH = 512
"""So many lines go to a client in one piece."""
SLICE_S = 0.01
"""So long at a time frames are made before others have a turn."""


class Followed:
    """A record as somebody's eyes see it. `run` makes `lines`, which a page reads from the first on."""

    def __init__(self, source: Source, eyes: Eyes, bell: Bell) -> None:
        self.source = source
        self.eyes = eyes
        self.lines: list[bytes] = []
        self.looked = False
        """What was on record when somebody first asked is among the lines."""
        self.over = False
        """There will be no more lines."""
        self.lookers = 0
        """How many streams are open."""
        self.needed = False
        """The position is to be the latest, whoever reads."""
        self.replay: Replay | None = None
        self._requested = 0  # up to here somebody has asked for lines
        self._framer: Framer | OriginalFramer | None = None
        self._rest: list[bytes] = []  # what came after the last position
        self._wrong = ""
        self._read = 0
        self._torn = b""
        self._bell = bell

    @property
    def state(self) -> State | None:
        """The position so far; only to be looked at."""
        return self._framer.simulation.state if isinstance(self._framer, Framer) else None

    def batch(self, at: int) -> list[bytes]:
        """What is there from that line on, for a client."""
        lines = self.lines[at : at + BATCH]
        self._requested = max(self._requested, at + len(lines))
        return lines

    async def run(self) -> None:
        """Reads the record to its end, however long that takes to come."""
        try:
            while True:
                while self._is_ahead():
                    await trio.sleep(POLL_S)
                grows = self.source.grows()  # asked first: what is written after that is read in the next round
                data = self.source.read(self._read)
                self._read += len(data)
                *whole, self._torn = (self._torn + data).split(b"\n")
                if not grows and not data and self._torn:
                    whole, self._torn = [self._torn], b""
                await self._take(whole)
                if not self.looked:
                    self.looked = True
                    self._bell.ring()
                if not grows and not data:
                    break
                await trio.sleep(POLL_S if grows else 0)
            self._conclude()
        except UsageError as error:
            self._add(encoded(Closing(str(error))))
        except OSError as error:
            self._add(encoded(Closing(f"the record cannot be read: {error.strerror or error}")))
        self.over = True
        self._bell.ring()

    def _is_ahead(self) -> bool:
        """All who look have stopped reading."""
        return self.looked and self.lookers > 0 and not self.needed and len(self.lines) - self._requested > AHEAD

    async def _take(self, whole: list[bytes]) -> None:
        until = perf_counter() + SLICE_S
        for line in whole:
            self._line(line)
            if perf_counter() > until:
                self._bell.ring()
                await trio.sleep(0)
                until = perf_counter() + SLICE_S
        if whole:
            self._bell.ring()

    def _line(self, line: bytes) -> None:
        if self._framer is None:
            record = read_record(self.source.path, line)
            self.replay = None if isinstance(record, Original) else record
            self._framer = framer_of(record, self.eyes, drawn=not is_painted(record.game.name))
            self._add(encoded(about(record, self.eyes, self.source.grows())))
            self.lines += self._framer.begin()
        elif self._rest:
            self._rest.append(line)
        elif not self._wrong:
            try:
                frame = self._framer.take(line)
            except Difference as difference:
                self._wrong = str(difference)
                return
            if frame is None:
                self._rest.append(line)
            else:
                self._add(frame)

    def _conclude(self) -> None:
        if self._framer is None:
            raise UsageError(f"{self.source.name} is empty, not a replay")
        seats = range(len(self.state.setup.names)) if self.eyes is None and self.state is not None else ()
        words = {player: self.source.stderr(player) for player in seats}
        self.lines += conclusion(self._framer, self._rest, self._wrong, words)

    def _add(self, line: bytes) -> None:
        self.lines.append(line)
