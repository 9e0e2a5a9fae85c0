"""Another account for each bot, where the referee runs as root: nothing belongs to it, and nobody else has its own.

Only where the account can reach what the bot needs. That is looked at before, since afterwards it would be the bot's
fault.
"""

import os
import secrets
import stat
from collections.abc import Collection, Sequence

FIRST, COUNT = 0x70000000, 0x0F000000
"""Numbers that no system gives to anybody: above those of people, services and containers, below 2^31."""
ENOUGH_FILES = 4000
"""A folder with more is taken as closed: looking would take longer than it is worth."""


def draw() -> int:
    """A number that nobody has."""
    return FIRST + secrets.randbelow(COUNT)


def steps(uid: int) -> list[str]:
    """For the launcher."""
    return ["account", str(uid), str(uid)]


def open_to_others(paths: Sequence[str], below: Collection[str], hidden: Collection[str] = ()) -> bool:
    """Whether anybody may read these files and folders and all that they hold, except what is hidden.

    `below`: the folders that are seen whatever lies above them; else every folder on the way counts too.
    """
    if len(paths) > ENOUGH_FILES:
        return False
    return all(_way_is_open(path, below) and _is_open(path, hidden) for path in map(os.path.realpath, paths))


def _way_is_open(path: str, below: Collection[str]) -> bool:
    while path != "/" and path not in below:
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
    return True


def _is_open(path: str, hidden: Collection[str]) -> bool:
    waiting = [path]
    seen = 0
    while waiting:
        path = waiting.pop()
        if path in hidden:
            continue
        seen += 1
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                waiting += [entry.path for entry in os.scandir(path)]
        except OSError:
            return False
        if seen > ENOUGH_FILES:
            return False
        needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if mode & stat.S_IXUSR and stat.S_ISREG(mode):
            needed |= stat.S_IXOTH
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            return False
    return True
