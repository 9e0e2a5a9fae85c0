"""Locks on physical cores: each worker of a user holds one on its core until it ends.

So the workers of two runs on a machine never share a core, and no bot slows another.
"""

import fcntl
import os
import stat
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from referee.harness.common.errors import RunError, reason

NICENESS = 10
"""Of a check for which no core is spare: it gets a tenth of a core that a game wants, too."""
T = TypeVar("T")


class Beside(StrEnum):
    """The load of the machine during a check."""

    NOTHING = "nothing"
    GAMES = "games"
    """Games of a contest have all cores."""
    SPARE = "spare"
    """Games of a contest leave a core to the check."""


def physical() -> list[tuple[int, ...]]:
    """Returns the logical processors of each core that this process may use."""
    cores: dict[str, list[int]] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
        except OSError:
            siblings = ""
        cores.setdefault(siblings or str(cpu), []).append(cpu)
    return sorted(map(tuple, cores.values()))


def take(count: int = 1, last: bool = False) -> int | None:
    """Pins this process and its children to free cores. Returns the first logical processor of these.

    Returns None, and pins nothing, if there are too few free cores. Workers take the first ones, checks the last ones.
    """
    folder = run_folder()
    cpus: list[int] = []
    locks: list[int] = []
    for core in reversed(physical()) if last else physical():
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
            return cpus[0]
    for lock in locks:
        os.close(lock)
    return None


def keep_aside(beside: Beside) -> None:
    """Keeps this process and its children out of the way of games: on a spare core, or else at a lower priority."""
    if beside is Beside.SPARE and take(last=True) is not None:
        return
    if beside is not Beside.NOTHING:
        os.nice(NICENESS)


def done_aside(work: Callable[[], T], spare: int) -> T:
    """Does work in a thread of its own. It and what it starts have a lower priority than games, and only spare cores.

    `spare`: how many cores games leave to checks. The work takes no lock, so that workers and checks get their cores.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            if spare:
                os.sched_setaffinity(0, [cpu for core in physical()[-spare:] for cpu in core])
            os.nice(NICENESS)  # in Linux, of this thread
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    try:
        threading.Thread(target=run, name="aside", daemon=True).start()
    except RuntimeError:  # the system starts no thread
        return work()
    return done.result()


def run_folder() -> Path:
    """Returns a folder for locks that only this user can write."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(base) / "referee" if os.path.isdir(base) else Path(tempfile.gettempdir()) / f"referee-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise RunError(f"{folder} cannot be made: {reason(error)}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise RunError(
            f"{folder} does not belong to this user; remove it, or set XDG_RUNTIME_DIR to a folder that does"
        )
    return folder
