"""Namespaces of the launcher's own making: processes, mounts, network and messages that hold one bot and nothing else.

A root makes them directly, anybody else in a user namespace, if the system lets him.
"""

import os
from collections.abc import Sequence

from msgspec import Struct

from referee.harness.isolation.hidden_files import Sight
from referee.harness.isolation.visible_paths import covered, links

NEW_NS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = (
    0x00020000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
BASE = "/tmp"
"""The folder that the new root is built over; nothing there changes for anybody else."""
MOST_FILES = 16384
"""Files and folders that a bot may have in its scratch folder. `referee.harness.process.scratch` counts them."""
INODES = 2 * MOST_FILES
"""Files and folders that the kernel allows there, so that somebody sees when a bot has more than it may."""
EMPTY = "mode=0555,size=4096,nr_inodes=1"
"""Options of a folder in memory in which nothing can be made: it has room for itself alone."""


class View(Struct, frozen=True):
    """The files that a bot sees."""

    sight: Sight
    """All to be read only."""
    named: Sequence[str]
    """Paths that must lead where they lead outside, links included."""
    writable: Sequence[str]
    """Folders of the machine that may be written to."""
    scratch: str
    scratch_bytes: int | None
    """Room in it; None = as much as the system gives."""
    uid: int
    """Who owns the scratch folder."""
    gid: int


def enter(user: bool) -> list[str]:
    """For the launcher: new namespaces; `user` = in a new user namespace, where this needs no privilege."""
    flags = NEW_NS | NEW_UTS | NEW_IPC | NEW_PID | NEW_NET | (NEW_USER if user else 0)
    account = ["map", str(os.geteuid()), str(os.getegid())] if user else []
    return ["unshare", hex(flags), *account, "fork", "loopback"]


def without_network(user: bool) -> list[str]:
    """For the launcher: a network without anybody, and nothing else that is new."""
    account = ["map", str(os.geteuid()), str(os.getegid())] if user else []
    return ["unshare", hex(NEW_NET | (NEW_USER if user else 0)), *account, "loopback"]


def files(view: View) -> list[str]:
    """For the launcher: a root that holds what is in view, /proc, a few devices, and room for `scratch_bytes`."""
    size = f"nr_inodes={INODES}" if view.scratch_bytes is None else f"nr_inodes={INODES},size={view.scratch_bytes}"
    room = f"mode=1777,{size}"
    taken = ["newroot", BASE, "tmpfs", "/tmp", room]
    sight = view.sight
    for path in sight.opened:
        if path not in (BASE, "/"):
            taken += ["mkdir", path, "0555", str(os.geteuid()), str(os.getegid())]
    for path in sight.shown:
        if os.path.islink(path):
            taken += ["symlink", os.readlink(path), path]
        else:
            taken += ["maybe" if optional(path, sight) else "bind", path, path, "ro"]
    for target, place in links(view.named, view.scratch, sight.shown):
        taken += ["symlink", target, place]
    for path in view.writable:
        taken += ["bind", path, path, "rw"]
    for path in sight.emptied:
        taken += ["tmpfs", path, EMPTY]
    for device in DEVICES:
        taken += ["maybe", device, device, "dev"]
    for target, place in (("/proc/self/fd", "fd"), ("fd/0", "stdin"), ("fd/1", "stdout"), ("fd/2", "stderr")):
        taken += ["symlink", target, f"/dev/{place}"]
    taken += ["symlink", "/tmp", "/dev/shm"]  # what is shared in memory counts in the same room
    scratch = os.path.realpath(view.scratch)
    if covered(scratch, ["/tmp"]) and not covered(scratch, sight.shown):
        taken += ["mkdir", scratch, "0700", str(view.uid), str(view.gid)]
    else:
        options = f"mode=0700,uid={view.uid},gid={view.gid},{size}"
        taken += ["tmpfs", scratch, options]
    return [*taken, "proc", "/proc", "enter"]


def optional(path: str, sight: Sight) -> bool:
    """Whether a bot can start without a path: one of the machine's, or one that may have gone since we listed it."""
    return covered("/sys", [path]) or os.path.dirname(path) in sight.opened
