"""Backups of a contest, made while it runs, and their restoring.

A backup is a tar file: the database, as SQLite's backup interface copies it, then all other files of the folder. They
are read in an order in which no file names another one that is missing. So everything that was accepted, and every game
that had ended, before the backup began is in it. It holds secrets: uploads, and the seed of a final that is to come.
"""

import os
import sqlite3
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from unicodedata import category

import msgspec

from referee.harness.errors import RunError, UsageError, writing
from referee.harness.host.migrations import MIGRATIONS
from referee.harness.host.store import FILE, Store
from referee.harness.isolation.plan import Isolation
from referee.harness.isolation.removal import remove
from referee.harness.programs.tar_stream import BROKEN, HEADER_BYTES, Refused, TarStream
from referee.harness.tournament.inbox import INBOX
from referee.harness.tournament.plan import Plan, read_plan
from referee.harness.tournament.store.bot_archives import check_travel
from referee.harness.tournament.store.ledger import BOTS, LINES, PACKS, PLAN

ORDER = (INBOX, PLAN, BOTS, LINES, PACKS)
"""The order of reading: a change moves from the inbox to the plan, a plan names bots, and a line names its replay."""
MOST_FILES = 2_000_000
MOST_BYTES = 4 << 40
LONGEST_PATH = 400
DEEPEST = 8
"""Most folders around a file."""
TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name"
PATHS = "SELECT path FROM submission UNION SELECT log FROM submission UNION SELECT game FROM practice"


def backup(cup: Path, file: Path) -> int:
    """Writes a backup, at once or not at all. Returns its size in bytes."""
    if not (cup / FILE).is_file() or not (cup / PLAN).is_file():
        raise UsageError(f"{cup} holds no hosted contest: expected {PLAN} and {FILE} in it")
    if file.resolve().is_relative_to(cup.resolve()):
        raise UsageError(f"{file} is in the contest's folder; write the backup to another disk")
    new = file.with_name(f".{file.name}.new")
    try:
        with writing(file), tempfile.TemporaryDirectory(prefix="referee-") as scratch:
            database = Path(scratch, FILE)
            _copy_database(cup / FILE, database)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as target:
                with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as tar:
                    _add(tar, database, FILE)
                    for path in _files(cup):
                        _add(tar, path, path.relative_to(cup).as_posix())
                target.flush()
                os.fsync(descriptor)
            new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    return file.stat().st_size


