"""A bot's standard error: it belongs to the bot's author, who finds it in a file and its end in the verdict."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import trio

READ_BYTES = 1 << 16
LAST_WORDS_LINES = 12
LAST_WORDS_BYTES = 4096


class StderrLog:
    """A bot's standard error: its last lines, and a capped file a match, which is only made if something is written."""

    def __init__(self, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self.start_match(_nowhere)

    def start_match(self, path: Callable[[], Path | None]) -> None:
        """What is written from now on goes to the file `path()`; None = nowhere. It is asked for when it is needed."""
        self.written: Path | None = None
        """The file, if there is anything in it."""
        self._path = path
        self._file: BinaryIO | None = None
        self._room = self.cap_bytes
        self._tail = b""

    def end_match(self, descriptor: int) -> None:
        """Takes what is there now and closes the file."""
        self.catch_up(descriptor)
        self._room = 0  # a bot that is kept may go on writing
        if self._file is not None:
            self._file.close()

    def catch_up(self, descriptor: int) -> None:
        """Takes what is there now. The pipe's end is not waited for: a grandchild may hold it."""
        for _ in range(64):
            if not self._read(descriptor):
                return

    async def follow(self, descriptor: int) -> None:
        """Reads to the end of the pipe, so that the bot never blocks on it."""
        while True:
            await trio.lowlevel.wait_readable(descriptor)
            if not self._read(descriptor):
                return

    def last_words(self) -> tuple[str, ...]:
        """The last lines."""
        return tuple(self._tail.decode("utf-8", "backslashreplace").splitlines()[-LAST_WORDS_LINES:])

    def _read(self, descriptor: int) -> bool:
        """False when there is nothing, now or for ever."""
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        self._tail = (self._tail + data)[-LAST_WORDS_BYTES:]
        if data and self._room:
            self._keep(data[: self._room])
        return bool(data)

    def _keep(self, data: bytes) -> None:
        if self._file is None:
            path = self._path()
            if path is None:
                self._room = 0
                return
            self._file = path.open("wb", buffering=0)
            self.written = path
        self._file.write(data)
        self._room -= len(data)


def _nowhere() -> None:
    return None
