"""Builds bots in the cache; nothing is written into a bot's folder or into the installed package.

A bot is built again only if its source, its kit or its compiler has changed. A folder is always built in the same work
folder, so that build tools reuse what they made before. The bot plays from a copy, which is named by its content and
never changes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from referee.harness.common.errors import RunError
from referee.harness.isolation.removal import remove
from referee.harness.languages import toolchains
from referee.harness.programs import archive, build_cache, build_copy
from referee.harness.programs.archive import BotArchive
from referee.harness.programs.build_process import (
    BuildContext,
    BuildError,
    BuildFailed,
    BuildTooLarge,
    Command,
    DiskFull,
    Halted,
    run_build,
)

BOT_FILE = "bot.toml"
WORK, LISTING, UNFINISHED, LAYERS = "work", "files", "begun", "layers"
"""In a project's work folder: the tree in which it is built, the names of its sources, a marker that exists while the
tree changes, and what builds have changed in the caches of build tools. A marker that was left behind means that the
process was killed."""
TREE = "tree"
"""In the folder of a finished build: the tree from which the bot plays. The name is as long as `WORK`, which it
replaces in files."""
TRIES = 3
"""How often a source file is compiled, if it or a file that it includes is saved meanwhile."""
INPUTS, DRAFT = "inputs.d", "draft"
"""In the folder of a source file's builds: the files that the last one has read, and where the next one is made."""


# Folders, which have a build command.


def build_folder(bot: BotArchive, shell_command: str, inside: str, spec: str, name: str, context: BuildContext) -> Path:
    """Returns a copy of a bot's files in which the command was run, in the folder `inside`. RunError if it fails.

    All commands for the same files share one copy, so the example bots of a kit share what they are built from.
    """
    argv = ["/bin/sh", "-c", shell_command]
    tools = toolchains.identities(toolchains.builders(file.path for file in bot.files))
    home = build_cache.folder_for(["tree", bot.identity, *tools])
    done = home / f"{build_cache.key([inside, *argv])}.built"
    if not build_cache.use(done):
        # The next command for these files runs where the first one did, even if the files now lie elsewhere.
        tree = build_cache.made_in(home) or build_cache.folder_for(["work", str(bot.folder), *tools]) / WORK
        with build_cache.locked(tree.parent, bot.folder):
            if not build_cache.use(done):  # another process may have finished it
                sources = [file.path for file in bot.files]
                authors, layers = {str(tree): str(bot.folder)}, tree.with_name(LAYERS)
                command = Command(argv, tree / inside, spec, name, sources, authors, changed=tree, layers=layers)
                try:
                    _build_in_work_folder(bot, command, tree, inside, context)
                except (BuildError, Halted):
                    build_cache.prune(None)  # a stranger's builds may all fail
                    raise
                _publish(bot, tree, home, done)
                build_cache.prune(bot.folder)
    return home / TREE


def _build_in_work_folder(bot: BotArchive, command: Command, tree: Path, inside: str, context: BuildContext) -> None:
    unfinished = tree.with_name(UNFINISHED)
    try:
        if unfinished.exists() or _has_new_bot_file(bot, inside, tree):
            build_cache.discard(tree)
        unfinished.touch()
        build_copy.sync(bot, tree, tree.with_name(LISTING))
    except OSError as error:
        unfinished.unlink(missing_ok=True)  # the work folder is as good as before
        raise RunError(f"{bot.folder} cannot be copied to be built: {error}") from error
    try:
        run_build(command, context)
    except BuildFailed:
        unfinished.unlink()  # any other error may have left half a file
        raise
    except (BuildTooLarge, DiskFull):
        for folder in (tree, tree.with_name(LAYERS)):
            build_cache.discard(folder)
        raise
    unfinished.unlink()


def _has_new_bot_file(bot: BotArchive, inside: str, tree: Path) -> bool:
    """Whether the last build had another `bot.toml`. Few build tools notice that their own command has changed."""
    before = tree / inside / BOT_FILE
    return before.is_file() and archive.sha256(before) not in {
        file.sha256 for file in bot.files if tree / file.path == before
    }


