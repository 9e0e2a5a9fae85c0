"""An engine: a child process that reads and writes lines."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

MAX_BYTES = 1 << 20
"""Longest line of an engine, and the most that is thrown away at a time."""
READ_BYTES = 1 << 16
END_S = 1.0
"""How long an engine that has closed its output may take to end."""
SHOWN = 200
"""Characters of a line that a message shows."""

Step = tuple[float, Callable[[], object]]
"""A time by `time.monotonic`, and what is due then if the engine has not answered. True: wait no longer."""


class Engine:
    """The process of an engine."""

    def __init__(self, command: Sequence[str], debug: bool) -> None:
        """Starts it. Its standard error is ours. `debug`: show the lines there, with the time in seconds."""
        self.name = os.path.basename(command[0])
        """Of its program, for an engine that gives none."""
        self.last = ""
        """The last line that it wrote."""
        self._debug = debug
        self._started = time.monotonic()
        self._buffer = bytearray()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    def send(self, *lines: str) -> None:
        """Writes lines to the engine."""
        if self._debug:
            for line in lines:
                self._show(">", line)
        rest = memoryview("".join(f"{line}\n" for line in lines).encode())
        try:
            while rest:
                rest = rest[os.write(self._in, rest) :]
        except BrokenPipeError:
            self._crash("standard input")

    def drop(self) -> None:
        """Throws away what the engine has written although nothing was asked."""
        dropped = 0
        while dropped < MAX_BYTES and self._poll.poll(0):
            dropped += self._read()
        while self._line() is not None:
            pass

    def answer(self, accept: Callable[[str], bool], *steps: Step) -> str:
        """Waits for a line that `accept` takes, and returns it without blanks around it; empty if a step ends this."""
        due = sorted(steps, key=lambda step: step[0])
        while True:
            while (line := self._line()) is not None:
                if accept(line):
                    return line
            wait_ms = None if not due else max(0.0, (due[0][0] - time.monotonic()) * 1000)
            if self._poll.poll(wait_ms):
                self._read()
            if due and time.monotonic() >= due[0][0] and due.pop(0)[1]() is True:
                return ""

    def note(self, text: str) -> None:
        """Writes a line about the engine to standard error, which the referee shows after a fault."""
        last = f"its last line: {self.last[:SHOWN]!r}" if self.last else "it has written nothing"
        sys.stderr.write(f"the engine {text}; {last}\n")
        sys.stderr.flush()

    def quit(self, patience_s: float) -> None:
        """Asks the engine to end, and kills it if it does not."""
        try:
            os.write(self._in, b"quit\n")
        except BrokenPipeError:
            pass
        os.close(self._in)
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _line(self) -> str | None:
        """Returns the next whole line, without blanks around it; None if there is none yet."""
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > MAX_BYTES:
                self._process.kill()  # else it would write of its own end, after us
                self._process.wait()
                self.note(f"wrote a line of more than {MAX_BYTES} bytes")
                os._exit(1)
            return None
        line = self._buffer[:end].decode("utf-8", "replace").replace("\t", " ").strip()
        del self._buffer[: end + 1]
        if line:
            self.last = line
        if self._debug:
            self._show("<", line)
        return line

    def _read(self) -> int:
        data = os.read(self._out, READ_BYTES)
        if not data:
            while self._line() is not None:
                pass
            self._crash("standard output")
        self._buffer += data
        return len(data)

    def _show(self, direction: str, line: str) -> None:
        sys.stderr.write(f"{time.monotonic() - self._started:.6f} {direction} {line}\n")

    def _crash(self, stream: str) -> NoReturn:
        """Ends this program as the engine has ended, so that the verdict is about the engine."""
        try:
            code = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.note(f"closed its {stream}")
            os._exit(1)
        if code < 0:
            self.note(f"was killed by {signal.Signals(-code).name}")
            if -code != signal.SIGKILL:
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        self.note(f"exited with code {code}")
        os._exit(code)
