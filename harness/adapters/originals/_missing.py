"""Explains why an agent does not find a file or a module, and which option shows it."""

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

MAX_ABOVE = 3
"""A missing file is searched in this many folders above the working folder."""
LOOKS = ("listdir", "scandir", "stat", "lstat", "chdir")
"""Functions of `os` that look for files, in addition to `open`."""


def crash() -> NoReturn:
    """Ends the bot after an exception, as the originals did in most places."""
    traceback.print_exc()
    report_missing(sys.exc_info()[1])
    sys.stderr.flush()
    os._exit(1)


def report_missing(error: Optional[BaseException]) -> None:
    """Explains a missing file or module on standard error, after the traceback."""
    line = explain_missing(error)
    if line is not None:
        sys.stderr.write(line + "\n")


def explain_missing(error: Optional[BaseException]) -> Optional[str]:
    """Returns a line that explains a missing file or module and says what to do; None for any other error."""
    seen: List[BaseException] = []
    while error is not None and not isinstance(error, (FileNotFoundError, ModuleNotFoundError)) and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    folders = _folders.current
    if folders is None:
        return None
    if isinstance(error, ModuleNotFoundError):
        return _missing_module(folders, error.name) if error.name else None
    name = _name_in(error)
    return None if name is None else hidden_file(folders, name) or _missing_file(folders, name)


def _name_in(error: Optional[BaseException]) -> Optional[str]:
    """Returns the file that was not found."""
    name = getattr(error, "filename", None)
    if not isinstance(error, FileNotFoundError) or not isinstance(name, (str, bytes, os.PathLike)):
        return None
    return os.fsdecode(name) or None


def hidden_file(folders: Folders, name: str) -> Optional[str]:
    """Returns a line for a file that isolation hides; None if isolation is not the reason."""
    if folders.copy is None:
        return None
    place = Path(os.path.normpath(folders.working / name))
    if place == folders.copy or folders.copy in place.parents:
        own = folders.locate(folders.agent)
        if not folders.is_hidden or place == own or own in place.parents:
            return None
        wanted = folders.wanted
        name = str(place.relative_to(folders.copy)) if os.path.isabs(name) else name
        if folders.settings.copy:
            advice = "hand in a folder with a bot.toml that contains both"
            return f"{name!r} in {wanted} was not handed in, only the agent's own folder was; {advice}"
        advice = f"original:'{_option(wanted)} …' or --readable {shlex.quote(str(wanted))} shows all of it"
        return f"{name!r} in {wanted} is hidden, because isolation shows only the agent's own folder there; {advice}"
    if folders.copy.parent not in place.parents:
        return None  # no folder would help
    outside = f"is outside {folders.top}, and isolation gives the agent only a copy of that folder"
    if folders.settings.copy:
        return f"{name!r} {outside}; hand in a folder with a bot.toml that contains both"
    if os.path.isabs(name):
        name = str(place.relative_to(folders.copy.parent))
        return f"{name!r} {outside}; original:'{_option(folders.top.parent)} …' copies both"
    return f"{name!r} {outside}; --isolation off gives it the folder itself"


def _missing_file(folders: Folders, name: str) -> Optional[str]:
    if os.path.isabs(name) or os.path.normpath(name).startswith(".."):
        return None
    working = folders.wanted
    folder = next((above for above in list(working.parents)[:MAX_ABOVE] if os.path.exists(above / name)), None)
    option = "--folder DIR" if folder is None else _option(folder)
    return f"{name!r} is not in {working}, the agent's working folder; original:'{option} …' sets another"


def _missing_module(folders: Folders, name: str) -> str:
    top, agent, above = name.partition(".")[0], folders.agent, folders.above
    install = f"a package that {sys.executable} lacks needs original:'--python PATH …'"
    if folders.settings.copy:
        return f"module {name!r} was not handed in with the agent: hand in a folder that contains it; {install}"
    if folders.copy is None:
        higher = (above for above in agent.parents if (above / top).is_dir() or (above / f"{top}.py").is_file())
        folder = next(higher, None)
        if folder is None:
            return f"module {name!r} is not in {agent}, the agent's folder, nor in a folder above; {install}"
        return f"module {name!r} is in {folder}; original:'{_option(folder)} …' makes the agent work and import there"
    if folders.settings.root is not None:
        root = f"{folders.settings.root}, the bot's folder; isolation shows no other"
        return f"module {name!r} is not on the agent's import path in {root}; {install}"
    advice = f"original:'{_option(above)} …' shows all of it"
    reason = f"isolation shows only those modules of {above} that the agent's file imports"
    return f"module {name!r} is not in {agent}, and {reason}; {advice}; {install}"


def _option(folder: Path) -> str:
    return f"--folder {shlex.quote(str(folder))}"


class Watched:
    """A function that looks for files, and reports those that isolation hides."""

    def __init__(self, function: Any, watch: "Watch") -> None:
        self.function, self.watch = function, watch

    def __call__(self, *args: Any, **named: Any) -> Any:
        try:
            return self.function(*args, **named)
        except FileNotFoundError as error:
            self.watch.report(error)
            raise


class Watch:
    """Replaces the functions that look for files, until one of them misses a file that isolation hides.

    An agent may go on without the file, so that there is no exception to explain.
    """

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

    def report(self, error: FileNotFoundError) -> None:
        """Reports the first file that isolation hides."""
        name = _name_in(error)
        line = None if name is None else hidden_file(self.folders, name)
        if line is not None:
            sys.stderr.write(line + "\n")
            for (module, attribute), function in zip(self.replaced, self.before):
                setattr(module, attribute, function)


def enter(folders: Folders) -> Folders:
    """Makes an agent's folders those of this process, and watches for files that isolation hides."""
    _folders.current = folders
    os.chdir(folders.working)
    if folders.copy is not None:
        Watch(folders)
    return folders
