"""Landlock: a process gives up rights for good, for itself and all that it starts. Nothing to install, no privilege.

What it can restrict grew by versions ("ABI"): files from 1 on, TCP from 4, signals and abstract sockets from 6.
"""

import ctypes
from collections.abc import Sequence
from functools import cache

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ = EXECUTE | READ_FILE | READ_DIR
MAKE_DEVICES = 1 << 6 | 1 << 11
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights on files: all of the first version, then moving between folders, truncating, `ioctl` on devices."""
NET_ABI, TCP = 4, 1 << 0 | 1 << 1
SCOPE_ABI, SCOPES = 6, 1 << 0 | 1 << 1
"""Abstract sockets and signals of whoever is not in the same domain."""

CREATE_RULESET = 444
VERSION = 1 << 0


@cache
def abi() -> int:
    """The version that this kernel has; 0 = none."""
    try:
        return max(0, int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)))
    except (OSError, AttributeError):
        return 0


def handled(version: int) -> int:
    """Every right on files that a version knows."""
    return sum(rights for since, rights in RIGHTS_BY_ABI.items() if since <= version)


def steps(
    read: Sequence[str], write: Sequence[str], devices: Sequence[str], version: int, listed: Sequence[str] = ()
) -> list[str]:
    """For the launcher: what may be read (and executed), what may be written too, devices that may be used, and folders
    whose names may be listed, with those below: a right on a folder holds for all that it contains."""
    files = handled(version)
    taken = ["landlock", hex(files), str(TCP if version >= NET_ABI else 0), str(SCOPES if version >= SCOPE_ABI else 0)]
    rights = (
        *((path, READ) for path in read),
        *((path, READ_DIR) for path in listed),
        *((path, files & ~MAKE_DEVICES) for path in write),
        *((path, files & (READ | WRITE_FILE | 1 << 14 | 1 << 15)) for path in devices),
    )
    for path, right in rights:
        taken += ["allow", path, hex(right)]
    return [*taken, "restrict"]
