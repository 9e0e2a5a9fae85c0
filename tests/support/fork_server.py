"""A process that has loaded the referee and forks: a worker or a check then starts in 30 ms instead of a second.

`python fork_server.py SOCKET` serves; `python -c CLIENT SOCKET MODULE …` is what a test starts instead of
`python -m MODULE …`. It passes its standard streams, folder and environment on, and ends as its program does. A kill of
either ends the other.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

CLIENT = """
import array, json, os, socket, sys
conn = socket.socket(socket.AF_UNIX)
conn.connect(sys.argv[1])
order = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
conn.sendmsg([len(order).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
conn.sendall(order)
for stream in (0, 1):
    os.close(stream)
code = int.from_bytes(conn.recv(4) or bytes([0, 0, 0, 1]), "big", signed=True)
os.kill(os.getpid(), -code) if code < 0 else os._exit(code)
"""
LOADED = ("referee.games", "referee.harness")


def load() -> None:
    """Loads what a worker or a check may import later."""
    for name in LOADED:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if "opponents" not in found.name and not found.name.endswith("check_process"):
                with suppress(ImportError):  # of an optional library
                    importlib.import_module(found.name)
    worker = "referee.addons.tournament.execution.worker"
    importlib.import_module(worker)
    del sys.modules[worker]  # it is run as a program


def received(connection: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    """Returns the words of a command, its folder, environment and streams."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    order = b""
    while len(order) < int.from_bytes(size, "big"):
        order += connection.recv(1 << 20)
    return *json.loads(order), streams


def become(words: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Runs `python -m MODULE …` in this process, a child."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (open(number, "rww"[number], closefd=False) for number in range(3))  # noqa: SIM115
    os.chdir(folder)
    tempfile.tempdir = None
    os.environ.clear()
    os.environ.update(environment)
    module, sys.argv = words[0], words
    code: object = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else 1)


def serve(path: str) -> None:
    """Forks for each client until standard input ends."""
    load()
    gc.collect()
    gc.freeze()
    watched = selectors.DefaultSelector()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        watched.register(listener, selectors.EVENT_READ)
        watched.register(0, selectors.EVENT_READ)
        children: dict[int, tuple[socket.socket, int]] = {}
        while True:
            for key, _ in watched.select():
                if key.fd == 0:
                    for _, pid in children.values():
                        os.kill(pid, signal.SIGKILL)
                    return
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    order = received(connection)
                    if (pid := os.fork()) == 0:
                        listener.close()
                        connection.close()
                        become(*order)
                    for stream in order[-1]:
                        os.close(stream)
                    handle = os.pidfd_open(pid)
                    children[handle] = connection, pid
                    watched.register(handle, selectors.EVENT_READ, (handle, connection, pid))
                    watched.register(connection, selectors.EVENT_READ, (handle, connection, pid))
                elif key.data[0] in children:
                    handle, connection, pid = key.data
                    if key.fileobj is connection:
                        os.kill(pid, signal.SIGKILL)
                    _, status = os.waitpid(pid, 0)
                    with suppress(OSError):
                        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
                    for each in (handle, connection):
                        watched.unregister(each)
                    connection.close()
                    os.close(handle)
                    del children[handle]


if __name__ == "__main__":
    sys.path[:] = [each for each in sys.path if each != str(Path(__file__).parent)]
    serve(sys.argv[1])
