"""Files are opened without waiting for anybody."""

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from referee.harness.common.paths import read_limited


def test_a_file_that_becomes_a_named_pipe_is_never_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It becomes one as soon as somebody has looked at it."""
    file, pipe, stat = tmp_path / "file", tmp_path / "pipe", os.stat
    file.write_text("x")
    os.mkfifo(pipe)

    def change(path: Any, **how: Any) -> os.stat_result:
        seen = stat(path, **how)
        if str(path) == str(file):
            with suppress(OSError):
                os.replace(pipe, file)
        return seen

    monkeypatch.setattr(os, "stat", change)

    def read() -> None:
        with suppress(OSError):
            read_limited(file)
            read_limited(file)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(5)
    assert not reader.is_alive()


def test_a_pipe_of_a_shell_is_read() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"content")
    os.close(theirs)
    assert read_limited(Path(f"/dev/fd/{ours}")) == b"content"
    os.close(ours)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(IsADirectoryError):
        read_limited(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
