"""seccomp: a handful of system calls that no bot needs answer "not permitted".

Whatever is not named here works: a list of what is allowed would break with every new libc. Nothing is killed for
trying.
"""

import platform
import struct
from errno import ENOSYS, EPERM

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
DENIED = {
    # Namespaces of its own, in which it would be root again and the kernel has most of its mistakes.
    "unshare": {"x86_64": 272, "aarch64": 97},
    "setns": {"x86_64": 308, "aarch64": 268},
    # Keys belong to the account, not to the bot; the others reach into the kernel itself.
    "add_key": {"x86_64": 248, "aarch64": 217},
    "request_key": {"x86_64": 249, "aarch64": 218},
    "keyctl": {"x86_64": 250, "aarch64": 219},
    "bpf": {"x86_64": 321, "aarch64": 280},
    "perf_event_open": {"x86_64": 298, "aarch64": 241},
    "userfaultfd": {"x86_64": 323, "aarch64": 282},
    "io_uring_setup": {"x86_64": 425, "aarch64": 425},
    # Memory that stands in no process's account. System V's outlives the bot too, where it has no namespaces.
    "shmget": {"x86_64": 29, "aarch64": 194},
    "msgget": {"x86_64": 68, "aarch64": 186},
    "memfd_create": {"x86_64": 319, "aarch64": 279},
    "memfd_secret": {"x86_64": 447, "aarch64": 447},
}
INSPECTING = {
    "ptrace": {"x86_64": 101, "aarch64": 117},
    "process_vm_readv": {"x86_64": 310, "aarch64": 270},
    "process_vm_writev": {"x86_64": 311, "aarch64": 271},
    "pidfd_getfd": {"x86_64": 438, "aarch64": 438},
}
"""Denied only where other bots are in sight: leak checkers of compilers trace their own process."""
SHARED = {
    "semget": {"x86_64": 64, "aarch64": 190},
    "mq_open": {"x86_64": 240, "aarch64": 180},
}
"""Denied only without namespaces: what is made there outlives the bot, and any other may use it."""
OF_ANOTHER = {
    "prlimit64": {"x86_64": 302, "aarch64": 261},
    "sched_setaffinity": {"x86_64": 203, "aarch64": 122},
    "sched_setscheduler": {"x86_64": 144, "aarch64": 119},
    "sched_setparam": {"x86_64": 142, "aarch64": 118},
    "sched_setattr": {"x86_64": 314, "aarch64": 274},
}
"""Denied only without namespaces, and but for a first argument of 0, the caller itself: nothing else keeps a bot from
what another process of its account may use. Who takes all processor time from a rival has it ended by the kernel."""
OF_OTHERS = {
    "setpriority": ({"x86_64": 141, "aarch64": 140}, 0),
    "ioprio_set": ({"x86_64": 251, "aarch64": 30}, 1),
}
"""The same; the first argument says what the second counts: processes only, and 0."""
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = {"x86_64": 435, "aarch64": 435}
SOCKET = {"x86_64": 41, "aarch64": 198}
FCNTL = {"x86_64": 72, "aarch64": 25}
F_SETLEASE = 1024
"""A process that takes a lease on a file (for that it only has to own it) makes whoever opens it wait, for 45 s."""
NEW_NAMESPACES = 0x7E020080
"""The flags of `clone` that make namespaces."""
X32 = 0x40000000
AF_UNIX = 1

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24


def filter_program(peers_in_sight: bool, network_in_sight: bool, local_sockets: bool) -> bytes | None:
    """The filter, as the kernel takes it; None for a processor whose system calls we do not know.

    With the `network_in_sight` (without namespaces, that is) sockets are denied, but for those that stay on the machine
    if `local_sockets`.
    """
    machine = platform.machine()
    if machine not in AUDIT_ARCH:
        return None
    code = [
        _word(LOAD, ARCHITECTURE),
        *_otherwise(AUDIT_ARCH[machine], EPERM),  # programs of 32 bits have numbers of their own
        _word(LOAD, NUMBER),
    ]
    if machine == "x86_64":
        code += [_word(AT_LEAST, X32, 0, 1), _word(RETURN, ERRNO | ENOSYS)]
    denied = DENIED | (INSPECTING if peers_in_sight else {}) | (SHARED if network_in_sight else {})
    for numbers in denied.values():
        code += [_word(EQUAL, numbers[machine], 0, 1), _word(RETURN, ERRNO | EPERM)]
    # Its flags lie in memory, where a filter cannot look: libraries take `clone` when there is no `clone3`.
    code += [_word(EQUAL, CLONE3[machine], 0, 1), _word(RETURN, ERRNO | ENOSYS)]
    code += [
        _word(EQUAL, CLONE[machine], 0, 4),
        _word(LOAD, FIRST_ARGUMENT),
        _word(ANY_BIT, NEW_NAMESPACES, 0, 1),
        _word(RETURN, ERRNO | EPERM),
        _word(RETURN, ALLOW),
        _word(EQUAL, FCNTL[machine], 0, 4),
        _word(LOAD, SECOND_ARGUMENT),
        _word(EQUAL, F_SETLEASE, 0, 1),
        _word(RETURN, ERRNO | EPERM),
        _word(RETURN, ALLOW),
    ]
    if network_in_sight:
        for numbers in OF_ANOTHER.values():
            code += [_word(EQUAL, numbers[machine], 0, 4), _word(LOAD, FIRST_ARGUMENT)]
            code += [*_otherwise(0, EPERM), _word(RETURN, ALLOW)]
        for numbers, processes in OF_OTHERS.values():
            code += [_word(EQUAL, numbers[machine], 0, 6), _word(LOAD, FIRST_ARGUMENT)]
            code += [_word(EQUAL, processes, 0, 2), _word(LOAD, SECOND_ARGUMENT), *_otherwise(0, EPERM)]
            code += [_word(RETURN, ALLOW)]
        code += [_word(EQUAL, SOCKET[machine], 0, 3 if local_sockets else 1)]
        if local_sockets:
            code += [_word(LOAD, FIRST_ARGUMENT), _word(EQUAL, AF_UNIX, 1, 0)]
        code += [_word(RETURN, ERRNO | EPERM)]
    return b"".join([*code, _word(RETURN, ALLOW)])


def _word(operation: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, when_true, when_false, value)


def _otherwise(expected: int, error: int) -> list[bytes]:
    return [_word(EQUAL, expected, 1, 0), _word(RETURN, ERRNO | error)]


def steps(peers_in_sight: bool, network_in_sight: bool, local_sockets: bool) -> list[str]:
    """For the launcher; nothing on a processor whose system calls we do not know."""
    program = filter_program(peers_in_sight, network_in_sight, local_sockets)
    return [] if program is None else ["seccomp", program.hex()]
