"""Copes with standard streams that are closed, full, or in an encoding without all characters."""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

import trio

from referee.harness.common.errors import RunError, reason

READ_BYTES = 1 << 16

PLAIN = {
    **dict(zip("×·•↑↓“”’", 'x.*^v""\'', strict=True)),
    "…": "...",
    "→": "->",
    "←": "<-",
    "½": "1/2",
    **dict.fromkeys("–—─━═╌┄┈", "-"),
    **dict.fromkeys("│┃║┆┊╎", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋╒╕╘╛╞╡╪", "+"),
}
"""Replacements for characters of ours that an encoding may lack."""


def prepare() -> None:
    """Prepares the standard streams so that any text can be written; RunError if standard output is closed."""
    for descriptor in (0, 2):
        _fill(descriptor)
    if sys.stdout is None:  # the next file we open, such as a replay, would get its number
        _fill(1)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, as long as the process
        raise RunError("standard output is closed")
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            with writing():  # what was printed before and could not be written is tried again
                stream.reconfigure(errors="plain")


def _fill(descriptor: int) -> None:
    """Opens /dev/null if the descriptor is closed."""
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != descriptor:
            os.dup2(null, descriptor)
            os.close(null)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replaces characters that the encoding lacks by plain ones, or by their number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(PLAIN.get(each) or each.encode("ascii", "backslashreplace").decode() for each in text), error.end


@contextmanager
def writing(ignore_errors: bool = False) -> Iterator[None]:
    """Raises RunError if standard output cannot be written, as on a full disk; BrokenPipeError if it is closed."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if ignore_errors:
            return
        discard(sys.stdout)
        raise RunError(f"standard output cannot be written: {reason(error)}") from error


async def read_input() -> bytes:
    """Waits for bytes on standard input, of whatever kind it is: in a thread. Empty = the end."""
    return await trio.to_thread.run_sync(os.read, 0, READ_BYTES, abandon_on_cancel=True)


async def write_output(data: bytes) -> None:
    """Writes to standard output, in a thread: the reader may have stopped to read."""
    await trio.to_thread.run_sync(_write_all, data, abandon_on_cancel=True)


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def discard(stream: TextIO) -> None:
    """Redirects a standard stream to /dev/null: Python complains at exit about unwritten text."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def finish_stderr() -> None:
    """Drops what standard error does not take, for which Python would end with an exit code of its own."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            discard(sys.stderr)
