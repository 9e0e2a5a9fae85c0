"""Completes submissions: packing may lose executable bits, files of git LFS and of submodules."""

import os
import re
from pathlib import Path, PurePosixPath

from referee.harness.common.errors import UsageError
from referee.harness.common.paths import read_limited
from referee.harness.languages.registry import BY_SUFFIX
from referee.harness.programs import archive
from referee.harness.programs.bot_file import BotFile, read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.kinds import kind_of_suffix

SYSTEM_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini", "__macosx", "icon\r"})
"""What Windows and macOS leave in folders, in lower case."""
SUBMODULES = ".gitmodules"
_SUBMODULE = re.compile(rb"^[ \t]*path[ \t]*=[ \t]*([^\r\n]{1,1000})$", re.MULTILINE)
_BETWEEN_WORDS = re.compile(r"""[\s;&|()"']+""")


def is_of_the_system(name: str) -> bool:
    """Whether a file or folder is one that Windows or macOS leaves in folders."""
    return name.lower() in SYSTEM_FILES or name.startswith("._")


def complete(folder: Path, bot: Path) -> None:
    """Makes the programs of a submission executable that lost this on the way. `bot`: its file or folder in `folder`.

    UsageError for a file that its author has and that is missing here.
    """
    settings = BotFile()
    if (bot / BOT_FILE).is_file():
        try:
            settings = read_bot_file(bot, bot.name)
        except UsageError:
            return  # the build says what is wrong
    for file in archive.read(folder, settings.exclude).files:
        archive.check_no_pointer(folder / file.path, file.path)
    _check_submodules(folder)
    if bot.is_file() and bot.suffix not in BY_SUFFIX and kind_of_suffix(bot.suffix) is None:
        _make_executable(bot)
    for word in [*settings.run[:1], *_BETWEEN_WORDS.split(settings.build or "")]:
        path = bot / word
        if "/" in word and os.path.isfile(path) and path.resolve().is_relative_to(folder.resolve()):
            _make_executable(path)


def _make_executable(path: Path) -> None:
    """Makes a file executable that begins like a program."""
    if not os.access(path, os.X_OK) and archive.begins_with(path, archive.PROGRAMS):
        path.chmod(0o755)


def _check_submodules(folder: Path) -> None:
    file = folder / SUBMODULES
    if file.is_symlink() or not file.is_file():
        return
    for found in _SUBMODULE.findall(read_limited(file)):
        name = found.decode("utf-8", "replace").strip().strip('"')
        path = folder / f"./{name}"
        if ".." not in PurePosixPath(name).parts and "\0" not in name and not (path.is_dir() and any(path.iterdir())):
            raise UsageError(f"{name[:80]} is a submodule without its files; include them")
