"""Builds of bots that run `sleep`, as seen from outside."""

from contextlib import suppress

import psutil


def sleepers(pid: int) -> list[psutil.Process]:
    """Returns the `sleep` commands below a process."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.Error):
            if process.name() == "sleep":
                found.append(process)
    return found
