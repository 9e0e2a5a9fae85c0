"""Counts the files in a bot's scratch folder, and their bytes if no isolation layer limits these."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import trio

from referee.games.contract import Fault, FaultKind
from referee.harness.common import threads
from referee.harness.common.threads import Steps
from referee.harness.common.walk import entries_below
from referee.harness.isolation.layers.namespaces import MOST_FILES
from referee.protocol.text import mebibytes

LOOK_EVERY_S = 0.1
ENTRIES_PER_STEP = 64
COST = 0.02
"""Most of a core that counting may take."""


async def watch(folder: Path, only_pid: int | None, limit_bytes: int | None, report: Callable[[Fault], None]) -> None:
    """Counts again and again; calls `report` when there is too much. Does not see deleted files that are still open.

    `only_pid`: the bot whose file system alone has the folder; None = everybody sees it.
    """
    took_s = 0.0
    while True:
        await trio.sleep(max(LOOK_EVERY_S, took_s / COST))
        started = time.perf_counter()
        used_bytes, files = await (
            threads.finish(count(folder)) if only_pid is None else _count_inside(only_pid, folder)
        )
        if limit_bytes is not None and used_bytes > limit_bytes:
            detail = f"wrote {mebibytes(used_bytes)} into its scratch folder; the limit is {mebibytes(limit_bytes)}"
            return report(Fault(FaultKind.FILES, detail))
        if files > MOST_FILES:
            detail = f"made more than {MOST_FILES} files and folders in its scratch folder, which is the limit"
            return report(Fault(FaultKind.FILES, detail))
        took_s = time.perf_counter() - started


def count(folder: Path) -> Steps[tuple[int, int]]:
    """Returns the bytes of the files below a folder, and the number of files and folders, up to `MOST_FILES` + 1."""
    used_bytes = files = 0
    for _, status in entries_below(folder, skip_closed=True):
        files += 1
        used_bytes += status.st_blocks * 512
        if files > MOST_FILES:
            break
        if files % ENTRIES_PER_STEP == 0:
            yield False
    return used_bytes, files


async def _count_inside(pid: int, folder: Path) -> tuple[int, int]:
    """Counts a folder that only the bot sees. Returns (0, 0) while its file system has few files."""
    with ExitStack() as opened:
        try:
            inside = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
            opened.callback(os.close, inside)
            for name in Path(os.path.realpath(folder)).parts[1:]:
                # The bot may have replaced a folder by a link, which would lead to a folder of the machine.
                inside = os.open(name, os.O_PATH | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=inside)
                opened.callback(os.close, inside)
            room = os.statvfs(inside)
        except OSError:
            return 0, 0  # the bot has ended, or the system lets nobody look
        if room.f_files - room.f_ffree <= MOST_FILES:
            return 0, 0
        return await threads.finish(count(Path(f"/proc/self/fd/{inside}")))
