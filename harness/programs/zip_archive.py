"""Zip files with a bot, which may be hostile: a submission, or a version that a contest keeps."""

import io
import os
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from referee.harness.common.errors import UsageError
from referee.harness.isolation.removal import remove
from referee.harness.programs import build_cache
from referee.harness.programs.archive import LFS, PROGRAMS, begins_with, sha256
from referee.harness.programs.kinds import recognised
from referee.harness.programs.submitted import complete, is_of_the_system

SUFFIX = ".zip"
MAX_BYTES, MAX_FILES = 64 << 20, 2000
"""The limits of a submission."""
USER_BYTES, USER_FILES = 1 << 30, 20_000
"""The limits of what a user or an organiser names. Their bots may be larger than a submission."""
COMMENT = re.compile(rb"referee(?: (?P<maker>\S{1,100}))? plays: (?P<path>.*)", re.DOTALL)
"""The comment of a zip file: the bot's path in it, and the version of the maker if the bot's hash depends on it."""
MAX_PATH_BYTES, MAX_NAME_BYTES = 1024, 255
"""Longer paths, such as those of 1,200 nested folders, and longer names in them are refused."""
UTF8 = 0x800
"""The flag of an entry whose name is UTF-8. Without it, zipfile reads code page 437."""
ENTRY_BYTES = 512
"""How much of the list of contents a file may take, on average."""
IGNORED = "__MACOSX"
"""A folder that macOS adds to zip files."""
UNIX = (3, 19)
"""The systems, as zip files number them, whose files have an executable bit: Unix and macOS."""
DRIVE = re.compile(r"[A-Za-z]:[/\\]")
"""How the path of a drive of Windows begins."""
FORMATS = {
    b"": "is empty; hand it in again",
    b"\x1f\x8b": "is a gzip file, such as a .tar.gz; pack the folder as a zip",
    b"\xfd7zXZ": "is an xz file, such as a .tar.xz; pack the folder as a zip",
    b"\x28\xb5\x2f\xfd": "is a zst file, such as a .tar.zst; pack the folder as a zip",
    b"BZh": "is a bzip2 file, such as a .tar.bz2; pack the folder as a zip",
    b"7z\xbc\xaf": "is a 7z file; pack the folder as a zip",
    b"Rar!": "is a RAR file; pack the folder as a zip",
    b"<": "is a page of the web, not a file; download the zip itself",
    LFS: "is a pointer of git LFS; hand in the file itself",
    b"PK": "is cut off or damaged; hand it in again",
}
"""By its first bytes, what a file is that is no zip file, and what to do."""
TAR_PLACE, TAR = 257, b"ustar"


def is_zip(path: Path) -> bool:
    """Whether a path is that of a zip file."""
    return path.suffix.lower() == SUFFIX and os.path.isfile(path)


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> Path:
    """Unpacks what somebody hands in into the empty `folder`, as `extract` does. Returns the bot: all of it, or a part.

    Makes it complete, as `submitted.complete` does.
    """
    comment = extract(archive, folder, max_bytes, max_files)
    try:
        bot = _bot(folder, comment)
        complete(folder, bot)
    except UsageError as error:
        raise UsageError(f"{archive}: {error}") from error
    return bot


def extract(archive: Path, folder: Path, max_bytes: int, max_files: int) -> bytes:
    """Unpacks into the empty `folder`, without the only folder around all files. Returns the comment.

    UsageError for a file that is not a zip file, is too large, would write outside `folder`, or contains anything
    except files and folders. Files keep only their executable bit. A zip file of a system without that bit, such as
    Windows, makes each file executable that begins like a program.
    """
    try:
        if archive.stat().st_size > max_bytes:
            raise UsageError(f"{archive}: is larger than {max_bytes >> 20} MiB; leave out what the bot does not need")
        with _Limited(archive, max_files) as content, zipfile.ZipFile(content) as file:
            for entry in file.infolist():
                entry.filename = _name(entry)
            members = [entry for entry in file.infolist() if PurePosixPath(entry.filename).parts[:1] != (IGNORED,)]
            _check(archive, members, max_bytes, max_files)
            comment = file.comment
            for member in members:  # zipfile writes no more than the size in the list of contents
                path = Path(file.extract(member, folder))
                if not member.is_dir():
                    path.chmod(0o755 if _is_executable(member, path) else 0o644)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise UsageError(f"{archive}: {_other_format(archive) or f'cannot be unpacked: {error}'}") from error
    _unwrap(folder)
    return comment


