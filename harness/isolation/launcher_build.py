"""Compiles the sandbox launcher, `launcher.c`, once per machine. Without a compiler, `launcher.py` takes its place."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

SOURCE = Path(__file__).with_name("launcher.c")
PYTHON_LAUNCHER = Path(__file__).with_name("launcher.py")
COMPILERS = ("cc", "gcc", "clang")
COMPILE_S = 60.0
ROOM_BYTES = 2**20
"""Enough for the launcher and the linker's temporary files."""
OPTIONS = (("-static",), ())
"""A static program starts in half the time, but not every system can link one."""
WITHOUT = "REFEREE_WITHOUT"
"""The environment variable that lists layers to do without, as if this machine did not have them."""


def without(layer: str) -> bool:
    """Whether `REFEREE_WITHOUT` names the layer."""
    return layer in os.environ.get(WITHOUT, "").split(",")


def command() -> tuple[str, ...]:
    """Returns the launcher's command line, without steps. Compiles it again if it was removed from the cache."""
    if not os.path.exists(_launcher()[0][-1]):
        _launcher.cache_clear()
    return _launcher()[0]


def obstacle() -> str | None:
    """Returns in a few words why there is no compiled launcher; None if there is one."""
    return _launcher()[1]


@cache
def _launcher() -> tuple[tuple[str, ...], str | None]:
    try:
        return (str(compiled()),), None
    except OSError as error:
        return (sys.executable, "-I", "-S", "-B", str(PYTHON_LAUNCHER)), str(error)


def compiled() -> Path:
    """Returns the launcher from the cache, or compiles it. OSError in a few words if there is none."""
    if without("compiler"):
        raise OSError(f"switched off by {WITHOUT}")
    folder = _cache_folder()
    digest = sha256(SOURCE.read_bytes() + platform.machine().encode()).hexdigest()[:16]
    program = folder / f"launcher-{digest}"
    if _is_trusted(program):
        return program
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise OSError("no C compiler")
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=folder, prefix=".launcher-"
        ) as place:  # several referees may start at once
            made = Path(place, "launcher")
            made.write_bytes(bytes(ROOM_BYTES))
            if _compile(compiler, made):
                made.chmod(0o755)
                return made.replace(program)
    except OSError as error:
        raise OSError(f"the cache {folder} cannot be written ({error.strerror})") from error
    raise OSError("no C compiler that works")


def _cache_folder() -> Path:
    """Returns a folder of this account. In a shared one, other accounts could replace the launcher."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    folder = cache_home if os.path.isabs(cache_home) else os.path.expanduser("~/.cache")
    if not os.path.isabs(folder):
        raise OSError("no home folder for a cache")
    return Path(folder, "referee")


def _is_trusted(program: Path) -> bool:
    """Whether the file belongs to us or root, and only its owner can write it."""
    try:
        status = program.stat()
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022 and os.access(program, os.X_OK)


def _compile(compiler: str, made: Path) -> bool:
    with suppress(OSError, subprocess.TimeoutExpired):
        for options in OPTIONS:
            line = [compiler, "-std=c11", "-O2", *options, "-o", str(made), str(SOURCE)]
            done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMPILE_S, check=False)
            if done.returncode == 0:
                return True
    return False
