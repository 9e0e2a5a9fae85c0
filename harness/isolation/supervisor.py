"""The supervisor: a small process above each bot, from whom nothing that the bot starts can run away.

Run as `python -I -S supervisor.py FD MARK [FOLDER]` it is a *spawner*: a process of one thread that waits on the socket
FD. For every program it is sent one message, a `Request` with four descriptors: the program's standard input, output
and error, and one end of a control socket. It forks; the child is that program's supervisor, which starts it and then

- adopts whatever the program's processes leave behind (`PR_SET_CHILD_SUBREAPER`), double-forked daemons too;
- writes to the control socket `{"supervisor": pid}`, then `{"pid", "root"}`, or `{"error"}` if the program cannot be
  started, and `{"exit": code, "peak_bytes", "room_bytes"}` (negative: the signal) when the program has ended by itself;
- ends everything when the control socket says so by one byte or by its end of file, which also comes when the referee
  itself is gone, however it went; then writes `{"cpu_s", "peak_bytes"}`, what the whole tree used, and exits;
- or, if the request says `again` and nothing is left below it, adds `"rests"` to that and waits for another request on
  the control socket itself, with the three descriptors of a program. Its end of file is the end, here too.

A bot can end its own supervisor, which has the same account: the spawner then adopts and ends its processes. If a bot
ends the spawner too, the referee adopts them and ends those with the MARK, a limit that passes to every child.

When the referee's end of FD closes, the spawner ends everything and removes FOLDER, which holds the scratch folders. A
referee that ends in good order sends `FAREWELL` first. After one that was killed, control groups are removed too.

Standard library only, and started without site-packages: a fork of it costs a tenth of a new interpreter. Neither
`subprocess` nor `threading` is imported, since `threading` makes every fork copy a hundred pages more.
"""

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, TypedDict

PR_SET_DUMPABLE = 4
PR_GET_TIMERSLACK = 30
PR_SET_CHILD_SUBREAPER = 36
REQUEST_BYTES = 1 << 18
RLIMITS = sorted({number for name, number in vars(resource).items() if name.startswith("RLIMIT_")})
CALLS = {"x86_64": (315, 252, 250), "aarch64": (275, 31, 219)} if sys.maxsize > 1 << 32 else {}
"""`sched_getattr`, `ioprio_get` and `keyctl`, for which the C library has no functions."""
RLIMIT_LOCKS = 10  # of Linux, which does not enforce it since 2.4.25
SCHED_ATTR_BYTES = 64
KEYCTL_GET_KEYRING_ID, SESSION_KEYRING = 0, -3
IOPRIO_WHO_PROCESS = 1
KILL = b"k"
"""The byte that ends a bot. Several may come for one, and the last of them ahead of the next request."""
LENGTH = struct.Struct(">I")
"""Of a request, in front of it: it begins with a zero byte, and never with `KILL`."""
CREDENTIALS = struct.Struct("iII")
"""A sender's pid, uid and gid, as the kernel attaches them."""
STATUS = "@status"
"""In a launcher's command line: the descriptor that it speaks to us by."""
REMOVE_S = 0.5
"""How long a control group may be busy with processes that have ended."""
STOPPING_PASSES = 200
"""So often at most we look for processes that are not stopped yet, before we kill those that are."""
FLOOR = sys.platform != "linux" or "linux" in os.environ.get("REFEREE_WITHOUT", "").split(",")
"""Nothing of Linux is here, or to be used: `portable.py` keeps bots together."""
LIBC = ctypes.CDLL(None, use_errno=True)
IGNORED_BY_PYTHON = [getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)]
"""Signals that are as usual again for a program that we start."""
CHILDREN_FILES = not FLOOR and os.path.exists(f"/proc/self/task/{os.getpid()}/children")
"""Whether this kernel lists the children of each thread. Without it all processes of the machine are looked at."""


