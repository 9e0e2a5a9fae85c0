"""Why the system cannot start a program, as its first bytes show."""

import os
import platform
import struct
import sys
from collections.abc import Callable
from typing import NamedTuple

from referee.harness.common.errors import RunError
from referee.harness.common.paths import NOEXEC, forbids_programs
from referee.harness.programs.archive import ELF, FOREIGN
from referee.harness.programs.build_process import BuildError

FIRST_BYTES = 1 << 13
"""Enough of a program to see what it is."""
ELF_MACHINES = {"x86_64": (62, 3), "aarch64": (183, 40)}
"""The processors whose programs run on each, by their numbers in the files."""
PT_INTERP = 3
SYSTEM_FOLDERS = ("/bin/", "/usr/", "/lib")
EMULATORS = "/proc/sys/fs/binfmt_misc"

UNSEEN = (
    "bots cannot see, or the system cannot start; name a program of the system, as in #!/usr/bin/env python3, or show "
    "its folder with --limit readable=FOLDER"
)
"""What may be wrong with a file that exists, and what helps."""
ADVICE = "take a folder on another one, for builds by XDG_CACHE_HOME"


class Problem(NamedTuple):
    """Why a program cannot be started."""

    text: str
    missing: str = ""
    """The file that does not exist, if that is the reason."""


def check_start(name: str, program: str) -> None:
    """BuildError if no machine of this kind can start a program, RunError if this one lacks its interpreter."""
    if forbids_programs(program):
        raise RunError(f"{name}: {program} {NOEXEC}; {ADVICE}")
    problem = problem_of(program)
    if problem is not None and problem.missing.startswith(SYSTEM_FOLDERS):
        raise RunError(f"{name}: cannot be started: {problem.text} on this machine; install it, or name another")
    if problem is not None:
        raise BuildError(name, f"cannot be started: {problem.text}")


def start_hint(program: str) -> str:
    """Explains in brackets why the system cannot start an existing file; empty if the reason is not known.

    The system says only `No such file` if the interpreter of a script is missing.
    """
    if forbids_programs(program):
        return f" ({program} {NOEXEC}; {ADVICE})"
    problem = problem_of(program)
    if problem is not None:
        return f" ({problem.text})"
    needed = problem_of(program, lambda path: False)
    return "" if needed is None else f" (it needs {needed.missing!r}, which {UNSEEN})"


def surely_starts(program: str) -> bool:
    """Whether what the start of a program needs is the system's, so that every bot sees it, and can be started."""
    return problem_of(program, _is_program_of_system) is None


def _is_program_of_system(path: str) -> bool:
    real = os.path.realpath(path)
    if not (path.startswith(SYSTEM_FOLDERS) and real.startswith(SYSTEM_FOLDERS) and os.access(real, os.X_OK)):
        return False
    first = _first_bytes(real)
    return first is not None and not first.startswith(b"#!") and problem_of_content(first, os.path.isfile) is None


def problem_of(program: str, exists: Callable[[str], bool] = os.path.isfile) -> Problem | None:
    """Returns why the system cannot start a file; None if it can, or if the reason is not known."""
    first = _first_bytes(program)
    return None if first is None else problem_of_content(first, exists)


def _first_bytes(program: str) -> bytes | None:
    try:
        with open(program, "rb") as file:
            return file.read(FIRST_BYTES)
    except OSError:
        return None


def problem_of_content(first: bytes, exists: Callable[[str], bool]) -> Problem | None:
    """The same for the first bytes of a file. `exists`: whether there is a file at a path."""
    if first.startswith(b"#!"):
        return _of_script(first, exists)
    system = next((system for start, system in FOREIGN.items() if first.startswith(start)), None)
    if not first.startswith(ELF) and system is None:
        return Problem("its first line names no interpreter, as #!/usr/bin/env python3 does")
    if _runs_foreign():
        return None
    return _of_elf(first, exists) if system is None else _foreign(system)


def _of_script(first: bytes, exists: Callable[[str], bool]) -> Problem | None:
    line = os.fsdecode(first[2:].partition(b"\n")[0].strip(b" \t"))
    if line.endswith("\r"):
        return Problem(
            f"its first line names {line!r}, which does not exist; save it with line ends of Unix, as by dos2unix"
        )
    interpreter = line.partition(" ")[0].partition("\t")[0]
    return None if exists(interpreter) else _missing("its first line names", interpreter)


def _of_elf(first: bytes, exists: Callable[[str], bool]) -> Problem | None:
    """Looks at the processor, and at the program that loads a dynamic program."""
    try:
        wide, order = first[4] == 2, "<" if first[5] == 1 else ">"
        word = f"{order}{'Q' if wide else 'I'}"
        (machine,) = struct.unpack_from(f"{order}H", first, 18)
        if machine not in ELF_MACHINES.get(platform.machine(), (machine,)):
            return _foreign("another processor")
        (at,) = struct.unpack_from(word, first, 32 if wide else 28)
        size, count = struct.unpack_from(f"{order}HH", first, 54 if wide else 42)
        for place in range(at, min(at + size * count, len(first) - size), size or 1):
            if struct.unpack_from(f"{order}I", first, place)[0] == PT_INTERP:
                (begin,) = struct.unpack_from(word, first, place + (8 if wide else 4))
                loader, ends, _ = first[begin:].partition(b"\0")
                path = os.fsdecode(loader)
                return None if not ends or exists(path) else _missing("it needs", path)
    except (struct.error, IndexError):
        return Problem("it is cut off")
    return None


def _missing(what: str, path: str) -> Problem:
    return Problem(f"{what} {path!r}, which does not exist", path)


def _foreign(system: str) -> Problem:
    return Problem(f"it is a program for {system}; build it for {platform.system()} on {platform.machine()}")


def _runs_foreign() -> bool:
    """Whether programs of other systems or processors may run here: on macOS, or by an emulator."""
    try:
        return sys.platform != "linux" or not {*os.listdir(EMULATORS)} <= {"register", "status"}
    except OSError:
        return False
