"""What a bot may use, and the fault of one that used more."""

import os
import resource
import signal
from enum import StrEnum

from msgspec import Struct

from referee.games.contract import Fault, FaultKind
from referee.harness.isolation.plan import Isolation
from referee.harness.process.usage import Usage


class OnNoise(StrEnum):
    """What becomes of a call that overran its time on a machine that had no core for the bot."""

    CHARGE = "charge"
    """It is late like any other; the fault says that it may be the machine's."""
    FORGIVE = "forgive"
    """The time that the bot waited for a core is not charged, and it has so much longer to answer."""
    REPLAY = "replay"
    """As with `charge`, but the match is played again."""


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
    file_bytes: int | None = 64 << 20
    """How large a file may become that a bot writes, files in memory included."""
    scratch_bytes: int | None = 64 << 20
    """How much all files in its scratch folder may hold together."""
    exit_s: float = 1.0
    """How long it may take to end by itself after the last match."""
    isolation: Isolation = Isolation()
    """What keeps it from everything that is none of its own: what this machine has, as on the command line."""
    on_noise: OnNoise = OnNoise.CHARGE
    pause: bool = False
    """Bots are stopped while no call to them is open."""
    build_s: float = 600.0
    """How long a build may take; the clock is the wall's."""
    build_memory_bytes: int | None = 4 << 30
    """What everything that a build starts may hold together."""
    build_processes: int | None = 1024
    """Living processes of a build at a time."""
    build_network: bool = True
    """Builds have the machine's network, to fetch what they need."""


FULL_BYTES = 4096
"""A scratch folder with less room is full: that is the least that a file takes."""
OPEN_FILES = 4096
"""Descriptors that each process of a bot may have, and never more than half of ours. Those that are on their way
through sockets count together for a whole account, and whoever is above his own limit by that sends none: a bot that
keeps many there must stay below ours, or we could start no other."""
RUNTIME_BYTES = 512 << 20
"""What a language's runtime may set aside on top of what is measured."""


def rlimits(limits: Limits) -> dict[str, int]:
    """The kernel's limits for each process of a bot, behind those that are measured here.

    None for the address space: runtimes reserve many times what they use. Java's first heap is a 64th of the machine's
    memory.
    """
    own_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    kernel = {"NOFILE": OPEN_FILES if own_limit == resource.RLIM_INFINITY else min(OPEN_FILES, own_limit // 2)}
    if limits.file_bytes is not None:
        kernel["FSIZE"] = limits.file_bytes
    if limits.memory_bytes is not None:
        first_heap = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 64
        kernel["DATA"] = 2 * limits.memory_bytes + RUNTIME_BYTES + first_heap
    return kernel


def kernels_ruling(code: int, room_bytes: int, limits: Limits) -> Fault | None:
    """The fault of a bot that ended at one of the limits that the kernel keeps.

    `code`: negative for a signal. `room_bytes`: what was left in its scratch folder; -1 = nobody knows.
    """
    if code == -signal.SIGXFSZ and limits.file_bytes is not None:
        detail = f"wrote a file of more than {mebibytes(limits.file_bytes)}, which is the limit"
        return Fault(FaultKind.FILES, detail)
    if code != 0 and limits.scratch_bytes is not None and 0 <= room_bytes < FULL_BYTES:
        how = f"ended by itself, {exit_words(code)}, with its scratch folder full"
        return Fault(FaultKind.FILES, f"{how}: the limit is {mebibytes(limits.scratch_bytes)}")
    if code == -signal.SIGXCPU and limits.cpu_s is not None:
        return Fault(FaultKind.CPU, f"used more CPU time than the limit of {limits.cpu_s:g} s")
    return None


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


def exit_words(code: int) -> str:
    """An exit code or signal in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
