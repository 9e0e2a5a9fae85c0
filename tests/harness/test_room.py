"""Where the system gives us too little to run with: one line, and an exit code of its own."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from referee.harness.cli.exits import NO_ROOM, PLAYED

MATCH = ("-m", "referee.harness.cli.main", "--game", "tictactoe", "@random", "@random", "--no-replay")


@pytest.mark.parametrize("allowed", [7, 8, 9, 10, 12, 15, 20, 26, 64])
def test_few_descriptors_suffice_or_are_told(tmp_path: Path, allowed: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed))

    command = [sys.executable, *MATCH, "--isolation", "off"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, preexec_fn=limit, timeout=60)
    said = done.stderr.splitlines()
    if allowed >= 64:
        assert (done.returncode, said) == (PLAYED, [])
    else:
        assert done.returncode == NO_ROOM, done.stderr
        assert len(said) == 1
        assert said[0].startswith("referee: too few file descriptors: a match takes 24 beside those")


def test_a_low_limit_that_may_be_raised_is_raised(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    done = subprocess.run([sys.executable, *MATCH], capture_output=True, cwd=tmp_path, preexec_fn=limit, timeout=60)
    assert done.returncode == PLAYED, done.stderr
