"""The cache of builds: the folder `builds` in the user's cache.

Each build has its own folder, which is named by a hash of everything that the build depends on. A bot sees only the
folder in it with the program, which never changes once it is finished. Two lock files lie next to that. A process that
builds holds `lock`. Every process that builds or uses a build holds a shared lock on `used` until it ends, so that no
other process removes the build. The lock files are removed with the folder: a process that has waited for a lock checks
that the file still exists, and otherwise tries again.
"""

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from referee.harness.common.errors import RunError, reason
from referee.harness.common.paths import cache_folder
from referee.harness.isolation.removal import remove

ORIGIN = "origin"
"""A file in each build's folder: the path of the source."""
MADE_IN = "made_in"
"""A file in the folder of a copied build: the path of the tree in which it was made."""
LOCK, USED = "lock", "used"
KEPT_S = 30 * 24 * 3600.0
"""Builds that were not used for this long are removed."""

_used_locks: dict[Path, int] = {}
"""The `used` files of the builds that this process uses, with their descriptors."""


def root() -> Path:
    """Returns the folder of all builds."""
    return cache_folder() / "builds"


def builds_in(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the folders that a bot needs from the cache.

    They are the builds in its command line, the packages that the build of a source file links to, and the trees in
    which builds were made: an optimiser may have split the path of such a tree, so that it could not be replaced.
    """
    folders = builds_named_in(words)
    for build in tuple(folders):
        if (tree := made_in(Path(build).parent)) is not None:
            folders.add(str(tree))
        else:
            for link in Path(build, "node_modules").glob("*"):
                package = str(link.resolve())
                folders |= builds_named_in([package]) or {package}
    return tuple(sorted(folders))


def builds_named_in(words: Iterable[str]) -> set[str]:
    """Returns the folders of the builds in the words of a command line. A class path holds several in one word."""
    build = re.compile(rf"{re.escape(str(root()))}/[^/:]+/[^/:]+")
    return {found for word in words for found in build.findall(word)}


def key(parts: Iterable[str]) -> str:
    """Returns the hash of everything that a build depends on."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:40]


def folder_for(parts: Iterable[str]) -> Path:
    """Returns the folder for a build that depends on these parts. It need not exist."""
    return root() / key(parts)


@contextmanager
def locked(home: Path, origin: Path, made_in: Path | None = None) -> Iterator[None]:
    """Makes the folder `home` for builds of the source `origin`, and keeps other processes from building in it.

    They cannot remove it until this process ends. RunError if the cache cannot be written.
    """
    with _writing():
        _hold(home)
        lock = _lock(home / LOCK, fcntl.LOCK_EX)
    try:
        with _writing():
            if not (home / ORIGIN).exists():
                if made_in is not None:
                    (home / MADE_IN).write_text(str(made_in), "utf-8", "surrogateescape")
                (home / ORIGIN).write_text(str(origin), "utf-8", "surrogateescape")
        yield
    finally:
        os.close(lock)


def unpacked(parts: Iterable[str], origin: Path, unpack: Callable[[Path], None]) -> Path:
    """Returns the folder with the files of an archive, which `unpack` writes to a new folder, once per machine."""
    home = folder_for(parts)
    tree, draft = home / "tree", home / "draft"
    if not use(tree):
        with locked(home, origin):
            if not tree.is_dir():  # another process may have finished it
                discard(draft)  # of a process that was killed
                try:
                    unpack(draft)
                    draft.rename(tree)
                finally:
                    discard(draft)
                prune(origin)
    return tree


def use(build: Path) -> bool:
    """Keeps the folder of a build from being removed until this process ends. False if there is no such build."""
    if build.exists():
        with _writing():
            _hold(build.parent)
    return build.exists()


def _hold(home: Path) -> None:
    path = home / USED
    file = _used_locks.get(path)
    if file is None or not _has_name(file, path):  # the user may have deleted the cache
        _used_locks[path] = _lock(path, fcntl.LOCK_SH)
        if file is not None:
            os.close(file)
    os.utime(path)


def _lock(path: Path, how: int) -> int:
    """Opens and locks a file. BlockingIOError if `how` has LOCK_NB and another process holds the lock."""
    while True:
        with suppress(FileNotFoundError):  # another process has removed the folder that this one has just made
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(file, how)
            except BaseException:
                os.close(file)
                raise
            if _has_name(file, path):
                return file
            os.close(file)  # the file was removed while this process waited


def _has_name(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable("nothing can be built", root(), error) from error


def unwritable(failure: str, folder: Path, error: OSError) -> RunError:
    """Returns the error for a cache folder that cannot be written; `failure` says what failed because of that."""
    return RunError(f"{failure}: the cache {folder} cannot be written ({reason(error)}); set XDG_CACHE_HOME")


def made_in(home: Path) -> Path | None:
    """Returns the tree of which `home` has a copy; None if there is no such build."""
    text = _read(home / MADE_IN)
    return Path(text) if text else None


def discard(folder: Path) -> None:
    """Removes a folder. It is renamed first: a process that is killed meanwhile leaves no half-removed build."""
    if folder.exists():
        trash = Path(mkdtemp(suffix=".new", dir=root()))
        folder.rename(trash)
        remove(trash)


def prune(origin: Path | None) -> None:
    """Removes unused builds: older ones of the same source, those without a source, and those not used for `KEPT_S`.

    `origin`: the source; None = no older builds are removed.
    The work folder of a build stays as long as the build.
    """
    homes = [home for home in root().glob("*") if home.is_dir() and home.suffix != ".new"]
    work_folders = {tree.parent for home in homes if (tree := made_in(home)) is not None}
    for home in homes:
        source = _read(home / ORIGIN)
        with suppress(OSError):
            is_old = time.time() - (home / USED).stat().st_mtime > KEPT_S
            if home not in work_folders and (is_old or source == str(origin) or not os.path.exists(source)):
                _remove_unused(home)
    for trash in root().glob("*.new"):
        remove(trash)


def _remove_unused(home: Path) -> None:
    """Removes a build. BlockingIOError if a process makes or uses it."""
    file = _lock(home / USED, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        discard(home)
    finally:
        os.close(file)


def _read(file: Path) -> str:
    """Returns the text of a file; empty if it cannot be read."""
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
