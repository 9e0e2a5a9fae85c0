"""Where a frame ends. Each class cuts one encoding's stream of bytes into whole frames, however the bytes arrive.

Frames are cut one at a time, when asked for, because the encoding may change between two of them. The limit on a
frame's size is enforced while the frame arrives.
"""

from abc import ABC, abstractmethod

import msgpack  # type: ignore[import-untyped]

from referee.protocol.errors import RemoteProtocolError, broken, quote, stray_print


class Frames(ABC):
    """What both encodings' cutters can do."""

    def __init__(self, max_frame_bytes: int, rest: bytes | bytearray = b"") -> None:
        self.max_frame_bytes = max_frame_bytes
        self.rest = rest
        """What has come and was not taken yet."""

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
    def whole(self) -> bool:
        """Whether `next` has something to give, or to refuse. Takes nothing, and decodes nothing."""

    @abstractmethod
    def next(self) -> bytes | bytearray | None:
        """Takes the next frame; None = it has not come whole yet. Raises RemoteProtocolError."""


class Lines(Frames):
    """JSON: one frame a line. Only LF ends a line; blank lines are nothing."""

    def __init__(self, max_frame_bytes: int, rest: bytes | bytearray = b"") -> None:
        super().__init__(max_frame_bytes, rest)
        self._searched = 0  # so many bytes of the rest hold no LF

    def clear(self) -> None:
        self.rest = b""
        self._searched = 0

    def whole(self) -> bool:
        return self.rest.find(b"\n", self._searched) >= 0 or len(self.rest) > self.max_frame_bytes

    def next(self) -> bytes | bytearray | None:
        """The next line that is not blank, with or without its LF. The LF does not count for the limit."""
        if self.rest[:1] in (b"\n", b"\r"):
            # At once, or a flood of blank lines would cost us more than it costs the bot.
            self.rest, self._searched = self.rest.lstrip(b"\r\n"), 0
        while (line := self._line()) is not None:
            if line.strip(b" \t\r\n"):
                return line
        return None

    def _line(self) -> bytes | bytearray | None:
        end = self.rest.find(b"\n", self._searched)
        size = len(self.rest) if end < 0 else end
        if size > self.max_frame_bytes:
            raise _too_long(self.max_frame_bytes, self.rest)
        if end < 0:
            self._searched = size
            # No text begins with the first byte of a small MessagePack map, and no LF may ever come.
            if size and 0x80 <= self.rest[0] <= 0x8F:
                raise broken("this looks like MessagePack, but the encoding in force is json", self.rest)
            return None
        self._searched = 0
        if end == len(self.rest) - 1:
            line, self.rest = self.rest, b""
            return line
        if not isinstance(self.rest, bytearray):
            self.rest = bytearray(self.rest)  # cheap to shorten at the front
        line = self.rest[:end]
        del self.rest[: end + 1]
        return line


class Packs(Frames):
    """MessagePack: one map a frame, the next follows at once."""

    def __init__(self, max_frame_bytes: int, rest: bytes | bytearray = b"") -> None:
        super().__init__(max_frame_bytes, rest)
        self._scanner = _scanner()
        self._scanned = 0  # so many bytes of the rest were given to the scanner
        self._start = 0  # where the rest begins, in the scanner's count
        self._found: int | RemoteProtocolError | None = None  # the end of the first frame, if that was looked for

    def clear(self) -> None:
        self.rest = b""
        if self._scanned:
            self._scanner = _scanner()
            self._scanned = self._start = 0
            self._found = None

    def whole(self) -> bool:
        if not self.rest:
            return False
        if self._found is None and _begins_map(self.rest[0]):
            try:
                self._found = self._end_of_frame()
            except RemoteProtocolError as error:
                self._found = error
        return self._found is not None or not _begins_map(self.rest[0]) or len(self.rest) > self.max_frame_bytes

    def next(self) -> bytes | bytearray | None:
        """The next whole map, as bytes. It is not decoded: keys, text and numbers are still to be checked."""
        if not self.rest:
            return None
        if not _begins_map(self.rest[0]):
            raise _no_map(self.rest)
        end = self._end_of_frame() if self._found is None else self._found
        if isinstance(end, RemoteProtocolError):
            raise end
        if (len(self.rest) if end is None else end) > self.max_frame_bytes:
            raise _too_long(self.max_frame_bytes, self.rest)
        if end is None:
            return None
        frame = self.rest[:end]
        if not isinstance(self.rest, bytearray):
            self.rest = bytearray(self.rest)
        del self.rest[:end]
        self._found = None
        self._scanned -= end
        self._start += end
        return frame

    def _end_of_frame(self) -> int | None:
        """The length of the first frame. The scanner goes on where it stopped: no byte is looked at twice."""
        if self._scanned < len(self.rest):
            self._scanner.feed(self.rest[self._scanned :])
            self._scanned = len(self.rest)
        try:
            self._scanner.skip()
        except msgpack.OutOfData:
            return None  # and tell() now counts the half frame: it is not to be asked
        except msgpack.StackError:
            raise broken("nested too deep", self.rest) from None
        except ValueError as error:
            raise broken(f"not MessagePack ({str(error) or 'an impossible byte'})", self.rest) from None
        end: int = self._scanner.tell() - self._start
        return end


def _scanner() -> msgpack.Unpacker:
    """A scanner that sets no limit of its own: ours is enforced by the frames' length."""
    return msgpack.Unpacker(max_buffer_size=0)


def _begins_map(first: int) -> bool:
    return 0x80 <= first <= 0x8F or first in (0xDE, 0xDF)


def _no_map(rest: bytes | bytearray) -> RemoteProtocolError:
    """Each character of a text is a whole MessagePack value, an integer: so text must be told from a frame here."""
    if rest[:1] == b"{":
        return broken("this looks like JSON, but the encoding in force is msgpack", rest)
    if rest[0] < 0x80:
        return stray_print(rest)
    return broken("a frame is a MessagePack map, but this is none", rest)


def _too_long(limit: int, rest: bytes | bytearray) -> RemoteProtocolError:
    return RemoteProtocolError(f"a frame of more than {limit} bytes, which is the limit; it begins: {quote(rest)}")
