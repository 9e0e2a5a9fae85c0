"""Text that all emitters write: literals, comments, and lists that may be too long for a line."""

import json
import textwrap
from typing import Any

WIDTH = 120


def literal(value: Any) -> str:
    """A text, number or truth value, as every language but Python writes it."""
    return json.dumps(value, ensure_ascii=False)


def same_kind(values: list[Any]) -> list[Any]:
    """The items of a constant list, all as floats if one of them is: a list has one type."""
    return [float(value) for value in values] if any(isinstance(value, float) for value in values) else values


def comment(text: str, indent: int, mark: str, width: int = WIDTH) -> list[str]:
    """The lines of a comment, each beginning with `mark`; none for no text."""
    start = " " * indent + mark
    return textwrap.wrap(
        text, width, initial_indent=start, subsequent_indent=start, break_long_words=False, break_on_hyphens=False
    )


def noted(line: str, text: str, mark: str) -> list[str]:
    """A line with a comment behind it, where there is room for one, else above it."""
    if text and len(line) + len(f"  {mark}{text}") <= WIDTH:
        return [f"{line}  {mark}{text}"]
    return [*comment(text, len(line) - len(line.lstrip()), mark), line]


def on_lines(head: str, items: list[str], tail: str) -> list[str]:
    """`head` + items + `tail`: on one line, else one item a line."""
    line = head + ", ".join(items) + tail
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(head) - len(head.lstrip()))
    return [head.rstrip(), *(f"{indent}    {item}," for item in items), indent + tail.lstrip()]


def filled(head: str, items: list[str], tail: str, width: int = WIDTH) -> list[str]:
    """`head` + items + `tail`, separated by commas; lines that would be too long go on below the first item."""
    lines, indent = [head], " " * len(head)
    for number, item in enumerate(items):
        piece = item + (tail if number == len(items) - 1 else ",")
        if len(lines[-1]) + len(piece) + 1 > width and lines[-1].strip():
            lines.append(indent + piece)
        else:
            lines[-1] += piece if number == 0 else " " + piece
    return lines if items else [head + tail]
