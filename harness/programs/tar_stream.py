"""Tar files of strangers: read once, within limits of size, depth and headers."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO, Protocol

UNPACKED_BYTES = 1 << 30
"""Most bytes of content."""
MAX_DEPTH = 100
"""Most folders around a file."""
HEADER_BYTES = 1 << 18
"""Most bytes that describe one file. `tarfile` reads them into memory."""
PIECE_BYTES = 1 << 16
GZIP = b"\x1f\x8b"
BROKEN = (
    *(tarfile.TarError, gzip.BadGzipFile, zlib.error),
    *(EOFError, ValueError, ArithmeticError, LookupError, RecursionError),
)
"""What Python's readers raise for a broken archive."""


class Refused(Exception):
    """An archive is broken or hostile. The message says what is wrong, without the archive's name."""


class Source(Protocol):
    """A readable file."""

    def read(self, size: int, /) -> bytes: ...


class TarStream:
    """An uncompressed tar file, read once from beginning to end, with the methods that `tarfile` calls."""

    def __init__(self, source: Source, most_bytes: int) -> None:
        self._source = source
        self._most_bytes = most_bytes
        self._at = 0
        self._hash = sha256()
        self.header_bytes = HEADER_BYTES
        """Bytes that may still be read to find the next entry."""

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Reads a part of a header. Refused if that takes too much."""
        self.header_bytes -= size
        if size < 0 or self.header_bytes < 0:
            raise Refused("an entry has a header that is too long")
        return b"".join(self.pieces(size))

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        """Skips to a later position."""
        if whence != io.SEEK_SET or position < self._at:
            raise Refused("an entry has an impossible size")
        for _ in self.pieces(position - self._at):
            pass
        return self._at

    def pieces(self, size: int) -> Iterator[bytes]:
        """Reads `size` bytes, or what is left of them."""
        while size > 0 and (data := self._source.read(min(size, PIECE_BYTES))):
            size -= len(data)
            self._at += len(data)
            if self._at > self._most_bytes:
                raise Refused(f"unpacks to more than {UNPACKED_BYTES:,} bytes")
            self._hash.update(data)
            yield data

    def entries(self) -> Iterator[tarfile.TarInfo]:
        """Yields the entries in their order. `copy` reads the content of the last one."""
        with tarfile.open(fileobj=self, mode="r:", encoding="utf-8") as tar:  # type: ignore[call-overload]
            while (entry := tar.next()) is not None:
                tar.members.clear()  # they would be kept
                yield entry
                self.header_bytes = HEADER_BYTES

    def copy(self, entry: tarfile.TarInfo, target: BinaryIO) -> None:
        """Writes the content of an entry. EOFError if it is cut off."""
        self.seek(entry.offset_data)
        if sum(map(target.write, self.pieces(entry.size))) != entry.size:
            raise EOFError("a file is cut off")

    def digest(self) -> str:
        """Returns the SHA-256 of the whole file, in hexadecimal."""
        for _ in self.pieces(self._most_bytes + 1):
            pass
        return self._hash.hexdigest()
