"""Starts bots through `supervisor.py`."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec import Struct

from referee.harness.common.errors import RunError
from referee.harness.isolation import portable
from referee.harness.isolation.layers.cgroups import Group, GroupLimits
from referee.harness.isolation.plan import NO_SANDBOX, Sandbox
from referee.harness.isolation.removal import remove
from referee.harness.isolation.self_protection import (
    TOO_MANY,
    end_strays,
    guarded,
    known_children,
    new_mark,
    no_file_size,
    no_room,
    wait_for_adopted,
)
from referee.harness.isolation.supervisor import PORTABLE, QUIT, Request
from referee.harness.isolation.supervisor_link import SupervisorLink
from referee.harness.isolation.supervisor_messages import NO_RLIMITS, make_request, send_request

SUPERVISOR = Path(__file__).with_name("supervisor.py")
SPAWNER_S = 2.0
"""Time that a spawner has to react to a request before another one replaces it."""
FINISH_S = 2.0
"""Time that a spawner has to exit."""
VARIABLES = re.compile("PATH|HOME|TMPDIR|LANG|LC_.*|TZ|XDG_.*|PYTHON.*|LD_LIBRARY_PATH|REFEREE_.*|COVERAGE_.*")
"""Environment variables of the spawner and of supervisors, which bots may be able to read: no keys."""
MAX_IDLE = 8
"""Most idle supervisors, and most control groups, that are kept for the next bots."""


class Ends(Struct):
    """Our ends of a bot that is being started, which the object for its process takes over."""

    link: SupervisorLink
    stdin: int
    stdout: int
    stderr: int
    """The pipes, all non-blocking."""
    layers: Mapping[str, str]
    """The layer of each guarantee for this bot."""
    group: Group | None
    keep_group: Callable[[Group], None]
    """Takes over the control group when nothing in it is left."""


class Started(Protocol):
    """What `Spawner.start` needs of the object for a process."""

    async def started(self, patience_s: float) -> bool:
        """Waits for the start; False = no supervisor has answered. RunError if the program cannot be started."""

    async def end(self) -> None:
        """Ends a bot, also one whose start has failed or was cancelled."""

    def lost(self) -> None:
        """Gives everything back: no supervisor has taken the request."""


P = TypeVar("P", bound=Started)


class IdleSupervisor:
    """A supervisor without a bot."""

    def __init__(self, rlimits: Mapping[str, int], control: socket.socket, pid: int) -> None:
        self.rlimits, self.control = rlimits, control
        self._pidfd = -1
        with suppress(OSError):
            self._pidfd = -1 if PORTABLE else os.pidfd_open(pid)

    def release(self) -> None:
        """Leaves the supervisor to its next bot. May be called twice."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def end(self) -> None:
        """Ends the supervisor, also one that a bot has stopped."""
        self.control.close()
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self.release()


