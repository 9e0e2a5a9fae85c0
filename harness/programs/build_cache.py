"""Where builds are kept: `$XDG_CACHE_HOME/referee`, or `~/.cache/referee`.

Each has a folder of its own, named by a hash of all that it is made of; so it never goes stale and is never changed
once it is complete. Beside it stand two locks: who builds holds `.lock`, and every process that uses what was built
holds a share of `.used` for as long as it lives, which keeps it from being removed. The locks are removed with it: a
process that waited for a lock looks whether the file is still there, and otherwise waits for the new one.
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
from referee.harness.isolation.supervisor import remove

ORIGIN = "origin"
"""A file in each build's folder: the path of the source that it was made of."""
MADE_IN = "made_in"
"""A file in the folder of a build that was made elsewhere and copied: where."""
KEPT_S = 30 * 24 * 3600.0
"""A build that nobody has used for so long is removed."""
DRAFT_S = 24 * 3600.0
"""So is what somebody began who was killed."""

_used_locks: dict[Path, int] = {}
"""The open `.used` of the builds that this process uses."""


def root() -> Path:
    """The folder of all builds."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".cache") / "referee" / "builds"


def builds_in(words: Iterable[str]) -> tuple[str, ...]:
    """The folders of the builds that a command line names, what they link to as packages of theirs, and where they were
    made: an optimiser may have cut that path into pieces, which nobody can replace."""
    builds = f"{root()}/"
    found = named_in(words)
    found |= {work for build in found if (work := _read(Path(build, MADE_IN)))}
    packages = {str(link.resolve()) for build in found for link in Path(build, "node_modules").glob("*")}
    found |= {package if builds not in package else _build_of(package, builds) for package in packages}
    return tuple(sorted(found))


def named_in(words: Iterable[str]) -> set[str]:
    """The folders of the builds whose paths are in the words of a command line. A class path is a word of several."""
    return {build for word in words for build in re.findall(rf"{re.escape(str(root()))}/[^/:]+", word)}


def _build_of(path: str, builds: str) -> str:
    return builds + path.removeprefix(builds).partition("/")[0]


def key(parts: Iterable[str]) -> str:
    """A name for what is made of these parts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:40]


