"""Starts bots through `supervisor.py` and holds the referee's end of their pipes."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path

import trio

from referee.harness.errors import RunError
from referee.harness.isolation import portable
from referee.harness.isolation.layers.cgroups import Group
from referee.harness.isolation.process_tree import FLOOR, descendants, is_stopped
from referee.harness.isolation.self_protection import TOO_MANY, end_strays, guarded, new_mark, no_room
from referee.harness.isolation.supervisor import FAREWELL, KILL, LENGTH, Request, kill
from referee.harness.isolation.supervisor_messages import Word, word

SUPERVISOR = Path(__file__).with_name("supervisor.py")
SUPERVISOR_S = 0.5
"""How long a supervisor may take to end a tree before we look after it."""
ATTEMPTS = 4
"""How often we look after it, before we end it."""
NO_RLIMITS: Mapping[str, int] = {}
SPAWNER_S = 2.0
"""How long a spawner may take to say that it has heard us, before another takes its place."""
PART_BYTES = 1 << 16
SEND_S = 5.0
"""How long a spawner or supervisor may take before it reads the next part of a request."""
RESTING = 8
"""So many supervisors at most wait for another bot."""


class Process:
    """A running bot: our ends of its pipes, all non-blocking, and its supervisor's control socket."""

    def __init__(
        self,
        control: socket.socket,
        stdin: int,
        stdout: int,
        stderr: int,
        *,
        rested: Callable[[socket.socket], None] | None = None,
    ) -> None:
        """`rested` takes the control socket over when nothing is left of the bot and its supervisor can run another."""
        self.control = control
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid = 0
        """Its own, or its supervisor's if that was ended before it could tell."""
        self.supervisor = 0
        self.root = 0
        """All its processes are below this one: the first of a process namespace, or the supervisor."""
        self.before_s = 0.0
        """CPU time of others that the root has waited for before."""
        self.isolation: Mapping[str, str] = {}
        """The layer that keeps each guarantee for this bot."""
        self.group: Group | None = None
        """The control group that it is in."""
        self.scratch: Path | None = None
        """Its scratch folder."""
        self.exit_code: int | None = None
        """As a shell's for an exit, negative for a signal; None while it runs."""
        self.ended = trio.Event()
        """Set when `exited` has heard of it."""
        self.cpu_s: float | None = None
        """CPU time of everything that it started, known after `end`."""
        self.peak_bytes = 0
        """The most resident memory that one of its processes held, by the kernel's account of those that have ended."""
        self.room_bytes = -1
        """What could still be written to its scratch folder when it ended; -1 = nobody knows."""
        self.closed = False
        """Its descriptors are."""
        self._rested = rested
        self._rests = False  # the supervisor is idle: nothing more comes from it about this bot
        self._listening = trio.Lock()  # one task listens at a time; one that was cancelled may not have noticed yet
        self._unread = b""  # what the supervisor has written and nobody has taken yet
        self._pidfd = -1  # of the bot itself; a number can go to another process when the bot has ended, this cannot

    async def started(self) -> bool:
        """Waits for the supervisor's word; False = there is no supervisor. RunError if the program cannot be started.

        A bot may end its supervisor at once. It has been started all the same, and is at fault for what comes of it.
        """
        message = None
        with trio.move_on_after(SPAWNER_S):
            message = await self._hear()
        if message is None or message.supervisor is None:
            return False
        self.pid = self.root = self.supervisor = message.supervisor
        while not await self._spoke(SUPERVISOR_S):
            if is_stopped(self.supervisor):
                self._wake_supervisor()
        message = await self._hear()
        if message is None:
            return True
        if message.error is not None:
            raise RunError(message.error)
        if message.pid is None or message.root is None:
            self._disown()
            return True
        self.pid, self.root, self.before_s = message.pid, message.root, message.before_s
        with suppress(ProcessLookupError):
            self._pidfd = -1 if FLOOR else os.pidfd_open(self.pid)
        return True

    async def exited(self, patience_s: float) -> int | None:
        """Waits for the bot's own end: its exit code, or None if it has not ended by then."""
        with trio.move_on_after(patience_s):
            async with self._listening:  # the task that listened before may have read the message
                while self.exit_code is None and (message := await self._hear()) is not None:
                    self._note(message)
        return self.exit_code

    async def abandon(self) -> None:
        """Kills what a start that failed or was cancelled has begun, and waits for its end, within a limit."""
        with trio.CancelScope(shield=True):
            self.kill()
            await self._gone(SUPERVISOR_S)
        self.close()

    def kill(self) -> None:
        """Has the whole tree killed; returns at once.

        The bot itself is killed by us: it may have stopped its supervisor.
        """
        if self.closed:
            return  # its pid may belong to another process by now
        if self.group is not None:
            self.group.kill()
        with suppress(OSError):
            self.control.send(KILL)
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        elif self.pid and self.exit_code is None:
            kill(self.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kills whatever is left of the tree, waits until nothing is, and closes every descriptor."""
        with trio.CancelScope(shield=True):
            self.kill()
            for attempt in count():
                if await self._gone(SUPERVISOR_S):
                    break
                if attempt < ATTEMPTS:
                    self._wake_supervisor()
                else:
                    # Another bot of the same account may keep stopping it. Its processes become the spawner's children.
                    kill(self.supervisor, signal.SIGKILL)
        self.close()
        if self.group is not None:
            self.cpu_s = max(filter(None, (self.cpu_s, self.group.cpu_s())), default=None)
            self.group.remove()

    async def _spoke(self, patience_s: float) -> bool:
        """Waits for a message of the supervisor, which `_hear` then gives, or for its end."""
        with trio.move_on_after(patience_s):
            if b"\n" not in self._unread:
                await trio.lowlevel.wait_readable(self.control.fileno())
            return True
        return False

    async def _gone(self, patience_s: float) -> bool:
        """Waits for the end of the supervisor, or of its work."""
        with trio.move_on_after(patience_s):
            async with self._listening:
                while (message := await self._hear()) is not None:
                    self._note(message)
            return True
        return False

    def _wake_supervisor(self) -> None:
        """A bot can stop its supervisor, or trace it: so it is ended itself, and the supervisor goes on."""
        below = descendants(self.supervisor)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                kill(pid, number)
        kill(self.supervisor, signal.SIGCONT)

    def close(self) -> None:
        self.close_stdin()
        for descriptor in (self.stdout, self.stderr):
            os.close(descriptor)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._rests and self._rested is not None:
            self._rested(socket.socket(fileno=self.control.detach()))
        else:
            self.control.close()
        self.closed = True

    def close_stdin(self) -> None:
        """Tells the bot that nothing more will come."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def _note(self, message: Word) -> None:
        if message.exit is not None:
            self.exit_code, self.room_bytes = message.exit, message.room_bytes
            self.ended.set()
        self.cpu_s = self.cpu_s if message.cpu_s is None else message.cpu_s
        self.peak_bytes = max(self.peak_bytes, message.peak_bytes)
        self._rests = message.rests

    def _disown(self) -> None:
        """Somebody else speaks for the supervisor: it is ended, as a bot may end it. What is below it falls to the
        spawner."""
        if self.supervisor:
            kill(self.supervisor, signal.SIGKILL)

    async def _hear(self) -> Word | None:
        """The supervisor's next message; None when it has ended or rests, or has said what no supervisor says."""
        if self._rests:
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
        message = word(line)
        if message is None:
            self._disown()
        return message


class Resting:
    """A supervisor whose bot has ended, and which can run another: nothing is below it."""

    def __init__(self, rlimits: Mapping[str, int], control: socket.socket, pid: int) -> None:
        self.rlimits, self.control = rlimits, control
        self._pidfd = -1
        with suppress(OSError):
            self._pidfd = -1 if FLOOR else os.pidfd_open(pid)

    def let_go(self) -> None:
        """What it does now is known to its next bot alone. It may have been let go before."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def dismiss(self) -> None:
        """Ends it: nobody can ask it any more. A bot may have stopped it, so that it would not notice."""
        self.control.close()
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self.let_go()


class Spawner:
    """Starts bots. One serves a whole run of matches; make it with `open_spawner`.

    The process behind it has the account of the bots, who may stop or end it: then another takes its place.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._started: set[Process] = set()  # whose descriptors are open
        self._resting: list[Resting] = []
        self._killed: set[int] = set()  # the marks of spawners after whose end bots' processes became our children
        self._begin()

    async def start(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        rlimits: Mapping[str, int] = NO_RLIMITS,
        launcher: Sequence[str] = (),
        groups: Sequence[str] = (),
    ) -> Process:
        """A program on fresh pipes that nobody else holds an end of. RunError if it cannot be started.

        `rlimits`: the kernel's limits for each of its processes, by the ends of their names: `{"NOFILE": 1024}`.
        `launcher`: what stands before the program on the command line, and becomes it; `groups`: the folders of the
        control groups that it joins (`referee.harness.isolation.plan`).
        """
        request = Request(
            argv=list(argv),
            cwd=str(cwd),
            env=dict(env),
            rlimits=dict(rlimits),
            launcher=list(launcher),
            groups=list(groups),
            again=True,
        )
        if (process := await self._run_again(request)) is not None:
            return process
        reason, tried = "no answer", None
        for _ in range(2):
            if tried is self._process:  # otherwise a bot that is started at the same time has replaced it
                self._replace()
            tried = self._process
            try:
                process = self._ask(request)
            except OSError as error:
                if error.errno in TOO_MANY:
                    raise no_room() from error
                reason = str(error)
                continue
            if await self._has_started(process):
                return process
        raise RunError(f"the supervisor cannot be reached: {reason}")

    async def _run_again(self, request: Request) -> Process | None:
        """By a supervisor whose bot has ended: a fork and a third of a start less. None if there is none."""
        if self._process.poll() is not None:
            self._dismiss()
        rlimits = request["rlimits"]
        while resting := next((resting for resting in self._resting if resting.rlimits == rlimits), None):
            self._resting.remove(resting)
            try:
                process = self._ask(request, resting.control)
            except OSError:  # a bot has killed it, or too many descriptors are open: the spawner reports that
                resting.dismiss()
                continue
            try:
                if await self._has_started(process):
                    return process
                resting.dismiss()
            finally:
                resting.let_go()
            self._dismiss()  # a bot that killed or stopped one may have done so to all: we do not try each of them
        return None

    async def _has_started(self, process: Process) -> bool:
        """Whether a supervisor has heard of it. RunError if it cannot be started."""
        try:
            if await process.started():
                self._started = {process, *(other for other in self._started if not other.closed)}
                return True
        except BaseException:
            await process.abandon()
            raise
        process.close()
        return False

    def _dismiss(self) -> None:
        """Supervisors without a bot end when nobody can ask them any more."""
        for resting in self._resting:
            resting.dismiss()
        self._resting = []

    def close(self) -> None:
        """Ends the spawner."""
        self._dismiss()
        finish(self._process, self._requests)
        self.end_strays()

    def end_strays(self) -> None:
        """Ends what bots have left that ended the spawner, after which it is no longer there to do so."""
        if self._process.poll() not in (None, 0):
            self._killed.add(self._mark)
        if self._killed:
            self._dismiss()
            end_strays(self._killed, {process.supervisor for process in self._started if not process.closed})

    def _replace(self) -> None:
        """Another in its place. It is killed, for it would end the bots at play; their supervisors need it no more."""
        self._process.kill()
        self._process.wait()
        self._killed.add(self._mark)
        self._dismiss()
        self._requests.close()
        self._begin()

    def _begin(self) -> None:
        self._process, self._requests, self._mark = begin(self._folder)

    def _ask(self, request: Request, resting: socket.socket | None = None) -> Process:
        """Of the spawner, or of a supervisor that rests, by its control socket."""
        with ExitStack() as theirs:
            pipes = [os.pipe() for _ in range(3)]
            given = [pipes[0][0], pipes[1][1], pipes[2][1]]
            for descriptor in given:
                theirs.callback(os.close, descriptor)
            ours = [pipes[0][1], pipes[1][0], pipes[2][0]]
            for descriptor in ours:
                os.set_blocking(descriptor, False)
            control = resting
            if control is None:
                control, other = socket.socketpair()
                given.append(theirs.enter_context(other).fileno())
            control.setblocking(False)

            def rested(control: socket.socket) -> None:
                self._resting.insert(0, Resting(request["rlimits"], control, process.supervisor))
                for longest in self._resting[RESTING:]:
                    longest.dismiss()
                del self._resting[RESTING:]

            process = Process(control, *ours, rested=rested)
            try:
                send_request(resting or self._requests, request, given)
            except OSError:
                process.close()
                raise
            return process


def send_request(requests: socket.socket, request: Request, descriptors: list[int]) -> None:
    """To a spawner or a waiting supervisor, as its `receive` reads it. OSError if that is gone or does not read.

    In parts: a command line that shows a folder entry by entry is larger than a message may be.
    """
    text = json.dumps(request).encode()
    data = LENGTH.pack(len(text)) + text
    sent = socket.send_fds(requests, [data[:PART_BYTES]], descriptors)
    writable = select.poll()
    writable.register(requests, select.POLLOUT)
    while sent < len(data):
        if not writable.poll(SEND_S * 1e3):
            raise TimeoutError(f"it has not read its request for {SEND_S:g} s")
        with suppress(BlockingIOError):
            sent += requests.send(data[sent : sent + PART_BYTES])


def begin(folder: Path | None) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """The process of a spawner, our end of its socket, and its mark. It ends with all that it started when the socket
    is closed."""
    mark = new_mark()
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM if FLOOR else socket.SOCK_SEQPACKET)
    with theirs:
        if FLOOR:
            command = [sys.executable, "-m", portable.__name__, str(theirs.fileno()), str(mark)]
        else:
            command = [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno()), str(mark)]
        # Its own session: Ctrl-C is ours to handle. Standard streams stay closed to it and so to every bot.
        process = subprocess.Popen(
            command if folder is None else [*command, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return process, requests, mark


def finish(process: subprocess.Popen[bytes], requests: socket.socket) -> None:
    """Ends a spawner in good order; one that does not end within 2 s is killed."""
    requests.setblocking(False)
    with suppress(OSError):  # a bot has killed it, or stopped it long ago
        send_request(requests, FAREWELL, [])
    requests.close()
    process.send_signal(signal.SIGCONT)  # a bot may have stopped it
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if FLOOR and process.returncode != 0 and isinstance(process.args, list):
        portable.end_marked(str(process.args[4]))


@asynccontextmanager
async def open_spawner(folder: Path | None = None) -> AsyncIterator[Spawner]:
    """A spawner for the length of the block. Whatever still runs when it closes is ended.

    `folder` goes with it, also when the referee is killed: the scratch folders of the bots lie there.
    """
    with guarded():
        spawner = Spawner(folder)
        try:
            yield spawner
        finally:
            spawner.close()
