"""What a bot's process tree used, and what it may use."""

import time
from collections.abc import Iterator
from contextlib import suppress
from time import clock_gettime_ns

import psutil
from msgspec import Struct

from games.api import Fault, FaultKind
from harness.sandbox.supervisor import descendants

SAMPLE_EVERY_S = 0.025
"""A memory bomb gets some 80 MiB over its limit between two readings; a reading costs about 60 µs a process."""


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
    peak_memory_bytes: int = 0
    """The most resident memory that any reading saw, or the kernel's mark of the main process if higher."""
    processes: int = 0


class Meter:
    """Reads what the tree below a supervisor uses, match by match."""

    def __init__(self, pid: int, supervisor: int) -> None:
        self.pid = pid
        self.clock = cpu_clock(pid)
        """Of the main process."""
        self.usage = Usage()
        self.read_at = -1.0
        self._supervisor = psutil.Process(supervisor)
        self._known: dict[int, psutil.Process] = {}
        self._tree_cpu_s = 0.0
        self._before_s = 0.0  # CPU time of the tree up to this match
        self._before_ns = 0  # CPU time of the main process up to this match

    def start_match(self) -> None:
        """CPU time counts from here; the memory of a process that is used again is what it is."""
        self.usage = Usage(memory_bytes=self.usage.memory_bytes, peak_memory_bytes=self.usage.memory_bytes)
        self._before_s = self._tree_cpu_s
        self._before_ns = cpu_ns(self.clock)

    def end_match(self) -> None:
        """Brings the main process's CPU time up to date, to the nanosecond."""
        self.usage.cpu_s = max(self.usage.cpu_s, (cpu_ns(self.clock) - self._before_ns) / 1e9)

    def read(self) -> Usage:
        """The usage now. A process that has just ended counts with its last reading, then in its parent's."""
        self.read_at = time.monotonic()
        memory_bytes = processes = 0
        cpu_s = self._buried_s()
        for process in self._tree():
            with suppress(psutil.Error):
                memory_bytes += process.memory_info().rss
                cpu_s += sum(process.cpu_times()[:4])
                processes += 1
        usage = self.usage
        usage.memory_bytes, usage.processes = memory_bytes, processes
        usage.peak_memory_bytes = max(usage.peak_memory_bytes, memory_bytes, _high_water_mark(self.pid))
        self._use_cpu(cpu_s)
        return usage

    def close(self, tree_cpu_s: float | None) -> None:
        """Takes over the supervisor's last word: the exact CPU time of the whole tree, now that it has ended."""
        if tree_cpu_s is not None:
            self._use_cpu(tree_cpu_s)

    def _use_cpu(self, tree_cpu_s: float) -> None:
        self._tree_cpu_s = max(self._tree_cpu_s, tree_cpu_s)
        self.usage.cpu_s = max(self.usage.cpu_s, self._tree_cpu_s - self._before_s)

    def _tree(self) -> Iterator[psutil.Process]:
        known, self._known = self._known, {}
        for pid in descendants(self._supervisor.pid):
            with suppress(psutil.Error):
                self._known[pid] = process = known.get(pid) or psutil.Process(pid)
                yield process

    def _buried_s(self) -> float:
        """CPU time of the orphans that the supervisor has reaped."""
        try:
            times = self._supervisor.cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.children_user + times.children_system)


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
