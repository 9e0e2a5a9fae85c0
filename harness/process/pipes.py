"""What carries a bot's frames and brings its bytes: the pipes of a process, or whatever stands in their place."""

import fcntl
import os
import select
import signal
import sys
import termios
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from time import clock_gettime_ns

import trio

from referee.games.contract import Fault, FaultKind
from referee.harness.isolation.process_tree import FLOOR, descendants, stop_all
from referee.harness.isolation.spawner import Process
from referee.harness.isolation.supervisor import kill
from referee.harness.process import scratch
from referee.harness.process.core_wait import Noise, Thread, Threads, between, own_thread, threads_below
from referee.harness.process.limits import Limits, exit_words, kernels_ruling, mebibytes, passed_limit
from referee.harness.process.stall_clock import presence
from referee.harness.process.stderr import READ_BYTES, StderrLog
from referee.harness.process.usage import SAMPLE_EVERY_S, Meter, Usage
from referee.harness.seats.seat import Moment
from referee.protocol.messages import Initialize

NEAR_S = 0.005
"""So long an answer is waited for without giving way to the other tasks: a real wait of trio's costs 27 µs, as much as
all the rest of a call. It is a fifth of the time between two readings of what bots use."""
CURVE_MOMENTS = 400
"""Readings of a bot's usage that are kept: the last ten seconds."""
UNSUPERVISED = Fault(
    FaultKind.CRASH, "ended with its supervisor, the process above every bot, which somebody has killed"
)


QUICK_S = 0.005
"""Of calls that take longer we find out how long the bot waited for a core."""


class Late(Exception):
    """The deadline of an exchange has passed."""


class Transport(ABC):
    """Frames go out in the order in which they were `put`; bytes come back.

    A deadline `until` is a time on `now`. What is written and read here is judged by `referee.harness.seats.program`.
    """

    writes_ahead = False
    """`write_ahead` is to be called before the time of a call begins."""

    now: Callable[[], float]
    """The clock that calls are charged by, in seconds."""

    @abstractmethod
    def put(self, frame: bytes) -> bytes:
        """Adds a frame to what is to be sent, and gives it back as it will be sent."""

    @abstractmethod
    def send(self) -> bool:
        """Sends what was put, as far as it is taken at once; True = all of it. BrokenPipeError if nobody reads it."""

    @abstractmethod
    async def send_rest(self, until: float) -> None:
        """Sends what is left to be sent. Raises Late; then the rest goes before the next frame."""

    @abstractmethod
    def drop(self) -> None:
        """What waits to be sent is not sent."""

    @abstractmethod
    def receive(self, at: float) -> bytes | None:
        """Output that is there at once; b"" at its end; None = there is none, or others have waited for a turn since
        `NEAR_S`, seen from the time `at`. Another open match is such another: it waits for nobody."""

    @abstractmethod
    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        """At least one byte of output, or b"" at its end. Raises Late.

        The other tasks have their turn when one of the descriptors `others` has something to say, and every `NEAR_S`.
        They have it at once if `others` is None, since other seats are asked too, and while another match is open.
        """

    @abstractmethod
    def pending(self) -> bytes:
        """Output that is there; b"" if there is none, or no more."""

    @property
    def background(self) -> tuple[int, ...]:
        """Descriptors by which the bot is heard of beside its answers."""
        return ()

    @abstractmethod
    async def why_silent(self, stream: str) -> Fault:
        """The fault of a bot that gave no answer because its end of a `stream` is closed."""

    async def write_ahead(self) -> None:
        """Sends what is to be on its way before the bot's time begins."""

    def cpu_ns(self) -> int:
        """CPU time of the bot's main process, in nanoseconds."""
        return 0

    def noise(self, answered: bool) -> Noise | None:
        """How long the bot ran and waited for a core since the open call has taken longer than a few milliseconds;
        None = it has not, or nobody knows. What we waited ourselves counts too where there is an answer: it may have
        been there meanwhile."""
        return None

    def forget_noise(self) -> None:
        """A call begins."""

    def resume(self) -> None:
        """The bot goes on, if it was stopped."""

    def pause(self) -> None:
        """The bot is stopped until it is needed, if that is wanted."""

    def start_match(self, match: Initialize, log: Callable[[], Path | None]) -> None:
        """Usage and standard error count from here; the file for the latter is `log()`."""

    def rests(self) -> bool:
        """Whether the bot has taken in all that it was sent and is busy with nothing, as far as that can be seen: it
        has used no time since it was asked before. What is left to be sent is sent. No call is open."""
        return True

    def end_match(self) -> None:
        """Takes the last reading and the last lines of a match, also of a bot that has ended."""

    def measure(self) -> Fault | None:
        """Reads what the bot uses, unless that was read a moment ago: the limit that it has passed, if any."""
        return None

    async def watch(self, ruled: Callable[[Fault], None]) -> None:
        """Follows the bot until `end`; `ruled` is told of a limit that it passes, and of its own end."""

    def kill(self) -> None:
        """Has the bot killed with everything that it started; returns at once."""

    async def leave(self, patience_s: float) -> int | None:
        """Closes the bot's input and waits for its own end: the exit code; None = it has not ended by then."""
        return self.exit_code

    async def end(self) -> None:
        """Ends the bot. Returns when nothing of it is left."""

    @property
    def usage(self) -> Usage:
        """What it has used in this match."""
        return Usage()

    @property
    def curve(self) -> tuple[Moment, ...]:
        """What it used at the last few hundred readings."""
        return ()

    @property
    def exit_code(self) -> int | None:
        """As a shell's, negative for a signal; None while it runs."""
        return None

    @property
    def pid(self) -> int | None:
        """The process, as it is seen from here; None: there is none."""
        return None

    @property
    def isolation(self) -> Mapping[str, str]:
        """The layer that keeps each guarantee."""
        return {}

    @property
    def stderr(self) -> Path | None:
        """The file with its standard error, if there is anything in it."""
        return None

    def mark(self) -> int:
        """A call begins: what comes on standard error from here on belongs to it. How much is in its file by now."""
        return 0

    def call_stderr(self) -> bytes:
        """What came on standard error since the last mark: the end of it, if it was much."""
        return b""

    def last_words(self) -> tuple[str, ...]:
        """The last lines on its standard error up to now."""
        return ()


