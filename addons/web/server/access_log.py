"""An access log: a line for each request."""

import asyncio
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from referee.harness.common.errors import UsageError, reason

FLUSH_S = 0.5
BUFFERED_LINES = 50_000
"""The most lines that wait for a slow disk. Further ones are left out, and a line says how many."""
PATH_BYTES = 500
"""How much of a path is logged."""

log = logging.getLogger("referee.web")


class AccessLog:
    """Writes a line for each request: time, address, method, path without query, status, milliseconds.

    A thread writes, so that no client waits for the disk. The file is opened for each batch: it may be moved meanwhile.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lines: list[str] = []
        self._dropped = 0
        self._has_failed = False

    def add(self, scope: Any, method: str, status: int, seconds: float) -> None:
        """Adds the line of a request that has ended just now."""
        if len(self._lines) >= BUFFERED_LINES:
            self._dropped += 1
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        address, raw, more = self.shown(scope)
        path = quote(raw[:PATH_BYTES], safe="/%-._~!$&'()*+,;=:@")
        line = (time, address, method, path, f"{status or '-'}", f"{seconds * 1000:.1f}", *more)
        self._lines.append(f"{' '.join(line)}\n")

    def shown(self, scope: Any) -> tuple[str, bytes, tuple[str, ...]]:
        """Returns the client's address, the path, and further words at the end of the line."""
        address = "-" if scope["client"] is None else scope["client"][0]
        return address, scope["raw_path"], ()

    async def run(self) -> None:
        """Writes what there is every now and then, until it is cancelled."""
        while True:
            await asyncio.sleep(FLUSH_S)
            if self._lines:
                await asyncio.to_thread(self._write, *self._taken())

    def flush(self) -> None:
        """Writes the rest."""
        self._write(*self._taken())

    def _taken(self) -> tuple[list[str], int]:
        lines, self._lines, dropped, self._dropped = self._lines, [], self._dropped, 0
        return lines, dropped

    def _write(self, lines: list[str], dropped: int) -> None:
        if dropped:
            lines = [*lines, f"# {dropped} requests are left out: the disk was too slow\n"]
        try:
            with open_log(self.path) as file:
                file.writelines(lines)
            self._has_failed = False
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                log.warning("%s: %s; requests are not logged meanwhile", self.path, reason(error))


def check_log(path: Path) -> None:
    """Creates an access log if there is none. Raises UsageError."""
    try:
        open_log(str(path)).close()
    except OSError as error:
        raise UsageError(f"cannot write the access log {path}: {reason(error)}") from error


def open_log(path: str) -> IO[str]:
    """Opens an access log to append to it. A new one is for its owner only, as paths contain battles' ids."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK  # not to wait for a pipe's reader
    file = os.open(path, flags, 0o600)
    os.set_blocking(file, True)
    return open(file, "a", encoding="ascii")
