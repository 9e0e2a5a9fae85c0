"""Starts bots through `supervisor.py` and holds the referee's ends of their pipes."""

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
from itertools import count
from pathlib import Path

import psutil
import trio

from referee.harness.errors import RunError
from referee.harness.isolation import portable
from referee.harness.isolation.layers.cgroups import Group, GroupLimits
from referee.harness.isolation.plan import NO_SANDBOX, Sandbox
from referee.harness.isolation.process_tree import descendants
from referee.harness.isolation.removal import remove
from referee.harness.isolation.self_protection import (
    TOO_MANY,
    end_strays,
    guarded,
    known_children,
    new_mark,
    no_file_size,
    no_room,
)
from referee.harness.isolation.supervisor import KILL, PORTABLE, QUIT, Request, kill
from referee.harness.isolation.supervisor_messages import NO_RLIMITS, Message, decode, make_request, send_request

SUPERVISOR = Path(__file__).with_name("supervisor.py")
SUPERVISOR_S = 0.5
"""Time that a supervisor has to end a process tree before we look after it."""
MAX_WAKEUPS = 4
"""Times that a supervisor is woken up before it is killed."""
SPAWNER_S = 2.0
"""Time that a spawner has to react to a request before another one replaces it."""
FINISH_S = 2.0
"""Time that a spawner has to exit."""
VARIABLES = re.compile("PATH|HOME|TMPDIR|LANG|LC_.*|TZ|XDG_.*|PYTHON.*|LD_LIBRARY_PATH|REFEREE_.*|COVERAGE_.*")
"""Environment variables of the spawner and of supervisors, which bots may be able to read: no keys."""
MAX_IDLE = 8
"""Most idle supervisors, and most control groups, that are kept for the next bots."""


