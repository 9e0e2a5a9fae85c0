"""Compiles small programs of ours in C, once per machine."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from referee.harness.common.errors import reason
from referee.harness.common.paths import NOEXEC, cache_folder, forbids_programs
from referee.harness.isolation.self_protection import children_waited_for

COMPILERS = ("cc", "gcc", "clang")
COMPILE_S = 60.0
ROOM_BYTES = 2**20
"""Enough for such a program and the linker's temporary files."""
WITHOUT = "REFEREE_WITHOUT"
"""The environment variable that lists layers to do without, as if this machine did not have them."""


def without(layer: str) -> bool:
    """Whether `REFEREE_WITHOUT` names the layer."""
    return layer in os.environ.get(WITHOUT, "").split(",")


def compiled(source: Path, name: str, *options: Sequence[str]) -> Path:
    """Returns the program of that name from the cache, or compiles it. OSError in a few words if there is none.

    `options`: those of the compiler; if it fails with the first, those that it gets next.
    """
    if without("compiler"):
        raise OSError(f"switched off by {WITHOUT}")
    folder = cache_folder()  # of this account: in a shared one, other accounts could replace a program
    if not folder.is_absolute():
        raise OSError("no home folder for a cache")
    parts = [source, *sorted(source.parent.glob("*.h"))]
    digest = sha256(b"".join([each.read_bytes() for each in parts]) + f"{platform.machine()}{options}".encode())
    program = folder / f"{name}-{digest.hexdigest()[:16]}"
    if is_trusted(program):
        return program
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise OSError("no C compiler")
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        is_closed = forbids_programs(folder)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as place:  # several referees may start at once
            made = Path(place, name)
            made.write_bytes(bytes(ROOM_BYTES))
            if not is_closed and _compile(compiler, source, made, options):
                made.chmod(0o755)
                return made.replace(program)
    except OSError as error:
        raise OSError(f"the cache {folder} cannot be written ({reason(error)})") from error
    if is_closed:
        raise OSError(f"the cache {folder} {NOEXEC}")
    raise OSError("no C compiler that works")


def is_trusted(program: Path) -> bool:
    """Whether the file belongs to us or root, and only its owner can write it."""
    try:
        status = program.stat()
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022 and os.access(program, os.X_OK)


def _compile(compiler: str, source: Path, made: Path, options: Sequence[Sequence[str]]) -> bool:
    with suppress(OSError, subprocess.TimeoutExpired):
        for each in options:
            line = [compiler, "-std=c11", "-O2", "-o", str(made), str(source), *each]
            with children_waited_for():
                done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMPILE_S)
            if done.returncode == 0:
                return True
    return False
