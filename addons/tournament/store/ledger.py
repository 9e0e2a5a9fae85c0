"""Writes the ledger: a file of JSON lines per run, one line per finished game, and packs of replays.

Only the driver of a run writes. A kill at any moment loses no written line. Readers ignore a last line that was cut
short, and the next run removes it. Of equal keys the earliest line counts, so that copying files merges ledgers.
"""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from referee.harness.common.errors import RunError, UsageError, reason, writing
from referee.harness.common.measures import in_standings
from referee.harness.common.paths import TOURNAMENT_FILE, make_folder, opener, replace_file
from referee.harness.process.machine_effects import MachineEffects

PLAN = TOURNAMENT_FILE
LINES, PACKS, BOTS, RULES = "ledger", "replays", "bots", "rules"
"""The files and folders of a tournament."""
LOCK = ".lock"
READ_BYTES = 1 << 20
PACK_BYTES = 1 << 30
FIGURES = ("prompt_tokens", "completion_tokens", "cost", "completions", "illegal")
"""The members of a `Use` that tables and databases have as columns."""
if TYPE_CHECKING:
    Use = Any
else:
    Use = in_standings().value
    """The type of the costs that standings sum up, if an add-on has a measure for them."""


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
    """The last lines of its stderr: for its author and the organiser, not for the public."""
    noise: bool = False
    """Whether machine load may have caused it, as the match found (`process.core_wait.lacked_time`)."""
    took: int = 0
    """Of a time-out: the time that was up, in microseconds: of the call, or of all calls if the seat has a bank."""
    wait: int = 0
    """Of a time-out: how much of that time the bot lacked because of the machine, in microseconds."""
    ran: int = 0
    """Of a time-out: the CPU time of the bot in that time, in microseconds."""


class Line(Struct, frozen=True, omit_defaults=True):
    """A finished game. Field names are short because there may be millions."""

    k: str
    """Its key, `conditions/bots/seed-group/row`."""
    b: tuple[str, ...]
    """The bots' idents, in seat order like all other lists."""
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
    """The bots' call costs, in microseconds."""
    c: tuple[int, ...] = ()
    """Their CPU time, in microseconds."""
    a: str = ""
    """The hash of the course of the game, equal for repeats."""
    at: float = 0.0
    """When it ended, in seconds since 1970."""
    by: str = ""
    """Host and worker."""
    z: tuple[int, int, int] | None = None
    """The place of its replay: number of the pack, offset, length in bytes."""
    f: tuple[Fault, ...] = ()
    """The first faults of each seat, in their order."""
    m: tuple[int, ...] = ()
    """By seat, the number of faults that are not in `f`; empty = none."""
    n: tuple[int, ...] = ()
    """By seat, the number of all faults that machine load may have caused; empty = all are in `f`."""
    d: tuple[int, ...] = ()
    """By seat, the share of its calls' time for which the machine kept it from running, in percent; empty = all 0."""
    o: MachineEffects | None = None
    """The worker's machine: only in its first line."""
    i: tuple[str, ...] = ()
    """Isolation layers that the worker's machine may have and that no bot got: their trial failed."""
    u: tuple[Use | None, ...] = ()
    """By seat, the tokens and cost of a language model; empty = none took part."""
    j: int | None = None
    """What the case of a test run paid."""
    void: bool = False
    """It does not count: it was slowed by machine load and played again."""
    forfeit: bool = False
    """It was not played to an end: a bot was expelled."""


class Head(Struct, frozen=True):
    """The first line of a file."""

    ledger: int
    host: str
    at: float
    plan: dict[str, Any]


def game_name(key: str) -> str:
    """Returns the name of a game's files, without their endings."""
    return key.replace("/", "_")


def files(folder: Path) -> list[Path]:
    """Returns the ledger's files by name: of equal times the first file counts."""
    return sorted((folder / LINES).glob("*.jsonl"))


