"""Measures for how long a build had no core, so that a busy machine is not taken for a slow build."""

import os
import time

from referee.harness.isolation.supervisor import PORTABLE
from referee.harness.process.core_wait import is_ready, tree_below
from referee.harness.process.usage import cpu_clock, cpu_ns

LOOK_EVERY_S = 0.2


class CoreLack:
    """The time of cores that a build could have used and did not get, from looks at its threads while it runs.

    A thread that runs or waits for a core could use one, unless it has chosen to wait. A build never lacks the time in
    which its own threads wait for each other: it can use as many cores as it may run on.
    """

    def __init__(self, from_root: bool = False) -> None:
        """`from_root`: the process above all others does a part of the work itself."""
        self._from_root = from_root
        self._looked_at = time.monotonic()
        self._wanted_s = self._ran_s = 0.0

    @property
    def lacked_s(self) -> float:
        """The lack so far, in seconds of one core."""
        return max(0.0, self._wanted_s - self._ran_s)

    def look(self, root: int) -> None:
        """Looks at the threads below a process, now and then. 0 = it has not started."""
        now = time.monotonic()
        passed_s = now - self._looked_at
        if PORTABLE or passed_s < LOOK_EVERY_S:
            return
        self._looked_at = now
        if not root:
            return
        try:
            cores = len(os.sched_getaffinity(root))
        except OSError:
            return  # it has ended
        tree = tree_below(root)
        ready = sum(thread.ready and not thread.humble for thread in tree.threads.values())
        ran_ns = tree.ran_ns
        if self._from_root:
            ready, ran_ns = ready + is_ready(root), ran_ns + cpu_ns(cpu_clock(root))
        self._wanted_s += min(ready, cores) * passed_s
        self._ran_s = max(self._ran_s, ran_ns / 1e9)
