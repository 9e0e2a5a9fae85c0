"""seccomp: a handful of system calls that no bot needs fail with EPERM.

Every other call works, since a list of allowed calls would break with each new libc. No process is killed for trying.
"""

import platform
import struct
from collections.abc import Mapping
from errno import ENOSYS, EPERM

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""All pairs of numbers below are for these two processors."""
X32 = 0x40000000
F_SETLEASE = 1024
"""The owner of a file can take a lease on it. Other processes that open the file then wait for up to 45 s."""
NEW_NAMESPACES = 0x7E020080
"""The flags of `clone` that make namespaces."""
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
PROCESS, IOPRIO_PROCESS = 0, 1

Test = tuple[int, int, int, bool]
"""An argument, the comparison, the value, and the outcome with which the call is denied."""
Calls = Mapping[str, tuple[tuple[int, int], tuple[Test, ...]]]
"""By name, the numbers of a system call and its tests. One without tests is denied whatever its arguments are."""

SELF_ONLY: Test = (FIRST_ARGUMENT, EQUAL, 0, False)
DENIED: Calls = {
    # Namespaces, in which a bot would be root again and the kernel has most of its bugs.
    "unshare": ((272, 97), ()),
    "setns": ((308, 268), ()),
    "clone": ((56, 220), ((FIRST_ARGUMENT, ANY_BIT, NEW_NAMESPACES, True),)),
    # Keys belong to the account, not to the bot; the others reach into the kernel itself.
    "add_key": ((248, 217), ()),
    "request_key": ((249, 218), ()),
    "keyctl": ((250, 219), ()),
    "bpf": ((321, 280), ()),
    "perf_event_open": ((298, 241), ()),
    "userfaultfd": ((323, 282), ()),
    "io_uring_setup": ((425, 425), ()),
    # Memory that no process is charged for. System V's outlives the bot too, where it has no namespaces.
    "shmget": ((29, 194), ()),
    "msgget": ((68, 186), ()),
    "memfd_create": ((319, 279), ()),
    "memfd_secret": ((447, 447), ()),
    "fcntl": ((72, 25), ((SECOND_ARGUMENT, EQUAL, F_SETLEASE, True),)),
}
INSPECTION: Calls = {
    "ptrace": ((101, 117), ()),
    "process_vm_readv": ((310, 270), ()),
    "process_vm_writev": ((311, 271), ()),
    "pidfd_getfd": ((438, 438), ()),
}
"""Denied only if other bots are visible: the leak checkers of compilers trace their own process."""
WITHOUT_NAMESPACES: Calls = {
    # What they make outlives the bot and is open to other bots.
    "semget": ((64, 190), ()),
    "mq_open": ((240, 180), ()),
    # Allowed only for the caller itself. A bot could otherwise change other processes of its account: a rival whose
    # limit of CPU time is set to 0 is killed by the kernel.
    "prlimit64": ((302, 261), (SELF_ONLY,)),
    "sched_setaffinity": ((203, 122), (SELF_ONLY,)),
    "sched_setscheduler": ((144, 119), (SELF_ONLY,)),
    "sched_setparam": ((142, 118), (SELF_ONLY,)),
    "sched_setattr": ((314, 274), (SELF_ONLY,)),
    "setpriority": ((141, 140), ((FIRST_ARGUMENT, EQUAL, PROCESS, False), (SECOND_ARGUMENT, EQUAL, 0, False))),
    "ioprio_set": ((251, 30), ((FIRST_ARGUMENT, EQUAL, IOPRIO_PROCESS, False), (SECOND_ARGUMENT, EQUAL, 0, False))),
}
SOCKET, CLONE3 = (41, 198), (435, 435)
LOCAL_ONLY: tuple[Test, ...] = ((FIRST_ARGUMENT, EQUAL, AF_UNIX, False),)
IN_NAMESPACES: tuple[Test, ...] = (
    (FIRST_ARGUMENT, AT_LEAST, AF_NETLINK + 1, True),
    *(
        (FIRST_ARGUMENT, EQUAL, family, True)
        for family in range(AF_NETLINK)
        if family not in (AF_UNIX, AF_INET, AF_INET6)
    ),
)
"""The families of sockets that a network namespace separates. A socket of `AF_VSOCK` reaches the host of a virtual
machine from any namespace, and most others reach kernel code that no bot needs."""
REMOTE_ONLY: tuple[Test, ...] = (*IN_NAMESPACES, (FIRST_ARGUMENT, EQUAL, AF_UNIX, True))


def steps(peers_visible: bool, network_visible: bool, local_sockets: bool, network_allowed: bool = False) -> list[str]:
    """Returns the steps of the sandbox launcher; none for a processor whose system calls we do not know.

    `network_visible` (so without namespaces): sockets are denied, except local ones with `local_sockets`, or except
    those of the network with `network_allowed`: nothing hides local ones of services that lie in folders. Otherwise
    those that namespaces do not separate are denied.
    """
    if platform.machine() not in AUDIT_ARCH:
        return []
    machine = [*AUDIT_ARCH].index(platform.machine())
    code = [
        _instruction(LOAD, ARCHITECTURE),
        _instruction(EQUAL, AUDIT_ARCH[platform.machine()], 1, 0),
        _error(EPERM),  # programs of 32 bits use other numbers
        _instruction(LOAD, NUMBER),
    ]
    if platform.machine() == "x86_64":
        code += [_instruction(AT_LEAST, X32, 0, 1), _error(ENOSYS)]
    # A filter cannot read the flags of `clone3`, which lie in memory. Libraries fall back to `clone`.
    code += [_instruction(EQUAL, CLONE3[machine], 0, 1), _error(ENOSYS)]
    calls = {**DENIED, **(INSPECTION if peers_visible else {}), "socket": (SOCKET, IN_NAMESPACES)}
    if network_visible:
        calls |= WITHOUT_NAMESPACES
        calls["socket"] = SOCKET, REMOTE_ONLY if network_allowed else LOCAL_ONLY if local_sockets else ()
    for numbers, tests in calls.values():
        body = [_error(EPERM)] if not tests else [_instruction(RETURN, ALLOW)]
        for argument, comparison, value, denied in reversed(tests):
            skip = (0, 1) if denied else (1, 0)
            body = [_instruction(LOAD, argument), _instruction(comparison, value, *skip), _error(EPERM), *body]
        code += [_instruction(EQUAL, numbers[machine], 0, len(body)), *body]
    return ["seccomp", b"".join([*code, _instruction(RETURN, ALLOW)]).hex()]


def _instruction(operation: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, when_true, when_false, value)


def _error(code: int) -> bytes:
    return _instruction(RETURN, ERRNO | code)
