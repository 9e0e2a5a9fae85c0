"""Ctrl-C during `referee analyse`, on a terminal of its own."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import referee


def any_answer(decision: referee.Decision) -> Any:
    return decision.sample()


def read_until(terminal: int, pattern: str) -> str:
    """Reads what a program writes on a terminal until it contains the pattern, or the program has ended."""
    text = ""
    while not re.search(pattern, text):
        try:
            text += os.read(terminal, 4096).decode()
        except OSError:  # no process has the terminal any more
            break
    return text


def test_ctrl_c_shows_and_keeps_what_is_there(tmp_path: Path) -> None:
    """Ctrl-C on a terminal reaches all processes: also those that play."""
    file = tmp_path / "match.jsonl"
    referee.play("cardgame", [any_answer] * 2, seed=1, replay=file)  # its hidden cards keep the search away
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "referee.harness.cli.main", "analyse", str(file), "--seconds", "3600"]
    with subprocess.Popen(
        [*command, "--with", "@trader", "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        start_new_session=True,
    ) as process:
        os.close(theirs)
        said = read_until(ours, r"plays on: (\d\d|[2-9]) of ")
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout is not None
        shown = process.stdout.read()
        said += read_until(ours, "$^")
        os.close(ours)
        assert process.wait() == 0, said
    assert "Traceback" not in said
    found = json.loads(shown)
    kept = json.loads((tmp_path / "match.jsonl.analysis.json").read_text())
    assert found == kept and len(found["points"]) >= 2
    assert all(moment["words"] for moment in found["moments"])
