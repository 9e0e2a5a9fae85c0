"""One bot: its process, its wire, its limits. Every failure of it comes out as a `Fault`, never as an exception."""

import os
import select
import signal
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from games.api import Fault, FaultKind
from harness.limits import SAMPLE_EVERY_S, Limits, Meter, Usage, cpu_ns, passed_limit
from harness.sandbox.spawner import Process
from harness.stderr import READ_BYTES, StderrLog
from protocol.connection import NEED_DATA, AnswerDecoder, Connection
from protocol.errors import RemoteProtocolError, quote
from protocol.messages import Clock, ErrorObject, Hello, Initialize

READS_BEFORE_A_WAIT = 64
"""How often an answer may be there at once before we give way to the other tasks."""
ORDERLY_END_S = 1.0
"""How long a bot may take to end by itself after `exit`."""
FINAL = {
    FaultKind.CRASH,
    FaultKind.PROTOCOL,
    FaultKind.CPU,
    FaultKind.MEMORY,
    FaultKind.OUTPUT,
    FaultKind.PROCESSES,
}
"""Faults that end the process: what comes after them could not be trusted or is not there."""


class Charge(Struct):
    """What the last call cost."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    """CPU time of the main process's threads during the call."""


class Bot:
    """A started program at one seat. Made by `harness.roster`."""

    def __init__(self, process: Process, limits: Limits) -> None:
        self.hello = Hello()
        """What the program said of itself."""
        self.greeted = False
        """It has said so."""
        self.limits = limits
        self.process = process
        self.wire = Connection(limits.frame_bytes)
        self.fault: Fault | None = None
        """Why the process was ended; every further call is this fault at once."""
        self.charge = Charge()
        self.calls = 0
        self.wall_s = 0.0
        """Wall time of all calls of this match."""
        self.before_wait: Callable[[], None] = _nothing
        """Called when an answer is not there at once: now is the time to do what need not be done before."""
        self.frame = b""
        """The last thing that was asked, notices apart."""
        self.meter = Meter(process.pid, process.supervisor)
        self.stderr = StderrLog(limits.stderr_bytes)
        self._outbox = bytearray()
        self._quick_reads = 0
        self._stdout = select.poll()
        self._stdout.register(process.stdout, select.POLLIN)

    @property
    def usage(self) -> Usage:
        return self.meter.usage

    @property
    def exit_code(self) -> int | None:
        """Of the process, if it has ended."""
        return self.process.exit_code

    def last_words(self) -> tuple[str, ...]:
        """The last lines on its standard error up to now."""
        self.stderr.catch_up(self.process.stderr)
        return self.stderr.last_words()

    async def greet(self, message: Initialize, log: Callable[[], Path | None]) -> Fault | None:
        """Opens a match, in a new process or in one that is used again. Its standard error goes to the file `log()`."""
        self.start_match(log)
        frame = self.wire.initialize(message)
        answer = await self._exchange(frame, self.limits.startup_s, self._hello)
        self.calls, self.wall_s = 0, 0.0
        self.measure()
        if isinstance(answer, Hello):
            self.hello, self.greeted = answer, True
            return None
        fault = answer if isinstance(answer, Fault) else _error(answer)
        detail = f"initialize: {fault.detail}"
        # Whoever has not greeted cannot be asked anything: also a time-out and an error end the process here.
        return self._finish(Fault(fault.kind, detail))

    async def ask(self, method: str, params: Any, clock: Clock, decoder: AnswerDecoder, limit_s: float) -> Any:
        """One call, within `limit_s` of wall time: the answer, or a Fault. What it cost is left in `charge`."""
        if self.fault is None:
            try:
                self._hear_unasked()
            except RemoteProtocolError as error:
                self._finish(Fault(FaultKind.PROTOCOL, str(error)))
        if self.fault is not None:
            self.charge = Charge()
            return self.fault
        frame = self.wire.call(method, self.wire.encode(params), clock)
        answer = await self._exchange(frame, limit_s, lambda: self.wire.answer(decoder))
        if isinstance(answer, ErrorObject):
            return _error(answer)
        if isinstance(answer, Fault) and answer.kind in FINAL:
            self._finish(answer)
        return answer

    def tell(self, frame: bytes) -> None:
        """Has a notification sent with the next call, or by `flush` before that."""
        if self.fault is None:
            self._outbox += frame

    def flush(self) -> None:
        """Sends what is waiting to be sent, as far as the pipe takes it."""
        if self._outbox:
            try:
                del self._outbox[: _write(self.process.stdin, self._outbox)]
            except BrokenPipeError:
                self._outbox.clear()  # the next call will find out

    def _hear_unasked(self) -> None:
        """Takes what has come although no call is open: nothing, or late answers. Raises RemoteProtocolError."""
        if self._stdout.poll(0) and (data := os.read(self.process.stdout, READ_BYTES)):
            self.wire.receive(data)
        self.wire.unasked()

    def _hello(self) -> Any:
        hello = self.wire.hello()
        return NEED_DATA if hello is None else hello

    async def end(self) -> None:
        """An orderly end: `exit`, end of input, a moment of patience; then whatever is left is killed."""
        with trio.CancelScope(shield=True):
            patience_s = await self.say_exit() if self.fault is None else 0.0
            self.process.close_stdin()
            if self.fault is None:
                await self.process.exited(patience_s)
            await self.process.end()
        self.meter.close(self.process.cpu_s)

    async def say_exit(self) -> float:
        """Sends `exit` and all that waits before it, as far as it is read in time: the seconds left for the end."""
        self.tell(self.wire.exit())
        self.flush()
        until = time.perf_counter() + ORDERLY_END_S
        try:
            while self._outbox:
                await _wait(trio.lowlevel.wait_writable, self.process.stdin, until)
                self.flush()
        except _Late:
            pass
        return max(0.0, until - time.perf_counter())

    def start_match(self, log: Callable[[], Path | None]) -> None:
        """Usage and standard error count from here."""
        self.meter.start_match()
        self.stderr.start_match(log)

    def end_match(self) -> None:
        """Takes the last reading and the last lines of a match; the process may go on to another."""
        self.measure()
        self.meter.end_match()
        self.stderr.end_match(self.process.stderr)

    def quiet(self) -> bool:
        """Whether it wrote nothing after its last answer. No call is open."""
        try:
            self._hear_unasked()
        except RemoteProtocolError:
            return False
        return True

    def measure(self) -> None:
        """Reads the tree's usage, unless it was read a moment ago, and rules on the limits."""
        if time.monotonic() - self.meter.read_at >= SAMPLE_EVERY_S and self.process.exit_code is None:
            self._check_limits()

    async def watch(self) -> None:
        """Keeps reading what the tree uses, until cancelled or a limit is passed."""
        while self.fault is None:
            self._check_limits()
            await trio.sleep(SAMPLE_EVERY_S)

    async def watch_end(self) -> None:
        """Hears of the process's own end when it comes: what it leaves behind may hold its output open for ever."""
        code = await self.process.exited(inf)
        if code is not None and self.fault is None:
            self._finish(gone(code))

    def _check_limits(self) -> None:
        passed = passed_limit(self.meter.read(), self.limits)
        if passed is not None and self.fault is None:
            self._finish(passed)

    # The exchange: one write, the reads until the answer is whole, one deadline over both.

    async def _exchange(self, frame: bytes, limit_s: float, take: Callable[[], Any]) -> Any:
        process, perf_counter = self.process, time.perf_counter
        self.frame = frame
        if self._outbox:
            frame = bytes(self._outbox) + frame
            self._outbox.clear()
        cpu_clock = self.meter.clock
        cpu_before = cpu_ns(cpu_clock)
        started = ended = perf_counter()
        until = started + limit_s
        received = 0
        answer: Any = NEED_DATA
        try:
            written = _write(process.stdin, frame)
            if written < len(frame):
                await self._write_rest(frame, written, until)
            while answer is NEED_DATA:
                data = self._read_at_once()
                if data is None:
                    data = await self._read(until)
                ended = perf_counter()
                if not data:
                    answer = await self._silence("output")
                    break
                self.wire.receive(data)
                answer = take()
                received += len(data)
                if answer is NEED_DATA and received > self.limits.call_output_bytes:
                    answer = _too_much_output(self.limits.call_output_bytes)
        except RemoteProtocolError as error:
            answer = Fault(FaultKind.PROTOCOL, str(error))
        except _Late:
            ended = max(perf_counter(), started + limit_s)
            answer = self.fault or _timeout(limit_s)
            self.wire.give_up()
        except BrokenPipeError:
            ended = perf_counter()
            answer = await self._silence("input")
        wall_s = ended - started
        if wall_s > limit_s and not isinstance(answer, Fault):
            answer = _timeout(limit_s)
        self.charge = Charge(wall_s, max(0, cpu_ns(cpu_clock) - cpu_before) / 1e9)
        self.calls += 1
        self.wall_s += wall_s
        return answer

    async def _write_rest(self, frame: bytes, written: int, until: float) -> None:
        try:
            while written < len(frame):
                await _wait(trio.lowlevel.wait_writable, self.process.stdin, until)
                written += _write(self.process.stdin, frame[written:])
        except _Late:
            self._outbox += frame[written:]  # or the bot would read the next frame in the middle of this one
            raise

    def _read_at_once(self) -> bytes | None:
        """Output that is there already, or is when we have let the bot run on our core; None = we have to wait."""
        if self._quick_reads < READS_BEFORE_A_WAIT:
            self._quick_reads += 1
            try:
                return os.read(self.process.stdout, READ_BYTES)
            except BlockingIOError:
                os.sched_yield()
            try:
                return os.read(self.process.stdout, READ_BYTES)
            except BlockingIOError:
                pass
        self._quick_reads = 0
        return None

    async def _read(self, until: float) -> bytes:
        """At least one byte of output, or b"" at its end. Raises _Late when `perf_counter` has passed `until`."""
        self.before_wait()
        while True:
            await _wait(trio.lowlevel.wait_readable, self.process.stdout, until)
            try:
                return os.read(self.process.stdout, READ_BYTES)
            except BlockingIOError:
                continue

    async def _silence(self, stream: str) -> Fault:
        """The fault of a bot that gave no answer because its end of a `stream` is closed."""
        if self.fault is not None:
            return self.fault
        with trio.move_on_after(0.2):
            await self.process.ended.wait()
        self.measure()
        if self.fault is not None:
            return self.fault
        code = self.process.exit_code
        return Fault(FaultKind.CRASH, f"closed its standard {stream}") if code is None else gone(code)

    def _finish(self, fault: Fault) -> Fault:
        """The process is done for; the tree is killed at once, the rest waits for `kill`."""
        self.fault = fault
        self._outbox.clear()
        self.kill()
        return fault

    def kill(self) -> None:
        """Has the whole tree killed; returns at once."""
        self.process.kill()


