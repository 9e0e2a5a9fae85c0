"""Reads tables of people that others have made: class lists, and teams with their addresses."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from referee.harness.common.errors import UsageError

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
"""The first of these is taken of two that fit equally well: a comma may also be in a name."""
ADDRESS = re.compile(r"[^@<>]*<[^\s@<>:;,|]+@[^\s@<>:;,|]+>|[^\s@<>:;,|]+@[^\s@<>:;,|]+")
"""An address, with a name before it or not."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SEPARATOR_LINE = re.compile(r'\s*"?sep=([^\r\n"])"?\1*+[ \t]*+(\r\n?|\n)', re.IGNORECASE)
"""The first line of a file that tells Excel the separator."""
SHOWN = 5
"""The most lines that a doubt names."""

Row = tuple[str, ...]


class People(Struct):
    """A table of people: cells without blanks around them, as many in each line."""

    header: Row | None
    """The names of the columns. None: the first line is a person, too."""
    rows: list[Row]
    doubts: list[str]
    """What may be read wrong, in words."""

    @property
    def width(self) -> int:
        return max(map(len, self.rows), default=0)


def decoded(content: bytes) -> tuple[str, list[str]]:
    """Returns a file's text, and a doubt about its encoding. UsageError for what is no text."""
    doubts = []
    try:
        text = content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")  # as Excel saves "CSV (comma separated)"
        doubts = ["it is no UTF-8 and was read as Windows-1252; look at its accents and umlauts"]
    if "\0" in text:
        raise UsageError("it has NULs, as no text has; save it as CSV in UTF-8")
    return text, doubts


def people(text: str) -> People:
    """Reads a table. The separator is the one that gives every line as many cells, and whole addresses.

    If some lines have an address and the first has none, it is the header. UsageError for what is no table.
    """
    text = text.removeprefix("\ufeff")
    named = SEPARATOR_LINE.match(text)
    if named is not None:
        text = "\n" * len(named[0].splitlines()) + text[named.end() :]  # doubts name the lines of the file
    tables, problem = {}, csv.Error()
    for each in named[1] if named else SEPARATORS:
        try:
            tables[each] = _lines(text, each)
        except csv.Error as error:
            problem = error
    if not tables:
        raise UsageError(f"expected CSV: {problem}")
    separator, lines = max(tables.items(), key=lambda table: _fit(table[1]))  # the first of those that are equal
    if not lines:
        return People(None, [], [])
    width = max(len(row) for _, row in lines)
    rows = [(*row, *[""] * (width - len(row))) for _, row in lines]
    with_address = [any(map(is_address, row)) for row in rows]
    has_header = any(with_address) and not with_address[0] and not any("@" in cell for cell in rows[0])
    return People(rows[0] if has_header else None, rows[has_header:], [*_doubts(lines, separator)])


def is_address(cell: str) -> bool:
    """Whether a cell is an address and nothing else."""
    return ADDRESS.fullmatch(cell) is not None


def _lines(text: str, separator: str) -> list[tuple[int, Row]]:
    """Returns the cells of each line that is not empty, and the line's number."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    rows = ((reader.line_num, tuple(" ".join(cell.split()) for cell in cells)) for cells in reader)
    return [(number, row) for number, row in rows if any(row)]


def _fit(lines: Sequence[tuple[int, Row]]) -> tuple[int, bool, bool, int]:
    """Returns how well a separator fits. One that most lines lack does not; one that a few lack is doubted."""
    usual, often = _usual(lines)
    addresses = sum(map(is_address, (cell for _, row in lines for cell in row)))
    return addresses, usual > 1, often == len(lines), usual


def _usual(lines: Sequence[tuple[int, Row]]) -> tuple[int, int]:
    """Returns how many cells most lines have, and how many lines these are."""
    return next(iter(Counter(len(row) for _, row in lines).most_common(1)), (0, 0))


def _doubts(lines: Sequence[tuple[int, Row]], separator: str) -> list[str]:
    usual, _ = _usual(lines)
    uneven = [f"line {number} has {len(row)}" for number, row in lines if len(row) != usual]
    doubts = []
    if uneven:
        more = f" and {len(uneven) - SHOWN} more" if len(uneven) > SHOWN else ""
        cells = "cell" if usual == 1 else "cells"
        doubts.append(
            f"separated by {SEPARATORS.get(separator, separator)}, most lines have {usual} {cells}, but "
            f"{', '.join(uneven[:SHOWN])}{more}"
        )
    mixed = [str(number) for number, row in lines if any("@" in cell and not is_address(cell) for cell in row)]
    if mixed:
        more = f" and {len(mixed) - SHOWN} more" if len(mixed) > SHOWN else ""
        doubts.append(f"an address and something else are in one cell of line {', '.join(mixed[:SHOWN])}{more}")
    return doubts
