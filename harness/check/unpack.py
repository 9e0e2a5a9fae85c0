"""A submission as a zip file, unpacked without trusting a word of it."""

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from referee.harness.errors import UsageError
from referee.harness.programs import original_spec

MAX_BYTES = 64 << 20
MAX_FILES = 2000
COPY_BYTES = 1 << 16
NOT_OURS = "__MACOSX"
"""A folder that some systems add to every zip file."""


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> Path:
    """Unpacks into `folder`, which is empty: the bot's own folder, that is without a single top folder around it.

    UsageError for a file that is no zip, that holds anything but files and folders, that would write outside, or that
    is too large. Files keep whether they can be executed, and nothing else.
    """
    try:
        if archive.stat().st_size > max_bytes:
            raise UsageError(f"{archive}: larger than {max_bytes >> 20} MiB even as it is")
        with zipfile.ZipFile(archive) as file:
            members = [entry for entry in file.infolist() if PurePosixPath(entry.filename).parts[:1] != (NOT_OURS,)]
            _check(archive, members, max_bytes, max_files)
            room = max_bytes
            for member in members:
                room -= _extract(file, member, folder, room)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise UsageError(f"{archive}: cannot be unpacked: {error}") from error
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _check(archive: Path, members: list[zipfile.ZipInfo], max_bytes: int, max_files: int) -> None:
    """Everything that the list of contents tells, before anything is written."""
    if len(members) > max_files:
        raise UsageError(f"{archive}: holds {len(members)} files; {max_files} are allowed")
    size = sum(member.file_size for member in members)
    if size > max_bytes:
        raise UsageError(f"{archive}: unpacks to {size:,} bytes; {max_bytes:,} are allowed")
    names: set[str] = set()
    files: set[str] = set()
    folders: set[str] = set()
    for member in members:
        name = member.filename
        path = PurePosixPath(name)
        if "\\" in name and not name.startswith("\\") and ":" not in name:
            raise UsageError(f"{archive}: {name} has a backslash; the folders of a zip file are parted by /")
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or not path.parts:
            raise UsageError(f"{archive}: {name!r} leads outside of the bot's own folder")
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind == stat.S_IFLNK:
            raise UsageError(f"{archive}: {name!r} is a link; put the file itself there")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise UsageError(f"{archive}: {name!r} is neither a file nor a folder")
        if member.flag_bits & 1:
            raise UsageError(f"{archive}: {name!r} is encrypted")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UsageError(f"{archive}: {name!r} is packed in a rare way; use the ordinary one, deflate")
        if str(path) in names:
            raise UsageError(f"{archive}: {name!r} is there twice")
        names.add(str(path))
        folders.update(map(str, path.parents))
        if not member.is_dir():
            files.add(str(path))
    for name in sorted(files & folders):
        raise UsageError(f"{archive}: {name!r} is there as a file and as a folder")


def _extract(file: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, room: int) -> int:
    """The bytes written. The list of contents may lie about sizes, so that they are counted here too."""
    target = folder.joinpath(*PurePosixPath(member.filename).parts)
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with file.open(member) as source, target.open("xb") as copy:
        while data := source.read(COPY_BYTES):
            if copy.tell() + len(data) > room:
                raise UsageError(f"{file.filename}: unpacks to more than it says")
            copy.write(data)
        size = copy.tell()
    target.chmod(0o755 if member.external_attr >> 16 & 0o111 else 0o644)
    return size


def bot_in(spec: str, scratch: Path, game: str) -> str:
    """What names the bot once a zip file is unpacked below `scratch`; any other `spec` as it is. UsageError for one
    that holds no bot, of ours or of the game's original competition."""
    name, equals, rest = spec.partition("=")
    prefix, path = (f"{name}=", Path(rest)) if equals and not Path(spec).exists() else ("", Path(spec))
    if path.suffix.lower() != ".zip" or not path.is_file():
        return spec
    folder = scratch / path.stem
    folder.mkdir()
    bot = unpack(path, folder)
    if not (bot / "bot.toml").is_file() and original_spec.bot_in(bot, game) is None:
        raise UsageError(f"{path}: {_no_bot_file(folder)}")
    return prefix + str(bot)


def _no_bot_file(folder: Path) -> str:
    """Why no bot can be found in what was unpacked there."""
    deep = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("bot.toml"))
    if not deep:
        return "holds no bot.toml, which says how to build and run the bot"
    return f"holds {deep[0]}; bot.toml belongs at the top, or into the only folder that is there"
