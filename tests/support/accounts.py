"""Tests as another account: one that nobody has, an interpreter that it can reach, and a cache that it can read."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from referee.harness.isolation import launcher_build

ORDINARY = 61234
"""An account that nobody has."""


@contextmanager
def shared_cache() -> Iterator[str]:
    """A cache in which root has put the launcher, for an account that has none."""
    program = launcher_build.compiled()
    with tempfile.TemporaryDirectory(prefix="referee-tests-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        Path(folder, "referee").mkdir()
        if program is not None:
            shutil.copy2(program, Path(folder, "referee", program.name))
        yield folder


@cache
def ordinary_python() -> str:
    """An interpreter of this version that an ordinary account can reach."""
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    reachable = (sys.executable, f"/usr/bin/python{ours}", f"/usr/local/bin/python{ours}")
    for program in reachable:
        again = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import trio'], check=True)"
        line = ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", program, "-c", again]
        packages = os.path.dirname(os.path.dirname(msgspec.__file__))
        if subprocess.run(line, env={"PYTHONPATH": packages}, capture_output=True).returncode == 0:
            return program
    return ""


ACCOUNTS: list[int | None] = [None]
if os.geteuid() == 0 and shutil.which("setpriv") and ordinary_python():
    ACCOUNTS.append(ORDINARY)
