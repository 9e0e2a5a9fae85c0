"""Runs the command line under another account, with an interpreter and a cache that this account can read."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from referee.harness.common.paths import HOME
from referee.harness.isolation import launcher_build

ORDINARY = 61234
"""An unused account."""
PACKAGES = os.path.dirname(os.path.dirname(msgspec.__file__))


class Run(NamedTuple):
    """The outcome of a command line."""

    code: int
    out: str
    err: str


@contextmanager
def shared_cache() -> Iterator[str]:
    """Makes a cache with the compiled launcher, which an account without a home folder can use."""
    with tempfile.TemporaryDirectory(prefix="referee-tests-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        Path(folder, "referee").mkdir()
        with suppress(OSError):
            shutil.copy2(launcher_build.compiled(), Path(folder, "referee"))
        yield folder


def as_account(account: int, *argv: str) -> list[str]:
    """Returns a command line that runs a program under another account."""
    return ["setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups", *argv]


def environment(**more: str) -> dict[str, str]:
    """Returns variables with which a Python of any account finds the referee and its packages."""
    return {"PYTHONPATH": os.pathsep.join([str(HOME), PACKAGES]), "PYTHONDONTWRITEBYTECODE": "1", **more}


def run_referee(*argv: str, account: int | None = None, without: str = "", folder: Path = Path("/")) -> str:
    """Runs the command line under an account (None: ours) and without some layers. Returns its output."""
    program = "import sys; from referee.harness.cli.main import main; sys.exit(main(sys.argv[1:]))"
    return run_python("-c", program, *argv, account=account, without=without, folder=folder)


def run_python(*words: str, account: int | None = None, without: str = "", folder: Path = Path("/")) -> str:
    """Runs Python with these arguments under an account (None: ours) and without some layers. Returns its output."""
    command = [sys.executable, *words]
    variables = {**os.environ, **environment(REFEREE_WITHOUT=without)}
    with shared_cache() as cache_folder:
        if account is not None:
            command = as_account(account, ordinary_python(), *words)
            variables |= {"PATH": os.defpath, "HOME": f"/nonexistent-{account}", "XDG_CACHE_HOME": cache_folder}
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


@cache
def ordinary_python() -> str:
    """Returns an interpreter of this version in which an ordinary account finds the referee; "" if there is none."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"):
        words = "[sys.executable, '-c', 'import referee.harness, trio']"
        trial = f"import subprocess, sys; subprocess.run({words}, check=True)"
        line = as_account(ORDINARY, program, "-c", trial)
        if subprocess.run(line, env=environment(), capture_output=True).returncode == 0:
            return program
    return ""


ACCOUNTS: list[int | None] = [None]
if os.geteuid() == 0 and shutil.which("setpriv") and ordinary_python():
    ACCOUNTS.append(ORDINARY)
