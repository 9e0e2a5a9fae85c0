"""The folders of an agent: its working folder, the folders it is loaded from, and the copy that it may write to."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import List, Optional, Set

from _shared import Settings

COPIED_BYTES, COPIED_ENTRIES = 16 << 20, 1000
"""How much of a read-only folder is copied; the other files are links."""


class Folders:
    """The folders of one agent.

    Agents write files by relative names. If isolation forbids that, or if `settings.copy` is set, the agent works in a
    copy, which is lost at the end of the process.
    """

    def __init__(self, settings: Settings, wanted: Path, agent: Path) -> None:
        self.settings = settings
        self.wanted = wanted
        """The working folder, as in its competition or as the user names it."""
        self.agent = agent
        """The folder of the agent's file."""
        self.above = agent.parent
        root = settings.root
        self.top = root if root is not None and (root == wanted or root in wanted.parents) else wanted
        """The folder to copy: the whole bot, if that contains the working folder."""
        self.copy: Optional[Path] = None
        self.made = 0.0
        """The time of the copy."""
        self.import_above = self.above
        """The folder above the agent's, or a copy of its visible modules."""
        if settings.copy or not _is_writable(wanted):
            copy = Path(tempfile.mkdtemp()) / (self.top.name or "root")
            self.copy = copy
            self._write_copy(copy)
            self.made = time.time()
        self.working = self.locate(wanted)

    def locate(self, path: Path) -> Path:
        """Returns a path's place in the copy, if the copy has it. Some agents write next to their own file."""
        if self.copy is None or not (path == self.top or self.top in path.parents):
            return path
        return self.copy / path.relative_to(self.top)

    def import_path(self, with_above: bool = True) -> List[str]:
        """Returns the agent's own folder, the one above, and the working folder if the user names it."""
        places = [self.locate(self.agent)]
        places += [self.import_above, self.above] if with_above else []
        if self.settings.folder is not None:
            places.append(self.working)
        return list(dict.fromkeys(map(str, places)))

    def listed(self, folder: Path) -> List[Path]:
        """Returns the entries of a folder in its order; if it may not be listed, those that lead to the agent."""
        try:
            return [folder / name for name in os.listdir(folder)]
        except OSError:
            return [path for path in sorted(self._leading()) if path.parent == folder]

    def is_hidden(self) -> bool:
        """Whether isolation seems to show only the agent in its working folder."""
        copy, settings = self.copy, self.settings
        if copy is None or settings.folder is not None or self.wanted not in self.agent.parents:
            return False
        return self.top != settings.root and set(self.listed(self.wanted)) <= {*self._leading(), *copy.parents}

    def _leading(self) -> Set[Path]:
        shown = [self.agent, *self.settings.module]
        return {folder for path in shown for folder in (path, *path.parents)}

    def _write_copy(self, copy: Path) -> None:
        forwards = _lists_in_order(copy.parent)
        left, entries = COPIED_BYTES, COPIED_ENTRIES
        copy.mkdir()
        waiting = [(self.top, copy)]
        for folder, copied in waiting:  # the nearest files first: folders are added at the end
            listed = self.listed(folder)
            taken = set()
            for entry in sorted(listed):
                entries -= 1
                size = entry.stat().st_size if entry.is_file() else 0
                if entries >= 0 and size <= left and entry not in copy.parents and _is_copied(entry):
                    taken.add(entry)
                    left -= size
            for entry in listed if forwards else reversed(listed):
                place = copied / entry.name
                if entry not in taken:
                    place.symlink_to(entry)
                elif entry.is_dir():
                    place.mkdir()
                    waiting.append((entry, place))
                else:
                    shutil.copyfile(entry, place)
        self._write_modules(copy)

    def _write_modules(self, copy: Path) -> None:
        """Copies the modules of the folder above the agent's.

        Python finds no module in that folder itself if Landlock forbids to list it.
        """
        if self.above == self.top or self.top in self.above.parents:
            self.import_above = self.locate(self.above)
        elif self.agent == self.top:
            self.import_above = copy.parent
        else:  # the copy does not contain the agent
            self.import_above = Path(tempfile.mkdtemp())
        for module in self.settings.module:
            place = self.import_above / module.relative_to(self.above)
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(module, place)


current: Optional[Folders] = None
"""The folders of the loaded agent; `_missing.enter` sets them."""


def report_lost_files() -> None:
    """Lists the files that the agent has written into the copy, on standard error."""
    if current is None or current.copy is None:
        return
    folder = current.copy
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    written = [str(path.relative_to(folder)) for path in files if path.stat().st_mtime > current.made]
    if written:
        names = ", ".join(written[:5]) + (f" and {len(written) - 5} more" if len(written) > 5 else "")
        advice = "" if current.settings.copy else "; --isolation off keeps them"
        sys.stderr.write(f"lost, because the agent worked in a copy of its folder: {names}{advice}\n")


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_copied(entry: Path) -> bool:
    """Whether an entry is copied, if it is within the limits; others become links."""
    return (entry.is_dir() and not entry.is_symlink()) or (entry.is_file() and os.access(entry, os.R_OK))


def _lists_in_order(place: Path) -> bool:
    """Whether the file system lists files in the order of their creation; some list the newest first."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        names = ["2", "1", "3"]
        for name in names:
            Path(folder, name).touch()
        return os.listdir(folder) != names[::-1]
