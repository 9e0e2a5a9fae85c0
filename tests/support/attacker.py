"""A hostile bot that tries one attack per run. No attack harms anybody but its victim.

Run as `python -I -S attacker.py NAME TARGETS`. TARGETS is a JSON object (`Targets`), which saves the search that a real
attacker would make. Prints one line of JSON: `{"reached": text}` for a success or `{"refused": text}`.

Standard library only, and nothing of the referee: any bot could do the same.
"""

import ctypes
import fcntl
import json
import os
import resource
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypedDict

MIB = 1 << 20
PART_BYTES = 16 * MIB
"""Below the limit for the size of a file."""
NEW_USER = 0x10000000
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
IPC_PRIVATE, IPC_RMID, IPC_CREAT = 0, 0, 0o1000
OTHER_FAMILIES = {40: socket.SOCK_STREAM, 38: socket.SOCK_SEQPACKET, 30: socket.SOCK_RDM, 31: socket.SOCK_RAW}
"""Sockets of virtual machines, of the kernel's ciphers, of TIPC and of Bluetooth, each with a type that it has."""
libc = ctypes.CDLL(None, use_errno=True)


class Targets(TypedDict):
    """The targets of all attacks."""

    victim: int
    """The pid of the rival outside of any namespace."""
    mark: str
    """`MARK-rival` is an argument of the rival and the name of its abstract socket."""
    secret: int
    """The address of a text in the rival's memory."""
    referee: int
    """The pid of the referee."""
    source: str
    """The rival's program."""
    rivals_folder: str
    own_folder: str
    replay: str
    """The replay of the match, in the attacker's folder."""
    shared_folder: str
    """A folder that every account may write to."""
    port: int
    """An open port of this machine."""
    bytes: int
    """Slightly more than the memory limit."""


class Refused(Exception):
    """An attack has failed, with the reason."""


def forge(to: Targets) -> str:
    """Forges an answer of the rival, through /proc/PID/fd/1."""
    output = os.open(f"/proc/{rival(to)}/fd/1", os.O_WRONLY)
    os.write(output, b"forged\n")
    return "an answer was written into the rival's output"


def freeze(to: Targets) -> str:
    """Stops the rival, so that it loses on time."""
    os.kill(rival(to), 19)
    return "the rival was stopped"


def kill(to: Targets) -> str:
    """Kills the rival."""
    os.kill(rival(to), 9)
    return "the rival was killed"


def trace(to: Targets) -> str:
    """Traces the rival like a debugger."""
    check(libc.ptrace(PTRACE_ATTACH, pid := rival(to), None, None))
    os.waitpid(pid, 0)
    libc.ptrace(PTRACE_DETACH, pid, None, None)
    return "the rival was traced"


def limit(to: Targets) -> str:
    """Lowers the rival's limits, priority or processors."""
    pid, core = to["victim"], resource.RLIMIT_CORE
    changes: dict[str, Callable[[], object]] = {  # to the values that they have: it does no harm
        "limits": lambda: resource.prlimit(pid, core, resource.prlimit(pid, core)),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)),
        "processors": lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
    }
    return f"the rival's {try_all(changes)} could be set"


def read_memory(to: Targets) -> str:
    """Reads the rival's memory, through /proc/PID/mem and process_vm_readv."""
    pid = rival(to)
    with suppress(OSError), open(f"/proc/{pid}/mem", "rb", 0) as memory:
        memory.seek(to["secret"])
        return f"read {memory.read(6)!r} from the rival's memory"
    text = ctypes.create_string_buffer(6)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(text), 6)
    remote = (ctypes.c_size_t * 2)(to["secret"], 6)
    check(libc.process_vm_readv(pid, local, ctypes.c_ulong(1), remote, ctypes.c_ulong(1), ctypes.c_ulong(0)))
    return f"read {text.raw!r} from the rival's memory"


