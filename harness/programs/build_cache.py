"""The cache of builds: the folder `builds` in the user's cache.

Each build has its own folder, which is named by a hash of everything that the build depends on. A finished build never
changes. Two lock files stand next to each folder. A process that builds holds `.lock`. Every process that uses a build
holds a shared lock on `.used` until it ends, so that no other process removes the build. The lock files are removed
with the folder: a process that has waited for a lock checks that the file still exists, and otherwise tries again.
"""

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from referee.harness.errors import RunError
from referee.harness.isolation.removal import remove
from referee.harness.paths import cache_folder

ORIGIN = "origin"
"""A file in each build's folder: the path of the source."""
MADE_IN = "made_in"
"""A file in the folder of a copied build: the path of the folder where it was made."""
KEPT_S = 30 * 24 * 3600.0
"""Builds that were not used for this long are removed."""
DRAFT_S = 24 * 3600.0
"""Unfinished folders of this age are removed: the process that made them was killed."""

_used_locks: dict[Path, int] = {}
"""The `.used` files of the builds that this process uses, with their descriptors."""


def root() -> Path:
    """Returns the folder of all builds."""
    return cache_folder() / "builds"


def builds_in(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the folders that a bot needs from the cache: the builds in its command line, the packages that they link
    to, and their work folders. An optimiser may have split the path of a work folder, so that it could not be replaced.
    """
    prefix = f"{root()}/"
    folders = builds_named_in(words)
    folders |= {work for build in folders if (work := _read(Path(build, MADE_IN)))}
    packages = {str(link.resolve()) for build in folders for link in Path(build, "node_modules").glob("*")}
    folders |= {package if prefix not in package else _build_of(package, prefix) for package in packages}
    return tuple(sorted(folders))


def builds_named_in(words: Iterable[str]) -> set[str]:
    """Returns the folders of the builds in the words of a command line. A class path holds several in one word."""
    return {build for word in words for build in re.findall(rf"{re.escape(str(root()))}/[^/:]+", word)}


def _build_of(path: str, prefix: str) -> str:
    return prefix + path.removeprefix(prefix).partition("/")[0]


def key(parts: Iterable[str]) -> str:
    """Returns the hash of everything that a build depends on."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:40]


def folder_for(parts: Iterable[str]) -> Path:
    """Returns the folder for a build that depends on these parts. It need not exist."""
    return root() / key(parts)


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Keeps other processes from making or removing the folder `home`. RunError if the cache cannot be written."""
    try:
        lock = _locked_file(_lock_path(home, ".lock"), fcntl.LOCK_EX)
    except OSError as error:
        raise unwritable("nothing can be built", root(), error) from error
    try:
        yield
    finally:
        os.close(lock)


def _locked_file(path: Path, how: int) -> int:
    """Opens and locks a file. BlockingIOError if `how` has LOCK_NB and another process holds the lock."""
    while True:
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


def unwritable(failure: str, folder: Path, error: OSError) -> RunError:
    """Returns the error for a cache folder that cannot be written; `failure` says what failed because of that."""
    return RunError(f"{failure}: the cache {folder} cannot be written ({error.strerror}); set XDG_CACHE_HOME")


@contextmanager
def draft() -> Iterator[Path]:
    """Makes a temporary folder, to be moved to its place with `put`. It is removed if that does not happen."""
    folder = Path(mkdtemp(suffix=".new", dir=root()))
    try:
        yield folder
    finally:
        if folder.exists():
            remove(folder)


def make(home: Path, origin: Path, made_in: Path | None = None) -> None:
    """Makes the folder `home` for builds of the source `origin`, unless it exists. Needs its lock."""
    if (home / ORIGIN).exists():
        return
    home.mkdir(exist_ok=True)
    if made_in is not None:
        (home / MADE_IN).write_text(str(made_in), "utf-8", "surrogateescape")
    (home / ORIGIN).write_text(str(origin), "utf-8", "surrogateescape")


def discard(home: Path) -> None:
    """Removes a build. It is renamed first: a process that is killed meanwhile leaves no half-removed build."""
    trash = Path(mkdtemp(suffix=".new", dir=root()))
    home.rename(trash)
    remove(trash)


def made_in(home: Path) -> Path | None:
    """Returns the work folder of the build that was copied to `home`; None if there is no such build."""
    text = _read(home / MADE_IN)
    return Path(text) if text else None


def put(folder: Path, home: Path, origin: Path) -> None:
    """Moves a draft to its place `home`. Needs the lock of `home`."""
    (folder / ORIGIN).write_text(str(origin), "utf-8", "surrogateescape")
    if home.exists():
        discard(home)
    folder.chmod(0o755)
    folder.rename(home)


def use(home: Path) -> None:
    """Marks a build as used until this process ends. Needs its lock."""
    path = _lock_path(home, ".used")
    file = _used_locks.get(path)
    if file is None or not _has_name(file, path):  # the user may have deleted the cache
        _used_locks[path] = _locked_file(path, fcntl.LOCK_SH)
        if file is not None:
            os.close(file)
    os.utime(path)


def in_use(home: Path) -> bool:
    """Whether any process uses a build."""
    try:
        os.close(_locked_file(_lock_path(home, ".used"), fcntl.LOCK_EX | fcntl.LOCK_NB))
    except BlockingIOError:
        return True
    return False


def read_inputs(listing: Path) -> list[Path] | None:
    """Reads a list of inputs and marks it as used; None if it does not exist. Needs its lock."""
    text = _read(listing)
    if not text:
        return None
    os.utime(listing)
    _, *inputs = text.split("\0")
    return [Path(path) for path in inputs]


def write_inputs(listing: Path, origin: Path, inputs: Iterable[Path]) -> None:
    """Writes the list of files that a build of the source `origin` has read. Needs the lock of `listing`."""
    listing.write_text("\0".join(map(str, [origin, *inputs])), "utf-8", "surrogateescape")


def prune(origin: Path, keep: Collection[Path]) -> None:
    """Removes unused builds: older ones of the same source, those without a source, and those not used for `KEPT_S`.

    The work folder of a build stays as long as the build.
    """
    for home in _homes():
        source = _read(home / ORIGIN)
        if home not in keep and (source == str(origin) or not os.path.exists(source) or _old(home)):
            with suppress(OSError):
                if not any(_read(other / MADE_IN) == str(home) for other in _homes()):
                    _remove_unused(home)
    _prune_lists(origin, keep)
    _prune_locks()
    for folder in root().glob("*.new"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > DRAFT_S:
                remove(folder)


def _prune_lists(origin: Path, keep: Collection[Path]) -> None:
    """Removes lists of inputs by the same rules."""
    for listing in root().glob("*.inputs"):
        source = _read(listing).partition("\0")[0]
        if listing not in keep and (source == str(origin) or not os.path.exists(source) or _unchanged(listing)):
            with suppress(OSError):
                _remove_unused(listing)


def _prune_locks() -> None:
    """Removes the locks of builds and lists that are gone."""
    for suffix in (".lock", ".used"):
        for lock in root().glob(f"*{suffix}"):
            home = lock.with_name(lock.name.removesuffix(suffix))
            if not home.exists():
                with suppress(OSError):
                    _remove_unused(home)


def _remove_unused(home: Path) -> None:
    """Removes a build or a list of inputs, and its locks. BlockingIOError if a process makes it."""
    lock = _locked_file(_lock_path(home, ".lock"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        if in_use(home):
            return
        if home.is_dir():
            discard(home)
        else:
            home.unlink(missing_ok=True)
        _lock_path(home, ".used").unlink(missing_ok=True)
        if not home.exists():
            _lock_path(home, ".lock").unlink(missing_ok=True)
    finally:
        os.close(lock)


def _lock_path(home: Path, suffix: str) -> Path:
    return home.parent / f"{home.name}{suffix}"


def _homes() -> list[Path]:
    return [home for home in root().glob("*") if home.is_dir() and not home.name.endswith(".new")]


def _read(file: Path) -> str:
    """Returns the text of a file; empty if it cannot be read."""
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _old(home: Path) -> bool:
    return _unchanged(_lock_path(home, ".used"))


def _unchanged(file: Path) -> bool:
    """Whether a file is gone, or has not changed for `KEPT_S`."""
    try:
        return time.time() - file.stat().st_mtime > KEPT_S
    except OSError:
        return True
