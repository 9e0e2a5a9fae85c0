"""Control groups: exact limits for everything that a bot starts, and one call that ends all of it.

They may be version 2, the memory and pids hierarchies of version 1, or both. New groups are made below our own, so that
our limits bind the bots as well.
"""

import os
import secrets
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from referee.harness.common.errors import reason
from referee.harness.isolation.removal import remove_group
from referee.harness.isolation.shared_block import shared

MOUNTS = Path("/proc/self/mountinfo")
OWN_GROUPS = Path("/proc/self/cgroup")
V1 = ("memory", "pids")
PROCESSORS_V1 = ("cpu", "cpuacct", "cpuset")
NEEDED = frozenset({"memory", "pids"})
"""Controllers without which groups of version 2 limit nothing."""
V1_NAMES = {
    "memory.max": "memory.limit_in_bytes",
    "memory.swap.max": "memory.memsw.limit_in_bytes",
    "memory.current": "memory.usage_in_bytes",
    "memory.events": "memory.oom_control",
    "anon": "total_rss",
    "shmem": "total_shmem",
    "cgroup.procs": "tasks",
}
"""The names in version 1 of files and fields of version 2, where they differ."""
FILE_BYTES = 1 << 14
"""No file of a group that we read is longer."""
MOST_LEFT_BYTES = 1 << 20
"""Memory that a group may still hold when it gets another bot. The kernel frees its own memory for a bot that has ended
within a tenth of a second, and keeps files of the disk in memory until it needs the room."""
TASKS_PER_PROCESS = 4
"""The kernel counts threads as processes."""


class Hierarchy(Struct, frozen=True):
    """A tree of groups in which we may make groups."""

    base: Path
    controllers: frozenset[str]
    unified: bool
    """Version 2."""
    needs_move: bool = False
    """Usable only while our process is `vacate`d."""

    def name(self, name: str) -> str:
        """Returns the name of a file or field of version 2 in this version."""
        return name if self.unified else V1_NAMES.get(name, name)


class GroupLimits(NamedTuple):
    """The limits of a group; None = no limit."""

    memory_bytes: int | None = None
    processes: int | None = None


NO_LIMITS = GroupLimits()


