"""How long the threads of a bot ran, and how long they waited for a core."""

import fcntl
import os
import sys
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from referee.harness.isolation.process_tree import walk
from referee.harness.isolation.supervisor import PORTABLE

QUICK_S = 0.005
"""Core wait is measured in calls that take longer than this."""
LOOK_S = 0.002
"""Longest time spent on reading the threads of one process tree."""
LOOK_EVERY_S = 0.1
"""Time between two readings in a long call. Each costs some 20 µs a thread."""
TICK_S = 0.02
"""The kernel books the run time of a thread at least this often while it runs."""


class Thread(NamedTuple):
    """One thread's times since its start, in nanoseconds."""

    ran_ns: int
    waited_ns: int
    """Time in which the thread was ready to run, but had no core. The kernel books it when the thread gets one."""
    ready: bool = False
    """Whether it runs or waits for a core now."""


Threads = Mapping[int, Thread]
"""By thread id."""
NOTHING: Mapping[int, int] = {}


class CoreWait(NamedTuple):
    """How long a bot's threads ran and waited during part of a call, in seconds."""

    ran_s: float
    """Of the thread that ran longest."""
    waited_s: float
    """Of the thread that waited longest for a core."""


class CoreWaitMeter:
    """Measures the core wait of one bot from the moment at which a call has taken `QUICK_S`."""

    def __init__(self, root: int, stdout: int) -> None:
        """`root`: the process above all processes of the bot. `stdout`: our end of the bot's output."""
        self.running = False
        """The open call has taken longer than `QUICK_S`."""
        self._root, self._stdout = root, stdout
        self._threads: Threads = {}
        self._all_read = True
        self._referee = Thread(0, 0)
        self._ready: dict[int, tuple[int, float]] = {}
        """The run time of each thread that was ready, and since when it is known to be that."""

    def start(self) -> None:
        """Takes the first reading of a call. Does nothing on systems without `schedstat`."""
        if not PORTABLE:
            self.running = True
            self._threads, self._all_read = threads_below(self._root)
            self._ready = {}
            self._note(self._threads)
            self._referee = own_thread()

    def look(self) -> None:
        """Takes a reading in the middle of a call."""
        if self.running:
            self._note(threads_below(self._root)[0])

    def _note(self, threads: Threads) -> None:
        now, before = time.perf_counter(), self._ready
        self._ready = {
            tid: before[tid] if tid in before and before[tid][0] == thread.ran_ns else (thread.ran_ns, now)
            for tid, thread in threads.items()
            if thread.ready
        }

    def _waiting_ns(self, threads: Threads) -> dict[int, int]:
        """Returns how long each thread has been waiting that has had no core since it was found ready."""
        self._note(threads)
        now = time.perf_counter()
        return {tid: round((now - since) * 1e9) for tid, (_, since) in self._ready.items() if now - since > TICK_S}

    def stop(self) -> None:
        """Forgets the readings: the call is over."""
        self.running = False

    def read(self, answered: bool) -> CoreWait | None:
        """Returns what has happened since `start`; None if it was not called.

        If there is an answer, the time counts in which the referee itself waited for a core: the answer may have been
        there already.
        """
        if not self.running:
            return None
        threads = threads_below(self._root)[0]
        waiting = {} if answered else self._waiting_ns(threads)
        bot = difference(self._threads, self._all_read, threads, waiting)
        referee_ns = 0
        if answered or unread_bytes(self._stdout):
            referee_ns = own_thread().waited_ns - self._referee.waited_ns
        return CoreWait(bot.ran_s, bot.waited_s + referee_ns / 1e9)


def threads_below(root: int) -> tuple[Threads, bool]:
    """Returns the threads of all processes below `root`, and whether there was time to read all of them.

    Source: /proc/PID/task/TID/schedstat (the kernel's `sched-stats`). Empty where the kernel does not keep it.
    """
    threads: dict[int, Thread] = {}
    until = time.perf_counter() + LOOK_S
    for below in walk(root):
        for pid in below:
            with suppress(FileNotFoundError, ProcessLookupError):
                for tid in os.listdir(f"/proc/{pid}/task"):
                    if (thread := _read(f"/proc/{pid}/task/{tid}/schedstat")) is not None:
                        threads[int(tid)] = thread._replace(ready=_is_ready(f"/proc/{pid}/task/{tid}/stat"))
                    if time.perf_counter() > until:
                        return threads, False
    return threads, True


def own_thread() -> Thread:
    """Returns the times of the calling thread."""
    return _read("/proc/thread-self/schedstat") or Thread(0, 0)


def difference(before: Threads, all_before: bool, after: Threads, waiting_ns: Mapping[int, int] = NOTHING) -> CoreWait:
    """Returns how long the busiest threads ran and waited between two readings.

    A thread that is new counts from its start, provided that the first reading had all threads. `waiting_ns`: how long
    a thread has been waiting that the kernel has not booked yet.
    """
    ran_ns = waited_ns = 0
    for tid, now in after.items():
        then = before.get(tid, Thread(0, 0) if all_before else now)
        ran_ns = max(ran_ns, now.ran_ns - then.ran_ns)
        waited_ns = max(waited_ns, now.waited_ns - then.waited_ns + waiting_ns.get(tid, 0))
    return CoreWait(ran_ns / 1e9, waited_ns / 1e9)


def unread_bytes(descriptor: int) -> int:
    """Returns how many bytes lie in a pipe, given either end of it."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)


def _is_ready(path: str) -> bool:
    try:
        with open(path, "rb") as stat:
            return stat.read().rpartition(b") ")[2].startswith(b"R")
    except OSError:
        return False


def _read(path: str) -> Thread | None:
    try:
        with open(path, "rb") as schedstat:
            ran, waited, _ = schedstat.read().split()
    except (OSError, ValueError):
        return None
    return Thread(int(ran), int(waited))
