"""What the referee's own process does for itself while bots run under the same account."""

import ctypes
import errno
import os
import re
import resource
import secrets
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

import psutil

from referee.harness.errors import NoRoom
from referee.harness.isolation.process_tree import FLOOR, descendants
from referee.harness.isolation.supervisor import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, RLIMIT_LOCKS, kill, prctl

TOO_MANY = (errno.EMFILE, errno.ENFILE)
"""How the system says that there are no more file descriptors, for us or for anybody."""
NEEDED = 24
"""Descriptors that a match of two bots takes, beside those that are open before."""
WANTED = 8192
"""So many suffice for any match, and are twice what a bot may have (`referee.harness.process.limits`)."""
PR_GET_DUMPABLE = 3
PR_GET_CHILD_SUBREAPER = 37
STRAYS_S = 2.0
"""How long we look after processes that do not end although they were killed."""


@contextmanager
def guarded() -> Iterator[None]:
    """For the length of the block no other process of our account can read our memory, in which the seed lies, or trace
    us; and what a bot leaves behind that has killed its supervisor and the spawner too becomes our child, so that
    `end_strays` finds it. Root can read everything all the same.
    """
    global _guards, _before
    if FLOOR:
        yield
        return
    with _changing:
        if not _guards:
            _before = _dumpable(), _subreaper()
            prctl(PR_SET_DUMPABLE, 0)
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        _guards += 1
    try:
        yield
    finally:
        with _changing:
            _guards -= 1
            if not _guards:
                prctl(PR_SET_CHILD_SUBREAPER, _before[1])
                if _before[0] == 1:
                    prctl(PR_SET_DUMPABLE, 1)


_changing = threading.Lock()
_guards = 0
"""How many blocks are open: a build may be made in a thread while others play."""
_before = 1, 0
"""What we were before the first."""


def _dumpable() -> int:
    return int(ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))


def _subreaper() -> int:
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return found.value


def new_mark() -> int:
    """A mark for a spawner: its limit `RLIMIT_LOCKS`. No other process on this machine has it.

    It lies a little below our own limit, since not everybody can raise that.
    """
    most = sys.maxsize if FLOOR else resource.getrlimit(RLIMIT_LOCKS)[1]
    most = sys.maxsize if most == resource.RLIM_INFINITY else most
    return most - 1 - secrets.randbelow(max(1, most >> 8))


def end_strays(marks: Collection[int], spared: Collection[int] = ()) -> None:
    """Ends the children that came to us from killed spawners, with all below them.

    `marks`: the spawners' marks, which no other child of our program has. `spared`: supervisors of bots at play.
    """
    until = time.monotonic() + STRAYS_S
    while not FLOOR and (strays := _strays(marks, spared)) and time.monotonic() < until:
        whole = [*strays, *(pid for stray in strays for pid in descendants(stray))]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in whole:
                kill(pid, number)
        for pid in strays:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
        time.sleep(0.001)


def _strays(marks: Collection[int], spared: Collection[int]) -> list[int]:
    """Our children with one of the marks, also those that have ended and that nobody has waited for."""
    return [child.pid for child in psutil.Process().children() if child.pid not in spared and _mark(child.pid) in marks]


def _mark(pid: int) -> int:
    """The mark of a process; -1 = it has none, or is gone."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as limits:
            found = _LOCKS.search(limits.read())
    except OSError:
        return -1
    return -1 if found is None else int(found[1])


_LOCKS = re.compile(rb"^Max file locks +\S+ +(\d+)", re.MULTILINE)
"""The hard limit, which a process without privileges can only lower."""


def allow_descriptors(count: int) -> int:
    """Has the system allow us that many, or as many as it will; how many it does, RLIM_INFINITY for any."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (count if hard == resource.RLIM_INFINITY else min(count, hard), hard)
            )
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def need_descriptors() -> None:
    """Has the system allow us what it will, and NoRoom if that does not suffice for a match."""
    soft = allow_descriptors(WANTED)
    try:
        free = soft - psutil.Process().num_fds()
    except (OSError, psutil.Error):
        free = 0
    if soft != resource.RLIM_INFINITY and free < NEEDED:
        raise no_room()


def no_room() -> NoRoom:
    """What to say of it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return NoRoom(
        f"too few file descriptors: a match takes {NEEDED} beside those that are open already, and {most} are allowed "
        "in all; `ulimit -n 1024` allows more"
    )


def hide_option(name: str) -> None:
    """Overwrites the value of one of our options, such as `--seed`, where other processes can read it: in what `ps` and
    /proc/PID/cmdline show. What Python has read of it stays. Nothing happens where the kernel does not tell the place.
    """
    try:
        with open("/proc/self/stat", "rb") as stat:
            # The 48th and 49th fields; the second, the name, may hold anything.
            start, end = map(int, stat.read().rpartition(b")")[2].split()[45:47])
        with open("/proc/self/cmdline", "rb") as line:
            words = line.read().split(b"\0")
    except (OSError, ValueError):
        return
    if end - start != sum(map(len, words)) + len(words) - 1:
        return
    option, at, is_value = os.fsencode(name), start, False
    for word in words:
        skipped = 0 if is_value else len(option) + 1 if word.startswith(option + b"=") else len(word)
        ctypes.memset(at + skipped, ord("*"), len(word) - skipped)
        is_value = word == option and not is_value
        at += len(word) + 1
