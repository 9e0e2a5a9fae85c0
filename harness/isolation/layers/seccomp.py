"""seccomp: a handful of system calls that no bot needs fail with EPERM.

Every other call works, since a list of allowed calls would break with each new libc. No process is killed for trying.
"""

import platform
import struct
from errno import ENOSYS, EPERM

MACHINES = ("x86_64", "aarch64")
AUDIT_ARCH = (0xC000003E, 0xC00000B7)
"""These and all numbers below are for the two `MACHINES`."""
DENIED = {
    # Namespaces, in which a bot would be root again and the kernel has most of its bugs.
    "unshare": (272, 97),
    "setns": (308, 268),
    # Keys belong to the account, not to the bot; the others reach into the kernel itself.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    # Memory that no process is charged for. System V's outlives the bot too, where it has no namespaces.
    "shmget": (29, 194),
    "msgget": (68, 186),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
INSPECTION = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
}
"""Denied only if other bots are visible: the leak checkers of compilers trace their own process."""
SHARED = {"semget": (64, 190), "mq_open": (240, 180)}
"""Denied only without namespaces: what they make outlives the bot and is open to other bots."""
SELF_ONLY = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""Without namespaces, allowed only with a first argument of 0, the caller. A bot could otherwise change other processes
of its account: a rival whose limit of CPU time is set to 0 is killed by the kernel."""
SELF_ONLY_BY_KIND = {"setpriority": ((141, 140), 0), "ioprio_set": ((251, 30), 1)}
"""The same with two arguments: the kind "process", and 0."""
CLONE, CLONE3, SOCKET, FCNTL = (56, 220), (435, 435), (41, 198), (72, 25)
F_SETLEASE = 1024
"""The owner of a file can take a lease on it. Other processes that open the file then wait for up to 45 s."""
NEW_NAMESPACES = 0x7E020080
"""The flags of `clone` that make namespaces."""
X32 = 0x40000000
AF_UNIX = 1

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24


def steps(peers_visible: bool, network_visible: bool, local_sockets: bool) -> list[str]:
    """Returns the steps of the sandbox launcher; none for a processor whose system calls we do not know.

    `network_visible` (so without namespaces): sockets are denied, except local ones with `local_sockets`.
    """
    if platform.machine() not in MACHINES:
        return []
    machine = MACHINES.index(platform.machine())
    code = [
        _instruction(LOAD, ARCHITECTURE),
        *_require(AUDIT_ARCH[machine], EPERM),  # programs of 32 bits use other numbers
        _instruction(LOAD, NUMBER),
    ]
    if MACHINES[machine] == "x86_64":
        code += [_instruction(AT_LEAST, X32, 0, 1), _error(ENOSYS)]
    denied = DENIED | (INSPECTION if peers_visible else {}) | (SHARED if network_visible else {})
    for numbers in denied.values():
        code += [_instruction(EQUAL, numbers[machine], 0, 1), _error(EPERM)]
    # A filter cannot read the flags of `clone3`, which lie in memory. Libraries fall back to `clone`.
    code += [_instruction(EQUAL, CLONE3[machine], 0, 1), _error(ENOSYS)]
    code += [
        _instruction(EQUAL, CLONE[machine], 0, 4),
        _instruction(LOAD, FIRST_ARGUMENT),
        _instruction(ANY_BIT, NEW_NAMESPACES, 0, 1),
        _error(EPERM),
        _instruction(RETURN, ALLOW),
        _instruction(EQUAL, FCNTL[machine], 0, 4),
        _instruction(LOAD, SECOND_ARGUMENT),
        _instruction(EQUAL, F_SETLEASE, 0, 1),
        _error(EPERM),
        _instruction(RETURN, ALLOW),
    ]
    if network_visible:
        code += _without_namespaces(machine, local_sockets)
    return ["seccomp", b"".join([*code, _instruction(RETURN, ALLOW)]).hex()]


def _without_namespaces(machine: int, local_sockets: bool) -> list[bytes]:
    code: list[bytes] = []
    for numbers in SELF_ONLY.values():
        code += [_instruction(EQUAL, numbers[machine], 0, 4), _instruction(LOAD, FIRST_ARGUMENT)]
        code += [*_require(0, EPERM), _instruction(RETURN, ALLOW)]
    for numbers, kind in SELF_ONLY_BY_KIND.values():
        code += [_instruction(EQUAL, numbers[machine], 0, 6), _instruction(LOAD, FIRST_ARGUMENT)]
        code += [_instruction(EQUAL, kind, 0, 2), _instruction(LOAD, SECOND_ARGUMENT), *_require(0, EPERM)]
        code += [_instruction(RETURN, ALLOW)]
    code += [_instruction(EQUAL, SOCKET[machine], 0, 3 if local_sockets else 1)]
    if local_sockets:
        code += [_instruction(LOAD, FIRST_ARGUMENT), _instruction(EQUAL, AF_UNIX, 1, 0)]
    return [*code, _error(EPERM)]


def _instruction(operation: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, when_true, when_false, value)


def _error(code: int) -> bytes:
    return _instruction(RETURN, ERRNO | code)


def _require(value: int, code: int) -> list[bytes]:
    return [_instruction(EQUAL, value, 1, 0), _error(code)]
