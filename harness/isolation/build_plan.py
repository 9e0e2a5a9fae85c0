"""The sandbox of a build: it sees toolchains and the bot's files, and changes the folder in which it builds.

A build runs code of the bot's author, as a match does. Unlike a bot, it may use the network and caches of downloads.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from msgspec import Struct

from referee.harness.common.paths import REPLAYS, TOURNAMENTS
from referee.harness.common.walk import entries_below
from referee.harness.isolation import plan, visible_paths
from referee.harness.isolation.hidden_files import HiddenFiles, VisiblePaths, select_visible
from referee.harness.isolation.layers import account
from referee.harness.isolation.layers.cgroups import GroupLimits
from referee.harness.isolation.layers.namespaces import BASE, SandboxFiles
from referee.harness.isolation.plan import NONE, Isolation, Sandbox, SandboxPlan
from referee.harness.isolation.probe import LAUNCHER, Machine, probe
from referee.harness.isolation.removal import remove

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
    layers = plan.layer_by_guarantee(isolation)
    inside = isolation.mode != "off" and probe().namespaces is not None
    if not network and not inside:
        raise OSError("a build without network needs namespaces, which this machine does not offer")
    has_own_files = layers["files"] != NONE
    with _scratch_folder(inside) if has_own_files else nullcontext(SCRATCH) as scratch:
        sandbox = _plan(isolation, layers, files, scratch, limits, network).make(Path(scratch), lambda _: None)
        try:
            with _given(files, sandbox.owner) if has_own_files else nullcontext():
                yield BuildSandbox(sandbox, _variables(files, scratch, inside) if has_own_files else ())
        finally:
            sandbox.remove()


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


def _plan(
    isolation: Isolation, layers: dict[str, str], files: BuildFiles, scratch: str, limits: GroupLimits, network: bool
) -> SandboxPlan:
    is_owned = layers["account"] != NONE and probe().namespaces is not None and _is_open(files)
    if not is_owned:
        layers["account"] = NONE
    plan.require(isolation, layers)
    if isolation.mode == "off" or not (machine := probe()).has(LAUNCHER):
        return SandboxPlan(Path(scratch), limits, layers)
    if layers["files"] != NONE:
        shown = _shown(isolation, files, machine, scratch, is_owned, limits, network)
        steps = plan.program_steps(machine, shown, files.cwd, limits.processes)
    else:
        shown, steps = SandboxFiles(VisiblePaths(()), (), (), scratch, None), []
    return plan.planned(machine, limits, layers, shown, steps)


def _is_open(files: BuildFiles) -> bool:
    return all(account.is_open(path) for path in (files.program, *files.toolchains, *files.needed))


def _shown(
    isolation: Isolation,
    files: BuildFiles,
    machine: Machine,
    scratch: str,
    is_owned: bool,
    limits: GroupLimits,
    network: bool,
) -> SandboxFiles:
    resolver = (os.path.realpath(RESOLVER),) if network else ()
    caches = () if machine.namespaces else tuple(folder for folder, _, _ in files.caches)
    named = (*files.toolchains, *files.readable, *isolation.readable, *resolver, files.changed, *caches)
    cwd = files.changed if visible_paths.is_inside(files.cwd, [files.changed]) else files.cwd
    paths = visible_paths.required_paths((files.program,), Path(cwd), files.path, named)
    closed = _closed_files() if not is_owned and os.geteuid() == 0 else ()
    hidden = HiddenFiles().extended(closed, (*files.private, REPLAYS, TOURNAMENTS))
    return SandboxFiles(
        visible=select_visible(paths, isolation.writable, hidden, can_empty=machine.namespaces is not None),
        link_paths=(*visible_paths.SYSTEM_FOLDERS, files.program, *files.path.split(os.pathsep), *named),
        writable=(files.changed, *isolation.writable),
        scratch=scratch,
        scratch_bytes=limits.memory_bytes,
        scratch_files=MOST_FILES,
        owner=account.ACCOUNT if is_owned else None,
        group_folders=plan.group_folders(machine),
        private=files.private,
        layered=files.caches,
        network=network,
        is_build=True,
    )


def _closed_files() -> Iterator[str]:
    """Yields the system's files that only root may read, such as those with passwords."""
    for folder, _, names in os.walk(SETTINGS):
        for path in (os.path.join(folder, name) for name in names):
            with suppress(OSError):
                if not os.lstat(path).st_mode & stat.S_IROTH:
                    yield path


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
def _given(files: BuildFiles, uid: int | None) -> Iterator[None]:
    """Gives the folders that the build may change to its account for the block."""
    folders = [files.changed]
    for _, layer, _ in files.caches:
        for name in UPPER:
            os.makedirs(os.path.join(layer, name), exist_ok=True)
        folders.append(layer)
    if uid is None:
        yield
        return
    _give(folders, uid)
    try:
        yield
    finally:
        _give(folders, os.geteuid())  # and no program keeps the right to run as its owner


def _give(folders: Sequence[str], uid: int) -> None:
    for top in folders:
        os.lchown(top, uid, uid)
        for path, _ in entries_below(top, skip_closed=True):  # too deep for a path: so deep a build is refused
            os.lchown(path, uid, uid)
