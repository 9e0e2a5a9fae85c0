"""Walks through a folder into which a stranger writes, perhaps at the same time."""

import os
from collections.abc import Iterator
from pathlib import Path


def entries_below(folder: str | Path, skip_closed: bool) -> Iterator[tuple[str, os.stat_result]]:
    """Yields the path and the status of everything below a folder. Follows no link.

    A folder comes before its content. Leaves out what is removed meanwhile. OSError for a folder that cannot
    be read, unless these are skipped (`skip_closed`).
    """
    waiting = [os.fspath(folder)]
    while waiting:  # not by recursion: folders may be nested deeply
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    yield entry.path, status
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            if not skip_closed:
                raise
