"""Backups of a contest, made while it runs. `restore` reads them.

A backup is a tar file: the database, as SQLite's backup interface copies it, then all other files of the folder. They
are read in an order in which no file names another one that is missing. So everything that was accepted, and every game
that had ended, before the backup began is in it. It holds secrets: uploads, and the seed of a final that is to come.
"""

import os
import re
import sqlite3
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from referee.addons.host.store import FILE
from referee.addons.tournament.inbox import INBOX
from referee.addons.tournament.store.ledger import BOTS, LINES, PACKS, PLAN
from referee.harness.common.errors import RunError, UsageError, reason, writing
from referee.harness.common.output import FileKind, whole_file

ORDER = (INBOX, PLAN, BOTS, LINES, PACKS)
"""The order of reading: a change moves from the inbox to the plan, a plan names bots, and a line names its replay."""
KIND = FileKind("a backup of a contest", re.compile(rb"(.{1024})?" + re.escape(FILE.encode()), re.DOTALL))


def backup(cup: Path, file: Path) -> int:
    """Writes a backup, at once or not at all. Returns its size in bytes."""
    if not (cup / FILE).is_file() or not (cup / PLAN).is_file():
        raise UsageError(f"{cup} holds no hosted contest: expected {PLAN} and {FILE} in it")
    if file.resolve().is_relative_to(cup.resolve()):
        raise UsageError(f"{file} is in the contest's folder; write the backup to another disk")
    KIND.check_place(file)
    with writing(file), tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        database = Path(scratch, FILE)
        _copy_database(cup / FILE, database)
        with whole_file(file, 0o600) as new, open(new, "wb") as target:
            with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as tar:
                _add(tar, database, FILE)
                for path in _files(cup):
                    _add(tar, path, path.relative_to(cup).as_posix())
            target.flush()
            os.fsync(target.fileno())
            return target.tell()


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
        raise RunError(f"{path} cannot be read: {reason(error)}") from error
    with open(descriptor, "rb") as source:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = status.st_size, int(status.st_mtime)
            member.mode = status.st_mode & 0o700
            tar.addfile(member, source)
