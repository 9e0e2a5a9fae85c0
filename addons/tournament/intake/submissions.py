"""The submissions that an organiser names: what a folder holds, or the lines of a text file.

A submission is a zip file, a folder, a single file, a Kaggle archive, the archive of a container image, or the address
of a git repository. The folders that Moodle and Canvas make are read as they are.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.tournament.intake.layouts import ZIP, named, remedy, same, shown, without_suffix
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.paths import read_limited
from referee.harness.programs.archive import LEFT_OUT
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.kinds import archives, is_path, kind_of, named_archive, split_file, split_name
from referee.harness.programs.submitted import is_of_the_system
from referee.harness.programs.zip_archive import MAX_FILES, MAX_PATH_BYTES
from referee.protocol.text import printable

GIT = re.compile(r"(https?|ssh|git|file)://|[\w.+-]+@[\w.-]+:")
"""How the address of a git repository begins."""
COMMENT = "#"
NOTES = (".md", ".rst")
ABOUT = frozenset({"readme", "license", "licence", "copying", "changelog"})
"""The names of notes without a suffix or with `.txt`. Any other text may be a bot with a wrong suffix."""
MOST = 5000
"""The most submissions of a folder or a list."""
NOTE = "a note or a file of the system"


class Submission(Struct, frozen=True):
    """A bot that somebody handed in."""

    name: str
    """Its owner's name: that of the file, folder or repository, or of the person in Moodle or Canvas, unless `NAME=`
    names it."""
    source: str
    """A path or the address of a git repository."""
    place: str = ""
    """Its path inside the folder that the organiser named, or its line of the list."""
    file: str = ""
    """The file's name as its author knows it."""
    duplicates: tuple[str, ...] = ()
    """The places of all submissions of the same name, if there are several."""
    is_part: bool = False
    """It is one of several loose files that a person handed in to Moodle or Canvas."""
    remedy: str = ""
    """Why it can be no submission, and what to hand in; empty if it can be one."""
    is_named: bool = False
    """`NAME=` names it."""
    commit: str = "HEAD"
    """Of a repository; see `fetching.fetch`."""
    is_strangers: bool = False
    """Of a repository: its team named the address, and not the organiser; see `fetching.fetch`."""

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
        kind = named_archive(path.suffix.lower())
        return f"{self.name}={'' if kind is None or not path.is_file() else kind.prefixes[0]}{path}"


class HandIn(Struct, frozen=True):
    """The submissions of a folder or a list."""

    submissions: list[Submission]
    skipped: dict[str, str]
    """Why the other files of the folder are no submissions, by their places."""


def _is_entry(source: str) -> bool:
    return not (GIT.match(source) or is_path(source) or kind_of(source).names_file)


def handed_in(path: Path, newest: bool = False) -> HandIn:
    """Returns what a folder or a list names. UsageError if there is none, or the file cannot be read.

    With `newest`, the newest of several submissions of one name stands for all; otherwise they are one submission that
    names its duplicates.
    """
    skipped: dict[str, str] = {}
    if path.is_dir():
        found = _in_folder(path, skipped)
    elif path.name.lower().endswith((ZIP, *archives(named=True), *archives(named=False))):
        found = [Submission(shown(without_suffix(path.name)), str(path), path.name, path.name)]
    else:
        found = list(islice(_listed(path), MOST + 1))
        if len(found) > MOST:
            raise UsageError(f"{path}: has more than {MOST:,} lines; divide it")
    if not found:
        raise UsageError(
            f"{path} has no submission; expected a folder with zip files, folders, images or single files, or a list "
            "of them"
        )
    return HandIn(list(_with_duplicates(found, newest, skipped)), dict(sorted(skipped.items())))


def submissions(path: Path, newest: bool = False) -> list[Submission]:
    """Returns the submissions that a folder or a list names. UsageError as for `handed_in`."""
    return handed_in(path, newest).submissions


def _is_note(path: Path, file: str) -> bool:
    name, suffix = file.lower(), Path(file).suffix.lower()
    if is_of_the_system(name):
        return True
    is_about = suffix in ("", ".txt") and name.removesuffix(suffix) in ABOUT
    return (suffix in NOTES or is_about) and os.path.isfile(path) and not os.access(path, os.X_OK)


class _Candidate(Struct, frozen=True):
    """A file or folder that somebody may have handed in."""

    person: str
    id: str
    submission: Submission


