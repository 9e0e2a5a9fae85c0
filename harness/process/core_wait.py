"""How long the threads of a bot ran, and how long they waited for a core."""

import fcntl
import os
import sys
import termios
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from glob import glob
from typing import NamedTuple

from referee.harness.isolation import proc
from referee.harness.isolation.process_tree import walk
from referee.harness.isolation.supervisor import PORTABLE
from referee.harness.process.usage import cpu_clock, cpu_ns

QUICK_S = 0.005
"""Core wait is measured in calls that take longer than this."""
LOOK_S = 0.002
"""Most CPU time spent on reading the threads of one process tree, if it has many."""
MANY_THREADS = 64
"""This number of threads is always read: on a shared machine, CPU time also counts what others were given."""
LOOK_EVERY_S = 0.1
"""Mean time between two readings in a long call, at moments that no bot can tell. Each costs some 30 µs a thread."""
UNEVEN_PERCENT = 1
"""A machine without other load keeps a bot from running for less than this share of the time."""
LACKED_PERCENT = 10
"""A bot that ran out of time has had its time if it lacked no more than this share of it."""
TICK_NS = 10_000_000
"""The kernel's unit for the CPU time of ended children."""
HUMBLE_POLICIES = (os.SCHED_BATCH, os.SCHED_IDLE) if not PORTABLE else ()


def is_uneven(limit_s: float, waited_s: float) -> bool:
    """Returns whether core wait is more than the unevenness of any machine: an answer after the limit is awaited."""
    return 100 * waited_s >= UNEVEN_PERCENT * limit_s


def lacked_time(limit_s: float, waited_s: float) -> bool:
    """Returns whether the machine may be the cause of a time-out: for `waited_s` of `limit_s`, no core was free.

    Everything that says who is at fault for a time-out asks this. `docs/explanation/clocks-and-fairness.md` explains
    the rule.
    """
    return 100 * waited_s > LACKED_PERCENT * limit_s


class Thread(NamedTuple):
    """One thread's times since its start, in nanoseconds."""

    ran_ns: int
    waited_ns: int
    """Time in which the thread was ready to run, but had no core. The kernel books it when the thread gets one."""
    ready: bool = False
    """Whether it runs or waits for a core now."""
    humble: bool = False
    """Whether it has chosen to wait: its priority is lower than ours, or it left its cores for those of others."""
    sleeps: int | None = None
    """How often it has given its core up by itself, if it is ready. None if that cannot be read."""


Threads = Mapping[int, Thread]
"""By thread id."""
NOTHING: Mapping[int, int] = {}


class Tree(NamedTuple):
    """All threads of a bot at one moment."""

    threads: Threads
    whole: bool
    """Whether there was time to read all of them."""
    ran_ns: int
    """CPU time of all its processes, with those that have ended."""


class CoreWait(NamedTuple):
    """How long a bot's threads ran and waited during part of a call, in seconds."""

    ran_s: float
    """Of the thread that ran longest."""
    waited_s: float
    """Of the thread that waited longest for a core, less the time in which other threads of the bot ran."""


