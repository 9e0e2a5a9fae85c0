"""Requests to a spawner or supervisor, and the messages of a supervisor.

Messages are lines of JSON. A bot that can write to the control socket may send anything.
"""

import json
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from referee.harness.isolation.plan import Sandbox
from referee.harness.isolation.supervisor import PORTABLE, REQUEST, Request
from referee.protocol.errors import UNDECODABLE

NO_RLIMITS: Mapping[str, int] = {}

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
    """The process above all processes of the program: the first of a process namespace, or the supervisor."""
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
    except UNDECODABLE:
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
    """Sends a request to a spawner or an idle supervisor. OSError if it is gone or does not read."""
    try:
        content = msgspec.json.encode(request)
    except UnicodeEncodeError:  # a path that is not UTF-8
        content = json.dumps(request).encode()
    with TemporaryFile(buffering=0) if PORTABLE else open(os.memfd_create("request"), "r+b", 0) as file:
        written = 0
        while written < len(content):  # less at a time below a limit for the size of files
            written += file.write(content[written:])
        file.seek(0)
        socket.send_fds(requests, [REQUEST], [file.fileno(), *descriptors])
