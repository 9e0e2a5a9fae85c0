"""The room on a contest's disks. While there is little, games, checks and uploads wait, so that nothing is lost."""

import shutil
from pathlib import Path

from referee.harness.common.paths import cache_folder
from referee.protocol.text import mebibytes

LEAST_BYTES = 512 << 20
"""Twice as much as a build leaves on the disk in any case."""


def problem(folder: Path) -> str:
    """Returns why a contest waits: a disk is nearly full. Empty if there is room.

    Teams could fill a disk by uploads, builds, long games and standard error, however small each of these is.
    """
    for place in (folder, cache_folder()):
        try:
            free = shutil.disk_usage(place).free
        except OSError:
            continue  # the cache is not there yet
        if free < LEAST_BYTES:
            least = mebibytes(LEAST_BYTES)
            return f"Games, checks and uploads wait: the disk of {place} has {mebibytes(free)} left; {least} are needed"
    return ""
