"""Servers in processes of their own, and their web processes."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


@contextmanager
def served(*options: str, cwd: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs the Arena, and yields its address and process."""
    argv = [sys.executable, "-m", "referee.harness.cli.main", "serve", "arena", "--bind", "127.0.0.1:0"]
    with subprocess.Popen(
        [*argv, "--replay", "none", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://[^ ]+", process.stdout.readline())
        assert found is not None
        try:
            yield found[0], process
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait(20)


def web_process(of: int) -> psutil.Process:
    """Returns the web process of a server."""
    below = psutil.Process(of).children(recursive=True)
    living = [each for each in below if each.status() != psutil.STATUS_ZOMBIE]
    (found,) = [each for each in living if any("web.server.web_process" in word for word in each.cmdline())]
    return found
