"""The replays that a viewer shows: one file, or a folder of them. A page names a replay by number, never by a path."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

import msgspec
from msgspec import Struct

from referee.games.contract import Result
from referee.games.ending import reason_in_words
from referee.harness.common.errors import RunError, UsageError, reason
from referee.harness.common.known_games import find_game
from referee.harness.replay import fault_report
from referee.harness.replay.formats.originals import Format, format_of, read_record
from referee.harness.replay.lines import Ending, Header, more_faults
from referee.harness.replay.reader import open_replay
from referee.harness.replay.writer import is_being_written
from referee.protocol.errors import UNDECODABLE

PIECE_BYTES = 64 << 20
"""How much of a replay is read at a time."""
TAIL_BYTES = 1 << 16
BEGINNING_BYTES = 64
"""How much is read to recognise an original competition's file."""
MOST = 20_000
"""How many replays are listed: the newest."""


IN_SERIES = re.compile(r"(.+)-\d+\.jsonl(?:\.gz)?", re.DOTALL)
"""The name of a series' replay, as `match.series.numbered` makes it. The group is what all of them share."""


class Fault(Struct, frozen=True):
    """A fault in a list."""

    player: int
    kind: str


MAX_LINE_BYTES = 1 << 24
"""The longest first line of a replay that is listed, and the longest standard error that is shown."""


class Entry(Struct, frozen=True, omit_defaults=True):
    """A replay in the list."""

    number: int
    title: str
    """The file's name, or the game's key in a ledger."""
    game: str
    names: tuple[str, ...]
    at: float
    """The time of the last write, in seconds since 1970."""
    live: bool = False
    seed: int = 0
    turns: int = 0
    ranks: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    series: str = ""
    """The same for all matches of a series; empty for a single match."""
    reason: str = ""
    """Why the match ended, in words; empty if the replay has no end."""
    faults: tuple[Fault, ...] = ()
    """Those with a report in the last line."""
    more_faults: int = 0
    """Number of faults that the last line only counts."""
    people: tuple[int, ...] = ()


class ReplaySource(ABC):
    """Reads the bytes of one replay."""

    path: Path
    """The file, or the archive that contains it, for messages."""

    @property
    def name(self) -> str:
        return self.path.name

    @abstractmethod
    def read(self, start: int) -> bytes:
        """Returns what follows that byte, all or much of it. Raises OSError if it is gone."""

    def grows(self) -> bool:
        """Tells whether it is still being written."""
        return False

    def stderr(self, player: int) -> bytes:
        """Returns the standard error of that seat; b"" if nothing was kept."""
        return b""


class FileSource(ReplaySource):
    """A replay in a file of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, start: int) -> bytes:
        with open_replay(self.path) as file:
            file.seek(start)
            return file.read(PIECE_BYTES)

    def grows(self) -> bool:
        return is_being_written(self.path)

    def stderr(self, player: int) -> bytes:
        path = self.path.with_name(f"{self.path.stem}.seat{player}.stderr")
        try:
            if not path.is_file():  # a pipe would be read for good
                return b""
            with path.open("rb") as file:
                return file.read(MAX_LINE_BYTES)
        except OSError:
            return b""


class ReplayList(ABC):
    """The replays of a viewer."""

    @abstractmethod
    def entries(self) -> list[Entry]:
        """Lists all replays: those of running matches first, then the newest."""

    @abstractmethod
    def source(self, number: int) -> ReplaySource | None:
        """Returns the replay of that number; None if there is none."""


class Among(ReplayList):
    """The replays of another list in which all of these players sit; all replays if there is none."""

    def __init__(self, replays: ReplayList, names: frozenset[str]) -> None:
        self._replays, self._names = replays, names

    def entries(self) -> list[Entry]:
        entries = self._replays.entries()
        return [entry for entry in entries if self._names.issubset(entry.names)] or entries

    def source(self, number: int) -> ReplaySource | None:
        return self._replays.source(number)


class Titled(ReplayList):
    """The replays of another list whose titles start with one of these texts; all replays if there is none."""

    def __init__(self, replays: ReplayList, starts: tuple[str, ...]) -> None:
        self._replays, self._starts = replays, starts

    def entries(self) -> list[Entry]:
        entries = self._replays.entries()
        return [entry for entry in entries if entry.title.startswith(self._starts)] or entries

    def source(self, number: int) -> ReplaySource | None:
        return self._replays.source(number)


class FileList(ReplayList):
    """Single files, added one by one."""

    def __init__(self, *paths: Path) -> None:
        self._paths: list[Path] = []
        self._numbers: dict[Path, int] = {}
        self._folders: dict[Path, int] = {}
        self._known: dict[Path, tuple[tuple[int, int], Entry]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> int:
        """Adds a file, and returns its number."""
        number = self._numbers.setdefault(path, len(self._paths))
        if number == len(self._paths):
            self._paths.append(path)
        return number

    def entries(self) -> list[Entry]:
        entries = [self._entry(number, path) for number, path in enumerate(self._paths)]
        return sorted(filter(None, entries), key=lambda entry: (not entry.live, -entry.at))[:MOST]

    def source(self, number: int) -> ReplaySource | None:
        return FileSource(self._paths[number]) if number in range(len(self._paths)) else None

    def _entry(self, number: int, path: Path) -> Entry | None:
        """Returns the entry of a file; None if it is not a replay. Reads an unchanged file once."""
        try:
            status = path.stat()
            if not S_ISREG(status.st_mode):  # opening a named pipe would wait for a writer
                return None
            state = status.st_size, status.st_mtime_ns
            known = self._known.get(path)
            if known is not None and known[0] == state and not known[1].live:
                return known[1]
            entry = read_entry(path, number, status.st_mtime)
            if numbered := IN_SERIES.fullmatch(path.name):
                folder = self._folders.setdefault(path.parent, len(self._folders))
                entry = msgspec.structs.replace(entry, series=f"{folder}/{numbered[1]}")
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            return None
        self._known[path] = state, entry
        return entry


class FolderList(FileList):
    """Every replay below a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def entries(self) -> list[Entry]:
        self._find()
        return super().entries()

    def source(self, number: int) -> ReplaySource | None:
        """Searches the folder again if the number is unknown: a page may be older than this server."""
        if super().source(number) is None:
            self._find()
        return super().source(number)

    def _find(self) -> None:
        for path in sorted(_candidates(self.folder)):
            self.add(path)