class Pipes(Transport):
    """The pipes of a process that was started below a supervisor."""

    def __init__(self, process: Process, limits: Limits) -> None:
        self.presence = presence()
        self.now = self.presence.now
        self.process = process
        self.limits = limits
        self.meter = Meter(process.pid, process.root, limits.memory_bytes, process.group, process.before_s)
        self.outbox = bytearray()
        self._log = StderrLog(limits.stderr_bytes)
        self._near: select.poll | None = None  # for our output, and `_others`
        self._others: Sequence[int] = ()
        self._cpu_clock = self.meter.clock
        self._streams = select.poll()
        self._streams.register(process.stdout, select.POLLIN)
        self._streams.register(process.stderr, select.POLLIN)
        self._stderr = select.poll()
        self._stderr.register(process.stderr, select.POLLIN)
        self._threads: tuple[Threads, bool] | None = None  # as they were when the open call had taken `QUICK_S`
        self._own_thread = Thread(0, 0)
        self._paused = False
        self._curve: deque[Moment] = deque(maxlen=CURVE_MOMENTS)
        self._started = time.monotonic()
        self._watched = trio.CancelScope()
        self._leaves = False  # it was told to end: then its end is no fault
        self._ended = False
        self._end_known = trio.Event()  # set when the process's end was heard of, or is waited for no more
        self._unsupervised = False
        self._sent_something = False  # something was sent since it rested
        self._rested_ns = -1  # its CPU time when it was asked whether it rests; 0 = it has ended

    def put(self, frame: bytes) -> bytes:
        self.outbox += frame
        self._sent_something = True
        return frame

    def send(self) -> bool:
        outbox = self.outbox
        if outbox:
            try:
                del outbox[: os.write(self.process.stdin, outbox)]
            except BlockingIOError:
                return False
        return not outbox

    async def send_rest(self, until: float) -> None:
        while not self.send():
            await self._wait(trio.lowlevel.wait_writable, self.process.stdin, until)

    def drop(self) -> None:
        self.outbox.clear()

    def receive(self, at: float) -> bytes | None:
        presence = self.presence
        if at - presence.gave_way < NEAR_S and presence.matches <= 1:
            try:
                return os.read(self.process.stdout, READ_BYTES)
            except BlockingIOError:
                pass
        return None

    @property
    def background(self) -> tuple[int, ...]:
        return self.process.stderr, self.process.control.fileno()

    def pending(self) -> bytes:
        data = b""
        for descriptor, event in self._streams.poll(0):
            if descriptor == self.process.stdout:
                data = os.read(descriptor, READ_BYTES)
            elif not self._ended and event & select.POLLIN:
                self._log.catch_up(descriptor)
            else:
                self._streams.unregister(descriptor)
        return data

    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        if self._threads is None:
            soon = min(until, self.now() + QUICK_S)
            try:
                if others is None or self.presence.matches > 1:
                    return await self._output(soon)
                return await self._output_near(soon, others)
            except Late:
                if soon == until:
                    raise
                if not FLOOR:
                    self._threads = threads_below(self.process.root)
                    self._own_thread = own_thread()
        return await self._output(until)

    async def _output_near(self, until: float, others: Sequence[int]) -> bytes:
        """`wait`, in which the others have their turn by a checkpoint: that costs a third of a real wait of trio's.
        When it is their turn they have it first: else answers that are there whenever we look would keep them from it.
        """
        presence = self.presence
        while True:
            now = presence.now()
            if now - presence.gave_way >= NEAR_S:
                presence.gave_way = now
                await trio.lowlevel.checkpoint()
            if (data := self._poll(until, others)) is not None:
                return data
            if presence.now() >= until:
                raise Late
            presence.gave_way = -inf  # it is the others' turn

    def _poll(self, until: float, others: Sequence[int]) -> bytes | None:
        """Output that is there or comes before `until`; None = it does not, or another task is to have its turn."""
        stdout, presence = self.process.stdout, self.presence
        near = self._near
        if near is None or others != self._others:
            self._others = others
            self._near = near = select.poll()
            for descriptor in (stdout, *others):
                near.register(descriptor, select.POLLIN)
        for descriptor, event in near.poll(max(0.0, min(until, presence.gave_way + NEAR_S) - presence.now()) * 1000):
            if descriptor == stdout:
                return os.read(stdout, READ_BYTES)
            if not event & select.POLLIN:  # closed at the other end: the poll would return at once for ever
                near.unregister(descriptor)
        return None

    async def _output(self, until: float) -> bytes:
        while True:
            self.presence.gave_way = self.now()
            await self._wait(trio.lowlevel.wait_readable, self.process.stdout, until)
            try:
                return os.read(self.process.stdout, READ_BYTES)
            except BlockingIOError:
                continue

    async def _wait(self, wait: Callable[[int], Awaitable[None]], descriptor: int, until: float) -> None:
        """Waits for a descriptor; only a real wait pays for a scope. Raises Late when our clock passes `until`."""
        while True:
            left_s = until - self.now()
            with trio.CancelScope(deadline=trio.current_time() + left_s) as scope:
                await wait(descriptor)
            if not scope.cancelled_caught:
                return
            if self.now() >= until or left_s <= 0:
                raise Late

    def forget_noise(self) -> None:
        self._threads = None

    def noise(self, answered: bool) -> Noise | None:
        if self._threads is None:
            return None
        before, all_before = self._threads
        bot = between(before, all_before, threads_below(self.process.root)[0])
        own_wait_ns = 0
        if answered or _unread_bytes(self.process.stdout):
            own_wait_ns = own_thread().waited_ns - self._own_thread.waited_ns
        return Noise(bot.ran_s, bot.waited_s + own_wait_ns / 1e9)

    def pause(self) -> None:
        if self.limits.pause and not self._ended:
            stop_all(self.process.root)
            self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            for pid in descendants(self.process.root):
                kill(pid, signal.SIGCONT)

    async def why_silent(self, stream: str) -> Fault:
        with trio.move_on_after(0.2):
            await self._end_known.wait()
        passed = self.measure() or self._passed()
        if passed is not None:
            return passed
        code = self.process.exit_code
        if code is None:
            return UNSUPERVISED if self._unsupervised else Fault(FaultKind.CRASH, f"closed its standard {stream}")
        return self._gone(code)

    def _gone(self, code: int) -> Fault:
        return kernels_ruling(code, self.process.room_bytes, self.limits) or gone(code)

    def cpu_ns(self) -> int:
        try:
            return clock_gettime_ns(self._cpu_clock)
        except OSError:
            return 0  # the process is gone

    def start_match(self, match: Initialize, log: Callable[[], Path | None]) -> None:
        self.meter.start_match()
        if self.limits.cpu_s is not None:
            self.meter.set_backstop(self.limits.cpu_s)
        self._catch_up()
        self._log.start_match(log)

    def rests(self) -> bool:
        if self._sent_something:
            try:
                sent = self.send()
            except BrokenPipeError:
                sent = True
            before, self._rested_ns = self._rested_ns, self.cpu_ns()
            busy = self._rested_ns not in (before, 0) or _unread_bytes(self.process.stdin) > 0
            self._sent_something = busy or not sent
        return not self._sent_something

    def end_match(self) -> None:
        self.meter.end_match()
        self._catch_up()

    def measure(self) -> Fault | None:
        if self._ended or self.process.exit_code is not None:
            self.meter.take_peak(self.process.peak_bytes)
        elif time.monotonic() - self.meter.read_at >= 2 * SAMPLE_EVERY_S:  # else the sampler has just read it, or will
            self.meter.glance()
        elif self.process.group is None:  # checked when it was read; only a group may know more now
            return None
        return self._passed()

    def _passed(self) -> Fault | None:
        """The limit that it has passed, if any, by what was measured or by the kernel's word."""
        group, limit = self.process.group, self.limits.memory_bytes
        if group is not None and limit is not None and group.out_of_memory():
            detail = f"wanted more memory than the limit of {mebibytes(limit)}; the system ended a process of it"
            return Fault(FaultKind.MEMORY, detail)
        return passed_limit(self.usage, self.limits)

    async def watch(self, ruled: Callable[[Fault], None]) -> None:
        with self._watched:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch_usage, ruled)
                nursery.start_soon(self._watch_end, ruled)
                if (folder := self.process.scratch) is not None:
                    nursery.start_soon(scratch.watch, self.process, folder, self.limits.scratch_bytes, ruled)
                nursery.start_soon(self._log.follow, self.process.stderr)

    async def _watch_usage(self, ruled: Callable[[Fault], None]) -> None:
        while True:
            await trio.sleep(SAMPLE_EVERY_S)
            if not self.meter.rests():
                await self.meter.read()
                self._curve.append(self._moment())
                if (passed := self._passed()) is not None:
                    return ruled(passed)

    async def _watch_end(self, ruled: Callable[[Fault], None]) -> None:
        """Hears of the process's own end when it comes: what it leaves behind may hold its output open for ever."""
        try:
            code = await self.process.exited(inf)
            self._unsupervised = code is None
        finally:
            self._end_known.set()
        if (passed := self.measure()) is not None:
            ruled(passed)
        if not self._leaves:
            ruled(UNSUPERVISED if code is None else self._gone(code))

    def kill(self) -> None:
        self.process.kill()

    async def leave(self, patience_s: float) -> int | None:
        self._leaves = True
        self.resume()
        until = self.now() + patience_s
        try:
            await self.send_rest(until)
        except (Late, BrokenPipeError):
            pass
        self.process.close_stdin()
        with trio.move_on_after(max(0.0, until - self.now())):
            await self._end_known.wait()
            await self.process.exited(inf)  # needed if the watch was cancelled
        return self.process.exit_code

    async def end(self) -> None:
        self._watched.cancel()
        self._catch_up()
        self._ended = True
        self._log.close()
        self.process.close_stdin()
        await self.process.end()
        self.meter.close(self.process.cpu_s, self.process.peak_bytes)

    @property
    def usage(self) -> Usage:
        return self.meter.usage

    @property
    def curve(self) -> tuple[Moment, ...]:
        """As it was sampled, and as it was read last: a bot that has not lived to its first sample has that one."""
        last = self._moment()
        sampled = self._curve and self._curve[-1].at_s >= last.at_s
        return tuple(self._curve) if sampled else (*self._curve, last)

    def _moment(self) -> Moment:
        """What it used when it was read last; if it ended before that, the most that it has used."""
        usage, at_s = self.usage, round(self.meter.read_at - self._started, 3)
        memory_bytes = usage.memory_bytes or usage.peak_memory_bytes
        return Moment(max(0.0, at_s), memory_bytes, usage.cpu_s, usage.processes)

    @property
    def exit_code(self) -> int | None:
        return self.process.exit_code

    @property
    def pid(self) -> int | None:
        return self.process.pid

    @property
    def isolation(self) -> Mapping[str, str]:
        return self.process.isolation

    @property
    def stderr(self) -> Path | None:
        return self._log.written

    def mark(self) -> int:
        return self._log.mark()

    def call_stderr(self) -> bytes:
        self._catch_up()
        return self._log.of_call()

    def last_words(self) -> tuple[str, ...]:
        self._catch_up()
        return self._log.last_words()

    def _catch_up(self) -> None:
        if not self._ended and self._stderr.poll(0):
            self._log.catch_up(self.process.stderr)


def _unread_bytes(descriptor: int) -> int:
    """What lies in a pipe, given either end of it."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)


def gone(code: int) -> Fault:
    """The fault of a bot whose process is gone."""
    return Fault(FaultKind.CRASH, f"ended by itself, {exit_words(code)}")
