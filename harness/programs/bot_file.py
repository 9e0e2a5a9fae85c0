"""`bot.toml`: how to build and run the bot in a folder.

Its author may be a stranger. So nothing that it names shows the bot a file outside of its own folder: programs are
those of every bot, files are the bot's own, and any other path in `run` is a plain string.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar, cast

from msgspec import Meta, Struct, defstruct

from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.paths import KITS, forbids_programs
from referee.harness.isolation.visible_paths import is_inside, required_paths
from referee.harness.languages import toolchains
from referee.harness.programs import archive
from referee.harness.programs.archive import BotArchive
from referee.harness.programs.build import BOT_FILE, build_folder
from referee.harness.programs.build_process import BuildContext, BuildError
from referee.harness.programs.folder_toml import read_folder_toml
from referee.harness.programs.kinds import PATH, kind_of_suffix
from referee.harness.programs.targets import targets

MAX_BYTES = 64 << 10
"""Limit of the size of a `bot.toml`."""
B = TypeVar("B", bound=Struct)
Word = Annotated[str, Meta(max_length=1000)]
"""A value that messages show."""


class TargetTable(Struct, forbid_unknown_fields=True):
    """A table of a `bot.toml` with the name of a target: how to build the bot as that."""

    run: list[str]
    """The file that the build makes, and its arguments."""
    build: str | None = None


def _with_tables(kind: type[B]) -> type[B]:
    """Adds a member for each target."""
    members = [(name, TargetTable | None, None) for name in targets()]
    made = defstruct(kind.__name__, members, bases=(kind,), namespace={"__doc__": kind.__doc__})
    return cast(type[B], made)


@_with_tables
class BotFile(Struct, forbid_unknown_fields=True):
    """The content of a `bot.toml`. Commands run in its folder."""

    run: list[str] = []
    """The program and its arguments, or a file of another kind of player and its."""
    name: Word | None = None
    build: str | None = None
    """A shell command. It and the bot run in a copy of the folder, which is kept until something changes."""
    bundle: Word = "."
    """The folder to copy, relative to this one: `..` for a bot that is built from files next to its own folder.

    Outside of single matches, the user must have shown that folder to bots, by `--limit readable`. Those of our kits
    are shown to all.
    """
    exclude: archive.Patterns = []
    """Patterns of paths in that folder that do not belong to the bot. Folders of build tools are always excluded."""
    original: Word | None = None
    """Instead of `run`: a bot of the game's original competition, as after `original:`."""
    game: Word | None = None
    """The game that it plays, so that `--game` is not needed."""
    owner: list[Word] = []
    """In a ladder: the logins of those who may change the bot."""
    deterministic: bool = False
    """In a ladder: it gives the same answers in the same match, so that everybody who plays it sees the same."""

    def table(self, target: str) -> TargetTable | None:
        """Returns how the bot is built as a target; None if the file does not say it."""
        table: TargetTable | None = getattr(self, target)
        return table

    def copied_folder(
        self, folder: Path, spec: str, readable: Sequence[str] = (), file: str = BOT_FILE, is_users: bool = False
    ) -> Path:
        """Returns the folder that `bundle` names, seen from the bot's folder.

        UsageError if it leads out of that, and out of what the user shows to bots (`readable`). `file`: where it is.
        `is_users`: the bot is the user's own, so that it may lead to the current folder, as in a copy of a starter kit.
        """
        place, copied = f"{spec}/{file}: bundle is {self.bundle!r}", (folder / self.bundle).resolve()
        if not folder.is_relative_to(copied):
            raise UsageError(f"{place}; expected this folder or one that contains it")
        around = (os.getcwd(),) if is_users else ()
        if not is_inside(str(copied), archive.real_paths(folder, KITS, *readable, *around)):
            raise UsageError(f"{place}, which leads out of the bot's folder; to allow that: --limit readable={copied}")
        return copied

    def files(
        self,
        folder: Path,
        spec: str,
        readable: Sequence[str] = (),
        file: str = BOT_FILE,
        most_bytes: int | None = None,
        is_users: bool = False,
        private: list[str] | None = None,
    ) -> BotArchive:
        """Returns the bot's files, with those of `bundle` and without those of `exclude`.

        See `copied_folder`, and `archive.read` for `private`.
        """
        top = self.copied_folder(folder, spec, readable, file, is_users)
        try:
            files = archive.read(top, self.exclude, readable, most_bytes, private=private)
        except UsageError as error:
            raise UsageError(f"{spec}: {error}") from error
        except OSError as error:
            raise RunError(f"{spec} cannot be read: {error}") from error
        own = (folder.relative_to(top) / file).as_posix()
        if not any(each.path == own for each in files.files):
            raise UsageError(f"{spec}/{file}: exclude leaves out {own} itself")
        return files


