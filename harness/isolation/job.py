"""Runs one program to its end below a supervisor and waits for it: for builds, while no match is played.

Everything that it has started ends with it. If we are killed, the kernel closes our ends of two sockets, and that ends
everything too.
"""

import os
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from referee.harness.isolation.plan import NO_SANDBOX, Sandbox
from referee.harness.isolation.self_protection import end_strays, guarded, known_children
from referee.harness.isolation.spawner import end_spawner, start_spawner
from referee.harness.isolation.supervisor import KILL
from referee.harness.isolation.supervisor_messages import decode, make_request, send_request

LOOK_EVERY_S = 0.05
KILL_S = 10.0
"""Time that the supervisor has to end everything after a limit was exceeded."""
KEPT_BYTES = 1 << 20
"""Size of the first and of the last part of the output that are kept."""
READ_BYTES = 1 << 16


class Done(NamedTuple):
    """A program that has ended."""

    code: int | None
    """Its exit code; negative: a signal; None: it was not started, or has killed its supervisor."""
    output: bytes
    """Its standard output and error; the reason if `code` is None."""


def run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    look: Callable[[int], None],
    sandbox: Sandbox = NO_SANDBOX,
    on_output: Callable[[bytes], None] | None = None,
) -> Done:
    """Runs a program without input.

    Calls `look` every `LOOK_EVERY_S` with the process above everything that it has started. If `look` raises, the
    program is killed. `on_output` receives the output as it comes.
    """
    request = make_request(argv, cwd, env, sandbox)
    with guarded(), ExitStack() as open_files:
        spawner, requests, mark = start_spawner(None)
        try:
            null = open_files.enter_context(open(os.devnull, "rb"))
            reading, writing = os.pipe()
            read_end = open_files.enter_context(open(reading, "rb", 0))
            write_end = open_files.enter_context(open(writing, "wb", 0))
            control, theirs = map(open_files.enter_context, socket.socketpair())
            send_request(requests, request, [null.fileno(), write_end.fileno(), write_end.fileno(), theirs.fileno()])
            write_end.close()
            theirs.close()
            os.set_blocking(read_end.fileno(), False)
            try:
                return _wait(control, _Output(read_end.fileno(), on_output), look, open_files)
            except BaseException:
                _kill(control)
                raise
        finally:
            open_files.close()
            end_spawner(spawner, requests, mark)
            if spawner.returncode != 0:  # the program has killed it, and we have adopted its processes
                end_strays()


def _kill(control: socket.socket) -> None:
    """Requests the end of everything and waits for it, at most `KILL_S`."""
    with suppress(OSError):
        control.send(KILL)
    deadline = time.monotonic() + KILL_S
    poll = select.poll()
    poll.register(control.fileno(), select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000) and _receive(control):
        pass


def _wait(control: socket.socket, output: "_Output", look: Callable[[int], None], at_end: ExitStack) -> Done:
    """Waits for the exit of the program, then for the end of everything that it has started.

    The supervisor counts as known until `at_end` is closed.
    """
    poll, read_end = select.poll(), output.read_end
    for descriptor in (control.fileno(), read_end):
        poll.register(descriptor, select.POLLIN)
    unread, root, code, looked_at = b"", 0, None, 0.0
    while True:
        ready = dict(poll.poll(LOOK_EVERY_S * 1000))
        if read_end in ready and not output.read():
            poll.unregister(read_end)
        if control.fileno() in ready:
            data = _receive(control)
            if not data:
                break
            *lines, unread = (unread + data).split(b"\n")
            for message in map(decode, lines):
                if message is None:
                    return Done(None, b"it wrote to the control socket of its supervisor")
                if message.error is not None:
                    return Done(None, message.error.encode())
                if message.supervisor is not None:
                    known_children.add(message.supervisor)
                    at_end.callback(known_children.discard, message.supervisor)
                root = message.root or root
                if message.exit is not None:
                    code = message.exit
                    look(root)  # the last time that the kernel's counters exist
                    with suppress(OSError):
                        control.send(KILL)
        if time.monotonic() >= looked_at + LOOK_EVERY_S:
            look(root)
            looked_at = time.monotonic()
    while output.read():
        pass
    return Done(code, bytes(output.kept) if code is not None else b"it killed its supervisor")


def _receive(control: socket.socket) -> bytes:
    """Returns data from the supervisor; nothing if it has ended, even with data from us unread."""
    try:
        return control.recv(4096)
    except ConnectionError:
        return b""


class _Output:
    """What the program prints."""

    def __init__(self, read_end: int, on_output: Callable[[bytes], None] | None) -> None:
        self.read_end = read_end
        self.kept = bytearray()
        """Without the middle of a long output."""
        self._on_output = on_output

    def read(self) -> bool:
        """Reads some. Returns False if there is none, for now or at all."""
        try:
            data = os.read(self.read_end, READ_BYTES)
        except BlockingIOError:
            return False
        self.kept += data
        del self.kept[KEPT_BYTES:-KEPT_BYTES]
        if data and self._on_output is not None:
            self._on_output(data)
        return bool(data)