def _nothing() -> None:
    pass


class _Late(Exception):
    """The deadline of an exchange has passed."""


async def _wait(wait: Callable[[int], Any], descriptor: int, until: float) -> None:
    """Waits for a descriptor; only a real wait pays for a scope. Raises _Late when `perf_counter` passes `until`."""
    with trio.CancelScope(deadline=trio.current_time() + until - time.perf_counter()) as scope:
        await wait(descriptor)
    if scope.cancelled_caught:
        raise _Late


def _write(descriptor: int, data: bytes | bytearray) -> int:
    """How much of `data` the pipe took. BrokenPipeError when nobody will read it."""
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0


def _timeout(limit_s: float) -> Fault:
    return Fault(FaultKind.TIMEOUT, f"no answer within {limit_s:g} s")


def _too_much_output(limit_bytes: int) -> Fault:
    return Fault(FaultKind.OUTPUT, f"wrote more than {limit_bytes} bytes to standard output in one call")


def _error(error: ErrorObject) -> Fault:
    data = "" if error.data is None else f"; data: {quote(msgspec.json.encode(error.data))}"
    return Fault(FaultKind.ERROR, f"answered error {error.code}: {quote(error.message.encode())}{data}")


def gone(code: int) -> Fault:
    """The fault of a bot whose process is gone."""
    return Fault(FaultKind.CRASH, f"ended by itself, {exit_words(code)}")


def exit_words(code: int) -> str:
    """An exit code or signal in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
