"""What is left of a run when it is over: nothing, however it went."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import trio

from referee.harness.isolation.spawner import RESTING, Process, open_spawner
from referee.harness.isolation.supervisor import FLOOR, remove
from referee.harness.process.usage import Meter

pytestmark = pytest.mark.slow

REFEREE = """
import signal, sys, trio
from pathlib import Path
from referee.harness.isolation.spawner import open_spawner

async def main(folder):
    async with open_spawner(folder) as spawner:
        daemon = "setsid sleep 100 & echo started > started; exec sleep 100"
        bot = await spawner.start(["/bin/sh", "-c", daemon], folder, {"PATH": sys.argv[2]})
        while not (folder / "started").exists():
            await trio.sleep(0.001)
        print("ready", flush=True)
        await trio.sleep_forever()

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have had it ignored
trio.run(main, Path(sys.argv[1]))
"""


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run two seconds later. A zombie does not: its parent may take its time to wait for it."""
    until = time.monotonic() + 2
    while found := [process for process in processes if lives(process)]:
        if time.monotonic() > until:
            break
        time.sleep(0.01)
    return found


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def below(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_referee_that_is_ended_leaves_no_process_and_no_scratch_folder(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    command = [sys.executable, "-c", REFEREE, str(folder), os.environ["PATH"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as referee:
        assert referee.stdout is not None
        assert referee.stdout.readline() == b"ready\n"
        started = below(referee.pid)
        referee.send_signal(number)
    assert len(started) == 4, "spawner, supervisor, and the bot with its daemon"
    assert living(started) == []
    until = time.monotonic() + 2
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not folder.exists()


IN_GROUPS = """
import sys, trio
from pathlib import Path
from referee.harness.isolation.spawner import open_spawner

async def main(folder):
    async with open_spawner() as spawner:
        for number in range(3):
            group = folder / f"referee-{number}"
            group.mkdir()
            bot = await spawner.start(["sleep", "100"], folder, {"PATH": sys.argv[2]}, groups=[str(group)])
            if number < 2:
                await bot.end()
                group.rmdir()
        print("ready", flush=True)
        await trio.sleep_forever()

trio.run(main, Path(sys.argv[1]))
"""


def test_a_referee_that_is_killed_leaves_no_control_group(tmp_path: Path) -> None:
    """Nor that of a bot that was not its supervisor's first. A group is a folder, and removed as one."""
    command = [sys.executable, "-c", IN_GROUPS, str(tmp_path), os.environ["PATH"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        assert referee.stdout.readline() == b"ready\n"
        assert [folder.name for folder in tmp_path.iterdir()] == ["referee-2"]
        referee.kill()
    until = time.monotonic() + 2
    while (tmp_path / "referee-2").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not (tmp_path / "referee-2").exists()


@pytest.mark.trio
async def test_a_spawner_leaves_control_groups_alone_while_the_referee_lives(tmp_path: Path) -> None:
    """Another run of the same referee may have made one and not put a bot into it yet."""
    for number in (1, 2):
        (tmp_path / f"referee-{number}").mkdir()
    async with open_spawner() as spawner:
        groups = [str(tmp_path / "referee-1")]
        bot = await spawner.start(["sleep", "100"], tmp_path, {"PATH": os.environ["PATH"]}, groups=groups)
        await bot.end()
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["referee-1", "referee-2"]


@pytest.mark.trio
async def test_what_a_killed_supervisor_leaves_is_ended_while_the_run_goes_on(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        killed = await spawner.start(["sh", "-c", "setsid sleep 100 & exec sleep 100"], tmp_path, env)
        other = await spawner.start(["sleep", "100"], tmp_path, env)
        started = below(killed.supervisor)
        os.kill(killed.supervisor, signal.SIGKILL)
        assert living(started) == []
        assert psutil.pid_exists(other.pid), "no other bot comes to harm"
        for process in (killed, other):
            await process.end()


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="nobody but root can do so")
RUNS_AGAIN = pytest.mark.skipif(FLOOR, reason="the portable floor has a supervisor for each bot")


@RUNS_AGAIN
@pytest.mark.trio
async def test_a_supervisor_runs_one_bot_after_another_and_no_order_of_the_last_ends_the_next(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        first = await spawner.start(["sh", "-c", "setsid sleep 100 & exec sleep 100"], tmp_path, env)
        left = below(first.supervisor)
        first.kill()
        await first.end()
        assert psutil.wait_procs(left, timeout=0)[1] == [], "nothing of it is left when it has ended"
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        assert second.supervisor == first.supervisor
        first.kill()
        await trio.sleep(0.1)
        assert psutil.pid_exists(second.pid)
        await second.end()
        assert not psutil.pid_exists(second.pid)
        third = await spawner.start(["sh", "-c", "exit 7"], tmp_path, env)
        assert (third.supervisor, await third.exited(10)) == (first.supervisor, 7)
        await third.end()
        limited = await spawner.start(["sleep", "100"], tmp_path, env, {"NOFILE": 64})
        assert limited.supervisor != first.supervisor, "whoever has limits cannot shed them"
        await limited.end()
    assert not psutil.pid_exists(first.supervisor)


@RUNS_AGAIN
@pytest.mark.trio
async def test_a_bot_is_charged_for_nothing_that_its_supervisor_ran_before(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        burn = "import time; until = time.process_time() + 0.3\nwhile time.process_time() < until: pass"
        first = await spawner.start([sys.executable, "-I", "-S", "-c", burn], tmp_path, env)
        assert await first.exited(20) == 0
        await first.end()
        assert first.cpu_s is not None and first.cpu_s >= 0.3
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        assert second.supervisor == first.supervisor
        assert Meter(second.pid, second.root, reaped_s=second.before_s).read_now().cpu_s < 0.1
        await second.end()
        assert second.cpu_s is not None and second.cpu_s < 0.1


@RUNS_AGAIN
@pytest.mark.trio
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_supervisor_that_somebody_has_ended_while_it_waited_is_not_missed(tmp_path: Path, number: int) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        first = await spawner.start(["sleep", "100"], tmp_path, env)
        await first.end()
        os.kill(first.supervisor, number)
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        assert second.supervisor != first.supervisor
        assert psutil.pid_exists(second.pid)
        await second.end()
    assert not psutil.pid_exists(first.supervisor)


@RUNS_AGAIN
@pytest.mark.trio
async def test_supervisors_that_were_all_stopped_are_not_waited_for_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.harness.isolation.spawner.SPAWNER_S", 1.0)
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        bots = [await spawner.start(["sleep", "100"], tmp_path, env) for _ in range(4)]
        for bot in bots:
            await bot.end()
            os.kill(bot.supervisor, signal.SIGSTOP)
        begun = time.monotonic()
        another = await spawner.start(["sleep", "100"], tmp_path, env)
        assert time.monotonic() - begun < 2
        with trio.fail_after(10):  # nor left as they are until the run ends
            while any(psutil.pid_exists(bot.supervisor) for bot in bots):
                await trio.sleep(0.02)
        await another.end()
    assert not any(psutil.pid_exists(bot.supervisor) for bot in bots)


@RUNS_AGAIN
@pytest.mark.trio
@pytest.mark.parametrize(
    "change",
    [
        lambda pid: psutil.Process(pid).nice(5),
        lambda pid: psutil.Process(pid).rlimit(psutil.RLIMIT_CPU, (1, 1)),
        lambda pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
        lambda pid: psutil.Process(pid).ionice(psutil.IOPRIO_CLASS_IDLE),
        pytest.param(lambda pid: Path(f"/proc/{pid}/oom_score_adj").write_text("900"), marks=AS_ROOT),
        pytest.param(lambda pid: Path(f"/proc/{pid}/timerslack_ns").write_text("900000000"), marks=AS_ROOT),
    ],
    ids=["slower", "limited", "idle", "slow disk", "first to be killed", "late timers"],
)
async def test_what_a_bot_does_to_its_supervisor_no_other_bot_has(
    tmp_path: Path, change: Callable[[int], object]
) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        first = await spawner.start(["sleep", "100"], tmp_path, env)
        change(first.supervisor)
        await first.end()
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        assert second.supervisor != first.supervisor
        await second.end()


@RUNS_AGAIN
@pytest.mark.trio
async def test_no_bot_has_the_keys_of_the_one_before(tmp_path: Path) -> None:
    """A process can give its parent the keyring of its session."""
    gives = """
import ctypes, os, sys
keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
own, to_parent = 1, 18
call = ctypes.CDLL(None).syscall
sys.exit(0 if call(keyctl, own, b"own") > 0 and call(keyctl, to_parent) == 0 else 1)
"""
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        first = await spawner.start([sys.executable, "-I", "-S", "-c", gives], tmp_path, env)
        code = await first.exited(20)
        await first.end()
        if code != 0:
            pytest.skip("this kernel, or whoever contains us, gives nobody keys")
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        assert second.supervisor != first.supervisor
        await second.end()


@RUNS_AGAIN
@pytest.mark.trio
async def test_what_a_bot_does_to_the_spawner_no_later_bot_has(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        first = await spawner.start(["sleep", "100"], tmp_path, env)
        parent = psutil.Process(first.supervisor).parent()
        assert parent is not None
        parent.ionice(psutil.IOPRIO_CLASS_IDLE)
        parent.nice(os.getpriority(os.PRIO_PROCESS, 0) + 1)
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        bot = psutil.Process(second.pid)
        assert (bot.ionice(), bot.nice()) == (psutil.Process().ionice(), psutil.Process().nice())
        assert psutil.pid_exists(first.pid), "whoever plays comes to no harm"
        for process in (first, second):
            await process.end()


@RUNS_AGAIN
@pytest.mark.trio
@pytest.mark.parametrize(
    "harm",
    [
        lambda process: process.send_signal(signal.SIGINT),
        lambda process: process.rlimit(psutil.RLIMIT_AS, (1 << 20, 1 << 20)),
        lambda process: process.rlimit(psutil.RLIMIT_NOFILE, (4, 4)),
    ],
    ids=["interrupted", "no memory", "no descriptors"],
)
@pytest.mark.parametrize("spawners", [False, True], ids=["supervisor", "spawner"])
async def test_no_traceback_of_ours_tells_of_what_a_bot_did(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], harm: Callable[[psutil.Process], object], spawners: bool
) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        first = await spawner.start(["sleep", "100"], tmp_path, env)
        process = psutil.Process(first.supervisor)
        parent = process.parent()
        assert parent is not None
        harm(parent if spawners else process)
        if not spawners:
            await first.end()
        second = await spawner.start(["sleep", "100"], tmp_path, env)
        assert psutil.pid_exists(second.pid)
        for bot in (first, second):
            if not bot.closed:
                await bot.end()
    assert capfd.readouterr().err == ""


@RUNS_AGAIN
@pytest.mark.trio
async def test_so_many_supervisors_wait_and_no_more(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        env = {"PATH": os.environ["PATH"]}
        bots = [await spawner.start(["sleep", "100"], tmp_path, env) for _ in range(RESTING + 3)]
        for bot in bots:
            await bot.end()
        supervisors = [psutil.Process(bot.supervisor) for bot in bots if psutil.pid_exists(bot.supervisor)]
        psutil.wait_procs(supervisors, timeout=2)
        assert sum(process.is_running() for process in supervisors) == RESTING


def test_a_folder_with_whatever_a_bot_has_made_of_it_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("no bot's")
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"\xff\n\x1b[31m")).write_text("")
    closed = folder / "closed"
    (closed / "inside" / "more").mkdir(parents=True)
    (closed / "inside" / "file").write_text("")
    for path in (closed / "inside", closed, folder):
        path.chmod(0)
    remove(folder)
    assert list(tmp_path.iterdir()) == [kept]


def test_folders_inside_each_other_are_removed_at_any_depth(tmp_path: Path) -> None:
    """Longer than any path, and deeper than Python's stack."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    inside = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=inside)
        deeper = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)
    remove(folder)
    assert not folder.exists()


def test_a_link_in_the_place_of_a_folder_is_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "folder" / "kept"
    kept.parent.mkdir()
    kept.write_text("")
    link = tmp_path / "link"
    link.symlink_to(kept.parent)
    remove(link)
    assert kept.exists()
    assert not link.is_symlink()


def test_to_remove_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path / "gone")


@pytest.mark.trio
@pytest.mark.parametrize(
    "words", [b"nonsense", b"[1]", b"{}", b'{"pid":"7","root":7}', b'{"pid":-1,"root":-1}', b'{"pid":7}', b"\xff"]
)
async def test_who_speaks_for_a_supervisor_has_ended_it(words: bytes) -> None:
    control, theirs = socket.socketpair()
    control.setblocking(False)
    bot_stdin, stdin = os.pipe()
    os.close(bot_stdin)
    process = Process(control, stdin, os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_RDONLY))
    with theirs, subprocess.Popen(["sleep", "60"]) as supervisor:
        theirs.send(b'{"supervisor":%d}\n%b\n' % (supervisor.pid, words))
        assert await process.started()
        assert supervisor.wait(10) == -signal.SIGKILL
    assert (process.pid, await process.exited(10)) == (supervisor.pid, None)
    process.close()
