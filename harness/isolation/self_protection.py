"""Self-protection of the referee's process while bots run under the same account."""

import ctypes
import errno
import os
import re
import resource
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from referee.harness.common.errors import NoRoom
from referee.harness.isolation import proc
from referee.harness.isolation.process_tree import descendants
from referee.harness.isolation.shared_block import shared
from referee.harness.isolation.supervisor import (
    LIBC,
    PORTABLE,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    RLIMIT_LOCKS,
    kill,
    prctl,
)

TOO_MANY = (errno.EMFILE, errno.ENFILE)
"""The errors for too few file descriptors, of this process or of the machine."""
NEEDED = 24
"""Descriptors that a match of two bots opens."""
FILE_BYTES = 4096
"""The shortest limit for the size of files with which anything can be started."""
WANTED = 8192
"""Enough for any match, and twice what a bot may have (`referee.harness.process.limits`)."""
PR_GET_DUMPABLE = 3
PR_GET_CHILD_SUBREAPER = 37
STRAYS_S = 2.0
"""Longest wait for killed processes."""


@shared
def children_waited_for() -> Iterator[None]:
    """Ends the ignoring of SIGCHLD, which parents hand on, for the length of the block.

    While a process ignores it, the kernel keeps no exit codes of its children. `signal.signal` works in the main
    thread alone.
    """
    ignored = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    if ignored:
        LIBC.signal(int(signal.SIGCHLD), 0)
    try:
        yield
    finally:
        if ignored:
            LIBC.signal(int(signal.SIGCHLD), 1)


def reset_inherited_state() -> None:
    """Sets signals and the umask of our process back to what a program expects, whatever started it."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = os.umask(0o077)
    os.umask(mask & 0o077)  # we must be able to use what we make


@contextmanager
def guarded() -> Iterator[None]:
    """Protects our memory and waits for our children, for the length of the block."""
    with children_waited_for(), _protected():
        yield


@shared
def _protected() -> Iterator[None]:
    """Protects our memory, which holds the seed, and adopts orphans for the length of the block.

    No other process of our account, except root's, can read our memory or trace us. The processes of a bot that has
    killed its supervisor and the spawner become our children, so that `end_strays` finds them. So do the orphans of
    other programs, such as a browser, for which `wait_for_adopted` waits.
    """
    if PORTABLE:
        yield
        return
    dumpable, subreaper = LIBC.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), ctypes.c_int()
    LIBC.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(subreaper), 0, 0, 0)
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        wait_for_adopted()
        prctl(PR_SET_CHILD_SUBREAPER, subreaper.value)
        if dumpable == 1:
            prctl(PR_SET_DUMPABLE, 1)


def new_mark() -> int:
    """Returns a mark for a spawner: a limit `RLIMIT_LOCKS` that no other process of this machine has.

    It is slightly below our own limit, which not every account can raise.
    """
    limit = sys.maxsize if PORTABLE else _own_locks()
    return limit - 1 - secrets.randbelow(max(1, limit >> 8))


known_children: set[int] = set()
"""Spawners of this process, and supervisors of bots at play, which become our children when their spawner is killed."""


def end_strays() -> None:
    """Ends the children that we have adopted from killed spawners, with everything below them.

    Every child with a limit `RLIMIT_LOCKS` below ours counts: a bot can only lower the mark of its spawner. A program
    that calls us must not lower the limit of its own children.
    """
    deadline = time.monotonic() + STRAYS_S
    while not PORTABLE and (strays := _strays()) and time.monotonic() < deadline:
        pids = [*strays, *(pid for stray in strays for pid in descendants(stray))]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                kill(pid, number)
        for pid in strays:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)


def wait_for_adopted(patience_s: float = 0.0) -> None:
    """Waits for adopted children that have ended, so that no zombies stay, and at most so long for the others to end.

    A child in a session that is neither ours nor its own was started by another process, so nobody else waits for it.
    In our own session, only the program that calls us knows which children it waits for.
    """
    if PORTABLE or not (patience_s or _has_ended_child()):
        return
    deadline = time.monotonic() + patience_s
    while _wait_for_adopted() and time.monotonic() < deadline:
        time.sleep(0.001)


def _wait_for_adopted() -> bool:
    """Waits for those that have ended. Returns whether others go on."""
    others, own_session = False, os.getsid(0)
    for pid in descendants(os.getpid()):
        with suppress(ProcessLookupError, ChildProcessError):
            if pid not in known_children and os.getsid(pid) not in (own_session, pid):
                others |= os.waitpid(pid, os.WNOHANG) == (0, 0)
    return others


def _has_ended_child() -> bool:
    """Whether a child has ended and was not waited for."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _strays() -> list[int]:
    """Returns our children with a limit below ours, zombies included, except the known ones."""
    limit, children = _own_locks(), psutil.Process().children()
    return [child.pid for child in children if child.pid not in known_children and _locks(child.pid) < limit]


def _own_locks() -> int:
    limit = resource.getrlimit(RLIMIT_LOCKS)[1]
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def _locks(pid: int) -> int:
    """Returns the limit of a process; the highest number if it has none, or is gone."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as limits:
            match = _LOCKS.search(limits.read())
    except OSError:
        return sys.maxsize
    return sys.maxsize if match is None else int(match[1])


_LOCKS = re.compile(rb"^Max file locks +\S+ +(\d+)", re.MULTILINE)
"""The hard limit, which a process without privileges can only lower."""


def allow_descriptors(count: int) -> int:
    """Raises our limit of descriptors to `count`, if possible, and returns it; RLIM_INFINITY = no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def need_descriptors() -> None:
    """Raises our limit of descriptors. NoRoom if a match still has too few, or if it cannot write files."""
    if is_file_size_too_small():
        raise no_file_size()
    soft = allow_descriptors(WANTED)
    try:
        free = soft - psutil.Process().num_fds()
    except (OSError, psutil.Error):
        free = 0
    if soft != resource.RLIM_INFINITY and free < NEEDED:
        raise no_room()


def no_room() -> NoRoom:
    """Returns the error for too few file descriptors."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return NoRoom(
        f"too few file descriptors: the limit is {limit}, and a match opens {NEEDED} more than are open already; "
        "raise the limit with `ulimit -n 1024`"
    )


def is_file_size_too_small() -> bool:
    """Whether we may write no file that is long enough to start a bot."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return limit != resource.RLIM_INFINITY and limit < FILE_BYTES


def no_file_size() -> NoRoom:
    """Returns the error for a limit for the size of files that is too small."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return NoRoom(
        f"files may not be longer than {limit} bytes here, which is too short for a match; "
        "raise the limit with `ulimit -f unlimited`"
    )


def hide_option(name: str) -> None:
    """Overwrites the value of an option such as `--seed` in `ps` and /proc/PID/cmdline. `sys.argv` keeps it.

    Does nothing if the kernel does not say where the command line is.
    """
    try:
        start, end = map(int, proc.stat("/proc/self")[45:47])  # fields 48 and 49
        with open("/proc/self/cmdline", "rb") as line:
            words = line.read().split(b"\0")
    except (OSError, ValueError):
        return
    if end - start != sum(map(len, words)) + len(words) - 1:
        return
    option, place, is_value = os.fsencode(name), start, False
    for word in words:
        skipped = 0 if is_value else len(option) + 1 if word.startswith(option + b"=") else len(word)
        ctypes.memset(place + skipped, ord("*"), len(word) - skipped)
        is_value = word == option and not is_value
        place += len(word) + 1