def _in_folder(folder: Path, skipped: dict[str, str]) -> list[Submission]:
    """Returns the submissions in a folder. A file that cannot be played is one if its owner has no other."""
    paths = _listing(folder, MOST)
    if paths is None:
        raise UsageError(f"{folder} holds more than {MOST:,} files; name a folder that holds submissions alone")
    owners: dict[tuple[str, str], list[_Candidate]] = {}
    for path in paths:
        for candidate in _candidates(path, skipped):
            owners.setdefault((same(candidate.person), candidate.id), []).append(candidate)
    found = []
    for one in owners.values():
        real = [each for each in one if not each.submission.remedy] or one[:1]
        skipped.update((each.submission.place, each.submission.remedy) for each in one if each not in real)
        found += real
    ids: dict[str, set[str]] = {}
    for each in found:
        ids.setdefault(same(each.person), set()).add(each.id)
    return [
        msgspec.structs.replace(each.submission, name=f"{each.person} ({each.id})")
        if each.id and len(ids[same(each.person)]) > 1
        else each.submission
        for each in found
    ]


def _listing(folder: Path, most: int) -> list[Path] | None:
    """Returns the paths in a folder by name; None if there are too many."""
    try:
        with os.scandir(folder) as entries:
            paths = [folder / entry.name for entry in islice(entries, most + 1)]
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read: {reason(error)}") from error
    return None if len(paths) > most else sorted(paths)


def _candidates(path: Path, skipped: dict[str, str]) -> Iterator[_Candidate]:
    """Yields what may be a submission: a file or folder, or what the folder of a person in Moodle has."""
    is_folder = path.is_dir()
    about = named(path.name, is_folder)
    person, place = shown(about.person), printable(path.name)

    def candidate(source: Path, place: str, file: str, why: str = "") -> _Candidate:
        why = "text typed into a form is no program: hand in a zip" if about.is_text else why
        return _Candidate(person, about.id, Submission(person, str(source), place, file, remedy=why))

    if _is_note(path, about.file or path.name):
        skipped[place] = NOTE
    elif about.file or not is_folder:
        yield candidate(path, place, about.file, "" if is_folder else remedy(about.file))
    else:
        inside = None if path.is_symlink() else _listing(path, MAX_FILES)
        notes = [each for each in inside or () if _is_note(each, each.name)]
        files = [each for each in inside or () if each not in notes]
        if inside is None:
            yield candidate(path, place, "", f"the folder is a link, or holds more than {MAX_FILES:,} files")
        elif any(each.name == BOT_FILE for each in files):
            yield candidate(path, place, "")
        else:
            skipped.update({f"{place}/{printable(each.name)}": NOTE for each in notes})
            for each in files:
                why = "" if each.is_dir() else remedy(each.name)
                yield candidate(each, f"{place}/{printable(each.name)}", each.name, why)
            if not files:
                yield candidate(path, place, "", "the folder is empty: hand in a zip")


def _listed(file: Path) -> Iterator[Submission]:
    try:
        text = read_limited(file).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{file}: expected a folder or a list of submissions, one a line: {why}") from error
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(COMMENT):
            name, source = (None, line) if GIT.match(line) else split_name(line)
            place = printable(source)
            if GIT.match(source):
                last = file_name = re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git")
            elif _is_entry(source):
                last = file_name = source
            else:
                path = file.parent / Path(split_file(source)[1]).expanduser()
                is_folder = os.path.isdir(path)
                source, about = str(path), named(path.name, is_folder)
                last, file_name = about.person, about.file
            why = remedy(source) if os.path.isfile(source) else ""
            yield Submission(shown(name or last), source, place, file_name, remedy=why, is_named=name is not None)


def _with_duplicates(found: Iterable[Submission], newest: bool, skipped: dict[str, str]) -> Iterator[Submission]:
    """Yields the submissions, each with the places of all of its name."""
    names: dict[str, list[Submission]] = {}
    for each in found:
        names.setdefault(same(each.name), []).append(each)
    for one, *others in names.values():
        latest = _newest([one, *others]) if newest and others else None
        if latest is not None:
            skipped.update((each.place, f"older than {latest.place}") for each in (one, *others) if each != latest)
        places = tuple(each.place for each in (one, *others)) if others and latest is None else ()
        if latest is not None:
            yield latest
        else:
            is_part = bool(others) and all(map(_is_loose, (one, *others)))
            changed = {"duplicates": places, "is_part": is_part}
            yield from (msgspec.structs.replace(each, **changed) for each in (one, *others))


def _is_loose(each: Submission) -> bool:
    """Whether a single file has a name of its own, and not that of its owner: Moodle and Canvas know who it is of."""
    is_file = each.is_single and not each.is_git and os.path.isfile(each.source)
    return is_file and same(without_suffix(each.file)) != same(each.name)


def _newest(found: Sequence[Submission]) -> Submission | None:
    """Returns the submission whose file changed last; None if that is not certain."""
    try:
        *_, (second, _), (last, place) = sorted((os.stat(each.source).st_mtime_ns, at) for at, each in enumerate(found))
    except (OSError, ValueError):  # a repository, or a file that has gone
        return None
    return found[place] if last > second else None


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
            raise UsageError(f"{name}: holds more than {max_files:,} files, which are allowed")
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
