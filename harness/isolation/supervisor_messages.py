"""What a supervisor says of its bot, each time a line of JSON. A bot that may write there too could say anything."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

Pid = Annotated[int, Meta(ge=1, lt=1 << 31)]


class Word(Struct, frozen=True):
    """What one line says; None = nothing of that."""

    supervisor: Pid | None = None
    """It is there, with this number."""
    error: str | None = None
    """Why the program cannot be started."""
    pid: Pid | None = None
    """The program was started."""
    root: Pid | None = None
    """All its processes are below this one."""
    before_s: float = 0.0
    """CPU time of others that the root has waited for before."""
    exit: int | None = None
    """The program has ended: as a shell's exit code, negative for a signal."""
    cpu_s: float | None = None
    """CPU time of all that it started."""
    peak_bytes: int = 0
    """The most resident memory that one of its processes held."""
    room_bytes: int = -1
    """What could still be written to its scratch folder when it ended; -1 = nobody knows."""
    rests: bool = False
    """With the CPU time: nothing is left of it, and the supervisor can run another."""


def word(line: bytes) -> Word | None:
    """None for what no supervisor says."""
    try:
        return msgspec.json.decode(line, type=Word)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
