"""The files of a bot's folder, without build results, and a hash of their content."""

import fnmatch
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from referee.harness.common.errors import UsageError
from referee.harness.isolation.visible_paths import is_inside
from referee.harness.programs.private_files import is_private

LEFT_OUT = frozenset({".git", "build", "target", "node_modules", "__pycache__", ".venv"})
"""Folders of build tools, and links of these names, which are left out at any depth."""

ELF = b"\x7fELF"
FOREIGN = {
    b"\xcf\xfa\xed\xfe": "macOS",
    b"\xce\xfa\xed\xfe": "macOS",
    b"\xca\xfe\xba\xbe": "macOS",
    b"MZ": "Windows",
}
"""The first bytes of programs of other systems."""
PROGRAMS = (b"#!", ELF, *FOREIGN)
"""The first bytes of programs, also of other systems: what starts one says why this system cannot."""
LFS = b"version https://git-lfs.github.com/spec/"
"""How a file begins that stands for one which git does not hold."""
Patterns = Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=100)]
"""Patterns that a stranger may have written. Each costs time for each file."""
MOST_COMPARED = 1_000_000_000
"""Most letters of patterns times letters of paths: comparing so many takes a few seconds at worst."""


class File(Struct, frozen=True, order=True):
    """One file of a bot."""

    path: str
    """Relative to the bot's folder, with slashes."""
    executable: bool
    sha256: str
    """The hash of the content, in hexadecimal; for a link to a folder, the hash of its target's path."""

    @property
    def line(self) -> str:
        """The file's line in the identity."""
        return f"{self.path} {'x' if self.executable else '-'} {self.sha256}"


class BotArchive(Struct, frozen=True):
    """The files of a bot's folder at one moment."""

    folder: Path
    files: tuple[File, ...]
    """Sorted by path."""

    @property
    def identity(self) -> str:
        """The SHA-256 of the files' sorted lines, in hexadecimal: not of their place, owner or packing."""
        lines = "\n".join(sorted(file.line for file in self.files))
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def read(
    folder: Path,
    exclude: Iterable[str] = (),
    readable: Iterable[str] = (),
    most_bytes: int | None = None,
    left_out: Collection[str] = LEFT_OUT,
    private: list[str] | None = None,
) -> BotArchive:
    """Reads the files of a folder. OSError for a file that cannot be read.

    UsageError for a link to a file outside: it would put any file of this machine among the bot's. UsageError for more
    than `most_bytes`: a sparse file of a stranger may be as long as it likes.

    `exclude`: patterns of relative paths, such as `data/*.bin`. A pattern that matches a folder excludes all of it.
    `readable`: files and folders that the user shows to bots, to which links may lead too.
    `private`: leaves out what `is_private` names, unread, and adds its paths to this list.
    """
    excluded, allowed = _Excluded(exclude), real_paths(folder, *readable)
    return BotArchive(folder, tuple(sorted(_files(folder, excluded, allowed, most_bytes, left_out, private))))


class _Excluded:
    """The patterns of paths that do not belong to a bot, in one expression."""

    def __init__(self, patterns: Iterable[str]) -> None:
        # What fnmatch makes of a pattern never goes back to an earlier star. `(?!)` matches nothing.
        patterns = tuple(pattern.rstrip("/") for pattern in patterns)
        self._match = re.compile("|".join(map(fnmatch.translate, patterns)) or "(?!)").match
        self._length, self._left = sum(map(len, patterns)), MOST_COMPARED

    def has(self, path: str) -> bool:
        """Returns whether a pattern matches. UsageError if the folder has too many paths for its patterns."""
        self._left -= self._length * len(path)
        if self._left < 0:
            raise UsageError("exclude has too many patterns for so many files; name whole folders")
        return self._match(path) is not None


def _files(
    folder: Path,
    excluded: _Excluded,
    allowed: tuple[str, ...],
    most_bytes: int | None,
    left_out: Collection[str],
    private: list[str] | None,
) -> Iterator[File]:
    waiting, length = [""], 0
    while waiting:  # not by recursion: a stranger's folders may be nested deeply
        inside = waiting.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                path = inside + entry.name
                if excluded.has(path):
                    continue
                is_link = entry.is_symlink()
                if is_link and not os.path.exists(entry.path):
                    continue
                if entry.name in left_out and (is_link or entry.is_dir()):
                    continue
                if private is not None and is_private(Path(entry.path)):
                    private.append(path)
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path + "/")
                elif is_link and entry.is_file() and not is_inside(os.path.realpath(entry.path), allowed):
                    raise UsageError(f"{path} is a link that leads outside; include the file itself")
                elif entry.is_dir():  # a link: what it leads to is not copied
                    yield File(path, False, hashlib.sha256(os.fsencode(os.readlink(entry.path))).hexdigest())
                elif entry.is_file():
                    length += entry.stat().st_size
                    if most_bytes is not None and length > most_bytes:
                        raise UsageError(
                            f"its files have more than {most_bytes >> 20:,} MiB; exclude what it can spare"
                        )
                    yield File(path, bool(entry.stat().st_mode & stat.S_IXUSR), sha256(Path(entry.path)))


def begins_with(file: Path, beginnings: tuple[bytes, ...]) -> bool:
    """Returns whether a file begins with one of these bytes. OSError if it cannot be read."""
    with file.open("rb") as opened:
        return opened.read(max(map(len, beginnings))).startswith(beginnings)


def check_no_pointer(path: Path, shown: str) -> None:
    """UsageError for a file that is a pointer of git LFS. A file that cannot be read is none."""
    try:
        is_pointer = path.is_file() and begins_with(path, (LFS,))
    except OSError:
        return
    if is_pointer:
        raise UsageError(f"{shown} is a pointer of git LFS; include the file itself")


def real_paths(*paths: str | Path) -> tuple[str, ...]:
    """Returns paths without links."""
    return tuple([os.path.realpath(path) for path in paths])


def sha256(file: Path) -> str:
    """Returns the SHA-256 of a file's content, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
