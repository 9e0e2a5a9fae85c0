"""Supervisors and the spawner end every process of a run, whatever happens."""

import json
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
from needs import for_root

from referee.harness.isolation.layers.cgroups import Group, Hierarchy
from referee.harness.isolation.plan import Sandbox
from referee.harness.isolation.spawner import MAX_IDLE, Ends, open_spawner
from referee.harness.isolation.supervisor import PORTABLE
from referee.harness.isolation.supervisor_link import SupervisorLink
from referee.harness.process.bot_process import BotProcess, State

pytestmark = pytest.mark.slow
ENV = {"PATH": os.environ["PATH"]}

REFEREE = """
import signal, sys, trio
from pathlib import Path
from referee.harness.isolation.spawner import open_spawner
from referee.harness.process.bot_process import BotProcess

async def main(folder):
    async with open_spawner(folder) as spawner:
        daemon = "setsid sleep 100 & echo started > started; exec sleep 100"
        bot = await spawner.start(["/bin/sh", "-c", daemon], folder, {"PATH": sys.argv[2]}, BotProcess)
        while not (folder / "started").exists():
            await trio.sleep(0.001)
        print("ready", flush=True)
        await trio.sleep_forever()

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored
trio.run(main, Path(sys.argv[1]))
"""


INIT = """
import json, os, socket
from referee.harness.isolation.supervisor import LaunchedProgram, wakeup_pipe, watch

mine, launchers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
control, referee = socket.socketpair()
begin, begun = os.pipe()
wakeup = wakeup_pipe()
init = os.fork()
if init == 0:
    os.read(begin, 1)
    launchers.send(b"exit 256 0 0")
    os._exit(0)
launchers.close()
forker = os.fork()
if forker == 0:
    os._exit(0)  # as the process that has forked `init` does
os.waitid(os.P_PID, forker, os.WEXITED | os.WNOWAIT)
looks = []

def look():
    if not looks:  # the supervisor knows that a child has ended, and has not asked which
        os.write(begun, b"x")
        os.waitid(os.P_PID, init, os.WEXITED | os.WNOWAIT)
    looks.append(None)

print(json.dumps(watch(control.fileno(), wakeup, LaunchedProgram(init, init, mine), look, until_empty=True)[1]))
"""


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Returns the processes that still run two seconds later. Zombies do not count: their parent may be slow."""
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
def test_a_killed_referee_leaves_no_process_and_no_scratch_folder(tmp_path: Path, number: int) -> None:
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
from referee.harness.isolation.layers.cgroups import Group, Hierarchy
from referee.harness.isolation.plan import Sandbox
from referee.harness.isolation.spawner import open_spawner
from referee.harness.process.bot_process import BotProcess

async def main(folder):
    async with open_spawner() as spawner:
        for number in range(3):
            group = folder / f"referee-{number}"
            group.mkdir()
            sandbox = Sandbox(group=Group([(group, Hierarchy(folder, frozenset(), unified=False))]))
            bot = await spawner.start(["sleep", "100"], folder, {"PATH": sys.argv[2]}, BotProcess, sandbox=sandbox)
            if number < 2:
                await bot.end()
        print("ready", flush=True)
        await trio.sleep_forever()

trio.run(main, Path(sys.argv[1]))
"""


def test_a_killed_referee_leaves_no_control_group(tmp_path: Path) -> None:
    """Even if the bot was not the first of its supervisor. A group is removed like any empty folder."""
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
async def test_a_spawner_removes_no_control_group_while_the_referee_lives(tmp_path: Path) -> None:
    """Another run of the same referee may just have made one."""
    for number in (1, 2):
        (tmp_path / f"referee-{number}").mkdir()
    async with open_spawner() as spawner:
        group = Group([(tmp_path / "referee-1", Hierarchy(tmp_path, frozenset(), unified=False))])
        bot = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess, sandbox=Sandbox(group=group))
        await bot.end()
    assert [folder.name for folder in tmp_path.iterdir()] == ["referee-2"]


