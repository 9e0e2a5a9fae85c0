"""What the games' originals share."""

import argparse
import os
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
    original_ids: bool


def crash() -> NoReturn:
    """What an exception is in the originals, where they do not say otherwise: the end of the bot."""
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def integer(value: Any) -> Any:
    """A whole number of any library as Python's; anything else as it is."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return value.__index__()


_copied: Optional[Tuple[Path, Path, float]] = None
"""The folder that was wanted, the copy that is the working one instead, and when it was made."""


def work_in(folder: Path, own: Path) -> None:
    """Makes a folder the working one. Agents write files by relative names: where isolation forbids that, in a copy of
    the folder, in the scratch folder, which goes with the process. `own`: where the agent lies, which can be read.
    `here` tells where it is to be loaded from: some agents write beside their own file."""
    global _copied
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        copied = writable_copy(folder, Path(tempfile.mkdtemp()) / (folder.name or "root"), own)
        _copied = folder, copied, time.time()
        folder = copied
    os.chdir(folder)


def here(path: Path) -> Path:
    """Where a file or folder is to be taken from: from the copy, if it is in that."""
    if _copied is None:
        return path
    wanted, copied, _ = _copied
    return copied / path.relative_to(wanted) if path == wanted or wanted in path.parents else path


def writable_copy(source: Path, target: Path, own: Path) -> Path:
    """A copy of a folder, the nearest files first. What is over the limits or cannot be read is a link."""
    left, entries = COPIED_BYTES, COPIED_ENTRIES
    level: List[Tuple[Path, Path]] = [(source, target)]
    while level:
        below = []
        for folder, copied in level:
            copied.mkdir()
            for entry in _listed(folder, own):
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


def _listed(folder: Path, own: Path) -> List[Path]:
    """What is in a folder, or, where that may not be seen, what leads to the agent's own."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return [path for path in (own, *own.parents) if path.parent == folder]


def tell_what_is_lost() -> None:
    """Says at the end what the agent has written into the copy."""
    if _copied is None:
        return
    _, folder, made = _copied
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    written = [str(path.relative_to(folder)) for path in files if path.stat().st_mtime > made]
    if written:
        names = ", ".join(written[:5]) + (f" and {len(written) - 5} more" if len(written) > 5 else "")
        sys.stderr.write(f"written into a copy of the folder, and gone now: {names}; --isolation off keeps it\n")
