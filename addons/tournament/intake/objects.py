"""Reads a git repository that strangers write to, from its objects and never from a work tree.

Nothing of a commit is run or checked out: no filter, no hook and no attribute of it has any effect.
"""

import os
import re
import shlex
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Event, Timer
from typing import IO

from msgspec import Struct

from referee.harness.common import git
from referee.harness.common.errors import RunError, UsageError

MOST_BYTES = 64 << 20
"""Of what a git command prints: half a million files."""
MOST_FILE_BYTES = 1 << 20
"""Of one file that is read."""
AT_ONCE = 256
"""How many objects to ask for before reading any: their names fit into a pipe."""
MOST_FOLDERS, MOST_DEPTH = 5_000, 1_000
"""Of a change: folders, and letters of a folder's path."""
GIT_S = 600.0
"""How long one git command may take."""
MEMORY_LIMIT = 'ulimit -v 8388608 2>/dev/null; exec "$0" "$@"'
"""Runs a command that may use 8 GiB of addresses, of which git maps its packs."""
STRANGER_LIMIT = (
    "ulimit -v 2097152 2>/dev/null; ulimit -f {blocks} || exit; exec 3<&0 </dev/null; "
    '(cat <&3; kill -9 0) >/dev/null 2>&1 & exec 3<&-; exec "$0" "$@"'
)
"""Runs a command that may also write files of so many blocks of 512 bytes only.

Its process group is killed when standard input ends, so also when this process does.
"""
BLOCK = 512
TOO_LARGE = "index-pack"
"""What git names when it was killed because a pack became too large."""
SETTINGS = (*git.SETTINGS, "core.quotePath=false", "log.showSignature=false")
TO_FORGES = ("fetch", "ls-remote", "push", "var")
"""The commands that follow the user's settings: those that reach a forge, and that which knows the author."""
UNSAFE = re.compile("dubious ownership in repository at '(.*)'")
FILE, PROGRAM, LINK, FOLDER = "100644", "100755", "120000", "040000"
"""The modes of entries."""
MODE = re.compile(rb"0?[1-7][0-7]{4,5}")


class TreeEntry(Struct, frozen=True):
    """A file or folder of a commit."""

    mode: str
    id: str
    path: str
    bytes: int = 0
    """Of a file; 0 for a folder."""


class Change(Struct, frozen=True):
    """A file that differs between two commits."""

    status: str
    """`A` added, `M` changed, `D` removed."""
    mode: str
    id: str
    """Those that it has now; empty if it was removed."""
    path: str


class GitError(RunError):
    """A command of git has failed. `lines`: its standard error."""

    def __init__(self, what: str, lines: Sequence[str]) -> None:
        why = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        super().__init__(": ".join([what, why.partition(": ")[2] or why]))
        self.lines = lines


class Late(RunError):
    """A command of git that took too long."""


