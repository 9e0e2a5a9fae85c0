"""One bot's process: its limits, its usage, its standard error and its end."""

import signal
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from time import clock_gettime_ns

import trio

from referee.games.contract import Fault, FaultKind
from referee.harness.isolation.process_tree import descendants, stop_all
from referee.harness.isolation.spawner import Process
from referee.harness.isolation.supervisor import kill
from referee.harness.process import scratch
from referee.harness.process.limits import Limits, kernel_fault, mebibytes, passed_limit
from referee.harness.process.stderr import StderrLog
from referee.harness.process.transport import ProcessAccount, Program, crashed
from referee.harness.process.usage import SAMPLE_EVERY_S, Meter, Moment

CURVE_MOMENTS = 400
"""Readings that are kept: the last ten seconds."""
UNSUPERVISED = Fault(
    FaultKind.CRASH,
    "was killed with its supervisor, the process of Referee above every bot; something killed that process",
)


class BotProcess(Program):
    """A process below a supervisor, held to its limits."""

    def __init__(self, handle: Process, limits: Limits) -> None:
        self.handle = handle
        self.limits = limits
        self.log = StderrLog(limits.stderr_bytes)
        self.isolation = handle.isolation
        self.ended = False
        self._meter = Meter(handle.pid, handle.root, limits.memory_bytes, handle.group, handle.earlier_cpu_s)
        self.cpu_clock = self._meter.clock
        self.cpu_ns = partial(clock_gettime_ns, self.cpu_clock)
        self._curve: deque[Moment] = deque(maxlen=CURVE_MOMENTS)
        self._started = time.monotonic()
        self._paused = False
        self._watching: trio.CancelScope | None = None  # once `watch` has begun
        self._watched = trio.Event()  # set when `watch` is over
        self._leaves = False
        self._end_known = trio.Event()  # set when the end of the process is known, or is waited for no more

    def start_match(self, log: Callable[[], Path | None]) -> None:
        self._meter.start_match()
        if self.limits.cpu_s is not None:
            self._meter.set_backstop(self.limits.cpu_s)
        self._catch_up()
        self.log.start_match(log)

    def end_match(self) -> None:
        self._meter.end_match()
        self._catch_up()

    def pause(self) -> None:
        if self.limits.pause and not self.ended:
            stop_all(self.handle.root)
            self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            for pid in descendants(self.handle.root):
                kill(pid, signal.SIGCONT)

    async def why_silent(self, stream: str) -> Fault:
        with trio.move_on_after(0.2):
            await self._end_known.wait()
        passed = self.measure() or self._passed_limit()
        if passed is not None:
            return passed
        code = self.handle.exit_code
        if code is None:
            return UNSUPERVISED if self._end_known.is_set() else Fault(FaultKind.CRASH, f"closed its standard {stream}")
        return self._end_fault(code)

    def measure(self) -> Fault | None:
        if self.ended or self.handle.exit_code is not None:
            self._meter.take_peak(self.handle.peak_bytes)
        elif time.monotonic() - self._meter.read_at >= 2 * SAMPLE_EVERY_S:
            self._meter.glance()
        elif self.handle.group is None:
            return None  # `_watch_usage` has checked the last reading; only a control group may know more by now
        return self._passed_limit()

    async def watch(self, report: Callable[[Fault], None]) -> None:
        if self.ended:
            return
        try:
            async with trio.open_nursery() as nursery:
                self._watching = nursery.cancel_scope
                nursery.start_soon(self._watch_end, report)
                nursery.start_soon(self.log.follow, self.handle.stderr)
                await trio.sleep(SAMPLE_EVERY_S)
                if (folder := self.handle.scratch) is not None:  # not started before, because many bots end earlier
                    nursery.start_soon(scratch.watch, self.handle, folder, self.limits.scratch_bytes, report)
                await self._watch_usage(report)
        finally:
            self._watched.set()

    def expect_end(self) -> None:
        self._leaves = True
        self.resume()

    async def leave(self, patience_s: float) -> int | None:
        self.handle.close_stdin()
        with trio.move_on_after(max(0.0, patience_s)):
            await self._end_known.wait()
            await self.handle.exited(inf)  # needed if `watch` was cancelled
        return self.handle.exit_code

    def kill(self) -> None:
        self.handle.kill()

    async def end(self) -> None:
        self._catch_up()
        self.ended = True
        if self._watching is not None:
            self._watching.cancel()
            await self._watched.wait()  # else a task that was about to run would read from closed descriptors
        self.log.close()
        self.handle.close_stdin()
        await self.handle.end()
        self._meter.close(self.handle.cpu_s, self.handle.peak_bytes)

    def account(self, brief: bool = False) -> ProcessAccount:
        handle, log = self.handle, self.log
        usage, isolation = self._meter.usage, self.isolation
        if brief:
            return ProcessAccount(usage, (), handle.exit_code, handle.pid, isolation, log.written)
        self._catch_up()
        curve = self._readings()
        return ProcessAccount(
            usage, curve, handle.exit_code, handle.pid, isolation, log.written, log.of_call(), log.end()
        )

    async def _watch_usage(self, report: Callable[[Fault], None]) -> None:
        while True:
            if not self._meter.rests():
                await self._meter.read()
                self._curve.append(self._last_reading())
                if (passed := self._passed_limit()) is not None:
                    return report(passed)
            await trio.sleep(SAMPLE_EVERY_S)

    async def _watch_end(self, report: Callable[[Fault], None]) -> None:
        """Waits for the process itself, because its children may keep its output open."""
        try:
            code = await self.handle.exited(inf)
        finally:
            self._end_known.set()
        if (passed := self.measure()) is not None:
            report(passed)
        if not self._leaves:
            report(UNSUPERVISED if code is None else self._end_fault(code))

    def _passed_limit(self) -> Fault | None:
        """Returns the fault of a bot beyond a limit, by the last reading or by the kernel."""
        group, limit = self.handle.group, self.limits.memory_bytes
        if group is not None and limit is not None and group.out_of_memory():
            return Fault(FaultKind.MEMORY, f"exceeded the memory limit ({mebibytes(limit)}) and was killed")
        return passed_limit(self._meter.usage, self.limits)

    def _end_fault(self, code: int) -> Fault:
        return kernel_fault(code, self.handle.room_bytes, self.limits) or crashed(code)

    def _readings(self) -> tuple[Moment, ...]:
        """Returns the curve, with the last reading also of a bot that has not lived to the first sample."""
        last = self._last_reading()
        sampled = self._curve and self._curve[-1].at_s >= last.at_s
        return tuple(self._curve) if sampled else (*self._curve, last)

    def _last_reading(self) -> Moment:
        """Returns the last reading; of a bot that had ended by then, the most that it has used."""
        usage, at_s = self._meter.usage, round(self._meter.read_at - self._started, 3)
        memory_bytes = usage.memory_bytes or usage.peak_memory_bytes
        return Moment(max(0.0, at_s), memory_bytes, usage.cpu_s, usage.processes)

    def _catch_up(self) -> None:
        if not self.ended:
            self.log.catch_up(self.handle.stderr)
