"""A bot's standard error: it belongs to the bot's author, who finds it in a file and its end in the verdict."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import trio

from referee.harness.errors import RunError
from referee.protocol.errors import printable

READ_BYTES = 1 << 16
LAST_WORDS_LINES = 12
LAST_WORDS_BYTES = 4096
SAID_BYTES = 1 << 14
"""What is kept of a call's."""


class StderrLog:
    """A bot's standard error: its last lines, and a capped file a match, which is only made if something is written.

    The file holds what the bot wrote and nothing else; where each call's part begins stands in the record.
    """

    def __init__(self, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self.written: Path | None = None
        """The file, if there is anything in it."""
        self._path: Callable[[], Path | None] = _nowhere
        self._file: BinaryIO | None = None
        self._room = 0
        self._tail = b""
        self._taken = 0  # bytes in this match, also those beyond the cap
        self._mark = 0  # the same number when the last call began
        self._early: bytes | None = b""  # what came before the first match, as while its rival is started; then None

    def start_match(self, path: Callable[[], Path | None]) -> None:
        """What is taken from now on goes to the file `path()`; None = nowhere. It is asked for when it is needed."""
        early, self._early = self._early, None
        if early is None:
            self._tail, self._taken = b"", 0
        self._mark = 0
        self.close()
        self.written, self._path, self._file, self._room = None, path, None, self.cap_bytes
        if early:
            self._keep(early)

    def close(self) -> None:
        """Closes the file; what comes until the next match begins is kept nowhere."""
        self._room = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def catch_up(self, descriptor: int) -> None:
        """Takes what is there now. The pipe's end is not waited for: a grandchild may hold it."""
        for _ in range(64):
            if not self._read(descriptor):
                return

    async def follow(self, descriptor: int) -> None:
        """Reads to the end of the pipe, so that the bot never blocks on it.

        `catch_up` may have emptied the pipe since it was readable. That is not its end.
        """
        while self._read(descriptor) != b"":
            await trio.lowlevel.wait_readable(descriptor)

    def mark(self) -> int:
        """A call begins: how many bytes are in the file by now."""
        self._mark = self._taken
        return min(self._taken, self.cap_bytes)

    def of_call(self) -> bytes:
        """What was taken since the last mark; the end of it, if it was much."""
        return self._tail[-new:] if (new := self._taken - self._mark) else b""

    def last_words(self) -> tuple[str, ...]:
        """The last lines, printable."""
        return lines(self._tail[-LAST_WORDS_BYTES:])

    def _read(self, descriptor: int) -> bytes | None:
        """Takes one piece of the output. Returns None when the pipe is empty for now, b"" at its end."""
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return None
        self._taken += len(data)
        self._tail = (self._tail + data)[-SAID_BYTES:]
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
        except OSError as error:
            self._room = 0  # the error is raised once
            raise RunError(f"a bot's standard error cannot be written to {path}: {error.strerror}") from error
        self._room -= len(data)


def lines(text: bytes) -> tuple[str, ...]:
    """Its last lines, printable."""
    return tuple(map(printable, text.decode("utf-8", "backslashreplace").splitlines()[-LAST_WORDS_LINES:]))


def _opened(path: Path) -> BinaryIO:
    """A new file, or an old one made empty. Of a named pipe that a bot has put there no reader is waited for."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK
    return os.fdopen(os.open(path, flags, 0o666), "wb", buffering=0)


def _nowhere() -> None:
    return None
