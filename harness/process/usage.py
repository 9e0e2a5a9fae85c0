"""Usage of a bot's process tree, read while the bot plays, without making any call wait."""

import time
from collections import deque
from math import ceil
from time import clock_gettime_ns
from typing import NamedTuple

import psutil
from msgspec import Struct

from referee.harness.common import threads
from referee.harness.common.records import Moment
from referee.harness.common.threads import Steps
from referee.harness.isolation import proc
from referee.harness.isolation.layers.cgroups import Group
from referee.harness.isolation.process_tree import walk
from referee.harness.isolation.supervisor import PORTABLE

CURVE_MOMENTS = 400
"""Readings that are kept: the last ten seconds."""
SAMPLE_EVERY_S = 0.025
"""A memory bomb gets some 80 MiB over its limit between two readings; a reading costs about 40 µs a process."""
MAX_PIDS_ASKED = 16
"""Processes that `Meter.rests` asks for their CPU time, which costs 1 µs each."""
SHARES_COST = 0.05
"""Most of our time that may go into reading shared memory, which takes 0.5 ms for each 100 MiB of each process."""
URGENT_SHARES_COST = 0.5
"""The same, while the tree may be above its memory limit."""


class Usage(Struct):
    """Usage of a process tree so far."""

    cpu_s: float = 0.0
    """CPU time of all processes; readings of ended children may lag."""
    memory_bytes: int = 0
    """Resident memory. What several processes share counts once."""
    peak_memory_bytes: int = 0
    """The largest reading, or the kernel's own mark of one process if that is higher."""
    processes: int = 0


class Reading(NamedTuple):
    """One process at one moment."""

    process: psutil.Process
    clock_ns: int
    """CPU time on its clock, just before the rest was read."""
    cpu_s: float
    """CPU time of the process itself."""
    reaped_cpu_s: float
    """CPU time of its ended children that it has waited for, and of theirs."""
    memory_bytes: int
    lives: bool
    """False: it is a zombie."""


Readings = dict[int, Reading]
"""By process id."""


class Shares(NamedTuple):
    """The memory of a tree in which each page counts once, at one moment."""

    shared_once_bytes: int
    sum_bytes: int
    """The plain sum over its processes at that moment."""
    at: float
    took_s: float


class Sample(NamedTuple):
    """A whole tree at one moment."""

    at: float
    readings: Readings
    supervisor: Reading | None
    main_peak_bytes: int
    shares: Shares | None
    """None = not read this time."""
    group_bytes: int
    """Memory of the control group, with files in memory; 0 = there is no control group."""
    group_cpu_s: float
    """CPU time of the control group, which misses nothing."""


