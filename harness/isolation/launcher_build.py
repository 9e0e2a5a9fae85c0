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
    words = _command()
    if not os.path.exists(words[-1]):
        _command.cache_clear()
        words = _command()
    return words


@cache
def _command() -> tuple[str, ...]:
    program = None if without("compiler") else compiled()
    return (sys.executable, "-I", "-S", "-B", str(PYTHON_LAUNCHER)) if program is None else (str(program),)


def compiled() -> Path | None:
    """Returns the launcher from the cache, or compiles it; None if no compiler works."""
    folder = _cache_folder()
    if folder is None:
        return None
    digest = sha256(SOURCE.read_bytes() + platform.machine().encode()).hexdigest()[:16]
    program = folder / f"launcher-{digest}"
    if _is_trusted(program):
        return program
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is not None:
        with suppress(OSError):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            if _compile(compiler, program):
                return program
    return None


def obstacle() -> str:
    """Returns in a few words why there is no compiled launcher."""
    if without("compiler"):
        return f"switched off by {WITHOUT}"
    if not any(map(shutil.which, COMPILERS)):
        return "no C compiler"
    if (folder := _cache_folder()) is not None:
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as trial:
                trial.write(bytes(ROOM_BYTES))
        except OSError as error:
            return f"the cache {folder} cannot be written ({error.strerror})"
    return "no C compiler that works"


def _cache_folder() -> Path | None:
    """Returns a folder of this account. In a shared one, other accounts could replace the launcher."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    folder = cache_home if os.path.isabs(cache_home) else os.path.expanduser("~/.cache")
    return Path(folder, "referee") if os.path.isabs(folder) else None


def _is_trusted(program: Path) -> bool:
    """Whether the file belongs to us or root, and only its owner can write it."""
    try:
        status = program.stat()
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022 and os.access(program, os.X_OK)


def _compile(compiler: str, program: Path) -> bool:
    """Compiles to a temporary file and renames it, since several referees may start at once."""
    handle, made = tempfile.mkstemp(dir=program.parent, prefix=".launcher-")
    os.close(handle)
    try:
        for options in OPTIONS:
            line = [compiler, "-std=c11", "-O2", *options, "-o", made, str(SOURCE)]
            done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMPILE_S, check=False)
            if done.returncode == 0:
                os.chmod(made, 0o755)
                os.replace(made, program)
                return True
    except (OSError, subprocess.TimeoutExpired):
        pass
    finally:
        with suppress(FileNotFoundError):
            os.unlink(made)
    return False
