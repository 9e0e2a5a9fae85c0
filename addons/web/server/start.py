"""Starts a web process, even before the application for it is loaded: both take time, and they have two cores.

Imports almost nothing itself. Needs the extra `web`.
"""

import importlib.util
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

for needed in ("httptools", "prometheus_client", "starlette", "uvicorn", "websockets"):
    if importlib.util.find_spec(needed) is None:
        raise ImportError(f"No module named {needed!r}")  # the web process would end with that


class Started:
    """A web process, and our ends of the links to it: one for each process with matches, the first for this one."""

    def __init__(self, listening: socket.socket, count: int = 1) -> None:
        pairs = [socket.socketpair() for _ in range(count)]
        self.socket, *self.others = [ours for ours, _ in pairs]
        with ExitStack() as theirs:
            fds = [listening.fileno(), *(theirs.enter_context(each).fileno() for _, each in pairs)]
            self.process = subprocess.Popen(
                [sys.executable, "-m", "referee.addons.web.server.web_process", *map(str, fds)],
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, and we end the web process
            )

    @property
    def code(self) -> int | None:
        """The exit code, after `end`."""
        return self.process.returncode

    def end(self) -> None:
        """Ends it, if it still runs."""
        for each in (self.socket, *self.others):
            each.close()
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
