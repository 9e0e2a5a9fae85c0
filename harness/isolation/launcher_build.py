"""Finds the sandbox launcher, `launcher.c` compiled, or compiles it. Without it, no layer keeps bots apart."""

import os
import platform
from functools import cache
from pathlib import Path

from referee.harness.isolation import c_programs

SOURCE = Path(__file__).with_name("launcher.c")
SHIPPED = SOURCE.with_name(f"launcher-{platform.machine()}")
"""The launcher of an installation that was built where there was a C compiler."""
OPTIONS = (("-static",), ())
"""A static program starts in half the time, but not every system can link one."""


def program() -> str:
    """Returns the launcher's path. Compiles it again if it was removed from the cache. OSError as `compiled`."""
    if not os.path.exists(_program()):
        _program.cache_clear()
    return _program()


def obstacle() -> str | None:
    """Returns in a few words why there is no launcher; None if there is one."""
    try:
        program()
    except OSError as error:
        return str(error)
    return None


@cache
def _program() -> str:
    return str(compiled())


def compiled() -> Path:
    """Returns the launcher of the installation or of the cache, or compiles it. OSError in a few words without one."""
    if c_programs.is_trusted(SHIPPED) and not c_programs.without("compiler"):
        return SHIPPED
    return c_programs.compiled(SOURCE, "launcher", *OPTIONS)
