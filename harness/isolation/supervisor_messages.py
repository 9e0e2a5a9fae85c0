"""Requests to a spawner or supervisor, and the messages of a supervisor.

Messages are lines of JSON. A bot that can write to the control socket may send anything.
"""

import json
import select
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from referee.harness.isolation.plan import Sandbox
from referee.harness.isolation.supervisor import LENGTH, Request

NO_RLIMITS: Mapping[str, int] = {}
PART_BYTES = 1 << 16
SEND_S = 5.0
"""Time that a spawner or supervisor has to read a part of a request."""

Pid = Annotated[int, Meta(ge=1, lt=1 << 31)]


class Message(Struct, frozen=True):
    """One message; None = not part of it."""

    supervisor: Pid | None = None
    """The supervisor's pid: it has read the request."""
    error: str | None = None
    """Why the program cannot be started."""
    pid: Pid | None = None
    """The program's pid: it was started."""
    root: Pid | None = None
    """The process above all processes of the program."""
    earlier_cpu_s: float = 0.0
    """CPU time of earlier programs that `root` has reaped."""
    exit: int | None = None
    """The program's exit code; negative: a signal."""
    cpu_s: float | None = None
    """CPU time of the whole process tree. The last message about a program."""
    peak_bytes: int = 0
    """The highest peak of resident memory among its processes."""
    room_bytes: int = -1
    """Free space in its scratch folder when it exited; -1 = unknown."""
    idle: bool = False
    """Whether the supervisor can run another program."""


def decode(line: bytes) -> Message | None:
    """Decodes one line; None for what no supervisor sends."""
    try:
        return msgspec.json.decode(line, type=Message)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def make_request(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    sandbox: Sandbox,
    rlimits: Mapping[str, int] = NO_RLIMITS,
    reusable: bool = False,
) -> Request:
    groups = [] if sandbox.group is None else sandbox.group.paths()
    return Request(
        argv=[*argv],
        cwd=str(cwd),
        env={**env},
        rlimits={**rlimits},
        launcher=[*sandbox.launcher],
        groups=groups,
        reusable=reusable,
    )


def send_request(requests: socket.socket, request: Request, descriptors: list[int]) -> None:
    """Sends a request to a spawner or an idle supervisor. OSError if it is gone or does not read.

    In parts: a command line that shows a folder entry by entry is larger than a message may be.
    """
    text = json.dumps(request).encode()
    data = LENGTH.pack(len(text)) + text
    sent = socket.send_fds(requests, [data[:PART_BYTES]], descriptors)
    writable = select.poll()
    writable.register(requests, select.POLLOUT)
    while sent < len(data):
        if not writable.poll(SEND_S * 1e3):
            raise TimeoutError(f"it has not read its request for {SEND_S:g} s")
        with suppress(BlockingIOError):
            sent += requests.send(data[sent : sent + PART_BYTES])
