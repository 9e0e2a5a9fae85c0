"""Files and lines that compilers, interpreters and traces name, in the bot's own files."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from msgspec import Struct

MOST = 10
"""So many places of one finding are kept."""
_FILE = r"(?P<file>[^\s:()\[\]'\"]+\.(?:c|h|cc|cpp|hpp|go|java|js|mjs|cjs|ts|rs|py|rb|lua|pl|toml))"
_AT = r":(?P<line>\d+)(?::(?P<column>\d+))?"
_FORMS = [
    re.compile(form)
    for form in (
        rf'File "{_FILE}", line (?P<line>\d+)(?P<column>)',  # Python
        rf"-->\s*{_FILE}{_AT}(?P<text>)",  # rustc; its message stands above
        rf"{_FILE}:\[(?P<line>\d+),(?P<column>\d+)\]\s*(?P<text>.*)",  # Maven
        rf"{_FILE}\((?P<line>\d+),(?P<column>\d+)\):\s*(?P<text>.*)",  # tsc
        r"\((?P<file>[^\s:()]+\.java):(?P<line>\d+)\)(?P<column>)",  # a trace of Java's
        rf"(?:file://)?{_FILE}{_AT}:?\s*(?P<text>.*)",  # gcc, g++, go, javac, node, ruby, lua
    )
]


class Place(Struct, frozen=True):
    """A line that was named."""

    file: str
    """As a path from the bot's folder, with slashes."""
    line: int
    column: int | None = None
    text: str = ""
    """What was said of it; empty: nothing on that line."""


def places(lines: Iterable[str], folder: Path) -> tuple[Place, ...]:
    """The places in the bot's own files that these lines name, each once: errors before warnings and notes, else in
    their order; in a trace of Python the innermost first. Others, such as those of a kit or a library, say nothing to
    the bot's author."""
    found: dict[tuple[str, int], Place] = {}
    traced = []
    for line in lines:
        for form in _FORMS:
            if (match := form.search(line)) is None:
                continue
            named = match.groupdict()
            file = _inside(named["file"], folder)
            if file is not None and int(named["line"]) > 0:
                column = int(named["column"]) if named.get("column") else None
                place = Place(file, int(named["line"]), column, (named.get("text") or "").strip())
                if form is _FORMS[0]:
                    traced.append(place)
                else:
                    found.setdefault((file, place.line), place)
            break
    for place in reversed(traced):
        found.setdefault((place.file, place.line), place)
    return tuple(sorted(found.values(), key=_weight)[:MOST])


def _weight(place: Place) -> int:
    return bool(re.match(r"(\w+ )?(warning|note)\b", place.text))


def _inside(path: str, folder: Path) -> str | None:
    """The file as a path from the bot's folder: it was built and runs in a copy, whose path may stand in front."""
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
