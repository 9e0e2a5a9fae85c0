"""The kernel's limit of processes (RLIMIT_NPROC): a backstop behind our own counting.

The kernel counts all processes of an account. So the limit is set only in a user namespace or for a bot with an
account of its own. It never binds root.
"""

import resource

TASKS_PER_PROCESS = 4
"""The kernel counts threads as processes."""


def steps(processes: int | None) -> list[str]:
    """Returns the steps of the sandbox launcher; None = no limit."""
    if processes is None:
        return []
    limit = str(tasks(processes))
    return ["rlimit", str(resource.RLIMIT_NPROC), limit, limit]


def tasks(processes: int) -> int:
    """Returns how many threads, main threads included, a bot with this limit of processes may have."""
    return processes * TASKS_PER_PROCESS
