"""What has been played: files of JSON lines that only grow, one a run; and the records of the games, in packs.

A line stands for a finished game. Whatever is killed, at whatever moment, loses no line that was written; a last line
that was cut short is ignored by readers and cut off by the next run. Of one key the earliest line counts, so that
ledgers are merged by copying their files. The driver of a run alone writes.
"""

import errno
import fcntl
import gzip
import math
import os
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.tournament.model import Plan, read_plan

PLAN, LINES, PACKS, BOTS = "tournament.toml", "ledger", "replays", "bots"
"""What a tournament's folder holds."""
READ_BYTES = 1 << 20
PACK_BYTES = 1 << 30
ORDERS = {seats: math.factorial(seats) for seats in range(1, 7)}
"""In how many orders so many bots can sit: as many rows has a table."""
MOST = 1 << 62
"""Beyond any game's number."""


class Fault(Struct, frozen=True, omit_defaults=True):
    """A bot's fault in a line; see `match.verdict.FaultReport`."""

    seat: int
    kind: str
    detail: str
    penalty: str = ""
    method: str = ""
    call: int = 0
    turn: int = 0
    words: tuple[str, ...] = ()
    """The last words on its standard error: for its author and the organiser, not for the public."""
    noise: bool = False
    """The call was late because no core was free: the machine's doing, as far as can be told."""


class Line(Struct, frozen=True, omit_defaults=True):
    """A finished game. Short names: there may be millions."""

    k: str
    """Its key, `conditions/bots/orbit/row`."""
    b: tuple[str, ...]
    """The bots' idents, in seat order; so are all other lists."""
    s: int
    """Seed."""
    r: tuple[int, ...]
    """Ranks."""
    p: tuple[float, ...]
    """Points as the game counts them."""
    why: str = ""
    t: int = 0
    """Turns."""
    ms: int = 0
    """How long it took."""
    w: tuple[int, ...] = ()
    """What the bots were charged, in microseconds."""
    c: tuple[int, ...] = ()
    """Their CPU time, in microseconds."""
    a: str = ""
    """Hash of everything that was answered and came of it: equal, if it is the same game again."""
    at: float = 0.0
    """When it ended, in seconds since 1970."""
    by: str = ""
    """Host and lane."""
    z: tuple[int, int, int] | None = None
    """Its record: the number of the pack, offset, bytes."""
    f: tuple[Fault, ...] = ()
    """The first faults of each seat, in the order of the game."""
    m: tuple[int, ...] = ()
    """By seat, the number of faults that are not in `f`; empty: there are none."""
    n: tuple[int, ...] = ()
    """By seat, the number of all faults that may be the machine's; empty: `f` has them all."""
    j: int | None = None
    """What the case of a judged run paid."""
    void: bool = False
    """It does not count: a fault in it was the machine's, and it was played again."""
    forfeit: bool = False
    """It was not played: somebody did not show up, or was expelled."""


class Head(Struct, frozen=True):
    """The first line of a file."""

    ledger: int
    host: str
    at: float
    plan: dict[str, Any]


class Kind(Struct, frozen=True, gc=False):
    """How games end: of a million there are few kinds, and tables count by these."""

    number: int
    """Its place in `Book.kinds`."""
    r: tuple[int, ...]
    p: tuple[float, ...]
    faults: int
    """A bit for each seat with a fault."""
    noise: int
    """A bit for each seat with a fault that may be the machine's."""
    forfeit: bool
    judged: int = -1


class Game(Struct, frozen=True, gc=False):
    """Of a line, what tables need, in little memory."""

    at: float
    kind: Kind
    content: int


class _Brief(Struct, gc=False):
    k: str = ""
    r: tuple[int, ...] = ()
    p: tuple[float, ...] = ()
    at: float = 0.0
    a: str = "0"
    f: tuple["_Seat", ...] = ()
    n: tuple[int, ...] = ()
    j: int = -1
    void: bool = False
    forfeit: bool = False
    ledger: int = 0
    """Of a head, which is no game."""
    plan: "_Tournament | None" = None


class _Tournament(Struct, frozen=True, gc=False):
    """Which one a head is of."""

    game: str | None = None
    seed: int | None = None


class _Origin(Struct):
    """A head, in no more detail than is needed to know another tournament's."""

    ledger: int
    plan: _Tournament = _Tournament()


class _Seat(Struct, gc=False):
    seat: int
    noise: bool = False