def abstract_socket(to: Targets) -> str:
    """Talks to another bot over an abstract socket."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"\0{to['mark']}-rival")
        return f"received {line.recv(5)!r}"


def look_around(to: Targets) -> str:
    """Lists the processes of others."""
    ours = os.getsid(0)
    others = []
    for name in os.listdir("/proc"):
        if name.isdigit() and name not in ("1", str(os.getpid())):
            try:
                if os.getsid(int(name)) != ours:
                    others.append(name)
            except OSError:
                others.append(name)
    if not others:
        raise Refused("no other process is visible")
    return f"saw {len(others)} processes"


def command_line(to: Targets) -> str:
    """Reads the referee's command line."""
    with open(f"/proc/{to['referee']}/cmdline", "rb") as words:
        if not (read := words.read()):
            raise Refused("empty")
        return f"read {read[:40]!r}"


def signal_referee(to: Targets) -> str:
    """Signals the referee (with signal 0, which does nothing)."""
    os.kill(to["referee"], 0)
    return "a signal reached the referee"


def read_source(to: Targets) -> str:
    """Reads the rival's program."""
    return read_file(to["source"])


def read_replay(to: Targets) -> str:
    """Reads the replay of its own match, and so all luck to come."""
    name = os.path.relpath(to["replay"], to["own_folder"])
    for path in (to["replay"], f"/proc/self/cwd/{name}"):
        with suppress(OSError):
            return read_file(path)
    os.link(to["replay"], linked := f"{os.environ['HOME']}/linked")
    return read_file(linked)


def write_rival(to: Targets) -> str:
    """Writes into the rival's folder."""
    return write_file(to["rivals_folder"])


def write_own(to: Targets) -> str:
    """Writes into its own folder, for its next match or its author."""
    return write_file(to["own_folder"])


def write_shared(to: Targets) -> str:
    """Leaves a file in a folder that every account may write to."""
    path = f"{to['shared_folder']}/left-behind"
    with open(path, "w") as left:
        left.write("x")
    return f"wrote {path}"


def network(to: Targets) -> str:
    """Connects to a port and sends a datagram."""
    address = "127.0.0.1", to["port"]
    try:
        with socket.create_connection(address, timeout=1):
            return "a connection was made"
    except OSError:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.sendto(b"x", address)  # the other side notices whether it arrives
        raise


def other_sockets(to: Targets) -> str:
    """Opens sockets that namespaces do not separate, such as those to the host of a virtual machine."""

    def opening(family: int) -> Callable[[], object]:
        return lambda: socket.socket(family, OTHER_FAMILIES[family]).close()

    return f"sockets of {try_all({f'family {family}': opening(family) for family in OTHER_FAMILIES})}"


