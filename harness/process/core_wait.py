"""How long the threads of a bot had a core, and how long they waited for one."""

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from referee.harness.isolation.process_tree import walk

LOOK_S = 0.002
"""Of a tree with very many threads only as many are looked at as can be in so short a time."""


class Thread(NamedTuple):
    """One thread's times since it was started, in nanoseconds."""

    ran_ns: int
    waited_ns: int
    """It could have run, but no core was free for it."""


Threads = Mapping[int, Thread]
"""By the thread's id."""


class Noise(NamedTuple):
    """What a stretch of time was to a bot's busiest threads, in seconds."""

    ran_s: float
    """The most that one thread ran."""
    waited_s: float
    """The most that one thread waited for a core."""


def threads_below(supervisor: int) -> tuple[Threads, bool]:
    """The threads of all processes below a supervisor; False = there were too many to look at all of them.

    Source: the kernel's `sched-stats`, /proc/PID/task/TID/schedstat. Empty where the kernel does not keep them.
    """
    found: dict[int, Thread] = {}
    until = time.perf_counter() + LOOK_S
    for below in walk(supervisor):
        for pid in below:
            if not _add_threads(pid, found, until):
                return found, False
    return found, True


def own_thread() -> Thread:
    """The thread that calls."""
    return _read("/proc/thread-self/schedstat") or Thread(0, 0)


def between(before: Threads, all_before: bool, after: Threads) -> Noise:
    """What has become of the threads since. One that is new counts from its start, if all were known before."""
    ran_ns = waited_ns = 0
    for tid, now in after.items():
        then = before.get(tid, Thread(0, 0) if all_before else now)
        ran_ns = max(ran_ns, now.ran_ns - then.ran_ns)
        waited_ns = max(waited_ns, now.waited_ns - then.waited_ns)
    return Noise(ran_ns / 1e9, waited_ns / 1e9)


def _add_threads(pid: int, found: dict[int, Thread], until: float) -> bool:
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return True
    for tid in tids:
        thread = _read(f"/proc/{pid}/task/{tid}/schedstat")
        if thread is not None:
            found[int(tid)] = thread
        if time.perf_counter() > until:
            return False
    return True


def _read(path: str) -> Thread | None:
    try:
        with open(path, "rb") as schedstat:
            ran, waited, _ = schedstat.read().split()
    except (OSError, ValueError):
        return None
    return Thread(int(ran), int(waited))
