"""The program that puts a bot where it is to live: `launcher.c`, compiled once a machine, or else `launcher.py`."""

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
SLOW = Path(__file__).with_name("launcher.py")
COMPILERS = ("cc", "gcc", "clang")
COMPILE_S = 60.0
ROOM = 2**20
"""Bytes that it takes at most, with what a linker writes first."""
OPTIONS = (("-static",), ())
"""A program without libraries starts in half the time; not every system has what that needs."""
WITHOUT = "REFEREE_WITHOUT"
"""The environment variable that names layers to do without, as if this machine did not have them: to try the rest."""


def without(layer: str) -> bool:
    """Whether that layer is to be done without."""
    return layer in os.environ.get(WITHOUT, "").split(",")


def command() -> tuple[str, ...]:
    """The launcher's command line, for steps to follow. Compiles it again if somebody has cleaned the cache."""
    words = _command()
    if not os.path.exists(words[-1]):
        _command.cache_clear()
        words = _command()
    return words


@cache
def _command() -> tuple[str, ...]:
    slow = (sys.executable, "-I", "-S", "-B", str(SLOW))
    program = None if without("compiler") else compiled()
    return slow if program is None else (str(program),)


def compiled() -> Path | None:
    """The compiled launcher, from the cache or made now; None where there is no compiler that works."""
    name = sha256(SOURCE.read_bytes() + platform.machine().encode()).hexdigest()[:16]
    for folder in _folders():
        program = folder / f"launcher-{name}"
        if _is_ours(program):
            return program
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return None
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            if _compile(compiler, program := folder / f"launcher-{name}"):
                return program
    return None


def obstacle() -> str:
    """Why there is no compiled one, in a few words."""
    if without("compiler"):
        return "done without"
    if not any(map(shutil.which, COMPILERS)):
        return "no C compiler"
    for folder in _folders():
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as trial:
                trial.write(bytes(ROOM))
        except OSError as error:
            return f"the cache {folder} cannot be written ({error.strerror})"
    return "no C compiler that works"


def _folders() -> list[Path]:
    """Where it may lie. In a cache that others can write to they could replace the program that confines our bots."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(cache_home) if os.path.isabs(cache_home) else Path("~/.cache").expanduser()
    return [folder / "referee"] if folder.is_absolute() else []


def _is_ours(program: Path) -> bool:
    """Whether it is there, and of an account that we trust: ourselves or root."""
    try:
        found = program.stat()
    except OSError:
        return False
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022 and os.access(program, os.X_OK)


def _compile(compiler: str, program: Path) -> bool:
    """Makes it aside and moves it into place: several referees may start at once."""
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
