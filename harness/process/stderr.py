"""A bot's standard error: a file for the bot's author, and its end for the verdict."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import trio

from referee.protocol.text import printable

READ_BYTES = 1 << 16
LAST_LINES = 12
LAST_LINES_BYTES = 4096
CALL_BYTES = 1 << 14
"""Most bytes that are kept of one call."""


class StderrLog:
    """A bot's standard error: its last lines, and a capped file for each match, which exists only if it has content.

    The file holds what the bot wrote and nothing else. The replay says where the part of each call begins.
    """

    def __init__(self, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self.written: Path | None = None
        """The file, if there is anything in it."""
        self._path: Callable[[], Path | None] = lambda: None
        self._file: BinaryIO | None = None
        self._room = 0
        self._tail = b""
        self.taken = 0
        """Bytes in this match, also those beyond the cap."""
        self.call_from = 0
        """`taken` when the last call began. The seat sets it."""
        self._early: bytes | None = b""  # what came before the first match; None from then on

    def start_match(self, path: Callable[[], Path | None]) -> None:
        """Writes to the file `path()` from now on; None = nowhere. `path` is called when there is something to write.

        What a bot writes while its rival is being started belongs to its first match.
        """
        early, self._early = self._early, None
        if early is None:
            self._tail, self.taken = b"", 0
        self.call_from = 0
        self.close()
        self.written, self._path, self._file, self._room = None, path, None, self.cap_bytes
        if early:
            self._keep(early)

    def close(self) -> None:
        """Closes the file. Output before the next match is not written."""
        self._room = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def catch_up(self, descriptor: int) -> None:
        """Takes what is there now, without waiting for the end of the pipe: a grandchild may hold it.

        A negative descriptor is one that was closed.
        """
        for _ in range(64):
            if descriptor < 0 or not self._read(descriptor):
                return

    async def follow(self, descriptor: int) -> None:
        """Reads to the end of the pipe, so that the bot never blocks on it.

        An empty read is not the end: `catch_up` may have emptied the pipe meanwhile.
        """
        while self._read(descriptor) != b"":
            await trio.lowlevel.wait_readable(descriptor)

    def of_call(self) -> bytes:
        """Returns what was taken since the last call began; of a long text, the end."""
        return self._tail[-new:] if (new := self.taken - self.call_from) else b""

    def end(self) -> bytes:
        """Returns the end of what was taken."""
        return self._tail[-LAST_LINES_BYTES:]

    def _read(self, descriptor: int) -> bytes | None:
        """Takes one piece of output. Returns None if the pipe is empty for now, b"" at its end."""
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return None
        self.taken += len(data)
        self._tail = (self._tail + data)[-CALL_BYTES:]
        if self._early is not None:
            self._early += data[: self.cap_bytes - len(self._early)]
        elif data and self._room:
            self._keep(data[: self._room])
        return data

    def _keep(self, data: bytes) -> None:
        path = self.written or self._path()
        if path is None:
            self._room = 0
            return
        try:
            if self._file is None:
                path.parent.mkdir(parents=True, exist_ok=True)  # a bot may have removed it
                self._file = _opened(path)
                self.written = path
            self._file.write(data)
        except OSError:  # without isolation, a bot may have seen to that: its match goes on without the file
            self._room = 0
        else:
            self._room -= len(data)


def last_lines(text: bytes) -> tuple[str, ...]:
    """Returns the last lines of a text, printable."""
    return tuple(map(printable, text.decode("utf-8", "backslashreplace").splitlines()[-LAST_LINES:]))


def _opened(path: Path) -> BinaryIO:
    """Makes a new file. It replaces a link or a named pipe that a bot has put there, and an older file."""
    path.unlink(missing_ok=True)
    return path.open("xb", buffering=0)
