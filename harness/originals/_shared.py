"""What the games' originals share."""

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, List, NoReturn, Optional, Tuple

COPIED_BYTES, COPIED_ENTRIES = 16 << 20, 1000
"""How much of a folder that cannot be written to is copied; the rest can be read only."""


class Settings(argparse.Namespace):
    """The command line."""

    game: str
    path: Path
    """The bot's file or folder."""
    seed: Optional[int]
    folder: Optional[Path]
    """Its working folder; None = what its competition had."""
    copy: bool
    """It works in a copy of that folder, also where it could write to the folder itself."""
    original_ids: bool


def crash() -> NoReturn:
    """What an exception is in the originals, where they do not say otherwise: the end of the bot."""
    traceback.print_exc()
    tell_what_is_missing(sys.exc_info()[1])
    sys.stderr.flush()
    os._exit(1)


def integer(value: Any) -> Any:
    """A whole number of any library as Python's; anything else as it is."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return value.__index__()


_copied: Optional[Tuple[Path, Path, float]] = None
"""The folder that was wanted, the copy that is the working one instead, and when it was made."""


_worked_in, _agent_folder = Path(), Path()
"""The folder that was wanted, and where the agent lies."""
HIGH = 3
"""So many folders above that one a missing file is looked for."""


def work_in(folder: Path, agent_folder: Path, in_copy: bool = False) -> None:
    """Makes a folder the working one. Agents write files by relative names: where isolation forbids that, or `in_copy`
    is asked for, in a copy of the folder, in the scratch folder, which goes with the process. `agent_folder`: where the
    agent lies, to be read there. `here` tells where it is to be loaded from: some write beside their own file."""
    global _copied, _worked_in, _agent_folder
    _worked_in, _agent_folder = folder, agent_folder
    if in_copy or not _is_writable(folder):
        copied = writable_copy(folder, Path(tempfile.mkdtemp()) / (folder.name or "root"), agent_folder)
        _copied = folder, copied, time.time()
        folder = copied
    os.chdir(folder)


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def here(path: Path) -> Path:
    """Where a file or folder is to be taken from: from the copy, if it is in that."""
    if _copied is None:
        return path
    source, copied, _ = _copied
    return copied / path.relative_to(source) if path == source or source in path.parents else path


def what_is_missing(error: Optional[BaseException]) -> Optional[str]:
    """A line for a file that is not where the agent looks for it, since another folder was its competition's working
    one, or since it lies beside the folder that was copied. None: nothing of that kind is wrong."""
    seen: List[BaseException] = []
    while error is not None and not isinstance(error, FileNotFoundError) and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    name = getattr(error, "filename", None)
    if not isinstance(error, FileNotFoundError) or not isinstance(name, str) or not name:
        return None
    beside = "of which isolation gives the agent a copy"
    if os.path.isabs(name):
        place = Path(os.path.normpath(name))
        if _copied is None or _copied[1] in place.parents or _copied[1].parent not in place.parents:
            return None  # no folder would help
        name = str(place.relative_to(_copied[1].parent))
        both = f"original:'{_option(_worked_in.parent)} …' copies both"
        return f"{name!r} is looked for beside {_worked_in}, {beside}; {both}"
    if os.path.normpath(name).startswith(".."):
        if _copied is None:
            return None
        return f"{name!r} is looked for beside {_worked_in}, {beside}; with --isolation off it has the folder itself"
    if _is_hidden(_worked_in):
        shown = f"original:'{_option(_worked_in)} …' shows all of it"
        return f"{name!r} is looked for in {_worked_in}, of which isolation shows the agent's own folder alone; {shown}"
    found = next((above for above in list(_worked_in.parents)[:HIGH] if os.path.exists(above / name)), None)
    where = (
        "--folder DIR …' has it work in another" if found is None else f"{_option(found)} …' has it work where that is"
    )
    return f"{name!r} is not in {_worked_in}, the agent's working folder; original:'{where}"


def _is_hidden(folder: Path) -> bool:
    """Whether isolation shows nothing of it but what leads to the agent's own, as far as can be told."""
    if _copied is None or folder == _agent_folder:
        return False
    return len(_listed(folder, _agent_folder)) == 1


def _option(folder: Path) -> str:
    return f"--folder {shlex.quote(str(folder))}"


def tell_what_is_missing(error: Optional[BaseException]) -> None:
    """On standard error, behind the traceback."""
    line = what_is_missing(error)
    if line is not None:
        sys.stderr.write(line + "\n")


def writable_copy(source: Path, target: Path, agent_folder: Path) -> Path:
    """A copy of a folder, the nearest files first. What is over the limits or cannot be read is a link."""
    left, entries = COPIED_BYTES, COPIED_ENTRIES
    level: List[Tuple[Path, Path]] = [(source, target)]
    while level:
        below = []
        for folder, copied in level:
            copied.mkdir()
            for entry in _listed(folder, agent_folder):
                entries -= 1
                size = entry.stat().st_size if entry.is_file() else 0
                if entry.is_dir() and entries >= 0 and entry not in target.parents and not entry.is_symlink():
                    below.append((entry, copied / entry.name))
                elif entry.is_file() and entries >= 0 and size <= left and os.access(entry, os.R_OK):
                    shutil.copyfile(entry, copied / entry.name)
                    left -= size
                else:
                    (copied / entry.name).symlink_to(entry)
        level = below
    return target


def _listed(folder: Path, agent_folder: Path) -> List[Path]:
    """What is in a folder, or, where that may not be seen, what leads to the agent's own."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return [path for path in (agent_folder, *agent_folder.parents) if path.parent == folder]


def tell_what_is_lost(in_copy: bool) -> None:
    """Says at the end what the agent has written into the copy. `in_copy`: it would have worked in one in any case."""
    if _copied is None:
        return
    _, folder, made = _copied
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    written = [str(path.relative_to(folder)) for path in files if path.stat().st_mtime > made]
    if written:
        names = ", ".join(written[:5]) + (f" and {len(written) - 5} more" if len(written) > 5 else "")
        advice = "" if in_copy else "; --isolation off keeps it"
        sys.stderr.write(f"written into a copy of the folder, and gone now: {names}{advice}\n")