class Request(TypedDict):
    """What a supervisor is asked to run."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    rlimits: dict[str, int]
    """The kernel's limits for every process of the program, by the ends of their names: `{"NOFILE": 1024}`."""
    launcher: list[str]
    """A program, with its arguments, that becomes the bot: it is given `argv` as further arguments. [] = none."""
    groups: list[str]
    """The folders of control groups that the launcher makes the bot a member of: `…/NAME-1`. Other bots of the referee
    are in groups that have another number."""
    again: bool
    """Whether the supervisor may be used for another program of the same `rlimits` later."""


FAREWELL = Request(argv=[], cwd="", env={}, rlimits={}, launcher=[], groups=[], again=False)
"""The last request of a referee that ends in good order. It starts nothing."""


class Started(NamedTuple):
    """A program that runs."""

    pid: int
    first: int  # the first process of its own process namespace, the ancestor of all others; 0 = it has none
    status: socket.socket | None  # reports its end, if there is a `first`


class Ended(NamedTuple):
    """A bot's end, as the first process of its namespace tells it."""

    code: int
    peak_bytes: int
    room_bytes: int
    """What could still be written to its scratch folder; -1 = nobody knows."""


class Reaped(NamedTuple):
    """A child that has ended."""

    pid: int
    code: int
    """As a shell's for an exit, negative for a signal."""
    peak_bytes: int
    """The most resident memory that it, or one of the children that it waited for, ever held; 0 = too little to tell:
    up to the `exec` a child counts as large as this process."""


def spawner(requests: socket.socket, mark: str, folder: str | None = None) -> None:
    """Serves requests until the referee closes its end."""
    try:
        resource.setrlimit(RLIMIT_LOCKS, (int(mark), int(mark)))
    except (OSError, ValueError):
        pass  # no such limit here: the referee recognises nothing that a killed spawner leaves
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps supervisors
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # from a bot it comes: Python would print a traceback
    prctl(PR_SET_DUMPABLE, 0)  # no bot may trace us, unless it is root
    adopt_orphans()
    supervisors: dict[int, int] = {}  # by the descriptor that tells of its end
    groups: set[str] = set()
    passed_on = inherited()
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        ended = supervisors.keys() & ready
        for descriptor in ended:
            del supervisors[descriptor]
            poll.unregister(descriptor)
            os.close(descriptor)
        if ended:  # processes below such a supervisor have become our children
            end_all(spared=supervisors.values())
        if requests.fileno() not in ready:
            continue
        request, descriptors = receive(requests)
        if request is None or request == FAREWELL:
            end_all()
            if folder is not None:
                remove(folder)
            if request is None:  # the referee was killed; otherwise it removes them itself
                remove_groups(groups)
            return
        groups.update(group.rpartition("-")[0] for group in request["groups"])
        pid = os.fork()
        if pid == 0:
            for descriptor in (requests.detach(), *supervisors):
                os.close(descriptor)
            if inherited() != passed_on:
                os._exit(0)  # the referee notices, and starts another spawner
            supervisor(request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:  # no such program; or the bot has killed its supervisor and lives on
            end_all(spared=supervisors.values())
            continue
        supervisors[descriptor] = pid
        poll.register(descriptor, select.POLLIN)


def receive(requests: socket.socket) -> tuple[Request | None, list[int]]:
    """The next request with its descriptors; None when the referee is gone.

    Its length comes first: not every system keeps messages apart.
    """
    data = b""
    descriptors: list[int] = []
    try:
        while not data:
            data, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 4)
            if not data:
                return None, []
            data = data.lstrip(KILL)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        length = LENGTH.unpack_from(data)[0]
        while len(data) < LENGTH.size + length:
            more = requests.recv(REQUEST_BYTES)
            if not more:
                return None, descriptors
            data += more
    except ConnectionResetError:  # it has ended without reading our last message
        return None, descriptors
    request: Request = json.loads(data[LENGTH.size :])
    return request, descriptors


