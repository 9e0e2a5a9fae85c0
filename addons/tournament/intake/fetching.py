"""Fetches a commit of a git repository that a stranger controls, and writes its files.

The commit comes into a bare repository that is removed afterwards. Its files are read from git's objects: no hook,
filter, attribute or submodule has any effect, and a link becomes a text file.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

from referee.addons.tournament.intake.objects import FOLDER, LINK, TOO_LARGE, Late, Repository, TreeEntry, tree_entry
from referee.harness.common import git
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.nurseries import ungrouped

FETCH_S = 60.0
"""How long the fetch of a submission may take, unless a build has less time."""
PACK_BYTES = 1 << 20
"""How much larger a pack may be than the files in it."""
MOST_LISTED_BYTES = 8 << 20
"""Of the list of a repository's files: 4,000 entries with paths of 2,000 bytes."""
ASK_NOBODY = {"GIT_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "never"}  # nor on a terminal: git has none
MOVED = re.compile(r"error: 30\d|redirect")


class Unavailable(RunError):
    """A commit that its repository does not give, or not any more."""

    why = ""
    """The reason, in git's words."""
    is_late = False


class TooLarge(RunError):
    """A commit with more bytes than are allowed."""


@contextmanager
def fetched(
    address: str,
    commit: str,
    most_bytes: int,
    seconds: float,
    is_strangers: bool = True,
    alive: int | None = None,
    scratch: Path | None = None,
) -> Iterator[Repository]:
    """Opens a bare repository that has one commit of another one, as `FETCH_HEAD`.

    `commit`: its digits, or the name of a branch or tag; HEAD = the newest of the main branch. `is_strangers`: a
    stranger named the address. It is then read without the passwords, keys and settings of git that this account has,
    and must not lead to another one. `alive`: a pipe with which git ends too; it always ends with this process.
    `scratch`: the folder for the repository.

    Unavailable if that fails or takes longer than `seconds`; TooLarge for more than `most_bytes`.
    """
    environment = git.strangers_environment(address) if is_strangers else None
    settings = git.STRANGERS_SETTINGS if is_strangers else git.PACKED
    with tempfile.TemporaryDirectory(prefix="referee-", dir=scratch) as folder:
        kind = "sha256" if len(commit) == 64 else "sha1"
        with Repository.made(Path(folder), kind, environment) as repository:
            words = [*git.options(*settings), *git.FETCH, "--depth=1", "--", address, commit]
            more, most_written = None if is_strangers else ASK_NOBODY, most_bytes + PACK_BYTES
            try:
                repository.run(*words, more=more, seconds=seconds, most_written=most_written, alive=alive)
            except RunError as error:
                if TOO_LARGE in str(error):
                    raise TooLarge(f"{address}: the commit {commit[:12]} has more than {most_bytes:,} bytes") from error
                why = str(error).partition(": git fetch: ")[2] or str(error)
                unavailable = Unavailable(f"{address} does not give the commit {commit[:12]}: {why}")
                unavailable.why, unavailable.is_late = why, isinstance(error, Late)
                raise unavailable from error
            yield repository


async def fetch(
    address: str,
    folder: Path,
    max_bytes: int,
    max_files: int,
    fetch_s: float,
    commit: str = "HEAD",
    is_strangers: bool = False,
) -> None:
    """Writes the files of a commit to a new folder. The arguments are those of `fetched`.

    UsageError if the commit cannot be had in time, or has more than `max_bytes` or `max_files`. A few small objects can
    stand for any number of files, so the files are counted before they are written. Git ends if this is cancelled.
    """
    alive, ours = os.pipe()

    async def hold() -> None:
        try:
            await trio.sleep_forever()
        finally:
            os.close(ours)

    def write() -> None:
        with fetched(address, commit, max_bytes, fetch_s, is_strangers, alive, folder.parent) as repository:
            write_files(repository, _files(repository, address, max_bytes, max_files), folder, max_bytes)

    try:
        with ungrouped():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hold)
                await trio.to_thread.run_sync(write)
                nursery.cancel_scope.cancel()
    except TooLarge as error:
        raise UsageError(f"{address}: holds more than {max_bytes:,} bytes, which are allowed") from error
    except Unavailable as error:
        if MOVED.search(error.why):
            raise UsageError(f"{address}: redirects to another address; hand in that one") from error
        how = f" within {fetch_s:g} s" if error.is_late else f": {error.why}"
        raise UsageError(f"{address}: cannot be cloned{how}") from error
    finally:
        os.close(alive)


def _files(repository: Repository, address: str, max_bytes: int, max_files: int) -> list[TreeEntry]:
    """Returns the files, links and submodules of the commit that was fetched. UsageError for too many or too large."""
    too_many = f"{address}: holds more than {max_files:,} files, which are allowed"
    try:  # with folders: there may be any number of empty ones
        listing = repository.run("ls-tree", "-rtlz", "FETCH_HEAD", most=MOST_LISTED_BYTES)
    except UsageError as error:
        raise UsageError(too_many) from error
    lines = [line for line in listing.split(b"\0") if line]
    if len(lines) > 2 * max_files:
        raise UsageError(too_many)
    files = [entry for line in lines if (entry := tree_entry(line, sizes=True)).mode != FOLDER]
    if sum(file.bytes for file in files) > max_bytes:
        raise UsageError(f"{address}: holds more than {max_bytes:,} bytes, which are allowed")
    return files


def write_files(
    repository: Repository,
    files: Iterable[TreeEntry],
    folder: Path,
    most_bytes: int,
    check: Callable[[TreeEntry, bytes], None] = lambda file, content: None,
) -> None:
    """Writes files of a commit to a folder. A link becomes a text file, and a submodule an empty folder.

    `check` is called with each file before it is written. UsageError for a path that leads out of the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = []
    for file in files:
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in file.path.split("/")):
            raise UsageError(f"{file.path[:80]!a}: no file of a bot may have such a path; rename it")
        if file.mode.startswith("10") or file.mode == LINK:
            plain.append(file)
        else:
            (folder / file.path).mkdir(parents=True, exist_ok=True)
    for file, content in zip(plain, repository.read((each.id for each in plain), most_bytes), strict=True):
        check(file, content)
        path, mode = folder / file.path, 0o755 if file.mode != LINK and int(file.mode, 8) & 0o100 else 0o644
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
            opened.write(content)
