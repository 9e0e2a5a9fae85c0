"""Standard input, output and error as they may be found: closed, full, or in an encoding with fewer signs than ours."""

import codecs
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

from referee.harness.errors import RunError

PLAIN = {
    "–": "-",
    "—": "-",
    "…": "...",
    "×": "x",
    "·": ".",
    "•": "*",
    "→": "->",
    "←": "<-",
    "↑": "^",
    "↓": "v",
    "½": "1/2",
    "“": '"',
    "”": '"',
    "’": "'",
    **dict.fromkeys("─━═╌┄┈", "-"),
    **dict.fromkeys("│┃║┆┊╎", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋╒╕╘╛╞╡╪", "+"),
}
"""What stands for the signs of our own in an encoding that lacks them."""


def prepare() -> None:
    """Makes the standard streams such that whatever we print can be written. RunError if output is closed."""
    for descriptor in (0, 2):
        _fill(descriptor)
    if sys.stdout is None:  # its number would be given to the next file that is opened, such as a record
        _fill(1)
        raise RunError("standard output is closed")
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="plain")


def _fill(descriptor: int) -> None:
    """Opens /dev/null where nothing is open."""
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != descriptor:
            os.dup2(null, descriptor)
            os.close(null)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Signs that the encoding lacks become plain ones, or their number as in `\\u738b`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs), error.end


def flush() -> None:
    """Writes what is still kept back of standard output. RunError if it cannot be written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(error) from error


def unwritable(error: OSError) -> RunError:
    """What is told when standard output takes nothing, as on a full disk."""
    discard()
    return RunError(f"standard output cannot be written: {error.strerror or error}")


def discard() -> None:
    """From now on standard output goes nowhere: Python would complain at exit of what it still keeps back."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
