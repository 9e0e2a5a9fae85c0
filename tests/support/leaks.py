"""A pytest plugin that fails a test which leaves a process behind, and warns of one that leaves a file open."""

import os
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest
from children import children

PATIENCE_S = 5.0
"""How long what a test has ended may take to go."""
OURS = re.compile(r"/builds/\w+/used$")
"""The mark of a build, which a process keeps open until it ends, so that nobody removes the build."""


def _open_files() -> Counter[str]:
    """Returns the files, pipes and sockets that this process has open."""
    found: Counter[str] = Counter()
    for number in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(FileNotFoundError):  # the descriptor of this listing
            name = os.readlink(f"/proc/self/fd/{number}").removesuffix(" (deleted)")
            found[name] += not OURS.search(name)
    return found


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that left a process behind, and warns of one that left a file open."""
    processes, files = children(), _open_files()
    yield
    until = time.monotonic() + PATIENCE_S
    while left := [command for pid in children() - processes if (command := _command(pid))]:
        if time.monotonic() > until:
            pytest.fail(f"the test has left behind: {', '.join(left)}")
        time.sleep(0.02)
    if files_left := [*_open_files() - files]:
        warnings.warn(f"{request.node.nodeid} left open: {', '.join(files_left)}", ResourceWarning, stacklevel=1)


def _command(pid: int) -> str:
    """Returns the command line of a process; empty if it has ended: the kernel may have given us others' children."""
    with suppress(psutil.Error):
        return " ".join(psutil.Process(pid).cmdline())[:200]
    return ""
