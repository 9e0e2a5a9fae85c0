"""Says which folder an agent lacks, where a file or a module is not there for it."""

import builtins
import io
import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any, List, NoReturn, Optional

import _folders
from _folders import Folders

HIGH = 3
"""How many folders above the working one a missing file is looked for in."""
LOOKS = ("listdir", "scandir", "stat", "lstat", "chdir")
"""Functions of `os` that agents look for files with, beside `open`."""


def crash() -> NoReturn:
    """Ends the bot, as an exception did in the originals wherever they do not say otherwise."""
    traceback.print_exc()
    tell_what_is_missing(sys.exc_info()[1])
    sys.stderr.flush()
    os._exit(1)


def tell_what_is_missing(error: Optional[BaseException]) -> None:
    """On standard error, behind the traceback."""
    line = what_is_missing(error)
    if line is not None:
        sys.stderr.write(line + "\n")


def what_is_missing(error: Optional[BaseException]) -> Optional[str]:
    """A line for a file or module that is not where the agent looks for it, with the folder to name. None: nothing of
    that kind is wrong."""
    seen: List[BaseException] = []
    while error is not None and not isinstance(error, (FileNotFoundError, ModuleNotFoundError)) and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    folders = _folders.now
    if folders is None:
        return None
    if isinstance(error, ModuleNotFoundError):
        return _missing_module(folders, error.name) if error.name else None
    name = _name_in(error)
    return None if name is None else hidden_file(folders, name) or _missing_file(folders, name)


def _name_in(error: Optional[BaseException]) -> Optional[str]:
    """The file that was not found."""
    name = getattr(error, "filename", None)
    if not isinstance(error, FileNotFoundError) or not isinstance(name, (str, bytes, os.PathLike)):
        return None
    return os.fsdecode(name) or None


def hidden_file(folders: Folders, name: str) -> Optional[str]:
    """A line for a file that the agent might have without isolation. None: isolation does not matter."""
    if folders.copy is None:
        return None
    place = Path(os.path.normpath(folders.working / name))
    if place == folders.copy or folders.copy in place.parents:
        own = folders.here(folders.agent)
        if not folders.hidden or place == own or own in place.parents:
            return None
        wanted = folders.wanted
        name = str(place.relative_to(folders.copy)) if os.path.isabs(name) else name
        if folders.settings.copy:
            advice = "a tournament has no more of it; hand in a folder with a bot.toml that holds both"
            return f"{name!r} is looked for in {wanted}, of which only the agent's own folder was handed in: {advice}"
        shown = f"original:'{_option(wanted)} …' shows all of it, as does --readable {shlex.quote(str(wanted))}"
        return f"{name!r} is looked for in {wanted}, of which isolation shows the agent's own folder alone; {shown}"
    if folders.copy.parent not in place.parents:
        return None  # no folder would help
    beside = f"is looked for beside {folders.top}, of which isolation gives the agent a copy"
    if folders.settings.copy:
        return f"{name!r} {beside}; hand in a folder with a bot.toml that holds both"
    if os.path.isabs(name):
        name = str(place.relative_to(folders.copy.parent))
        return f"{name!r} {beside}; original:'{_option(folders.top.parent)} …' copies both"
    return f"{name!r} {beside}; with --isolation off it has the folder itself"


def _missing_file(folders: Folders, name: str) -> Optional[str]:
    if os.path.isabs(name) or os.path.normpath(name).startswith(".."):
        return None
    working = folders.wanted
    found = next((above for above in list(working.parents)[:HIGH] if os.path.exists(above / name)), None)
    where = (
        "--folder DIR …' has it work in another" if found is None else f"{_option(found)} …' has it work where that is"
    )
    return f"{name!r} is not in {working}, the agent's working folder; original:'{where}"


def _missing_module(folders: Folders, name: str) -> str:
    top, agent, above = name.partition(".")[0], folders.agent, folders.above
    install = f"a package that {sys.executable} lacks needs original:'--python PATH …'"
    if folders.settings.copy:
        return f"module {name!r} was not handed in with the agent: hand in a folder that holds it; {install}"
    if folders.copy is None:
        higher = (above for above in agent.parents if (above / top).is_dir() or (above / f"{top}.py").is_file())
        found = next(higher, None)
        if found is None:
            return f"module {name!r} is not in {agent}, the agent's folder, nor in a folder above; {install}"
        return f"module {name!r} is in {found}; original:'{_option(found)} …' has the agent work and import there"
    if folders.settings.root is not None:
        where = f"{folders.settings.root}, the bot's folder; isolation shows no other"
        return f"module {name!r} is not on the agent's import path in {where}; {install}"
    shown = f"original:'{_option(above)} …' shows all of it"
    part = f"of {above} isolation shows only the modules that an agent named by its file imports"
    return f"module {name!r} is not in {agent}, and {part}; {shown}; {install}"


def _option(folder: Path) -> str:
    return f"--folder {shlex.quote(str(folder))}"


class Watched:
    """A function that looks for files. It says once what isolation hides from an agent that goes on without it."""

    def __init__(self, function: Any, watch: "Watch") -> None:
        self.function, self.watch = function, watch

    def __call__(self, *args: Any, **named: Any) -> Any:
        try:
            return self.function(*args, **named)
        except FileNotFoundError as error:
            self.watch.hear(error)
            raise


class Watch:
    """Replaces the functions that look for files until one of them misses something that isolation hides."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self.replaced = [(builtins, "open"), (io, "open"), *((os, name) for name in LOOKS)]
        self.before = [getattr(module, name) for module, name in self.replaced]
        for (module, name), function in zip(self.replaced, self.before):
            watched = Watched(function, self)
            setattr(module, name, watched)
            for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if function in able:
                    able.add(watched)

    def hear(self, error: FileNotFoundError) -> None:
        """Reports the first file that isolation hides."""
        name = _name_in(error)
        line = None if name is None else hidden_file(self.folders, name)
        if line is not None:
            sys.stderr.write(line + "\n")
            for (module, attribute), function in zip(self.replaced, self.before):
                setattr(module, attribute, function)


def enter(folders: Folders) -> Folders:
    """Makes an agent's folders those of this process, and watches for what isolation hides from it."""
    _folders.now = folders
    os.chdir(folders.working)
    if folders.copy is not None:
        Watch(folders)
    return folders