class Built(Struct, frozen=True):
    """The program of a bot with a `bot.toml`."""

    argv: tuple[str, ...]
    cwd: Path
    """Where the bot runs: where it was built, or its own folder if it has no build."""
    named: tuple[str, ...]
    """The words of `argv` that are not the author's: programs of this machine, and what we add."""
    kind: str = PATH.name
    """The name of the kind of player that the program is: a module has one of its own."""


def read_bot_file(folder: Path, spec: str) -> BotFile:
    """Reads the `bot.toml` of a folder. UsageError if it does not say what to run."""
    missing = (
        "is a folder without a bot.toml, which says how to build and run the bot; name the program itself, or write a "
        'bot.toml with a line such as run = ["python3", "bot.py"]'
    )
    bot, place = read_folder_toml(folder, spec, BOT_FILE, missing, BotFile, MAX_BYTES), f"{spec}/{BOT_FILE}"
    words = [*bot.run, bot.build or "", bot.bundle, bot.original or ""]
    words += [word for name in targets() if (table := bot.table(name)) is not None for word in table.run]
    if any("\0" in word for word in words):
        raise UsageError(f"{place}: a value has a NUL, which no command and no path can hold")
    if bot.run and bot.original is not None:
        raise UsageError(f"{place}: run and original cannot be combined")
    if not "".join(bot.run[:1]) and bot.original is None:
        raise UsageError(
            f'{place}: run is empty; expected the program and its arguments, such as ["python3", "bot.py"]'
        )
    return bot


def build_bot(bot: BotFile, folder: Path, spec: str, context: BuildContext, file: str = BOT_FILE) -> Built:
    """Builds a bot, and returns its program. UsageError for a `bundle` or a link that leads out of its folder.

    `file`: the file in that folder which says so, if it is no `bot.toml`.
    """
    readable, top = context.limits.isolation.readable, folder
    if bot.build is not None:
        files = bot.files(folder, spec, readable, file, is_users=context.is_users)
        inside, name = folder.relative_to(files.folder), bot.name or folder.name
        top = build_folder(files, bot.build, inside.as_posix(), spec, name, context)
        folder = top / inside
    if (kind := kind_of_suffix(os.path.splitext(bot.run[0])[1])) is not None:
        module, place = folder / bot.run[0], f"{spec}/{file}"
        if not is_inside(os.path.realpath(module), archive.real_paths(top, *readable)):
            raise BuildError(place, f"run names {bot.run[0]!r}, which lies outside of the bot's folder")
        if not os.path.isfile(module):
            raise BuildError(place, f"run names {bot.run[0]!r}, which is not there")
        archive.check_no_pointer(module, f"{place}: {bot.run[0]}")
        command = kind.command(module, context)
        return Built((*command, *bot.run[1:]), folder, command, kind.name)
    program = _program(bot.run[0], folder, f"{spec}/{file}")
    real = os.path.realpath(program)
    if is_inside(real, [os.path.realpath(top)]):
        return Built((program, *bot.run[1:]), folder, ())
    program = os.path.normpath(program)
    check_program(program, bot.run[0], f"{spec}/{file}", folder, readable)
    is_ours = "/" not in bot.run[0] or program == sys.executable
    return Built((program, *bot.run[1:]), folder, (program,) if is_ours else ())


def check_program(program: str, word: str, place: str, folder: Path, readable: Sequence[str]) -> None:
    """BuildError if a program, which the author named by its path, is none that every bot sees.

    Its installation would become visible, which may be any folder of this machine.
    """
    real = os.path.realpath(program)
    if "/" in word and not is_inside(
        real, required_paths((), folder, os.environ.get("PATH", os.defpath), tuple(readable))
    ):
        raise BuildError(
            place, f"run names {word!r}, which lies outside of the bot's folder; name a program on PATH or of the bot"
        )


def _program(word: str, folder: Path, place: str) -> str:
    """Finds the program: a name with a slash is a path from the folder, any other name is looked for on PATH.

    BuildError for a missing file of the bot, RunError for a program that is missing on the machine.
    """
    is_path = "/" in word
    find = toolchains.find if word in toolchains.KNOWN else shutil.which
    program = str(folder / word) if is_path else find(word)
    if program is None or not os.path.isfile(program):
        problem = f"run names {word!r}, which is no program here"
    elif not os.access(program, os.X_OK) and not forbids_programs(program):
        problem = f"run names {word!r}, which is not executable; "
        if archive.begins_with(Path(program), archive.PROGRAMS):
            problem += "chmod +x makes it so"
        else:
            problem += 'name its interpreter, as in run = ["python3", "bot.py"]'
    else:
        archive.check_no_pointer(Path(program), f"{place}: {word}")
        return program
    raise BuildError(place, problem) if is_path else RunError(f"{place}: {problem}")
