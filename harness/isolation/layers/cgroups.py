"""Control groups, where we may make some: limits that hold exactly, of all that a bot starts, and an end in one stroke.

Version 2, or the memory and pids hierarchies of version 1, or both: many systems have them mixed. New groups lie below
our own, so that whatever limits us limits the bots as well.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from referee.harness.isolation.layers.process_limit import tasks
from referee.harness.isolation.supervisor import remove_group

MOUNTS = Path("/proc/self/mountinfo")
OURS = Path("/proc/self/cgroup")
V1 = ("memory", "pids")
NEEDED = frozenset({"memory", "pids"})
"""Controllers of version 2 without which its groups limit nothing."""
FILE_BYTES = 1 << 14
"""No file of a group that we read is longer."""


class Hierarchy(Struct, frozen=True):
    """A tree of groups in which we may make some."""

    base: Path
    controllers: frozenset[str]
    unified: bool
    """Version 2."""
    needs_room: bool = False
    """It is usable only within `room`."""


class Groups:
    """Where the groups of a run are made. Empty where nothing is writable."""

    def __init__(self, hierarchies: tuple[Hierarchy, ...]) -> None:
        self._hierarchies = hierarchies
        self.number = 0

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """Those that are usable now, or would be within `room`."""
        if not _room.refused:
            return self._hierarchies
        return tuple(hierarchy for hierarchy in self._hierarchies if not hierarchy.needs_room)

    def has(self, controller: str) -> bool:
        return any(controller in hierarchy.controllers for hierarchy in self.hierarchies)

    def make(self, memory_bytes: int | None, processes: int | None) -> "Group":
        """A group with its limits set, for one bot. OSError if it cannot be made after all."""
        self.number += 1
        name = f"referee-{os.getpid()}-{self.number}"
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


def _limits(hierarchy: Hierarchy, memory_bytes: int | None, processes: int | None) -> Mapping[str, int]:
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
    """One bot's: everything that it starts is in it, wherever it runs to."""

    def __init__(self, folders: list[tuple[Path, Hierarchy]]) -> None:
        self.folders = folders
        self._read: dict[Path, int] = {}
        """Files that are read again and again, open: to open one takes five times as long as to read it."""

    def paths(self) -> tuple[str, ...]:
        """Its folders."""
        return tuple(str(folder) for folder, _ in self.folders)

    def steps(self, forks: bool) -> list[str]:
        """For the launcher, before anything else; `forks`: it goes on in a child.

        The kernel moves a process only when all processors have passed a quiet point, which takes longer than all the
        rest of a start. Version 2 lets a child be born in a group instead. Version 1 spares a thread that moves itself
        alone the waiting; the launcher has one.
        """
        steps = []
        for folder, hierarchy in self.folders:
            if hierarchy.unified and forks:
                steps += ["bornin", str(folder)]
            else:
                steps += ["cgroup", str(folder / ("cgroup.procs" if hierarchy.unified else "tasks"))]
        return steps

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended a process of it for want of memory."""
        for folder, hierarchy in self.folders:
            if "memory" in hierarchy.controllers:
                return (
                    self._field(folder / ("memory.events" if hierarchy.unified else "memory.oom_control"), "oom_kill")
                    > 0
                )
        return False

    def memory_bytes(self) -> int | None:
        """What it holds that no file could give back: also what hides in files in memory. None where nobody counts."""
        for folder, hierarchy in self.folders:
            if "memory" in hierarchy.controllers:
                stat = folder / "memory.stat"
                names = ("anon", "shmem") if hierarchy.unified else ("total_rss", "total_shmem")
                return sum(self._field(stat, name) for name in names)
        return None

    def cpu_s(self) -> float | None:
        """CPU time of everything in it, also of what nobody waited for; None where nobody counts."""
        for folder, hierarchy in self.folders:
            if hierarchy.unified:
                return self._field(folder / "cpu.stat", "usage_usec") / 1e6
        return None

    def kill(self) -> None:
        """Ends everything in it at one stroke, where that can be done; else nothing."""
        for folder, hierarchy in self.folders:
            if hierarchy.unified:
                with suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")

    def _field(self, file: Path, name: str) -> int:
        """A number by its name; 0 where there is none."""
        try:
            descriptor = self._read.get(file)
            if descriptor is None:
                descriptor = self._read[file] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            for line in os.pread(descriptor, FILE_BYTES, 0).decode().splitlines():
                key, _, value = line.partition(" ")
                if key == name:
                    return int(value)
        except OSError:
            pass
        return 0

    def remove(self) -> None:
        """Its processes have ended."""
        for descriptor in self._read.values():
            os.close(descriptor)
        self._read.clear()
        for folder, _ in self.folders:
            remove_group(folder)
        self.folders = []


class Room:
    """A group below our own in which our process is while bots play, version 2.

    A group that holds processes cannot hand its controllers on, the topmost apart. So we leave ours, if we are alone in
    it, and return when the last run has ended.
    """

    def __init__(self) -> None:
        self.refused = False
        """We were not alone in our group when the last run began."""
        self.base: Path | None = None
        """The group that we have left."""
        self._users = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            if not self._users:
                base = _base_to_leave()
                self.refused = base is not None and not self._move_in(base)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and self.base is not None:
                self._move_out(self.base)

    def _move_in(self, base: Path) -> bool:
        """Whether groups with limits can be made in `base` now."""
        try:
            if set((base / "cgroup.procs").read_text().split()) - {str(os.getpid())}:
                return False
            inside = _inside(base)
            inside.mkdir(exist_ok=True)
            self.base = base
            (inside / "cgroup.procs").write_text("0")
            (base / "cgroup.subtree_control").write_text(_switch("+"))
        except OSError:
            if self.base is not None:
                self._move_out(self.base)
            return False
        return True

    def _move_out(self, base: Path) -> None:
        """Takes along what our program has started meanwhile."""
        self.base = None
        inside = _inside(base)
        with suppress(OSError):
            (base / "cgroup.subtree_control").write_text(_switch("-"))
            while members := (inside / "cgroup.procs").read_text().split():
                for pid in members:
                    with suppress(ProcessLookupError):
                        (base / "cgroup.procs").write_text(pid)
        remove_group(inside)


_room = Room()


@contextmanager
def room() -> Iterator[None]:
    """Within the block, groups with limits can be made where our process has to leave its own group for that."""
    _room.enter()
    try:
        yield
    finally:
        _room.leave()


def _inside(base: Path) -> Path:
    return base / f"referee-{os.getpid()}-0"


def _switch(sign: str) -> str:
    """For `cgroup.subtree_control`."""
    return " ".join(f"{sign}{name}" for name in sorted(NEEDED))


def _base_to_leave() -> Path | None:
    """Our group of version 2, if groups with limits can be made in it as soon as our process has left it."""
    mount = _mounts().get("")
    path = dict(_our_groups()).get("")
    if mount is None or path is None:
        return None
    base = mount[0] / os.path.relpath(path, mount[1])
    try:
        offered = frozenset((base / "cgroup.controllers").read_text().split())
        leaves = offered >= NEEDED and (base / "cgroup.type").exists()  # else it is the topmost: it needs no room
    except OSError:
        return None
    return base if leaves and _above(base) is None and not _controllers(base) >= NEEDED else None


def find() -> tuple[Groups, dict[str, str]]:
    """The hierarchies in which we can make groups, and for `memory`, `pids` and `cpu` why not, where we cannot."""
    with room():
        return _find()


def _find() -> tuple[Groups, dict[str, str]]:
    found: list[Hierarchy] = []
    missing: dict[str, str] = {}
    mounts = _mounts()
    for controllers, path in _our_groups():
        mount = mounts.get(controllers)
        if mount is None:
            continue
        base = mount[0] / os.path.relpath(path, mount[1])
        unified = controllers == ""
        if unified:
            base = _with_room(base)
        names = _controllers(base) if unified else frozenset(controllers.split(",")) & frozenset(V1)
        if not unified and not names:
            continue
        _sweep(base)
        needs_room = unified and base == _room.base
        hierarchy = Hierarchy(base, names | {"cpu"} if unified else names, unified, needs_room)
        reason = _trial(hierarchy)
        if reason is None:
            found.append(hierarchy)
        else:
            missing |= {name: reason for name in hierarchy.controllers}
    groups = Groups(tuple(found))
    for name in ("memory", "pids", "cpu"):
        if groups.has(name):
            missing.pop(name, None)
        else:
            missing.setdefault(name, "no hierarchy with this controller is mounted")
    return groups, missing


class TaskLimit(Struct, frozen=True):
    """How many tasks, which are processes and threads, may live at a time."""

    name: str
    """The setting of the system."""
    most: int
    living: int


def task_limits() -> list[TaskLimit]:
    """The limits of our control group and of those above it."""
    found = []
    mounts = _mounts()
    for controllers, path in _our_groups():
        if controllers not in mounts or (controllers and "pids" not in controllers.split(",")):
            continue
        mount, root = mounts[controllers]
        group = mount / os.path.relpath(path, root)
        for folder in (group, *group.parents):
            try:
                most, living = ((folder / file).read_text().strip() for file in ("pids.max", "pids.current"))
            except OSError:
                continue  # the topmost group has no limit
            if most != "max":
                found.append(TaskLimit(f"{folder}/pids.max", int(most), int(living)))
    return found


def _our_groups() -> list[tuple[str, str]]:
    """Controllers ("" for version 2) and path of each group that we are in."""
    try:
        lines = OURS.read_text().splitlines()
    except OSError:
        return []
    return [(controllers, path) for _, controllers, path in (line.split(":", 2) for line in lines)]


def _mounts() -> dict[str, tuple[Path, str]]:
    """By controllers ("" for version 2): where the hierarchy is mounted, and which of its groups is there."""
    found: dict[str, tuple[Path, str]] = {}
    try:
        lines = MOUNTS.read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        left, _, right = line.partition(" - ")
        root, place = left.split()[3:5]
        kind, _, options = right.split()[:3]
        if kind == "cgroup2":
            found[""] = (Path(place), root)
        elif kind == "cgroup":
            controllers = ",".join(name for name in options.split(",") if name in V1)
            if controllers:
                found[controllers] = (Path(place), root)
    return found


def _controllers(base: Path) -> frozenset[str]:
    """What groups made there can limit, version 2."""
    try:
        return frozenset((base / "cgroup.subtree_control").read_text().split())
    except OSError:
        return frozenset()


def _above(base: Path) -> Path | None:
    """A group above ours that hands controllers on and is open to us.

    A service manager that delegates may have put us into a group of our own for that reason, and to root all of them
    are open.
    """
    for above in base.parents:
        if _controllers(above) >= NEEDED and os.access(above / "cgroup.procs", os.W_OK):
            return above
    return None


def _with_room(base: Path) -> Path:
    """The group in which groups with limits can be made, version 2: ours, or one above it."""
    if (above := _above(base)) is not None:
        return above
    with suppress(OSError):
        if not _controllers(base) >= NEEDED and not (base / "cgroup.type").exists():  # the topmost
            (base / "cgroup.subtree_control").write_text(_switch("+"))
    return base


def _trial(hierarchy: Hierarchy) -> str | None:
    """Makes a group with limits and removes it again: why that cannot be done, or None."""
    try:
        group = Groups((hierarchy,)).make(64 << 20, 64)
    except OSError as error:
        return f"{hierarchy.base}: {error.strerror}"
    group.remove()
    return None


def _sweep(base: Path) -> None:
    """Removes the empty groups of referees that were killed."""
    try:
        left = [entry for entry in base.iterdir() if entry.name.startswith("referee-")]
    except OSError:
        return
    for entry in left:
        pid = entry.name.split("-")[1]
        if not Path("/proc", pid).exists():
            with suppress(OSError):
                entry.rmdir()
