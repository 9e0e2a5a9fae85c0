"""What a bot's process tree uses: read while it plays, never so that anybody has to wait for the reading."""

import os
import re
import time
from collections.abc import Iterator
from io import FileIO
from math import ceil
from time import clock_gettime_ns
from typing import NamedTuple

import psutil
from msgspec import Struct

from referee.harness import threads
from referee.harness.isolation.layers.cgroups import Group
from referee.harness.isolation.process_tree import FLOOR, walk
from referee.harness.threads import Steps

SAMPLE_EVERY_S = 0.025
"""A memory bomb gets some 80 MiB over its limit between two readings; a reading costs about 40 µs a process."""
MAX_PIDS_ASKED = 16
"""A tree of more processes is read anew each time: to ask each of them whether it has used any time costs 1 µs."""
SHARES_COST = 0.05
"""At most this part of our time goes into reading how much memory the processes of a tree share: one such reading takes
0.5 ms for each 100 MiB of each process."""
URGENT_SHARES_COST = 0.5
"""The same part while the tree may have passed its limit of memory since the last such reading."""
NO_CLOCK = -1
"""A clock that no system has: reading it gives an error."""


class Usage(Struct):
    """What a bot's process tree has used so far."""

    cpu_s: float = 0.0
    """CPU time of every process that it started; readings of ended children may lag."""
    memory_bytes: int = 0
    """Resident memory. What several processes share counts once."""
    peak_memory_bytes: int = 0
    """The most that any reading saw, or the kernel's own mark of one process if that is higher."""
    processes: int = 0


class Reading(NamedTuple):
    """One process at one moment."""

    cpu_s: float
    """Its own CPU time."""
    reaped_cpu_s: float
    """CPU time of the children that it has waited for, and of theirs."""
    memory_bytes: int
    lives: bool
    """False: it has ended, and nobody has waited for it yet."""


class Shares(NamedTuple):
    """How much memory a tree holds when each page counts once, found out at one moment."""

    shared_once_bytes: int
    sum_bytes: int
    """The sum over its processes at that moment, in which a page counts for each that has it."""
    at: float
    took_s: float


class Sample(NamedTuple):
    """A whole tree at one moment."""

    at: float
    processes: dict[int, psutil.Process]
    readings: dict[int, Reading]
    clocks_ns: dict[int, int]
    """The CPU time of each process just before it was read."""
    orphans_cpu_s: float
    """CPU time of the processes that the supervisor has waited for."""
    main_peak_bytes: int
    shares: Shares | None
    """None = not looked at this time."""
    group_bytes: int
    """What its control group says that it holds, files in memory included; 0 = there is none that counts."""
    group_cpu_s: float
    """CPU time by its control group, which misses nothing."""


