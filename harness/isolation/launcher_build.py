"""Finds the compiled sandbox launcher, `launcher.c`, or compiles it. Without it, `launcher.py` takes its place."""

import os
import platform
import sys
from functools import cache
from pathlib import Path

from referee.harness.isolation import c_programs

SOURCE = Path(__file__).with_name("launcher.c")
SHIPPED = SOURCE.with_name(f"launcher-{platform.machine()}")
"""The launcher of an installation that was built where there was a C compiler."""
PYTHON_LAUNCHER = Path(__file__).with_name("launcher.py")
OPTIONS = (("-static",), ())
"""A static program starts in half the time, but not every system can link one."""


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
    """Returns the launcher of the installation or of the cache, or compiles it. OSError in a few words without one."""
    if c_programs.is_trusted(SHIPPED) and not c_programs.without("compiler"):
        return SHIPPED
    return c_programs.compiled(SOURCE, "launcher", *OPTIONS)
