"""The standings as CSV for people who keep marks: everybody who handed in, and everybody of a class list."""

import csv
import io
import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from referee.addons.tournament.plan import free
from referee.addons.tournament.reports.people import SHOWN, decoded, is_address, people
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import read_limited
from referee.protocol.text import printable

MISSING, DISQUALIFIED, REFUSED, UNDECIDED = "nothing handed in", "disqualified", "refused", "not decided"
EARLIER = "an earlier version plays"
UNCLEAR = "not clear whose it is:"
"""Begins the status of a person whose name several rows have."""
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
"""How a cell begins that a spreadsheet runs as a formula (OWASP, CSV injection)."""
NUMBER = re.compile(r"\+?\d[\d .,/-]*")
"""A cell that is a number, such as of a student, and no name of a column."""
MOST_SHOWN = 60
"""The most letters of a cell that a doubt shows."""
BOM = "\ufeff"
"""Begins a text that Excel is to read as UTF-8."""
CLASS = "class "
"""Begins the names of the columns that come from a class list."""


class HandedIn(Struct, frozen=True):
    """What somebody handed in."""

    name: str
    file: str
    """Its path inside the folder that was handed in."""
    status: str
    """Such as `plays` or `refused`."""
    reason: str = ""
    """Why it was refused."""
    ids: tuple[str, ...] = ()
    """The person's numbers in the course system; of a team, the names of its members and its address."""
    is_team: bool = False
    """Several people may have handed it in together."""
    versions: int = 0
    """How many versions were handed in; 0 = that is not counted."""
    refused: int = 0
    """Of these, how many were refused."""


class ClassList(Struct, frozen=True):
    """A class list: a line for each person."""

    columns: tuple[str, ...]
    people: tuple[tuple[str, ...], ...]


def plain(value: object) -> object:
    """Returns a cell that no spreadsheet runs as a formula: text that begins like one gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if FORMULA.match(text) else text


def table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Returns CSV with a line for each row. Columns that a row lacks are empty."""
    written = io.StringIO()
    writer = csv.DictWriter(written, [str(plain(name)) for name in columns], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({str(plain(name)): plain(value) for name, value in row.items()})
    return written.getvalue().rstrip("\n")


def read_class_list(path: Path, known: Iterable[str] = ()) -> tuple[ClassList, list[str]]:
    """Reads a class list, and returns it with what may be read wrong. UsageError if it is none.

    Its first line names the columns, unless that has an address. `known`: the names under which people handed in.
    """
    try:
        text, doubts = decoded(read_limited(path))
        listed, more = class_list(text, known)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {reason(error)}") from error
    except (UsageError, ValueError) as error:  # a NUL in the name is a ValueError
        raise UsageError(f"{path}: {error}") from error
    return listed, [*doubts, *more]


def class_list(text: str, known: Iterable[str] = ()) -> tuple[ClassList, list[str]]:
    """Reads the text of a class list; see `read_class_list`."""
    found, doubts = people(text), list[str]()
    columns, persons = found.header, found.rows
    if columns is None and persons and not any(map(is_address, persons[0])):
        columns, persons = persons[0], persons[1:]
    if not persons:
        raise UsageError("expected a line with the names of the columns, and a line for each person")
    if columns is None:
        doubts.append("line 1 has an address, so that it is a person and does not name the columns")
    else:
        doubts += _doubts(columns, persons, known)
    names = [name or f"column {number}" for number, name in enumerate(columns or [""] * found.width, 1)]
    taken: set[str] = set()
    return ClassList(tuple(free(name, taken, " {}") for name in names), tuple(persons)), [*doubts, *found.doubts]


def names_of(handed_in: Iterable[HandedIn]) -> set[str]:
    """Returns all names under which people handed in, with the numbers that course systems have for them."""
    return {name for each in handed_in for name in (each.name, *each.ids)}


def _doubts(columns: Sequence[str], persons: Sequence[Sequence[str]], known: Iterable[str]) -> Iterator[str]:
    """Yields why the first line may be a person, or a title, and not name the columns."""
    keys = {key for name in known for key in _keys(name)}
    strange = [f"{cell[:MOST_SHOWN]}, a number" for cell in columns if NUMBER.fullmatch(cell)]
    strange += [f"{text[:MOST_SHOWN]}, who handed in" for text in _texts(columns) if not keys.isdisjoint(_keys(text))]
    if strange:
        yield (
            f"the first line is taken for the names of the columns, but has {'; '.join(strange[:SHOWN])}; if it is a "
            "person, add a line with the names of the columns above it"
        )
    filled = [sum(map(bool, cells)) for cells in zip(*persons, strict=True)]
    if any(not name and 2 * count > len(persons) for name, count in zip(columns, filled, strict=True)):
        yield "the first line has no name for a column that others fill; if it is a title, remove it"


def _texts(person: Sequence[str]) -> list[str]:
    """Returns the cells of a line, and each two that follow each other, as in first and last name."""
    return [*person, *(f"{one} {other}" for one, other in pairwise(person) if one and other)]


def with_class(
    rows: Sequence[Mapping[str, object]],
    ids: Mapping[str, Sequence[str]],
    listed: ClassList,
    teams: Container[str] = (),
) -> list[dict[str, object]]:
    """Adds the columns of a class list to the rows of its people, and a row for everybody else on it.

    A person has a row if a cell of the list, or two cells that follow each other, are the row's name: in any order of
    words, with or without a comma, in capitals, or as Canvas writes it. A number in the course system is as good.
    `ids`: these numbers by the rows' names. `teams`: the names of the rows that several people may have.
    """
    owners: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        name = str(row["name"])
        texts = ids.get(name, ())
        for key in {*_keys(name), *(key for id in texts for key in (f"participant {id}", *_keys(id)))}:
            owners.setdefault(key, []).append(place)
    result = [{**row} for row in rows]
    for person in listed.people:
        cells = {f"{CLASS}{column}": cell for column, cell in zip(listed.columns, person, strict=True)}
        found = [owners[key] for text in _texts(person) for key in _keys(text) if key in owners]
        mine = next((places[0] for places in found if len(places) == 1), None)
        if mine is not None and str(rows[mine]["name"]) in teams and f"{CLASS}{listed.columns[0]}" in result[mine]:
            result.append({**rows[mine], **cells})  # another one of the same team
        elif mine is None and found:  # somebody may have typed the name of somebody else
            claimed = sorted({str(rows[place]["name"]) for places in found for place in places})
            status = f"{UNCLEAR} {', '.join(claimed[:SHOWN])}"
            result.append({"name": next(filter(None, person)), "status": status, **cells})
        elif mine is None or f"{CLASS}{listed.columns[0]}" in result[mine]:
            result.append({"name": next(filter(None, person)), "status": MISSING, **cells})
        else:
            result[mine] |= cells
    return result


def _keys(text: str) -> set[str]:
    """Returns texts of which two that name the same person have one in common."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())
    if not words:
        return set()
    orders = (words, [words[-1], *words[:-1]])
    return {" ".join(sorted(words)), *map(_letters, orders)}


def _letters(words: Sequence[str]) -> str:
    """Returns the letters of words without accents, as Canvas names files."""
    text = unicodedata.normalize("NFKD", "".join(words))
    return "".join(letter for letter in text if not unicodedata.combining(letter))
