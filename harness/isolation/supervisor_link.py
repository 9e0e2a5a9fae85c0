"""Our end of the control socket of a supervisor, while the supervisor runs one bot or build."""

import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import psutil
import trio

from referee.harness.isolation.process_tree import descendants
from referee.harness.isolation.self_protection import known_children
from referee.harness.isolation.supervisor import KILL, kill
from referee.harness.isolation.supervisor_messages import Message, decode


class SupervisorLink:
    """Reads what a supervisor reports about a bot, and ends the supervisor if the bot has taken it over."""

    def __init__(self, control: socket.socket, on_idle: Callable[[socket.socket], None] | None = None) -> None:
        """`on_idle` takes over the control socket when the supervisor can run another bot."""
        self.control = control
        self.pid = 0
        """The pid of the supervisor; 0 until it has read the request."""
        self.idle = False
        """Whether the supervisor can run another bot. It sends nothing more about this one."""
        self._on_idle = on_idle
        self._unread = b""

    def has_started(self, pid: int) -> None:
        """Notes the pid of the supervisor."""
        self.pid = pid
        known_children.add(pid)

    async def read(self) -> Message | None:
        """Returns the next message; None if none will come: the supervisor is idle or has ended, or we have closed.

        Also None for a message that a bot must have sent. Only one task may read at a time.
        """
        if self.idle or self.control.fileno() < 0:
            return None
        while not self.has_message():
            await trio.lowlevel.wait_readable(self.control.fileno())
            if not self.receive():
                return None
        return self.take()

    def has_message(self) -> bool:
        """Whether a whole message was received that is not taken yet."""
        return b"\n" in self._unread

    def receive(self) -> bool:
        """Reads data from the readable socket. Returns False if the supervisor has ended, even with unread requests."""
        try:
            data = self.control.recv(4096)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._unread += data
        return bool(data)

    def take(self) -> Message | None:
        """Returns the first message that was received; None for one that a bot must have sent: that ends everything."""
        line, _, self._unread = self._unread.partition(b"\n")
        message = decode(line)
        if message is None:
            self.kill()
            return None
        self.idle = message.idle
        return message

    def request_end(self) -> None:
        """Requests the end of the bot's processes. Never blocks."""
        with suppress(OSError):
            self.control.send(KILL)

    def wake_if_stopped(self) -> None:
        """Wakes the supervisor if it is stopped or traced."""
        with suppress(psutil.Error):
            if psutil.Process(self.pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
                self.wake()

    def wake(self) -> None:
        """Resumes a supervisor that the bot has stopped or traces, after killing the bot's processes."""
        below = descendants(self.pid)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                kill(pid, number)
        kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kills the supervisor. The spawner adopts and ends the processes below it."""
        if self.pid:
            kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Gives an idle supervisor back, and leaves any other. Call it once."""
        known_children.discard(self.pid)
        if self.idle and self._on_idle is not None:
            self._on_idle(socket.socket(fileno=self.control.detach()))
        else:
            self.control.close()
