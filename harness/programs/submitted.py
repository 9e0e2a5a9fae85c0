"""Completes submissions: packing may lose executable bits, files of git LFS and of submodules."""

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from referee.harness.common.errors import UsageError
from referee.harness.common.paths import read_limited
from referee.harness.languages.registry import BY_SUFFIX
from referee.harness.programs import archive
from referee.harness.programs.bot_file import BotFile, read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.kinds import kind_of_suffix

SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini", "__macosx", "icon\r"})
"""What Windows and macOS leave in folders besides hidden files, in lower case."""
SUBMODULES = ".gitmodules"
_SUBMODULE = re.compile(rb"^[ \t]*path[ \t]*=[ \t]*([^\r\n]{1,1000})$", re.MULTILINE)
_BETWEEN_WORDS = re.compile(r"""[\s;&|()"']+""")


def is_of_the_system(name: str) -> bool:
    """Whether a file or folder is hidden, or one that Windows or macOS leaves in folders."""
    return name.startswith(".") or name.lower() in SYSTEM_FILES


def complete(folder: Path, bot: Path) -> None:
    """Makes the programs of a submission executable that lost this on the way. `bot`: its file or folder in `folder`.

    UsageError as for `check_complete`.
    """
    settings = BotFile()
    if (bot / BOT_FILE).is_file():
        try:
            settings = read_bot_file(bot, bot.name)
        except UsageError:
            return  # the build says what is wrong
    files = archive.read(folder, settings.exclude).files
    check_complete(folder, files)
    named = [bot] if bot.is_file() and bot.suffix not in BY_SUFFIX and kind_of_suffix(bot.suffix) is None else []
    for word in [*settings.run[:1], *_BETWEEN_WORDS.split(settings.build or "")]:
        path = bot / word
        if "/" in word and os.path.isfile(path) and path.resolve().is_relative_to(folder.resolve()):
            named.append(path)
    has_lost_modes = any([_make_executable(path, archive.PROGRAMS) for path in named])
    if not any(file.executable for file in files):
        # A script may be for its interpreter, which needs no mode. Its mode is part of the bot's hash.
        beginnings = archive.PROGRAMS if has_lost_modes else (archive.ELF,)
        for file in files:
            _make_executable(folder / file.path, beginnings)


def check_complete(folder: Path, files: Iterable[archive.File]) -> None:
    """UsageError for a file that its author has and that is missing here: one of git LFS or of a submodule."""
    for file in files:
        archive.check_no_pointer(folder / file.path, file.path)
    _check_submodules(folder)


def missing_in(bot: Path) -> str:
    """Returns why a bot's folder cannot be handed in as it is, as `check_complete` says it; empty if it can.

    Empty also for a folder without a `bot.toml`, which says what belongs to the bot.
    """
    try:
        settings = read_bot_file(bot, bot.name)
        folder = (bot / settings.bundle).resolve()
        files = archive.read(folder, settings.exclude, private=[]).files
    except (UsageError, OSError):
        return ""
    try:
        check_complete(folder, files)
    except UsageError as error:
        return str(error)
    return ""


def _make_executable(path: Path, beginnings: tuple[bytes, ...]) -> bool:
    """Makes a file executable that has one of these beginnings and is not yet. Returns whether it did."""
    if os.access(path, os.X_OK) or not archive.begins_with(path, beginnings):
        return False
    path.chmod(0o755)
    return True


def _check_submodules(folder: Path) -> None:
    file = folder / SUBMODULES
    if file.is_symlink() or not file.is_file():
        return
    for found in _SUBMODULE.findall(read_limited(file)):
        name = found.decode("utf-8", "replace").strip().strip('"')
        path = folder / f"./{name}"
        if ".." not in PurePosixPath(name).parts and "\0" not in name and not (path.is_dir() and any(path.iterdir())):
            raise UsageError(f"{name[:80]} is a submodule without its files; include them")
