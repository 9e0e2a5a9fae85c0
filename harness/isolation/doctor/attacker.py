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
from collections.abc import Callable
from typing import Any, TypedDict

MIB = 1 << 20
SYSCALLS = {"x86_64": {"process_vm_readv": 310, "memfd": 319}, "aarch64": {"process_vm_readv": 270, "memfd": 279}}
NEW_USER = 0x10000000
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
IPC_PRIVATE, IPC_RMID, IPC_CREAT = 0, 0, 0o1000


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
    """forges an answer of the rival, through /proc/PID/fd/1"""
    output = os.open(f"/proc/{rival(to)}/fd/1", os.O_WRONLY)
    os.write(output, b"forged\n")
    return "an answer was written into the rival's output"


def freeze(to: Targets) -> str:
    """stops the rival, so that it loses on time"""
    os.kill(rival(to), 19)
    return "the rival was stopped"


def end(to: Targets) -> str:
    """kills the rival"""
    os.kill(rival(to), 9)
    return "the rival was killed"


def trace(to: Targets) -> str:
    """traces the rival like a debugger"""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(PTRACE_ATTACH, pid := rival(to), None, None) != 0:
        raise Refused(os.strerror(ctypes.get_errno()))
    os.waitpid(pid, 0)
    libc.ptrace(PTRACE_DETACH, pid, None, None)
    return "the rival was traced"


def limit(to: Targets) -> str:
    """lowers the rival's limits, priority or processors"""
    pid, succeeded, refused = to["victim"], [], ""
    for name, change in (
        ("limits", lambda: resource.prlimit(pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE))),
        ("priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))),
        ("processors", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid))),
    ):
        try:
            change()  # to the values that they have: it does no harm
            succeeded.append(name)
        except OSError as error:
            refused = str(error)
    if not succeeded:
        raise Refused(refused)
    return f"the rival's {' and '.join(succeeded)} could be set"


def read_memory(to: Targets) -> str:
    """reads the rival's memory, through /proc/PID/mem and process_vm_readv"""
    pid = rival(to)
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            memory.seek(to["secret"])
            return f"read {memory.read(6)!r} from the rival's memory"
    except OSError as error:
        refused = error
    text = ctypes.create_string_buffer(6)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(text), 6)
    remote = (ctypes.c_size_t * 2)(to["secret"], 6)
    number = SYSCALLS[os.uname().machine]["process_vm_readv"]
    if ctypes.CDLL(None).syscall(ctypes.c_long(number), pid, local, 1, remote, 1, 0) > 0:
        return f"read {text.raw!r} from the rival's memory"
    raise Refused(str(refused))


def abstract_socket(to: Targets) -> str:
    """talks to another bot over an abstract socket"""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"\0{to['mark']}-rival")
        return f"received {line.recv(5)!r}"


def command_line(to: Targets) -> str:
    """reads the referee's command line"""
    with open(f"/proc/{to['referee']}/cmdline", "rb") as words:
        if not (read := words.read()):
            raise Refused("empty")
        return f"read {read[:40]!r}"


def signal_referee(to: Targets) -> str:
    """signals the referee (with signal 0, which does nothing)"""
    os.kill(to["referee"], 0)
    return "a signal reached the referee"


def look_around(to: Targets) -> str:
    """lists the processes of others"""
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


def read_source(to: Targets) -> str:
    """reads the rival's program"""
    with open(to["source"], "rb") as program:
        return f"read {program.read(20)!r}"


def read_replay(to: Targets) -> str:
    """reads the replay of its own match, and so all luck to come"""
    linked = f"{os.environ['HOME']}/linked"
    name = os.path.relpath(to["replay"], to["own_folder"])
    refused = ""
    for path in (to["replay"], f"/proc/self/cwd/{name}", linked):
        try:
            if path == linked:
                os.link(to["replay"], linked)
            with open(path, "rb") as replay:
                return f"read {replay.read(20)!r}"
        except OSError as error:
            refused = str(error)
    raise Refused(refused)


def write_rival(to: Targets) -> str:
    """writes into the rival's folder"""
    return write_file(to["rivals_folder"])


def write_own(to: Targets) -> str:
    """writes into its own folder, for its next match or its author"""
    return write_file(to["own_folder"])


def write_shared(to: Targets) -> str:
    """leaves a file in a folder that every account may write to"""
    path = f"{to['shared_folder']}/left-behind"
    with open(path, "w") as left:
        left.write("x")
    return f"wrote {path}"


def network(to: Targets) -> str:
    """connects to a port and sends a datagram"""
    try:
        with socket.create_connection(("127.0.0.1", to["port"]), timeout=1):
            return "a connection was made"
    except OSError as error:
        refused = str(error)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:  # the other side notices whether it arrives
        datagrams.sendto(b"x", ("127.0.0.1", to["port"]))
    raise Refused(refused)


