"""Fetches a commit of a git repository that a stranger controls."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

import trio

from referee.harness.common import git
from referee.harness.common.errors import UsageError

FETCH_S = 60.0
"""How long a fetch may take, unless a build has less time."""
LOOK_S = 0.1
MOST_LISTED_BYTES = 8 << 20
"""Of the list of a repository's files: 4,000 entries with paths of 2,000 bytes."""
LIMITED = (
    "ulimit -v 4194304 2>/dev/null; exec 3<&0 </dev/null; "
    '(cat <&3; kill -9 0) >/dev/null 2>&1 & exec 3<&-; exec "$0" "$@"'
)
"""Runs a command that may use 4 GiB of memory, and kills its process group when standard input ends."""
Look = Callable[[], None]
"""Looks at what git has written so far. UsageError if that is too much."""
SETTINGS = (*git.SETTINGS, "core.symlinks=false")  # a link could lead to any file of this machine
ASK_NOBODY = {"GIT_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "never"}  # nor on a terminal: git has none
MOVED = re.compile(r"error: 30\d|redirect")


async def fetch(
    address: str,
    folder: Path,
    max_bytes: int,
    max_files: int,
    fetch_s: float,
    commit: str = "HEAD",
    is_strangers: bool = False,
) -> None:
    """Fetches one commit of a repository into a new folder, without submodules, hooks and prompts.

    `commit`: its 40 digits, or the name of a branch or tag; HEAD = the newest of the main branch. `is_strangers`: a
    stranger named the address. It is read without the passwords, keys and settings of git that this account has, and
    must not lead to another one.

    UsageError if that fails, takes too long, or grows beyond the limits. A few small objects can stand for any number
    of files, so the files are counted before they are written.
    """
    program = git.program()
    settings = git.options(*SETTINGS, *(git.STRANGERS_SETTINGS if is_strangers else ()))
    strangers = git.strangers_environment(address) if is_strangers else None
    plain, to_fetch = strangers or git.environment(), strangers or git.users_environment() | ASK_NOBODY
    until, listing = trio.current_time() + fetch_s, folder.with_name(f"{folder.name}.files")

    async def run(*words: str, output: int | IO[bytes] = subprocess.DEVNULL, look: Look) -> None:
        command = ["/bin/sh", "-c", LIMITED, program, *settings, "-C", str(folder), *words]
        environment = to_fetch if words[0] == "fetch" else plain
        await _run(command, environment, address, output, until, fetch_s, look)

    def check_size() -> None:
        if _size(folder) > 2 * max_bytes:  # the repository and its files
            raise UsageError(f"{address}: holds more than {max_bytes:,} bytes, which are allowed")

    def check_listing() -> None:
        if listing.stat().st_size > MOST_LISTED_BYTES:
            raise UsageError(f"{address}: holds more than {max_files:,} files, which are allowed")

    (folder / ".git" / "info").mkdir(parents=True)
    (folder / ".git" / "info" / "attributes").write_text(git.RAW)
    await run("init", "--quiet", "--template=", look=lambda: None)
    await run(*git.FETCH, "--depth=1", "--", address, commit, look=check_size)
    with listing.open("wb") as file:
        await run("ls-tree", "-rtlz", "FETCH_HEAD", output=file, look=check_listing)
    entries = [entry.partition(b"\t")[0].split() for entry in listing.read_bytes().split(b"\0") if entry]
    if len(entries) > 2 * max_files:  # folders are listed too
        raise UsageError(f"{address}: holds more than {max_files:,} files, which are allowed")
    if sum(int(words[-1]) for words in entries if words[-1].isdigit()) > max_bytes:
        raise UsageError(f"{address}: holds more than {max_bytes:,} bytes, which are allowed")
    await run("checkout", "--quiet", "--force", "FETCH_HEAD", look=check_size)


async def _run(
    command: list[str],
    environment: Mapping[str, str],
    address: str,
    output: int | IO[bytes],
    until: float,
    fetch_s: float,
    look: Look,
) -> None:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,  # it ends with this process
        stdout=output,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        while process.poll() is None:
            if trio.current_time() > until:
                raise UsageError(f"{address}: cannot be cloned within {fetch_s:g} s")
            await trio.to_thread.run_sync(look)
            await trio.sleep(LOOK_S)
        assert process.stderr is not None
        lines = process.stderr.read().decode(errors="replace").strip().splitlines()
    finally:
        _end(process)
    if process.returncode != 0:
        why = next((line for line in reversed(lines) if "fatal:" in line), lines[-1] if lines else "git failed")
        if MOVED.search(why):
            raise UsageError(f"{address}: redirects to another address; hand in that one")
        raise UsageError(f"{address}: cannot be cloned: {why.removeprefix('fatal: ')}")


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
    for pipe in (process.stdin, process.stderr):
        if pipe is not None:
            pipe.close()
