"""What a bot consists of: the files of its folder, without what is made of them, and one name for their content."""

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

LEFT_OUT = frozenset({".git", "build", "target", "node_modules", "__pycache__", ".venv"})
"""Folders that tools make or keep beside a source, at any depth."""


class File(Struct, frozen=True, order=True):
    """One file of a bundle."""

    path: str
    """From the bundle's folder, with slashes."""
    executable: bool
    sha256: str
    """Of the content, in hexadecimal; of a link to a folder, of its target's name."""

    @property
    def line(self) -> str:
        """What stands for the file in the identity."""
        return f"{self.path} {'x' if self.executable else '-'} {self.sha256}"


class Bundle(Struct, frozen=True):
    """A folder's files at one moment."""

    folder: Path
    files: tuple[File, ...]
    """Sorted by path."""

    @property
    def identity(self) -> str:
        """Names the content: the same files give the same, wherever they lie, whoever owns them, however packed."""
        return identity(self.files)


def identity(files: Iterable[File]) -> str:
    """SHA-256, in hexadecimal, over the sorted lines of path, executable bit and SHA-256 of the content."""
    return hashlib.sha256("\n".join(sorted(file.line for file in files)).encode("utf-8", "surrogateescape")).hexdigest()


def read(folder: Path, exclude: Iterable[str] = ()) -> Bundle:
    """The bundle that a folder holds. OSError for a file that cannot be read.

    `exclude` are patterns of paths from the folder, as in `data/*.bin`; one that matches a folder leaves all of it out.
    """
    patterns = tuple(pattern.rstrip("/") for pattern in exclude)
    return Bundle(folder, tuple(sorted(_files(folder, "", patterns))))


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
    """Of a file's content, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
