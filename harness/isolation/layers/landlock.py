"""Landlock: a process gives up rights for itself and everything that it starts. It needs no privilege.

Version ("ABI") 1 restricts files, version 4 also TCP, version 6 also signals and abstract sockets.
"""

import ctypes
from collections.abc import Sequence
from functools import cache

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ = EXECUTE | READ_FILE | READ_DIR
MAKE_DEVICES = 1 << 6 | 1 << 11
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights on files: those of version 1, then moving files between folders, truncating, `ioctl` on devices."""
NET_ABI, TCP = 4, 1 << 0 | 1 << 1
SCOPE_ABI, SCOPES = 6, 1 << 0 | 1 << 1
"""Abstract sockets and signals of processes in other domains."""
CREATE_RULESET = 444
VERSION = 1 << 0


@cache
def abi() -> int:
    """Returns the kernel's version; 0 = it has no Landlock."""
    try:
        return max(0, int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)))
    except (OSError, AttributeError):
        return 0


def steps(
    read: Sequence[str],
    write: Sequence[str],
    devices: Sequence[str],
    version: int,
    listed: Sequence[str] = (),
    network: bool = False,
) -> list[str]:
    """Returns the steps of the sandbox launcher.

    `read`: paths that may be read and executed. `write`: paths that may be written too. `devices`: devices that may be
    used. `listed`: folders whose names may be listed, and so those of their subfolders. `network`: TCP is allowed.
    """
    files = sum(rights for since, rights in RIGHTS_BY_ABI.items() if since <= version)
    steps = [
        "landlock",
        hex(files),
        str(TCP if version >= NET_ABI and not network else 0),
        str(SCOPES if version >= SCOPE_ABI else 0),
    ]
    for paths, rights in (
        (read, READ),
        (listed, READ_DIR),
        (write, files & ~MAKE_DEVICES),
        (devices, files & (READ | WRITE_FILE | 1 << 14 | 1 << 15)),
    ):
        for path in paths:
            steps += ["allow", path, hex(rights)]
    return [*steps, "restrict"]