class Meter:
    """Reads what the tree below a supervisor uses, match by match."""

    def __init__(
        self,
        pid: int,
        supervisor: int,
        memory_limit_bytes: int | None = None,
        group: Group | None = None,
        reaped_s: float = 0.0,
    ) -> None:
        """`reaped_s`: CPU time of others that the supervisor has waited for before."""
        self.pid = pid
        self.clock = cpu_clock(pid)
        """Of the main process."""
        self.usage = Usage()
        self.read_at = -1.0
        self._supervisor = _process(supervisor)
        self._status = _status_file(pid)
        self._reaped_s = reaped_s
        self._memory_limit_bytes = memory_limit_bytes
        self._group = group
        self._processes: dict[int, psutil.Process] = {}
        self._readings: dict[int, Reading] = {}
        self._clocks_ns: dict[int, int] = {}  # as of the last reading; empty: the next one is to be made in any case
        self._shares: Shares | None = None
        self._gone_cpu_s = 0.0  # of the processes that have ended, each by the last reading of it
        self._tree_cpu_s = 0.0
        self._before_s = 0.0  # CPU time of the tree up to this match
        self._before_ns = 0  # CPU time of the main process up to this match
        self._reading_now = False

    def start_match(self) -> None:
        """CPU time counts from here; the memory of a process that is used again is what it is."""
        self._clocks_ns = {}
        self.usage = Usage(memory_bytes=self.usage.memory_bytes, peak_memory_bytes=self.usage.memory_bytes)
        self._before_s = self._tree_cpu_s
        self._before_ns = cpu_ns(self.clock)

    def set_backstop(self, cpu_s: float) -> None:
        """Has the kernel end the main process when it has used so much in this match, and a second more."""
        try:
            used_s = cpu_ns(self.clock) / 1e9
            process = psutil.Process(self.pid)
            _, hard = process.rlimit(psutil.RLIMIT_CPU)
            process.rlimit(psutil.RLIMIT_CPU, (ceil(used_s + cpu_s) + 1, hard))
        except (psutil.Error, ValueError, OSError, AttributeError):  # psutil has this on Linux alone
            pass  # it has ended, or has set itself a lower limit

    def end_match(self) -> None:
        """Brings the main process's CPU time up to date, to the nanosecond."""
        self.usage.cpu_s = max(self.usage.cpu_s, (cpu_ns(self.clock) - self._before_ns) / 1e9)

    async def read(self) -> Usage:
        """The usage now. A large tree is read in a thread: nobody else's answer waits for that."""
        self._reading_now = True
        try:
            self._take(await threads.finish(self._steps()))
        finally:
            self._reading_now = False
        return self.usage

    def rests(self) -> bool:
        """Whether nothing has to be read, since nothing can have changed: no process of the tree has used any CPU time
        since it was read last. That costs 1 µs a process, where a reading costs 40."""
        if not 0 < len(self._clocks_ns) <= MAX_PIDS_ASKED:
            return False
        at = time.monotonic()
        for pid, used_ns in self._clocks_ns.items():
            if used_ns == 0 or cpu_ns(cpu_clock(pid)) != used_ns:
                return False
        self.read_at = at
        return True

    def read_now(self) -> Usage:
        """The usage now, however long that takes."""
        self._take(threads.finish_now(self._steps()))
        return self.usage

    def glance(self) -> Usage:
        """The usage now, if that can be read in no time; else as it was last."""
        if not self._reading_now and (sample := threads.glance(self._steps())) is not None:
            self._take(sample)
        return self.usage

    def close(self, tree_cpu_s: float | None, peak_bytes: int = 0) -> None:
        """Takes over the supervisor's last word, now that the tree has ended: its exact CPU time, and the highest peak
        of one of its processes."""
        self.take_peak(peak_bytes)
        if tree_cpu_s is not None:
            self._use_cpu(tree_cpu_s)
        if self._status is not None:
            self._status.close()

    def take_peak(self, peak_bytes: int) -> None:
        """Hears of the most memory that a process held, from whoever waited for its end: then no file tells it."""
        self.usage.peak_memory_bytes = max(self.usage.peak_memory_bytes, peak_bytes)

    def _steps(self) -> Steps[Sample]:
        """Reads the tree. Changes nothing here, so that it can be left in the middle."""
        at = time.monotonic()
        processes: dict[int, psutil.Process] = {}
        readings: dict[int, Reading] = {}
        clocks_ns: dict[int, int] = {}
        for below in _walk(self._supervisor):
            for pid in below:
                process = self._processes.get(pid) or _process(pid)
                clocks_ns[pid] = cpu_ns(cpu_clock(pid))
                found = None if process is None else reading(process)
                if process is not None and found is not None:
                    processes[pid], readings[pid] = process, found
                yield False
            yield False
        shares = None
        if self._must_find_shares(readings, at):
            yield True
            started, once = time.monotonic(), 0
            for pid, process in processes.items():
                once += _share_bytes(process, readings[pid].memory_bytes)
                yield True
            shares = Shares(once, _sum_bytes(readings), started, time.monotonic() - started)
        group = self._group
        group_bytes, cpu_s = (0, 0.0) if group is None else (group.memory_bytes() or 0, group.cpu_s() or 0.0)
        reaped_s, peak = self._reaped_now_s(), _high_water_mark(self._status)
        return Sample(at, processes, readings, clocks_ns, reaped_s, peak, shares, group_bytes, cpu_s)

    def _reaped_now_s(self) -> float:
        """CPU time of the processes of this tree that the supervisor has waited for; 0 when that is gone."""
        try:
            cpu = None if self._supervisor is None else self._supervisor.cpu_times()
        except psutil.NoSuchProcess:
            cpu = None
        return 0.0 if cpu is None else max(0.0, cpu.children_user + cpu.children_system - self._reaped_s)

    def _take(self, sample: Sample) -> None:
        """Makes a reading the last one."""
        before = self._readings
        self.read_at, self._processes, self._readings = sample.at, sample.processes, sample.readings
        # Where processes may share memory the next reading is made in any case: shares are not found out every time.
        self._clocks_ns = {} if sample.shares is None and _may_share(sample.readings) else sample.clocks_ns
        self._shares = sample.shares or self._shares
        usage = self.usage
        usage.processes = sum(found.lives for found in self._readings.values())
        usage.memory_bytes = max(self._memory_bytes(), sample.group_bytes)
        usage.peak_memory_bytes = max(usage.peak_memory_bytes, usage.memory_bytes, sample.main_peak_bytes)
        self._gone_cpu_s += sum(before[pid].cpu_s for pid in before.keys() - self._readings.keys())
        self._use_cpu(max(self._cpu_s(sample.orphans_cpu_s), sample.group_cpu_s))

    def _use_cpu(self, tree_cpu_s: float) -> None:
        self._tree_cpu_s = max(self._tree_cpu_s, tree_cpu_s)
        self.usage.cpu_s = max(self.usage.cpu_s, self._tree_cpu_s - self._before_s)

    def _cpu_s(self, orphans_cpu_s: float) -> float:
        """CPU time of the tree up to now: of its living processes, and of those that have ended.

        The latter is known from two sides, each of which may miss some, so the larger one is nearer to the truth: the
        kernel books an ended process to whoever waits for it, but to nobody where the parent ignores SIGCHLD; our own
        last readings know of that, but not of a process's last moments, nor of one that lived between two readings.
        """
        living = sum(found.cpu_s for found in self._readings.values())
        booked = orphans_cpu_s + sum(found.reaped_cpu_s for found in self._readings.values())
        return living + max(self._gone_cpu_s, booked)

    # Shares: the plain sum counts a page for every process that has it. Only where much can be shared this is looked at
    # more closely, and only as often as it may cost.

    def _must_find_shares(self, readings: dict[int, Reading], at: float) -> bool:
        if not _may_share(readings):
            return False
        last, limit = self._shares, self._memory_limit_bytes
        if last is None:
            return True
        grown = last.shared_once_bytes + _sum_bytes(readings) - last.sum_bytes
        cost = URGENT_SHARES_COST if limit is not None and grown > limit else SHARES_COST
        return at >= last.at + last.took_s / cost

    def _memory_bytes(self) -> int:
        """Resident memory of the tree by the last reading; what is shared as it was found last."""
        total = _sum_bytes(self._readings)
        if self._shares is None or not _may_share(self._readings):
            return total
        return min(self._shares.shared_once_bytes, total)