def named(parts: Iterable[str]) -> Path:
    """The folder of what is made of these parts, there or not."""
    return root() / key(parts)


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Nobody else makes or removes it meanwhile. RunError without a cache."""
    try:
        lock = _locked_file(_beside(home, ".lock"), fcntl.LOCK_EX)
    except OSError as error:
        raise unwritable("nothing can be built", root(), error) from error
    try:
        yield
    finally:
        os.close(lock)


def _locked_file(path: Path, how: int) -> int:
    """An open file that is locked and still has this name. BlockingIOError if `how` forbids to wait for it."""
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
        os.close(file)  # it was removed while this process waited


def _has_name(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def unwritable(hence: str, folder: Path, error: OSError) -> RunError:
    """A folder of the cache cannot be written, `hence` what."""
    return RunError(f"{hence}: the cache {folder} cannot be written ({error.strerror}); set XDG_CACHE_HOME")


@contextmanager
def draft() -> Iterator[Path]:
    """A new folder among the builds, to be `put` in its place when it is complete; else it is removed."""
    folder = Path(mkdtemp(suffix=".new", dir=root()))
    try:
        yield folder
    finally:
        if folder.exists():
            remove(folder)


def make(home: Path, origin: Path, made_in: Path | None = None) -> None:
    """Makes the folder `home` for builds of the source `origin`, unless it is there. To be used under its lock."""
    if (home / ORIGIN).exists():
        return
    home.mkdir(exist_ok=True)
    if made_in is not None:
        (home / MADE_IN).write_text(str(made_in), "utf-8", "surrogateescape")
    (home / ORIGIN).write_text(str(origin), "utf-8", "surrogateescape")


def discard(home: Path) -> None:
    """Removes a build, all at once: a process that is killed meanwhile leaves no half of it under its name."""
    aside = Path(mkdtemp(suffix=".new", dir=root()))
    home.rename(aside)
    remove(aside)


def made_in(home: Path) -> Path | None:
    """The folder where a build was made that was copied to `home`; None if there is no such build."""
    text = _read(home / MADE_IN)
    return Path(text) if text else None


def put(folder: Path, home: Path, origin: Path) -> None:
    """Makes a draft what was made of the source `origin`. To be used under the lock of `home`."""
    (folder / ORIGIN).write_text(str(origin), "utf-8", "surrogateescape")
    if home.exists():
        discard(home)
    folder.chmod(0o755)
    folder.rename(home)


def use(home: Path) -> None:
    """From now on, until this process ends, it is in use. To be used under its lock."""
    path = _beside(home, ".used")
    held = _used_locks.get(path)
    if held is None or not _has_name(held, path):  # somebody may have deleted the cache
        _used_locks[path] = _locked_file(path, fcntl.LOCK_SH)
        if held is not None:
            os.close(held)
    os.utime(path)


def in_use(home: Path) -> bool:
    """Whether this process or another one uses it."""
    try:
        os.close(_locked_file(_beside(home, ".used"), fcntl.LOCK_EX | fcntl.LOCK_NB))
    except BlockingIOError:
        return True
    return False


def listed(listing: Path) -> list[Path] | None:
    """The files that a list of inputs names, or None without one; it counts as used now. To be used under its lock."""
    text = _read(listing)
    if not text:
        return None
    os.utime(listing)
    _, *inputs = text.split("\0")
    return [Path(path) for path in inputs]


def list_inputs(listing: Path, origin: Path, inputs: Iterable[Path]) -> None:
    """Writes what a build of the source `origin` has read. To be used under the lock of `listing`."""
    listing.write_text("\0".join(map(str, [origin, *inputs])), "utf-8", "surrogateescape")


def prune(origin: Path, keep: Collection[Path]) -> None:
    """Removes what nobody uses and nobody will: older builds of the same source, those whose source is gone, and
    those that were not used for long. Where a build was made stays for as long as the build."""
    for home in _homes():
        source = _read(home / ORIGIN)
        if home not in keep and (source == str(origin) or not os.path.exists(source) or _old(home)):
            with suppress(OSError):
                if not any(_read(other / MADE_IN) == str(home) for other in _homes()):
                    _remove_unused(home)
    _prune_lists(origin, keep)
    _prune_locks()
    for left in root().glob("*.new"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > DRAFT_S:
                remove(left)


def _prune_lists(origin: Path, keep: Collection[Path]) -> None:
    """Removes the lists of inputs of what is no longer built, as `prune` does with the builds."""
    for listing in root().glob("*.inputs"):
        source = _read(listing).partition("\0")[0]
        if listing not in keep and (source == str(origin) or not os.path.exists(source) or _unchanged(listing)):
            with suppress(OSError):
                _remove_unused(listing)


def _prune_locks() -> None:
    """Removes locks whose build or list is gone."""
    for suffix in (".lock", ".used"):
        for lock in root().glob(f"*{suffix}"):
            home = lock.with_name(lock.name.removesuffix(suffix))
            if not home.exists():
                with suppress(OSError):
                    _remove_unused(home)


def _remove_unused(home: Path) -> None:
    """Removes a build or a list of inputs with its locks. BlockingIOError if a process uses it or builds it."""
    lock = _locked_file(_beside(home, ".lock"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        if in_use(home):
            return
        if home.is_dir():
            discard(home)
        else:
            home.unlink(missing_ok=True)
        _beside(home, ".used").unlink(missing_ok=True)
        if not home.exists():
            _beside(home, ".lock").unlink(missing_ok=True)
    finally:
        os.close(lock)


def _beside(home: Path, suffix: str) -> Path:
    return home.parent / f"{home.name}{suffix}"


def _homes() -> list[Path]:
    return [home for home in root().glob("*") if home.is_dir() and not home.name.endswith(".new")]


def _read(file: Path) -> str:
    """The text of a file; empty if there is none."""
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _old(home: Path) -> bool:
    return _unchanged(_beside(home, ".used"))


def _unchanged(file: Path) -> bool:
    """Whether a file is gone, or was not changed for so long that nobody needs what it belongs to."""
    try:
        return time.time() - file.stat().st_mtime > KEPT_S
    except OSError:
        return True
