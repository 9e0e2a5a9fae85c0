"""The processes below another one, by the kernel's lists of children, or by psutil where there are none."""

from collections.abc import Iterator

import psutil

from referee.harness.isolation import supervisor
from referee.harness.isolation.supervisor import CHILDREN_FILES

READ_BY = "children files" if CHILDREN_FILES else "psutil"


def walk(root: int) -> Iterator[list[int]]:
    """Yields the processes below `root`, in short steps where the kernel lists children."""
    if CHILDREN_FILES:
        yield from supervisor.walk(root)
        return
    try:
        yield [child.pid for child in psutil.Process(root).children(recursive=True)]
    except psutil.NoSuchProcess:
        pass


def descendants(root: int) -> list[int]:
    """Returns the processes below `root`."""
    return [pid for below in walk(root) for pid in below]


def stop_all(root: int) -> None:
    """Stops every process below `root`, including those that are forked meanwhile."""
    supervisor.stop_all(lambda: descendants(root))
