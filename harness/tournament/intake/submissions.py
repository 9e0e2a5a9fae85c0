"""The submissions that an organiser names: what a folder holds, or the lines of a text file.

A submission is a zip file, a folder, a single file, a Kaggle archive, the archive of a container image, or the address
of a git repository.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.paths import read_limited
from referee.harness.programs.archive import LEFT_OUT
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.entrant import shown_name
from referee.harness.programs.kinds import archives, is_path, kind_of, kinds, split_file, split_name
from referee.harness.programs.zip_archive import MAX_PATH_BYTES
from referee.protocol.text import printable

GIT = re.compile(r"(https?|ssh|git|file)://|[\w.+-]+@[\w.-]+:")
"""How the address of a git repository begins."""
ZIP = ".zip"
COMMENT = "#"
SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
"""What Windows and macOS leave in folders. Files of macOS and others begin with a dot."""
NOTES = (".md", ".rst")
ABOUT = frozenset({"readme", "license", "licence", "copying", "changelog"})
"""The names of notes without a suffix or with `.txt`. Any other text may be a bot with a wrong suffix."""


class Submission(Struct, frozen=True):
    """A bot that somebody handed in."""

    name: str
    """The organiser's name for it: that of its file, folder or repository, unless `NAME=` names it."""
    source: str
    """A path or the address of a git repository."""
    duplicates: tuple[str, ...] = ()
    """Other submissions of the same name."""

    @property
    def is_git(self) -> bool:
        return GIT.match(self.source) is not None

    @property
    def is_entry(self) -> bool:
        """Whether it is a bot spec with a prefix, which is no file that a team hands in."""
        return _is_entry(self.source)

    @property
    def is_single(self) -> bool:
        """Whether it is a file that plays as it is, and that may not see its neighbours."""
        return not self.source.lower().endswith((ZIP, *archives(named=True)))

    def spec(self, path: Path) -> str:
        """Returns the bot spec of its content at `path`."""
        kind = next((kind for kind in kinds() if kind.names_file and path.suffix.lower() in kind.archives), None)
        return f"{self.name}={'' if kind is None or not path.is_file() else kind.prefixes[0]}{path}"


def _is_entry(source: str) -> bool:
    return not (GIT.match(source) or is_path(source) or kind_of(source).names_file)


def submissions(named: Path) -> list[Submission]:
    """Returns what a folder or a list names. UsageError if there is none, or the file cannot be read."""
    if named.is_dir():
        found = list(_in_folder(named))
    elif named.name.lower().endswith((ZIP, *archives(named=True), *archives(named=False))):
        found = [Submission(_name(_file_name(named)), str(named))]
    else:
        found = list(_listed(named))
    if not found:
        raise UsageError(
            f"{named} has no submission: expected zip files, folders, images or single files, or a list of them"
        )
    return list(_with_duplicates(found))


def notes(named: Path) -> list[str]:
    """Returns the names of what is no submission in a folder: notes, and files of the system."""
    return sorted(printable(path.name) for path in named.iterdir() if _is_note(path)) if named.is_dir() else []


def _is_note(path: Path) -> bool:
    name, suffix = path.name.lower(), path.suffix.lower()
    if name.startswith(".") or name in SYSTEM_FILES:
        return True
    is_about = suffix in ("", ".txt") and name.removesuffix(suffix) in ABOUT
    return (suffix in NOTES or is_about) and os.path.isfile(path) and not os.access(path, os.X_OK)


def _in_folder(folder: Path) -> Iterator[Submission]:
    for path in sorted(folder.iterdir()):
        if not _is_note(path):
            yield Submission(_name(_file_name(path)), str(path))


def _file_name(path: Path) -> str:
    """Returns the name of a folder, or of a file without its suffix."""
    suffix = next((suffix for suffix in archives(named=False) if path.name.lower().endswith(suffix)), path.suffix)
    return path.name if os.path.isdir(path) else path.name.removesuffix(path.name[-len(suffix) :] if suffix else "")


def _listed(file: Path) -> Iterator[Submission]:
    try:
        text = read_limited(file).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{file}: expected a folder or a list of submissions, one a line: {why}") from error
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(COMMENT):
            name, source = (None, line) if GIT.match(line) else split_name(line)
            if GIT.match(source):
                last = re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git")
            elif _is_entry(source):
                last = source
            else:
                path = file.parent / Path(split_file(source)[1]).expanduser()
                source, last = str(path), _file_name(path)
            yield Submission(_name(name or last), source)


def _name(text: str) -> str:
    """Returns a name that is one on a command line too."""
    return re.sub(r"[^\w .+~-]|^-", "_", shown_name(text)).strip() or "bot"


def _with_duplicates(found: Sequence[Submission]) -> Iterator[Submission]:
    counts = Counter(each.name for each in found)
    for each in found:
        others = tuple(other.source for other in found if counts[each.name] > 1 and other.name == each.name)
        yield Submission(each.name, each.source, tuple(source for source in others if source != each.source))


def check_folder(folder: Path, name: str, max_bytes: int, max_files: int) -> None:
    """UsageError if the folder of a submission is too large or reaches for files outside of it.

    A link or a `bundle` that leads out would put files of the organiser's machine into the bot's archive.
    """
    size = count = 0
    top = folder.resolve()
    for path in _walk(folder):
        _check_path(path.relative_to(folder), name)
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(top):
            raise UsageError(
                f"{name}: {path.relative_to(folder)} is a link that leads outside; include the file itself"
            )
        if os.path.isfile(path):  # also of a link to itself
            count += 1
            size += path.stat().st_size
    if count > max_files:
        raise UsageError(f"{name}: holds {count:,} files; {max_files:,} are allowed")
    if size > max_bytes:
        raise UsageError(f"{name}: holds {size:,} bytes; {max_bytes:,} are allowed")
    if (folder / "bot.toml").is_file():
        read_bot_file(top, name).copied_folder(top, name)


def remove_excluded(folder: Path, name: str) -> None:
    """Removes the files that `exclude` in a `bot.toml` leaves out, from a copy: the bot has to play without them."""
    if not (folder / "bot.toml").is_file():
        return
    kept = {file.path for file in read_bot_file(folder, name).files(folder.resolve(), name).files}
    for path in [*_walk(folder)]:
        if (path.is_symlink() or not path.is_dir()) and path.relative_to(folder).as_posix() not in kept:
            path.unlink()


def _check_path(path: Path, name: str) -> None:
    """UsageError for a path inside a submission that no archive can hold."""
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise UsageError(f"{name}: has a path of more than {MAX_PATH_BYTES} bytes; nest folders less deeply")
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{name}: has a file name that is no UTF-8: {str(path)!a}") from error


def _walk(folder: Path) -> Iterator[Path]:
    waiting = [folder]
    while waiting:  # not by recursion: a stranger's folders may be nested deeply
        for path in waiting.pop().iterdir():
            if path.name in LEFT_OUT and (path.is_symlink() or path.is_dir()):
                continue
            yield path
            if path.is_dir() and not path.is_symlink():
                waiting.append(path)
