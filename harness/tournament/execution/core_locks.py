"""Physical cores, shared out among everything of one user that plays: each lane holds a lock on its own.

So lanes of two tournaments, or of one and a cluster's worker, never share a core, and no bot is charged for another.
"""

import fcntl
import os
import stat
import tempfile
from pathlib import Path

from msgspec import Struct

from referee.harness.errors import RunError

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


class Held(Struct, frozen=True):
    """Cores that this process holds until it ends, or `free` is called."""

    cpus: tuple[int, ...]
    """Logical processors."""
    core: int
    """The first of them, which names the lane."""
    locks: tuple[int, ...]

    def free(self) -> None:
        """Gives them back."""
        for lock in self.locks:
            os.close(lock)


def physical() -> list[tuple[int, ...]]:
    """The cores that this process may use: each with its logical processors, by the lowest."""
    allowed = os.sched_getaffinity(0)
    found = {tuple(cpu for cpu in _siblings(cpu) if cpu in allowed) for cpu in allowed}
    return sorted(found)


def take(count: int = 1) -> Held | None:
    """Pins this process, and all that it starts, to so many free cores. None when every core is taken: then it runs
    wherever there is time."""
    folder = run_folder()
    cpus: list[int] = []
    locks: list[int] = []
    for core in physical():
        lock = os.open(folder / f"core-{core[0]}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        cpus += core
        locks.append(lock)
        if len(locks) == count:
            os.sched_setaffinity(0, cpus)
            return Held(tuple(cpus), cpus[0], tuple(locks))
    for lock in locks:
        os.close(lock)
    return None


def run_folder() -> Path:
    """A folder of this user's own on this machine, for locks."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(base) / "referee" if os.path.isdir(base) else Path(tempfile.gettempdir()) / f"referee-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise RunError(f"{folder} cannot be made: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise RunError(f"{folder} is not this user's own folder")
    return folder


def _siblings(cpu: int) -> tuple[int, ...]:
    """The logical processors of the core that one belongs to."""
    try:
        text = Path(_SIBLINGS.format(cpu)).read_text()
    except OSError:
        return (cpu,)
    found: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found) or (cpu,)
