"""The supervisor: a small process above each bot, from whom nothing that the bot starts can run away.

Run as `python -I -S supervisor.py FD` it is a *spawner*: a process of one thread that waits on the socket FD. For every
bot it is sent one message, `{"argv", "cwd", "env"}` with four descriptors: the bot's standard input, output and error,
and one end of a control socket. It forks; the child is that bot's supervisor, which starts the bot and then

- adopts whatever the bot's processes leave behind (`PR_SET_CHILD_SUBREAPER`), double-forked daemons too;
- writes `{"pid", "supervisor"}`, or `{"error"}` if the program cannot be started, to the control socket, and
  `{"exit": code}` (negative: the signal) when the bot has ended;
- ends everything when the control socket says so by one byte or by its end of file, which also comes when the referee
  itself is gone, however it went; then writes `{"cpu_s"}`, what the whole tree used, and exits.

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
from collections.abc import Iterator
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
REQUEST_BYTES = 1 << 18


def spawner(requests: socket.socket) -> None:
    """Serves requests until the referee closes its end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps supervisors
    adopt_orphans()  # of a supervisor that was killed by its own bot
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 4)
        if not message:
            end_all()
            return
        if os.fork() == 0:
            requests.close()
            supervisor(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def supervisor(request: dict[str, Any], descriptors: list[int]) -> None:
    """Runs one bot to its end. Never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control = socket.socket(fileno=descriptors.pop())
    adopt_orphans()
    try:
        bot = start(request, descriptors)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        say(control, {"error": str(error)})
    else:
        for descriptor in descriptors:
            os.close(descriptor)
        say(control, {"pid": bot.pid, "supervisor": os.getpid()})
        watch(control, bot.pid)
        end_all()
        used = os.times()
        say(control, {"cpu_s": used.children_user + used.children_system})
    os._exit(0)


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


def watch(control: socket.socket, bot: int) -> None:
    """Returns when the bot's time is up, by the referee's word or end; reports the bot's own end meanwhile."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    ended = os.pidfd_open(bot)
    poll.register(ended, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(1000)]
        for pid, status in reap():
            if pid == bot:
                poll.unregister(ended)
                say(control, {"exit": os.waitstatus_to_exitcode(status)})
        if control.fileno() in ready:
            return


def end_all() -> None:
    """Kills and reaps every process below this one, until none is left.

    Each pass first stops what it can see: a chain of processes that fork anew each millisecond would otherwise
    outrun it.
    """
    while below := descendants(os.getpid()):
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


def descendants(root: int) -> list[int]:
    """The processes below `root`, parents first."""
    found: list[int] = []
    parents = [root]
    while parents:
        parent = parents.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as children:
                    parents += (below := [int(pid) for pid in children.read().split()])
                    found += below
        except OSError:
            continue  # it has just ended: its children are adopted and found by the next pass
    return found


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def adopt_orphans() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def say(control: socket.socket, message: dict[str, Any]) -> None:
    try:
        control.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        pass  # the referee is gone; what is left to do is to end everything


if __name__ == "__main__":
    spawner(socket.socket(fileno=int(sys.argv[1])))
