"""Control groups: exact limits for everything that a bot starts, and one call that ends all of it.

They may be version 2, the memory and pids hierarchies of version 1, or both. New groups are made below our own, so that
our limits bind the bots as well.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from referee.harness.isolation.layers.process_limit import tasks
from referee.harness.isolation.removal import remove_group

MOUNTS = Path("/proc/self/mountinfo")
OWN_GROUPS = Path("/proc/self/cgroup")
V1 = ("memory", "pids")
NEEDED = frozenset({"memory", "pids"})
"""Controllers without which groups of version 2 limit nothing."""
FILE_BYTES = 1 << 14
"""No file of a group that we read is longer."""


class Hierarchy(Struct, frozen=True):
    """A tree of groups in which we may make groups."""

    base: Path
    controllers: frozenset[str]
    unified: bool
    """Version 2."""
    needs_move: bool = False
    """Usable only while our process is `vacate`d."""


class Groups:
    """Makes the groups of a run. Without hierarchies, none can be made."""

    def __init__(self, hierarchies: tuple[Hierarchy, ...]) -> None:
        self._hierarchies = hierarchies
        self.count = 0

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies that are usable now, or would be while `vacate`d."""
        if not _move.refused:
            return self._hierarchies
        return tuple(hierarchy for hierarchy in self._hierarchies if not hierarchy.needs_move)

    def has(self, controller: str) -> bool:
        return any(controller in hierarchy.controllers for hierarchy in self.hierarchies)

    def make(self, memory_bytes: int | None, processes: int | None) -> "Group":
        """Makes a group with its limits, for one bot. OSError if that fails."""
        self.count += 1
        name = f"referee-{os.getpid()}-{self.count}"
        group = Group([])
        try:
            for hierarchy in self.hierarchies:
                folder = hierarchy.base / name
                folder.mkdir()
                group.folders.append((folder, hierarchy))
                for file, value in _limits(hierarchy, memory_bytes, processes).items():
                    (folder / file).write_text(str(value))
        except OSError:
            group.remove()
            raise
        return group


def _limits(hierarchy: Hierarchy, memory_bytes: int | None, processes: int | None) -> dict[str, int]:
    limits: dict[str, int] = {}
    if memory_bytes is not None and "memory" in hierarchy.controllers:
        limits["memory.max" if hierarchy.unified else "memory.limit_in_bytes"] = memory_bytes
        swap = "memory.swap.max" if hierarchy.unified else "memory.memsw.limit_in_bytes"
        if (hierarchy.base / swap).exists():
            limits[swap] = 0 if hierarchy.unified else memory_bytes
    if processes is not None and "pids" in hierarchy.controllers:
        limits["pids.max"] = tasks(processes)
    return limits


class Group:
    """The control group of one bot, which holds everything that the bot starts."""

    def __init__(self, folders: list[tuple[Path, Hierarchy]]) -> None:
        self.folders = folders
        self._files: dict[Path, int] = {}
        """Open files: opening one takes five times as long as reading it."""

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
                steps += ["cgroup", str(folder / ("cgroup.procs" if hierarchy.unified else "tasks"))]
        return steps

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed one of its processes at the memory limit."""
        for folder, hierarchy in self.folders:
            if "memory" in hierarchy.controllers:
                file = "memory.events" if hierarchy.unified else "memory.oom_control"
                return self._field(folder / file, "oom_kill") > 0
        return False

    def memory_bytes(self) -> int | None:
        """Returns the memory that it holds, files in memory included but no page cache; None = not counted."""
        for folder, hierarchy in self.folders:
            if "memory" in hierarchy.controllers:
                names = ("anon", "shmem") if hierarchy.unified else ("total_rss", "total_shmem")
                return sum(self._field(folder / "memory.stat", name) for name in names)
        return None

    def cpu_s(self) -> float | None:
        """Returns the CPU time of everything in it, unreaped children included; None = not counted."""
        for folder, hierarchy in self.folders:
            if hierarchy.unified:
                return self._field(folder / "cpu.stat", "usage_usec") / 1e6
        return None

    def kill(self) -> None:
        """Kills everything in it at once, where the kernel can."""
        for folder, hierarchy in self.folders:
            if hierarchy.unified:
                with suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")

    def _field(self, file: Path, name: str) -> int:
        """Returns a number by its name; 0 if there is none."""
        try:
            if (descriptor := self._files.get(file)) is None:
                descriptor = self._files[file] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            for line in os.pread(descriptor, FILE_BYTES, 0).decode().splitlines():
                key, _, value = line.partition(" ")
                if key == name:
                    return int(value)
        except OSError:
            pass
        return 0

    def remove(self) -> None:
        """Removes the group once its processes have ended."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
        for folder, _ in self.folders:
            remove_group(folder)
        self.folders = []