@pytest.mark.trio
async def test_the_spawner_ends_the_processes_of_a_killed_supervisor(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        killed = await spawner.start(["sh", "-c", "setsid sleep 100 & exec sleep 100"], tmp_path, ENV, BotProcess)
        other = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        started = below(killed.link.pid)
        os.kill(killed.link.pid, signal.SIGKILL)
        assert living(started) == []
        assert psutil.pid_exists(other.pid), "other bots are unharmed"
        for process in (killed, other):
            await process.end()


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason=for_root("only root can do so"))
RUNS_AGAIN = pytest.mark.skipif(PORTABLE, reason="the portable sandbox starts a supervisor per bot")


@RUNS_AGAIN
@pytest.mark.trio
async def test_a_supervisor_runs_several_bots_and_a_late_kill_of_one_does_not_end_the_next(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        first = await spawner.start(["sh", "-c", "setsid sleep 100 & exec sleep 100"], tmp_path, ENV, BotProcess)
        left = below(first.link.pid)
        first.kill()
        await first.end()
        assert psutil.wait_procs(left, timeout=0)[1] == [], "all of its processes have ended"
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert second.link.pid == first.link.pid
        first.kill()
        await trio.sleep(0.1)
        assert psutil.pid_exists(second.pid)
        await second.end()
        assert not psutil.pid_exists(second.pid)
        third = await spawner.start(["sh", "-c", "exit 7"], tmp_path, ENV, BotProcess)
        assert (third.link.pid, await third.exited(10)) == (first.link.pid, 7)
        await third.end()
        limited = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess, {"NOFILE": 64})
        assert limited.link.pid != first.link.pid, "limits cannot be raised again"
        await limited.end()
    assert not psutil.pid_exists(first.link.pid)


@RUNS_AGAIN
@pytest.mark.trio
async def test_a_supervisor_is_idle_when_its_bot_has_exited_and_nothing_is_left(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        first = await spawner.start(["sh", "-c", "exit 3"], tmp_path, ENV, BotProcess)
        assert await first.exited(10) == 3
        first.kill()
        await first.end()
        left = await spawner.start(["sh", "-c", "setsid sleep 100 & exit 4"], tmp_path, ENV, BotProcess)
        assert (left.link.pid, await left.exited(10)) == (first.link.pid, 4)
        started = below(left.link.pid)
        assert started, "what the bot has left runs until its end"
        await left.end()
        assert living(started) == []
        assert left.cpu_s is not None


@RUNS_AGAIN
@pytest.mark.trio
async def test_a_bot_is_not_charged_for_earlier_bots_of_its_supervisor(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        burn = "import time; until = time.process_time() + 0.3\nwhile time.process_time() < until: pass"
        first = await spawner.start([sys.executable, "-I", "-S", "-c", burn], tmp_path, ENV, BotProcess)
        assert await first.exited(20) == 0
        await first.end()
        assert first.cpu_s is not None and first.cpu_s >= 0.3
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert second.link.pid == first.link.pid
        assert second.meter.read_now().cpu_s < 0.1
        await second.end()
        assert second.cpu_s is not None and second.cpu_s < 0.1


@RUNS_AGAIN
@pytest.mark.trio
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_killed_or_stopped_idle_supervisor_is_replaced(tmp_path: Path, number: int) -> None:
    async with open_spawner() as spawner:
        first = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        await first.end()
        os.kill(first.link.pid, number)
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert second.link.pid != first.link.pid
        assert psutil.pid_exists(second.pid)
        await second.end()
    assert not psutil.pid_exists(first.link.pid)


@RUNS_AGAIN
@pytest.mark.trio
async def test_the_spawner_does_not_wait_for_each_stopped_idle_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.harness.isolation.spawner.SPAWNER_S", 1.0)
    async with open_spawner() as spawner:
        bots = [await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess) for _ in range(4)]
        for bot in bots:
            await bot.end()
            os.kill(bot.link.pid, signal.SIGSTOP)
        begun = time.monotonic()
        another = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert time.monotonic() - begun < 2
        with trio.fail_after(10):  # they are ended before the run ends
            while any(psutil.pid_exists(bot.link.pid) for bot in bots):
                await trio.sleep(0.02)
        await another.end()
    assert not any(psutil.pid_exists(bot.link.pid) for bot in bots)


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
async def test_a_changed_supervisor_runs_no_other_bot(tmp_path: Path, change: Callable[[int], object]) -> None:
    async with open_spawner() as spawner:
        first = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        change(first.link.pid)
        await first.end()
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert second.link.pid != first.link.pid
        await second.end()


@RUNS_AGAIN
@pytest.mark.trio
async def test_no_bot_inherits_the_keys_of_an_earlier_bot(tmp_path: Path) -> None:
    """A process can replace the session keyring of its parent."""
    give_keys = """
import ctypes, os, sys
keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
own, to_parent = 1, 18
call = ctypes.CDLL(None).syscall
sys.exit(0 if call(keyctl, own, b"own") > 0 and call(keyctl, to_parent) == 0 else 1)
"""
    async with open_spawner() as spawner:
        first = await spawner.start([sys.executable, "-I", "-S", "-c", give_keys], tmp_path, ENV, BotProcess)
        code = await first.exited(20)
        await first.end()
        if code != 0:
            pytest.skip("keys are not available here")
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert second.link.pid != first.link.pid
        await second.end()


@RUNS_AGAIN
@pytest.mark.trio
async def test_a_changed_spawner_starts_no_other_bot(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        first = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        parent = psutil.Process(first.link.pid).parent()
        assert parent is not None
        parent.ionice(psutil.IOPRIO_CLASS_IDLE)
        parent.nice(os.getpriority(os.PRIO_PROCESS, 0) + 1)
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        bot = psutil.Process(second.pid)
        assert (bot.ionice(), bot.nice()) == (psutil.Process().ionice(), psutil.Process().nice())
        assert psutil.pid_exists(first.pid), "bots that play are unharmed"
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
async def test_an_attack_on_a_supervisor_or_spawner_prints_no_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], harm: Callable[[psutil.Process], object], spawners: bool
) -> None:
    async with open_spawner() as spawner:
        first = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        process = psutil.Process(first.link.pid)
        parent = process.parent()
        assert parent is not None
        harm(parent if spawners else process)
        if not spawners:
            await first.end()
        second = await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess)
        assert psutil.pid_exists(second.pid)
        for bot in (first, second):
            if bot.state is not State.GONE:
                await bot.end()
    assert capfd.readouterr().err == ""


