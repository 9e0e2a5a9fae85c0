"""How much a bot has written into its scratch folder, where no layer gives that folder a size."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import trio

from referee.games.api import Fault, FaultKind
from referee.harness import threads
from referee.harness.bots.limits import mebibytes
from referee.harness.sandbox.namespaces import INODES
from referee.harness.threads import Steps

LOOK_EVERY_S = 0.1
ENTRIES_PER_STEP = 64
COST = 0.02
"""The part of a core that looking may take, of a folder with many files."""


async def watch(folder: Path, limit_bytes: int, ruled: Callable[[Fault], None]) -> None:
    """Counts again and again; `ruled` is told when it is too much. Files without a name or elsewhere are not seen."""
    took_s = 0.0
    while True:
        await trio.sleep(max(LOOK_EVERY_S, took_s / COST))
        started = time.perf_counter()
        used_bytes, files = await threads.finish(count(folder))
        if used_bytes > limit_bytes:
            detail = f"wrote {mebibytes(used_bytes)} into its scratch folder; the limit is {mebibytes(limit_bytes)}"
            return ruled(Fault(FaultKind.FILES, detail))
        if files > INODES:
            return ruled(Fault(FaultKind.FILES, f"made more than {INODES} files and folders in its scratch folder"))
        took_s = time.perf_counter() - started


def count(folder: Path) -> Steps[tuple[int, int]]:
    """How many bytes the files there take, and how many files and folders there are: up to one more than `INODES`."""
    waiting, used_bytes, files = [os.fspath(folder)], 0, 0
    while waiting and files <= INODES:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    used_bytes += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if files > INODES:
                        break
                    if files % ENTRIES_PER_STEP == 0:
                        yield False
        except OSError:
            continue  # it was removed meanwhile, or is closed to us
    return used_bytes, files
