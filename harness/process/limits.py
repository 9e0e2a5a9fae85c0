"""The limits of a bot, and the faults of exceeding them."""

import os
import resource
import signal
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from referee.games.contract import Fault, FaultKind
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import Isolation
from referee.harness.process.usage import Usage
from referee.protocol.text import mebibytes


class OnNoise(StrEnum):
    """How to treat a late call that was slowed by machine load."""

    CHARGE = "charge"
    """Like any other late call; the fault report mentions the load."""
    FORGIVE = "forgive"
    """The time for which the bot waited for a core is not charged, and extends its limit."""
    REPLAY = "replay"
    """The match is played again."""


MOST_S = 1e9
"""About thirty years."""
MOST_BYTES = 1 << 50
"""Far more than any machine's memory, and far less than the kernel's limits."""
MOST_PROCESSES = 1 << 22
"""The largest process number of Linux."""
Seconds = Annotated[float, Meta(ge=0, le=MOST_S)]
Amount = Annotated[int, Meta(ge=0, le=MOST_BYTES)]
Processes = Annotated[int, Meta(ge=0, le=MOST_PROCESSES)]


class Limits(Struct, frozen=True):
    """The limits of a bot, except those of its calls (`TimeControl`). None = no limit."""

    startup_s: Seconds = 10.0
    memory_bytes: Amount | None = 256 << 20
    cpu_s: Seconds | None = None
    fuel: Amount | None = None
    """Most units of fuel that a metered bot may use in one call; its other limits hold too."""
    processes: Processes | None = 256
    """Most processes at a time."""
    frame_bytes: Amount = 1 << 20
    call_output_bytes: Amount = 4 << 20
    """Most standard output in one call."""
    stderr_bytes: Amount = 1 << 20
    """How much standard error of a match is kept. The rest is read and thrown away."""
    file_bytes: Amount | None = 64 << 20
    """Largest file, files in memory included."""
    scratch_bytes: Amount | None = 64 << 20
    """Size of all files in the scratch folder together."""
    exit_s: Seconds = 1.0
    """How long the bot may take to exit after the last match."""
    isolation: Isolation = Isolation()
    """The isolation layers to use; by default, all that this machine has."""
    on_noise: OnNoise = OnNoise.CHARGE
    model_clock: bool = False
    """Charge the time that a language model's service takes."""
    pause: bool = False
    """Stop bots while no call to them is open."""
    build_s: Seconds = 600.0
    """Wall time of a build."""
    build_memory_bytes: Amount | None = 4 << 30
    """Memory of all processes of a build together."""
    build_processes: Processes | None = 1024
    """Most processes of a build at a time."""
    build_disk_bytes: Amount | None = 8 << 30
    """Space on the disk that a build may take."""
    build_network: bool = True
    """Builds may use the network."""


DEFAULT_LIMITS = Limits()


def recorded_limits(members: Mapping[str, Any]) -> Limits:
    """Returns the limits that a replay's header holds. UsageError if they are invalid."""
    try:
        return msgspec.convert(members, Limits)
    except msgspec.ValidationError as error:
        raise UsageError(f"the replay's limits are invalid: {error}") from error


def accepted_limits(members: Mapping[str, Any], wide: bool) -> Limits:
    """Returns the limits that a replay's header holds. UsageError if they are invalid.

    So is a limit that is wider than this machine should allow a stranger, unless the user accepts it (`wide`).
    """
    limits = recorded_limits(members)
    if not wide:
        check_recorded(limits)
    return limits


WIDEST = 4
"""How many times the default a limit of a replay may be, unless the user accepts it as it is."""
BOUNDED = (
    *("memory_bytes", "processes", "file_bytes", "scratch_bytes"),
    *("frame_bytes", "call_output_bytes", "stderr_bytes"),
)
"""The limits that protect this machine from a bot. The author of a replay may have raised them."""


def check_recorded(limits: Limits) -> None:
    """Raises UsageError if a limit of a replay is wider than this machine should allow a stranger."""
    if wide := too_wide(limits):
        raise UsageError(f"the replay {wide}; if you trust its author, add --recorded-limits")


def too_wide(limits: Limits, further: Iterable[str] = ()) -> str:
    """Says which limit is wider than this machine should allow a stranger, of `BOUNDED` and further ones; else ""."""
    default = Limits()
    for name in (*BOUNDED, *further):
        value, most = getattr(limits, name), WIDEST * getattr(default, name)
        if value is None or value > most:
            limit = f"{name[:-2]}_time" if name.endswith("_s") else name.removesuffix("_bytes")
            return f"allows its bots {limit} {_amount(name, value)}; expected at most {_amount(name, most)}"
    return ""


