"""The portable floor: supervisors by psutil and POSIX alone, where there is no Linux (or `REFEREE_WITHOUT=linux`).

Run as `python -m referee.harness.isolation.portable FD MARK [FOLDER]` it is a spawner like that of `supervisor.py`,
which says what it is told and what it answers. No kernel brings it what bots leave behind. So each supervisor remembers
what it has ever seen below it, and at the end looks at all processes of the machine: for those, for what is in a
session of theirs, and for what still has the variable `REFEREE_MARK` that the program was given. What hides from all
three is not found.
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

from referee.harness.isolation.supervisor import (
    FAREWELL,
    Request,
    kill,
    reap,
    receive,
    remove,
    say,
    set_rlimits,
    stop_all,
)

MARK = "REFEREE_MARK"
LOOK_EVERY_S = 0.05
"""How often a supervisor looks at what is below it. That takes some milliseconds: it reads the whole process table."""
END_S = 1.0
"""How long a supervisor may take to end a bot when the referee is gone."""
PASSES = 400
"""So often at most it looks for what is left."""


class Seen:
    """What belongs to a bot, as far as it was ever seen."""

    def __init__(self, mark: str, below_us: bool) -> None:
        self.mark = mark
        """What it was marked with, or the beginning of that."""
        self.roots = [os.getpid()] if below_us else []
        self.processes: dict[int, psutil.Process] = {}
        self.sessions: set[int] = set()
        self._ours = os.getsid(0)
        self._others: set[tuple[int, float]] = set()

    def look(self) -> None:
        """Remembers what is below us now, and below what was seen before."""
        children: dict[int, list[psutil.Process]] = {}
        for process in psutil.process_iter():
            try:
                children.setdefault(process.ppid(), []).append(process)
            except psutil.Error:
                continue
        self.processes = {pid: process for pid, process in self.processes.items() if process.is_running()}
        waiting = [*self.roots, *self.processes]
        while waiting:
            for child in children.pop(waiting.pop(), ()):
                self._add(child)
                waiting.append(child.pid)

    def living(self) -> list[int]:
        """All of it that lives, wherever it has gone."""
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
        if session != self._ours:
            self.sessions.add(session)

    def _belongs(self, process: psutil.Process) -> bool:
        if process.pid == os.getpid():
            return False
        try:
            if os.getsid(process.pid) in self.sessions:
                return True
            who = process.pid, process.create_time()
            if who not in self._others:
                if f"{process.environ().get(MARK, '')}-".startswith(f"{self.mark}-"):
                    return True
                self._others.add(who)  # looking is expensive, and a process never changes its mark
            return False
        except (OSError, psutil.Error):
            return False


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def end_all(seen: Seen) -> int:
    """Kills all of it: the highest peak of memory, in bytes, among our children that have ended.

    A spawner has no children but supervisors, and it reaps those elsewhere.
    """
    peak_bytes = 0
    for _ in range(PASSES):
        stopped = stop_all(seen.living)
        for pid in stopped:
            kill(pid, signal.SIGKILL)
        if seen.roots:
            peak_bytes = max([peak_bytes, *(ended.peak_bytes for ended in reap())])
        if not stopped:
            break
        time.sleep(0.0005)
    return peak_bytes


def end_marked(run: str) -> None:
    """Kills what is left of bots that have killed their supervisors and the spawner of that mark: no child of ours."""
    end_all(Seen(run, below_us=False))


def spawner(requests: socket.socket, run: str, folder: str | None = None) -> None:
    """Serves requests until the referee closes its end. `run`: how the marks of all its programs begin."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    woken = _woken()
    numbers = count()
    supervisors: dict[int, str] = {}  # the mark of the bot of each
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            for ended in reap():
                if mark := supervisors.pop(ended.pid, ""):
                    end_all(Seen(mark, below_us=False))  # it may have been killed
        if requests not in ready:
            continue
        message, descriptors = receive(requests)
        if message is None or message == FAREWELL:
            _end(supervisors)
            end_all(Seen(run, below_us=False))
            if folder is not None:
                remove(folder)
            return
        mark = f"{run}-{next(numbers)}"
        message["env"][MARK] = mark
        pid = os.fork()
        if pid == 0:
            requests.close()
            try:
                supervisor(message, descriptors, mark)
            finally:
                os._exit(1)  # the bot took our descriptors or our memory away: the spawner ends what is left
        for descriptor in descriptors:
            os.close(descriptor)
        supervisors[pid] = mark


def _end(supervisors: dict[int, str]) -> None:
    """Waits for supervisors, who end their bots now that the referee is gone; one that does not is killed."""
    until = time.monotonic() + END_S
    while supervisors and time.monotonic() < until:
        for ended in reap():
            supervisors.pop(ended.pid, None)
        time.sleep(0.001)
    for pid in supervisors:
        kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def supervisor(request: Request, descriptors: list[int], mark: str) -> None:
    """Runs one bot to its end. Never returns."""
    control = descriptors.pop()
    say(control, {"supervisor": os.getpid()})
    woken = _woken()
    stdin, stdout, stderr = descriptors
    try:
        set_rlimits(request["rlimits"])
        bot = subprocess.Popen(
            request["argv"],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=request["cwd"],
            env=request["env"],
            start_new_session=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        say(control, {"error": str(error)})
        os._exit(0)
    for descriptor in descriptors:
        os.close(descriptor)
    say(control, {"pid": bot.pid, "root": os.getpid()})
    seen = Seen(mark, below_us=True)
    seen.sessions.add(bot.pid)
    peak_bytes = 0
    while True:
        ready, _, _ = select.select([control, woken.fileno()], [], [], LOOK_EVERY_S)
        if control in ready:
            break
        seen.look()
        if woken.fileno() in ready:
            woken.recv(4096)
            for ended in reap():
                peak_bytes = max(peak_bytes, ended.peak_bytes)
                if ended.pid == bot.pid:
                    say(control, {"exit": ended.code, "peak_bytes": peak_bytes})
    peak_bytes = max(peak_bytes, end_all(seen))
    used = os.times()
    say(control, {"cpu_s": used.children_user + used.children_system, "peak_bytes": peak_bytes})
    os._exit(0)


def _woken() -> socket.socket:
    """A socket that can be read after each end of a child."""
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)
    return woken


if __name__ == "__main__":
    spawner(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
