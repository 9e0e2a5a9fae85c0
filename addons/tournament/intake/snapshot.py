"""Copies a submission before it is checked, so that what is checked is what plays.

Its author may still write into the folder. So each file is opened once, by its name in a folder that is open already,
and no link is followed: neither can be replaced by something else between a check and the reading.
"""

import os
import stat
from collections import Counter
from pathlib import Path

from referee.harness.common.errors import UsageError
from referee.harness.programs.archive import LEFT_OUT

PIECE_BYTES = 1 << 20
ADVICE = "include a copy, as cp -r makes it"


def copy_folder(source: Path, target: Path, name: str, max_bytes: int, max_files: int) -> Path:
    """Copies the folder of a submission without what no archive takes. Returns the copy.

    UsageError for too much content, and for a file that has another name outside of the folder: a hard link to a file
    of the organiser would put that into the bot's archive.
    """
    top, size = source.resolve(), 0
    seen: Counter[tuple[int, int]] = Counter()
    links: dict[tuple[int, int], tuple[int, str]] = {}
    for folder, folders, files, descriptor in os.fwalk(source):
        inside = Path(folder).relative_to(source)
        (target / inside).mkdir(parents=True)
        for entry in [*folders, *files]:
            path, is_link = inside / entry, stat.S_ISLNK(os.lstat(entry, dir_fd=descriptor).st_mode)
            if entry in LEFT_OUT and (is_link or entry in folders):
                continue
            if is_link:
                _copy_link(Path(folder, entry), target / path, top)
            elif entry in files and (status := _copy_file(entry, descriptor, target / path, max_bytes - size)):
                size += status.st_size
                ident = status.st_dev, status.st_ino
                seen[ident] += 1
                links[ident] = status.st_nlink, str(path)
                if len(links) > max_files:
                    raise UsageError(f"{name}: holds more than {max_files:,} files")
        folders[:] = [each for each in folders if each not in LEFT_OUT]
    for ident, (count, place) in links.items():
        if count > seen[ident]:
            raise UsageError(f"{name}: {place} is a hard link to a file outside of the folder; {ADVICE}")
    return target


def copy_file(source: Path, target: Path, max_bytes: int) -> Path:
    """Copies a submission of one file. UsageError for a link, a hard link, no file, or a larger one."""
    if source.is_file() and source.stat().st_size > max_bytes:
        raise UsageError(f"{source}: holds {source.stat().st_size:,} bytes; {max_bytes:,} are allowed")
    status = _copy_file(str(source), None, target, max_bytes)
    if status is None:
        raise UsageError(f"{source}: is a link or no ordinary file; include the file itself")
    if status.st_nlink > 1:
        raise UsageError(f"{source}: is a hard link to another file; {ADVICE}")
    return target


def _copy_link(link: Path, target: Path, top: Path) -> None:
    """Copies a link. One to an absolute path in the folder becomes relative, since the copy lies elsewhere."""
    text = os.readlink(link)
    if os.path.isabs(text) and Path(os.path.realpath(link)).is_relative_to(top):
        text = os.path.relpath(os.path.realpath(link), os.path.realpath(link.parent))
    target.symlink_to(text)


def _copy_file(name: str, folder: int | None, target: Path, most_bytes: int) -> os.stat_result | None:
    """Copies a file and returns its status; None if it is no ordinary file."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise
        return None  # a link, or a socket
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        with target.open("xb") as written:
            while data := opened.read(PIECE_BYTES):
                most_bytes -= len(data)
                if most_bytes < 0:
                    raise UsageError(f"{target.name}: makes the submission too large")
                written.write(data)
        target.chmod(0o755 if status.st_mode & stat.S_IXUSR else 0o644)
    return status