class Book:
    """Every game that counts: by table (`conditions/bots`), then by orbit and row."""

    ROWS = 1024
    """More than any table has rows: a game's number is orbit × ROWS + row."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[int, Game]] = {}
        self.kinds: list[Kind] = []
        self.count = 0
        self.doubles = 0
        self.voids = 0
        self.origins: set[_Tournament] = set()
        """Of the heads among its lines."""
        self._kinds: dict[tuple[object, ...], Kind] = {}
        self._decode = msgspec.json.Decoder(_Brief).decode
        self._decode_lines = msgspec.json.Decoder(_Brief).decode_lines

    def add(self, line: bytes) -> bool:
        """Takes a line; False if it counts for nothing, or if its game was there already. ValueError if it is no line.

        Lines may come in any order: of one key the earliest counts.
        """
        return self._add([self._decode(line)]) == 1

    def add_lines(self, block: bytes) -> None:
        """Takes many whole lines, heads among them, at a third of the cost. ValueError if one is damaged; those before
        it may have been taken."""
        self._add(self._decode_lines(block))

    def _add(self, briefs: list[_Brief]) -> int:
        """How many are new."""
        tables, kinds, before = self.tables, self._kinds, self.count
        for brief in briefs:
            if brief.void:
                self.voids += 1
                continue
            if not brief.k:
                if brief.ledger:
                    if brief.plan is not None:
                        self.origins.add(brief.plan)
                    continue
                raise ValueError("it has no key `k`")
            seats = len(brief.r)
            faults = noise = 0
            for fault in brief.f:
                if not 0 <= fault.seat < seats:
                    raise ValueError(f"it has a fault of seat {fault.seat}, and {seats} seats")
                faults |= 1 << fault.seat
                noise |= fault.noise << fault.seat
            for seat, noisy in enumerate(brief.n[:seats]):
                noise |= (noisy > 0) << seat
            what = brief.r, brief.p, faults, noise, brief.forfeit, brief.j
            kind = kinds.get(what)
            if kind is None:
                ranks_fit = seats in ORDERS and min(brief.r) == 1 and max(brief.r) <= seats
                if not ranks_fit or len(brief.p) != seats:
                    raise ValueError(f"it has ranks {brief.r} and points {brief.p}")
                kind = kinds[what] = Kind(len(self.kinds), *what)
                self.kinds.append(kind)
            table, orbit, row = brief.k.rsplit("/", 2)
            games = tables.get(table)
            if games is None:
                if table.count("/") != 1:
                    raise ValueError(f"its key {brief.k!r} is not `conditions/bots/orbit/row`")
                games = tables[table] = {}
            place = int(row)
            number = int(orbit) * self.ROWS + place
            known = games.get(number)
            if known is None:
                if not 0 <= number < MOST or not 0 <= place < ORDERS[seats] or table.count("-") != seats - 1:
                    raise ValueError(f"its key {brief.k!r} is none of a game with {seats} seats")
                self.count += 1
            else:
                self.doubles += 1
                if known.at <= brief.at:
                    continue
            games[number] = Game(brief.at, kind, int(brief.a or "0", 16))
        return self.count - before

    def of(self, tables: dict[str, dict[int, Game]]) -> "Book":
        """Some of its games, as a book that is only read."""
        found = Book()
        found.tables, found.kinds, found.doubles, found.voids = tables, self.kinds, self.doubles, self.voids
        found.count = sum(map(len, tables.values()))
        return found

    def find(self, table: str, orbit: int, row: int) -> Game | None:
        """The game of that key."""
        games = self.tables.get(table)
        return None if games is None else games.get(orbit * self.ROWS + row)


def files(folder: Path) -> list[Path]:
    """The ledger's files, by name: of equal times the first counts."""
    return sorted((folder / LINES).glob("*.jsonl"))


