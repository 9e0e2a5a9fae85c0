"""Control groups: what they count that nobody else sees, and the files of version 2, which not every machine has."""

import os
from pathlib import Path

import pytest
import trio
from scripted import Arena

from referee.harness.bots.limits import Limits
from referee.harness.bots.roster import open_roster
from referee.harness.sandbox import layers
from referee.harness.sandbox.cgroups import Groups, Hierarchy
from referee.harness.sandbox.layers import Isolation

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
    kept = layers.table(Isolation())
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
    hierarchies = layers.found().groups.hierarchies
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
