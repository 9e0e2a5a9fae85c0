"""The portable sandbox: supervisors by psutil and POSIX alone, where there is no Linux (or `REFEREE_WITHOUT=linux`).

Run as `python -m referee.harness.isolation.portable FD MARK [FOLDER]`, it is a spawner with the requests and messages
of `supervisor.py`. No kernel lets it adopt orphans. So each supervisor remembers every process that it has seen below
itself, and in the end searches all processes of the machine for those, for members of their sessions, and for the
variable `REFEREE_MARK` in their environments. A process that hides from all three is not found.
"""

import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from itertools import count

import psutil

from referee.harness.isolation.removal import remove
from referee.harness.isolation.supervisor import (
    DEFAULT_SIGNALS,
    FAREWELL,
    LaunchedProgram,
    Request,
    kill,
    reap,
    receive,
    run_program,
    set_rlimits,
    stop_all,
    wakeup_pipe,
)

MARK = "REFEREE_MARK"
END_S = 1.0
"""Time that a supervisor has to end its bot when the referee is gone."""
MAX_PASSES = 400
"""Most searches for processes that are left."""


class BotProcesses:
    """The processes of a bot, as far as they were ever seen."""

    def __init__(self, mark: str, children: bool) -> None:
        """`mark`: the bot's mark, or how it begins. `children`: our children belong to the bot too."""
        self.mark = mark
        self.roots = [os.getpid()] if children else []
        self.processes: dict[int, psutil.Process] = {}
        self.sessions: set[int] = set()
        self._own_session = os.getsid(0)
        self._unmarked: set[tuple[int, float]] = set()

    def look(self) -> None:
        """Remembers the processes below ours and below those that are known."""
        children: dict[int, list[psutil.Process]] = {}
        for process in psutil.process_iter():
            try:
                children.setdefault(process.ppid(), []).append(process)
            except psutil.Error:
                continue
        self.processes = {pid: process for pid, process in self.processes.items() if process.is_running()}
        parents = [*self.roots, *self.processes]
        while parents:
            for child in children.pop(parents.pop(), ()):
                self._add(child)
                parents.append(child.pid)

    def living(self) -> list[int]:
        """Searches all processes and returns those of the bot that live."""
        self.look()
        for process in psutil.process_iter():
            if process.pid not in self.processes and self._belongs(process):
                self._add(process)
        return [pid for pid, process in self.processes.items() if _lives(process)]

    def _add(self, process: psutil.Process) -> None:
        self.processes[process.pid] = process
        try:
            session = os.getsid(process.pid)
        except OSError:
            return
        if session != self._own_session:
            self.sessions.add(session)

    def _belongs(self, process: psutil.Process) -> bool:
        if process.pid == os.getpid():
            return False
        try:
            if os.getsid(process.pid) in self.sessions:
                return True
            identity = process.pid, process.create_time()
            if identity not in self._unmarked:
                if f"{process.environ().get(MARK, '')}-".startswith(f"{self.mark}-"):
                    return True
                self._unmarked.add(identity)  # reading is expensive, and a process never changes its mark
            return False
        except (OSError, psutil.Error):
            return False


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def end_all(bot: BotProcesses) -> int:
    """Kills all processes of a bot. Returns the highest peak of memory, in bytes, among our children.

    A spawner's only children are supervisors, which it reaps elsewhere.
    """
    peak_bytes = 0
    for _ in range(MAX_PASSES):
        stopped = stop_all(bot.living)
        for pid in stopped:
            kill(pid, signal.SIGKILL)
        if bot.roots:
            peak_bytes = max([peak_bytes, *(child_bytes for _, _, child_bytes in reap())])
        if not stopped:
            break
        time.sleep(0.0005)
    return peak_bytes


def end_marked(mark: str) -> None:
    """Kills the processes of bots that have killed their supervisors and the spawner with this mark."""
    end_all(BotProcesses(mark, children=False))


def serve(requests: socket.socket, mark: str, folder: str | None = None) -> None:
    """Runs the spawner until the referee closes its end. The marks of all programs begin with `mark`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in DEFAULT_SIGNALS - {signal.SIGPIPE, signal.SIGXFSZ}:  # we ignore these two, and `Popen` resets them
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    wakeup = wakeup_pipe()
    numbers = count()
    supervisors: dict[int, str] = {}  # by pid, the mark of the bot
    while True:
        ready, _, _ = select.select([requests.fileno(), wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 4096)
            for pid, _, _ in reap():
                if bot_mark := supervisors.pop(pid, ""):
                    end_marked(bot_mark)  # the supervisor may have been killed
        if requests.fileno() not in ready:
            continue
        request, descriptors = receive(requests)
        if request is None or request == FAREWELL:
            _end(supervisors)
            end_marked(mark)
            if request is None and folder is not None:
                remove(folder)
            return
        request["env"][MARK] = bot_mark = f"{mark}-{next(numbers)}"
        request["reusable"] = False
        pid = os.fork()
        if pid == 0:
            requests.close()
            try:
                supervise(request, descriptors, bot_mark)
            finally:
                os._exit(1)  # the bot took away our descriptors or memory: the spawner ends its processes
        for descriptor in descriptors:
            os.close(descriptor)
        supervisors[pid] = bot_mark


def _end(supervisors: dict[int, str]) -> None:
    """Waits for the supervisors, which end their bots once the referee is gone, and kills those that do not exit."""
    deadline = time.monotonic() + END_S
    while supervisors and time.monotonic() < deadline:
        for ended, _, _ in reap():
            supervisors.pop(ended, None)
        time.sleep(0.001)
    for pid in supervisors:
        kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def supervise(request: Request, descriptors: list[int], mark: str) -> None:
    """Runs one bot to its end. Never returns."""
    bot = BotProcesses(mark, children=True)

    def start(request: Request, streams: list[int]) -> LaunchedProgram:
        set_rlimits(request["rlimits"])
        pid = subprocess.Popen(
            request["argv"],
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            cwd=request["cwd"],
            env=request["env"],
            start_new_session=True,
        ).pid
        bot.sessions.add(pid)
        return LaunchedProgram(pid, 0, None)

    control = descriptors.pop()
    run_program(request, descriptors, control, wakeup_pipe(), start, lambda: end_all(bot), bot.look)
    os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
