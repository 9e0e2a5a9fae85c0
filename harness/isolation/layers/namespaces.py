"""Namespaces that the sandbox launcher makes: processes, mounts, network and messages of one bot alone.

Root makes them directly. Other accounts need a user namespace, if the system allows that.
"""

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from referee.harness.isolation.hidden_files import VisiblePaths
from referee.harness.isolation.layers import account
from referee.harness.isolation.visible_paths import MACHINE_FOLDERS, is_inside, links

NEW_NS, NEW_UTS, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
TERMINALS = ("/dev/tty", "/dev/ptmx", "/dev/pts")
"""The bot's own terminals: it has those that it makes, and no others."""
DEVICE_LINKS = (
    ("/proc/self/fd", "fd"),
    ("fd/0", "stdin"),
    ("fd/1", "stdout"),
    ("fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
)
BASE = "/tmp"
"""The folder that the new root is mounted on. Other processes notice nothing."""
SHARED_MEMORY = "/dev/shm"
INNER_LAUNCHER = ".referee-launcher"
"""Where bubblewrap shows the sandbox launcher in the root of a container image."""
OUTSIDE_IMAGE = ("dev", "proc", "sys", "tmp", INNER_LAUNCHER)
"""Entries in the root of a container image that the bot does not see: the sandbox has its own."""
MOST_FILES = 16384
"""Limit of files and folders in a scratch folder. `referee.harness.process.scratch` counts them."""
INODES = 2 * MOST_FILES
"""The kernel's limit, above ours, so that the count can notice a bot that exceeds it."""
HIDDEN_PROC = ("/proc/keys", "/proc/key-users", "/proc/timer_list")
"""Files that the kernel fills with keys, accounts and processes of the whole machine, in every namespace."""
EMPTY = "mode=0555,size=4096,nr_inodes=1"
"""Options of a tmpfs in which nothing can be created: its root takes its only inode."""


class SandboxFiles(Struct, frozen=True):
    """The file system of a sandbox."""

    visible: VisiblePaths
    """Mounted read-only."""
    link_paths: Sequence[str]
    """Paths whose links must work as they do outside."""
    writable: Sequence[str]
    """Folders of the machine that the bot may write to."""
    scratch: str
    scratch_bytes: int | None
    """Size of the scratch folder; None = no limit of ours."""
    scratch_files: int = INODES
    """The kernel's limit for files and folders in it."""
    owner: str | None = None
    """The bot's own account, which owns the scratch folder; None = ours."""
    group_folders: Sequence[tuple[str, str]] = ()
    """The folders of the bot's own control group, from which runtimes read its limits, and where they are mounted."""
    root: str | None = None
    """The files of a container image, which the bot sees as `/`. It sees only `MACHINE_FOLDERS` of the machine."""
    private: Sequence[str] = ()
    """Folders of the machine, such as a home folder, that are empty here except for visible paths, and writable."""
    layered: Sequence[tuple[str, str, str]] = ()
    """Folders that can be changed here only: the folder, which stays as it is, another one for the changes, and its
    kind. Files that exist can be changed if that is `files`; it can be shown read-only if that is `folders`."""
    network: bool = False
    """Whether the machine's network is visible."""
    is_build: bool = False
    """Whether the program builds a bot: it may use the network as far as it is visible, and change all that is
    writable."""


def enter(user: bool, network: bool = False) -> list[str]:
    """Returns the launcher's steps into new namespaces; `user`: in a user namespace, without privileges.

    `network`: keep the machine's network.
    """
    flags = NEW_NS | NEW_UTS | NEW_IPC | NEW_PID
    if network:
        return [*_unshare(flags, user), "fork", "own_cgroup"]
    return [*_unshare(flags | NEW_NET, user), "fork", "own_cgroup", "loopback"]


def _unshare(flags: int, user: bool) -> list[str]:
    if not user:
        return ["unshare", hex(flags)]
    return ["unshare", hex(flags | NEW_USER), "map", str(os.geteuid()), str(os.getegid())]


def mount(files: SandboxFiles) -> list[str]:
    """Returns the launcher's steps into a root with these files, /proc, a few devices and a scratch folder."""
    size = f"nr_inodes={files.scratch_files}"
    size += "" if files.scratch_bytes is None else f",size={files.scratch_bytes}"
    scratch = os.path.realpath(files.scratch)
    seen = (*files.visible.paths, *files.writable, scratch)
    folders = [BASE, SHARED_MEMORY] if any(is_inside(path, [SHARED_MEMORY]) for path in seen) else [BASE]
    uid, gid = (str(os.geteuid()), str(os.getegid())) if files.owner is None else (files.owner, files.owner)
    steps = [("newroot", BASE), *(("tmpfs", folder, f"mode=1777,{size}") for folder in folders)]
    inner = [folder for folder in files.private if folder in files.visible.empty_folders]  # of a visible folder
    outer = [folder for folder in files.private if folder not in inner]
    steps += [*_private(files, outer, uid, size), *shown(files), *_private(files, inner, uid, size)]
    # Changing a folder needs a privilege of its own in a user namespace, and so other attributes of files.
    options = "userxattr," if os.geteuid() != 0 else ""
    steps += [("overlay", folder, layer, uid, what, options) for folder, layer, what in files.layered]
    steps += [("bind_optional", device, device, "dev") for device in (*DEVICES, "/dev/tty")]
    steps.append(("devpts", "/dev/pts"))
    for target, place in DEVICE_LINKS:
        steps.append(("symlink", target, f"/dev/{place}"))
    steps.append(("symlink", BASE, SHARED_MEMORY))  # counts against the same size; nothing if it is a folder already
    if is_inside(scratch, folders) and not is_inside(scratch, files.visible.paths):
        steps.append(("mkdir", scratch, "0700", uid, gid))
    else:
        steps.append(("tmpfs", scratch, f"mode=0700,uid={uid},gid={gid},{size}"))
    if files.owner is not None or not account.own_name():
        steps.append(("names", uid, gid, files.private[0] if files.private else files.scratch))
    steps += [("bind_optional", folder, place, "ro") for folder, place in files.group_folders]
    if files.owner is None and os.geteuid() != 0:  # these parents of visible paths belong to the bot's account
        between = {parent for path in seen for folder in folders for parent in _parents(path, folder)}
        steps += [("mkdir", each, "0555", uid, gid) for each in sorted(between) if not is_inside(each, seen)]
    steps.append(("proc", "/proc"))
    steps += [("bind_optional", "/dev/null", path, "dev") for path in HIDDEN_PROC if os.path.exists(path)]
    return [word for step in (*steps, ("enter",)) for word in step]


def _private(files: SandboxFiles, folders: Sequence[str], uid: str, size: str) -> Iterator[tuple[str, ...]]:
    """Yields the steps that make the private folders, and in them the parents of what will be shown there.

    Their group is ours, because root makes the parents and may have to obey the permissions of files.
    """
    layered, group = [folder for folder, _, _ in files.layered], str(os.getegid())
    for folder in folders:
        yield "tmpfs", folder, f"mode=0770,uid={uid},gid={group},{size}"
        for path in sorted({*files.visible.paths, *files.writable, *layered}):
            for parent in reversed(_parents(path, folder)):
                yield "mkdir", parent, "0775", uid, group


def _parents(path: str, folder: str) -> list[str]:
    """Returns the folders between a folder and a path in it, from the inside."""
    found: list[str] = []
    while is_inside(path := os.path.dirname(path), [folder]) and path != folder:
        found.append(path)
    return found


def shown(files: SandboxFiles) -> list[tuple[str, ...]]:
    """Returns the steps that show the files of the machine, or those of an image."""
    if files.root is not None:
        return [*_image_files(files.root), *(("bind_optional", path, path, "ro") for path in MACHINE_FOLDERS)]
    visible, steps = files.visible, list[tuple[str, ...]]()
    for path in visible.partial_folders:
        if path not in (BASE, "/"):
            steps.append(("mkdir", path, "0555", str(os.geteuid()), str(os.getegid())))
    for path in visible.paths:
        if os.path.islink(path):
            steps.append(("symlink", os.readlink(path), path))
        else:  # a bot can start without /sys, or an entry that may have gone since it was listed
            optional = path in MACHINE_FOLDERS or os.path.dirname(path) in visible.partial_folders
            steps.append(("bind_optional" if optional else "bind", path, path, "ro"))
    steps += [("symlink", *link) for link in links((*files.link_paths, files.scratch), visible.paths)]
    steps += [("bind", path, path, "rw") for path in files.writable]
    steps += [("tmpfs", path, EMPTY) for path in visible.empty_folders]
    return steps


def _image_files(root: str) -> Iterator[tuple[str, ...]]:
    """Yields the steps that show an image. A link in it stays a link."""
    with os.scandir(root) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name in OUTSIDE_IMAGE:
                continue
            if entry.is_symlink():
                yield "symlink", os.readlink(entry.path), f"/{entry.name}"
            else:
                yield "bind", entry.path, f"/{entry.name}", "ro"
