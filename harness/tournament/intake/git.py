"""Fetches the newest commit of a git repository that a stranger controls."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import trio

from referee.harness.errors import UsageError

FETCH_S = 60.0
"""How long a fetch may take, unless a build has less time."""
LOOK_S = 0.1
SAFE = (
    "core.symlinks=false",  # a link could lead to any file of this machine
    "core.hooksPath=/dev/null",
    "protocol.ext.allow=never",  # it would run a command
    "protocol.allow=user",
)
ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=10",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "LC_ALL": "C",
}


async def fetch(address: str, folder: Path, max_bytes: int, fetch_s: float) -> None:
    """Clones a repository into a new folder, without submodules, hooks and prompts.

    UsageError if that fails, takes too long, or grows beyond the limit.
    """
    git = shutil.which("git")
    if git is None:
        raise UsageError(f"{address}: needs git, which is not installed")
    settings = [word for setting in SAFE for word in ("-c", setting)]
    command = [git, *settings, "clone", "--quiet", "--depth", "1", "--no-tags", "--single-branch"]
    command += ["--no-recurse-submodules", "--template=", "--", address, str(folder)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | ENVIRONMENT,
        start_new_session=True,
    )
    try:
        await _watch(process, address, folder, max_bytes, fetch_s)
        assert process.stderr is not None
        lines = process.stderr.read().decode(errors="replace").strip().splitlines()
    finally:
        _end(process)
    if process.returncode != 0:
        why = next((line for line in reversed(lines) if "fatal:" in line), lines[-1] if lines else "git failed")
        raise UsageError(f"{address}: cannot be cloned: {why.removeprefix('fatal: ')}")


async def _watch(
    process: "subprocess.Popen[bytes]", address: str, folder: Path, max_bytes: int, fetch_s: float
) -> None:
    deadline = trio.current_time() + fetch_s
    while process.poll() is None:
        if trio.current_time() > deadline:
            raise UsageError(f"{address}: cannot be cloned within {fetch_s:g} s")
        if await trio.to_thread.run_sync(_size, folder) > 2 * max_bytes:  # the repository and its files
            raise UsageError(f"{address}: holds more than {max_bytes:,} bytes, which are allowed")
        await trio.sleep(LOOK_S)


def _size(folder: Path) -> int:
    size = 0
    for inside, _, files in os.walk(folder):
        for file in files:
            try:
                size += os.lstat(os.path.join(inside, file)).st_size
            except OSError:  # git has removed it meanwhile
                pass
    return size


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kills git and its helpers."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    if process.stderr is not None:
        process.stderr.close()