class CoreWaitMeter:
    """Measures the core wait of one bot from the moment at which a call has taken `QUICK_S`."""

    def __init__(self, root: int, stdout: int, tree_cpu_s: Callable[[], float | None] = lambda: None) -> None:
        """`root`: the process above all processes of the bot. `stdout`: our end of the bot's output.

        `tree_cpu_s` returns the CPU time of all processes of the bot, or None if nothing counts it.
        """
        self.running = False
        """The open call has taken longer than `QUICK_S`."""
        self._root, self._stdout, self._tree_cpu_s = root, stdout, tree_cpu_s
        self._first = Tree({}, True, 0)
        self._started = self._late_s = 0.0
        self._referee = Thread(0, 0)
        self._awake: dict[int, tuple[Thread, float]] = {}
        """Each thread that is ready, as it was at the first reading since which it has not slept, and when that was."""
        self._humble: set[int] = set()
        """Threads that had chosen to wait at any reading of this call."""

    def start(self, late_s: float = 0.0) -> None:
        """Takes the first reading of a call. Does nothing on systems without `schedstat`.

        `late_s`: how long we had no core ourselves to take it. The bot may have had none either.
        """
        if not PORTABLE:
            self.running = True
            self._started, self._late_s = time.perf_counter(), late_s
            self._first = self._read()
            self._awake, self._humble = {}, set()
            self._note(self._first.threads)
            self._referee = own_thread()

    def look(self) -> None:
        """Takes a reading in the middle of a call, when no answer has come."""
        if self.running:
            self._referee = own_thread()  # what we waited before has delayed no answer
            self._note(self._read().threads)

    def _read(self) -> Tree:
        cpu_s = self._tree_cpu_s()
        tree = tree_below(self._root)
        if cpu_s is not None:
            return tree._replace(ran_ns=round(cpu_s * 1e9))
        return tree if tree.whole else Tree({}, False, tree.ran_ns)  # what we have not seen may have run instead

    def _note(self, threads: Threads) -> None:
        now, before = time.perf_counter(), self._awake
        self._humble |= {tid for tid, thread in threads.items() if thread.humble}
        self._awake = {
            tid: before[tid] if tid in before and before[tid][0].sleeps == thread.sleeps else (thread, now)
            for tid, thread in threads.items()
            if thread.ready and thread.sleeps is not None
        }

    def _waiting_ns(self, threads: Threads) -> dict[int, int]:
        """Returns how long each ready thread has been waiting, as far as the kernel has not booked it yet.

        A thread that has not slept since a reading was waiting for a core whenever it did not run.
        """
        now, waiting_ns = time.perf_counter(), {}
        for tid, (then, since) in self._awake.items():
            booked_ns = threads[tid].ran_ns - then.ran_ns + threads[tid].waited_ns - then.waited_ns
            waiting_ns[tid] = max(0, round((now - since) * 1e9) - booked_ns)
        return waiting_ns

    def stop(self) -> None:
        """Forgets the readings: the call is over."""
        self.running = False

    def read(self, answered: bool) -> CoreWait | None:
        """Returns what has happened since `start`; None if it was not called.

        If there is an answer, the time counts in which the referee itself last waited for a core: the answer may have
        been there already. Never counts time since `start` in which a process of the bot ran.
        """
        if not self.running:
            return None
        tree = self._read()
        self._note(tree.threads)
        bot = difference(self._first, tree, {} if answered else self._waiting_ns(tree.threads), self._humble)
        referee_ns = 0
        if answered or unread_bytes(self._stdout):
            referee_ns = own_thread().waited_ns - self._referee.waited_ns
        idle_s = time.perf_counter() - self._started - (tree.ran_ns - self._first.ran_ns) / 1e9
        waited_s = max(0.0, min(bot.waited_s + referee_ns / 1e9, idle_s))
        return CoreWait(bot.ran_s, waited_s + self._late_s)


def tree_below(root: int) -> Tree:
    """Reads the threads of all processes below `root`.

    Source: /proc/PID/task/TID/schedstat (the kernel's `sched-stats`). Empty where the kernel does not keep it.
    """
    threads: dict[int, Thread] = {}
    until = time.thread_time() + LOOK_S
    ours, cores, ran_ns = _standing("/proc/thread-self"), _cores(root), _reaped_ns(root)
    our_group_nice, tried = _group_nice("self"), 0
    for below in walk(root):
        for pid in below:
            ran_ns += cpu_ns(cpu_clock(pid)) + _reaped_ns(pid)
            low_group = _group_nice(pid) > our_group_nice
            with suppress(FileNotFoundError, ProcessLookupError):
                for tid in os.listdir(f"/proc/{pid}/task"):
                    folder = f"/proc/{pid}/task/{tid}"
                    if (thread := _read(f"{folder}/schedstat")) is not None:
                        standing = _standing(folder)
                        humble = low_group or standing.is_below(ours) or not _cores(int(tid)) <= cores
                        sleeps = _sleeps(folder) if standing.ready else None
                        threads[int(tid)] = thread._replace(ready=standing.ready, humble=humble, sleeps=sleeps)
                    tried += 1
                    if tried >= MANY_THREADS and time.thread_time() > until:
                        return Tree(threads, False, ran_ns)
    return Tree(threads, True, ran_ns)


