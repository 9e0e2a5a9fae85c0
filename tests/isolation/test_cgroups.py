"""Control groups count what nothing else sees. The files of version 2 are tested without a kernel that has them."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from accounts import ORDINARY, as_account, environment, ordinary_python, shared_cache
from modules import module, saved
from msgspec.structs import replace
from needs import for_root
from scripted import Arena

from referee.addons.wasm.seat import RUNNER_BYTES
from referee.games.contract import FaultKind
from referee.harness.common.errors import RunError
from referee.harness.isolation import plan
from referee.harness.isolation.layers import cgroups
from referee.harness.isolation.layers.cgroups import MOST_LEFT_BYTES, Group, GroupLimits, Groups, Hierarchy
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.probe import probe
from referee.harness.isolation.removal import remove_group
from referee.harness.match.match import play
from referee.harness.match.verdict import Verdict
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrant
from referee.harness.seats.roster import open_roster

UNSEEN = """
greet(); put('NW'); request = call()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel charges nobody for such children
for _ in range(4):
    if os.fork() == 0:
        until = time.process_time() + 0.2
        while time.process_time() < until: pass
        os._exit(0)
with open("/dev/shm/held", "wb") as file:
    file.write(bytes(40 << 20))
try:
    while True: os.waitpid(-1, 0)
except ChildProcessError:
    pass
answer(request, cell('W')); put('SW')
"""


@pytest.fixture
def hierarchies() -> tuple[Hierarchy, ...]:
    """The control groups of this machine, which count memory and CPU time and are kept for other bots."""
    layers = plan.layer_by_guarantee(Isolation())
    if (layers["kill"], layers["cpu"], layers["hidden"]) != ("pidns", "cgroup", "cgroup"):
        pytest.skip(for_root("no control groups here that count memory and CPU time: see `referee doctor`"))
    return probe().groups.hierarchies


@pytest.mark.trio
@pytest.mark.usefixtures("hierarchies")
async def test_a_group_counts_unreaped_children_and_files_in_memory(arena: Arena) -> None:
    limits = Limits(isolation=Isolation(writable=(str(arena.folder),)))
    rival = arena.bot("greet(); put('C'); put('N'); call()", name="rival")
    verdict = await arena.play(arena.match(arena.bot(UNSEEN), rival), limits, granted_s=10.0)
    assert (verdict.result.reason, verdict.faults) == ("O_WIN", ())
    seat = verdict.seats[0]
    assert seat.cpu_s > 0.75
    assert seat.peak_memory_bytes > 40 << 20


@pytest.mark.trio
@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.004])
async def test_a_cancelled_start_leaves_no_control_group(
    arena: Arena, hierarchies: tuple[Hierarchy, ...], after_s: float
) -> None:
    pattern = f"referee-{os.getpid()}-*"
    async with open_roster(Limits()) as roster:
        with trio.move_on_after(after_s) as scope:
            await roster.start(arena.bot("greet()"))
            await trio.sleep_forever()
        assert scope.cancelled_caught
        await roster.close(orderly=False)
        assert [group for hierarchy in hierarchies for group in hierarchy.base.glob(pattern)] == []


@pytest.mark.trio
async def test_a_start_that_fails_leaves_no_control_group(
    arena: Arena, hierarchies: tuple[Hierarchy, ...], tmp_path: Path
) -> None:
    bot = replace(arena.bot("greet()"), argv=(str(tmp_path / "missing"),))
    async with open_roster(Limits()) as roster:
        with pytest.raises(RunError, match="cannot be started"):
            await roster.start(bot)
        pattern = f"referee-{os.getpid()}-*"
        assert [group for hierarchy in hierarchies for group in hierarchy.base.glob(pattern)] == []


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    """A group of version 2 whose files are ordinary ones."""
    (tmp_path / "memory.swap.max").touch()
    groups = Groups((Hierarchy(tmp_path, frozenset({"memory", "pids", "cpu"}), unified=True),))
    group = groups.make(GroupLimits(64 << 20, 10))
    assert group is not None
    yield group
    group.remove()


@pytest.fixture
def folder(group: Group) -> Path:
    """The group's folder, whose files are as its first bot leaves them."""
    folder = Path(group.paths()[0])
    for file in ("memory.current", "pids.current", "memory.events", "memory.stat", "cpu.stat", "cgroup.kill"):
        (folder / file).write_text("0")
    return folder


