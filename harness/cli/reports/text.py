"""What every report is made of: text that a terminal may be given."""

from collections.abc import Sequence
from typing import Any

import msgspec

from referee.protocol.errors import printable as printable

LINE_CHARACTERS = 160


def cut(text: str) -> str:
    """`text`, printable, and no longer than a line or two."""
    text = printable(text)
    return text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "…"


def as_json(value: Any) -> str:
    """`value` as JSON, no longer than a line or two."""
    return cut(msgspec.json.encode(value).decode())


def short(names: Sequence[str], width: int) -> list[str]:
    """The names in at most `width` characters each, at least four; those that differ still do. What is left out of one
    is in its middle, or else before a number of its own."""
    width = max(width, 4)
    tail = max(1, width // 2)
    cut = [name if len(name) <= width else f"{name[: width - tail - 1]}…{name[-tail:]}" for name in names]
    for index, name in enumerate(cut):
        if cut.index(name) != index and names[cut.index(name)] != names[index]:
            number = f"…{index}"
            cut[index] = name[: width - len(number)] + number
    return cut