def cpu_clock(pid: int) -> int:
    """The kernel's clock of one process's CPU time, for `cpu_ns`.

    It counts all its threads, its children apart, for 0.4 µs a reading, where the files under /proc cost ten times
    that and count in ticks of 10 ms.
    """
    return NO_CLOCK if FLOOR else (~pid << 3) | 2


def cpu_ns(clock: int) -> int:
    """The CPU time on a `cpu_clock`, in nanoseconds; 0 when the process is gone."""
    try:
        return clock_gettime_ns(clock)
    except OSError:
        return 0


def reading(process: psutil.Process) -> Reading | None:
    """A process now; None when it is gone."""
    try:
        with process.oneshot():
            cpu = process.cpu_times()
            memory_bytes: int = process.memory_info().rss
            lives = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    return Reading(cpu.user + cpu.system, cpu.children_user + cpu.children_system, memory_bytes, lives)


def living_below(supervisor: int) -> int:
    """How many processes live below a supervisor."""
    return sum(_lives(pid) for below in walk(supervisor) for pid in below)


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _process(pid: int) -> psutil.Process | None:
    """The process of that number; None when it is gone."""
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def _walk(supervisor: psutil.Process | None) -> Iterator[list[int]]:
    """The processes below a supervisor, in steps."""
    if supervisor is not None:
        yield from walk(supervisor.pid)


def _sum_bytes(readings: dict[int, Reading]) -> int:
    return sum(found.memory_bytes for found in readings.values())


def _may_share(readings: dict[int, Reading]) -> bool:
    """Whether so much lies outside of the largest process that it matters how much of it is shared."""
    total = _sum_bytes(readings)
    return total - max((found.memory_bytes for found in readings.values()), default=0) > total / 8


def _share_bytes(process: psutil.Process, resident_bytes: int) -> int:
    """The resident memory of a process, each page divided by how many have it. All of it if we may not know."""
    try:
        full = process.memory_full_info()
        share: int = getattr(full, "pss", full.rss)  # Linux alone tells how many have a page
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        return resident_bytes
    return share


def _status_file(pid: int) -> FileIO | None:
    """What `_high_water_mark` reads. It is kept open, since to open it costs four times what reading it does."""
    try:
        return None if FLOOR else FileIO(f"/proc/{pid}/status")
    except OSError:
        return None


def _high_water_mark(status: FileIO | None) -> int:
    """The most resident memory that a process ever held, in bytes; 0 when it is gone. psutil does not tell it."""
    if status is None or status.closed:
        return 0
    try:
        found = _VM_HWM.search(os.pread(status.fileno(), 4096, 0))
    except OSError:
        return 0
    return 0 if found is None else int(found[1]) << 10


_VM_HWM = re.compile(rb"^VmHWM:\s*(\d+)", re.MULTILINE)
