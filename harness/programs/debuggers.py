"""How a debugger is attached to a bot that runs, by the language that it is written in."""

import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psutil

from referee.harness.programs.spec import Entrant
from referee.harness.seats.seat import Seat

RUNTIMES = {"python": "python", "pypy": "python", "node": "node", "java": "java", "dlv": "go"}
"""By how the program's name begins, what runs the bot."""
AGENT = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:"
COMMANDS = {
    "python": "python -m debugpy --listen 5678 --pid {pid}   (pip install debugpy; then attach an editor to port 5678)",
    "node": "kill -USR1 {pid} && node inspect -p {pid}",
    "java": "jdb -attach 127.0.0.1:{port}",
    "go": "dlv attach {pid}",
    "native": "gdb -p {pid}",
}


def process_of(seat: Seat) -> int | None:
    """The process that a bot is; None: it has none. Of a shell that waits for the bot, the bot."""
    pid = seat.pid
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
    """The program such that a debugger can reach it: a Java machine has to be told so at its start."""
    if Path(entrant.argv[0]).name != "java":
        return entrant
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return msgspec.structs.replace(entrant, argv=(entrant.argv[0], f"{AGENT}{port}", *entrant.argv[1:]))


def attach_command(pid: int, entrant: Entrant) -> str:
    """The command that attaches the language's debugger."""
    port = next((word.removeprefix(AGENT) for word in entrant.argv if word.startswith(AGENT)), "PORT")
    return COMMANDS[language(pid, entrant.argv)].format(pid=pid, port=port)


def language(pid: int, argv: Sequence[str]) -> str:
    """What the program is written in, as far as its runtime or its binary tells: a key of `COMMANDS`."""
    try:
        program = psutil.Process(pid).exe()
    except psutil.Error:
        program = shutil.which(argv[0]) or argv[0]
    name = Path(program).name
    for start, found in RUNTIMES.items():
        if name.startswith(start):
            return found
    return "go" if _made_by_go(Path(program)) else "native"


def _made_by_go(program: Path) -> bool:
    """Go's linker leaves its own mark in a program."""
    try:
        with program.open("rb") as binary:
            return b"Go build ID:" in binary.read(1 << 16) or b"Go buildinf:" in program.read_bytes()
    except OSError:
        return False