def own_thread() -> Thread:
    """Returns the times of the calling thread."""
    return _read("/proc/thread-self/schedstat") or Thread(0, 0)


def busiest_thread(pid: int) -> Thread:
    """Returns the times of that thread of a process which has run most; zeros if the process has ended."""
    threads = [_read(path) for path in glob(f"/proc/{pid}/task/*/schedstat")]
    return max(filter(None, threads), key=lambda each: each.ran_ns, default=Thread(0, 0))


def difference(
    before: Tree, after: Tree, waiting_ns: Mapping[int, int] = NOTHING, humble: Collection[int] = ()
) -> CoreWait:
    """Returns how long the busiest thread ran, and how long a thread waited for others than the bot's own.

    A thread that is new counts from its start, provided that the first reading had all threads. `waiting_ns`: how long
    a thread has been waiting that the kernel has not booked yet. `humble`: threads whose wait does not count.
    """
    ran_ns, waited_ns = {}, {}
    for tid, now in after.threads.items():
        then = before.threads.get(tid, Thread(0, 0) if before.whole else now)
        ran_ns[tid] = now.ran_ns - then.ran_ns
        waited_ns[tid] = 0 if tid in humble else now.waited_ns - then.waited_ns + waiting_ns.get(tid, 0)
    # A thread may wait for others of the bot, but no longer than these run.
    all_ns = max(after.ran_ns - before.ran_ns, sum(ran_ns.values()))
    own_fault_ns = {tid: all_ns - ran for tid, ran in ran_ns.items()}
    waited = max((waited_ns[tid] - own_fault_ns[tid] for tid in ran_ns), default=0)
    return CoreWait(max(ran_ns.values(), default=0) / 1e9, max(0, waited) / 1e9)


def is_ready(pid: int) -> bool:
    """Returns whether the main thread of a process runs or waits for a core now."""
    return _standing(f"/proc/{pid}").ready


def unread_bytes(descriptor: int) -> int:
    """Returns how many bytes lie in a pipe, given either end of it."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)


class _Standing(NamedTuple):
    """The state and the priority of a thread."""

    ready: bool = False
    nice: int = 0
    policy: int = 0

    def is_below(self, other: "_Standing") -> bool:
        """Returns whether it has a lower priority, so that it waits longer."""
        return self.nice > other.nice or (self.policy in HUMBLE_POLICIES and self.policy != other.policy)


def _standing(folder: str) -> _Standing:
    """Reads the state of a thread, given its folder below /proc. Source: proc_pid_stat(5)."""
    try:
        fields = proc.stat(folder)
        return _Standing(fields[0] == b"R", int(fields[16]), int(fields[38]))
    except (OSError, ValueError, IndexError):
        return _Standing()


def _sleeps(folder: str) -> int | None:
    """Returns how often a thread has given its core up by itself. Source: proc_pid_status(5)."""
    return proc.number(folder, "status", b"\nvoluntary_ctxt_switches:")


def _group_nice(pid: int | str) -> int:
    """Returns the priority of a process's session among others. Source: sched(7), the autogroup feature."""
    return proc.number(f"/proc/{pid}", "autogroup", b" nice ") or 0


def _cores(tid: int) -> set[int]:
    """Returns the cores that a thread may run on; none if it is gone."""
    try:
        return os.sched_getaffinity(tid)
    except OSError:
        return set()


def _reaped_ns(pid: int) -> int:
    """Returns the CPU time of the ended children that a process has waited for, in ticks of 10 ms."""
    try:
        fields = proc.stat(f"/proc/{pid}")
        return (int(fields[13]) + int(fields[14])) * TICK_NS
    except (OSError, ValueError, IndexError):
        return 0


def _read(path: str) -> Thread | None:
    try:
        with open(path, "rb") as schedstat:
            ran, waited, _ = schedstat.read().split()
    except (OSError, ValueError):
        return None
    return Thread(int(ran), int(waited))
