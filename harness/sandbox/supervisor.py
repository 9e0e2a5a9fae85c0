"""The supervisor: a small process above each bot, from whom nothing that the bot starts can run away.

Run as `python -I -S supervisor.py FD [FOLDER]` it is a *spawner*: a process of one thread that waits on the socket FD.
For every bot it is sent one message, `{"argv", "cwd", "env"}` with four descriptors: the bot's standard input, output
and error, and one end of a control socket. It forks; the child is that bot's supervisor, which starts the bot and then

- adopts whatever the bot's processes leave behind (`PR_SET_CHILD_SUBREAPER`), double-forked daemons too;
- writes to the control socket `{"supervisor": pid}`, then `{"pid"}`, or `{"error"}` if the program cannot be started,
  and `{"exit": code}` (negative: the signal) when the bot has ended by itself;
- ends everything when the control socket says so by one byte or by its end of file, which also comes when the referee
  itself is gone, however it went; then writes `{"cpu_s"}`, what the whole tree used, and exits.

A supervisor may be ended by its own bot, which has the same account. What was below it then falls to the spawner, who
ends it. When the referee's end of FD closes, the spawner ends everything and removes FOLDER, the scratch folders' own.

Standard library only, and started without site-packages, so that it is small and there at once: a fork of it costs a
tenth of a new interpreter.
"""

import ctypes
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from typing import Any

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
REQUEST_BYTES = 1 << 18


def spawner(requests: socket.socket, folder: str | None = None) -> None:
    """Serves requests until the referee closes its end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps supervisors
    prctl(PR_SET_DUMPABLE, 0)  # no bot may trace us, unless it is root
    adopt_orphans()
    supervisors: dict[int, int] = {}  # by the descriptor that tells of its end
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        for descriptor in supervisors.keys() & ready:
            del supervisors[descriptor]
            poll.unregister(descriptor)
            os.close(descriptor)
        end_all(spared=supervisors.values())
        if requests.fileno() not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 4)
        if not message:
            end_all()
            if folder is not None:
                remove(folder)
            return
        pid = os.fork()
        if pid == 0:
            for descriptor in (requests.detach(), *supervisors):
                os.close(descriptor)
            supervisor(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:  # there was no such program; or its bot has ended it, and goes on
            end_all(spared=supervisors.values())
            continue
        supervisors[descriptor] = pid
        poll.register(descriptor, select.POLLIN)


def supervisor(request: dict[str, Any], descriptors: list[int]) -> None:
    """Runs one bot to its end. Never returns."""
    control = socket.socket(fileno=descriptors.pop())
    say(control, {"supervisor": os.getpid()})
    adopt_orphans()
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    try:
        bot = start(request, descriptors)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        say(control, {"error": str(error)})
        os._exit(0)
    for descriptor in descriptors:
        os.close(descriptor)
    say(control, {"pid": bot.pid})
    try:
        watch(control, woken, bot.pid)
        end_all()
    except (OSError, MemoryError):
        os._exit(1)  # the bot took our descriptors or our memory away: the spawner ends what is left
    used = os.times()
    say(control, {"cpu_s": used.children_user + used.children_system})
    os._exit(0)


def _nothing(*_: object) -> None:
    """A signal that only has to wake us."""


def start(request: dict[str, Any], streams: list[int]) -> subprocess.Popen[bytes]:
    """The bot, in a session of its own: Ctrl-C in our terminal is not for it."""
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        request["argv"],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=request["cwd"],
        env=request["env"],
        start_new_session=True,
    )


def watch(control: socket.socket, woken: socket.socket, bot: int) -> None:
    """Returns when the bot's time is up, by the referee's word or end; reports the bot's own end meanwhile.

    `woken` can be read after each end of a child. They are reaped at once: what is dead counts as a process of the bot.
    """
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if control.fileno() in ready:
            return
        woken.recv(4096)
        for pid, status in reap():
            if pid == bot:
                say(control, {"exit": os.waitstatus_to_exitcode(status)})


def end_all(spared: Collection[int] = ()) -> None:
    """Kills and reaps every process below this one, until none is left but the `spared` and what is below them.

    Each pass first stops what it can see: a chain of processes that fork anew each millisecond would otherwise
    outrun it.
    """
    while below := descendants(os.getpid(), spared):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                kill(pid, number)
        list(reap())
        time.sleep(0.0005)


def reap() -> Iterator[tuple[int, int]]:
    """Process id and status of each child that has ended, own or adopted."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended
    except ChildProcessError:
        pass


def descendants(root: int, spared: Collection[int] = ()) -> list[int]:
    """The processes below `root`, parents first; without the `spared` and what is below them."""
    found: list[int] = []
    parents = [root]
    while parents:
        parent = parents.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as children:
                    parents += (below := [pid for pid in map(int, children.read().split()) if pid not in spared])
                    found += below
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended: its children are adopted and found by the next pass
    return found


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def adopt_orphans() -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
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


def say(control: socket.socket, message: dict[str, Any]) -> None:
    try:
        control.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        pass  # the referee is gone; what is left to do is to end everything


if __name__ == "__main__":
    spawner(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
