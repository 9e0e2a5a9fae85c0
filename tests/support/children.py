"""The processes that a test has started."""

import os
from contextlib import suppress
from pathlib import Path

import psutil

from referee.harness.isolation.supervisor import CHILDREN_FILES


def children() -> set[int]:
    """Returns our child processes, zombies included. psutil reads every process of the machine for that, in 2 ms."""
    if not CHILDREN_FILES:
        return {child.pid for child in psutil.Process().children()}
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError):  # a thread that has just ended
            found.update(map(int, Path(f"/proc/self/task/{task}/children").read_text().split()))
    return found
