"""The sandbox of a build: it sees toolchains and the bot's files, and changes the folder in which it builds.

A build runs code of the bot's author, as a match does. Unlike a bot, it may use the network and caches of downloads.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from referee.harness.common.paths import REPLAYS, TOURNAMENTS
from referee.harness.isolation import launcher_build, visible_paths
from referee.harness.isolation.hidden_files import HiddenFiles, select_visible
from referee.harness.isolation.layers import account, cgroups, landlock, namespaces, seccomp
from referee.harness.isolation.layers.cgroups import Group, GroupLimits
from referee.harness.isolation.layers.namespaces import BASE, SandboxFiles
from referee.harness.isolation.plan import NONE, Isolation, Sandbox, layer_by_guarantee, require
from referee.harness.isolation.probe import Machine, probe, sandbox_command
from referee.harness.isolation.removal import remove
from referee.harness.isolation.supervisor import PORTABLE, STATUS

SCRATCH = f"{BASE}/build"
"""The scratch folder in namespaces."""
RESOLVER = "/etc/resolv.conf"
"""Programs need it to find addresses, and it is often a link out of `/etc`."""
MOST_FILES = 1 << 20
"""Limit of files in each folder that is in memory. Packages for JavaScript have tens of thousands."""
SETTINGS = "/etc"
UPPER = ("upper", "work")
"""The kernel needs these folders in the one that keeps the changes of a cache."""


class BuildFiles(Struct, frozen=True):
    """The files of a build, as real paths without links."""

    program: str
    path: str
    """Its PATH."""
    cwd: str
    """The folder in which the command starts."""
    changed: str
    """The folder that the build may change."""
    toolchains: tuple[str, ...] = ()
    """What compilers and build tools need besides PATH and the system."""
    readable: tuple[str, ...] = ()
    """More visible paths."""
    private: tuple[str, ...] = ()
    """Folders of the user, the home folder first: of these, only the other paths of this structure are visible."""
    caches: tuple[tuple[str, str, str], ...] = ()
    """Caches of build tools, each with the folder that keeps what builds of this bot have changed in it, and its kind:
    `folders`: the tool adds files, and does without; `made`: it must add files; `files`: it must change files."""
    needed: tuple[str, ...] = ()
    """Paths of the user's. If one is closed to other accounts, the build has no account of its own."""


class BuildSandbox(Struct, frozen=True):
    """A sandbox, and the environment variables that differ in it."""

    sandbox: Sandbox
    variables: tuple[tuple[str, str], ...] = ()
    """The new values; empty = the build has no such variable."""


@contextmanager
def build_sandbox(
    isolation: Isolation, files: BuildFiles, limits: GroupLimits, network: bool
) -> Iterator[BuildSandbox]:
    """Makes the sandbox of one build for the block.

    NotIsolated if a requirement is not met, OSError if the build cannot be kept from the network.
    """
    layers = layer_by_guarantee(isolation)
    machine = probe() if isolation.mode != "off" and not PORTABLE else None
    if not network and (machine is None or machine.namespaces is None):
        raise OSError("a build without network needs namespaces, which this machine does not offer")
    if machine is None:
        require(isolation, layers)
        yield BuildSandbox(Sandbox(layers=layers))
        return
    if machine.namespaces is None and not machine.landlock:
        require(isolation, layers)
        with _grouped(machine, limits) as group:
            steps = () if group is None else group.steps(forks=False)
            launcher = (launcher_build.program(), "status", STATUS, *steps, "--") if steps else ()
            yield BuildSandbox(Sandbox(launcher, layers, group))
        return
    inside = machine.namespaces is not None
    uid = str(account.draw()) if inside and machine.has("account") and _is_open(files) else None
    layers = layers | {"account": NONE if uid is None else layers["account"]}
    require(isolation, layers)
    with _scratch_folder(inside) as scratch, _grouped(machine, limits) as group, _given(files, uid):
        shown = _shown(isolation, files, machine, scratch, group, uid, limits, network)
        command = sandbox_command(
            machine.namespaces,
            shown,
            [] if group is None else group.steps(forks=machine.namespaces in ("own", "user")),
            _inner_steps(machine, files, shown, limits.processes),
        )
        yield BuildSandbox(Sandbox((*command, "--"), layers, group), _variables(files, scratch, inside))


@contextmanager
def _grouped(machine: Machine, limits: GroupLimits) -> Iterator[Group | None]:
    group = machine.groups.make(limits)
    try:
        yield group
    finally:
        if group is not None:
            group.remove()


@contextmanager
def _scratch_folder(inside: bool) -> Iterator[str]:
    """Makes a temporary folder; in namespaces the sandbox launcher makes it."""
    if inside:
        yield SCRATCH
        return
    folder = tempfile.mkdtemp(prefix="referee-build-")
    try:
        yield folder
    finally:
        remove(folder)