def lines(file: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yields each whole line from `start` on, with the position of its end."""
    with file.open("rb") as source:
        source.seek(start)
        rest, end = b"", start
        while block := source.read(READ_BYTES):
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                end += len(line) + 1
                yield end, line


def discard_heads(folder: Path) -> None:
    """Removes the files of runs that played nothing."""
    for file in files(folder):
        if sum(1 for _ in islice(lines(file), 2)) < 2:
            file.unlink()


def pack_path(folder: Path, stem: str, number: int) -> Path:
    """Returns a pack of the ledger file with that stem."""
    return folder / PACKS / f"{stem}-{number:03}.gz"


def make_tournament_folder(folder: Path, mode: int = 0o777) -> None:
    """Makes the folder of a tournament. UsageError for one with other files, which a tournament could replace."""
    with writing(folder):
        make_folder(folder.parent)
        folder.mkdir(mode, exist_ok=True)
        others = [path for path in folder.iterdir() if not path.name.startswith(".")]
        if others and not (folder / PLAN).exists():
            raise UsageError(f"{folder} holds other files and no {PLAN}; name a new folder")


class FolderInUse(UsageError):
    """Another process has locked a tournament's folder."""


@contextmanager
def claimed(folder: Path, lock_file: str = LOCK, user: str = "run") -> Iterator[None]:
    """Locks a tournament's folder. Raises FolderInUse if another run has it, RunError if it cannot be written."""
    with writing(folder):
        lock = opener(folder / lock_file, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        advice = "wait for it, or use another folder"
        raise FolderInUse(f"{folder}: another {user} is using this folder; {advice}") from error
    try:
        yield
    finally:
        os.close(lock)


class Ledger:
    """The files that a run writes in a tournament's folder, which must be `claimed`."""

    def __init__(self, folder: Path, head: dict[str, Any]) -> None:
        self.folder = folder
        for part in (LINES, PACKS, BOTS):
            make_folder(folder / part)
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
        now = time.time()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f"{int(now * 1e6) % 1_000_000:06}"
        for number in range(1000):
            again = f"-{number}" if number else ""
            file = self.folder / LINES / f"{stamp}-{self.host}-{os.getpid()}{again}.jsonl"
            if pack_path(self.folder, file.stem, 0).exists():  # of a file that somebody has removed
                continue
            try:
                os.close(opener(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            except OSError as error:
                raise RunError(f"{file} cannot be written: {reason(error)}") from error
            return file
        raise RunError(f"{self.folder / LINES} already has a thousand files of this second; start again a second later")

    def append(self, played: list[tuple[bytes, bytes | None]]) -> None:
        """Writes games: encoded lines without `z`, each with its replay as a gzip member or None.

        Replays go first, so that no line names a missing one. Raises RunError when the disk is full.
        """
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
        """Syncs everything to disk, packs before lines. May run in a thread at the same time as `append`."""
        if self._unsynced:
            self._unsynced = False
            for file in (self._pack, self._lines):
                if file is not None:
                    os.fdatasync(file)

    def close(self) -> None:
        """Syncs and closes the files."""
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
        with writing(path):
            self._pack = opener(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        self._pack_size = 0

    def _write(self, file: int, data: bytes) -> None:
        """Writes all or nothing: a full disk takes a part first, which is removed again."""
        size = os.fstat(file).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            os.ftruncate(file, size)
            full = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error.strerror)
            raise RunError(f"{self.folder}: the ledger cannot be written: {full}; make room, then go on") from error


def _cut_torn(file: Path) -> None:
    """Removes a last line without a newline, which was being written when its run was killed."""
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
    """Copies the files that another folder has and this one lacks. Returns their number.

    Raises UsageError if both have different files of the same name, which no two runs write.
    """
    if not (source / LINES).is_dir():
        raise UsageError(f"{source} holds no tournament: there is no {LINES}/")
    copied = 0
    for part in (RULES, BOTS, PACKS, LINES):  # lines last: they name the others
        make_folder(folder / part)
        for file in sorted(path for path in (source / part).glob("*") if path.is_file()):
            copied += _copied(file, folder / part / file.name)
    return copied


def _copied(file: Path, to: Path) -> bool:
    """Copies a file if it is new or longer than the old copy. Returns whether it did."""
    data = file.read_bytes()
    old = to.read_bytes() if to.exists() else b""
    if data[: len(old)] != old[: len(data)]:
        raise UsageError(
            f"{file} and {to} are different files with the same name; keep the one that belongs to this tournament"
        )
    if to.exists() and len(data) <= len(old):
        return False
    replace_file(to, data)
    return True