def memory(to: Targets) -> str:
    """Exceeds the memory limit."""
    held = []
    for _ in range(to["bytes"] // MIB):
        held.append(os.urandom(4096) * (MIB // 4096))
        time.sleep(0)
    time.sleep(1)  # a limit that is held by reading ends it a moment later
    return f"held {len(held)} MiB"


def memfd(to: Targets) -> str:
    """Exceeds the memory limit with files without a name, which no process is charged for."""
    return hold(to, os.memfd_create)


def shared_memory(to: Targets) -> str:
    """Exceeds the memory limit with files in memory."""

    def make(name: str) -> int:
        file = os.open(f"/dev/shm/{name}", os.O_RDWR | os.O_CREAT)
        os.unlink(f"/dev/shm/{name}")
        return file

    return hold(to, make)


def segments(to: Targets) -> str:
    """Exceeds the memory limit with segments of System V, which no process needs to attach."""
    libc.shmat.restype = ctypes.c_void_p
    held: list[int] = []
    try:
        for _ in range(to["bytes"] // PART_BYTES):
            held.append(check(libc.shmget(IPC_PRIVATE, ctypes.c_size_t(PART_BYTES), IPC_CREAT | 0o600)))
            place = libc.shmat(held[-1], None, 0)
            if place in (None, ctypes.c_void_p(-1).value):
                raise OSError(ctypes.get_errno(), "no segment")
            ctypes.memset(place, 1, PART_BYTES)
            libc.shmdt(ctypes.c_void_p(place))
    finally:
        for segment in held:
            libc.shmctl(segment, IPC_RMID, None)
    return f"held {to['bytes'] // MIB} MiB"


def priority(to: Targets) -> str:
    """Raises its own priority."""

    def real_time() -> None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))

    return try_all({"SCHED_FIFO": real_time, "nice -10": lambda: os.nice(-10)})


def lease(to: Targets) -> str:
    """Takes a lease on a file, which makes everybody who opens it wait."""
    refused: Exception = Refused("there is no file")
    for name in os.listdir(to["own_folder"]):
        try:
            file = os.open(f"{to['own_folder']}/{name}", os.O_RDONLY)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return f"{name} was leased"
        except OSError as error:
            refused = error
    raise refused


def user_namespace(to: Targets) -> str:
    """Becomes root in namespaces of its own, where the kernel has most of its bugs."""
    check(libc.unshare(NEW_USER))
    return "a user namespace was made"


def daemon(to: Targets) -> str:
    """Leaves a daemon behind."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(20)", f"{to['mark']}-daemon"]
        os.execv(sys.executable, sleep)
    os.wait()
    time.sleep(0.1)
    return "it runs"


def rival(to: Targets) -> int:
    """Returns the pid of the rival, by its command line or as given."""
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{int(name)}/cmdline", "rb") as words:
                if f"{to['mark']}-rival".encode() in words.read():
                    return int(name)
        except (OSError, ValueError):
            continue
    os.kill(to["victim"], 0)  # invisible, but perhaps it can be signalled
    return to["victim"]


def check(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def try_all(attempts: Mapping[str, Callable[[], object]]) -> str:
    """Returns the names of the attempts that succeed. Raises the last error if none does."""
    succeeded = []
    for name, attempt in attempts.items():
        try:
            attempt()
            succeeded.append(name)
        except OSError as error:
            refused = error
    if not succeeded:
        raise refused
    return " and ".join(succeeded)


def read_file(path: str) -> str:
    with open(path, "rb") as file:
        return f"read {file.read(20)!r}"


def write_file(folder: str) -> str:
    path = f"{folder}/written-by-attacker"
    with open(path, "w") as file:
        file.write("x")
    os.unlink(path)
    return f"wrote into {folder}"


def hold(to: Targets, make: Callable[[str], int]) -> str:
    """Fills files in memory, which `make` opens by a name."""
    count = to["bytes"] // PART_BYTES + 1
    block = os.urandom(MIB)
    for number in range(count):
        file = make(f"hidden-{os.getpid()}-{number}")
        for _ in range(PART_BYTES // MIB):
            os.write(file, block)
    return f"held {count * PART_BYTES // MIB} MiB"


ATTACKS: dict[str, tuple[str, Callable[[Targets], str]]] = {
    function.__name__.replace("_", "-"): (guarantee, function)
    for guarantee, functions in {
        "peers": (
            *(forge, freeze, kill, trace, limit, read_memory),
            *(abstract_socket, look_around, command_line, signal_referee),
        ),
        "files": (read_source, read_replay, write_rival, write_own, write_shared),
        "network": (network,),
        "memory": (memory,),
        "hidden": (memfd, shared_memory, segments),
        "privileges": (priority, lease, user_namespace, other_sockets),
        "kill": (daemon,),
    }.items()
    for function in functions
}
"""By name, the guarantee that an attack tries to break, and its function."""


def attack(name: str, to: Any) -> dict[str, str]:
    """Tries one attack and returns its result."""
    try:
        return {"reached": ATTACKS[name][1](to)}
    except Refused as refused:
        return {"refused": str(refused)}
    except (OSError, MemoryError) as error:
        return {"refused": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(attack(sys.argv[1], json.loads(sys.argv[2]))) + "\n")
