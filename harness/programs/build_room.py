"""Counts the space that a build has taken on the disk."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from referee.harness.common.errors import reason
from referee.harness.common.walk import entries_below
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
            for is_deep, status in self._entries():
                used_bytes += max(status.st_size, status.st_blocks * 512)
                files += 1
                if self._limit_bytes is not None and used_bytes > self._limit_bytes:
                    return f"took more than {mebibytes(self._limit_bytes)} on the disk; --build disk changes that limit"
                if files > MOST_FILES:
                    return f"made more than {MOST_FILES:,} files and folders"
                if is_deep and stat.S_ISDIR(status.st_mode):
                    return f"made more than {MOST_DEPTH} folders inside of each other"
        except OSError as error:
            return f"made a folder that cannot be read ({reason(error)})"
        return ""

    def _entries(self) -> Iterator[tuple[bool, os.stat_result]]:
        """Yields everything that the build has made: whether it is deep in its folder, and its status."""
        for folder in filter(None, (self._folder, self._caches)):
            most = str(folder).count("/") + MOST_DEPTH
            # The kernel keeps folders in the caches that are closed to us.
            for path, status in entries_below(folder, skip_closed=folder == self._caches):
                yield path.count("/") > most, status
