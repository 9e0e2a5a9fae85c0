"""Starts a web process, even before the application for it is loaded: both take time, and they have two cores.

Imports almost nothing itself. Needs the extra `web`.
"""

import importlib.util
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

for needed in ("httptools", "prometheus_client", "starlette", "uvicorn", "websockets"):
    if importlib.util.find_spec(needed) is None:
        raise ImportError(f"No module named {needed!r}")  # the web process would end with that


class Started:
    """A web process, and our end of the link to it."""

    def __init__(self, listening: socket.socket) -> None:
        self.socket, theirs = socket.socketpair()
        with theirs:
            fds = [theirs.fileno(), listening.fileno()]
            self.process = subprocess.Popen(
                [sys.executable, "-m", "referee.harness.web.server.web_process", *map(str, fds)],
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, and we end the web process
            )

    def end(self) -> None:
        """Ends it, if it still runs."""
        self.socket.close()
        self.process.kill()
        self.process.wait()


@contextmanager
def started(listening: socket.socket) -> Iterator[Started]:
    """Starts a web process on a socket from `listen`, for `open_link`. It ends with the block at the latest."""
    web = Started(listening)
    try:
        yield web
    finally:
        web.end()