def test_the_files_of_version_2_are_written_and_read(group: Group) -> None:
    """Their names are from Documentation/admin-guide/cgroup-v2.rst."""
    folder = Path(group.paths()[0])
    limits = {name: (folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")}
    assert limits == {"memory.max": str(64 << 20), "memory.swap.max": "0", "pids.max": "40"}
    assert not group.out_of_memory()
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n")
    (folder / "memory.stat").write_text("anon 1000\nfile 5000\nkernel 300\nshmem 70\n")
    (folder / "cpu.stat").write_text("usage_usec 1520000\nuser_usec 1500000\nsystem_usec 20000\n")
    assert group.out_of_memory()
    assert (group.memory_bytes(), group.cpu_s()) == (1070, 1.52)
    assert group.steps(forks=True) == ["child_cgroup", str(folder)]
    assert group.steps(forks=False) == ["cgroup", str(folder / "cgroup.procs")]
    (folder / "cgroup.kill").touch()
    group.kill()
    assert (folder / "cgroup.kill").read_text() == "1"


def test_a_group_counts_from_its_last_bot_on(group: Group, folder: Path) -> None:
    (folder / "cpu.stat").write_text("usage_usec 900000\n")
    (folder / "memory.stat").write_text("anon 4096\nshmem 8192\n")
    (folder / "memory.current").write_text(str(1 << 20))
    assert group.renew()
    assert (group.memory_bytes(), group.cpu_s()) == (0, 0.0)
    assert (folder / "memory.max").read_text() == str(65 << 20), "the next bot has 64 MiB beside what is left"
    (folder / "cpu.stat").write_text("usage_usec 1900000\n")
    (folder / "memory.stat").write_text("anon 104096\nshmem 8192\n")
    assert (group.memory_bytes(), group.cpu_s()) == (100_000, 1.0)


def test_whoever_looks_at_a_group_while_it_is_removed_leaves_no_file_open(
    group: Group, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = cgroups.remove_group

    def looked_at(path: Path) -> None:
        assert group.cpu_s() in (0.0, None)
        remove(path)

    monkeypatch.setattr(cgroups, "remove_group", looked_at)
    opened = set(os.listdir("/proc/self/fd"))
    assert group.cpu_s() == 0.0
    group.remove()
    assert set(os.listdir("/proc/self/fd")) == opened


def test_a_file_that_another_thread_opens_while_its_group_is_removed_is_closed(
    group: Group, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It loses its turn before it has noted that."""
    opening, looking, removal = os.open, threading.Thread(target=group.cpu_s), threading.Thread(target=group.remove)

    def interrupted(path: str, flags: int, *more: int) -> int:
        found = opening(path, flags, *more)
        if path.endswith("cpu.stat"):
            removal.start()
            removal.join(0.2)
        return found

    opened = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "open", interrupted)
    looking.start()
    looking.join()
    removal.join()
    assert set(os.listdir("/proc/self/fd")) == opened
    assert (group.cpu_s(), group.memory_bytes()) == (None, None)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("memory.current", str((1 << 20) + 4096)),
        ("memory.events", "max 1\noom 1\noom_kill 1\n"),
        ("pids.current", "1"),
        ("cgroup.kill", None),
    ],
)
def test_a_group_with_traces_of_a_bot_gets_no_other(group: Group, folder: Path, file: str, text: str | None) -> None:
    if text is None:
        group.kill()
    else:
        (folder / file).write_text(text)
    assert not group.renew()


HOLDS = """
greet()
mount = '/sys/fs/cgroup/memory' if os.path.exists('/sys/fs/cgroup/memory') else '/sys/fs/cgroup'
os.write(2, b'group %d\\n' % os.stat(mount).st_ino)
burnt_s, held_bytes = float(sys.argv[1]), int(sys.argv[2])
with open("/dev/shm/held", "wb") as file: file.write(bytes(held_bytes))
while time.process_time() < burnt_s: pass
for name in sys.argv[3:]: put(name)
call()
"""
LIGHT, GREEDY, BOMB = ("0", "0"), ("0.3", str(20 << 20)), ("0", str(48 << 20))
"""CPU time in seconds, and bytes in shared memory, where only the kernel sees a limit of 32 MiB exceeded."""


async def play_in_turn(arena: Arena, *kinds: tuple[str, str]) -> list[tuple[Verdict, list[str]]]:
    """Plays a match of fresh bots for each kind of the first one. Returns verdicts and the bots' control groups."""
    limits = Limits(memory_bytes=32 << 20, isolation=Isolation(writable=(str(arena.folder),)))
    rival = arena.bot(HOLDS, *LIGHT, "C", "E", name="rival")
    played = []
    async with open_roster(limits) as roster:
        for kind in kinds:
            verdict = await play(arena.match(arena.bot(HOLDS, *kind, "NW", "W", "SW"), rival), roster)
            lines = [Path(str(seat.stderr)).read_text().splitlines() for seat in verdict.seats]
            played.append((verdict, [re.findall(r"group \d+", "".join(each))[0] for each in lines]))
            await trio.sleep(0.3)  # in which the kernel frees the memory of bots that have ended
    return played


@pytest.mark.trio
@pytest.mark.usefixtures("hierarchies")
async def test_a_bot_in_a_kept_group_is_not_charged_for_another(arena: Arena) -> None:
    (greedy, before), (light, after) = await play_in_turn(arena, GREEDY, LIGHT)
    assert sorted(before) == sorted(after)
    assert greedy.seats[0].cpu_s > 0.2  # it stops after 0.3 s of process time
    assert greedy.seats[0].peak_memory_bytes > 20 << 20
    assert (light.result.ranks, light.faults) == ((1, 2), ())
    for seat in light.seats:
        assert seat.cpu_s < 0.2
        assert seat.peak_memory_bytes < 16 << 20


@pytest.mark.trio
@pytest.mark.usefixtures("hierarchies")
async def test_a_bot_gets_no_group_in_which_the_kernel_has_killed_another(arena: Arena) -> None:
    (bomb, before), (light, after) = await play_in_turn(arena, BOMB, LIGHT)
    assert [fault.detail for fault in bomb.faults] == ["exceeded the memory limit (32.0 MiB) and was killed"]
    assert before[0] not in after
    assert (light.result.ranks, light.faults) == ((1, 2), ())


@pytest.mark.trio
@pytest.mark.usefixtures("hierarchies")
async def test_a_kept_group_still_holds_the_memory_limit(arena: Arena) -> None:
    (_, before), (bomb, after) = await play_in_turn(arena, LIGHT, BOMB)
    assert sorted(before) == sorted(after)
    assert [fault.kind for fault in bomb.faults] == [FaultKind.MEMORY]  # the kernel's, or a reading's just before
    assert bomb.seats[0].peak_memory_bytes <= (32 << 20) + MOST_LEFT_BYTES


@pytest.mark.trio
@pytest.mark.usefixtures("hierarchies")
async def test_no_bot_gets_the_control_group_of_one_with_other_limits(arena: Arena, tmp_path: Path) -> None:
    """The process of a module may use more memory than a native bot, for the runner."""
    native, metered = arena.bot("greet()"), entrant(str(saved(tmp_path, "module", module(""))))
    limits: list[int] = []
    async with open_roster(Limits()) as roster:
        for each in (native, metered, native, metered):
            bot = await roster.start(each)
            assert isinstance(bot.program, BotProcess)
            limits.append(memory_limit(bot.program.group))
            await roster.end([bot], orderly=False)
    assert limits[:2] == [256 << 20, (256 << 20) + RUNNER_BYTES]
    for before, after in zip(limits[:2], limits[2:], strict=True):
        assert before <= after <= before + MOST_LEFT_BYTES


def memory_limit(group: Group | None) -> int:
    """Returns the limit that the kernel has for a group."""
    assert group is not None
    folder, hierarchy = next(each for each in group.folders if "memory" in each[1].controllers)
    return int((folder / hierarchy.name("memory.max")).read_text())


ENTERS = """
import subprocess, sys, trio
from pathlib import Path
from referee.harness.isolation.layers import cgroups
cgroups.NEEDED = frozenset(sys.argv[2].split(","))
from referee.harness.process.limits import Limits
from referee.harness.seats.roster import open_roster
from referee.harness.isolation.probe import probe

def where():
    return next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))

async def main():
    probe()
    print(where())
    for _ in range(2):
        async with open_roster(Limits()), open_roster(Limits()):
            print(where(), any(each.unified for each in probe().groups.hierarchies))
            child = subprocess.Popen(["sleep", "100"])
        print(where(), (base / "cgroup.subtree_control").read_text())
        child.kill()
        child.wait()

base = Path(sys.argv[1])
trio.run(main)
print([folder.name for folder in base.iterdir() if folder.is_dir()])
"""


@pytest.fixture
def delegated() -> Iterator[tuple[Path, str]]:
    """Makes a group of version 2 that belongs to an ordinary account. Yields its folder and its controllers."""
    mount = cgroups._mounts().get("")
    if os.geteuid() != 0 or mount is None or not ordinary_python():
        pytest.skip(for_root("only root can delegate a group, where version 2 is mounted"))
    folder = mount[0] / f"delegated-{os.getpid()}"
    control = mount[0] / "cgroup.subtree_control"
    found = (mount[0] / "cgroup.controllers").read_text().split()
    controllers = ["memory", "pids"] if {"memory", "pids"} <= set(found) else found[:1]
    added = " ".join(f"+{name}" for name in controllers if name not in control.read_text().split())
    control.write_text(added)
    folder.mkdir()
    for path in (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"):
        os.chown(path, ORDINARY, ORDINARY)
    try:
        yield folder, ",".join(controllers)
    finally:
        remove_group(folder)
        control.write_text(added.replace("+", "-"))


def test_our_process_returns_to_its_control_group_after_the_run(delegated: tuple[Path, str]) -> None:
    """A group that holds processes cannot limit its children, so the referee leaves it for the run."""
    folder, controllers = delegated
    command = ["sh", "-c", 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"', "sh", str(folder)]
    command += as_account(ORDINARY, ordinary_python(), "-c", ENTERS, str(folder), controllers)
    with shared_cache() as cache:
        env = environment(PATH=os.defpath, HOME="/nonexistent", XDG_CACHE_HOME=cache)
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    group = f"/{folder.name}"
    before, inside, outside, *again = done.stdout.splitlines()
    assert before == group
    assert inside.startswith(f"{group}/referee-")
    assert inside.endswith(" True")
    assert outside == f"{group} "
    assert again == [inside, outside, "[]"]