class Groups:
    """Makes the groups of a run. Without hierarchies, none can be made."""

    def __init__(self, hierarchies: tuple[Hierarchy, ...]) -> None:
        self._hierarchies = hierarchies

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies that are usable now, or would be while `vacate`d."""
        return tuple(each for each in self._hierarchies if not (each.needs_move and _move.refused))

    def has(self, controller: str) -> bool:
        return any(controller in hierarchy.controllers for hierarchy in self.hierarchies)

    def make(self, limits: GroupLimits) -> "Group | None":
        """Makes a group for one bot; None without hierarchies. OSError if that fails."""
        return _make(self.hierarchies, limits) if self.hierarchies else None


def _make(hierarchies: Iterable[Hierarchy], limits: GroupLimits) -> "Group":
    """Makes a group. Its name is new: threads, and processes of other namespaces with our pid, make groups too."""
    group, number = Group([], limits), secrets.randbelow(1 << 62)
    try:
        for hierarchy in hierarchies:
            folder = hierarchy.base / f"referee-{os.getpid()}-{number}"
            folder.mkdir()
            group.folders.append((folder, hierarchy))
            for file, value in (
                *_memory_limits(hierarchy, limits.memory_bytes),
                *_task_limit(hierarchy, limits.processes),
            ):
                (folder / hierarchy.name(file)).write_text(str(value))
    except OSError:
        group.remove()
        raise
    return group


def _memory_limits(hierarchy: Hierarchy, memory_bytes: int | None) -> Iterator[tuple[str, int]]:
    if memory_bytes is not None and "memory" in hierarchy.controllers:
        yield "memory.max", memory_bytes
        if (hierarchy.base / hierarchy.name("memory.swap.max")).exists():
            yield "memory.swap.max", 0 if hierarchy.unified else memory_bytes  # version 1 limits the sum of both


def _task_limit(hierarchy: Hierarchy, processes: int | None) -> Iterator[tuple[str, int]]:
    if processes is not None and "pids" in hierarchy.controllers:
        yield "pids.max", tasks(processes)


class Group:
    """The control group of a bot, which holds everything that the bot starts.

    Another bot with the same limits may have it later.
    """

    def __init__(self, folders: list[tuple[Path, Hierarchy]], limits: GroupLimits = NO_LIMITS) -> None:
        self.folders = folders
        self.limits = limits
        self._files: dict[str, int] = {}
        """Open files: opening one takes five times as long as reading it."""
        self._lock = threading.Lock()  # of these: other threads read too, also while the group is removed
        self._was_killed = False
        self._is_raised = False
        self._earlier_us = 0  # CPU time of earlier bots
        self._left_bytes = 0  # memory of earlier bots that was still counted when this one started

    def renew(self) -> bool:
        """Prepares the group for another bot. Returns False if that bot could be blamed for an earlier one.

        The kernel's counters cannot be reset, so CPU time counts from here. A group in which the kernel has killed a
        process is not used again. That holds for the memory limit and for `kill`, after which Linux 6.18 also kills
        the next process that starts in the group.
        """
        held_bytes = self._sum("memory", "memory.current", "")
        alive = self._sum("pids", "pids.current", "")
        if self._was_killed or alive or (held_bytes or 0) > MOST_LEFT_BYTES or self.out_of_memory():
            return False
        try:
            self._raise_limit()
        except OSError:
            return False
        self._earlier_us = self._cpu_us() or 0
        self._left_bytes = self._sum("memory", "memory.stat", "anon", "shmem") or 0
        return True

    def _raise_limit(self) -> None:
        """Makes room for what earlier bots have left, so that the next one has as much memory as the first."""
        limit_bytes = self.limits.memory_bytes
        if self._is_raised or limit_bytes is None:
            return
        for folder, hierarchy in self.folders:
            limits = [*_memory_limits(hierarchy, limit_bytes + MOST_LEFT_BYTES)]
            for file, value in reversed(limits):  # version 1 keeps memory below the sum of memory and swap
                (folder / hierarchy.name(file)).write_text(str(value))
        self._is_raised = True

    def paths(self) -> list[str]:
        return [str(folder) for folder, _ in self.folders]

    def steps(self, forks: bool) -> list[str]:
        """Returns the first steps of the sandbox launcher; `forks`: it continues in a child.

        Moving a process takes longer than the rest of a start, because the kernel waits for all processors. With
        version 2 a child can start in a group instead. With version 1 a process of one thread moves itself without
        that wait.
        """
        steps = []
        for folder, hierarchy in self.folders:
            if hierarchy.unified and forks:
                steps += ["child_cgroup", str(folder)]
            else:
                steps += ["cgroup", f"{folder}/{hierarchy.name('cgroup.procs')}"]
        return steps

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed one of its processes at the memory limit."""
        return bool(self._sum("memory", "memory.events", "oom_kill"))

    def memory_bytes(self) -> int | None:
        """Returns the memory that it holds, files in memory included but no page cache; None = not counted."""
        held_bytes = self._sum("memory", "memory.stat", "anon", "shmem")
        return None if held_bytes is None else max(0, held_bytes - self._left_bytes)

    def cpu_s(self) -> float | None:
        """Returns the CPU time of everything in it, unreaped children included; None = not counted."""
        used_us = self._cpu_us()
        return None if used_us is None else (used_us - self._earlier_us) / 1e6

    def _cpu_us(self) -> int | None:
        return self._sum("cpu", "cpu.stat", "usage_usec")

    def kill(self) -> None:
        """Kills everything in it at once, where the kernel can."""
        for folder, hierarchy in self.folders:
            if hierarchy.unified:
                with suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")
                    self._was_killed = True

    def _sum(self, controller: str, file: str, *names: str) -> int | None:
        """Adds up numbers in a controller's file; missing ones are 0.

        None = no hierarchy has this controller, or the group was removed.
        The name of the only number in a file is "".
        """
        for folder, hierarchy in self.folders:
            if controller in hierarchy.controllers:
                text = self._read(f"{folder}/{hierarchy.name(file)}")
                if text is None:
                    return None
                return sum(_number(text, hierarchy.name(name)) for name in names)
        return None

    def _read(self, file: str) -> bytes | None:
        """Returns what a file holds; None if the group was removed."""
        with self._lock:
            if not self.folders:
                return None
            try:
                if (descriptor := self._files.get(file)) is None:
                    descriptor = self._files[file] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
                return os.pread(descriptor, FILE_BYTES, 0)
            except OSError:
                return b""

    def remove(self) -> None:
        """Removes the group once its processes have ended."""
        with self._lock:
            folders, self.folders = self.folders, []
            while self._files:
                os.close(self._files.popitem()[1])
        for folder, _ in folders:
            remove_group(folder)