def memory(to: Targets) -> str:
    """exceeds the memory limit"""
    held = []
    for _ in range(to["bytes"] // MIB):
        held.append(bytes(os.urandom(4096)) * (MIB // 4096))
        time.sleep(0)
    return f"held {len(held)} MiB"


def memfd(to: Targets) -> str:
    """exceeds the memory limit with files without a name, which no process is charged for"""
    for _ in range(to["bytes"] // (16 * MIB)):  # below the limit for the size of a file
        fill(os.memfd_create("hidden"), 16 * MIB)
    return f"held {to['bytes'] // MIB} MiB"


def shared_memory(to: Targets) -> str:
    """exceeds the memory limit with files in memory"""
    held = 0
    for number in range(to["bytes"] // (16 * MIB) + 1):
        file = os.open(f"/dev/shm/hidden-{os.getpid()}-{number}", os.O_RDWR | os.O_CREAT)
        os.unlink(f"/dev/shm/hidden-{os.getpid()}-{number}")
        fill(file, 16 * MIB)
        held += 16
    return f"held {held} MiB"


def segments(to: Targets) -> str:
    """exceeds the memory limit with segments of System V, which no process needs to attach"""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    held: list[int] = []
    try:
        for _ in range(to["bytes"] // (16 * MIB)):
            held.append(libc.shmget(IPC_PRIVATE, ctypes.c_size_t(16 * MIB), IPC_CREAT | 0o600))
            place = libc.shmat(held[-1], None, 0)
            if held[-1] < 0 or place in (None, ctypes.c_void_p(-1).value):
                raise OSError(ctypes.get_errno(), "no segment")
            ctypes.memset(place, 1, 16 * MIB)
            libc.shmdt(ctypes.c_void_p(place))
    finally:
        for segment in held:
            libc.shmctl(segment, IPC_RMID, None)
    return f"held {to['bytes'] // MIB} MiB"


def priority(to: Targets) -> str:
    """raises its own priority"""
    succeeded = []
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        succeeded.append("SCHED_FIFO")
    except OSError as error:
        refused = str(error)
    try:
        os.nice(-10)
        succeeded.append("nice -10")
    except OSError as error:
        refused = str(error)
    if not succeeded:
        raise Refused(refused)
    return " and ".join(succeeded)


def lease(to: Targets) -> str:
    """takes a lease on a file, which makes everybody who opens it wait"""
    refused = "there is no file"
    for name in os.listdir(to["own_folder"]):
        file = os.open(f"{to['own_folder']}/{name}", os.O_RDONLY)
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return f"{name} was leased"
        except OSError as error:
            refused = str(error)
        finally:
            os.close(file)
    raise Refused(refused)


def user_namespace(to: Targets) -> str:
    """becomes root in namespaces of its own, where the kernel has most of its bugs"""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER) != 0:
        raise Refused(os.strerror(ctypes.get_errno()))
    return "a user namespace was made"


def daemon(to: Targets) -> str:
    """leaves a daemon behind"""
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


def write_file(folder: str) -> str:
    path = f"{folder}/written-by-attacker"
    with open(path, "w") as file:
        file.write("x")
    os.unlink(path)
    return f"wrote into {folder}"


def fill(file: int, size: int) -> None:
    block = os.urandom(MIB)
    for _ in range(size // MIB):
        os.write(file, block)


ATTACKS: dict[str, tuple[str, Callable[[Targets], str]]] = {
    "forge": ("peers", forge),
    "freeze": ("peers", freeze),
    "kill": ("peers", end),
    "trace": ("peers", trace),
    "limit": ("peers", limit),
    "read-memory": ("peers", read_memory),
    "abstract-socket": ("peers", abstract_socket),
    "look-around": ("peers", look_around),
    "command-line": ("peers", command_line),
    "signal-referee": ("peers", signal_referee),
    "read-source": ("files", read_source),
    "read-replay": ("files", read_replay),
    "write-rival": ("files", write_rival),
    "write-own": ("files", write_own),
    "write-shared": ("files", write_shared),
    "network": ("network", network),
    "memory": ("memory", memory),
    "memfd": ("hidden", memfd),
    "shared-memory": ("hidden", shared_memory),
    "segments": ("hidden", segments),
    "priority": ("privileges", priority),
    "lease": ("privileges", lease),
    "user-namespace": ("privileges", user_namespace),
    "daemon": ("kill", daemon),
}
"""By name, the guarantee that an attack tries to break, and its function."""


def attack(name: str, to: Any) -> dict[str, str]:
    """Tries one attack and returns its result."""
    try:
        return {"reached": ATTACKS[name][1](to)}
    except (OSError, Refused, MemoryError) as error:
        return {"refused": f"{type(error).__name__}: {error}" if not isinstance(error, Refused) else str(error)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(attack(sys.argv[1], json.loads(sys.argv[2]))) + "\n")
