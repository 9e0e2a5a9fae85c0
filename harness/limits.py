"""What a bot's process tree used, and what it may use."""

import os
import time
from time import clock_gettime_ns
from typing import NamedTuple

from msgspec import Struct

from games.api import Fault, FaultKind
from harness.sandbox.supervisor import descendants

SAMPLE_EVERY_S = 0.025
"""A memory bomb gets some 80 MiB over its limit between two readings; a reading costs about 20 µs a process."""
SHARES_COST = 0.05
"""The part of our time that may go into what processes share: that costs 0.5 ms for 100 MiB of each."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


class Limits(Struct, frozen=True):
    """What a bot may use; None = no such limit. The time of its calls stands in the `TimeControl`."""

    startup_s: float = 10.0
    memory_bytes: int | None = 256 << 20
    cpu_s: float | None = None
    processes: int | None = 256
    """Living processes at a time."""
    frame_bytes: int = 1 << 20
    call_output_bytes: int = 4 << 20
    """Everything that a bot may write to its standard output in one call."""
    stderr_bytes: int = 1 << 20
    """How much standard error is kept, a bot and match; what follows is read and thrown away."""


class Usage(Struct):
    """What a bot's process tree has used so far."""

    cpu_s: float = 0.0
    """CPU time of every process that it started; readings of ended children may lag."""
    memory_bytes: int = 0
    """Resident memory. What several processes share counts once."""
    peak_memory_bytes: int = 0
    """The most that any reading saw, or the kernel's mark of the main process if higher."""
    processes: int = 0


class Reading(NamedTuple):
    """One process at one moment."""

    own_ticks: int
    reaped_ticks: int
    """CPU time of the children that it has waited for, and of theirs."""
    memory_bytes: int
    lives: bool
    """False: it has ended, and nobody has waited for it yet."""


class Meter:
    """Reads what the tree below a supervisor uses, match by match."""

    def __init__(self, pid: int, supervisor: int) -> None:
        self.pid = pid
        self.clock = cpu_clock(pid)
        """Of the main process."""
        self.usage = Usage()
        self.read_at = -1.0
        self._supervisor = supervisor
        self._tree: dict[int, Reading] = {}
        self._gone_ticks = 0  # own time of the processes that have ended, by the last readings of them
        self._tree_cpu_s = 0.0
        self._before_s = 0.0  # CPU time of the tree up to this match
        self._before_ns = 0  # CPU time of the main process up to this match
        self._shares_at = -1.0  # not before then are shares read again

    def start_match(self) -> None:
        """CPU time counts from here; the memory of a process that is used again is what it is."""
        self.usage = Usage(memory_bytes=self.usage.memory_bytes, peak_memory_bytes=self.usage.memory_bytes)
        self._before_s = self._tree_cpu_s
        self._before_ns = cpu_ns(self.clock)

    def end_match(self) -> None:
        """Brings the main process's CPU time up to date, to the nanosecond."""
        self.usage.cpu_s = max(self.usage.cpu_s, (cpu_ns(self.clock) - self._before_ns) / 1e9)

    def read(self) -> Usage:
        """The usage now."""
        self.read_at = time.monotonic()
        before = self._tree
        self._tree = {pid: found for pid in descendants(self._supervisor) if (found := reading(pid)) is not None}
        usage = self.usage
        usage.processes = sum(found.lives for found in self._tree.values())
        usage.memory_bytes = self._memory_bytes(usage.memory_bytes)
        usage.peak_memory_bytes = max(usage.peak_memory_bytes, usage.memory_bytes, _high_water_mark(self.pid))
        self._gone_ticks += sum(before[pid].own_ticks for pid in before.keys() - self._tree.keys())
        self._use_cpu(self._cpu_ticks() / TICKS)
        return usage

    def close(self, tree_cpu_s: float | None) -> None:
        """Takes over the supervisor's last word: the exact CPU time of the whole tree, now that it has ended."""
        if tree_cpu_s is not None:
            self._use_cpu(tree_cpu_s)

    def _use_cpu(self, tree_cpu_s: float) -> None:
        self._tree_cpu_s = max(self._tree_cpu_s, tree_cpu_s)
        self.usage.cpu_s = max(self.usage.cpu_s, self._tree_cpu_s - self._before_s)

    def _cpu_ticks(self) -> int:
        """CPU time of the tree up to now. Two sums of it are both too low, so that the higher one is right to take.

        Who waits for a child gets its whole time, but nobody is told of one whose parent ignores SIGCHLD. Of that our
        last readings know; but they miss its last moments, and whoever lived between two of them.
        """
        supervisor = reading(self._supervisor)
        own = sum(found.own_ticks for found in self._tree.values())
        reaped = sum(found.reaped_ticks for found in self._tree.values())
        orphans = 0 if supervisor is None else supervisor.reaped_ticks
        return own + max(self._gone_ticks, reaped + orphans)

    def _memory_bytes(self, last: int) -> int:
        """Resident memory of the tree.

        The plain sum counts a page for every process that has it. Only where much could be shared this is looked at
        more closely, and no more often than `SHARES_COST` allows; between two looks the last one stands.
        """
        sizes = [found.memory_bytes for found in self._tree.values()]
        total = sum(sizes)
        if total - max(sizes, default=0) <= total / 8:
            return total
        if self.read_at < self._shares_at:
            return min(last, total)
        shares = sum(_share_bytes(pid, found.memory_bytes) for pid, found in self._tree.items())
        took_s = time.monotonic() - self.read_at
        self._shares_at = self.read_at + took_s / SHARES_COST
        return shares


def passed_limit(usage: Usage, limits: Limits) -> Fault | None:
    """The limit that a tree has passed, if any."""
    if limits.memory_bytes is not None and usage.peak_memory_bytes > limits.memory_bytes:
        detail = f"used {mebibytes(usage.peak_memory_bytes)} of memory; the limit is {mebibytes(limits.memory_bytes)}"
        return Fault(FaultKind.MEMORY, detail)
    if limits.cpu_s is not None and usage.cpu_s > limits.cpu_s:
        return Fault(FaultKind.CPU, f"used {usage.cpu_s:.2f} s of CPU time; the limit is {limits.cpu_s:g} s")
    if limits.processes is not None and usage.processes > limits.processes:
        return Fault(FaultKind.PROCESSES, f"ran {usage.processes} processes at once; the limit is {limits.processes}")
    return None


def cpu_clock(pid: int) -> int:
    """The kernel's clock of one process's CPU time, for `cpu_ns`.

    It counts all its threads, its children apart, for 0.4 µs a reading, where the files under /proc cost ten times
    that and count in ticks of 10 ms.
    """
    return (~pid << 3) | 2


def cpu_ns(clock: int) -> int:
    """The CPU time on a `cpu_clock`, in nanoseconds; 0 when the process is gone."""
    try:
        return clock_gettime_ns(clock)
    except OSError:
        return 0


def mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def reading(pid: int) -> Reading | None:
    """A process now; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name comes first, in parentheses, and may hold anything.
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:
        return None
    user, system, children_user, children_system = map(int, fields[11:15])
    return Reading(user + system, children_user + children_system, int(fields[21]) * PAGE_BYTES, fields[0] != b"Z")


def _share_bytes(pid: int, resident_bytes: int) -> int:
    """The resident memory of a process, each page divided by how many have it. All of it if we may not know."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as rollup:
            for line in rollup:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) << 10
    except PermissionError:
        return resident_bytes
    except OSError:
        pass
    return 0  # it has just ended


def _high_water_mark(pid: int) -> int:
    """The most resident memory that a process ever held, in bytes; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0
