"""Counts the space that a build has taken on the disk."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from referee.protocol.text import mebibytes

MOST_FILES = 1 << 20
"""Files and folders of a build. Packages for JavaScript have tens of thousands."""
MOST_DEPTH = 200
"""Folders around a file. Deeper ones, which no path can name, could hide any number of files."""
LOOK_EVERY_S = 0.5
COST = 0.05
"""Most of a core that counting may take."""


class Room:
    """The space of a build. It counts again and again, and rarely if that takes long.

    A file counts as its copy will: a hole takes space, and so does each name of a file with several.
    """

    def __init__(self, folder: Path, caches: Path | None, limit_bytes: int | None) -> None:
        """`folder`: where it builds. `caches`: what it changes in caches; None = nothing."""
        self._folder, self._caches, self._limit_bytes = folder, caches, limit_bytes
        self._next_at = 0.0

    def exceeded_now_and_then(self) -> str:
        """Returns what `exceeded` does; nothing if that would take too much of the time."""
        started = time.monotonic()
        if started < self._next_at:
            return ""
        found = self.exceeded()
        took_s = time.monotonic() - started
        self._next_at = time.monotonic() + max(LOOK_EVERY_S, took_s / COST)
        return found

    def exceeded(self) -> str:
        """Returns what the build did that it may not; empty if nothing."""
        used_bytes = files = 0
        try:
            for size in self._sizes():
                used_bytes += size
                files += 1
                if self._limit_bytes is not None and used_bytes > self._limit_bytes:
                    return f"took more than {mebibytes(self._limit_bytes)} on the disk; --build disk changes that limit"
                if files > MOST_FILES:
                    return f"made more than {MOST_FILES:,} files and folders"
        except OSError as error:
            return f"made a folder that cannot be read ({error.strerror})"
        except _TooDeep:
            return f"made more than {MOST_DEPTH} folders inside of each other"
        return ""

    def _sizes(self) -> Iterator[int]:
        yield from _sizes(self._folder, is_all=True)
        if self._caches is not None:
            yield from _sizes(self._caches, is_all=False)  # the kernel keeps folders there that are closed to us


class _TooDeep(Exception):
    """Folders are nested too deeply."""


def _sizes(folder: Path, is_all: bool) -> Iterator[int]:
    """Yields the size of each file and folder in bytes. OSError for a closed folder if all of them have to be read."""
    waiting = [(os.fspath(folder), 0)]
    while waiting:
        inside, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise _TooDeep
        try:
            with os.scandir(inside) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    yield max(status.st_size, status.st_blocks * 512)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except (FileNotFoundError, NotADirectoryError):
            continue  # it was removed meanwhile
        except OSError:
            if is_all:
                raise
