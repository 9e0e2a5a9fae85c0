"""Builds bots in the cache; nothing is written into a bot's folder or into the installed package.

A bot is built again only if its source, its kit or its compiler has changed. A folder is always built in the same work
folder, so that build tools reuse what they made before. The bot plays from a copy, which is named by its content and
never changes.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from referee.harness.errors import RunError
from referee.harness.programs import archive, build_cache, build_copy, toolchains
from referee.harness.programs.archive import BotArchive
from referee.harness.programs.build_process import BuildContext, BuildFailed, Command, run_build

BOT_FILE = "bot.toml"
WORK, LISTING, UNFINISHED = "work", "files", "begun"
"""In a project's work folder: the tree in which it is built, the names of its sources, and a marker that exists while
the tree changes. A marker that was left behind means that the process was killed."""
TREE = "tree"
"""In the folder of a finished build: the tree from which the bot plays. The name is as long as `WORK`, which it
replaces in files."""


# Folders, which have a build command.


def build_folder(bot: BotArchive, shell_command: str, inside: str, spec: str, name: str, context: BuildContext) -> Path:
    """Returns a copy of a bot's files in which the command was run, in the folder `inside`. RunError if it fails.

    All commands for the same files share one copy, so the example bots of a kit share what they are built from.
    """
    argv = ["/bin/sh", "-c", shell_command]
    tools = toolchains.identities(toolchains.builders(file.path for file in bot.files))
    home = build_cache.folder_for(["folder", bot.identity, *tools])
    done = home / f"{build_cache.key([inside, *argv])}.built"
    if not _use_finished(home, done):
        # The next command for these files runs where the first one did, even if the files now lie elsewhere.
        work = build_cache.made_in(home) or build_cache.folder_for(["work", str(bot.folder), *tools])
        with build_cache.locked(work):
            if not _use_finished(home, done):  # another process may have finished it
                sources = [file.path for file in bot.files]
                authors = {str(work / WORK): str(bot.folder)}
                command = Command(argv, work / WORK / inside, spec, name, sources, authors)
                _build_in_work_folder(bot, command, work, inside, context)
                _publish(bot, work, home, done)
                build_cache.prune(bot.folder, keep={work, home})
    return home / TREE


def _use_finished(home: Path, done: Path) -> bool:
    """Marks a finished build as used by this process. False if it is not finished."""
    with build_cache.locked(home):
        if not done.exists():
            return False
        build_cache.use(home)
        return True


def _build_in_work_folder(bot: BotArchive, command: Command, work: Path, inside: str, context: BuildContext) -> None:
    """Needs the lock of the work folder."""
    unfinished = work / UNFINISHED
    if unfinished.exists() or _has_new_bot_file(bot, inside, work):
        build_cache.discard(work)
    try:
        build_cache.make(work, bot.folder)
        build_cache.use(work)
        unfinished.touch()
        build_copy.sync(bot, work / WORK, work / LISTING)
    except OSError as error:
        unfinished.unlink(missing_ok=True)  # the work folder is as good as before
        raise RunError(f"{bot.folder} cannot be copied to be built: {error}") from error
    try:
        run_build(command, context)
    except BuildFailed:
        unfinished.unlink()  # any other error may have left half a file
        raise
    unfinished.unlink()


def _has_new_bot_file(bot: BotArchive, inside: str, work: Path) -> bool:
    """Whether the last build had another `bot.toml`. Few build tools notice that their own command has changed."""
    file = Path(inside, BOT_FILE)
    before = work / WORK / file
    return before.is_file() and (file.as_posix(), archive.sha256(before)) not in {
        (each.path, each.sha256) for each in bot.files
    }


def _publish(bot: BotArchive, work: Path, home: Path, done: Path) -> None:
    """Copies a build from its work folder to where the bot plays, and marks it as finished."""
    with build_cache.locked(home):
        try:
            if not done.exists():  # a copy of the project may have been built at the same time
                build_cache.make(home, bot.folder, work)
                build_copy.publish(work / WORK, home / TREE)
                done.touch()
        except OSError as error:
            raise RunError(f"the build of {bot.folder} cannot be kept: {error}") from error
        build_cache.use(home)


# Single source files.


class SourceBuild(Struct, frozen=True):
    """How to compile one source file."""

    source: Path
    command: Callable[[Path], Sequence[str]]
    """Returns the command that compiles the source into a folder. The compiler may list the files that it has read in
    `inputs.d` there, as rules for make."""
    tools: Sequence[str]
    """The programs that the result depends on."""
    kit: str = ""
    """Identifies the content of the starter kit."""
    link_name: str = ""
    """The folder has a link of this name to the source."""


def build_source(build: SourceBuild, context: BuildContext) -> Path:
    """Returns the folder with the compiled program. RunError if the compiler fails."""
    parts = [
        *("program", str(build.source), archive.sha256(build.source), build.kit),
        *toolchains.identities(build.tools),
        *build.command(Path(".")),
    ]
    listing = build_cache.folder_for(parts).with_suffix(".inputs")
    with build_cache.locked(listing):
        if (inputs := build_cache.read_inputs(listing)) is not None:
            home = build_cache.folder_for([*parts, *_hashes(inputs)])
            if _use_finished(home, home):
                return home
        return _compile(build, parts, listing, context)


def _compile(build: SourceBuild, parts: list[str], listing: Path, context: BuildContext) -> Path:
    source = build.source
    with build_cache.draft() as folder:
        authors = {}
        if build.link_name:
            (folder / build.link_name).symlink_to(source)
            authors = {str(folder / build.link_name): str(source)}
        command = Command(build.command(folder), source.parent, str(source), source.stem, [source.name], authors)
        run_build(command, context)
        inputs = _dependencies(folder / "inputs.d", source.parent)
        home = build_cache.folder_for([*parts, *_hashes(inputs)])
        with build_cache.locked(home):
            if not home.exists():
                build_cache.put(folder, home, source)
                build_cache.use(home)
        build_cache.write_inputs(listing, source, inputs)
        build_cache.prune(source, keep={home, listing})
    return home


def _hashes(files: Iterable[Path]) -> list[str]:
    """Returns a line for each file, with `-` for the hash of a missing one."""
    return [f"{archive.sha256(file) if file.is_file() else '-'} {file}" for file in files]


def _dependencies(rules: Path, cwd: Path) -> list[Path]:
    """Reads the files that a compiler has listed as rules for make."""
    if not rules.exists():
        return []
    text = rules.read_text("utf-8", "surrogateescape").replace("\\\n", " ")
    files: set[Path] = set()
    for line in text.splitlines():
        if not line.startswith("#") and ": " in line:
            words = re.split(r"(?<!\\)\s+", line.split(": ", 1)[1].strip())
            files.update(cwd / word.replace("\\ ", " ") for word in words if word)
    return sorted(files)