def _other_format(archive: Path) -> str:
    """Says what a file is that is no zip file; empty if it is one, or is not known."""
    try:
        if zipfile.is_zipfile(archive):
            return ""
        with archive.open("rb") as file:
            head = file.read(TAR_PLACE + len(TAR))
    except OSError:
        return ""
    if head.endswith(TAR):
        return "is a tar file; pack the folder as a zip"
    return next((what for begin, what in FORMATS.items() if head.startswith(begin) and (begin or not head)), "")


def _name(entry: zipfile.ZipInfo) -> str:
    """Returns the name of an entry, with / between folders."""
    name = entry.filename
    if not entry.flag_bits & UTF8:  # macOS sets no flag for UTF-8
        try:
            name = name.encode("cp437").decode()
        except UnicodeError:
            pass
    return name if entry.create_system in UNIX else name.replace("\\", "/")  # so some programs of Windows write


class _Limited(io.FileIO):
    """A zip file that refuses to be read if it lists too much: `zipfile` makes an object of each entry first."""

    def __init__(self, archive: Path, max_files: int) -> None:
        super().__init__(archive)
        self._archive, self._max_files = archive, max_files

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads a part. UsageError for a list of contents that is too long, which `zipfile` reads at once."""
        if size is not None and size > max(self._max_files * ENTRY_BYTES, 1 << 20):
            raise UsageError(f"{self._archive}: lists more than {self._max_files:,} files, or very long paths")
        return super().read(-1 if size is None else size) or b""


def _unwrap(folder: Path) -> None:
    """Replaces a folder by the only folder inside, if there is nothing else except hidden files and the system's."""
    paths = [*folder.iterdir()]
    inside = [path for path in paths if not is_of_the_system(path.name)] or paths
    if len(inside) == 1 and inside[0].is_dir():
        inner = inside[0].rename(folder.with_name(f"{folder.name}.inner"))
        remove(folder)
        inner.rename(folder)


def _bot(folder: Path, comment: bytes) -> Path:
    """Returns the file or folder that the comment names, or else all of the folder."""
    if (named := COMMENT.fullmatch(comment)) is None:
        return folder
    path = named["path"].decode("utf-8", "replace")
    found = folder / f"./{path}"
    if ".." in PurePosixPath(path).parts or "\0" in path or len(path) > MAX_PATH_BYTES or not found.exists():
        raise UsageError(f"its comment names {path[:80]!a}, which is no file or folder in it")
    return found


def comment(inside: str, maker: str) -> bytes:
    """Returns the comment that says what `pack` of `bot_archives` has packed; empty if that is a whole folder."""
    if inside == "." and not maker:
        return b""
    return f"referee{maker and f' {maker}'} plays: {inside}".encode()


def maker_of(archive: Path) -> str:
    """Returns the version that the comment of a zip file names; empty if it names none."""
    with zipfile.ZipFile(archive) as file:
        named = COMMENT.fullmatch(file.comment)
    return (named["maker"] or b"").decode("utf-8", "replace") if named else ""


def named_folder(archive: Path, scratch: Path) -> Path:
    """Makes a folder in `scratch` that is called like a zip file, because it may name the bot."""
    folder = scratch / (archive.stem if archive.stem.strip(".") else "bot")
    folder.mkdir()
    return folder


def unpacked(path: Path) -> tuple[Path, Path]:
    """Returns the bot in a zip file, and the folder with all of its files, in the cache. UsageError for a wrong one."""
    tree = build_cache.unpacked(["zip", path.stem, sha256(path)], path, lambda draft: _unpack(path, draft))
    (folder,) = tree.iterdir()
    with zipfile.ZipFile(path) as file:
        return _bot(folder, file.comment), folder


