"""Whose fault it was: ours is a LocalProtocolError, the bot's a RemoteProtocolError."""

import codecs
from typing import Any

import msgspec

SHOWN_CHARACTERS = 200
"""The longest piece of a frame that a message quotes."""
_ENOUGH_BYTES = 4 * (SHOWN_CHARACTERS + 1) + 3  # no character has more than four


class LocalProtocolError(Exception):
    """We broke the protocol: a call while one is open, an answer awaited that nobody asked for. A bug."""


class RemoteProtocolError(Exception):
    """The other end broke the protocol. The text is one printable line for its author."""


def broken(reason: str, frame: bytes | bytearray) -> RemoteProtocolError:
    """The error for a frame that is no message: the reason, then the frame itself."""
    return RemoteProtocolError(f"{reason}: {quote(frame)}")


def misplaced(reason: str, message: Any) -> RemoteProtocolError:
    """The error for a message that reads well but is not to be said, or not now. It is shown as JSON."""
    return broken(reason, msgspec.json.encode(message))


def stray_print(text: bytes | bytearray) -> RemoteProtocolError:
    """The error for text that was not meant for us."""
    return RemoteProtocolError(f'wrote "{quote(text)}" to standard output; print debugging to standard error')


def printable(text: str, most: int | None = None) -> str:
    """`text` without anything that a terminal or a page would obey: control characters, DEL, those of C1, marks that
    turn the direction of writing, halves of characters. Each is shown by its number, as in `\\x1b`; tabs become spaces.

    `most`: so many characters of it are shown.
    """
    text = text[:most].expandtabs(4)
    shown = text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)
    return shown[:most]


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def quote(frame: bytes | bytearray) -> str:
    """The beginning of `frame`, printable and on one line: text where it is text, else hexadecimal digits."""
    start = bytes(frame[:_ENOUGH_BYTES])
    start = start.strip(b" \t\r\n") or start  # where there is nothing but white space it is shown
    whole = len(frame) <= _ENOUGH_BYTES  # else the cut may have left half a character at the end
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(start, whole)
    except UnicodeDecodeError:
        # A frame of MessagePack begins with a byte that begins no text.
        text = "0x" + start.hex() if start[0] >= 0x80 else start.decode(errors="backslashreplace")
    text = printable(text.replace("\t", "\\t"))
    cut = len(text) > SHOWN_CHARACTERS
    return text[:SHOWN_CHARACTERS] + "…" if cut else text
