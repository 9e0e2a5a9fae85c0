"""Writes whole files to places that a user names, and never over a file that no command of ours has written."""

import os
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENXIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from referee.harness.common.errors import UsageError
from referee.harness.common.paths import TOURNAMENT_FILE, TOURNAMENT_PARTS, allowed

FIRST_BYTES = 1 << 12
"""Enough of a file to see what it is."""
GZIP, UNZIP = b"\x1f\x8b", 31
"""How a packed file begins, and what zlib calls the format."""
DEVICES = ("/dev/", "/proc/")
"""Folders of names such as /dev/stdout, whose file the user's shell has opened."""


def first_bytes(path: str | Path) -> bytes:
    """Returns the first bytes of a file, unpacked if it is a gzip file. OSError or zlib.error if that fails."""
    with open(path, "rb") as file:
        first = file.read(FIRST_BYTES)
    return zlib.decompressobj(UNZIP).decompress(first, FIRST_BYTES) if first.startswith(GZIP) else first


class FileKind(NamedTuple):
    """A kind of file that a command writes. A new one may replace an older one."""

    name: str
    """In a message, with its article."""
    begins: re.Pattern[bytes]
    """Matches what `first_bytes` returns of such a file."""

    def is_like(self, path: str | Path) -> bool | None:
        """Whether a file is of this kind, or empty; None if it cannot be read."""
        try:
            first = first_bytes(path)
        except (OSError, zlib.error):
            return None
        return not first or self.begins.match(first) is not None

    def fits(self, path: Path) -> bool:
        """Whether a file may be replaced: it is of this kind, empty, missing, or no plain file.

        Not one that cannot be read, since nobody can tell what would be lost.
        """
        is_plain = os.path.isfile(path) and not os.path.abspath(path).startswith(DEVICES)
        return not is_plain or self.is_like(path) is True

    def refuse_other(self, path: Path) -> None:
        """UsageError for a file that may not be replaced."""
        if not self.fits(path):
            raise UsageError(f"{path} exists and is not {self.name}; name another file, or remove it first")

    def check_place(self, path: Path, *inputs: Path | None) -> None:
        """UsageError if writing to `path` would replace an input or a file of another kind, or change a tournament."""
        for each in inputs:
            if each is not None and path.exists() and each.exists() and path.samefile(each):
                raise UsageError(f"{path} is also read; name another file to write to")
        refuse_tournament(path)
        self.refuse_other(path)


REPLAY = FileKind("a replay", re.compile(rb'\{"replay":'))
JUNIT = FileKind("JUnit XML of Referee", re.compile(rb'<\?xml[^>]*>\s*<testsuites name="referee '))


def refuse_tournament(path: Path) -> None:
    """UsageError for a place among a tournament's own files."""
    real = Path(os.path.realpath(path))
    for part in (real, *real.parents):
        if part.name in TOURNAMENT_PARTS and (part.parent / TOURNAMENT_FILE).is_file():
            raise UsageError(f"{path} is among the files of the tournament {part.parent}; write it elsewhere")


def kind_like(content: bytes, name: str) -> FileKind:
    """Returns the kind of files that begin with the same four bytes, as those of compilers do."""
    return FileKind(name, re.compile(re.escape(content[:4])))


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yields the path of a new file, whose content goes to `path` if the block succeeds. Raises OSError.

    A plain file is replaced; it gets the permissions `mode`, as far as umask and folder allow them. The target of a
    link, a device and a pipe are written to; a target that is a file is closed to others if `mode` is. The new file has
    the suffix of `path`.
    """
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except FileNotFoundError:
        kind = stat.S_IFREG
    if kind != stat.S_IFREG:
        with TemporaryDirectory(prefix="referee-") as scratch:
            new = Path(scratch, f"new{path.suffix}")
            yield new
            _write_through(new, path, mode)
        return
    new = path.with_name(f".{secrets.token_hex(8)}{path.suffix[:32]}")
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode & allowed(new)))
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _write_through(new: Path, path: Path, mode: int) -> None:
    """Copies a file to what is there. OSError for a folder and for a pipe that nobody reads."""
    try:
        target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno == ENXIO:
            raise OSError("it is a pipe that nobody reads") from error
        raise
    os.set_blocking(target, True)
    with open(target, "wb") as file, new.open("rb") as content:
        status = os.fstat(target)
        if stat.S_ISREG(status.st_mode) and not mode & 0o077:  # a secret: the file may have been open to others
            os.fchmod(target, stat.S_IMODE(status.st_mode) & mode)
        shutil.copyfileobj(content, file)


def write_whole(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Writes a file at once or not at all, as `whole_file` does."""
    with whole_file(path, mode) as new:
        new.write_bytes(content)