@RUNS_AGAIN
@pytest.mark.trio
async def test_the_number_of_idle_supervisors_is_limited(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        bots = [await spawner.start(["sleep", "100"], tmp_path, ENV, BotProcess) for _ in range(MAX_IDLE + 3)]
        for bot in bots:
            await bot.end()
        supervisors = [psutil.Process(bot.link.pid) for bot in bots if psutil.pid_exists(bot.link.pid)]
        psutil.wait_procs(supervisors, timeout=2)
        assert sum(process.is_running() for process in supervisors) == MAX_IDLE


@pytest.mark.trio
@pytest.mark.parametrize(
    "words", [b"nonsense", b"[1]", b"{}", b'{"pid":"7","root":7}', b'{"pid":-1,"root":-1}', b'{"pid":7}', b"\xff"]
)
async def test_a_supervisor_is_killed_after_a_message_that_it_cannot_have_sent(words: bytes) -> None:
    control, theirs = socket.socketpair()
    control.setblocking(False)
    bot_stdin, stdin = os.pipe()
    os.close(bot_stdin)
    outputs = os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_RDONLY)
    process = BotProcess(Ends(SupervisorLink(control), stdin, *outputs, {}, None, Group.remove))
    with theirs, subprocess.Popen(["sleep", "60"]) as supervisor:
        theirs.send(b'{"supervisor":%d}\n%b\n' % (supervisor.pid, words))
        assert await process.started(10)
        assert supervisor.wait(10) == -signal.SIGKILL
    assert (process.pid, await process.exited(10)) == (supervisor.pid, None)
    await process.end()


@pytest.mark.skipif(PORTABLE, reason="only Linux has process namespaces")
def test_the_exit_of_the_first_process_of_a_namespace_is_never_taken_for_the_bots() -> None:
    done = subprocess.run([sys.executable, "-c", INIT], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["exit"] == 1, done.stderr
