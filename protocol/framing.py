"""Where a frame ends. Each splitter cuts one encoding's stream of bytes into whole frames, however the bytes arrive.

It cuts one frame at a time, on request, because the encoding may change between two frames. It enforces the limit on a
frame's size while the frame arrives.
"""

import re
from abc import ABC, abstractmethod

import msgpack  # type: ignore[import-untyped]

from referee.protocol.errors import RemoteProtocolError, broken, stray_print
from referee.protocol.text import quote

_BLANK_LINES = re.compile(rb"(?:[ \t\r]{0,999}+\n)++")  # `_line` takes longer ones, which may break the limit


class FrameSplitter(ABC):
    """The interface of both encodings' splitters."""

    def __init__(self, max_frame_bytes: int, rest: bytes | bytearray = b"") -> None:
        self.max_frame_bytes = max_frame_bytes
        self.rest = rest
        """The bytes that have arrived and were not taken yet."""

    def feed(self, data: bytes | bytearray) -> None:
        """Adds bytes to the end."""
        if not self.rest:
            self.rest = data
            return
        if not isinstance(self.rest, bytearray):
            self.rest = bytearray(self.rest)
        self.rest += data

    @abstractmethod
    def clear(self) -> None:
        """Takes all of `rest`, which was one whole frame."""

    @abstractmethod
    def has_frame(self) -> bool:
        """Returns whether `next` has a frame to return or to refuse. Takes and decodes nothing."""

    @abstractmethod
    def next(self) -> bytes | bytearray | None:
        """Takes the next frame; None = it is not complete yet. Raises RemoteProtocolError."""


class LineSplitter(FrameSplitter):
    """JSON: one frame a line. Only LF ends a line; blank lines are skipped."""

    def __init__(self, max_frame_bytes: int, rest: bytes | bytearray = b"") -> None:
        super().__init__(max_frame_bytes, rest)
        self._searched = 0  # the number of bytes at the start of the rest that hold no LF

    def clear(self) -> None:
        self.rest = b""
        self._searched = 0

    def has_frame(self) -> bool:
        return self.rest.find(b"\n", self._searched) >= 0 or len(self.rest) > self.max_frame_bytes

    def next(self) -> bytes | bytearray | None:
        """Takes the next line that is not blank, with or without its LF, which does not count for the limit."""
        while (line := self._line()) is not None:
            if line.strip(b" \t\r\n"):
                return line
            # Skip all blank lines at once: a flood of them must not cost us more than it costs the bot.
            if blank := _BLANK_LINES.match(self.rest):
                self.rest = self.rest[blank.end() :]
        return None

    def _line(self) -> bytes | bytearray | None:
        end = self.rest.find(b"\n", self._searched)
        size = len(self.rest) if end < 0 else end
        if size > self.max_frame_bytes:
            raise _too_long(self.max_frame_bytes, self.rest)
        if end < 0:
            self._searched = size
            # The first byte of a small MessagePack map begins no text, and an LF may never come.
            if size and 0x80 <= self.rest[0] <= 0x8F:
                raise broken("this looks like MessagePack, but the encoding in force is json", self.rest)
            return None
        self._searched = 0
        if end == len(self.rest) - 1:
            line, self.rest = self.rest, b""
            return line
        if not isinstance(self.rest, bytearray):
            self.rest = bytearray(self.rest)  # cheap to shorten at its beginning
        line = self.rest[:end]
        del self.rest[: end + 1]
        return line


class MapSplitter(FrameSplitter):
    """MessagePack: one map a frame, the next follows at once."""

    def __init__(self, max_frame_bytes: int, rest: bytes | bytearray = b"") -> None:
        super().__init__(max_frame_bytes, rest)
        self._scanner = _scanner()
        self._scanned = 0  # the number of bytes of the rest that the scanner was given
        self._start = 0  # the position of the rest in the scanner's count
        self._end: int | RemoteProtocolError | None = None  # of the first frame, if it was looked for

    def clear(self) -> None:
        self.rest = b""
        if self._scanned:
            self._scanner = _scanner()
            self._scanned = self._start = 0
            self._end = None

    def has_frame(self) -> bool:
        if not self.rest or not _begins_map(self.rest[0]):
            return bool(self.rest)
        if self._end is None:
            try:
                self._end = self._find_end()
            except RemoteProtocolError as error:
                self._end = error
        return self._end is not None or len(self.rest) > self.max_frame_bytes

    def next(self) -> bytes | bytearray | None:
        """Takes the next whole map as bytes. Its keys, text and numbers are not checked yet."""
        if not self.has_frame():
            return None
        if not _begins_map(self.rest[0]):
            raise _no_map(self.rest)
        end = self._end
        if isinstance(end, RemoteProtocolError):
            raise end
        if end is None or end > self.max_frame_bytes:
            raise _too_long(self.max_frame_bytes, self.rest)
        frame = self.rest[:end]
        if not isinstance(self.rest, bytearray):
            self.rest = bytearray(self.rest)
        del self.rest[:end]
        self._end = None
        self._scanned -= end
        self._start += end
        return frame

    def _find_end(self) -> int | None:
        """Returns the length of the first frame. The scanner continues where it stopped: it reads no byte twice."""
        if self._scanned < len(self.rest):
            self._scanner.feed(self.rest[self._scanned :])
            self._scanned = len(self.rest)
        try:
            self._scanner.skip()
        except msgpack.OutOfData:
            return None  # now tell() counts the half frame too, so it must not be asked
        except msgpack.StackError:
            raise broken("nested too deep", self.rest) from None
        except ValueError as error:
            raise broken(f"not MessagePack ({str(error) or 'an impossible byte'})", self.rest) from None
        end: int = self._scanner.tell() - self._start
        return end


def _scanner() -> msgpack.Unpacker:
    """Returns a scanner without a limit of its own: the splitter limits the frame's length."""
    return msgpack.Unpacker(max_buffer_size=0)


def _begins_map(first: int) -> bool:
    return 0x80 <= first <= 0x8F or first in (0xDE, 0xDF)


def _no_map(rest: bytes | bytearray) -> RemoteProtocolError:
    """Returns the error for bytes that begin no map. Each ASCII character is a whole MessagePack value, an integer."""
    if rest[:1] == b"{":
        return broken("this looks like JSON, but the encoding in force is msgpack", rest)
    if rest[0] < 0x80:
        return stray_print(rest)
    return broken("a frame is a MessagePack map, but this is none", rest)


def _too_long(limit: int, rest: bytes | bytearray) -> RemoteProtocolError:
    return RemoteProtocolError(f"a frame of more than {limit} bytes, which is the limit; it begins: {quote(rest)}")