class Spawner:
    """Starts bots. One serves a whole run of matches. `open_spawner` makes it.

    Its process has the account of the bots, which may stop or kill it: then another replaces it.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._idle: list[IdleSupervisor] = []
        self._groups: deque[Group] = deque()  # of bots that have ended, for the next ones
        self._was_killed = False  # so that we have adopted the processes of its bots
        self._start_process()

    async def start(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        make: Callable[[Ends], P],
        rlimits: Mapping[str, int] = NO_RLIMITS,
        sandbox: Sandbox = NO_SANDBOX,
    ) -> P:
        """Starts a program on pipes that no other process holds. RunError if it cannot be started.

        `make` makes the object for the process. `rlimits`: the kernel's limits for each of its processes, by the ends
        of their names: `{"NOFILE": 1024}`. The end of the process removes the control group of the sandbox, and so does
        a failed start.
        """
        try:
            request = make_request(argv, cwd, env, sandbox, rlimits, reusable=True)
            return await self._start_by_idle(request, sandbox, make) or await self._start(request, sandbox, make)
        except BaseException:
            sandbox.remove()
            raise

    def kept_group(self, limits: GroupLimits) -> Group | None:
        """Returns the control group of a bot with these limits that has ended; None if no group is good for another.

        The group that has waited longest comes first, since the kernel frees memory with delay.
        """
        while group := next((group for group in self._groups if group.limits == limits), None):
            self._groups.remove(group)
            if group.renew():
                return group
            group.remove()
        return None

    def _keep_group(self, group: Group) -> None:
        self._groups.append(group)
        if len(self._groups) > MAX_IDLE:
            self._groups.popleft().remove()

    def remove_groups(self) -> None:
        """Removes the control groups of bots that have ended."""
        while self._groups:
            self._groups.popleft().remove()

    async def _start(self, request: Request, sandbox: Sandbox, make: Callable[[Ends], P]) -> P:
        reason, tried = "no answer", None
        for _ in range(2):
            if tried is self._process:  # otherwise the start of another bot has already replaced it
                self._replace()
            tried = self._process
            try:
                process = self._send(request, sandbox, make)
            except OSError as error:
                if error.errno in TOO_MANY:
                    raise no_room() from error
                if error.errno == errno.EFBIG:
                    raise no_file_size() from error
                reason = str(error)
                continue
            if await self._has_started(process):
                return process
        raise RunError(f"the supervisor cannot be reached: {reason}")

    async def _start_by_idle(self, request: Request, sandbox: Sandbox, make: Callable[[Ends], P]) -> P | None:
        """Starts a program by an idle supervisor, which saves a third of a start. None if there is none."""
        if self._process.poll() is not None:
            self._end_idle()
        rlimits = request["rlimits"]
        while idle := next((idle for idle in self._idle if idle.rlimits == rlimits), None):
            self._idle.remove(idle)
            try:
                process = self._send(request, sandbox, make, idle.control)
            except OSError:  # a bot has killed it, or too many descriptors are open: the spawner reports that
                idle.end()
                continue
            try:
                if await self._has_started(process):
                    return process
                idle.end()
            finally:
                idle.release()
            self._end_idle()  # a bot that killed or stopped one may have done so to all: do not try each of them
        return None

    async def _has_started(self, process: Started) -> bool:
        """Returns whether a supervisor has taken the request. RunError if the program cannot be started."""
        try:
            if await process.started(SPAWNER_S):
                return True
        except BaseException:
            await process.end()
            raise
        process.lost()
        return False

    def _end_idle(self) -> None:
        for idle in self._idle:
            idle.end()
        self._idle = []

    def close(self) -> None:
        """Ends the spawner and everything that it has started."""
        self._end_idle()
        self.remove_groups()
        end_spawner(self._process, self._requests, self._mark)
        self.end_strays()

    def end_strays(self) -> None:
        """Ends the processes of bots that have killed the spawner, and waits for what else we have adopted."""
        self._was_killed |= self._process.poll() not in (None, 0)
        if self._was_killed:
            self._end_idle()
            end_strays()
        wait_for_adopted()

    def _replace(self) -> None:
        """Starts another spawner. Kills the old one, since its orderly end would end the bots that play."""
        self._process.kill()
        self._process.wait()
        known_children.discard(self._process.pid)
        self._was_killed = True
        self._end_idle()
        self._requests.close()
        self._start_process()

    def _start_process(self) -> None:
        self._process, self._requests, self._mark = start_spawner(self._folder)

    def _send(
        self, request: Request, sandbox: Sandbox, make: Callable[[Ends], P], idle: socket.socket | None = None
    ) -> P:
        """Sends a request to the spawner, or to an idle supervisor by its control socket."""
        with ExitStack() as theirs:
            pipes = [os.pipe() for _ in range(3)]
            descriptors = [pipes[0][0], pipes[1][1], pipes[2][1]]
            for descriptor in descriptors:
                theirs.callback(os.close, descriptor)
            ours = pipes[0][1], pipes[1][0], pipes[2][0]
            for descriptor in ours:
                os.set_blocking(descriptor, False)
            control = idle
            if control is None:
                control, other = socket.socketpair()
                descriptors.append(theirs.enter_context(other).fileno())
            control.setblocking(False)

            def on_idle(control: socket.socket) -> None:
                self._idle.insert(0, IdleSupervisor(request["rlimits"], control, link.pid))
                for oldest in self._idle[MAX_IDLE:]:
                    oldest.end()
                del self._idle[MAX_IDLE:]

            link = SupervisorLink(control, on_idle)
            process = make(Ends(link, *ours, sandbox.layers, sandbox.group, self._keep_group))
            try:
                send_request(idle or self._requests, request, descriptors)
            except OSError:
                process.lost()
                raise
            return process


def start_spawner(folder: Path | None) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """Starts a spawner. Returns its process, our end of its socket, and its mark."""
    mark = new_mark()
    requests, theirs = socket.socketpair()
    with theirs:
        program = ["-m", portable.__name__] if PORTABLE else ["-I", "-S", str(SUPERVISOR)]
        command = [sys.executable, *program, str(theirs.fileno()), str(mark)]
        # Its own session: we handle Ctrl-C. No bot can reach our standard streams.
        process = subprocess.Popen(
            command if folder is None else [*command, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if VARIABLES.fullmatch(name)},
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    known_children.add(process.pid)
    return process, requests, mark


def end_spawner(process: subprocess.Popen[bytes], requests: socket.socket, mark: int) -> None:
    """Ends a spawner in good order, or kills it after `FINISH_S`."""
    requests.setblocking(False)
    with suppress(OSError):  # a bot has killed it, or stopped it long ago
        requests.send(QUIT)
    requests.close()
    process.send_signal(signal.SIGCONT)  # a bot may have stopped it
    try:
        process.wait(timeout=FINISH_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    known_children.discard(process.pid)
    if PORTABLE and process.returncode != 0:
        portable.end_marked(str(mark))


@asynccontextmanager
async def open_spawner(folder: Path | None = None) -> AsyncIterator[Spawner]:
    """Opens a spawner for the block, whose end is the end of everything that it has started.

    `folder`, with the scratch folders of the bots, is removed too, also if the referee is killed.
    """
    with guarded():
        spawner = Spawner(folder)
        try:
            yield spawner
        finally:
            spawner.close()
            if folder is not None:
                remove(folder)