def supervisor(request: Request, descriptors: list[int]) -> None:
    """Runs one bot to its end, and then perhaps others. Never returns."""
    control = socket.socket(fileno=descriptors.pop())
    adopt_orphans()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # it only has to wake us
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    following: Request | None = request
    before: tuple[object, ...] | None = None
    while following is not None:
        try:
            set_rlimits(following["rlimits"])
            now = inherited()
        except (OSError, ValueError) as error:
            if before is None:  # otherwise a bot has taken it away, and a new supervisor still can
                say(control.fileno(), {"supervisor": os.getpid()})
                say(control.fileno(), {"error": str(error)})
            break
        if before not in (None, now) or not supervised(control.fileno(), woken, following, descriptors):
            break
        before = now
        following, descriptors = receive(control)
    os._exit(0)


def inherited() -> tuple[object, ...]:
    """What a bot has from us. One of the same account can change it from outside: then no other bot has us above it."""
    found: list[object] = [resource.getrlimit(number) for number in RLIMITS]
    found += os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)
    found.append(LIBC.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))
    if (calls := CALLS.get(os.uname().machine)) is not None:
        attributes = ctypes.create_string_buffer(SCHED_ATTR_BYTES)
        LIBC.syscall(calls[0], 0, attributes, SCHED_ATTR_BYTES, 0)
        found += attributes.raw, LIBC.syscall(calls[1], IOPRIO_WHO_PROCESS, 0)
        found.append(LIBC.syscall(calls[2], KEYCTL_GET_KEYRING_ID, SESSION_KEYRING, 0))  # a child can give it another
    for name in ("cgroup", "oom_score_adj", "coredump_filter"):
        try:
            file = os.open(f"/proc/self/{name}", os.O_RDONLY)
        except FileNotFoundError:
            continue  # a kernel without it
        found.append(os.read(file, 1 << 16))
        os.close(file)
    return tuple(found)


def supervised(control: int, woken: int, request: Request, streams: list[int]) -> bool:
    """Runs a bot to its end: whether another may follow."""
    say(control, {"supervisor": os.getpid()})
    before_s = reaped_s()
    try:
        bot = start(request, streams)
    except (OSError, ValueError) as error:
        say(control, {"error": str(error)})
        return False
    for descriptor in streams:
        os.close(descriptor)
    say(control, {"pid": bot.pid, "root": bot.first or os.getpid(), "before_s": 0.0 if bot.first else before_s})
    try:
        peak_bytes = max(watch(control, woken, bot), end_all())
    except (OSError, MemoryError):
        os._exit(1)  # the bot took our descriptors or our memory away: the spawner ends what is left
    if bot.status is not None:
        bot.status.close()
    rests = request["again"] and not has_children()
    say(control, {"cpu_s": reaped_s() - before_s, "peak_bytes": peak_bytes, "rests": rests})
    return rests


