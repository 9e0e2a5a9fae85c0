"""The log of a check while it goes on: what the build prints, and the result of each rule."""

import os
import re
from pathlib import Path
from typing import IO

from referee.harness.check.findings import RuleResult, Status
from referee.harness.common.errors import writing
from referee.harness.common.output import FileKind
from referee.harness.common.paths import opener

MOST_BYTES = 1 << 20
"""Of what builds print. The author decides how much that is."""

LOG = FileKind("the log of a check", re.compile(rf"building |[a-z-]+: ({'|'.join(Status)})\n".encode()))


class CheckLog:
    """Appends to a file, which others read meanwhile. Without a file, does nothing."""

    def __init__(self, path: Path | None) -> None:
        """Raises RunError if the file cannot be written."""
        self._file: IO[bytes] | None = None
        self._left = MOST_BYTES
        self._label = ""
        if path is not None:
            with writing(path):
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK  # a pipe may have no reader
                self._file = os.fdopen(opener(path, flags), "wb", 0)
                os.set_blocking(self._file.fileno(), True)

    def building(self, label: str) -> None:
        """Notes what is being built, such as `my_bot (C++)`. Repetitions count once."""
        if label != self._label:
            self._label = label
            self._write(f"building {label}\n".encode())

    def printed(self, data: bytes) -> None:
        """Notes what a build has printed."""
        if self._left > 0:
            self._write(data[: self._left])
            self._left -= len(data)
            if self._left <= 0:
                self._write(b"\n... the rest is left out\n")

    def tried(self, result: RuleResult) -> None:
        """Notes what came of a rule."""
        self._write(f"{result.rule}: {result.status}\n".encode())

    def _write(self, data: bytes) -> None:
        if self._file is not None:
            with writing(self._file.name):
                self._file.write(data)