def _unpack(path: Path, draft: Path) -> None:
    draft.mkdir()
    unpack(path, named_folder(path, draft), USER_BYTES, USER_FILES)


def _is_executable(member: zipfile.ZipInfo, path: Path) -> bool:
    mode = member.external_attr >> 16
    if mode & 0o111 or (mode and member.create_system in UNIX):
        return bool(mode & 0o111)
    return begins_with(path, PROGRAMS)


def _check(archive: Path, members: list[zipfile.ZipInfo], max_bytes: int, max_files: int) -> None:
    """Checks the list of contents before anything is written."""
    if len(members) > max_files:
        raise UsageError(f"{archive}: holds {len(members)} files; expected at most {max_files}")
    size = sum(member.file_size for member in members)
    if size > max_bytes:
        raise UsageError(f"{archive}: unpacks to {size:,} bytes; expected at most {max_bytes:,}")
    paths: dict[PurePosixPath, zipfile.ZipInfo] = {}
    for member in members:
        path = PurePosixPath(member.filename)
        if (problem := _problem(member)) or path in paths:
            shown = member.filename if len(member.filename) < 80 else f"{member.filename[:40]}…"
            raise UsageError(f"{archive}: {shown!a} {problem or 'occurs twice'}")
        paths[path] = member
    folders = set[PurePosixPath]()
    for path in paths:
        folders.update(path.parents)
        if len(folders) > max_files:
            raise UsageError(f"{archive}: holds more than {max_files} folders; nest them less deeply")
    for folder in sorted(folders & paths.keys()):
        if not paths[folder].is_dir():
            raise UsageError(f"{archive}: {str(folder)!r} is both a file and a folder")


def _problem(member: zipfile.ZipInfo) -> str | None:
    try:
        member.filename.encode()
    except UnicodeEncodeError:
        return "is no UTF-8"
    if len(member.filename.encode()) > MAX_PATH_BYTES:
        return "is too long a path"
    if any(len(part.encode()) > MAX_NAME_BYTES for part in PurePosixPath(member.filename).parts):
        return f"has a name of more than {MAX_NAME_BYTES} bytes; shorten it"
    name, path, kind = member.filename, PurePosixPath(member.filename), stat.S_IFMT(member.external_attr >> 16)
    is_drives = DRIVE.match(name) is not None
    if "\\" in name and not name.startswith("\\") and not is_drives:
        return "has a backslash; zip files separate folders with /"
    if path.is_absolute() or ".." in path.parts or "\\" in name or is_drives or not path.parts:
        return "leads outside the bot's folder"
    if kind == stat.S_IFLNK:
        return "is a link; include the file itself"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is neither a file nor a folder"
    if member.flag_bits & 1:
        return "is encrypted; make a zip without a password"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "has an unusual compression; use deflate"
    return None


def bot_in(spec: str, scratch: Path, game: str) -> str:
    """Unpacks a zip file below `scratch`, and returns the bot spec of its content. Returns any other spec unchanged.

    UsageError for a zip file without a bot.
    """
    name, equals, rest = spec.partition("=")
    prefix, path = (f"{name}=", Path(rest)) if equals and not Path(spec).exists() else ("", Path(spec))
    if not is_zip(path):
        return spec
    folder = named_folder(path, scratch)
    bot = unpack(path, folder)
    if bot.is_dir() and not (bot / "bot.toml").is_file() and recognised(bot, game) is None:
        raise UsageError(f"{path}: {_no_bot_file(path)}")
    return prefix + str(bot)


def _no_bot_file(archive: Path) -> str:
    """Explains why a zip file has no bot."""
    with zipfile.ZipFile(archive) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
    deep = sorted(name for name in names if PurePosixPath(name).name == "bot.toml")
    if len(names) == 1 and names[0].lower().endswith(SUFFIX):
        return f"holds nothing but {names[0][:80]!a}; hand in that one"
    if not deep:
        return 'has no bot.toml, which says how to run the bot; add one: run = ["python3", "bot.py"]'
    return f"has {deep[0]}; bot.toml belongs at the top, or in the only folder"
