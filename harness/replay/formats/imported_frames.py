"""A file of an original competition as frames, as if it were a record, and whatever can be looked at."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from referee.harness.replay.formats.imports import Notice, Original, form_of
from referee.harness.replay.reader import Replay, contents
from referee.harness.replay.simulate import Difference
from referee.harness.replay.viewer_frames import Eyes, Framer, difference, framed

_encode = msgspec.json.Encoder().encode


def read_record(path: Path, content: bytes | None = None) -> Replay | Original:
    """What can be looked at: a record, or a file of an original competition. `content`: what the file holds, or how it
    begins, if that is known already. UsageError if it is neither."""
    try:
        lines = (contents(path) if content is None else content).splitlines()
    except OSError:
        lines = []  # Replay says why
    form = form_of(lines[0]) if lines else None
    return Replay(path, content) if form is None else Original(path, form, lines)


class Reading:
    """A file that is read line by line, also while it comes."""

    def __init__(self, original: Original) -> None:
        self.reader = original.reader()
        self._number = 1

    def take(self, line: bytes) -> Sequence[Notice] | None:
        """What the next line after the first tells; None = it ends the file. Raises Difference where it is wrong."""
        self._number += 1
        try:
            return self.reader.take(line)
        except ValueError as error:
            raise Difference(self._number, str(error)) from error

    def conclude(self, rest: Sequence[bytes]) -> None:
        """Judges the end: `rest` are the lines from the first that ends the file on. Raises Difference."""
        if not rest:
            raise Difference(self._number + 1, "missing: the file has no end")
        for line in rest[1:]:
            if line.strip():
                self.take(line)


class OriginalFramer:
    """Makes the frames of a file as `Framer` does of a record: what the file says, and nothing else."""

    def __init__(self, original: Original, drawn: bool = True) -> None:
        self._reading = Reading(original)
        self._drawn = drawn
        self._before: Any = None

    def begin(self) -> list[bytes]:
        """A header, and the first position, which stands in the same line of the file."""
        header = {"replay": 0, "time": {"per_call_s": None}, "setup": {"seed": None, "options": None}}
        return [framed({}, _encode(header)), self._frame({"opening": []})]

    def take(self, line: bytes) -> bytes | None:
        """The frame of the next line; None = it ends the file. Raises Difference where it is wrong."""
        notices = self._reading.take(line)
        if notices is None:
            return None
        events = [{"event": "notice", "method": name, "params": params, "to": []} for name, params in notices]
        return self._frame({"turn": self._reading.reader.turns, "events": events})

    def conclude(self, rest: Sequence[bytes]) -> str:
        """See `Framer`."""
        self._reading.conclude(rest)
        return "as recorded"

    def last(self, line: bytes) -> bytes:
        """See `Framer`."""
        return framed({}, b'{"result":null}')

    def _frame(self, line: Mapping[str, Any]) -> bytes:
        reader = self._reading.reader
        shown = {"view": reader.view, "text": reader.drawing if self._drawn else [], "marks": {}, "awaited": {}}
        after = msgspec.json.decode(_encode(shown))
        patch = [after] if self._before is None else difference(self._before, after)
        self._before = after
        return framed(patch, _encode(line))


def framer_of(record: Replay | Original, eyes: Eyes = None, drawn: bool = True) -> Framer | OriginalFramer:
    """Who makes the frames, with what each seat may see where that is known."""
    if isinstance(record, Original):
        return OriginalFramer(record, drawn)
    return Framer(record, seats=True, eyes=eyes, drawn=drawn)
