"""Writes a site of plain files to a folder that a user names, and that may also hold files of the user."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.output import write_whole
from referee.harness.common.paths import read_limited
from referee.protocol.text import counted

MARK = ".referee-site"
"""The file that says of which kind a site is, and which files of it are ours."""
HEAD = "written by referee: "
"""The beginning of a mark."""
MARK_BYTES = 64 << 20
PARTS = ("author", "bots", "games", "pairs", "runners", "tables")
"""The folders of our sites. Nothing is removed from any other."""
SHOWN = 3
LINE = re.compile(r"([0-9a-f]{32}) ([0-9a-f]{32})")


@contextmanager
def site_folder(folder: Path, kind: str) -> Iterator["SiteFolder"]:
    """Opens the folder of a site for a block that writes all its files; then removes what an earlier site had.

    UsageError for a folder that holds other files, RunError for one that cannot be written.
    """
    with writing(folder):
        opened = SiteFolder(folder, kind)
        yield opened
        opened.finish()


class SiteFolder:
    """The folder of a site. Only files that we wrote, and that nobody has changed since, are replaced or removed.

    Its mark has a line for each of them: the hash of its name, as a name may be secret, and that of its content.
    """

    def __init__(self, folder: Path, kind: str) -> None:
        """Opens the folder. UsageError if it holds files and has no mark; OSError if it cannot be written.

        Our files of another `kind` are removed: its readers may know more.
        """
        self.folder, self._kind = folder, kind
        self.kept: list[str] = []
        """The files in our folders that are not ours, when all is written."""
        self.written: dict[str, str] = {}
        """The names of the files that are up to date, with the hash of their content."""
        self._checked = {folder}
        before, lines = self._read_mark()
        if before is None and folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds other files; name a new folder")
        self._known: dict[str, set[str]] = {}
        for line in lines:
            if found := LINE.fullmatch(line):
                self._known.setdefault(found[1], set()).add(found[2])
        folder.mkdir(parents=True, exist_ok=True)
        if before != kind:
            self._remove_others()
            self._known, lines = {}, []
        self._write_mark(lines)

    def _read_mark(self) -> tuple[str | None, list[str]]:
        """Returns the kind, None without a mark, and the lines of the files."""
        mark = self.folder / MARK
        try:
            if not stat.S_ISREG(mark.lstat().st_mode):
                return None, []
            kind, *lines = read_limited(mark, MARK_BYTES).decode("utf-8", "replace").split("\n")
        except OSError:
            return None, []
        return (kind.removeprefix(HEAD), lines) if kind.startswith(HEAD) else (None, [])

    def has(self, name: str, at_ns: int) -> bool:
        """Returns whether a file of ours is there, from now or before, whose time is `at_ns`."""
        if name not in self.written:
            contents = self._known.get(_hash(name.encode()), ())
            try:
                found = (self.folder / name).lstat()
            except OSError:
                return False
            if len(contents) != 1 or not stat.S_ISREG(found.st_mode) or found.st_mtime_ns != at_ns:
                return False
            (self.written[name],) = contents
        return True

    def add(self, name: str, content: bytes, at_ns: int | None = None) -> None:
        """Writes a file if it changes. `at_ns`: its time. RunError if a file that is not ours has its place."""
        path = self.folder / name
        self._make_folder(path.parent)
        known = self._known.setdefault(_hash(name.encode()), set())
        before, now = _hash_of(path), _hash(content)
        if before is not None and before not in known:
            raise RunError(
                f"{path} is not as this command has written it, and stays; move it away, or name another folder"
            )
        if before != now or before not in known:
            known.add(now)  # before the file itself: what is written in part is ours, too
            with open(self.folder / MARK, "a", encoding="utf-8") as mark:
                mark.write(f"{_hash(name.encode())} {now}\n")
            write_whole(path, content)
        if at_ns is not None:
            os.utime(path, ns=(at_ns, at_ns))
        self.written[name] = now

    def _make_folder(self, folder: Path) -> None:
        """Makes a folder of ours. RunError for a link, which could lead to the user's files."""
        if folder in self._checked:
            return
        self._make_folder(folder.parent)
        if folder.is_symlink():
            raise RunError(f"{folder} is a link, and stays; move it away, or name another folder")
        folder.mkdir(exist_ok=True)
        self._checked.add(folder)

    def _remove_others(self) -> list[str]:
        """Removes our files that were not written again. Returns the files in our folders that are not ours."""
        kept: list[str] = []
        for path in self._files():
            name = path.relative_to(self.folder).as_posix()
            known = self._known.get(_hash(os.fsencode(name)))
            if name in self.written:
                continue
            if known and _hash_of(path) in known:
                path.unlink()
                with suppress(OSError):  # the folder has other files
                    for parent in path.relative_to(self.folder).parents[:-1]:
                        (self.folder / parent).rmdir()
            elif path.parent != self.folder:
                kept.append(name)
        return kept

    def _files(self) -> Iterator[Path]:
        """Yields the files of the folder and of `PARTS`, also those that are links."""
        yield from sorted(path for path in self.folder.iterdir() if not path.is_dir() and path.name != MARK)
        for part in PARTS:
            if not (self.folder / part).is_symlink():
                for where, folders, names in os.walk(self.folder / part, topdown=False):
                    links = [each for each in folders if os.path.islink(os.path.join(where, each))]
                    yield from (Path(where, name) for name in sorted(names + links))

    def finish(self) -> None:
        """Removes what an earlier site had and this one has not."""
        self.kept = self._remove_others()
        lines = sorted(f"{_hash(name.encode())} {content}" for name, content in self.written.items())
        self._write_mark(lines)

    def _write_mark(self, lines: Sequence[str]) -> None:
        write_whole(self.folder / MARK, "\n".join([HEAD + self._kind, *lines, ""]).encode())


def _hash_of(path: Path) -> str | None:
    """Returns the hash of a file's content; None if nothing is there, and an empty text for anything else."""
    try:
        return _hash(path.read_bytes()) if stat.S_ISREG(path.lstat().st_mode) else ""
    except FileNotFoundError:
        return None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def what_stays(folder: Path, kept: Sequence[str]) -> str:
    """Says which files in the folder of a site are not ours."""
    more = f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    return (
        f"{folder} holds {counted(len(kept), 'file')} that this command did not write: {', '.join(kept[:SHOWN])}{more}"
    )