def _amount(name: str, value: float | None) -> str:
    if value is None:
        return "without limit"
    if name.endswith("_s"):
        return f"{value:g} s"
    return mebibytes(value) if name.endswith("_bytes") else str(value)


FULL_BYTES = 4096
"""A scratch folder with less room is full, since the smallest file needs this much."""
OPEN_FILES = 4096
"""Most descriptors of each process of a bot, and never more than half of ours. Descriptors in flight through sockets
count for the whole account: a bot with many must stay below our limit, or we could start no other."""
RUNTIME_BYTES = 512 << 20
"""Memory that a language's runtime may reserve on top of the limit."""


def rlimits(limits: Limits) -> dict[str, int]:
    """Returns the kernel's limits for each process of a bot, as a backstop for those that are measured here.

    There is none for the address space: runtimes reserve many times what they use. Java's first heap is a 64th of the
    machine's memory.
    """
    own_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    kernel = {"NOFILE": OPEN_FILES if own_limit == resource.RLIM_INFINITY else min(OPEN_FILES, own_limit // 2)}
    if limits.file_bytes is not None:
        kernel["FSIZE"] = limits.file_bytes
    if limits.memory_bytes is not None:
        first_heap = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 64
        kernel["DATA"] = 2 * limits.memory_bytes + RUNTIME_BYTES + first_heap
    return kernel


def kernel_fault(code: int, room_bytes: int, limits: Limits) -> Fault | None:
    """Returns the fault of a bot that ended at one of the limits that the kernel keeps.

    `code`: negative for a signal. `room_bytes`: room left in its scratch folder; -1 = unknown.
    """
    if code == -signal.SIGXFSZ and limits.file_bytes is not None:
        own_limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        limit = limits.file_bytes if own_limit == resource.RLIM_INFINITY else min(limits.file_bytes, own_limit)
        detail = f"wrote a file of more than {mebibytes(limit)}, which is the limit"
        return Fault(FaultKind.FILES, detail)
    if code != 0 and limits.scratch_bytes is not None and 0 <= room_bytes < FULL_BYTES:
        how = f"{end_words(code)} with its scratch folder full"
        return Fault(FaultKind.FILES, f"{how}: the limit is {mebibytes(limits.scratch_bytes)}")
    if code == -signal.SIGXCPU and limits.cpu_s is not None:
        return Fault(FaultKind.CPU, f"used more CPU time than the limit of {limits.cpu_s:g} s")
    return None


def passed_limit(usage: Usage, limits: Limits) -> Fault | None:
    """Returns the fault of a process tree beyond a limit."""
    # This comes before memory: what so many processes share was counted for each of them.
    if limits.processes is not None and usage.processes > limits.processes:
        return Fault(FaultKind.PROCESSES, f"ran {usage.processes} processes at once; the limit is {limits.processes}")
    if limits.memory_bytes is not None and usage.peak_memory_bytes > limits.memory_bytes:
        detail = f"used {mebibytes(usage.peak_memory_bytes)} of memory; the limit is {mebibytes(limits.memory_bytes)}"
        return Fault(FaultKind.MEMORY, detail)
    if limits.cpu_s is not None and usage.cpu_s > limits.cpu_s:
        return Fault(FaultKind.CPU, f"used {usage.cpu_s:.2f} s of CPU time; the limit is {limits.cpu_s:g} s")
    return None


def exit_words(code: int) -> str:
    """Returns an exit code or signal in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


PROGRAM_ERRORS = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT}
)
"""The signals that a program's own error raises. Others come from outside."""


def died_of_error(end: str | None) -> bool:
    """Returns whether these words of `exit_words` name a signal that the program's own error has raised."""
    return end in {exit_words(-number) for number in PROGRAM_ERRORS}


def end_words(code: int) -> str:
    """Returns what a process with that exit code or signal did."""
    return f"exited with code {code}" if code >= 0 else f"was killed by {exit_words(code)}"


def crashed(code: int) -> Fault:
    """Returns the fault of a bot whose process has ended."""
    return Fault(FaultKind.CRASH, end_words(code) + (" before answering" if code >= 0 else ""))