def _copy_database(source: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
            live.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise RunError(f"{source}: cannot be copied: {error}") from error


def _files(cup: Path) -> Iterator[Path]:
    """Yields the files of a folder; those of tournaments in it, such as finals, in the same order."""
    for part in ORDER:
        yield from _below(cup / part)
    for path in sorted(cup.iterdir()):
        if path.name in ORDER or path.name.startswith((".", FILE)):
            continue
        if path.is_dir() and not path.is_symlink() and any(path.glob(f"*/{PLAN}")):
            for each in sorted(each for each in path.iterdir() if not each.name.startswith(".")):
                yield from _files(each) if each.is_dir() else [each]
        else:
            yield from _below(path)


def _below(path: Path) -> Iterator[Path]:
    if path.is_dir() and not path.is_symlink():
        for each in sorted(path.iterdir()):
            if not each.name.startswith("."):  # being written
                yield from _below(each)
    else:
        yield path


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    """Adds an ordinary file, as long as it is now: a ledger may grow meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return  # a change that was applied meanwhile
    except OSError as error:
        if path.is_symlink():
            return
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    with open(descriptor, "rb") as source:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = status.st_size, int(status.st_mtime)
            member.mode = status.st_mode & 0o700
            tar.addfile(member, source)


def restore(file: Path, cup: Path, trust: bool = False) -> int:
    """Makes a contest's folder of a backup, at once or not at all. Returns the number of its files.

    UsageError for a folder that has something in it, and for a file that is no backup. So is a contest whose bots could
    do more than its own referee allows by default, unless the user trusts it (`trust`).
    """
    if cup.exists() and (not cup.is_dir() or any(cup.iterdir())):
        raise UsageError(f"{cup} is there already; expected a new folder, or an empty one")
    with writing(cup):
        cup.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{cup.name}-", dir=cup.parent))
    try:
        with writing(cup):
            count = _unpack(file, scratch)
            _check_database(file, scratch / FILE)
            for plan in (PLAN, *sorted(str(each.relative_to(scratch)) for each in scratch.glob(f"*/*/{PLAN}"))):
                _check_plan(file, plan, _plan(file, scratch / plan), trust)
            scratch.chmod(0o755)
            if cup.is_dir():
                cup.rmdir()
            scratch.rename(cup)
    finally:
        remove(scratch)
    Store(cup).close()  # of an earlier version: brought to the newest
    return count


def _unpack(file: Path, to: Path) -> int:
    """Unpacks ordinary files only, to paths below `to` only."""
    count = 0
    try:
        with file.open("rb") as source:
            stream = TarStream(source, MOST_BYTES)
            with tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as tar:  # type: ignore[call-overload]
                while (member := tar.next()) is not None:
                    tar.members.clear()  # they would be kept
                    count += 1
                    if count > MOST_FILES:
                        raise Refused(f"it has more than {MOST_FILES:,} files")
                    _write(stream, member, to / _checked_name(member))
                    stream.header_bytes = HEADER_BYTES
    except Refused as error:
        raise UsageError(f"{file} is no backup of a contest: {error}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}") from error
    except BROKEN as error:
        raise UsageError(f"{file} is no backup of a contest, or damaged: {error}") from error
    if not (to / FILE).is_file() or not (to / PLAN).is_file():
        raise UsageError(f"{file} is no backup of a contest: expected {PLAN} and {FILE} in it")
    return count


def _checked_name(member: tarfile.TarInfo) -> str:
    name = member.name
    path = PurePosixPath(name)
    if not member.isreg() or member.issparse():
        raise Refused(f"{name[:80]!r} is no ordinary file")
    plain = (
        "\\" not in name
        and not any(category(letter) in ("Cc", "Cs") for letter in name)
        and len(name.encode("utf-8", "surrogateescape")) <= LONGEST_PATH
    )
    if not plain or path.is_absolute() or not path.parts or ".." in path.parts or len(path.parts) > DEEPEST:
        raise Refused(f"{name[:80]!r} is no path of a contest's folder")
    if any(part.startswith(".") for part in path.parts):
        raise Refused(f"{name[:80]!r} is a hidden file")
    return str(path)


def _write(stream: TarStream, member: tarfile.TarInfo, to: Path) -> None:
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.touch(exist_ok=False)
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{member.name!r} is in it twice, or below a file") from error
    left = member.size
    stream.seek(member.offset_data)
    with to.open("wb") as target:
        for piece in stream.pieces(member.size):
            target.write(piece)
            left -= len(piece)
    if left:
        raise Refused(f"{member.name!r} ends too early")
    to.chmod(0o644 | member.mode & 0o100)


def _check_database(file: Path, database: Path) -> None:
    """Refuses a database with other tables than ours: a trigger or a view could change what our queries do."""
    try:
        with closing(sqlite3.connect(database)) as opened, closing(sqlite3.connect(":memory:")) as expected:
            opened.execute("PRAGMA trusted_schema = OFF")
            (version,) = opened.execute("PRAGMA user_version").fetchone()
            if not 1 <= version <= len(MIGRATIONS):
                raise UsageError(f"{file}: its database is of version {version}; expected 1 to {len(MIGRATIONS)}")
            for step in MIGRATIONS[:version]:
                expected.executescript(step)
            if opened.execute(TABLES).fetchall() != expected.execute(TABLES).fetchall():
                raise UsageError(f"{file}: its database has other tables than a contest's")
            for (path,) in opened.execute(PATHS):
                is_web = path.startswith(("https://", "http://"))
                if not is_web and ("://" in path or path.startswith("/") or ".." in path.split("/")):
                    raise UsageError(f"{file}: its database names {path[:80]!r}, which is outside of the contest")
            (sound,) = opened.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":
                raise UsageError(f"{file}: its database is damaged: {sound}")
    except sqlite3.Error as error:
        raise UsageError(f"{file}: its database is damaged: {error}") from error


def _plan(file: Path, path: Path) -> Plan:
    try:
        return read_plan(path)
    except (RunError, UsageError, OSError, ValueError) as error:
        raise UsageError(f"{file}: its {PLAN} cannot be used: {error}") from error


def _check_plan(file: Path, name: str, plan: Plan, trust: bool) -> None:
    """Refuses bots that are command lines of this machine, and isolation that is weaker than the default."""
    if trust:
        return
    advice = "if you made this backup yourself, add --trust"
    try:
        check_travel(plan.bots)
    except UsageError as error:
        raise UsageError(f"{file}: {name}: {error}; {advice}") from error
    given = plan.limits.isolation
    if given.mode == "off" or msgspec.structs.replace(given, mode="auto", required=()) != Isolation():
        raise UsageError(f"{file}: {name} turns isolation off, or shows bots more files than the default; {advice}")
