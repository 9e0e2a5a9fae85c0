"""Control groups count what nothing else sees. The files of version 2 are tested without a kernel that has them."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from accounts import ORDINARY, as_account, environment, ordinary_python
from scripted import Arena

from referee.harness.errors import RunError
from referee.harness.isolation import plan
from referee.harness.isolation.layers import cgroups
from referee.harness.isolation.layers.cgroups import Groups, Hierarchy
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.probe import probe
from referee.harness.isolation.removal import remove_group
from referee.harness.process.limits import Limits
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


@pytest.mark.trio
async def test_a_group_counts_unreaped_children_and_files_in_memory(arena: Arena) -> None:
    layers = plan.layer_by_guarantee(Isolation())
    if (layers["cpu"], layers["hidden"]) != ("cgroup", "cgroup"):
        pytest.skip("no control groups here that count memory: see `referee doctor`")
    limits = Limits(isolation=Isolation(writable=(str(arena.folder),)))
    rival = arena.bot("greet(); put('C'); put('N'); call()", name="rival")
    verdict = await arena.play(arena.match(arena.bot(UNSEEN), rival), limits, granted_s=10.0)
    assert (verdict.result.reason, verdict.faults) == ("O_WIN", ())
    seat = verdict.seats[0]
    assert seat.cpu_s > 0.75
    assert seat.peak_memory_bytes > 40 << 20


@pytest.mark.trio
@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.004])
async def test_a_cancelled_start_leaves_no_control_group(arena: Arena, after_s: float) -> None:
    hierarchies = probe().groups.hierarchies
    if not hierarchies:
        pytest.skip("no control groups here: see `referee doctor`")
    pattern = f"referee-{os.getpid()}-*"
    async with open_roster(Limits()) as roster:
        with trio.move_on_after(after_s) as scope:
            await roster.start(arena.bot("greet()"))
            await trio.sleep_forever()
        assert scope.cancelled_caught
        await roster.close(orderly=False)
        assert [group for hierarchy in hierarchies for group in hierarchy.base.glob(pattern)] == []


@pytest.mark.trio
async def test_a_start_that_fails_leaves_no_control_group(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchies = probe().groups.hierarchies
    if not hierarchies:
        pytest.skip("no control groups here: see `referee doctor`")

    def full(*_: object) -> list[str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(plan, "sandbox_command", full)
    async with open_roster(Limits()) as roster:
        with pytest.raises(RunError, match="No space left"):
            await roster.start(arena.bot("greet()"))
        pattern = f"referee-{os.getpid()}-*"
        assert [group for hierarchy in hierarchies for group in hierarchy.base.glob(pattern)] == []


def test_the_files_of_version_2_are_written_and_read(tmp_path: Path) -> None:
    """Their names are from Documentation/admin-guide/cgroup-v2.rst."""
    (tmp_path / "memory.swap.max").touch()
    groups = Groups((Hierarchy(tmp_path, frozenset({"memory", "pids", "cpu"}), unified=True),))
    group = groups.make(64 << 20, 10)
    assert group is not None
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
        pytest.skip("only root can delegate a group, where version 2 is mounted")
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
    done = subprocess.run(
        command, env=environment(PATH=os.defpath, HOME="/nonexistent"), capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    group = f"/{folder.name}"
    before, inside, outside, *again = done.stdout.splitlines()
    assert before == group
    assert inside.startswith(f"{group}/referee-")
    assert inside.endswith(" True")
    assert outside == f"{group} "
    assert again == [inside, outside, "[]"]
