"""The build of a bot: when it is over, and what it leaves behind."""

import time
from pathlib import Path

import psutil
import pytest

from harness.errors import RunError
from harness.launch import entrant

BACKGROUND = "sleep 77 & echo $! > pid; "


def bot(folder: Path, build: str) -> str:
    (folder / "bot.toml").write_text(f"run = ['sh', '-c', 'exit']\nbuild = '{build}'\n")
    return str(folder)


def lives(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("code", [0, 3])
def test_a_build_is_over_with_its_command_and_leaves_no_process(tmp_path: Path, code: int) -> None:
    """Whatever it has left in the background still holds its output."""
    started = time.monotonic()
    spec = bot(tmp_path, f"{BACKGROUND} echo built; exit {code}")
    if code == 0:
        entrant(spec)
    else:
        with pytest.raises(RunError, match=r"the build failed with exit code 3\nbuilt"):
            entrant(spec)
    assert time.monotonic() - started < 5
    left = int((tmp_path / "pid").read_text())
    while lives(left):
        assert time.monotonic() - started < 5
        time.sleep(0.01)
