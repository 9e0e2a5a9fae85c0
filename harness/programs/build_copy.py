"""Copies a bot's files to its work folder, and a finished build to the folder where the bot plays."""

import mmap
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath

from referee.harness.isolation.removal import remove
from referee.harness.programs import archive
from referee.harness.programs.archive import BotArchive, File

NEW = "new"
"""Each file is written under this name next to the tree, and then renamed."""
MACHO = b"\xcf\xfa\xed\xfe"
"""The first bytes of a program of macOS, which is signed: no byte of it may change."""


def sync(bot: BotArchive, tree: Path, listing: Path) -> None:
    """Makes the sources in `tree` equal to the bot's, and keeps the other files: earlier builds have made them.

    A file with the same content keeps its time, because build tools compare times. The file `listing` names the
    sources, so that a source that the author has removed is removed here too. OSError if a file changes meanwhile.
    """
    files = {file.path for file in bot.files}
    before = set(listing.read_text("utf-8", "surrogateescape").split("\0")) if listing.exists() else set()
    _write(listing, before | files)  # complete even if a copy fails
    tree.mkdir(exist_ok=True)
    for path in before - files:
        _remove_source(tree, path)
    for file in bot.files:
        _copy_source(bot.folder / file.path, tree, file)
    _write(listing, files)


def _write(listing: Path, paths: set[str]) -> None:
    listing.write_text("\0".join(sorted(paths)), "utf-8", "surrogateescape")


def _remove_source(tree: Path, path: str) -> None:
    """Removes a source and the folders that become empty."""
    folders = [tree / parent for parent in PurePosixPath(path).parents][:-1]
    if any(map(os.path.islink, folders)):
        return  # a build has made a link, which may lead out of the tree
    with suppress(OSError):
        (tree / path).unlink()
        for folder in folders:
            folder.rmdir()


def _copy_source(source: Path, tree: Path, file: File) -> None:
    target = tree / file.path
    for parent in reversed([tree / parent for parent in PurePosixPath(file.path).parents][:-1]):
        if parent.is_symlink() or parent.is_file():
            parent.unlink()
        parent.mkdir(exist_ok=True)
    link = str(source.resolve()) if source.is_dir() else None
    is_file = target.is_file() and not target.is_symlink()
    if link is not None or not is_file or archive.sha256(target) != file.sha256:
        if is_file or target.is_symlink():
            target.unlink()
        else:
            remove(target)
        if link is not None:
            target.symlink_to(link)
            return
        shutil.copyfile(source, target)
        if archive.sha256(target) != file.sha256:
            raise OSError(f"{source} changed while it was copied; start again")
    target.chmod(0o755 if file.executable else 0o644)


def publish(work: Path, home: Path) -> None:
    """Copies the tree `work` to `home`, from which the bot plays. The two paths have the same length.

    Compilers write the path of their working folder into scripts, links and programs. The copy has its own path there.
    An existing file is replaced as a whole, since a bot may be playing from it.
    """
    before, after = os.fsencode(work), os.fsencode(home)
    assert len(before) == len(after)
    places: dict[Path, os.stat_result] = {}
    for folder, folders, names in os.walk(work):
        place = home / os.path.relpath(folder, work)
        place.mkdir(parents=True, exist_ok=True)
        places[place] = os.stat(folder)
        for name in (*folders, *names):
            with suppress(PermissionError):  # the bot could not read such a file either
                _publish(Path(folder, name), place / name, home.with_name(NEW), before, after)
    for place, status in places.items():  # build tools compare the times of folders too
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def _publish(path: Path, target: Path, new: Path, before: bytes, after: bytes) -> None:
    status = path.lstat()
    new.unlink(missing_ok=True)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(os.fsencode(path)).replace(before, after), os.fsencode(new))
    elif stat.S_ISREG(status.st_mode):
        with suppress(FileNotFoundError):
            old = target.lstat()
            if (old.st_size, old.st_mtime_ns) == (status.st_size, status.st_mtime_ns) and stat.S_ISREG(old.st_mode):
                return
        shutil.copyfile(path, new)
        _replace(new, before, after)
        new.chmod(stat.S_IMODE(status.st_mode) & 0o777)  # no program runs as another account
        os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        return
    new.replace(target)


def _replace(file: Path, before: bytes, after: bytes) -> None:
    """Replaces every occurrence of one path by another of the same length."""
    with file.open("r+b") as opened:
        if os.fstat(opened.fileno()).st_size < len(before):
            return  # an empty file cannot be mapped
        with mmap.mmap(opened.fileno(), 0) as content:
            if content[: len(MACHO)] == MACHO:
                return
            at = content.find(before)
            while at >= 0:
                content[at : at + len(before)] = after
                at = content.find(before, at + len(before))