def reaped_s() -> float:
    """CPU time of all that we have waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(request: Request, streams: list[int]) -> Started:
    """The bot, in a session of its own: Ctrl-C in our terminal is not for it."""
    argv, launcher = request["argv"], request["launcher"]
    if not launcher:
        return Started(spawn(argv, request, streams), 0, None)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # from now on every message carries its sender's pid
    with theirs:
        theirs.set_inheritable(True)
        status = str(theirs.fileno())
        pid = spawn([*(status if word == STATUS else word for word in launcher), *argv], request, streams)
    return launched(ours, pid)


def spawn(argv: list[str], request: Request, streams: list[int]) -> int:
    """A child with those streams, and no other descriptor of ours that `exec` closes: its process."""
    os.chdir(request["cwd"])
    pid = os.posix_spawn(
        found(argv[0], request["env"]),
        argv,
        request["env"],
        file_actions=[(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)],
        setsid=True,
        setsigdef=IGNORED_BY_PYTHON,
    )
    os.chdir("/")
    return pid


def found(program: str, env: dict[str, str]) -> str:
    """The file of a program, looked up where the child would look for it."""
    if os.sep in program:
        return program
    files = [os.path.join(folder, program) for folder in os.get_exec_path(env)]
    return next((file for file in files if os.access(file, os.X_OK) and not os.path.isdir(file)), program)


def set_rlimits(limits: dict[str, int]) -> None:
    """On ourselves, from whom a bot has them from its first instruction on: nothing that we do comes near them. By the
    ends of their names, and never above what is granted already."""
    for name, limit in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(number, (limit, limit))


def launched(status: socket.socket, child: int) -> Started:
    """Waits until a launcher has become the bot, here or as a process in a namespace. OSError if it could not."""
    pid, runs = child, False
    while True:
        message, attached, _, _ = status.recvmsg(4096, socket.CMSG_SPACE(CREDENTIALS.size))
        sender = CREDENTIALS.unpack(attached[0][2])[0] if attached else 0
        if message.startswith(b"error "):
            raise OSError(message.removeprefix(b"error ").decode("utf-8", "replace"))
        if message == b"bot":
            pid = sender
        elif message == b"runs":
            runs = True
        elif message == b"started":
            return Started(pid, sender, status)
        elif not message:
            status.close()
            if not runs:
                raise OSError("the launcher ended before the bot was started")
            return Started(pid, 0, None)


def watch(control: int, woken: int, bot: Started) -> int:
    """Returns when the referee says that the bot's time is up, or is gone; reports the bot's own end meanwhile.

    `woken` can be read after each end of a child. Children that have ended are reaped at once: until then they would
    take up room under the limit of processes. The result is the highest peak among them, in bytes.
    """
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(woken, select.POLLIN)
    if bot.status is not None:
        poll.register(bot.status, select.POLLIN)
    peak_bytes = 0
    ended = False
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if control in ready:
            return peak_bytes
        if bot.status is not None and bot.status.fileno() in ready:
            end = end_of(bot.status)
            if end is None:
                poll.unregister(bot.status)
            else:
                peak_bytes = max(peak_bytes, end.peak_bytes)
                if not ended:
                    ended = True
                    say(control, {"exit": end.code, "peak_bytes": peak_bytes, "room_bytes": end.room_bytes})
        if woken not in ready:
            continue
        os.read(woken, 4096)
        for child in reap():
            peak_bytes = max(peak_bytes, child.peak_bytes)
            if child.pid == (bot.first or bot.pid) and not ended:
                ended = True
                say(control, {"exit": child.code, "peak_bytes": peak_bytes})


def end_of(status: socket.socket) -> Ended | None:
    """What the first process of a namespace says of the bot's end; None at its own end."""
    words = status.recv(4096).split()
    if len(words) != 4:
        return None
    return Ended(os.waitstatus_to_exitcode(int(words[1])), int(words[2]) << 10, int(words[3]))


def end_all(spared: Collection[int] = ()) -> int:
    """Kills and reaps every process below this one, until none is left but the `spared` and what is below them.

    All are stopped before the first is killed, and only when a whole pass finds none that is not stopped yet: each
    that is killed earlier would make room for the others to fork into. The result is the highest peak of memory among
    them, in bytes.
    """
    peak_bytes = 0
    while has_children():
        stopped = stop_all(lambda: descendants(os.getpid(), spared))
        if not stopped:
            break
        for pid in stopped:
            kill(pid, signal.SIGKILL)
        peak_bytes = max([peak_bytes, *(ended.peak_bytes for ended in reap())])
        time.sleep(0.0005)
    return peak_bytes