class Repository:
    """A git repository."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """UsageError with git's reason if there is none. `environment`: None = see `git`; else for every command."""
        self._environment = git.environment() if environment is None else environment
        self._users_environment = git.users_environment() if environment is None else environment
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.folder = folder
        self.top: Path | None = None
        """The top of the work tree; None without one."""
        self._command = [git.program(), "-C", str(folder), *git.options(*SETTINGS)]
        try:  # as the user, who may have said that somebody else's folder is safe
            found = self.run("rev-parse", "--absolute-git-dir", "--show-cdup", more=self._users_environment)
        except RunError as error:
            raise UsageError(_no_repository(folder, str(error))) from error
        place, *up = os.fsdecode(found).removesuffix("\n").split("\n")
        if up:
            self.top = Path(os.path.realpath(folder / up[0]))
        # From here on every path is one of the top, wherever the command was called.
        where = [f"--git-dir={place}", "-C", str(self.top or place)]
        self._command = [git.program(), *where, *git.options(*SETTINGS)]

    @classmethod
    def made(
        cls, folder: Path, kind: str = "sha1", environment: Mapping[str, str] | None = None, branch: str | None = None
    ) -> "Repository":
        """Makes a repository. `kind`: how it names objects. `environment`: as above. `branch`: None = a bare one."""
        how = "--bare" if branch is None else f"--initial-branch={branch}"
        words = [git.program(), "init", "--quiet", how, "--template=", f"--object-format={kind}", str(folder)]
        done = subprocess.run(words, capture_output=True, env=environment or git.environment())
        if done.returncode != 0:
            raise RunError(f"{folder}: git init: {done.stderr.decode(errors='replace').strip()}")
        return cls(folder, environment)

    def __enter__(self) -> "Repository":
        return self

    def __exit__(self, *error: object) -> None:
        """Ends git."""
        while self._processes:
            _end(self._processes.popitem()[1])

    def run(
        self,
        *words: str,
        given: bytes = b"",
        more: Mapping[str, str] | None = None,
        most: int = MOST_BYTES,
        seconds: float = GIT_S,
        most_written: int | None = None,
        alive: int | None = None,
    ) -> bytes:
        """Runs git and returns its output. RunError with git's reason if it fails.

        UsageError for more than `most` bytes: a few small objects can stand for any number of files. `most_written`:
        the most bytes of a file, of what a stranger's server sends. Then git runs without a terminal, and ends with
        this process or, if it is given, with the pipe `alive`.
        """
        limit = MEMORY_LIMIT if most_written is None else STRANGER_LIMIT.format(blocks=most_written // BLOCK)
        command = ["/bin/sh", "-c", limit, *self._command]
        environment = self._users_environment if _what(words) in TO_FORGES else self._environment
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
            source.write(given)
            source.seek(0)
            stdin: int | IO[bytes] = source if most_written is None else subprocess.PIPE if alive is None else alive
            process = subprocess.Popen(
                [*command, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=errors,
                env={**environment, **(more or {})}, start_new_session=most_written is not None,
            )  # fmt: skip
            assert process.stdout is not None
            late = Event()

            def stop() -> None:
                late.set()
                _kill(process, most_written is not None)

            watch = Timer(seconds, stop)
            watch.start()
            try:
                output = process.stdout.read(most + 1)
                if len(output) > most:
                    raise UsageError(f"{self.folder}: git {words[0]} lists too many files; leave some out")
                process.wait()
            finally:
                watch.cancel()
                _kill(process, most_written is not None)
                _end(process)
            if late.is_set():
                raise Late(f"{self.folder}: git {_what(words)}: it took longer than {seconds:g} s")
            if process.returncode != 0:
                errors.seek(0)
                lines = errors.read().decode(errors="replace").strip().splitlines() or [
                    f"exit code {process.returncode}"
                ]
                raise GitError(f"{self.folder}: git {_what(words)}", lines)
        return output

    def text(self, *words: str) -> str:
        """Runs git and returns its output without the last newline."""
        return self.run(*words).decode(errors="replace").rstrip("\n")

    def commit(self, name: str) -> str:
        """Returns the id of a commit. UsageError if there is none of that name."""
        found = self._look_up(f"{name}^{{commit}}")
        if not found:
            raise UsageError(f"{self.folder} has no commit {name!r}; fetch it first, or name another")
        return found

    def need_history(self) -> None:
        """UsageError for a shallow clone: the order of merges is part of the proof."""
        if self.text("rev-parse", "--is-shallow-repository") == "true":
            raise UsageError(f"{self.folder} is a shallow clone, without the ladder's history: git fetch --unshallow")

    def id_of(self, commit: str, path: str) -> str:
        """Returns the id of a file or folder of a commit; empty if there is none."""
        return self._look_up(f"{commit}:{path}")

    def _look_up(self, name: str) -> str:
        """Returns the id of an object; empty if there is none of that name."""
        if "\n" in name or " " in name or name.startswith("-"):
            return ""
        asking, answering = self._process("--batch-check")
        asking.write(f"{name}\n".encode())
        asking.flush()
        words = answering.readline().split()
        return words[0].decode() if len(words) == 3 and words[2].isdigit() else ""

    def entries(self, tree: str, *paths: str, deep: bool = True, sizes: bool = False) -> list[TreeEntry]:
        """Returns the files (`deep`) or the files and folders at the top of a tree or commit.

        UsageError for a list of too many, and for a name that is no UTF-8.
        """
        words = ["ls-tree", "-z", *(["-r"] if deep else []), *(["-l"] if sizes else []), tree, "--", *paths]
        return [tree_entry(line, sizes) for line in self.run(*words).split(b"\0") if line]

    def read(self, ids: Iterable[str], most: int = MOST_FILE_BYTES, kind: str = "blob") -> Iterator[bytes]:
        """Yields the contents of files, or of folders with the `kind` "tree", in order.

        `ids`: ids, or `id:path`. UsageError for one of more than `most` bytes, or a missing one.
        """
        for id, content in self.find(ids, most, kind):
            if content is None:
                advice = "if the clone is shallow: git fetch --unshallow"
                raise UsageError(f"{self.folder}: the {kind} {id[:60]} is missing; {advice}")
            yield content

    def find(
        self, ids: Iterable[str], most: int = MOST_FILE_BYTES, kind: str = "blob"
    ) -> Iterator[tuple[str, bytes | None]]:
        """Yields the ids as in `read` with the contents; None for one that is missing or of another kind."""
        asking, answering = self._process("--batch")
        for part in _parts(ids, AT_ONCE):
            asking.write("".join(f"{id}\n" for id in part).encode())
            asking.flush()
            # Read at once: another reader may come in between, when the caller pauses.
            found = [(id, self._content(answering, id, most, kind.encode())) for id in part]
            yield from found

    def _process(self, how: str) -> tuple[IO[bytes], IO[bytes]]:
        """Returns the ends of a `git cat-file` that stays for as long as this object: a start takes milliseconds."""
        process = self._processes.get(how)
        if process is None or process.poll() is not None:
            process = self._processes[how] = subprocess.Popen(
                ["/bin/sh", "-c", MEMORY_LIMIT, *self._command, "cat-file", how],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=self._environment, bufsize=1 << 20,
            )  # fmt: skip
            weakref.finalize(self, _end, process)
        assert process.stdin is not None and process.stdout is not None
        return process.stdin, process.stdout

    def _content(self, output: IO[bytes], id: str, most: int, kind: bytes) -> bytes | None:
        words = output.readline().split()
        if len(words) != 3 or not words[2].isdigit():
            return None
        if int(words[2]) > most:
            _end(self._processes.pop("--batch"))
            raise UsageError(f"{self.folder}: the file {id[:60]} has more than {most:,} bytes, which are allowed")
        content = output.read(int(words[2]) + 1)[:-1]
        return content if words[1] == kind else None

    def folder_entries(self, ids: Iterable[str]) -> Iterator[list[TreeEntry]]:
        """Yields what is at the top of each of these folders."""
        for content in self.read(ids, MOST_BYTES, "tree"):
            yield list(_tree_entries(content, self._id_bytes))

    def changes(self, before: str, now: str) -> Iterator[Change]:
        """Yields the files that differ, also those inside of new folders, one after the other.

        `git diff` collects all of them first, which a few objects can make ten thousand million. UsageError for more
        than `MOST_FOLDERS` folders that differ, and for one that is nested too deeply.
        """
        left = MOST_FOLDERS
        waiting = [("", *(self._look_up(f"{commit}^{{tree}}") for commit in (before, now)))]
        while waiting:
            inside, *ids = waiting.pop()
            left -= 1
            if left < 0 or len(inside) > MOST_DEPTH:
                raise UsageError(f"{self.folder}: {now[:12]} has too many folders, or too deep ones; leave some out")
            old, new = ({each.path: each for each in self._folder(id)} for id in ids)
            for name in sorted({*old, *new}):
                was, is_now = old.get(name), new.get(name)
                if was == is_now:
                    continue
                folders = ["" if each is None or each.mode != FOLDER else each.id for each in (was, is_now)]
                if any(folders):
                    waiting.append((f"{inside}{name}/", *folders))
                files = [None if each is None or each.mode == FOLDER else each for each in (was, is_now)]
                if files[1] is not None:
                    yield Change("M" if files[0] else "A", files[1].mode, files[1].id, inside + name)
                elif files[0] is not None:
                    yield Change("D", "", "", inside + name)

    def _folder(self, id: str) -> list[TreeEntry]:
        return next(self.folder_entries([id])) if id else []

    @cached_property
    def _id_bytes(self) -> int:
        return 32 if self.text("rev-parse", "--show-object-format") == "sha256" else 20


def _no_repository(folder: Path, why: str) -> str:
    """Says why a folder cannot be used as a repository: in git's words, unless it is none."""
    if "not a git repository" in why:
        return f"{folder} is no git repository; clone the ladder, or make one: referee ladder new"
    if found := UNSAFE.search(why):
        why += f"; if you trust it: git config --global --add safe.directory {shlex.quote(found[1])}"
    return why


def _what(words: Sequence[str]) -> str:
    """Returns the git command, without the settings before it."""
    return next(word for before, word in zip(("", *words), words, strict=False) if "-c" not in (before, word))


def _kill(process: "subprocess.Popen[bytes]", with_children: bool) -> None:
    """Kills git; with its helpers if they are a session of their own."""
    with suppress(ProcessLookupError):
        if with_children:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def _tree_entries(content: bytes, id_bytes: int) -> Iterator[TreeEntry]:
    """Yields the entries of a folder. UsageError for one that git does not write: its commands differ about it."""
    at, last, names = 0, b"", set[bytes]()
    while at < len(content):
        end = content.find(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + id_bytes
        place = name + b"/" if mode.zfill(6) == FOLDER.encode() else name
        if end < 0 or at > len(content) or not MODE.fullmatch(mode) or b"/" in name or name in names or place <= last:
            raise UsageError(f"the folder with {name[:60]!a} is none that git writes; make the commits with git itself")
        last = place
        names.add(name)
        yield TreeEntry(mode.decode().zfill(6), content[end + 1 : at].hex(), _name(name))


def _parts(ids: Iterable[str], size: int) -> Iterator[list[str]]:
    source = iter(ids)
    while part := list(islice(source, size)):
        yield part


def tree_entry(line: bytes, sizes: bool) -> TreeEntry:
    """Returns what a line of `git ls-tree -z` says, with `-l` if it has `sizes`."""
    about, _, name = line.partition(b"\t")
    words = about.decode("ascii").split()
    size = int(words[3]) if sizes and words[3].isdigit() else 0
    return TreeEntry(words[0], words[2], _name(name), size)


def _name(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name!a}: a file name is no UTF-8; rename it") from error
