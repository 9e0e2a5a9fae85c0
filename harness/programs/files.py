"""A path as a bot: a program, a source file, a folder with a `bot.toml`, or a zip file of one."""

import os
from difflib import get_close_matches
from pathlib import Path

from referee.games import registry
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import expanded, forbids_programs
from referee.harness.opponents import opponents
from referee.harness.programs import archive, zip_archive
from referee.harness.programs.bot_file import build_bot, read_bot_file
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import kind_of_suffix, original, recognised, suffixes
from referee.harness.programs.source_file import SOURCES, starts_itself


def parse(spec: str, game: str | None) -> Parsed:
    """Parses a path, which may begin with `~`. UsageError if no bot is there."""
    if not spec:
        raise UsageError("no bot is named; expected a path, @NAME or cmd:COMMAND LINE")
    path = expanded(spec)
    if not os.path.exists(path):
        raise UsageError(f"no bot at {spec!r}: there is no such file or folder{_meant(spec, game)}")
    path = path.resolve()
    archive.check_no_pointer(path, spec)
    return _zip(path, spec, game) if zip_archive.is_zip(path) else _found(path, spec, game)


def check_no_device(path: Path, shown: str) -> None:
    """UsageError for a pipe, a socket or a device. `shown`: how the user names it."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(f"{shown} is a pipe or a device; expected a file or a folder")


def _zip(path: Path, spec: str, game: str | None) -> Parsed:
    bot, folder = zip_archive.unpacked(path)
    name, build = _found(bot, spec, game)
    return name, lambda context: build(context.seeing(folder))  # its bot may be built from all of its files


def _found(path: Path, spec: str, game: str | None) -> Parsed:
    if (other := recognised(path, game)) is not None:
        return other
    if path.is_dir():
        return _folder(path, spec, game)
    check_no_device(path, spec)
    if (kind := kind_of_suffix(path.suffix)) is not None:
        return path.stem, lambda context: Entrant(path.stem, kind.command(path, context), path.parent, kind.name)
    if path.suffix in SOURCES and not starts_itself(path):
        return path.stem, lambda context: Entrant(path.stem, SOURCES[path.suffix](path, context), path.parent)
    if not os.access(path, os.X_OK) and not forbids_programs(path):
        known = " ".join(sorted([*SOURCES, *suffixes()]))
        program = INTERPRETERS.get(path.suffix, "PROGRAM")
        raise UsageError(
            f"{spec} is neither executable nor a source file of a known language ({known}); use "
            f"cmd:'{program} {spec}', or give it a first line such as #!/usr/bin/env {program} and chmod +x"
        )
    name = path.stem if path.suffix[1:].isalpha() else path.name  # `mybot.exe`, but `mybot-1.0`
    return name, lambda context: Entrant(name, (str(path),), path.parent)


INTERPRETERS = {".lua": "lua", ".php": "php", ".jl": "julia", ".r": "Rscript", ".tcl": "tclsh"}
"""The interpreter of source files that do not run by their suffix, for the advice about them."""


def _meant(spec: str, game: str | None) -> str:
    """Returns the end of the message about a missing path: what the user probably meant."""
    if "=" in spec:
        return "; a name in front of = is not empty and has no /"
    if spec in registry.names():
        return f"; {spec} is a game, so use --game {spec}"
    if near := get_close_matches(spec, opponents(game), 1, 0.8):
        return f"; did you mean @{near[0]}?"
    folder, name = os.path.split(os.path.expanduser(spec))
    try:
        names = [entry for entry in os.listdir(folder or ".") if not entry.startswith(".")]
    except OSError:
        return f"; there is no folder {folder}" if folder and not os.path.exists(folder) else ""
    by_stem = [each for each in sorted(names) if os.path.splitext(each)[0] == name]
    if near := by_stem or get_close_matches(name, names, 1):
        return f"; did you mean {os.path.join(os.path.split(spec)[0], near[0])}?"
    return "" if os.path.isabs(spec) else f"; paths start at the current folder, {Path.cwd()}"


def _folder(folder: Path, spec: str, game: str | None) -> Parsed:
    bot = read_bot_file(folder, spec)
    name = bot.name or folder.name
    if bot.original is not None:
        return name, original(bot.original, folder, f"{spec}/bot.toml", game)[1]

    def built(context: BuildContext) -> Entrant:
        program = build_bot(bot, folder, spec, context)
        return Entrant(name, program.argv, program.cwd, program.kind, named=program.named)

    return name, built