class Move:
    """Our process's move into a group below its own, of version 2, while bots play.

    A group that holds processes cannot give controllers to its children, except the topmost. So we leave our group if
    we are alone in it, and return when the last run has ended.
    """

    def __init__(self) -> None:
        self.refused = False
        """Whether we were not alone in our group when the last run began."""
        self.base: Path | None = None
        """The group that we have left."""
        self._runs = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        with self._lock:
            if not self._runs:
                base = _base_to_leave()
                self.refused = base is not None and not self._move_in(base)
            self._runs += 1

    def end(self) -> None:
        with self._lock:
            self._runs -= 1
            if not self._runs and self.base is not None:
                self._move_out(self.base)

    def _move_in(self, base: Path) -> bool:
        """Returns whether groups with limits can be made in `base` now."""
        try:
            if set((base / "cgroup.procs").read_text().split()) - {str(os.getpid())}:
                return False
            child = _child(base)
            child.mkdir(exist_ok=True)
            self.base = base
            (child / "cgroup.procs").write_text("0")
            (base / "cgroup.subtree_control").write_text(_subtree_control("+"))
        except OSError:
            if self.base is not None:
                self._move_out(self.base)
            return False
        return True

    def _move_out(self, base: Path) -> None:
        """Returns to our group, with the processes that our program has started meanwhile."""
        self.base = None
        child = _child(base)
        with suppress(OSError):
            (base / "cgroup.subtree_control").write_text(_subtree_control("-"))
            while members := (child / "cgroup.procs").read_text().split():
                for pid in members:
                    with suppress(ProcessLookupError):
                        (base / "cgroup.procs").write_text(pid)
        remove_group(child)


_move = Move()
"""One per process, since a process is in one group."""


@contextmanager
def vacate() -> Iterator[None]:
    """Takes our process out of its group for the block, if only then groups with limits can be made."""
    _move.begin()
    try:
        yield
    finally:
        _move.end()


def _child(base: Path) -> Path:
    return base / f"referee-{os.getpid()}-0"


def _subtree_control(sign: str) -> str:
    return " ".join(f"{sign}{name}" for name in sorted(NEEDED))


def _base_to_leave() -> Path | None:
    """Returns our group of version 2, if groups with limits can be made in it as soon as we have left it."""
    base = next((base for controllers, base in _own_groups() if not controllers), None)
    if base is None:
        return None
    try:
        offered = frozenset((base / "cgroup.controllers").read_text().split())
    except OSError:
        return None
    leaves = offered >= NEEDED and not _is_topmost(base)
    return base if leaves and _ancestor(base) is None and not _controllers(base) >= NEEDED else None


def find() -> tuple[Groups, dict[str, str]]:
    """Tries out where groups can be made; for `memory`, `pids` and `cpu` also why not."""
    with vacate():
        return _find()


def _find() -> tuple[Groups, dict[str, str]]:
    usable: list[Hierarchy] = []
    missing: dict[str, str] = {}
    for controllers, base in _own_groups():
        unified = controllers == ""
        if unified:
            base = _usable_base(base)
        names = _controllers(base) if unified else frozenset(controllers.split(",")) & frozenset(V1)
        if not unified and not names:
            continue
        _sweep(base)
        hierarchy = Hierarchy(base, names | {"cpu"} if unified else names, unified, unified and base == _move.base)
        if (reason := _trial(hierarchy)) is None:
            usable.append(hierarchy)
        else:
            missing |= {name: reason for name in hierarchy.controllers}
    groups = Groups(tuple(usable))
    for name in ("memory", "pids", "cpu"):
        if groups.has(name):
            missing.pop(name, None)
        else:
            missing.setdefault(name, "no hierarchy with this controller is mounted")
    return groups, missing


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
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return []
    mounts = _mounts()
    groups = [(controllers, path) for _, controllers, path in (line.split(":", 2) for line in lines)]
    return [
        (controllers, mounts[controllers][0] / os.path.relpath(path, mounts[controllers][1]))
        for controllers, path in groups
        if controllers in mounts
    ]


def _mounts() -> dict[str, tuple[Path, str]]:
    """Returns, by controllers ("" for version 2), where a hierarchy is mounted and which of its groups that is."""
    mounts: dict[str, tuple[Path, str]] = {}
    try:
        lines = MOUNTS.read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        left, _, right = line.partition(" - ")
        root, place = left.split()[3:5]
        kind, _, options = right.split()[:3]
        controllers = ",".join(name for name in options.split(",") if name in V1)
        if kind == "cgroup2":
            mounts[""] = (Path(place), root)
        elif kind == "cgroup" and controllers:
            mounts[controllers] = (Path(place), root)
    return mounts


def _controllers(base: Path) -> frozenset[str]:
    """Returns what groups of version 2 below this one can limit."""
    try:
        return frozenset((base / "cgroup.subtree_control").read_text().split())
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
    with suppress(OSError):
        if not _controllers(base) >= NEEDED and _is_topmost(base):
            (base / "cgroup.subtree_control").write_text(_subtree_control("+"))
    return base


def _trial(hierarchy: Hierarchy) -> str | None:
    """Makes and removes a group with limits; returns why that fails, or None."""
    try:
        group = Groups((hierarchy,)).make(64 << 20, 64)
    except OSError as error:
        return f"{hierarchy.base}: {error.strerror}"
    group.remove()
    return None


def _sweep(base: Path) -> None:
    """Removes the empty groups of referees that were killed."""
    try:
        folders = [entry for entry in base.iterdir() if entry.name.startswith("referee-")]
    except OSError:
        return
    for folder in folders:
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with suppress(OSError):
                folder.rmdir()
