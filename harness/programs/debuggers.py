"""Debuggers for bots, by the bot's language: how to attach one, and the frames of a crash."""

import os
import shutil
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

import msgspec
import psutil

from referee.harness.languages.language import Debugger
from referee.harness.languages.native import NATIVE
from referee.harness.languages.registry import BY_RUNTIME, LANGUAGES, run_by
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import PATH, inner
from referee.protocol.text import printable

GDB = """log=$1; shift
exec gdb -nx -q -batch -ex 'set debuginfod enabled off' -ex 'set width 0' -ex 'set print elements 40' \
    -ex 'set disable-randomization off' -ex run -ex 'backtrace 20' \
    --args sh -c 'exec "$@" <&3 >&4 3<&- 4>&-' sh "$@" 3<&0 4>&1 >"$log" </dev/null
"""
"""Runs a command under gdb. The program has standard input and output; what gdb finds goes to the file `$1`."""

DUMP_STARTS = tuple(each.debugger.dump_start for each in LANGUAGES if each.debugger and each.debugger.dump_start)
"""The beginnings of the stack of the main thread in what the languages write."""
DUMP_LINES = 40
LOG_BYTES = 1 << 16
"""How much of gdb's output is read."""


def process_of(pid: int | None) -> int | None:
    """Returns the process of a bot that was started as `pid`: the only child of a shell or of gdb, or `pid` itself."""
    while pid is not None:
        try:
            process = psutil.Process(pid)
            children = process.children()
            if Path(process.name()).name not in ("sh", "bash", "dash", "busybox", "gdb") or len(children) != 1:
                return pid
            pid = children[0].pid
        except psutil.NoSuchProcess:
            return pid
    return None


def listening(entrant: Entrant) -> Entrant:
    """Lets a debugger reach the program: a Java machine needs an option for that at its start."""
    language = BY_RUNTIME.get(Path(entrant.argv[0]).name)
    option = language.debugger.listen_option if language is not None and language.debugger is not None else ""
    if not option:
        return entrant
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return msgspec.structs.replace(entrant, argv=(entrant.argv[0], f"{option}{port}", *entrant.argv[1:]))


def attach_command(pid: int, entrant: Entrant) -> str:
    """Returns the command that attaches the debugger of the bot's language."""
    known = debugger(pid, entrant.argv)
    option = known.listen_option
    port = next((word.removeprefix(option) for word in entrant.argv if option and word.startswith(option)), "PORT")
    return known.attach.format(pid=pid, port=port)


def crash_advice(argv: Sequence[str]) -> str:
    """Returns what to do about a crash of this command by a signal."""
    if engine := inner(argv):  # a child of the program that would run under gdb
        return debugger(None, engine).crash
    known = debugger(None, argv)
    return known.crash + ("; `referee repro` shows where, if gdb is installed" if known.uses_gdb else "")


def traced(entrant: Entrant, log: Path) -> Entrant | None:
    """Returns the program under gdb, which writes a backtrace to `log` if a signal stops it; None if it cannot."""
    if shutil.which("gdb") is None or inner(entrant.argv) or not debugger(None, entrant.argv).uses_gdb:
        return None
    return msgspec.structs.replace(entrant, argv=("/bin/sh", "-c", GDB, "sh", str(log), *entrant.argv))


def dumping(entrant: Entrant, log: Path) -> Entrant | None:
    """Returns the program so that its `dump_signal` makes it show its stack; None if it cannot.

    Python, Java and Go write it to standard error; of a native program, gdb writes it to `log`.
    """
    if entrant.kind != PATH.name or inner(entrant.argv):
        return None
    known, (program, *rest) = debugger(None, entrant.argv), entrant.argv
    if known.dump_options is None:
        return traced(entrant, log)
    return msgspec.structs.replace(entrant, argv=(program, *known.dump_options, *rest))


def dump(pid: int | None, argv: Sequence[str]) -> None:
    """Makes the bot that was started as `pid`, with a command of `dumping`, show its stack."""
    found = process_of(pid)
    number = (NATIVE if GDB in argv else debugger(None, argv)).dump_signal
    if found is not None and number is not None:
        with suppress(OSError):
            os.kill(found, number)


def dumped(stderr: bytes, log: Path) -> tuple[str, ...]:
    """Returns the stack that a bot or gdb has shown, the innermost frame first; empty if none."""
    lines = printable_lines(stderr)
    start = next((at for at, line in enumerate(lines) if line.startswith(DUMP_STARTS)), len(lines))
    stack = lines[start:]
    end = next((at for at, line in enumerate(stack) if not line.strip()), len(stack))
    return backtrace(log) or tuple(stack[: min(end, DUMP_LINES)])


def printable_lines(text: bytes) -> list[str]:
    """Returns the lines of a text without anything that a terminal would obey."""
    return [printable(line) for line in text.decode("utf-8", "replace").splitlines()]


def backtrace(log: Path) -> tuple[str, ...]:
    """Returns the signal and the frames that gdb has written to a file, the innermost frame first.

    The bot can write there too, so the file may be anything.
    """
    try:
        file = os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ()
    with open(file, "rb") as opened:
        content = opened.read(LOG_BYTES) if S_ISREG(os.fstat(file).st_mode) else b""
    lines = content.decode("utf-8", "replace").splitlines()
    return tuple([line for line in lines if line.startswith(("Program received signal ", "#"))])


def debugger(pid: int | None, argv: Sequence[str]) -> Debugger:
    """Returns the debugger of a program's language, which its runtime or its binary tells.

    None: it does not run, and `argv` alone is known.
    """
    program = shutil.which(argv[0]) or argv[0]
    if pid is not None:
        with suppress(psutil.Error):
            program = psutil.Process(pid).exe()
    language = run_by(program)
    if language is not None and language.debugger is not None:
        return language.debugger
    try:
        content = Path(program).read_bytes()
    except OSError:
        content = b""
    known = (each.debugger for each in LANGUAGES if each.debugger is not None)
    return next((each for each in known if any(mark in content for mark in each.marks)), NATIVE)
