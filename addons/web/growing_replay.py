"""Makes the viewer's lines of one replay, once for all readers, and more of them while the replay grows.

Each reader has an index into one list, so a browser that stops reading blocks nothing. When all readers have stopped,
a growing replay is not followed further until one of them reads on.
"""

from time import perf_counter

import trio

from referee.addons.web.page import Closing, ViewerLines, encoded
from referee.addons.web.replay_list import ReplaySource
from referee.addons.web.viewer_frames import Eyes
from referee.games.contract import State
from referee.harness.common.errors import UsageError, reason
from referee.harness.match.bell import Bell
from referee.harness.replay.formats.originals import read_record
from referee.harness.replay.reader import MAX_BYTES

POLL_S = 0.03
"""How often a growing replay is read."""
AHEAD = 4096
"""How many lines are made before somebody asks for them."""
PIECE_BYTES = 16 << 10
"""A reader gets so much at a time, and at least a line: a thousand readers may wait for theirs."""
SLICE_S = 0.01
"""How long lines are made before other tasks get a turn."""


class FollowedReplay:
    """A replay as some seats see it. `run` makes `lines`."""

    def __init__(self, source: ReplaySource, eyes: Eyes, bell: Bell) -> None:
        self.source = source
        self.eyes = eyes
        self.lines: list[bytes] = []
        self.caught_up = False
        """`lines` contains what the replay had when it was first read."""
        self.over = False
        """No more lines will follow."""
        self.readers = 0
        self.needed = False
        """Follow the replay even if nobody reads."""
        self.scope = trio.CancelScope()
        self._viewer_lines: ViewerLines | None = None
        self._requested = 0  # the end of the last piece
        self._piece = 0, 0, b"", 0
        """The latest piece: where it begins, how many lines there were, its bytes, where it ends."""
        self._read_bytes = 0
        self._partial = b""
        self._bell = bell

    @property
    def has_no_replay(self) -> bool:
        """Whether it ended before the replay's first line. The file may have one when somebody asks again."""
        return self.over and self._viewer_lines is None

    @property
    def position(self) -> tuple[str, State] | None:
        """The game's name and the latest position, not to be changed; None if there is none yet."""
        if self._viewer_lines is None or self._viewer_lines.state is None:
            return None
        return self._viewer_lines.replay.game.name, self._viewer_lines.state

    def piece(self, at: int) -> tuple[bytes, int]:
        """Returns the lines that exist from `at` on, up to a limit, and the index of the next one."""
        if self._piece[:2] != (at, len(self.lines)):  # most readers are at the same line
            end, size = at, 0
            while end < len(self.lines) and (end == at or size + len(self.lines[end]) <= PIECE_BYTES):
                size += len(self.lines[end])
                end += 1
            self._piece = at, len(self.lines), b"".join(self.lines[at:end]), end
        *_, piece, end = self._piece
        if piece:
            self._requested = max(self._requested, end)
        return piece, end

    async def run(self) -> None:
        """Reads the replay until it has ended."""
        with self.scope:
            try:
                await self._read()
                self._conclude()
            except UsageError as error:
                self.lines.append(encoded(Closing(str(error))))
            except OSError as error:
                self.lines.append(encoded(Closing(f"cannot read the replay: {reason(error)}")))
            self.over = True
            self._bell.ring()

    async def _read(self) -> None:
        while True:
            while self._is_ahead():
                await trio.sleep(POLL_S)
            grows = self.source.grows()  # first: what is written after this is read in the next round
            data = self.source.read(self._read_bytes)
            self._read_bytes += len(data)
            if self._read_bytes > MAX_BYTES:
                raise OSError(f"it has more than {MAX_BYTES >> 20} MiB")
            *whole, self._partial = (self._partial + data).split(b"\n")
            if not grows and not data and self._partial:
                whole, self._partial = [self._partial], b""
            await self._take(whole)
            if not self.caught_up:
                self.caught_up = True
                self._bell.ring()
            if not grows and not data:
                return
            await trio.sleep(POLL_S if grows else 0)

    def _is_ahead(self) -> bool:
        """Tells whether all readers have stopped reading."""
        return self.caught_up and self.readers > 0 and not self.needed and len(self.lines) - self._requested > AHEAD

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
        if self._viewer_lines is None:
            replay = read_record(self.source.path, line)
            self._viewer_lines = ViewerLines(replay, self.eyes, self.source.grows())
            self.lines += self._viewer_lines.begin()
        elif (frame := self._viewer_lines.take(line)) is not None:
            self.lines.append(frame)

    def _conclude(self) -> None:
        if self._viewer_lines is None:
            raise UsageError(f"{self.source.name} is empty, not a replay")
        state = self._viewer_lines.state
        seats = () if state is None or self.eyes is not None else range(len(state.setup.names))
        self.lines += self._viewer_lines.conclude({player: self.source.stderr(player) for player in seats})
