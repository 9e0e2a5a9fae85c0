"""Unpacks a submitted zip file, which may be hostile."""

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from referee.harness.errors import UsageError
from referee.harness.programs import kaggle_spec, original_spec

MAX_BYTES = 64 << 20
MAX_FILES = 2000
MAX_PATH_BYTES = 1024
"""Longer paths, such as those of 1,200 nested folders, are refused."""
IGNORED = "__MACOSX"
"""A folder that macOS adds to zip files."""
UNIX = (3, 19)
"""The systems, as zip files number them, whose files have an executable bit: Unix and macOS."""
PROGRAMS = (b"#!", b"\x7fELF")
"""The first bytes of files that the system can run."""


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> Path:
    """Unpacks into the empty `folder`. Returns the bot's folder, which may be the only one inside.

    UsageError for a file that is not a zip file, is too large, would write outside `folder`, or contains anything
    except files and folders. Files keep only their executable bit. A zip file of a system without that bit, such as
    Windows, makes each file executable that begins like a program.
    """
    try:
        if archive.stat().st_size > max_bytes:
            raise UsageError(f"{archive}: is larger than {max_bytes >> 20} MiB; leave out what the bot does not need")
        with zipfile.ZipFile(archive) as file:
            for entry in file.infolist():
                if entry.create_system not in UNIX:  # some programs of Windows separate folders so
                    entry.filename = entry.filename.replace("\\", "/")
            members = [entry for entry in file.infolist() if PurePosixPath(entry.filename).parts[:1] != (IGNORED,)]
            _check(archive, members, max_bytes, max_files)
            for member in members:  # zipfile writes no more than the size in the list of contents
                path = Path(file.extract(member, folder))
                if not member.is_dir():
                    path.chmod(0o755 if _is_executable(member, path) else 0o644)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise UsageError(f"{archive}: cannot be unpacked: {error}") from error
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _is_executable(member: zipfile.ZipInfo, path: Path) -> bool:
    mode = member.external_attr >> 16
    if mode & 0o111 or (mode and member.create_system in UNIX):
        return bool(mode & 0o111)
    with path.open("rb") as file:
        return file.read(max(map(len, PROGRAMS))).startswith(PROGRAMS)


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
    for folder in sorted({folder for path in paths for folder in path.parents if folder in paths}):
        if not paths[folder].is_dir():
            raise UsageError(f"{archive}: {str(folder)!r} is both a file and a folder")


def _problem(member: zipfile.ZipInfo) -> str | None:
    try:
        member.filename.encode()
    except UnicodeEncodeError:
        return "is no UTF-8"
    if len(member.filename.encode()) > MAX_PATH_BYTES:
        return "is too long a path"
    name, path, kind = member.filename, PurePosixPath(member.filename), stat.S_IFMT(member.external_attr >> 16)
    if "\\" in name and not name.startswith("\\") and ":" not in name:
        return "has a backslash; zip files separate folders with /"
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or not path.parts:
        return "leads outside the bot's folder"
    if kind == stat.S_IFLNK:
        return "is a link; include the file itself"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is neither a file nor a folder"
    if member.flag_bits & 1:
        return "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "has an unusual compression; use deflate"
    return None


def bot_in(spec: str, scratch: Path, game: str) -> str:
    """Unpacks a zip file below `scratch`, and returns the bot spec of its content. Returns any other spec unchanged.

    UsageError for a zip file without a bot.
    """
    name, equals, rest = spec.partition("=")
    prefix, path = (f"{name}=", Path(rest)) if equals and not Path(spec).exists() else ("", Path(spec))
    if path.suffix.lower() != ".zip" or not path.is_file():
        return spec
    folder = scratch / path.stem
    folder.mkdir()
    bot = unpack(path, folder)
    is_agent = original_spec.bot_in(bot, game) or kaggle_spec.agent_in(bot, game)
    if not (bot / "bot.toml").is_file() and not is_agent:
        raise UsageError(f"{path}: {_no_bot_file(folder)}")
    return prefix + str(bot)


def _no_bot_file(folder: Path) -> str:
    """Explains why the unpacked folder has no bot."""
    deep = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("bot.toml"))
    if not deep:
        return "has no bot.toml, which says how to build and run the bot"
    return f"has {deep[0]}; bot.toml belongs at the top, or in the only folder"
