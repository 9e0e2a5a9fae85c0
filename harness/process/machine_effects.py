"""The effects of a machine on the time of bots: core waits, stolen time, shared cores (SMT), a changing clock speed."""

import os
import time
from pathlib import Path

from msgspec import Struct

from referee.harness.process.core_wait import own_thread

CPU = Path("/sys/devices/system/cpu")
STAT = Path("/proc/stat")
STEAL_COLUMN = 8
"""Of a processor's line in /proc/stat, its name included (proc_stat(5))."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
FRESH_S = 0.25
"""A reading of stolen time serves as the start of all games that begin within this time."""


class MachineEffects(Struct, frozen=True):
    """What can be measured here, and what changes the speed of a core without being measured. None = unknown."""

    core_wait: bool = False
    """The kernel counts how long a thread waits for a core."""
    steal: bool = False
    """The kernel counts the time in which the host ran another virtual machine on a core."""
    smt: bool | None = None
    """Two threads share a core."""
    turbo: bool | None = None
    """The clock speed depends on heat and on the load of other cores."""


def machine_effects(cpu: Path = CPU) -> MachineEffects:
    """Returns what this machine shows. `cpu`: the folder that describes its processors."""
    smt = _flag(cpu / "smt" / "active")
    no_turbo = _flag(cpu / "intel_pstate" / "no_turbo")
    turbo = _flag(cpu / "cpufreq" / "boost") if no_turbo is None else not no_turbo
    return MachineEffects(core_wait=own_thread().ran_ns > 0, steal=stolen_ticks() is not None, smt=smt, turbo=turbo)


def _flag(file: Path) -> bool | None:
    try:
        return file.read_text("ascii").strip() == "1"
    except OSError:
        return None


def stolen_ticks(stat: Path = STAT) -> int | None:
    """Returns the stolen time of the processors that this process may use, in clock ticks; None if it is unknown."""
    try:
        lines = stat.read_bytes().splitlines()
        ours = {b"cpu%d" % number for number in os.sched_getaffinity(0)}
        return sum(int(line.split()[STEAL_COLUMN]) for line in lines if line.split(b" ", 1)[0] in ours)
    except (OSError, IndexError, ValueError, AttributeError):
        return None


class StealMeter:
    """Measures the stolen time of games. One reading serves several short games, because it costs 0.1 ms or more."""

    def __init__(self) -> None:
        self._ticks = stolen_ticks()
        self._at = time.monotonic()

    def start(self) -> None:
        """Notes that a game begins."""
        if time.monotonic() > self._at + FRESH_S:
            self._ticks, self._at = stolen_ticks(), time.monotonic()

    def read(self) -> float:
        """Returns the seconds stolen since the last game began, or up to `FRESH_S` earlier: never too little."""
        now = stolen_ticks()
        return 0.0 if now is None or self._ticks is None else (now - self._ticks) / TICKS_PER_S
