"""The folders of an agent: where it works, where it is loaded from, and the copy that it may write to."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import List, Optional, Set, Tuple

from _shared import Settings

COPIED_BYTES, COPIED_ENTRIES = 16 << 20, 1000
"""How much of a folder that cannot be written to is copied; the rest can be read only."""


class Folders:
    """The folders of one agent. Agents write files by relative names: where isolation forbids that, or `settings.copy`
    asks for it, the agent works in a copy, which ends with the process."""

    def __init__(self, settings: Settings, wanted: Path, agent: Path) -> None:
        self.settings = settings
        self.wanted = wanted
        """The working folder that its competition had, or that the user names."""
        self.agent = agent
        """The folder of the agent's file."""
        self.above = agent.parent
        root = settings.root
        self.top = root if root is not None and (root == wanted or root in wanted.parents) else wanted
        """The folder that is copied: the whole bot, if the working folder lies in it."""
        self.copy: Optional[Path] = None
        self.made = 0.0
        """When the copy was made."""
        self.here_above = self.above
        """The folder above the agent's, as the agent may import from it."""
        if settings.copy or not _is_writable(wanted):
            copy = Path(tempfile.mkdtemp()) / (self.top.name or "root")
            self.copy = copy
            self._write_copy(copy)
            self.made = time.time()
        self.working = self.here(wanted)
        self.hidden = self.copy is not None and self._is_hidden(self.copy)
        """Whether isolation seems to show only the part of the working folder that leads to the agent."""

    def here(self, path: Path) -> Path:
        """Where a file or folder is to be taken from: from the copy, if it is in that. Some agents write beside their
        own file."""
        if self.copy is None or not (path == self.top or self.top in path.parents):
            return path
        return self.copy / path.relative_to(self.top)

    def import_path(self, with_above: bool = True) -> List[str]:
        """The agent's own folder, the one above, and a working folder that the user names."""
        places = [self.here(self.agent)]
        places += [self.here_above, self.above] if with_above else []
        if self.settings.folder is not None:
            places.append(self.working)
        return list(dict.fromkeys(map(str, places)))

    def listed(self, folder: Path) -> List[Path]:
        """The entries of a folder in its own order. Of a folder that nobody may list, those that lead to the agent."""
        try:
            return [folder / name for name in os.listdir(folder)]
        except OSError:
            return [path for path in sorted(self._leading()) if path.parent == folder]

    def _is_hidden(self, copy: Path) -> bool:
        if self.settings.folder is not None or self.wanted not in self.agent.parents or self.top == self.settings.root:
            return False
        return set(self.listed(self.wanted)) <= {*self._leading(), *copy.parents}

    def _leading(self) -> Set[Path]:
        shown = [self.agent, *self.settings.module]
        return {folder for path in shown for folder in (path, *path.parents)}

    def _write_copy(self, copy: Path) -> None:
        forwards = _lists_in_order(copy.parent)
        left, entries = COPIED_BYTES, COPIED_ENTRIES
        copy.mkdir()
        level: List[Tuple[Path, Path]] = [(self.top, copy)]
        while level:  # the nearest files first
            below = []
            for folder, copied in level:
                listed = self.listed(folder)
                taken = set()
                for entry in sorted(listed):
                    entries -= 1
                    size = entry.stat().st_size if entry.is_file() else 0
                    if entries < 0 or size > left or entry in copy.parents or not _is_copied(entry):
                        continue
                    taken.add(entry)
                    left -= size
                for entry in listed if forwards else reversed(listed):
                    if entry not in taken:
                        (copied / entry.name).symlink_to(entry)
                    elif entry.is_dir():
                        (copied / entry.name).mkdir()
                        below.append((entry, copied / entry.name))
                    else:
                        shutil.copyfile(entry, copied / entry.name)
            level = below
        self._write_modules(copy)

    def _write_modules(self, copy: Path) -> None:
        """Copies the modules of the folder above to where they lie from the agent's copy. Python finds no module in
        the folder above itself where Landlock forbids to list that."""
        if self.above == self.top or self.top in self.above.parents:
            self.here_above = self.here(self.above)
        elif self.agent == self.top:
            self.here_above = copy.parent
        else:  # the agent works elsewhere, and is not in the copy
            self.here_above = Path(tempfile.mkdtemp())
        for module in self.settings.module:
            place = self.here_above / module.relative_to(self.above)
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(module, place)


now: Optional[Folders] = None
"""Those of the agent that is loaded; `_missing.enter` sets it."""


def tell_what_is_lost() -> None:
    """Says at the end what the agent has written into the copy."""
    if now is None or now.copy is None:
        return
    folder = now.copy
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    written = [str(path.relative_to(folder)) for path in files if path.stat().st_mtime > now.made]
    if written:
        names = ", ".join(written[:5]) + (f" and {len(written) - 5} more" if len(written) > 5 else "")
        advice = "" if now.settings.copy else "; --isolation off keeps it"
        sys.stderr.write(f"written into a copy of the folder, and gone now: {names}{advice}\n")


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_copied(entry: Path) -> bool:
    """Whether a copy is made of it, within the limits; anything else becomes a link."""
    return (entry.is_dir() and not entry.is_symlink()) or (entry.is_file() and os.access(entry, os.R_OK))


def _lists_in_order(place: Path) -> bool:
    """Whether the file system there lists files in the order in which they were made; some list the newest first."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        names = ["2", "1", "3"]
        for name in names:
            Path(folder, name).touch()
        return os.listdir(folder) != names[::-1]
