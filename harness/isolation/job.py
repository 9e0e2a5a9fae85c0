"""Runs one program to its end below a supervisor and waits for it: for builds, while no match is played.

Everything that it has started ends with it. If we are killed, the kernel closes our ends of two sockets, and that ends
everything too.
"""

import os
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from referee.harness.isolation.plan import NO_SANDBOX, Sandbox
from referee.harness.isolation.self_protection import end_strays, guarded
from referee.harness.isolation.spawner import end_spawner, start_spawner
from referee.harness.isolation.supervisor_link import SupervisorLink
from referee.harness.isolation.supervisor_messages import make_request, send_request

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
            control, theirs = socket.socketpair()
            link = SupervisorLink(control)
            open_files.callback(link.close)
            with theirs:
                output = write_end.fileno()
                send_request(requests, request, [null.fileno(), output, output, theirs.fileno()])
            write_end.close()
            os.set_blocking(read_end.fileno(), False)
            try:
                return _wait(link, _Output(read_end.fileno(), on_output), look)
            except BaseException:
                _kill(link)
                raise
        finally:
            open_files.close()
            end_spawner(spawner, requests, mark)
            if spawner.returncode != 0:  # the program has killed it, and we have adopted its processes
                end_strays()


def _kill(link: SupervisorLink) -> None:
    """Requests the end of everything and waits for it, at most `KILL_S`."""
    link.request_end()
    deadline = time.monotonic() + KILL_S
    poll = select.poll()
    poll.register(link.control.fileno(), select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000) and link.receive():
        pass


def _wait(link: SupervisorLink, output: "_Output", look: Callable[[int], None]) -> Done:
    """Waits for the exit of the program, then for the end of everything that it has started."""
    poll, control, read_end = select.poll(), link.control.fileno(), output.read_end
    for descriptor in (control, read_end):
        poll.register(descriptor, select.POLLIN)
    root, code, looked_at = 0, None, 0.0
    while True:
        ready = dict(poll.poll(LOOK_EVERY_S * 1000))
        if read_end in ready and not output.read():
            poll.unregister(read_end)
        if control in ready and not link.receive():
            break
        while link.has_message():
            message = link.take()
            if message is None:
                return Done(None, b"it wrote to the control socket of its supervisor")
            if message.error is not None:
                return Done(None, message.error.encode())
            if message.supervisor is not None:
                link.has_started(message.supervisor)
            root = message.root or root
            if message.exit is not None:
                code = message.exit
                look(root)  # the last time that the kernel's counters exist
                link.request_end()
        if time.monotonic() >= looked_at + LOOK_EVERY_S:
            look(root)
            looked_at = time.monotonic()
    while output.read():
        pass
    return Done(code, bytes(output.kept) if code is not None else b"it killed its supervisor")


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
