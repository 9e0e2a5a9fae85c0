"""An account of its own for each bot, where the referee runs as root.

Only for a bot whose program is open to every account. That is checked beforehand: failing later would look like a
fault of the bot.
"""

import os
import pwd
import resource
import secrets
import stat
from collections.abc import Collection, Sequence
from functools import cache

from referee.harness.isolation.layers.cgroups import tasks

ACCOUNT = "\0account"
"""Stands for the number of an account in the sandbox launcher's command line until it is drawn. No path holds it."""
FIRST, COUNT = 0x70000000, 0x0F000000
"""Account numbers above those of people, services and containers, and below 2^31."""


def draw() -> int:
    """Returns the number of an unused account."""
    return FIRST + secrets.randbelow(COUNT)


NAME = "bot"
"""The name of such an account, in the bot's /etc/passwd."""


@cache
def own_name() -> str:
    """Returns the name of our account; empty if it has none, as in some containers."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


def steps(uid: str) -> list[str]:
    """Returns the steps of the sandbox launcher."""
    return ["account", uid, uid]


def entry_steps(uid: str | None, folder: str, processes: int | None, in_user_namespace: bool) -> list[str]:
    """Returns the steps by which a process enters its folder and its account, and gives up all privileges.

    `uid`: its own account; None = ours. `processes`: the limit of processes; None = no limit.
    """
    entered = ["chdir", folder, *(steps(uid) if uid is not None else ()), "drop_capabilities"]
    limited = limit_tasks(processes) if uid is not None or in_user_namespace else []
    return [*entered, *limited, "no_new_privs"]


def name_steps(uid: str | None) -> list[str]:
    """Returns the steps that set the variables with the name of the account; `uid` as in `entry_steps`."""
    name = NAME if uid is not None else own_name() or NAME
    return ["setenv", "USER", name, "setenv", "LOGNAME", name]


def limit_tasks(processes: int | None) -> list[str]:
    """Returns the steps that set the kernel's limit of processes, a backstop behind our own counting; None = no limit.

    The kernel counts all processes of an account. So this is for a user namespace or an account of the bot's own. The
    limit never binds root.
    """
    if processes is None:
        return []
    limit = str(tasks(processes))
    return ["rlimit", str(resource.RLIMIT_NPROC), limit, limit]


def can_reach(paths: Sequence[str], mounted: Collection[str]) -> bool:
    """Whether every account may enter the folders that lead to these files and folders.

    `mounted`: folders that can be reached whatever the rights of their parents are.
    """
    return all(_can_be_reached(os.path.realpath(path), mounted) for path in paths)


def _can_be_reached(path: str, mounted: Collection[str]) -> bool:
    while path != "/" and path not in mounted:
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
    return True


def is_open(path: str) -> bool:
    """Whether every account may read this file, run it if it is a program, or list and enter this folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    is_program = stat.S_ISREG(mode) and mode & stat.S_IXUSR
    needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) or is_program else stat.S_IROTH
    return mode & needed == needed
