"""Tries parameters of OpenSpiel in a short, limited process before this one loads them."""

import signal
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import msgspec

from referee.harness.common.errors import RunError

PROGRAM = Path(__file__).with_name("run_trial.py")
PATIENCE_S = 120.0
"""When a trial is given up that uses no CPU time, such as one that waits for a file, or has no core."""
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)


def check(name: str, parameters: tuple[tuple[str, object], ...]) -> None:
    """Raises ValueError if OpenSpiel cannot begin or play a game with these parameters. Tries them once."""
    if (reason := _refusal(name, parameters)) is not None:
        raise ValueError(reason)


@lru_cache(1024)
def _refusal(name: str, parameters: tuple[tuple[str, object], ...]) -> str | None:
    """Returns why OpenSpiel cannot play with these parameters; None if it can. RunError if the trial cannot be made."""
    asked = msgspec.json.encode([name, dict(parameters)])
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(PROGRAM)], input=asked, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"OpenSpiel did not try {name} with these options within {PATIENCE_S:g} s") from None
    except OSError as error:
        raise RunError(f"the process that tries options of OpenSpiel cannot be started: {error}") from error
    last = done.stdout.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if last == "ok":
        return None
    if last.startswith("refused "):
        return last.removeprefix("refused ")
    if -done.returncode in CRASHES:
        return f"OpenSpiel crashes with them ({signal.Signals(-done.returncode).name}); choose other values"
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return "OpenSpiel takes too long or too much memory with them; choose smaller numbers"
    why = " ".join(done.stderr.decode("utf-8", "replace").split())[-500:] or f"exit code {done.returncode}"
    raise RunError(f"OpenSpiel could not try {name} with these options: {why}")
