"""Finds the lines of a bot's own files that compilers, interpreters and traces mention."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from msgspec import Struct

MAX_PLACES = 10
"""At most this many places of one finding are kept."""
MOST_CHARACTERS = 1000
"""Of a longer line only the beginning is read: a bot may write what takes a search very long."""
_SUFFIX = r"\.(?:c|h|cc|cpp|hpp|go|java|js|mjs|cjs|ts|rs|py|rb|lua|pl|toml)"
_FILE = rf"(?P<file>[^\s:()\[\]'\"]+{_SUFFIX})"
_BLANKS = rf"(?P<file>[^:()\[\]'\"]+{_SUFFIX})"
"""The same, with blanks in it: only at a place where a name begins."""
_AT = r":(?P<line>\d{1,9})(?!\d)(?::(?P<column>\d{1,9}))?"
_FORMS = [
    re.compile(form)
    for form in (
        r'File "(?P<file>[^"]+)", line (?P<line>\d{1,9})(?P<column>)',  # Python
        rf"-->\s*{_BLANKS}{_AT}(?P<text>)",  # rustc; its message is on an earlier line
        rf"{_FILE}:\[(?P<line>\d{{1,9}}),(?P<column>\d{{1,9}})\]\s*(?P<text>.*)",  # Maven
        rf"{_FILE}\((?P<line>\d{{1,9}}),(?P<column>\d{{1,9}})\):\s*(?P<text>.*)",  # tsc
        r"\((?P<file>[^\s:()]+\.java):(?P<line>\d{1,9})\)(?P<column>)",  # a Java trace
        rf"^{_BLANKS}{_AT}:?\s*(?P<text>.*)",
        rf"(?:file://)?{_FILE}{_AT}:?\s*(?P<text>.*)",  # gcc, g++, go, javac, node, ruby, lua
    )
]


class Place(Struct, frozen=True):
    """A line of a file."""

    file: str
    """The path from the bot's folder, with slashes."""
    line: int
    column: int | None = None
    text: str = ""
    """The message on the same line."""


def places(lines: Iterable[str], folder: Path) -> tuple[Place, ...]:
    """Returns the places in the bot's own files that these lines mention; not those in a kit or a library.

    Errors come before warnings and notes. The innermost call of a Python trace comes first.
    """
    unique: dict[tuple[str, int], Place] = {}
    traced = []
    for line in lines:
        for form in _FORMS:
            if (match := form.search(line[:MOST_CHARACTERS])) is None:
                continue
            groups = match.groupdict()
            file = _inside(groups["file"], folder)
            if file is None:
                continue
            if int(groups["line"]) > 0:
                column = int(groups["column"]) if groups.get("column") else None
                place = Place(file, int(groups["line"]), column, (groups.get("text") or "").strip())
                if form is _FORMS[0]:
                    traced.append(place)
                else:
                    unique.setdefault((file, place.line), place)
            break
    for place in reversed(traced):
        unique.setdefault((place.file, place.line), place)
    return tuple(sorted(unique.values(), key=_is_minor)[:MAX_PLACES])


def _is_minor(place: Place) -> bool:
    return bool(re.match(r"(\w+ )?(warning|note)\b", place.text))


def _inside(path: str, folder: Path) -> str | None:
    """Returns the path from the bot's folder, without the path of the copy in which the bot was built."""
    parts = PurePosixPath(path.removeprefix("file://")).parts
    for start in range(len(parts)):
        inside = PurePosixPath(*parts[start:])
        if ".." in inside.parts or inside.is_absolute():
            continue
        try:
            if (folder / inside).is_file():
                return inside.as_posix()
        except (OSError, ValueError):
            continue
    return None
