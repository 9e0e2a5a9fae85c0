"""`referee repro` ends its bot once, and in order, whatever happens."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scripted import Arena

from referee.harness.cli.main import main

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
AT_EXIT = """
def read():
    line = sys.stdin.buffer.readline()
    if not line or b'"exit"' in line:
        held = bytearray(os.urandom(1 << 20) * 90)
        time.sleep(0.5)
        os._exit(0)
    return json.loads(line)
greet(); put('NW'); put('W'); put('SW'); put('S'); call()
"""
"""Takes more memory than it may when the match is over."""


def test_a_fault_at_the_exit_is_reproduced(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    arena.bot(AT_EXIT, name="greedy")
    arena.bot("greet(); put('C'); put('E'); call()", name="loser")
    words = ("--game", "tictactoe", "--seed", "5", "greedy.py", "loser.py", "--memory", "64MiB", "--json")
    assert main((*words, "--replay", "match.jsonl")) == 0
    (fault,) = json.loads(capsys.readouterr().out)["matches"][0]["faults"]
    assert (fault["method"], fault["kind"]) == ("exit", "memory")
    assert main(("repro", fault["bundle"], "greedy.py")) == 1
    assert "call 3 exit" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGINT, "greeting"), (signal.SIGTERM, "call"), (signal.SIGINT, "debugger")],  # each signal, each moment
)
def test_a_signal_ends_it_at_any_time(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, moment: str
) -> None:
    monkeypatch.chdir(arena.folder)
    arena.bot("greet(); put('NW'); put('NW'); call()", name="illegal")
    assert main(("--game", "tictactoe", "--seed", "5", "illegal.py", "@random", "--replay", "match.jsonl")) == 0
    pause = "open('reached', 'w').close(); time.sleep(60)"
    body = {"greeting": f"{pause}; greet()", "call": f"greet(); {pause}", "debugger": "greet(); put('NW'); call()"}
    arena.bot(body[moment], name="slow")
    debug = ("--debug",) if moment == "debugger" else ()
    words = (*REFEREE, "repro", "match.seat0.fault1", "slow.py", "--isolation", "off", *debug)
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr is not None
    shown = b""
    if debug:
        while b"press Enter" not in shown:
            shown += os.read(process.stderr.fileno(), 1 << 16)
    else:
        deadline = time.monotonic() + 60
        while not Path("reached").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
    process.send_signal(number)
    shown = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number, shown
    assert b"Traceback" not in shown
