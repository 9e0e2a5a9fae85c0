"""Debuggers for bots, by the bot's language: how to attach one, and the frames of a crash."""

import os
import shutil
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

import msgspec
import psutil

from referee.harness.adapters.engines.options import COMMAND
from referee.harness.paths import ENGINE_RUNNER
from referee.harness.programs.spec import Entrant
from referee.protocol.text import printable

RUNTIMES = {"python": "python", "pypy": "python", "node": "node", "java": "java", "dlv": "go"}
"""The beginnings of program names, and the language that each runs."""
JAVA_AGENT = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:"
COMMANDS = {
    "python": "python -m debugpy --listen 5678 --pid {pid}   (pip install debugpy; then attach an editor to port 5678)",
    "node": "kill -USR1 {pid} && node inspect -p {pid}",
    "java": "jdb -attach 127.0.0.1:{port}",
    "go": "dlv attach {pid}",
    "rust": "gdb -p {pid}",
    "native": "gdb -p {pid}",
}
CRASHES = {
    "python": "start it as `cmd:'python3 -X faulthandler bot.py'`, and standard error names the line",
    "node": "read standard error: Node aborts if its heap is full, and `--max-old-space-size` sets the size in MiB",
    "java": "start it with `java -Xcheck:jni`: a native library has crashed the Java machine",
    "go": "start it as `cmd:'env GOTRACEBACK=all ./bot'`, and standard error shows every goroutine",
    "rust": "build it without `--release`, and play again: a debug build has line numbers and finds overflows",
    "native": "build it with `-g -fsanitize=address,undefined`, play again with `--memory none`, and standard error "
    "names the line",
}
"""What to do about a crash by a signal."""
TRACED = ("python", "go", "rust", "native")
"""The languages in whose programs gdb finds the cause of a signal. Java and Node use some signals themselves."""
GDB = """log=$1; shift
exec gdb -nx -q -batch -ex 'set debuginfod enabled off' -ex 'set width 0' -ex 'set print elements 40' \
    -ex 'set disable-randomization off' -ex run -ex 'backtrace 20' \
    --args sh -c 'exec "$@" <&3 >&4 3<&- 4>&-' sh "$@" 3<&0 4>&1 >"$log" </dev/null
"""
"""Runs a command under gdb. The program has standard input and output; what gdb finds goes to the file `$1`."""

DUMP_SIGNALS = {
    "python": signal.SIGABRT,
    "java": signal.SIGQUIT,
    "go": signal.SIGQUIT,
    "rust": signal.SIGQUIT,
    "native": signal.SIGQUIT,
}
"""The signal that makes a program show its stack, by its language."""
DUMP_OPTIONS = {"python": ("-X", "faulthandler"), "java": ("-XX:+DisplayVMOutputToStderr",)}
DUMP_STARTS = ("Current thread ", '"main" ', "goroutine 1 ")
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
    if Path(entrant.argv[0]).name != "java":
        return entrant
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return msgspec.structs.replace(entrant, argv=(entrant.argv[0], f"{JAVA_AGENT}{port}", *entrant.argv[1:]))


def attach_command(pid: int, entrant: Entrant) -> str:
    """Returns the command that attaches the debugger of the bot's language."""
    port = next((word.removeprefix(JAVA_AGENT) for word in entrant.argv if word.startswith(JAVA_AGENT)), "PORT")
    return COMMANDS[language(pid, entrant.argv)].format(pid=pid, port=port)


def crash_advice(argv: Sequence[str]) -> str:
    """Returns what to do about a crash of this command by a signal."""
    if engine := _engine(argv):  # a child of the program that would run under gdb
        return CRASHES[language(None, engine)]
    known = language(None, argv)
    return CRASHES[known] + ("; `referee repro` shows where, if gdb is installed" if known in TRACED else "")


def traced(entrant: Entrant, log: Path) -> Entrant | None:
    """Returns the program under gdb, which writes a backtrace to `log` if a signal stops it; None if it cannot."""
    if shutil.which("gdb") is None or _engine(entrant.argv) or language(None, entrant.argv) not in TRACED:
        return None
    return msgspec.structs.replace(entrant, argv=("/bin/sh", "-c", GDB, "sh", str(log), *entrant.argv))


def dumping(entrant: Entrant, log: Path) -> Entrant | None:
    """Returns the program so that `DUMP_SIGNALS` make it show its stack; None if it cannot.

    Python, Java and Go write it to standard error; of a native program, gdb writes it to `log`.
    """
    if entrant.metered or _engine(entrant.argv):
        return None
    known, (program, *rest) = language(None, entrant.argv), entrant.argv
    if known not in DUMP_SIGNALS:
        return None
    if known in DUMP_OPTIONS:
        return msgspec.structs.replace(entrant, argv=(program, *DUMP_OPTIONS[known], *rest))
    return entrant if known == "go" else traced(entrant, log)


def dump(pid: int | None, argv: Sequence[str]) -> None:
    """Makes the bot that was started as `pid`, with a command of `dumping`, show its stack."""
    found = process_of(pid)
    number = DUMP_SIGNALS["native" if GDB in argv else language(None, argv)]
    if found is not None:
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


def _engine(argv: Sequence[str]) -> Sequence[str]:
    """Returns the engine's command within that of the program that runs it; empty for any other program."""
    return argv[argv.index(COMMAND) + 1 :] if str(ENGINE_RUNNER) in argv else ()


def language(pid: int | None, argv: Sequence[str]) -> str:
    """Returns the language of a program, by its runtime or its binary: a key of `COMMANDS`.

    None: it does not run, and `argv` alone is known.
    """
    program = shutil.which(argv[0]) or argv[0]
    if pid is not None:
        with suppress(psutil.Error):
            program = psutil.Process(pid).exe()
    name = Path(program).name
    for prefix, language in RUNTIMES.items():
        if name.startswith(prefix):
            return language
    try:
        content = Path(program).read_bytes()
    except OSError:
        content = b""
    made_by_go = b"Go build ID:" in content or b"Go buildinf:" in content  # the mark of its linker
    if made_by_go:
        return "go"
    return "rust" if b"/rustc/" in content else "native"  # the paths of the standard library's sources
