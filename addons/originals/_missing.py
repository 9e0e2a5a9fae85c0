"""Explains why an agent does not find a file or a module, and which option shows it."""

import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import List, NoReturn, Optional

import _folders
from _folders import Folders

MAX_ABOVE = 3
"""A missing file is searched in this many folders above the working folder."""


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
    return (_hidden_file(folders, name) or _missing_file(folders, name)) if name else None


def _name_in(error: Optional[BaseException]) -> str:
    """Returns the file that was not found; empty if that is unknown."""
    name = error.filename if isinstance(error, FileNotFoundError) else None
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else ""


def _hidden_file(folders: Folders, name: str) -> Optional[str]:
    """Returns a line for a file that isolation hides; None if isolation is not the reason."""
    if folders.copy is None:
        return None
    place = Path(os.path.normpath(folders.working / name))
    if place == folders.copy or folders.copy in place.parents:
        own = folders.locate(folders.agent)
        if not folders.is_hidden() or place == own or own in place.parents:
            return None
        wanted = folders.wanted
        name = str(place.relative_to(folders.copy)) if os.path.isabs(name) else name
        if folders.settings.copy:
            advice = "hand in a folder with a bot.toml that contains both"
            return f"{name!r} in {wanted} was not handed in, only the agent's own folder was; {advice}"
        advice = f"original:'{_option(wanted)} …' or --limit readable={shlex.quote(str(wanted))} shows all of it"
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
    above = list(folders.wanted.parents)[:MAX_ABOVE]
    option = next((_option(folder) for folder in above if os.path.exists(folder / name)), "--folder DIR")
    return f"{name!r} is not in {folders.wanted}, the agent's working folder; original:'{option} …' sets another"


def _missing_module(folders: Folders, name: str) -> str:
    top, agent, above = name.partition(".")[0], folders.agent, folders.above
    install = f"a package that {sys.executable} lacks needs original:'--python PATH …'"
    if folders.settings.copy:
        return f"module {name!r} was not handed in with the agent: hand in a folder that contains it; {install}"
    if folders.copy is None:
        for folder in agent.parents:
            if (folder / top).is_dir() or (folder / f"{top}.py").is_file():
                advice = f"original:'{_option(folder)} …' makes the agent work and import there"
                return f"module {name!r} is in {folder}; {advice}"
        return f"module {name!r} is not in {agent}, the agent's folder, nor in a folder above; {install}"
    if folders.settings.root is not None:
        root = f"{folders.settings.root}, the bot's folder; isolation shows no other"
        return f"module {name!r} is not on the agent's import path in {root}; {install}"
    advice = f"original:'{_option(above)} …' shows all of it"
    reason = f"isolation shows only those modules of {above} that the agent's file imports"
    return f"module {name!r} is not in {agent}, and {reason}; {advice}; {install}"


def _option(folder: Path) -> str:
    return f"--folder {shlex.quote(str(folder))}"


def enter(folders: Folders) -> Folders:
    """Makes an agent's folders those of this process."""
    _folders.current = folders
    os.chdir(folders.working)
    return folders
