"""Signals to a running command, and closed pipes: bots end, results stay, and the exit code says why."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from builds import sleepers
from scripted import Arena

from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

pytestmark = pytest.mark.slow

LOSER = "greet(); put('C'); put('E'); call()"
REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
HANGS = ("--game", "tictactoe", "hangs.py", "waits.py", "--call-time", "60s", "--replay", "match.jsonl")


def start(arena: Arena, *argv: str) -> "subprocess.Popen[str]":
    """Starts the command line as a process, with its scratch folders in the arena's folder."""
    env = {**os.environ, "TMPDIR": str(arena.folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command, pipe = [*REFEREE, *argv], subprocess.PIPE
    return subprocess.Popen(
        command, cwd=arena.folder, env=env, stdout=pipe, stderr=pipe, text=True, preexec_fn=reset_signals
    )


def reset_signals() -> None:
    """Undoes that a shell with `&` makes its children ignore signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def hanging(arena: Arena) -> int:
    """Creates two bots that never answer. They and their children hold a pipe; we read its end when all have ended."""
    alive = arena.folder / "alive"
    os.mkfifo(alive)
    alive.chmod(0o666)  # as root, bots have accounts of their own
    body = f"held = open({str(alive)!r}, 'w')\nsignal.signal(signal.SIGINT, signal.SIG_IGN); greet(); call()\n"
    body += "if os.fork() == 0: os.setsid(); os.fork()\nheld.write('x'); held.flush()\nwhile True: signal.pause()"
    arena.bot(body, name="hangs")
    arena.bot(f"held = open({str(alive)!r}, 'w'); greet(); call()", name="waits")
    return os.open(alive, os.O_RDONLY | os.O_NONBLOCK)


def wait_for_the_hang(pipe: int) -> None:
    """Waits until three processes have started."""
    for _ in range(3):
        assert select.select([pipe], [], [], 120)[0]
        os.set_blocking(pipe, True)
        assert os.read(pipe, 1) == b"x"


def gone_within(pipe: int, limit_s: float) -> bool:
    """Returns whether all holders of the pipe end in time."""
    return bool(select.select([pipe], [], [], limit_s)[0]) and os.read(pipe, 1) == b""


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "ended by SIGTERM"), (signal.SIGHUP, "ended by SIGHUP")],
)
def test_a_signal_ends_the_match_in_order_and_its_replay_says_so(
    arena: Arena, number: signal.Signals, words: str
) -> None:
    pipe = hanging(arena)
    referee = start(arena, *HANGS)
    wait_for_the_hang(pipe)
    referee.send_signal(number)
    out, err = referee.communicate(timeout=120)
    assert (referee.returncode, out, err) == (128 + number, "", f"referee: {words}\n")
    assert gone_within(pipe, 0.1)
    assert arena.alive() == []
    assert not list(arena.folder.glob("referee-*")), "the scratch folders are gone too"
    replay = Replay(arena.folder / "match.jsonl")
    assert verify(replay) is None
    assert replay.ending is not None and replay.ending.aborted == words
    os.close(pipe)


def test_a_signal_while_a_bot_starts_gives_one_line(arena: Arena) -> None:
    arena.bot("open('begun', 'w').close(); time.sleep(100)")
    words = (
        "check",
        "bot.py",
        "--game",
        "tictactoe",
        "--only",
        "exit",
        "--limit",
        "startup=100s",
        "--isolation",
        "off",
    )
    referee = start(arena, *words)
    while not (arena.folder / "begun").exists():
        assert referee.poll() is None
        time.sleep(0.02)
    referee.send_signal(signal.SIGTERM)
    out, err = referee.communicate(timeout=30)
    assert (referee.returncode, out, err) == (143, "", "referee: ended by SIGTERM\n")


def test_no_bot_outlives_the_referee(arena: Arena) -> None:
    pipe = hanging(arena)
    referee = start(arena, *HANGS)
    wait_for_the_hang(pipe)
    referee.send_signal(signal.SIGKILL)
    assert gone_within(pipe, 1.0)
    referee.communicate(timeout=120)
    assert arena.alive() == []
    os.close(pipe)


def signal_twice(referee: subprocess.Popen[str]) -> None:
    """Sends the second signal while the referee still ends the bots of the first."""
    (spawner,) = psutil.Process(referee.pid).children()
    for supervisor in spawner.children():
        supervisor.suspend()  # so that ending the bots takes longer
    referee.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    referee.send_signal(signal.SIGINT)


@pytest.mark.parametrize(("bots", "turns"), [(("hangs.py", "waits.py"), 0), (("late.py", "loser.py"), 5)])
def test_the_second_signal_ends_the_referee_at_once_and_its_replay_has_its_last_line(
    arena: Arena, bots: tuple[str, str], turns: int
) -> None:
    """The bots hang, or take long to exit after the game."""
    pipe = hanging(arena)
    late = f"held = open({str(arena.folder / 'alive')!r}, 'w'); greet(); put('NW'); put('W'); put('SW')\n"
    late += "while read()['method'] != 'exit': pass\nheld.write('xxx'); held.flush(); time.sleep(60)"
    arena.bot(late, name="late")
    arena.bot(LOSER, name="loser")
    referee = start(arena, *HANGS[:2], *bots, *HANGS[4:], "--limit", "exit_time=60s")
    wait_for_the_hang(pipe)
    signal_twice(referee)
    assert referee.wait(0.5) == -signal.SIGINT
    referee.communicate(timeout=120)
    replay = Replay(arena.folder / "match.jsonl")
    assert verify(replay) is None
    assert replay.ending is not None and replay.ending.aborted == "ended by SIGTERM"
    assert len(replay.lines) == 3 + turns
    assert gone_within(pipe, 2.0)
    os.close(pipe)


def test_a_signal_during_a_build_ends_the_build(arena: Arena) -> None:
    den = arena.folder / "den"
    den.mkdir()
    (den / "bot.toml").write_text('build = "sleep 100 & sleep 100"\nrun = ["sh"]')
    referee = start(arena, "--game", "tictactoe", "den", "den", "--seed", "1")
    while len(builds := sleepers(referee.pid)) < 2:
        time.sleep(0.01)
    time.sleep(0.3)  # during the fork, no handler knows the build yet
    started = time.monotonic()
    referee.send_signal(signal.SIGTERM)
    assert referee.wait(120) == 143
    assert time.monotonic() - started < 5
    assert referee.communicate()[1].count("\n") == 1
    while any(build.is_running() and build.status() != psutil.STATUS_ZOMBIE for build in builds):
        assert time.monotonic() - started < 5
    assert not (arena.folder / "replays").exists()


def test_a_signal_that_is_ignored_stays_ignored(arena: Arena) -> None:
    """As under nohup."""
    arena.bot("greet(); time.sleep(1); put('NW'); put('W'); put('SW'); call()", name="w")
    arena.bot(LOSER, name="loser")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        command = [*REFEREE, "--game", "tictactoe", "w.py", "loser.py"]
        referee = subprocess.Popen(command, cwd=arena.folder, stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGHUP, before)
    while not list(arena.folder.glob("replays/*.jsonl")):
        time.sleep(0.01)
    referee.send_signal(signal.SIGHUP)
    assert "w wins: " in referee.communicate(timeout=120)[0]
    assert referee.returncode == 0


FICKLE = """
greet()
if os.path.exists('played'):
    open('again', 'w').close()
    time.sleep(60)
put('NW'); put('W'); put('SW')
open('played', 'w').close()
call()
"""
"""A bot that wins once, and reports the start of the second game."""


@pytest.mark.parametrize(("number", "json_too"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_an_interrupted_series_keeps_its_standings(arena: Arena, number: signal.Signals, json_too: bool) -> None:
    arena.bot(FICKLE, name="fickle")
    arena.bot(LOSER, name="loser")
    options = ["--games", "5", "--isolation", "off", "--call-time", "60s", "--seed", "1", "--jobs", "1"]
    referee = start(arena, "--game", "tictactoe", "fickle.py", "loser.py", *options, *["--json"] * json_too)
    while not (arena.folder / "again").exists():
        time.sleep(0.01)
    referee.send_signal(number)
    out, err = referee.communicate(timeout=120)
    assert referee.returncode == 128 + number
    assert err.count("\n") == 1
    if json_too:
        failure = json.loads(out)
        assert failure["exit_code"] == 128 + number
        assert [line["wins"] for line in failure["reached"]["standings"]] == [1, 0]
    else:
        assert "Tic-tac-toe: 1 game of 5, seed 1" in out
        assert "fickle       1     1" in out
    assert Replay(arena.folder / "replays" / "tictactoe-2.jsonl").ending is not None


@pytest.mark.parametrize("words", ["games", "--game tictactoe @random @random --games 40 --replay none -v"])
def test_a_closed_pipe_ends_a_command_silently(tmp_path: Path, words: str) -> None:
    script = '"$@" | head -c 1 >/dev/null; echo ${PIPESTATUS[0]}'
    command = ["bash", "-c", script, "x", *REFEREE, *words.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("module", ["cyclopts", "trio"])
def test_ctrl_c_while_the_program_loads_is_one_line(tmp_path: Path, module: str) -> None:
    hook = (
        "import os, signal, sys\n"
        "class Hook:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Hook())\n"
        "from referee.harness.cli.main import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", hook, "games"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "referee: interrupted\n")
