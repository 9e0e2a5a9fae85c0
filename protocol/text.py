"""Text from strangers, made safe to show: the helpers that messages, reports and pages share."""

import codecs
from collections.abc import Sequence

SHOWN_CHARACTERS = 200
"""The longest piece of a frame that a message quotes."""
_ENOUGH_BYTES = 4 * (SHOWN_CHARACTERS + 1) + 3  # no character has more than four


def printable(text: str, limit: int | None = None) -> str:
    r"""Returns `text` without anything that a terminal or a page would obey, cut after `limit` characters.

    Control characters, marks that change the writing direction and lone surrogates become escapes such as `\x1b`;
    tabs become spaces.
    """
    text = text[:limit].expandtabs(4)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text[:limit]


def escaped_json(data: bytes) -> bytes:
    r"""Returns the same lines of JSON, with escapes such as `\u202e` for what a terminal or a page would obey.

    Bots choose texts in it, and people print files with `cat`.
    """
    if data.isascii() and b"\x7f" not in data:  # JSON escapes the other control characters itself
        return data
    lines = data.decode().split("\n")
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in line) for line in lines
    ).encode()


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2], 'big'):04x}" for at in range(0, len(units), 2))


def counted(count: int, thing: str, things: str = "") -> str:
    """Returns `1 fault` or `2 faults`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Returns `a, b and c`, or the first names and the number of the others."""
    first, last = names[:most], f"{len(names) - most:,} more"
    if len(names) <= most:
        first, last = names[:-1], "".join(names[-1:])
    return f"{', '.join(first)} and {last}" if first else last


def mebibytes(size: float) -> str:
    """Returns a size in bytes as `1.5 MiB`."""
    return f"{size / (1 << 20):.1f} MiB"


def quote(frame: bytes | bytearray) -> str:
    """Returns the beginning of `frame`, printable and on one line: as text, or in hexadecimal if it is no text."""
    start = bytes(frame[:_ENOUGH_BYTES])
    start = start.strip(b" \t\r\n") or start  # a frame of white space only is shown as it is
    is_whole = len(frame) <= _ENOUGH_BYTES  # otherwise the cut may have left half a character at the end
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(start, is_whole)
    except UnicodeDecodeError:
        # A MessagePack frame begins with a byte that begins no text.
        text = "0x" + start.hex() if start[0] >= 0x80 else start.decode(errors="backslashreplace")
    text = printable(text.replace("\t", "\\t"))
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
