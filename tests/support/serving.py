"""Servers in threads and in processes of their own, and their web processes."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

import psutil
import trio

Inside = Callable[..., Any]
"""Calls a function in the event loop of a server, and returns its result."""


@contextmanager
def in_a_thread(server: Callable[[], Any]) -> Iterator[tuple[str, Any, Inside]]:
    """Runs a server in a thread while the block runs. Yields its address, the object behind it, and its loop."""
    started: Queue[Any] = Queue()

    async def serve() -> None:
        with trio.CancelScope() as scope:
            try:
                async with server() as (address, served):
                    started.put((address, served, trio.lowlevel.current_trio_token(), scope))
                    await trio.sleep_forever()
            except BaseException as error:
                started.put(error)
                raise

    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    found = started.get(timeout=30)
    if isinstance(found, BaseException):
        raise found
    address, served, token, scope = found
    try:
        yield address, served, partial(trio.from_thread.run_sync, trio_token=token)
    finally:
        trio.from_thread.run_sync(scope.cancel, trio_token=token)
        thread.join(30)
        assert not thread.is_alive(), "a client keeps the server from its end"


@contextmanager
def served(*options: str, cwd: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs the Arena, and yields its address and process."""
    argv = [sys.executable, "-m", "referee.harness.cli.main", "serve", "arena", "--bind", "127.0.0.1:0", *options]
    argv += [] if "--replay" in options else ["--replay", "none"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd) as process:
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


async def next_web_process(killed: psutil.Process) -> psutil.Process:
    """Waits for the web process that follows one that was killed, and returns it."""
    with trio.fail_after(10):
        while True:
            await trio.sleep(0.005)
            for each in psutil.Process().children():
                with suppress(psutil.Error):  # it has just been killed
                    if each.pid != killed.pid and any("web_process" in word for word in each.cmdline()):
                        return each
