"""The scratch folders of bots: new ones, or those that earlier bots have not touched.

Making and removing a folder costs 0.15 ms of CPU time, and up to milliseconds of waiting for the disk.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.harness.common.errors import RunError, reason
from referee.harness.isolation.removal import remove

MAX_KEPT = 8
"""Most folders that are kept for the next bots."""


class ScratchFolders:
    """Makes and removes the scratch folders of a run, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shared = folder / "shared"
        """For all bots that see an empty folder of their own in its place. `make_shared` makes it."""
        self._untouched: list[Path] = []
        self._made: dict[Path, tuple[int, ...]] = {}

    def make_shared(self) -> None:
        """Makes the shared folder, unless it exists. OSError if that fails."""
        self.shared.mkdir(0o700, parents=True, exist_ok=True)

    def take(self) -> Path:
        """Returns an empty folder for a bot. OSError if none can be made."""
        while self._untouched:
            if self._is_untouched(folder := self._untouched.pop()):  # another bot may have found it meanwhile
                return folder
            self._remove(folder)
        folder = self.folder / os.urandom(8).hex()
        try:
            os.mkdir(folder, 0o700)
        except FileNotFoundError:  # a bot has removed the folder above it
            self.folder.mkdir(0o700, parents=True)
            os.mkdir(folder, 0o700)
        self._made[folder] = _state(folder)
        return folder

    def give_back(self, folder: Path) -> None:
        """Keeps the folder of a bot that has ended for another one, or removes it with everything in it."""
        if len(self._untouched) < MAX_KEPT and self._is_untouched(folder):
            self._untouched.append(folder)
        else:
            self._remove(folder)

    def _remove(self, folder: Path) -> None:
        del self._made[folder]
        remove(folder)

    def _is_untouched(self, folder: Path) -> bool:
        try:
            return _state(folder) == self._made[folder] and not os.listdir(folder)
        except OSError:
            return False


def _state(folder: Path) -> tuple[int, ...]:
    """Returns what changes when anybody makes or removes something in a folder, or changes its owner or rights.

    The clock of the file system advances in steps, so a file made right after the folder may not change the time.
    """
    found = os.lstat(folder)
    return found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_ctime_ns


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Makes the temporary folder of a run, and removes it with everything that bots have put there. RunError."""
    try:
        folder = tempfile.mkdtemp(prefix="referee-")
    except OSError as error:
        raise RunError(f"no temporary folder can be made: {reason(error)}; set TMPDIR to one") from error
    try:
        yield Path(folder)
    finally:
        remove(folder)
