"""Starts bots through `supervisor.py` and holds the referee's end of their pipes."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import trio

from harness.errors import RunError
from harness.sandbox.supervisor import descendants, kill

SUPERVISOR = Path(__file__).with_name("supervisor.py")
SUPERVISOR_S = 0.5
"""How long a supervisor may take to end a tree before we look after it."""
ATTEMPTS = 4
"""How often we look after it, before we end it."""
SPAWNER_S = 2.0
"""How long a spawner may take to say that it has heard us, before another takes its place."""


class Process:
    """A running bot: our ends of its pipes, all non-blocking, and its supervisor's control socket."""

    def __init__(self, control: socket.socket, stdin: int, stdout: int, stderr: int) -> None:
        self.control = control
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid = 0
        """Its own, or its supervisor's if that was ended before it could tell."""
        self.supervisor = 0
        self.exit_code: int | None = None
        """As a shell's for an exit, negative for a signal; None while it runs."""
        self.ended = trio.Event()
        """Set when `exited` has heard of it."""
        self.cpu_s: float | None = None
        """CPU time of everything that it started, known after `end`."""
        self._ear = trio.Lock()  # one task listens at a time; one that was cancelled may not have noticed yet
        self._said = b""
        self._handle = -1  # of the bot itself, whoever may have its pid by then

    async def started(self) -> bool:
        """Waits for the supervisor's word; False = there is no supervisor. RunError if the program cannot be started.

        A bot may end its supervisor at once. It has been started all the same, and is at fault for what comes of it.
        """
        reply = None
        with trio.move_on_after(SPAWNER_S):
            reply = await self._hear()
        if reply is None:
            return False
        self.pid = self.supervisor = reply["supervisor"]
        while not await self._spoke(SUPERVISOR_S):
            if _is_stopped(self.supervisor):
                self._wake_supervisor()
        reply = await self._hear()
        if reply is not None:
            if "error" in reply:
                raise RunError(reply["error"])
            self.pid = reply["pid"]
            with suppress(ProcessLookupError):
                self._handle = os.pidfd_open(self.pid)
        return True

    async def exited(self, patience_s: float) -> int | None:
        """Waits for the bot's own end: its exit code, or None if it has not ended by then."""
        with trio.move_on_after(patience_s):
            while self.exit_code is None and (reply := await self._hear()) is not None:
                self._note(reply)
        return self.exit_code

    def kill(self) -> None:
        """Has the whole tree killed; returns at once.

        The bot itself is killed by us: it may have stopped its supervisor.
        """
        with suppress(OSError):
            self.control.send(b"k")
        if self._handle >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

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
                    kill(self.supervisor, signal.SIGKILL)  # the rival may be who holds it; the spawner does the rest
        self.close()

    async def _spoke(self, patience_s: float) -> bool:
        """Waits for a message of the supervisor, which `_hear` then gives, or for its end."""
        with trio.move_on_after(patience_s):
            if b"\n" not in self._said:
                await trio.lowlevel.wait_readable(self.control.fileno())
            return True
        return False

    async def _gone(self, patience_s: float) -> bool:
        """Waits for the supervisor's end."""
        with trio.move_on_after(patience_s):
            while (reply := await self._hear()) is not None:
                self._note(reply)
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
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        self.control.close()

    def close_stdin(self) -> None:
        """Tells the bot that nothing more will come."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def _note(self, reply: Mapping[str, Any]) -> None:
        if "exit" in reply:
            self.exit_code = reply["exit"]
            self.ended.set()
        self.cpu_s = reply.get("cpu_s", self.cpu_s)

    async def _hear(self) -> dict[str, Any] | None:
        """The supervisor's next message; None when it has ended."""
        async with self._ear:
            while b"\n" not in self._said:
                await trio.lowlevel.wait_readable(self.control.fileno())
                try:
                    data = self.control.recv(4096)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data:
                    return None
                self._said += data
            line, _, self._said = self._said.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


def _is_stopped(pid: int) -> bool:
    """Whether a signal or a tracer has stopped a process."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] in (b"T", b"t")
    except OSError:
        return False


class Spawner:
    """Starts bots. One serves a whole run of matches; make it with `open_spawner`.

    The process behind it has the account of the bots, who may stop or end it: then another takes its place.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._begin()

    async def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Process:
        """A program on fresh pipes that nobody else holds an end of. RunError if it cannot be started."""
        request = json.dumps({"argv": list(argv), "cwd": str(cwd), "env": dict(env)}).encode()
        reason = "no answer"
        for again in (False, True):
            if again:
                self._replace()
            try:
                process = self._ask(request)
            except OSError as error:
                reason = str(error)
                continue
            try:
                if await process.started():
                    return process
            except BaseException:
                process.close()
                raise
            process.close()
        raise RunError(f"the supervisor cannot be reached: {reason}")

    def close(self) -> None:
        """Ends the spawner by closing its socket; one that does not end within 2 s is killed."""
        self._requests.close()
        self._process.send_signal(signal.SIGCONT)  # a bot may have stopped it
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _replace(self) -> None:
        """Another in its place. It is killed, for it would end the bots at play; their supervisors need it no more."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self._begin()

    def _begin(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno())]
            # Its own session: Ctrl-C is ours to handle. Standard streams stay closed to it and so to every bot.
            self._process = subprocess.Popen(
                command if self._folder is None else [*command, str(self._folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def _ask(self, request: bytes) -> Process:
        bot_stdin, our_stdin = os.pipe()
        our_stdout, bot_stdout = os.pipe()
        our_stderr, bot_stderr = os.pipe()
        ours, theirs = socket.socketpair()
        for descriptor in (our_stdin, our_stdout, our_stderr):
            os.set_blocking(descriptor, False)
        ours.setblocking(False)
        process = Process(ours, our_stdin, our_stdout, our_stderr)
        try:
            given = [bot_stdin, bot_stdout, bot_stderr, theirs.fileno()]
            socket.send_fds(self._requests, [request], given)
        except OSError:
            process.close()
            raise
        finally:
            theirs.close()
            for descriptor in (bot_stdin, bot_stdout, bot_stderr):
                os.close(descriptor)
        return process


@asynccontextmanager
async def open_spawner(folder: Path | None = None) -> AsyncIterator[Spawner]:
    """A spawner for the length of the block. Whatever still runs when it closes is ended.

    `folder` goes with it, also when the referee is killed: the scratch folders of the bots lie there.
    """
    spawner = Spawner(folder)
    try:
        yield spawner
    finally:
        spawner.close()
