"""Control groups: what they count that nobody else sees, and the files of version 2, which not every machine has."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import trio
from accounts import ORDINARY, ordinary_python
from scripted import Arena

from referee.harness.errors import RunError
from referee.harness.isolation import plan
from referee.harness.isolation.layers import cgroups
from referee.harness.isolation.layers.cgroups import Groups, Hierarchy
from referee.harness.isolation.plan import Isolation
from referee.harness.paths import HOME
from referee.harness.process.limits import Limits
from referee.harness.seats.roster import open_roster

UNSEEN = """
greet(); put('NW'); asked = call()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel books such children to nobody
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
answer(asked, cell('W')); put('SW')
"""


@pytest.mark.trio
async def test_a_group_counts_children_that_nobody_waits_for_and_files_in_memory(arena: Arena) -> None:
    kept = plan.table(Isolation())
    if (kept["cpu"], kept["hidden"]) != ("cgroup", "cgroup"):
        pytest.skip("no control groups here that count memory: `referee doctor` tells what to do")
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
    hierarchies = plan.found().groups.hierarchies
    if not hierarchies:
        pytest.skip("no control groups here: `referee doctor` tells what to do")
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
    hierarchies = plan.found().groups.hierarchies
    if not hierarchies:
        pytest.skip("no control groups here: `referee doctor` tells what to do")

    def full(*_: object) -> list[str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(plan, "_composed", full)
    async with open_roster(Limits()) as roster:
        with pytest.raises(RunError, match="No space left"):
            await roster.start(arena.bot("greet()"))
        pattern = f"referee-{os.getpid()}-*"
        assert [group for hierarchy in hierarchies for group in hierarchy.base.glob(pattern)] == []


def test_the_files_of_version_2_are_written_and_read(tmp_path: Path) -> None:
    """As the kernel's documentation has them (Documentation/admin-guide/cgroup-v2.rst)."""
    (tmp_path / "memory.swap.max").touch()
    groups = Groups((Hierarchy(tmp_path, frozenset({"memory", "pids", "cpu"}), unified=True),))
    group = groups.make(64 << 20, 10)
    folder = Path(group.paths()[0])
    limits = {name: (folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")}
    assert limits == {"memory.max": str(64 << 20), "memory.swap.max": "0", "pids.max": "40"}
    assert not group.out_of_memory()
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n")
    (folder / "memory.stat").write_text("anon 1000\nfile 5000\nkernel 300\nshmem 70\n")
    (folder / "cpu.stat").write_text("usage_usec 1520000\nuser_usec 1500000\nsystem_usec 20000\n")
    assert group.out_of_memory()
    assert (group.memory_bytes(), group.cpu_s()) == (1070, 1.52)
    assert group.steps(forks=True) == ["bornin", str(folder)]
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
from referee.harness.isolation import plan

def where():
    return next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))

async def main():
    plan.found()
    print(where())
    for _ in range(2):
        async with open_roster(Limits()), open_roster(Limits()):
            print(where(), any(each.unified for each in plan.found().groups.hierarchies))
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
    """A group of version 2 that belongs to an ordinary account, with the controllers that it can hand on."""
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
        cgroups.remove_group(folder)
        control.write_text(added.replace("+", "-"))


def test_the_calling_process_ends_in_the_control_group_in_which_it_began(delegated: tuple[Path, str]) -> None:
    """A group that holds processes cannot give limits to the groups in it, so the referee leaves it for a while."""
    folder, controllers = delegated
    packages = os.pathsep.join([str(HOME), os.path.dirname(os.path.dirname(msgspec.__file__))])
    environment = {"PATH": os.defpath, "HOME": "/nonexistent", "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}
    command = ["sh", "-c", 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"', "sh", str(folder)]
    command += ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups"]
    command += [ordinary_python(), "-c", ENTERS, str(folder), controllers]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    here = f"/{folder.name}"
    found, inside, outside, *again = done.stdout.splitlines()
    assert found == here
    assert inside.startswith(f"{here}/referee-")
    assert inside.endswith(" True")
    assert outside == f"{here} "
    assert again == [inside, outside, "[]"]