def lines(file: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Each whole line with where it ends, from `start` on; what comes after the last newline is none yet."""
    with file.open("rb") as source:
        source.seek(start)
        rest, end = b"", start
        while block := source.read(READ_BYTES):
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                end += len(line) + 1
                yield end, line


def read(folder: Path, book: Book | None = None, ends: dict[Path, int] | None = None, plan: Plan | None = None) -> Book:
    """Every game of a tournament's folder. With the `book` and `ends` of an earlier reading only what has been added.
    `plan`: whose games they are to be; None = as the folder says.

    RunError names a line that is damaged, UsageError a file that holds lines of another tournament, at its beginning or
    behind others; nothing is left out in silence.
    """
    book = Book() if book is None else book
    ends = {} if ends is None else ends
    if plan is None and (folder / PLAN).exists():
        plan = read_plan(folder / PLAN)
    if plan is not None:
        check_files(folder, plan)
    for file in files(folder):
        for end, block in _blocks(file, ends.get(file, 0)):
            try:
                book.add_lines(block)
            except ValueError:  # msgspec's errors are some
                _name_damaged(file, end - len(block) - 1)  # a block is without its last newline
                raise
            if plan is not None:
                for origin in book.origins:
                    _check_origin(file, origin, plan)
            ends[file] = end
    return book


def check_files(folder: Path, plan: Plan) -> None:
    """UsageError for a file of lines that another tournament wrote, with another seed or game: its keys may be those of
    this one, its games are not. RunError for a file whose first line does not say which one did."""
    decode = msgspec.json.Decoder(_Origin).decode
    for file in files(folder):
        first = next(lines(file), None)  # none: its run was killed before it wrote a line
        if first is not None:
            try:
                origin = decode(first[1])
            except ValueError as error:
                what = "its first line, which says what tournament it is of, is damaged or missing"
                raise RunError(f"{file}: {what}: {error}") from error
            _check_origin(file, origin.plan, plan)


def _check_origin(file: Path, origin: _Tournament, plan: Plan) -> None:
    for name in ("game", "seed"):
        was, now = getattr(origin, name), getattr(plan, name)
        if was not in (None, now):
            raise UsageError(f"{file} is of another tournament: its {name} is {was}, not {now}; move it away")


def _blocks(file: Path, start: int) -> Iterator[tuple[int, bytes]]:
    """As `lines`, many at once."""
    with file.open("rb") as source:
        source.seek(start)
        rest, end = b"", start
        while block := source.read(READ_BYTES):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                end += len(whole) + 1
                yield end, whole


def _name_damaged(file: Path, start: int) -> None:
    book = Book()
    for end, line in lines(file, start):
        try:
            book.add_lines(line)
        except ValueError as error:
            raise RunError(f"{file}: the line that ends at byte {end} is damaged: {error}") from error


def every_line(folder: Path) -> Iterator[tuple[Path, Line]]:
    """All lines in full, those that do not count too, with their file."""
    decode = msgspec.json.Decoder(Line).decode
    for file in files(folder):
        for end, line in lines(file):
            if line and not line.startswith(b'{"ledger":'):
                try:
                    found = decode(line)
                    _check_seats(found)
                except ValueError as error:
                    raise RunError(f"{file}: the line that ends at byte {end} is damaged: {error}") from error
                yield file, found


def _check_seats(line: Line) -> None:
    """ValueError for lists that are not of its seats."""
    seats = len(line.b)
    if (
        len(line.r) != seats
        or len(line.p) != seats
        or any(len(each) not in (0, seats) for each in (line.w, line.c, line.m, line.n))
    ):
        raise ValueError(f"it has {seats} bots and other numbers of ranks, points, times or faults")
    if any(not 0 <= fault.seat < seats for fault in line.f):
        raise ValueError(f"it has a fault of a seat beyond its {seats}")


def counted_lines(folder: Path, book: Book | None = None) -> Iterator[tuple[Path, Line]]:
    """All lines that count, in full: void ones and second ones of a key are left out, and games that are not in the
    `book`, if one is given."""
    book = read(folder) if book is None else book
    given: set[tuple[str, int, int]] = set()
    for file, line in every_line(folder):
        table, orbit, row = line.k.rsplit("/", 2)
        key = table, int(orbit), int(row)
        game = book.find(*key)
        if not line.void and game is not None and game.at == line.at and key not in given:
            given.add(key)
            yield file, line


def record(folder: Path, file: Path, line: Line) -> bytes | None:
    """A game's record as it was written, None if none was kept. RunError if the pack does not hold it."""
    if line.z is None:
        return None
    number, offset, size = line.z
    pack = pack_path(folder, file.stem, number)
    try:
        with pack.open("rb") as source:
            source.seek(offset)
            member = source.read(size)
            if len(member) < size:
                raise EOFError("the file ends before it does")
            return gzip.decompress(member)
    except (OSError, EOFError, zlib.error) as error:
        raise RunError(f"{pack}: the record of {line.k} cannot be read: {error}") from error


def pack_path(folder: Path, stem: str, number: int) -> Path:
    """The pack of that number that goes with a ledger file."""
    return folder / PACKS / f"{stem}-{number:03}.gz"


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """A tournament's folder is one run's: nobody else writes there meanwhile. UsageError while another run has it,
    RunError if it cannot be written."""
    try:
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise UsageError(f"{folder}: another run is at work in this folder") from error
    try:
        yield
    finally:
        os.close(lock)


class Ledger:
    """What a run writes into a tournament's folder. The folder must be `claimed`."""

    def __init__(self, folder: Path, head: dict[str, Any]) -> None:
        self.folder = folder
        for part in (LINES, PACKS, BOTS):
            (folder / part).mkdir(parents=True, exist_ok=True)
        for file in files(folder):
            _cut_torn(file)
        self.host = socket.gethostname()
        self.file = self._new_file()
        self._lines = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._pack: int | None = None
        self._pack_number = -1
        self._pack_size = 0
        self._unsynced = False
        self._write(self._lines, msgspec.json.encode(Head(1, self.host, time.time(), head)) + b"\n")

    def _new_file(self) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        for number in range(1000):
            again = f"-{number}" if number else ""
            file = self.folder / LINES / f"{stamp}-{self.host}-{os.getpid()}{again}.jsonl"
            try:
                os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            except FileExistsError:
                continue
            except OSError as error:
                raise RunError(f"{file} cannot be written: {error.strerror}") from error
            return file
        raise RunError(f"{self.folder / LINES} has a thousand files of this second")

    def append(self, played: list[tuple[bytes, bytes | None]]) -> None:
        """Games as encoded lines without a record's place, each with its record as a gzip member, or None. Records go
        first, so that a line never names one that is not there. RunError when the disk is full."""
        written = []
        members = []
        if any(member is not None for _, member in played) and (self._pack is None or self._pack_size >= PACK_BYTES):
            self._next_pack()
        place = self._pack_size
        for line, member in played:
            if member is None:
                written.append(line)
                continue
            members.append(member)
            written.append(b'%s,"z":[%d,%d,%d]}' % (line[:-1], self._pack_number, place, len(member)))
            place += len(member)
        if members and self._pack is not None:
            self._write(self._pack, b"".join(members))
            self._pack_size = place
        self._write(self._lines, b"\n".join([*written, b""]))
        self._unsynced = True

    def sync(self) -> None:
        """Puts everything on the disk for good, packs before lines. May run in a thread beside `append`."""
        if self._unsynced:
            self._unsynced = False
            for file in (self._pack, self._lines):
                if file is not None:
                    os.fdatasync(file)

    def close(self) -> None:
        """Puts everything on the disk for good."""
        self.sync()
        for file in (self._pack, self._lines):
            if file is not None:
                os.close(file)

    def _next_pack(self) -> None:
        if self._pack is not None:
            os.fdatasync(self._pack)
            os.close(self._pack)
        self._pack_number += 1
        path = pack_path(self.folder, self.file.stem, self._pack_number)
        try:
            self._pack = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror}") from error
        self._pack_size = 0

    def _write(self, file: int, data: bytes) -> None:
        """All of it or nothing: a full disk takes a part first, which is cut off again."""
        size = os.fstat(file).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            os.ftruncate(file, size)
            full = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error.strerror)
            raise RunError(
                f"{self.folder}: the ledger cannot be written: {full}. What is written counts; "
                "the same command with --resume goes on"
            ) from error


