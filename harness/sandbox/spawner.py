"""Starts bots through `supervisor.py` and holds the referee's end of their pipes."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio

from harness.errors import RunError
from harness.sandbox.supervisor import descendants, kill

SUPERVISOR = Path(__file__).with_name("supervisor.py")
SUPERVISOR_S = 0.5
"""How long a supervisor may take to end a tree before we look after it."""


class Process:
    """A running bot: our ends of its pipes, all non-blocking, and its supervisor's control socket."""

    def __init__(self, control: socket.socket, stdin: int, stdout: int, stderr: int) -> None:
        self.control = control
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid = 0
        self.supervisor = 0
        self.exit_code: int | None = None
        """As a shell's for an exit, negative for a signal; None while it runs."""
        self.ended = trio.Event()
        """Set when `exited` has heard of it."""
        self.cpu_s: float | None = None
        """CPU time of everything that it started, known after `end`."""
        self._ear = trio.Lock()  # one task listens at a time; one that was cancelled may not have noticed yet
        self._said = b""

    async def started(self) -> None:
        """Waits for the supervisor's word. RunError if the program cannot be started."""
        reply = await self._hear()
        if reply is None or "error" in reply:
            raise RunError((reply or {}).get("error", "the supervisor ended before it started the program"))
        self.pid, self.supervisor = reply["pid"], reply["supervisor"]

    async def exited(self, patience_s: float) -> int | None:
        """Waits for the bot's own end: its exit code, or None if it has not ended by then."""
        with trio.move_on_after(patience_s):
            while self.exit_code is None and (reply := await self._hear()) is not None:
                self._note(reply)
        return self.exit_code

    def kill(self) -> None:
        """Has the whole tree killed; returns at once."""
        with suppress(OSError):
            self.control.send(b"k")

    async def end(self) -> None:
        """Kills whatever is left of the tree, waits until nothing is, and closes every descriptor."""
        with trio.CancelScope(shield=True):
            self.kill()
            while not await self._gone(SUPERVISOR_S):
                self._wake_supervisor()
        self.close()

    async def _gone(self, patience_s: float) -> bool:
        """Waits for the supervisor's end."""
        with trio.move_on_after(patience_s):
            while (reply := await self._hear()) is not None:
                self._note(reply)
            return True
        return False

    def _wake_supervisor(self) -> None:
        """A bot can stop its supervisor: so it is stopped itself, and the supervisor goes on."""
        for pid in descendants(self.supervisor):
            kill(pid, signal.SIGSTOP)
        kill(self.supervisor, signal.SIGCONT)

    def close(self) -> None:
        self.close_stdin()
        for descriptor in (self.stdout, self.stderr):
            os.close(descriptor)
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


class Spawner:
    """Starts bots. One serves a whole run of matches; make it with `open_spawner`."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests

    async def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Process:
        """A program on fresh pipes that nobody else holds an end of. RunError if it cannot be started."""
        bot_stdin, our_stdin = os.pipe()
        our_stdout, bot_stdout = os.pipe()
        our_stderr, bot_stderr = os.pipe()
        ours, theirs = socket.socketpair()
        for descriptor in (our_stdin, our_stdout, our_stderr):
            os.set_blocking(descriptor, False)
        ours.setblocking(False)
        request = json.dumps({"argv": list(argv), "cwd": str(cwd), "env": dict(env)}).encode()
        process = Process(ours, our_stdin, our_stdout, our_stderr)
        try:
            given = [bot_stdin, bot_stdout, bot_stderr, theirs.fileno()]
            socket.send_fds(self._requests, [request], given)
        except OSError as error:
            process.close()
            raise RunError(f"the supervisor cannot be reached: {error}") from error
        finally:
            theirs.close()
            for descriptor in (bot_stdin, bot_stdout, bot_stderr):
                os.close(descriptor)
        try:
            await process.started()
        except BaseException:
            process.close()
            raise
        return process


@asynccontextmanager
async def open_spawner() -> AsyncIterator[Spawner]:
    """A spawner process for the length of the block. Whatever still runs when it closes is ended."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        command = [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno())]
        with theirs:
            # Its own session: Ctrl-C is ours to handle. Standard streams stay closed to it and so to every bot.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            yield Spawner(ours)
        finally:
            ours.close()
            _reap(process)


def _reap(process: "subprocess.Popen[bytes]") -> None:
    """The spawner ends by itself when its socket closes; one that does not within 2 s is killed."""
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