class Process:
    """A running bot: our ends of its pipes, all non-blocking, and its supervisor's control socket.

    Its attributes with the names of `Message`'s are what the supervisor has reported so far.
    """

    def __init__(
        self,
        control: socket.socket,
        stdin: int,
        stdout: int,
        stderr: int,
        *,
        on_idle: Callable[[socket.socket], None] | None = None,
    ) -> None:
        """`on_idle` takes over the control socket when the supervisor can run another bot."""
        self.control = control
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid = 0
        """The pid of the bot, or of its supervisor if that was killed before it told us."""
        self.supervisor = self.root = 0
        self.earlier_cpu_s = 0.0
        self.isolation: Mapping[str, str] = {}
        """The layer of each guarantee for this bot."""
        self.group: Group | None = None
        self.keep_group: Callable[[Group], None] = Group.remove
        """Takes over the control group when nothing in it is left."""
        self.scratch: Path | None = None
        self.exit_code: int | None = None
        self.cpu_s: float | None = None
        self.peak_bytes = 0
        self.room_bytes = -1
        self.closed = False
        """Whether its descriptors are closed."""
        self._on_idle = on_idle
        self._idle = False  # whether the supervisor is idle: it sends nothing more about this bot
        self._reading = trio.Lock()  # one task reads messages; a cancelled one may not have noticed yet
        self._unread = b""
        self._pidfd = -1  # of the bot or its namespace's first process; unlike a pid, it is never reused

    async def started(self) -> bool:
        """Waits for the start; False = no supervisor has answered. RunError if the program cannot be started.

        A bot may kill its supervisor at once. It counts as started, and is to blame for the consequences.
        """
        message = None
        with trio.move_on_after(SPAWNER_S):
            message = await self._read_message()
        if message is None or message.supervisor is None:
            return False
        self.pid = self.root = self.supervisor = message.supervisor
        known_children.add(self.supervisor)
        while True:
            with trio.move_on_after(SUPERVISOR_S):
                message = await self._read_message()
                break
            with suppress(psutil.Error):
                if psutil.Process(self.supervisor).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
                    self._wake_supervisor()
        if message is None:
            return True
        if message.error is not None:
            raise RunError(message.error)
        if message.pid is None or message.root is None:
            self._kill_supervisor()
            return True
        self.pid, self.root, self.earlier_cpu_s = message.pid, message.root, message.earlier_cpu_s
        with suppress(ProcessLookupError):
            self._pidfd = -1 if PORTABLE else os.pidfd_open(self.root if self._has_namespace else self.pid)
        return True

    @property
    def _has_namespace(self) -> bool:
        """Whether its processes have a namespace, which ends with the first of them."""
        return self.root != self.supervisor

    async def exited(self, patience_s: float) -> int | None:
        """Waits for the bot to exit. Returns its exit code; None if it still runs."""
        if self.exit_code is None:
            with trio.move_on_after(patience_s):
                async with self._reading:  # another task may have read the message meanwhile
                    while self.exit_code is None and await self._read_message():
                        pass
        return self.exit_code

    async def abandon(self) -> None:
        """Kills a bot whose start has failed or was cancelled."""
        with trio.CancelScope(shield=True):
            self.kill()
            await self._tree_ended(SUPERVISOR_S)
        self.close()

    def kill(self) -> None:
        """Requests the end of the whole process tree. Never blocks.

        Kills the bot directly too, since it may have stopped its supervisor: in a namespace with everything in it, else
        with everything in its control group.
        """
        if self.closed or self._idle:
            return  # nothing of it is left, and its pid may belong to another process by now
        if self.group is not None and not self._has_namespace:
            self.group.kill()
        with suppress(OSError):
            self.control.send(KILL)
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        elif self.pid and self.exit_code is None:
            kill(self.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kills the process tree, waits for its end, and closes every descriptor."""
        with trio.CancelScope(shield=True):
            self.kill()
            for attempt in count():
                if self._idle or await self._tree_ended(SUPERVISOR_S):
                    break
                if attempt < MAX_WAKEUPS:
                    self._wake_supervisor()
                else:  # another bot of the same account may keep stopping it
                    self._kill_supervisor()
        self.close()
        if self.group is not None:
            self.cpu_s = max(filter(None, (self.cpu_s, self.group.cpu_s())), default=None)
            (self.keep_group if self._idle and self._has_namespace else Group.remove)(self.group)
            self.group = None  # its numbers may soon be those of another bot

    async def _tree_ended(self, patience_s: float) -> bool:
        """Waits until the supervisor has ended or is idle."""
        with trio.move_on_after(patience_s):
            async with self._reading:
                while await self._read_message():
                    pass
            return True
        return False

    def _wake_supervisor(self) -> None:
        """Resumes a supervisor that the bot has stopped or traces, after killing the bot's processes."""
        below = descendants(self.supervisor)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                kill(pid, number)
        kill(self.supervisor, signal.SIGCONT)

    def _kill_supervisor(self) -> None:
        """Kills the supervisor. The spawner adopts and ends the processes below it."""
        if self.supervisor:
            kill(self.supervisor, signal.SIGKILL)

    def close(self) -> None:
        known_children.discard(self.supervisor)
        self.close_stdin()
        for descriptor in (self.stdout, self.stderr):
            os.close(descriptor)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._idle and self._on_idle is not None:
            self._on_idle(socket.socket(fileno=self.control.detach()))
        else:
            self.control.close()
        self.closed = True

    def close_stdin(self) -> None:
        """Closes the bot's standard input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    async def _read_message(self) -> Message | None:
        """Returns the supervisor's next message; None if it has ended, is idle, or if a bot has sent the message."""
        if self._idle:
            return None
        while b"\n" not in self._unread:
            await trio.lowlevel.wait_readable(self.control.fileno())
            try:
                data = self.control.recv(4096)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        message = decode(line)
        if message is None:
            self._kill_supervisor()
            return None
        if message.exit is not None:
            self.exit_code, self.room_bytes = message.exit, message.room_bytes
        self.cpu_s = self.cpu_s if message.cpu_s is None else message.cpu_s
        self.peak_bytes = max(self.peak_bytes, message.peak_bytes)
        self._idle = message.idle
        return message


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
        rlimits: Mapping[str, int] = NO_RLIMITS,
        sandbox: Sandbox = NO_SANDBOX,
    ) -> Process:
        """Starts a program on pipes that no other process holds. RunError if it cannot be started.

        `rlimits`: the kernel's limits for each of its processes, by the ends of their names: `{"NOFILE": 1024}`.
        The end of the process removes the control group of the sandbox, and so does a failed start.
        """
        try:
            process = await self._start(make_request(argv, cwd, env, sandbox, rlimits, reusable=True))
        except BaseException:
            sandbox.remove()
            raise
        process.isolation, process.group, process.keep_group = sandbox.layers, sandbox.group, self._keep_group
        return process

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

    async def _start(self, request: Request) -> Process:
        if (process := await self._start_by_idle(request)) is not None:
            return process
        reason, tried = "no answer", None
        for _ in range(2):
            if tried is self._process:  # otherwise the start of another bot has already replaced it
                self._replace()
            tried = self._process
            try:
                process = self._send(request)
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

    async def _start_by_idle(self, request: Request) -> Process | None:
        """Starts a program by an idle supervisor, which saves a third of a start. None if there is none."""
        if self._process.poll() is not None:
            self._end_idle()
        rlimits = request["rlimits"]
        while idle := next((idle for idle in self._idle if idle.rlimits == rlimits), None):
            self._idle.remove(idle)
            try:
                process = self._send(request, idle.control)
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

    async def _has_started(self, process: Process) -> bool:
        """Returns whether a supervisor has taken the request. RunError if the program cannot be started."""
        try:
            if await process.started():
                return True
        except BaseException:
            await process.abandon()
            raise
        process.close()
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
        """Ends the processes of bots that have killed the spawner."""
        self._was_killed |= self._process.poll() not in (None, 0)
        if self._was_killed:
            self._end_idle()
            end_strays()

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

    def _send(self, request: Request, idle: socket.socket | None = None) -> Process:
        """Sends a request to the spawner, or to an idle supervisor by its control socket."""
        with ExitStack() as theirs:
            pipes = [os.pipe() for _ in range(3)]
            descriptors = [pipes[0][0], pipes[1][1], pipes[2][1]]
            for descriptor in descriptors:
                theirs.callback(os.close, descriptor)
            ours = [pipes[0][1], pipes[1][0], pipes[2][0]]
            for descriptor in ours:
                os.set_blocking(descriptor, False)
            control = idle
            if control is None:
                control, other = socket.socketpair()
                descriptors.append(theirs.enter_context(other).fileno())
            control.setblocking(False)

            def on_idle(control: socket.socket) -> None:
                self._idle.insert(0, IdleSupervisor(request["rlimits"], control, process.supervisor))
                for oldest in self._idle[MAX_IDLE:]:
                    oldest.end()
                del self._idle[MAX_IDLE:]

            process = Process(control, *ours, on_idle=on_idle)
            try:
                send_request(idle or self._requests, request, descriptors)
            except OSError:
                process.close()
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