def _cut_torn(file: Path) -> None:
    """Removes what stands behind the last newline: a line that was being written when its run was killed."""
    with file.open("r+b") as opened:
        size = position = opened.seek(0, os.SEEK_END)
        while position:
            start = max(0, position - READ_BYTES)
            opened.seek(start)
            newline = opened.read(position - start).rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position < size:
            opened.truncate(position)


def merge(folder: Path, source: Path) -> int:
    """Copies what another folder has and this one has not: its files of lines and packs, each whole; how many.

    UsageError if both have a file of one name with another beginning, which no two runs write.
    """
    if not (source / LINES).is_dir():
        raise UsageError(f"{source} holds no tournament: there is no {LINES}/")
    copied = 0
    for part in (BOTS, PACKS, LINES):  # lines last: they name the others
        (folder / part).mkdir(parents=True, exist_ok=True)
        for file in sorted(path for path in (source / part).glob("*") if path.is_file()):
            copied += _copied(file, folder / part / file.name)
    return copied


def _copied(file: Path, to: Path) -> bool:
    """Whether something was new. A longer file of the same run takes the place of the shorter one."""
    data = file.read_bytes()
    old = to.read_bytes() if to.exists() else b""
    if data[: len(old)] != old[: len(data)]:
        raise UsageError(f"{file} and {to} are different files of one name")
    if to.exists() and len(data) <= len(old):
        return False
    beside = to.with_name(f".{to.name}.new")
    beside.write_bytes(data)
    beside.replace(to)
    return True