class Meter:
    """Reads the usage of the tree below a supervisor, match by match."""

    def __init__(
        self,
        pid: int,
        supervisor: int,
        memory_limit_bytes: int | None = None,
        process_limit: int | None = None,
        group: Group | None = None,
        reaped_s: float = 0.0,
    ) -> None:
        """`reaped_s`: CPU time of earlier processes that the supervisor has waited for."""
        self.pid = pid
        self.clock = cpu_clock(pid)
        """Of the main process."""
        self.usage = Usage()
        self.read_at = -1.0
        self._root = supervisor
        self._supervisor: Reading | None = None
        self._reaped_s = reaped_s
        self._memory_limit_bytes, self._process_limit = memory_limit_bytes, process_limit
        self._group = group
        self._readings: Readings = {}
        self._may_rest = False
        self._shares: Shares | None = None
        self._gone_cpu_s = 0.0  # of ended processes, by the last reading of each
        self._tree_cpu_s = 0.0
        self._earlier_s = 0.0  # CPU time of the tree before this match
        self._earlier_ns = 0  # CPU time of the main process before this match
        self._reading_now = False

    def start_match(self) -> None:
        """Counts CPU time from here. The memory of a reused process stays what it is."""
        self._may_rest = False
        self.usage = Usage(memory_bytes=self.usage.memory_bytes, peak_memory_bytes=self.usage.memory_bytes)
        self._earlier_s = self._tree_cpu_s
        self._earlier_ns = cpu_ns(self.clock)

    def set_backstop(self, cpu_s: float) -> None:
        """Has the kernel kill the main process when it has used this much in the match, and a second more."""
        try:
            used_s = cpu_ns(self.clock) / 1e9
            process = psutil.Process(self.pid)
            _, hard = process.rlimit(psutil.RLIMIT_CPU)
            process.rlimit(psutil.RLIMIT_CPU, (ceil(used_s + cpu_s) + 1, hard))
        except (psutil.Error, ValueError, OSError, AttributeError):  # psutil has this on Linux alone
            pass  # it has ended, or has set itself a lower limit

    def end_match(self) -> None:
        """Brings the main process's CPU time up to date, to the nanosecond."""
        self.usage.cpu_s = max(self.usage.cpu_s, (cpu_ns(self.clock) - self._earlier_ns) / 1e9)

    async def read(self) -> Usage:
        """Reads the usage; of a large tree in a thread."""
        self._reading_now = True
        try:
            self._take(await threads.finish(self._steps()))
        finally:
            self._reading_now = False
        return self.usage

    def rests(self) -> bool:
        """Returns whether nothing can have changed: no process of the tree has used CPU time since the last reading.

        This costs 1 µs a process, where a reading costs 40.
        """
        if not self._may_rest or not 0 < len(self._readings) <= MAX_PIDS_ASKED:
            return False
        at = time.monotonic()
        for pid, last in self._readings.items():
            if last.clock_ns == 0 or cpu_ns(cpu_clock(pid)) != last.clock_ns:
                return False
        self.read_at = at
        return True

    def read_now(self) -> Usage:
        """Reads the usage, however long that takes."""
        self._take(threads.finish_now(self._steps()))
        return self.usage

    def glance(self) -> Usage:
        """Reads the usage if that takes no time. Else it stays as it was."""
        if not self._reading_now and (sample := threads.glance(self._steps())) is not None:
            self._take(sample)
        return self.usage

    def close(self, tree_cpu_s: float | None, peak_bytes: int = 0) -> None:
        """Takes over the supervisor's account of the ended tree: its exact CPU time, and the peak of one process."""
        self.take_peak(peak_bytes)
        if tree_cpu_s is not None:
            self._use_cpu(tree_cpu_s)

    def take_peak(self, peak_bytes: int) -> None:
        """Takes over the peak memory of an ended process from its parent."""
        self.usage.peak_memory_bytes = max(self.usage.peak_memory_bytes, peak_bytes)

    def _steps(self) -> Steps[Sample]:
        """Reads the tree. Changes nothing here, so the work may be abandoned."""
        at = time.monotonic()
        readings: Readings = {}
        for below in walk(self._root):
            for pid in below:
                if (found := read_process(pid, self._readings.get(pid))) is not None:
                    readings[pid] = found
                yield False
            yield False
        shares = None
        if self._must_find_shares(readings, at):
            yield True
            started, once = time.monotonic(), 0
            for found in readings.values():
                once += _share_bytes(found)
                yield True
            shares = Shares(once, _sum_bytes(readings), started, time.monotonic() - started)
        group = self._group
        return Sample(
            at=at,
            readings=readings,
            supervisor=read_process(self._root, self._supervisor),
            main_peak_bytes=_high_water_mark(self.pid) if self.pid in readings else 0,
            shares=shares,
            group_bytes=0 if group is None else group.memory_bytes() or 0,
            group_cpu_s=0.0 if group is None else group.cpu_s() or 0.0,
        )

    def _take(self, sample: Sample) -> None:
        before = self._readings
        self.read_at, self._readings, self._supervisor = sample.at, sample.readings, sample.supervisor
        # Shares are not read every time, so a tree that may share memory is always read again.
        self._may_rest = sample.shares is not None or not _may_share(sample.readings)
        self._shares = sample.shares or self._shares
        usage = self.usage
        usage.processes = sum([found.lives for found in sample.readings.values()])
        memory_bytes = _sum_bytes(sample.readings)
        if self._shares is not None and _may_share(sample.readings):
            memory_bytes = min(memory_bytes, self._shares.shared_once_bytes)
        usage.memory_bytes = max(memory_bytes, sample.group_bytes)
        usage.peak_memory_bytes = max(usage.peak_memory_bytes, usage.memory_bytes, sample.main_peak_bytes)
        self._gone_cpu_s += sum(before[pid].cpu_s for pid in before.keys() - self._readings.keys())
        self._use_cpu(max(self._cpu_s(), sample.group_cpu_s))

    def _use_cpu(self, tree_cpu_s: float) -> None:
        self._tree_cpu_s = max(self._tree_cpu_s, tree_cpu_s)
        self.usage.cpu_s = max(self.usage.cpu_s, self._tree_cpu_s - self._earlier_s)

    def _cpu_s(self) -> float:
        """Returns the CPU time of the living and the ended processes.

        That of the ended ones is known from two sides, and the larger is nearer to the truth. The kernel adds it to the
        process that waits for them, but not if that ignores SIGCHLD. Our last readings miss a process's last moments,
        and processes that lived between two readings.
        """
        living = sum(found.cpu_s for found in self._readings.values())
        orphans_cpu_s = 0.0 if self._supervisor is None else max(0.0, self._supervisor.reaped_cpu_s - self._reaped_s)
        waited_for = orphans_cpu_s + sum(found.reaped_cpu_s for found in self._readings.values())
        return living + max(self._gone_cpu_s, waited_for)

    # The plain sum counts a page for every process that has it. Shares are read only where that matters, and only as
    # often as the cost allows.

    def _must_find_shares(self, readings: Readings, at: float) -> bool:
        if not _may_share(readings):
            return False
        if self._process_limit is not None and sum(found.lives for found in readings.values()) > self._process_limit:
            return False  # that is its fault, and all these would take long
        last, limit = self._shares, self._memory_limit_bytes
        if last is None:
            return True
        grown = last.shared_once_bytes + _sum_bytes(readings) - last.sum_bytes
        cost = URGENT_SHARES_COST if limit is not None and grown > limit else SHARES_COST
        return at >= last.at + last.took_s / cost


