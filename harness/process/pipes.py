"""The pipes of a bot's process."""

import os
import random
import select
from collections.abc import Awaitable, Callable, Sequence
from math import inf

import trio

from referee.harness.process.bot_process import BotProcess, State
from referee.harness.process.core_wait import LOOK_EVERY_S, QUICK_S, CoreWaitMeter, is_ready, unread_bytes
from referee.harness.process.stall_clock import stall_clock
from referee.harness.process.stderr import READ_BYTES
from referee.harness.process.transport import Late, Transport
from referee.harness.process.usage import cpu_ns

GONE = State.GONE  # looked up here, since each call needs it
NEAR_S = 0.005
"""Longest poll for an answer before other tasks get a turn. A wait by trio costs 27 µs, as much as the rest of a call.
This is a fifth of the time between two readings of what bots use."""
LATE_S = 0.001
"""Output that has waited for us for longer counts from when it may have come."""


class Pipes(Transport):
    """The pipes of a process that was started below a supervisor."""

    def __init__(self, process: BotProcess) -> None:
        self.process = process
        self.limits = process.limits
        self.clock = stall_clock()
        self.now = self.clock.now
        group = process.group
        counted = (lambda: None) if group is None else group.cpu_s
        self.core_wait = CoreWaitMeter(process.root, process.stdout, counted)
        self.background = process.stderr, process.link.control.fileno()
        self.outbox = bytearray()
        self._stdout = process.stdout
        self._near: select.poll | None = None  # for our output, and `_others`
        self._others: Sequence[int] = ()
        self._streams = select.poll()
        self._streams.register(process.stdout, select.POLLIN)
        self._streams.register(process.stderr, select.POLLIN)
        self._unread_since = 0.0  # the earliest time at which the output of the last `wait` can have come
        self._sent_something = False  # since `rests` was last true
        self._cpu_ns = -1  # CPU time at the last call of `rests`; 0 = the process has ended

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
        clock = self.clock
        if at - clock.last_yield < NEAR_S and at < clock.stop and clock.matches <= 1:
            try:
                return os.read(self._stdout, READ_BYTES)
            except BlockingIOError:
                pass
        return None

    def came(self) -> float:
        now = self.now()
        return now if now - self._unread_since < LATE_S else self._unread_since

    def pending(self) -> bytes:
        data = b""
        if self.process.state is GONE:
            return data
        for descriptor, event in self._streams.poll(0):
            if descriptor == self._stdout:
                data = os.read(descriptor, READ_BYTES)
            elif event & select.POLLIN:
                self.process.log.catch_up(descriptor)
            else:
                self._streams.unregister(descriptor)
        return data

    def unread(self) -> bool:
        try:
            return bool(self.outbox) or unread_bytes(self.process.stdin) > 0
        except OSError:
            return False  # its input is closed

    def rests(self) -> bool:
        if self._sent_something:
            try:
                sent = self.send()
            except BrokenPipeError:
                sent = True
            before, self._cpu_ns = self._cpu_ns, cpu_ns(self.process.cpu_clock)
            busy = self._cpu_ns not in (before, 0) or unread_bytes(self.process.stdin) > 0
            # A bot that shares our core may have been stopped half way: it uses no CPU time while we run.
            self._sent_something = busy or not sent or self.is_ready()
        return not self._sent_something

    def is_ready(self) -> bool:
        return is_ready(self.process.pid)

    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        if not self.core_wait.running:
            soon = min(until, self.now() + QUICK_S)
            try:
                if others is None or self.clock.matches > 1:
                    return await self._output(soon)
                return await self._output_near(soon, others)
            except Late:
                if soon == until:
                    raise
                self.core_wait.start(late_s=self.now() - soon)
        while True:
            soon = min(until, self.now() + random.uniform(0.5, 1.5) * LOOK_EVERY_S)
            try:
                return await self._output(soon)
            except Late:
                if soon == until:
                    raise
                self.core_wait.look()

    async def _output_near(self, until: float, others: Sequence[int]) -> bytes:
        """Waits, and gives other tasks a turn by checkpoints, which cost a third of a wait by trio.

        When their turn has come, they get it before the next look for output: else a bot that answers at once would
        keep them from it.
        """
        clock, others_turn = self.clock, False
        self._unread_since = inf
        while True:
            now = clock.now()
            if others_turn or now - clock.last_yield >= NEAR_S or now >= clock.stop:
                clock.last_yield = now
                await trio.lowlevel.checkpoint()
                # After more than `NEAR_S`, the next look takes what is there, and does not wait.
                self._unread_since = now if clock.now() - now >= NEAR_S else inf
            if (data := self._poll(until, others)) is not None:
                return data
            if clock.now() >= until:
                raise Late
            others_turn = True

    def _poll(self, until: float, others: Sequence[int]) -> bytes | None:
        """Returns output that comes before `until`; None if time runs out, or if another task must get a turn."""
        stdout, clock = self._stdout, self.clock
        near = self._near
        if near is None or others != self._others:
            self._others = others
            self._near = near = select.poll()
            for descriptor in (stdout, *others):
                near.register(descriptor, select.POLLIN)
        for descriptor, event in near.poll(max(0.0, min(until, clock.last_yield + NEAR_S) - clock.now()) * 1000):
            if descriptor == stdout:
                return os.read(stdout, READ_BYTES)
            if not event & select.POLLIN:  # closed at the other end: every poll would return at once
                near.unregister(descriptor)
        return None

    async def _output(self, until: float) -> bytes:
        while True:
            self.clock.last_yield = self.now()
            await self._wait(trio.lowlevel.wait_readable, self._stdout, until)
            self._unread_since = self.clock.unread_since
            try:
                return os.read(self._stdout, READ_BYTES)
            except BlockingIOError:
                continue

    async def _wait(self, wait: Callable[[int], Awaitable[None]], descriptor: int, until: float) -> None:
        """Waits for a descriptor. Late when the stall clock passes `until`."""
        while True:
            left_s = until - self.now()
            with trio.CancelScope(deadline=trio.current_time() + left_s) as scope:
                await wait(descriptor)
            if not scope.cancelled_caught:
                return
            if self.now() >= until or left_s <= 0:
                raise Late