def _number(text: bytes, name: str) -> int:
    """Returns the number behind a name at the beginning of a line; 0 if it is missing. "" names the first line."""
    start = b"\n%s " % name.encode() if name else b"\n"
    _, _, rest = (b"\n" + text).partition(start)
    return int(rest.partition(b"\n")[0] or 0)


class _Move:
    """The state of `vacate`. A process is in one group, and so there is one of these."""

    refused = False
    """Whether we were not alone in our group when the last run began."""
    base: Path | None = None
    """The group that we have left."""


_move = _Move()


@shared
def vacate() -> Iterator[None]:
    """Moves our process into a group below its own, of version 2, if only then groups with limits can be made.

    A group that holds processes cannot give controllers to its children, except the topmost. So we leave our group if
    we are alone in it, and return when the last run has ended.
    """
    base = _base_to_leave()
    _move.base = base if base is not None and _move_in(base) else None
    _move.refused = base != _move.base
    try:
        yield
    finally:
        if (left := _move.base) is not None:
            _move.base = None
            _move_out(left)


def _move_in(base: Path) -> bool:
    """Returns whether groups with limits can be made in `base` now."""
    child = _child(base)
    try:
        if set((base / "cgroup.procs").read_text().split()) - {str(os.getpid())}:
            return False
        child.mkdir(exist_ok=True)
        (child / "cgroup.procs").write_text("0")
        (base / "cgroup.subtree_control").write_text(_subtree_control("+"))
    except OSError:
        if child.exists():
            _move_out(base)
        return False
    return True


def _move_out(base: Path) -> None:
    """Returns to our group, with the processes that our program has started meanwhile."""
    child = _child(base)
    with suppress(OSError):
        (base / "cgroup.subtree_control").write_text(_subtree_control("-"))
        while members := (child / "cgroup.procs").read_text().split():
            for pid in members:
                with suppress(ProcessLookupError):
                    (base / "cgroup.procs").write_text(pid)
    remove_group(child)


def _child(base: Path) -> Path:
    return base / f"referee-{os.getpid()}-0"


def _subtree_control(sign: str) -> str:
    return " ".join(f"{sign}{name}" for name in sorted(NEEDED))


def _base_to_leave() -> Path | None:
    """Returns our group of version 2, if groups with limits can be made in it as soon as we have left it."""
    for controllers, base in _own_groups():
        if not controllers and not (_is_topmost(base) or _ancestor(base) or _controllers(base) >= NEEDED):
            return base if _names(base / "cgroup.controllers") >= NEEDED else None
    return None


def find() -> tuple[Groups, dict[str, str]]:
    """Tries out where groups can be made; for `memory`, `pids` and `cpu` also why not."""
    usable: list[Hierarchy] = []
    missing: dict[str, str] = {}
    with vacate():
        for controllers, base in _own_groups():
            if controllers:
                hierarchy = Hierarchy(base, frozenset(controllers.split(",")), unified=False)
            else:
                base = _usable_base(base)
                hierarchy = Hierarchy(base, _controllers(base) | {"cpu"}, True, needs_move=base == _move.base)
            _sweep(base)
            try:
                _make([hierarchy], GroupLimits(64 << 20, 64)).remove()
                usable.append(hierarchy)
            except OSError as error:
                missing |= dict.fromkeys(hierarchy.controllers, f"{base}: {reason(error)}")
    groups = Groups(tuple(usable))
    absent = "no hierarchy with this controller is mounted"
    return groups, {name: missing.get(name, absent) for name in ("memory", "pids", "cpu") if not groups.has(name)}