def _publish(bot: BotArchive, tree: Path, home: Path, done: Path) -> None:
    """Copies a build from its work folder to where the bot plays, and marks it as finished."""
    with build_cache.locked(home, bot.folder, tree):
        try:
            if not done.exists():  # a copy of the project may have been built at the same time
                build_copy.publish(tree, home / TREE)
                done.touch()
        except OSError as error:
            raise RunError(f"the build of {bot.folder} cannot be kept: {error}") from error


# Single source files.


def build_source(
    source: Path,
    command: Callable[[Path], Sequence[str]],
    tools: Sequence[str],
    context: BuildContext,
    kit: str = "",
    link_name: str = "",
) -> Path:
    """Returns the folder with the compiled program. RunError if the compiler fails.

    `command`: returns the command that compiles the source into a folder. The compiler may list the files that it has
    read in `inputs.d` there, as rules for make. `tools`: the programs that the result depends on. `kit` identifies the
    content of the starter kit. `link_name`: the folder gets a link of this name to the source.
    """
    for _ in range(TRIES):
        compiled = _compiled_source(source, command, tools, context, kit, link_name)
        if compiled is not None:
            return compiled
    raise RunError(f"{source}: it, or a file that it includes, changed during each of {TRIES} builds; start again")


def _compiled_source(
    source: Path,
    command: Callable[[Path], Sequence[str]],
    tools: Sequence[str],
    context: BuildContext,
    kit: str,
    link_name: str,
) -> Path | None:
    """Does the work of `build_source`; None if an input has changed meanwhile: the program may be of the old one."""
    parts = ["program", str(source), archive.sha256(source), kit, *toolchains.identities(tools), *command(Path("."))]
    home = build_cache.folder_for(parts)
    with build_cache.locked(home, source):
        compiled = _compiled(home, source)
        if not compiled.exists():
            draft = home / DRAFT
            remove(draft)  # of a process that was killed
            draft.mkdir()
            began_ns = draft.stat().st_ctime_ns
            if link_name:
                (draft / link_name).symlink_to(source)
            authors = {str(draft / link_name): str(source)} if link_name else {}
            argv, name = command(draft), source.stem
            with _layers(source, tools) as layers:
                made = Command(*(argv, source.parent, str(source), name, [source.name], authors, draft, source, layers))
                try:
                    run_build(made, context)
                except (BuildTooLarge, DiskFull):
                    remove(draft)
                    raise
            inputs = {source, *_dependencies(draft / INPUTS, source.parent)}
            if any(_changed_since(began_ns, file) for file in inputs):
                return None
            if (draft / INPUTS).exists():
                (draft / INPUTS).replace(home / INPUTS)
            compiled = _compiled(home, source)
            if not compiled.exists():
                draft.rename(compiled)
            build_cache.prune(source)
    return compiled


@contextmanager
def _layers(source: Path, tools: Sequence[str]) -> Iterator[Path | None]:
    """Locks the folder that keeps what compilers of Go change in their cache, for all files of a folder together."""
    if "go" not in tools:
        yield None
        return
    home = build_cache.folder_for([LAYERS, str(source.parent)])
    with build_cache.locked(home, source.parent):
        yield home / LAYERS


def _changed_since(began_ns: int, file: Path) -> bool:
    """Whether a file was written at that time or later, or is gone. No program can turn back the time of a change."""
    try:
        return file.stat().st_ctime_ns >= began_ns
    except OSError:
        return True


def _compiled(home: Path, source: Path) -> Path:
    """Returns the folder of the build of a source, which depends on the current content of its inputs."""
    inputs = _dependencies(home / INPUTS, source.parent)
    return home / build_cache.key(f"{archive.sha256(file) if file.is_file() else '-'} {file}" for file in inputs)


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
