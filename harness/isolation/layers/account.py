"""An account of its own for each bot, where the referee runs as root.

Only for a bot whose files are open to every account. That is checked beforehand: failing later would look like a
fault of the bot.
"""

import os
import secrets
import stat
from collections.abc import Collection, Sequence

FIRST, COUNT = 0x70000000, 0x0F000000
"""Account numbers above those of people, services and containers, and below 2^31."""
MAX_FILES = 4000
"""A folder with more counts as closed: checking it would take too long."""


def draw() -> int:
    """Returns the number of an unused account."""
    return FIRST + secrets.randbelow(COUNT)


def steps(uid: int) -> list[str]:
    """Returns the steps of the sandbox launcher."""
    return ["account", str(uid), str(uid)]


def is_open(paths: Sequence[str], mounted: Collection[str], hidden: Collection[str] = ()) -> bool:
    """Whether every account may read these files and folders with their content, except what is hidden.

    `mounted`: folders that can be reached whatever the rights of their parents are.
    """
    if len(paths) > MAX_FILES:
        return False
    return all(_can_be_reached(path, mounted) and _can_be_read(path, hidden) for path in map(os.path.realpath, paths))


def _can_be_reached(path: str, mounted: Collection[str]) -> bool:
    while path != "/" and path not in mounted:
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
    return True


def _can_be_read(path: str, hidden: Collection[str]) -> bool:
    paths = [path]
    count = 0
    while paths:
        path = paths.pop()
        if path in hidden:
            continue
        count += 1
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                paths += [entry.path for entry in os.scandir(path)]
        except OSError:
            return False
        if count > MAX_FILES:
            return False
        rights = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if mode & stat.S_IXUSR and stat.S_ISREG(mode):
            rights |= stat.S_IXOTH
        if not stat.S_ISLNK(mode) and mode & rights != rights:
            return False
    return True
