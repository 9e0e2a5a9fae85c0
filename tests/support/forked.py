"""A fixture with which workers and checks of tournaments start as forks of one process that has loaded the referee."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import fork_server
import pytest

from referee.addons.tournament.execution import local
from referee.addons.tournament.intake import intake


@pytest.fixture(scope="session")
def fork_server_socket() -> Iterator[Path]:
    """Starts the process that forks."""
    with tempfile.TemporaryDirectory(prefix="referee-tests-") as folder:
        path = Path(folder, "socket")
        command = [sys.executable, fork_server.__file__, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
            while not path.exists():
                assert server.poll() is None
                time.sleep(0.01)
            yield path
            assert server.stdin is not None
            server.stdin.close()


@pytest.fixture
def forked(fork_server_socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts the workers and checks of in-process commands as forks.

    Not for tests of their start, or of processes that are killed.
    """
    client = [sys.executable, "-I", "-S", "-c", fork_server.CLIENT, str(fork_server_socket)]
    for module in (local, intake):
        monkeypatch.setattr(module, "PROGRAM", [*client, module.PROGRAM[-1]])
