"""What the referee's own process does for itself while bots run under the same account."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from scripted import Arena

from referee.harness.bots.limits import Limits
from referee.harness.bots.roster import open_roster
from referee.harness.match.referee import play
from referee.harness.sandbox.layers import OFF
from referee.harness.sandbox.ourselves import PR_GET_DUMPABLE, guarded

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


def dumpable() -> int:
    state: int = ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)
    return state


@pytest.mark.trio
async def test_a_daemon_of_a_bot_that_kills_supervisor_and_spawner_is_ended_with_the_match(arena: Arena) -> None:
    match = arena.match(arena.bot(KILLER), arena.bot("greet(); put('C'); put('E'); call()", name="rival"))
    others = set(psutil.Process().children())
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(2):
            verdict = await play(match, roster)
            assert [fault.player for fault in verdict.faults] == [0]
            assert not [line for line in arena.running() if "bot.py" in line]
            children = set(psutil.Process().children()) - others
            assert [child for child in children if child.status() == psutil.STATUS_ZOMBIE] == []
    assert arena.alive() == []


def test_our_memory_cannot_be_read_while_bots_run() -> None:
    before = dumpable()
    with guarded():
        assert dumpable() == 0
    assert dumpable() == before


def test_a_child_of_our_own_program_is_no_stray(tmp_path: Path) -> None:
    """Whoever uses the referee as a library may have children; only what came from a killed spawner is ended."""
    source = """
import subprocess, sys, os, signal, trio
from pathlib import Path
from referee.harness.sandbox.spawner import open_spawner
own = subprocess.Popen(["sleep", "100"])
async def main():
    async with open_spawner() as spawner:
        bot = await spawner.start(["sleep", "100"], Path("."), {"PATH": os.environ["PATH"]})
        os.kill(spawner._process.pid, signal.SIGKILL)
        spawner._process.wait()
        spawner.end_strays()
        print(own.poll(), await bot.exited(0.1))
        await bot.end()
trio.run(main)
print(own.poll())
own.kill()
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "None None\nNone\n"


@pytest.mark.parametrize("argument", [["--seed", "123457"], ["--seed=123457"]])
def test_the_seed_does_not_stay_in_the_command_line(argument: list[str]) -> None:
    source = """
import sys
from referee.harness.sandbox.ourselves import hide_option
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


def test_a_match_hides_its_seed(tmp_path: Path) -> None:
    """Read by the bot itself from whatever stands above it."""
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
    heard = (tmp_path / "match.seat0.stderr").read_text()
    assert "tictactoe" in heard
    assert "8675309" not in heard