def stamp(path: Path) -> list[int] | None:
    """Returns what differs once a file was replaced or written to; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def _candidates(folder: Path) -> list[Path]:
    """Returns files that may be replays. Does not follow links."""
    paths = []
    for top, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if fault_report.DETAILS in files:
            continue  # a fault report, with the match up to the fault
        paths += [Path(top, name) for name in files if name.endswith((".jsonl", ".jsonl.gz"))]
        paths += [path for name in files if name.endswith(".txt") and _is_original(path := Path(top, name))]
    return paths


def _is_original(path: Path) -> bool:
    """Tells whether a file starts like one of an original competition."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return format_of(file.read(BEGINNING_BYTES)) is not None
    except OSError:
        return False


def read_entry(path: Path, number: int, at: float) -> Entry:
    """Reads an entry from the first and last lines. Raises OSError, MsgspecError or ValueError for other files."""
    with open_replay(path) as file:
        first = file.readline(MAX_LINE_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        tail = file.read().splitlines()
    if (form := format_of(first)) is not None:
        return _original_entry(path, number, at, form, first, tail)
    header = msgspec.json.decode(first, type=Header)
    ending, turns = None, 0
    for line in reversed(tail):
        if ending is None and line.startswith(b'{"result":'):
            with suppress(*UNDECODABLE):
                ending = msgspec.json.decode(line, type=Ending)
        elif line.startswith(b'{"turn":'):
            turns = int(line[8:].partition(b",")[0])
            break
    live = ending is None and is_being_written(path)
    ending = ending or Ending(None)
    result, reason = ending.result, "aborted" if ending.aborted else ""
    if result is not None:
        reason = reason_of(header.game, result, header.setup.names)
    return Entry(
        number=number,
        title=_title(path),
        game=header.game,
        names=header.setup.names,
        at=at,
        live=live,
        seed=header.setup.seed,
        turns=turns,
        ranks=() if result is None else result.ranks,
        scores=() if result is None else result.scores,
        reason=reason,
        faults=tuple(Fault(fault.player, fault.kind) for fault in ending.faults),
        more_faults=sum(more_faults(ending.seats, ending.faults)),
        people=header.people,
    )


def _title(path: Path) -> str:
    """Returns the name of a file, with escapes for bytes that are not UTF-8."""
    return path.name.encode("utf-8", "backslashreplace").decode()


def reason_of(game: str, result: Result, names: Sequence[str]) -> str:
    """Returns why a match ended, in words. The game need not be installed."""
    try:
        endings = find_game(game).presentation.endings
    except (UsageError, RunError):
        endings = {}
    return reason_in_words(endings, result, names)


def _original_entry(path: Path, number: int, at: float, form: Format, first: bytes, tail: Sequence[bytes]) -> Entry:
    """Returns the entry of an original competition's file: the scores replace the result, which it lacks."""
    reader = form.reader(first)
    left, scores = next(filter(None, map(form.standing, reversed(tail))), (reader.total, ()))
    return Entry(
        number=number,
        title=_title(path),
        game=form.game,
        names=reader.names,
        at=at,
        turns=reader.total - left,
        reason=f"original file: {' and '.join(map(str, scores))} points" if scores else "original file",
    )


def replay_list(path: Path) -> ReplayList:
    """Lists the replays at a path, a file or a folder. Raises UsageError for anything else.

    Accepts a file whose first line is not written yet.
    """
    if path.is_dir():
        return FolderList(path)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file or folder")
    try:
        with open_replay(path) as file:
            first = file.readline(MAX_LINE_BYTES)
    except OSError as error:
        raise UsageError(f"the replay {path} cannot be read: {reason(error)}") from error
    if first.endswith(b"\n"):
        read_record(path, first)
    return FileList(path)