def has_children() -> bool:
    """Whether this process has any, own or adopted, living or not. If not, nothing is below it: to ask so costs a
    hundredth of looking."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def stop_all(find: Callable[[], list[int]]) -> set[int]:
    """Stops every process that `find` finds, those too that are forked meanwhile: the processes."""
    stopped: set[int] = set()
    for _ in range(STOPPING_PASSES):
        running = [pid for pid in find() if pid not in stopped]
        if not running:
            break
        for pid in running:
            kill(pid, signal.SIGSTOP)
        stopped.update(running)
    return stopped


def reap() -> Iterator[Reaped]:
    """Each child that has ended, own or adopted."""
    ours_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        while True:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            peak_kib = used.ru_maxrss if used.ru_maxrss > ours_kib else 0
            yield Reaped(pid, os.waitstatus_to_exitcode(status), peak_kib << 10)
    except ChildProcessError:
        pass


def descendants(root: int, spared: Collection[int] = ()) -> list[int]:
    """The processes below `root`, parents first; without the `spared` and what is below them."""
    return [pid for below in walk(root, spared) for pid in below]


def walk(root: int, spared: Collection[int] = ()) -> Iterator[list[int]]:
    """As `descendants`, in short steps: the children of one thread at a time, or none."""
    if not CHILDREN_FILES:
        yield from _walk_parents(root, spared)
        return
    parents = [root]
    while parents:
        parent = parents.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", "rb", 0) as children:
                    below = [pid for pid in map(int, children.read().split()) if pid not in spared]
                parents += below
                yield below
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended: its children are adopted and found by the next pass


def _walk_parents(root: int, spared: Collection[int]) -> Iterator[list[int]]:
    """`walk` for a kernel that lists nobody's children: by the parent that each process of the machine names."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                # Its name comes first, in parentheses, and may hold anything; then its state and its parent.
                parent = int(stat.read().rpartition(b")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(name))
        yield []
    parents = [root]
    while parents:
        below = [pid for pid in children.get(parents.pop(), ()) if pid not in spared]
        parents += below
        yield below


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def adopt_orphans() -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def prctl(option: int, value: int) -> None:
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def remove(folder: str | os.PathLike[str]) -> None:
    """Removes a folder with everything in it; what cannot be removed is left.

    A bot may have made folders that nobody may enter, and thousands of them inside each other, longer than any path:
    so modes are set, and whatever lies in a folder inside is moved up before that is removed.
    """
    try:
        if os.path.islink(folder):
            os.unlink(folder)
            return
        top = _opened(folder)
        try:
            for name in _left_in(top):
                _remove_inside(top, name)
        finally:
            os.close(top)
        os.rmdir(folder)
    except OSError:
        pass


def remove_groups(names: Collection[str]) -> None:
    """Removes control groups of these names, whatever their numbers, whose processes have ended; they hold nothing but
    the kernel's own files."""
    for name in names:
        folder, _, start = name.rpartition("/")
        try:
            numbered = [each for each in os.listdir(folder) if each.startswith(f"{start}-")]
        except OSError:
            continue
        for each in numbered:
            remove_group(f"{folder}/{each}")


def remove_group(folder: str | os.PathLike[str]) -> None:
    """Removes a control group whose processes have ended. The kernel may take a moment to see that it is empty."""
    until = time.monotonic() + REMOVE_S
    while True:
        try:
            return os.rmdir(folder)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() >= until:
                return None
            time.sleep(0.001)


def _remove_inside(top: int, name: str) -> None:
    """Removes what is named `name` in the open folder `top`, and was no file."""
    waiting = [name]
    while waiting:
        name = waiting.pop()
        try:
            inside = _opened(name, top)
        except OSError:
            continue
        try:
            for inner in _left_in(inside):
                os.chmod(inner, 0o700, dir_fd=inside)
                moved = os.urandom(16).hex()
                os.rename(inner, moved, src_dir_fd=inside, dst_dir_fd=top)
                waiting.append(moved)
            os.rmdir(name, dir_fd=top)
        except OSError:
            continue
        finally:
            os.close(inside)


def _opened(name: str | os.PathLike[str], folder: int | None = None) -> int:
    """A folder that we may read and write from now on."""
    os.chmod(name, 0o700, dir_fd=folder)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


def _left_in(folder: int) -> list[str]:
    """Removes the files in an open folder: the names of the folders, and of what else is left."""
    left = []
    for name in os.listdir(folder):
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            left.append(name)
    return left


def say(control: int, message: dict[str, Any]) -> None:
    try:
        os.write(control, json.dumps(message).encode() + b"\n")
    except OSError:
        pass  # the referee is gone; what is left to do is to end everything


if __name__ == "__main__":
    try:
        spawner(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
    except (OSError, MemoryError):
        os._exit(1)  # a bot took our descriptors or our memory away: the referee has another take our place
