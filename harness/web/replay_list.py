"""The records that a viewer may show: one file, or a folder of them. A page names a record by its number here, never by
a path."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.replay.formats.imported_frames import read_record
from referee.harness.replay.formats.imports import Form, form_of
from referee.harness.replay.reader import opened
from referee.harness.replay.writer import is_written

TAIL_BYTES = 1 << 16
BEGINNING_BYTES = 64
"""So much tells what kind of file it is."""
MOST = 20_000
"""So many records are listed, the newest."""


class Fault(Struct, frozen=True):
    """A fault in a list."""

    player: int
    kind: str


class Entry(Struct, frozen=True, omit_defaults=True):
    """A record in the list."""

    number: int
    title: str
    """The file's name, or the game's key in a ledger."""
    game: str
    names: tuple[str, ...]
    at: float
    """When it was written last, in seconds since 1970."""
    live: bool = False
    seed: int = 0
    turns: int = 0
    ranks: tuple[int, ...] = ()
    reason: str = ""
    """Why it ended; empty: it has no end."""
    faults: tuple[Fault, ...] = ()
    """Those with a report in the last line."""
    more_faults: int = 0
    """Number of faults that the last line only counts."""
    people: tuple[int, ...] = ()


class Source(ABC):
    """Where the bytes of one record are."""

    path: Path
    """Of the file, or of what holds it: for messages."""

    @property
    def name(self) -> str:
        return self.path.name

    @abstractmethod
    def read(self, start: int) -> bytes:
        """Everything from that byte on. OSError if it is gone."""

    def grows(self) -> bool:
        """Whether it is still written."""
        return False

    def stderr(self, player: int) -> bytes:
        """What that seat wrote for its author; b"" if that was nothing, or was not kept."""
        return b""


class FileSource(Source):
    """A record in a file of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, start: int) -> bytes:
        with opened(self.path) as file:
            file.seek(start)
            return file.read()

    def grows(self) -> bool:
        return is_written(self.path)

    def stderr(self, player: int) -> bytes:
        try:
            return self.path.with_name(f"{self.path.stem}.seat{player}.stderr").read_bytes()
        except OSError:
            return b""


class Shelf(ABC):
    """What there is to see."""

    @abstractmethod
    def entries(self) -> list[Entry]:
        """All records that can be listed now: those that are played at this moment first, then the newest."""

    @abstractmethod
    def source(self, number: int) -> Source | None:
        """The record of that number; None = there is none."""


class FileShelf(Shelf):
    """A single record, or more that are added one after the other."""

    def __init__(self, *paths: Path) -> None:
        self._paths: list[Path] = []
        self._numbers: dict[Path, int] = {}
        self._known: dict[Path, tuple[tuple[int, int], Entry]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> int:
        """Its number, which stays."""
        number = self._numbers.setdefault(path, len(self._paths))
        if number == len(self._paths):
            self._paths.append(path)
        return number

    def entries(self) -> list[Entry]:
        found = [entry for number, path in enumerate(self._paths) if (entry := self._entry(number, path)) is not None]
        return sorted(found, key=lambda entry: (not entry.live, -entry.at))[:MOST]

    def source(self, number: int) -> Source | None:
        return FileSource(self._paths[number]) if number in range(len(self._paths)) else None

    def _entry(self, number: int, path: Path) -> Entry | None:
        """What the list says of a file; None if that is no record. What has not changed is not read again."""
        try:
            found = path.stat()
            state = found.st_size, found.st_mtime_ns
            known = self._known.get(path)
            if known is not None and known[0] == state and not known[1].live:
                return known[1]
            entry = read_entry(path, number, found.st_mtime)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None
        self._known[path] = state, entry
        return entry


class Folder(FileShelf):
    """Every record below a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def entries(self) -> list[Entry]:
        self._find()
        return super().entries()

    def source(self, number: int) -> Source | None:
        """An address may be older than this server, or than its last look."""
        if super().source(number) is None:
            self._find()
        return super().source(number)

    def _find(self) -> None:
        for path in sorted(_records(self.folder)):
            self.add(path)


def _records(folder: Path) -> list[Path]:
    """Files that may be records; links are not followed."""
    found = []
    for top, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(top, name) for name in files if name.endswith((".jsonl", ".jsonl.gz"))]
        found += [path for name in files if name.endswith(".txt") and _is_original(path := Path(top, name))]
    return found


def _is_original(path: Path) -> bool:
    """Whether it begins as a file of an original competition does."""
    try:
        with path.open("rb") as file:
            return form_of(file.read(BEGINNING_BYTES)) is not None
    except OSError:
        return False


class _Setup(Struct):
    seed: int
    names: tuple[str, ...]


class _Header(Struct):
    replay: int
    game: str
    setup: _Setup
    people: tuple[int, ...] = ()


class _Result(Struct):
    ranks: tuple[int, ...]
    reason: str


class _Seat(Struct):
    faults: int | None = None


class _Ending(Struct):
    result: _Result | None
    seats: tuple[_Seat, ...] = ()
    faults: tuple[Fault, ...] = ()
    aborted: str = ""


def read_entry(path: Path, number: int, at: float) -> Entry:
    """From the first line and the last ones. OSError, MsgspecError or ValueError if it is no record."""
    with opened(path) as file:
        first = file.readline(1 << 24)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        tail = file.read().splitlines()
    if (form := form_of(first)) is not None:
        return _original_entry(path, number, at, form, first, tail)
    header = msgspec.json.decode(first, type=_Header)
    ending, turns = None, 0
    for line in reversed(tail):
        if ending is None and line.startswith(b'{"result":'):
            ending = _decoded(line)
        elif line.startswith(b'{"turn":'):
            turns = int(line[8:].partition(b",")[0])
            break
    over = ending is not None
    result = ending.result if ending is not None else None
    return Entry(
        number=number,
        title=path.name,
        game=header.game,
        names=header.setup.names,
        at=at,
        live=not over and is_written(path),
        seed=header.setup.seed,
        turns=turns,
        ranks=() if result is None else result.ranks,
        reason=result.reason if result is not None else ("aborted" if ending is not None and ending.aborted else ""),
        faults=() if ending is None else ending.faults,
        more_faults=0
        if ending is None
        else max(0, sum(seat.faults or 0 for seat in ending.seats) - len(ending.faults)),
        people=header.people,
    )


def _original_entry(path: Path, number: int, at: float, form: Form, first: bytes, tail: Sequence[bytes]) -> Entry:
    """Of a file of an original competition. It has no result, so that the scores stand there."""
    reader = form.reader(first)
    left, scores = next((found for line in reversed(tail) if (found := form.standing(line))), (reader.total, ()))
    return Entry(
        number=number,
        title=path.name,
        game=form.game,
        names=reader.names,
        at=at,
        turns=reader.total - left,
        reason=f"original file: {' and '.join(map(str, scores))} points" if scores else "original file",
    )


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line, type=_Ending)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def shelf_of(path: Path) -> Shelf:
    """What is to be seen at a path: a record, or a folder with records. UsageError if there is no such thing. A file
    whose first line is not written yet may become a record."""
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file or folder")
    with opened(path) as file:
        first = file.readline()
    if first.endswith(b"\n"):
        read_record(path, first)
    return FileShelf(path)