def tasks(processes: int) -> int:
    """Returns how many threads, main threads included, a bot with this limit of processes may have."""
    return processes * TASKS_PER_PROCESS


class TaskLimit(Struct, frozen=True):
    """A limit of tasks, which are processes and threads, that live at the same time."""

    name: str
    """The setting of the system."""
    limit: int
    alive: int


def task_limits() -> list[TaskLimit]:
    """Returns the limits of our control group and of those above it."""
    limits = []
    for controllers, group in _own_groups():
        if controllers and "pids" not in controllers.split(","):
            continue
        for folder in (group, *group.parents):
            try:
                limit, alive = ((folder / file).read_text().strip() for file in ("pids.max", "pids.current"))
            except OSError:
                continue  # the topmost group has no limit
            if limit != "max":
                limits.append(TaskLimit(f"{folder}/pids.max", int(limit), int(alive)))
    return limits


def _own_groups() -> list[tuple[str, Path]]:
    """Returns the controllers ("" for version 2) and the folder of each group that we are in."""
    try:
        lines, mounts = OWN_GROUPS.read_text().splitlines(), _mounts()
    except OSError:
        return []
    groups = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in mounts:
            place, root = mounts[controllers]
            groups.append((controllers, place / os.path.relpath(path, root)))
    return groups


def mount_places(hierarchies: Iterable[Hierarchy]) -> list[str]:
    """Returns where each hierarchy is mounted."""
    places = [place for place, _ in _mounts().values()]
    return [
        str(max((place for place in places if each.base.is_relative_to(place)), default=each.base))
        for each in hierarchies
    ]


def processor_folders() -> list[tuple[str, str]]:
    """Returns our group in each hierarchy of version 1 for processors, and where that is mounted.

    Java finds no limit without them. A group with groups below it is left out.
    """
    mounts = _mounts(PROCESSORS_V1)
    folders = []
    for line in OWN_GROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controllers in mounts:
            place, root = mounts[controllers]
            folder = place / os.path.relpath(path, root)
            with suppress(OSError):
                if not any(entry.is_dir() for entry in folder.iterdir()):
                    folders.append((os.path.normpath(folder), str(place)))
    return folders


def _mounts(wanted: Collection[str] = V1) -> dict[str, tuple[Path, str]]:
    """Returns, by controllers ("" for version 2), where a hierarchy is mounted and which of its groups that is."""
    mounts: dict[str, tuple[Path, str]] = {}
    for line in MOUNTS.read_text().splitlines():
        left, _, right = line.partition(" - ")
        root, place = left.split()[3:5]
        kind, _, options = right.split()[:3]
        controllers = ",".join(name for name in options.split(",") if name in wanted)
        if kind == "cgroup2":
            mounts[""] = (Path(place), root)
        elif kind == "cgroup" and controllers:
            mounts[controllers] = (Path(place), root)
    return mounts


def _controllers(base: Path) -> frozenset[str]:
    """Returns what groups of version 2 below this one can limit."""
    return _names(base / "cgroup.subtree_control")


def _names(file: Path) -> frozenset[str]:
    try:
        return frozenset(file.read_text().split())
    except OSError:
        return frozenset()


def _is_topmost(base: Path) -> bool:
    return not (base / "cgroup.type").exists()


def _ancestor(base: Path) -> Path | None:
    """Returns a group above ours that gives controllers to its children and is writable for us.

    A service manager that delegates may have put us into a child for that reason. To root, all groups are writable.
    """
    for folder in base.parents:
        if _controllers(folder) >= NEEDED and os.access(folder / "cgroup.procs", os.W_OK):
            return folder
    return None


def _usable_base(base: Path) -> Path:
    """Returns the group of version 2 in which groups with limits can be made: ours, or one above it."""
    if (ancestor := _ancestor(base)) is not None:
        return ancestor
    if _is_topmost(base) and not _controllers(base) >= NEEDED:
        with suppress(OSError):
            (base / "cgroup.subtree_control").write_text(_subtree_control("+"))
    return base


def _sweep(base: Path) -> None:
    """Removes the empty groups of referees that were killed."""
    for folder in base.glob("referee-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with suppress(OSError):
                folder.rmdir()