def _is_open(files: BuildFiles) -> bool:
    return all(account.is_open(path) for path in (files.program, *files.toolchains, *files.needed))


def _shown(
    isolation: Isolation,
    files: BuildFiles,
    machine: Machine,
    scratch: str,
    group: Group | None,
    uid: str | None,
    limits: GroupLimits,
    network: bool,
) -> SandboxFiles:
    resolver = (os.path.realpath(RESOLVER),) if network else ()
    caches = tuple(folder for folder, _, _ in files.caches)
    named = (*files.toolchains, *files.readable, *isolation.readable, *resolver, files.changed)
    named += () if machine.namespaces else caches
    cwd = files.changed if visible_paths.is_inside(files.cwd, [files.changed]) else files.cwd
    paths = visible_paths.required_paths((files.program,), Path(cwd), files.path, named)
    closed = _closed_files() if uid is None and os.geteuid() == 0 else ()
    hidden = HiddenFiles().extended(closed, (*files.private, REPLAYS, TOURNAMENTS))
    folders = [] if group is None else zip(group.paths(), cgroups.mount_places(machine.groups.hierarchies), strict=True)
    return SandboxFiles(
        visible=select_visible(paths, isolation.writable, hidden, can_empty=machine.namespaces is not None),
        link_paths=(*visible_paths.SYSTEM_FOLDERS, files.program, *files.path.split(os.pathsep), *named),
        writable=(files.changed, *isolation.writable),
        scratch=scratch,
        scratch_bytes=limits.memory_bytes,
        scratch_files=MOST_FILES,
        owner=uid,
        group_folders=[*folders, *cgroups.processor_folders()] if group is not None else (),
        private=files.private,
        layered=files.caches,
        network=network,
    )


def _closed_files() -> Iterator[str]:
    """Yields the system's files that only root may read, such as those with passwords."""
    for folder, _, names in os.walk(SETTINGS):
        for path in (os.path.join(folder, name) for name in names):
            with suppress(OSError):
                if not os.lstat(path).st_mode & stat.S_IROTH:
                    yield path


def _inner_steps(machine: Machine, files: BuildFiles, shown: SandboxFiles, processes: int | None) -> list[str]:
    """Returns the last steps of the sandbox launcher, which the process of the build takes itself."""
    inside, uid = machine.namespaces is not None, shown.owner
    steps = account.entry_steps(uid, files.cwd, processes, machine.namespaces == "user")
    if machine.landlock:
        # In namespaces the mounts decide. The kernel shows no process outside of Landlock's domain but its command.
        visible = [path for path in shown.visible.paths if not os.path.islink(path)]  # a link needs no right
        read = ["/"] if inside else [*visible, "/proc"]
        write = ["/"] if inside else [shown.scratch, *shown.writable]
        devices = (*namespaces.DEVICES, *namespaces.TERMINALS)
        listed = () if inside else shown.visible.partial_folders
        steps += landlock.steps(read, write, devices, machine.landlock, listed, network=True)
    if machine.has("seccomp"):
        steps += seccomp.steps(False, not inside, True, network_allowed=True)
    return [*steps, *account.name_steps(uid)]


def _variables(files: BuildFiles, scratch: str, inside: bool) -> tuple[tuple[str, str], ...]:
    """Returns the variables that differ. Without namespaces, the home folder cannot be replaced, so it is another."""
    if inside:
        return (("TMPDIR", ""), *(() if files.private else (("HOME", scratch),)))
    home = files.private[0] if files.private else ""
    for folder, _, kind in files.caches:
        if kind == "folders" and visible_paths.is_inside(folder, [home]):
            place = Path(scratch, os.path.relpath(folder, home))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(folder)
    return (("TMPDIR", scratch), ("HOME", scratch), ("XDG_CACHE_HOME", ""), ("GOCACHE", f"{scratch}/go-build"))


@contextmanager
def _given(files: BuildFiles, uid: str | None) -> Iterator[None]:
    """Gives the folders that the build may change to its account for the block."""
    folders = [files.changed]
    for _, layer, _ in files.caches:
        for name in UPPER:
            os.makedirs(os.path.join(layer, name), exist_ok=True)
        folders.append(layer)
    if uid is None:
        yield
        return
    _give(folders, int(uid))
    try:
        yield
    finally:
        _give(folders, os.geteuid())  # and no program keeps the right to run as its owner


def _give(folders: Sequence[str], uid: int) -> None:
    for top in folders:
        os.lchown(top, uid, uid)
    waiting = [*folders]
    while waiting:  # not by recursion: a build may nest folders deeply
        entries = list[os.DirEntry[str]]()
        with suppress(OSError), os.scandir(waiting.pop()) as listed:
            entries += listed
        for entry in entries:
            try:
                os.lchown(entry.path, uid, uid)
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:  # so deep a build is refused
                    raise
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
