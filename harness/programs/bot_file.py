"""`bot.toml`: how to build and run the bot in a folder."""

import os
import shutil
import tomllib
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.harness.errors import RunError, UsageError
from referee.harness.programs import archive, toolchains, webassembly
from referee.harness.programs.build import BOT_FILE, build_folder
from referee.harness.programs.build_process import BuildContext, BuildError


class WasmTarget(Struct, forbid_unknown_fields=True):
    """The table `[wasm]` of a `bot.toml`: how to build the bot as a module of WebAssembly."""

    run: list[str]
    """The module and its arguments."""
    build: str | None = None


class BotFile(Struct, forbid_unknown_fields=True):
    """The content of a `bot.toml`. Commands run in its folder."""

    run: list[str] = []
    """The program and its arguments, or a module of WebAssembly and its."""
    name: str | None = None
    build: str | None = None
    """A shell command. It and the bot run in a copy of the folder, which is kept until something changes."""
    bundle: str = "."
    """The folder to copy, relative to this one: `..` for a bot that is built from files next to its own folder."""
    exclude: list[str] = []
    """Patterns of paths in that folder that do not belong to the bot. Folders of build tools are always excluded."""
    original: str | None = None
    """Instead of `run`: a bot of the game's original competition, as after `original:`."""
    game: str | None = None
    """The game that it plays, so that `--game` is not needed."""
    wasm: WasmTarget | None = None
    """For `referee build --target wasm`."""

    def copied_folder(self, folder: Path) -> Path:
        """Returns the folder that `bundle` names, seen from the bot's folder."""
        return (folder / self.bundle).resolve()


def read_bot_file(folder: Path, spec: str) -> BotFile:
    """Reads the `bot.toml` of a folder. UsageError if it does not say what to run."""
    file, place = folder / BOT_FILE, f"{spec}/{BOT_FILE}"
    if not file.is_file():
        raise UsageError(f"{spec} is a folder without a bot.toml, which says how to build and run the bot")
    try:
        bot: BotFile = msgspec.convert(tomllib.loads(file.read_text("utf-8-sig")), BotFile)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{place}: {error}") from error
    if bot.run and bot.original is not None:
        raise UsageError(f"{place}: run and original cannot be combined")
    if not bot.run and bot.original is None:
        raise UsageError(
            f'{place}: run is empty; expected the program and its arguments, such as ["python3", "bot.py"]'
        )
    if not folder.is_relative_to(bot.copied_folder(folder)):
        raise UsageError(f"{place}: bundle is {bot.bundle!r}; expected this folder or one that contains it")
    return bot


def build_bot(bot: BotFile, folder: Path, spec: str, context: BuildContext) -> tuple[tuple[str, ...], Path]:
    """Returns a bot's command and the folder in which it runs: where it was built, or its own if it has no build."""
    if bot.build is not None:
        top = bot.copied_folder(folder)
        inside = folder.relative_to(top)
        try:
            files = archive.read(top, bot.exclude)
        except OSError as error:
            raise RunError(f"{spec} cannot be read: {error}") from error
        name = bot.name or folder.name
        folder = build_folder(files, bot.build, inside.as_posix(), spec, name, context) / inside
    if bot.run[0].endswith(webassembly.SUFFIX):
        module = folder / bot.run[0]
        if not module.is_file():
            raise BuildError(f"{spec}/{BOT_FILE}", f"run names {bot.run[0]!r}, which is not there")
        return webassembly.command(module, context, bot.run[1:]), folder
    return (_program(bot.run[0], folder, spec), *bot.run[1:]), folder


def _program(word: str, folder: Path, spec: str) -> str:
    """Finds the program: a name with a slash is a path from the folder, any other name is looked for on PATH.

    BuildError for a missing file of the bot, RunError for a program that is missing on the machine.
    """
    place, is_path = f"{spec}/{BOT_FILE}", "/" in word
    find = toolchains.find if word in toolchains.KNOWN else shutil.which
    program = str(folder / word) if is_path else find(word)
    if program is None or not os.path.isfile(program):
        problem = f"run names {word!r}, which is no program here"
    elif not os.access(program, os.X_OK):
        problem = f"run names {word!r}, which is not executable; chmod +x makes it so"
    else:
        return program
    raise BuildError(place, problem) if is_path else RunError(f"{place}: {problem}")
