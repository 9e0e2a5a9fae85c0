"""The kernel's limit of processes: the backstop behind what is measured, where it counts a bot's own and no others.

It counts by account. So it is set inside of a user namespace, or for an account of the bot's own; elsewhere it would
count whatever else the account runs. It never binds root.
"""

import resource

TASKS_PER_PROCESS = 4
"""The kernel counts threads as processes. So processes are counted by measuring; the kernel's limit is a backstop."""


def steps(processes: int | None) -> list[str]:
    """For the launcher; None = no limit."""
    if processes is None:
        return []
    most = str(tasks(processes))
    return ["rlimit", str(resource.RLIMIT_NPROC), most, most]


def tasks(processes: int) -> int:
    """How many threads, those of one-threaded processes included, so many processes may have."""
    return processes * TASKS_PER_PROCESS
