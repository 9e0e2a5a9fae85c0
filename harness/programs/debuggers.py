"""The commands that attach a debugger to a running bot, by the bot's language."""

import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psutil

from referee.harness.programs.spec import Entrant

RUNTIMES = {"python": "python", "pypy": "python", "node": "node", "java": "java", "dlv": "go"}
"""The beginnings of program names, and the language that each runs."""
JAVA_AGENT = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:"
COMMANDS = {
    "python": "python -m debugpy --listen 5678 --pid {pid}   (pip install debugpy; then attach an editor to port 5678)",
    "node": "kill -USR1 {pid} && node inspect -p {pid}",
    "java": "jdb -attach 127.0.0.1:{port}",
    "go": "dlv attach {pid}",
    "native": "gdb -p {pid}",
}


def process_of(pid: int | None) -> int | None:
    """Returns the process of a bot that was started as `pid`: the only child of a shell, or else `pid` itself."""
    while pid is not None:
        try:
            process = psutil.Process(pid)
            children = process.children()
            if Path(process.name()).name not in ("sh", "bash", "dash", "busybox") or len(children) != 1:
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


def language(pid: int, argv: Sequence[str]) -> str:
    """Returns the language of a program, by its runtime or its binary: a key of `COMMANDS`."""
    try:
        program = psutil.Process(pid).exe()
    except psutil.Error:
        program = shutil.which(argv[0]) or argv[0]
    name = Path(program).name
    for prefix, language in RUNTIMES.items():
        if name.startswith(prefix):
            return language
    try:
        content = Path(program).read_bytes()
    except OSError:
        content = b""
    made_by_go = b"Go build ID:" in content or b"Go buildinf:" in content  # the mark of its linker
    return "go" if made_by_go else "native"
