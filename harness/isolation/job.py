"""Runs one program to its end below a supervisor, and waits for it: for builds, during which nothing is played.

Nothing that it starts lives on, however this ends: all of it ends when our ends of the two sockets close, which the
kernel sees to if we are killed, at whatever moment.
"""

import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from referee.harness.isolation.self_protection import end_strays, guarded
from referee.harness.isolation.spawner import begin, finish, send_request
from referee.harness.isolation.supervisor import KILL, Request
from referee.harness.isolation.supervisor_messages import word

LOOK_EVERY_S = 0.05
KILL_S = 10.0
"""How long the supervisor may take to end everything when a limit was passed."""
KEPT_BYTES = 1 << 20
"""Of what it prints the first and the last so many bytes are kept."""
READ_BYTES = 1 << 16


class Done(NamedTuple):
    """A program that has ended."""

    code: int | None
    """As a shell's for an exit, negative for a signal; None: it has ended its own supervisor, or cannot be started."""
    output: bytes
    """What it printed, to either stream; for None why."""


class Output:
    """What a program prints, without the middle of much."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""

    def take(self, data: bytes) -> None:
        room = KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-KEPT_BYTES:]

    def whole(self) -> bytes:
        return self._head + self._tail


def run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    look: Callable[[int], None],
    launcher: Sequence[str] = (),
    groups: Sequence[str] = (),
) -> Done:
    """Runs a program without input. `look` is called again and again with the process that all of it is below, and may
    raise: then everything is ended at once, as it is by any other exception here."""
    request = Request(
        argv=list(argv),
        cwd=str(cwd),
        env=dict(env),
        rlimits={},
        launcher=list(launcher),
        groups=list(groups),
        again=False,
    )
    with guarded(), ExitStack() as open_files:
        spawner, requests, mark = begin(None)
        try:
            null = open_files.enter_context(open(os.devnull, "rb"))
            reading, writing = os.pipe()
            read_end = open_files.enter_context(open(reading, "rb", 0))
            write_end = open_files.enter_context(open(writing, "wb", 0))
            control, theirs = map(open_files.enter_context, socket.socketpair())
            given = [null.fileno(), write_end.fileno(), write_end.fileno(), theirs.fileno()]
            send_request(requests, request, given)
            write_end.close()
            theirs.close()
            os.set_blocking(read_end.fileno(), False)
            try:
                return _followed(control, read_end.fileno(), look)
            except BaseException:
                _kill(control)
                raise
        finally:
            open_files.close()
            _end(spawner, requests, mark)


def _kill(control: socket.socket) -> None:
    """Has the supervisor end everything below it, and waits until it has, or for `KILL_S`."""
    with suppress(OSError):
        control.send(KILL)
    until = time.monotonic() + KILL_S
    poll = select.poll()
    poll.register(control.fileno(), select.POLLIN)
    while (left := until - time.monotonic()) > 0 and poll.poll(left * 1000) and _control_data(control):
        pass


def _end(spawner: subprocess.Popen[bytes], requests: socket.socket, mark: int) -> None:
    """Ends all of it. What killed its supervisor and the spawner has left its processes to us."""
    finish(spawner, requests)
    if spawner.returncode != 0:
        end_strays({mark})


def _followed(control: socket.socket, read_end: int, look: Callable[[int], None]) -> Done:
    """Waits for the program's end, and then for that of everything below it."""
    output = Output()
    poll = select.poll()
    for descriptor in (control.fileno(), read_end):
        poll.register(descriptor, select.POLLIN)
    unread, root, code, looked = b"", 0, None, 0.0
    while True:
        ready = dict(poll.poll(LOOK_EVERY_S * 1000))
        if read_end in ready and not _take(read_end, output):
            poll.unregister(read_end)
        if control.fileno() in ready:
            data = _control_data(control)
            if not data:
                break
            *lines, unread = (unread + data).split(b"\n")
            for message in map(word, lines):
                if message is None:
                    return Done(None, b"it has spoken in the place of the supervisor above it")
                if message.error is not None:
                    return Done(None, message.error.encode())
                root = message.root or root
                if message.exit is not None:
                    code = message.exit
                    look(root)  # once more, before what the kernel has counted is gone
                    with suppress(OSError):
                        control.send(KILL)
        if time.monotonic() >= looked + LOOK_EVERY_S:
            look(root)
            looked = time.monotonic()
    while _take(read_end, output):
        pass
    return Done(code, output.whole() if code is not None else b"it has ended the supervisor above it")


def _control_data(control: socket.socket) -> bytes:
    """What the supervisor says; nothing when it has ended, also before it has read all that we said."""
    try:
        return control.recv(4096)
    except ConnectionError:
        return b""


def _take(read_end: int, output: Output) -> bool:
    """Takes what was printed; False = there is nothing, now or for ever."""
    try:
        data = os.read(read_end, READ_BYTES)
    except BlockingIOError:
        return False
    output.take(data)
    return bool(data)
