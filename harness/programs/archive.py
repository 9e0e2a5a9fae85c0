"""The files of a bot's folder, without build results, and a hash of their content."""

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

LEFT_OUT = frozenset({".git", "build", "target", "node_modules", "__pycache__", ".venv"})
"""Folders of build tools, which are left out at any depth."""


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


def read(folder: Path, exclude: Iterable[str] = ()) -> BotArchive:
    """Reads the files of a folder. OSError for a file that cannot be read.

    `exclude`: patterns of relative paths, such as `data/*.bin`. A pattern that matches a folder excludes all of it.
    """
    patterns = tuple(pattern.rstrip("/") for pattern in exclude)
    return BotArchive(folder, tuple(sorted(_files(folder, "", patterns))))


def _files(folder: Path, inside: str, patterns: tuple[str, ...]) -> Iterator[File]:
    with os.scandir(folder / inside) as entries:
        for entry in entries:
            path = inside + entry.name
            if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in LEFT_OUT:
                    yield from _files(folder, path + "/", patterns)
            elif entry.is_dir():
                yield File(path, False, hashlib.sha256(os.fsencode(os.readlink(entry.path))).hexdigest())
            elif entry.is_file():
                yield File(path, bool(entry.stat().st_mode & stat.S_IXUSR), sha256(Path(entry.path)))


def sha256(file: Path) -> str:
    """Returns the SHA-256 of a file's content, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
