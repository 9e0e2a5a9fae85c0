"""Text that is safe to print on a terminal."""

from collections.abc import Sequence
from typing import Any

import msgspec

from referee.protocol.text import counted as counted
from referee.protocol.text import printable as printable

LINE_CHARACTERS = 160


def cut(text: str) -> str:
    """Makes a text printable, and cuts it after a line or two."""
    text = printable(text)
    return text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "…"


def as_json(value: Any) -> str:
    """Returns a value as JSON, cut after a line or two."""
    return cut(msgspec.json.encode(value).decode())


def short(names: Sequence[str], width: int) -> list[str]:
    """Shortens names to `width` characters, at least four, so that different names stay different.

    A name loses its middle, or else ends with a number.
    """
    width = max(width, 4)
    tail = max(1, width // 2)
    cut = [name if len(name) <= width else f"{name[: width - tail - 1]}…{name[-tail:]}" for name in names]
    for index, name in enumerate(cut):
        if cut.index(name) != index and names[cut.index(name)] != names[index]:
            number = f"…{index}"
            cut[index] = name[: width - len(number)] + number
    return cut