class Curve:
    """The last readings of a meter, for fault reports."""

    def __init__(self, meter: Meter, started: float) -> None:
        """`started`: when the bot was started, on the clock of `time.monotonic`."""
        self._meter, self._started = meter, started
        self._moments: deque[Moment] = deque(maxlen=CURVE_MOMENTS)

    def note(self) -> None:
        """Adds the meter's last reading."""
        self._moments.append(self._last())

    def moments(self) -> tuple[Moment, ...]:
        """Returns the curve, with the last reading also of a bot that has not lived to the first sample."""
        last = self._last()
        sampled = self._moments and self._moments[-1].at_s >= last.at_s
        return tuple(self._moments) if sampled else (*self._moments, last)

    def _last(self) -> Moment:
        """Returns the last reading; of a bot that had ended by then, the most that it has used."""
        usage, at_s = self._meter.usage, round(self._meter.read_at - self._started, 3)
        memory_bytes = usage.memory_bytes or usage.peak_memory_bytes
        return Moment(max(0.0, at_s), memory_bytes, usage.cpu_s, usage.processes)


def cpu_clock(pid: int) -> int:
    """Returns the kernel's clock of a process's CPU time, for `cpu_ns`.

    It counts all threads, but no children, and costs 0.4 µs. Files under /proc cost ten times that, and count in ticks
    of 10 ms.
    """
    return -1 if PORTABLE else (~pid << 3) | 2  # no system has a clock -1: reading it is an error


def cpu_ns(clock: int) -> int:
    """Returns the CPU time on a `cpu_clock`, in nanoseconds; 0 when the process is gone."""
    try:
        return clock_gettime_ns(clock)
    except OSError:
        return 0


def read_process(pid: int, last: Reading | None = None) -> Reading | None:
    """Reads a process, faster if there is an earlier reading of it; None when it is gone."""
    clock_ns = cpu_ns(cpu_clock(pid))
    try:
        process = psutil.Process(pid) if last is None else last.process
        with process.oneshot():
            cpu = process.cpu_times()
            memory_bytes: int = process.memory_info().rss
            lives = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    reaped_cpu_s = cpu.children_user + cpu.children_system
    return Reading(process, clock_ns, cpu.user + cpu.system, reaped_cpu_s, memory_bytes, lives)


def living_below(supervisor: int) -> int:
    """Returns how many processes live below a supervisor."""
    readings = (read_process(pid) for below in walk(supervisor) for pid in below)
    return sum(found is not None and found.lives for found in readings)


def _sum_bytes(readings: Readings) -> int:
    return sum(found.memory_bytes for found in readings.values())


def _may_share(readings: Readings) -> bool:
    """Returns whether more than an eighth of the memory lies outside of the largest process."""
    total = _sum_bytes(readings)
    return total - max((found.memory_bytes for found in readings.values()), default=0) > total / 8


def _share_bytes(found: Reading) -> int:
    """Returns a process's memory, each page divided by the number of processes that share it.

    Pages count in full if that number cannot be read.
    """
    try:
        full = found.process.memory_full_info()
        share: int = getattr(full, "pss", full.rss)  # Linux alone tells how many have a page
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        return found.memory_bytes
    return share


def _high_water_mark(pid: int) -> int:
    """Returns the most resident memory that a process ever held, in bytes; 0 if unknown. psutil lacks this."""
    return (proc.number(f"/proc/{pid}", "status", b"\nVmHWM:") or 0) << 10
