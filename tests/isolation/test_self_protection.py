"""Self-protection of the referee's process while bots run under the same account."""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import trio
from scripted import Arena

from referee.harness.isolation import self_protection
from referee.harness.isolation.plan import OFF
from referee.harness.isolation.self_protection import PR_GET_DUMPABLE, guarded
from referee.harness.isolation.spawner import open_spawner
from referee.harness.isolation.supervisor import PORTABLE
from referee.harness.match.match import play
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.limits import Limits
from referee.harness.seats.roster import open_roster

KILLER = """
def parent(pid):
    return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])
supervisor = os.getppid()
spawner = parent(supervisor)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        for descriptor in range(3): os.close(descriptor)
        os.kill(spawner, signal.SIGKILL); os.kill(supervisor, signal.SIGKILL)
        while True: signal.pause()
    os._exit(0)
os.wait(); greet(); call()
"""


LOWERS_MARK = "import resource; resource.setrlimit(10, (5, 5))\n"  # RLIMIT_LOCKS


def dumpable() -> int:
    state: int = ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)
    return state


@pytest.mark.trio
@pytest.mark.parametrize("before", ["", LOWERS_MARK])
async def test_a_daemon_ends_with_the_match_even_if_the_bot_kills_supervisor_and_spawner(
    arena: Arena, before: str
) -> None:
    match = arena.match(arena.bot(before + KILLER), arena.bot("greet(); put('C'); put('E'); call()", name="rival"))
    others = set(psutil.Process().children())
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(2):
            verdict = await play(match, roster)
            assert [fault.player for fault in verdict.faults] == [0]
            assert not [line for line in arena.running() if "bot.py" in line]
            children = set(psutil.Process().children()) - others
            assert [child for child in children if child.status() == psutil.STATUS_ZOMBIE] == []
    assert arena.alive() == []


def test_bots_cannot_read_the_memory_of_the_referee() -> None:
    before = dumpable()
    with guarded():
        assert dumpable() == 0
    assert dumpable() == before


def children() -> list[psutil.Process]:
    return psutil.Process().children()


@pytest.mark.skipif(PORTABLE, reason="only Linux hands us the orphans of other programs")
def test_an_orphan_that_we_adopt_while_matches_are_played_is_waited_for() -> None:
    others = children()
    with guarded():
        subprocess.run(["sh", "-c", "sleep 0.01 & sleep 60 &"], start_new_session=True, check=True)
        short, long = sorted([each for each in children() if each not in others], key=lambda each: each.pid)
        os.waitid(os.P_PID, short.pid, os.WEXITED | os.WNOWAIT)
        self_protection.wait_for_adopted()
        assert [each for each in children() if each not in others] == [long]
        long.kill()
        self_protection.wait_for_adopted(20)
        assert children() == others


@pytest.mark.parametrize("new_session", [False, True])
def test_the_exit_code_of_a_child_of_the_calling_program_is_left_to_it(new_session: bool) -> None:
    with guarded():
        child = subprocess.Popen(["sh", "-c", "exit 7"], start_new_session=new_session)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self_protection.wait_for_adopted(0.01)
    assert child.wait() == 7


def test_after_a_killed_spawner_the_calling_program_keeps_its_own_children(tmp_path: Path) -> None:
    """Children of any session, their orphans, other spawners, and children that it starts later."""
    source = """
import os, signal, subprocess, sys, threading
from pathlib import Path
import trio
from referee.harness.isolation import job
from referee.harness.isolation.spawner import open_spawner
from referee.harness.process.bot_process import BotProcess

env = {"PATH": os.environ["PATH"]}
folder = Path(sys.argv[1])

def child(session):
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(["sleep", "20"], start_new_session=session, **nowhere)

def orphan():
    command = ["sh", "-c", "setsid sleep 20 >/dev/null 2>&1 & echo $!"]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

def build():
    script = "touch building; while [ ! -e built ]; do sleep 0.05; done"
    print(job.run(["sh", "-c", script], folder, env, lambda _: None).code)

def runs(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"

async def main():
    children = [child(session=False), child(session=True)]
    builder = threading.Thread(target=build)
    builder.start()
    while not (folder / "building").exists():
        await trio.sleep(0.001)
    async with open_spawner() as other, open_spawner() as spawner:
        others = [await other.start(["sleep", "100"], folder, env, BotProcess)]
        bot = await spawner.start(["sleep", "100"], folder, env, BotProcess)
        orphans = [orphan()]
        os.kill(spawner._process.pid, signal.SIGKILL)
        spawner._process.wait()
        children.append(child(session=True))
        orphans.append(orphan())
        spawner.end_strays()
        print([child.poll() for child in children], [runs(pid) for pid in orphans], other._process.poll())
        print(await bot.exited(0.1), await others[0].exited(0.1))
        await bot.end()
        await others[0].end()
    (folder / "built").touch()
    builder.join()
    print([child.poll() for child in children], [runs(pid) for pid in orphans])
    for pid in [*orphans, *(child.pid for child in children)]:
        os.kill(pid, signal.SIGKILL)
trio.run(main)
"""
    command = [sys.executable, "-c", source, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "[None, None, None] [True, True] None",
        "None None",
        "0",
        "[None, None, None] [True, True]",
    ]


@pytest.mark.trio
async def test_strays_are_recognised_in_any_session_and_environment(tmp_path: Path) -> None:
    async with open_spawner() as spawner:
        daemon = "setsid env -i setsid /bin/sh -c 'echo > started; exec /bin/sleep 100' & exec sleep 100"
        bot = await spawner.start(["sh", "-c", daemon], tmp_path, {"PATH": os.environ["PATH"]}, BotProcess)
        while not (tmp_path / "started").exists():
            await trio.sleep(0.001)
        below = psutil.Process(bot.link.pid).children(recursive=True)
        os.kill(spawner._process.pid, signal.SIGKILL)
        spawner._process.wait()
        os.kill(bot.link.pid, signal.SIGKILL)
        await bot.end()
        spawner.end_strays()
        assert [process for process in below if process.is_running()] == []


@pytest.mark.parametrize("argument", [["--seed", "123457"], ["--seed=123457"]])
def test_the_command_line_does_not_show_the_seed(argument: list[str]) -> None:
    source = """
import sys
from referee.harness.isolation.self_protection import hide_option
hide_option("--seed")
print(open("/proc/self/cmdline").read().split(chr(0))[3:], sys.argv[1:])
"""
    command = [sys.executable, "-c", source, "--game", "g", *argument, "last"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    shown, kept = done.stdout.split("] [")
    assert "123457" not in shown
    assert "******" in shown
    assert "'g'" in shown
    assert "'last'" in shown
    assert "123457" in kept


def test_a_bot_cannot_read_the_seed_from_the_processes_above_it(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import os, sys\npid, lines = os.getpid(), []\n"
        "while pid > 1:\n"
        " lines.append(open(f'/proc/{pid}/cmdline').read())\n"
        " pid = int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])\n"
        f" if pid == {os.getpid()}: break\n"
        "print(lines, file=sys.stderr)\n"
    )
    command = [sys.executable, "-m", "referee.harness.cli.main", "--game", "tictactoe", "--seed", "8675309"]
    replay = tmp_path / "match.jsonl"
    command += ["--isolation", "off", "--replay", str(replay), str(bot), "@random"]
    subprocess.run(command, capture_output=True, timeout=60, check=True, cwd=tmp_path)
    stderr = (tmp_path / "match.seat0.stderr").read_text()
    assert "tictactoe" in stderr
    assert "8675309" not in stderr
