"""The transport of a metered bot: a module of WebAssembly, whose time is the fuel that it uses.

The program behind the pipes is `run.c` or `run.py`. It holds the module between two
messages, so that nothing runs unless the referee grants fuel for it, and nothing that the module can see depends on the
machine.
"""

from collections.abc import Callable, Sequence
from math import inf

from referee.games.contract import Fault, FaultKind
from referee.harness.adapters.wasm.frames import CALL, GO_ON, MATCH, NO_LIMIT, READS, WROTE, Buffer, Message, encode
from referee.harness.adapters.wasm.prices import UNITS_PER_S
from referee.harness.errors import RunError
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.core_wait import CoreWaitMeter
from referee.harness.process.pipes import Pipes
from referee.harness.process.transport import Late, Transport
from referee.protocol.messages import Initialize
from referee.protocol.text import printable

GUARD_S = 10.0
GUARD_FACTOR = 20
"""CPU time that a call may take: this multiple of its limit in fuel, and `GUARD_S`. A bot that takes more has lost.

Fuel does not see that memory is slow: following pointers through 256 MiB takes 550 times as long as the fuel says, and
a look into a table of that size every 500 units, as in a search, 3 times."""
GUARD_PATIENCE = 20
"""How long the process may get less CPU time than that before the run ends, as a multiple of it: the machine is busy.
"""
GUARD = "CPU time that fuel does not see"
"""In the words about every bot that met the guard."""


class MeteredProcess(BotProcess):
    """The process that runs a module."""

    last_words: str | None = None
    """How the module has ended."""

    async def why_silent(self, stream: str) -> Fault:
        if self.last_words is not None:
            return Fault(FaultKind.CRASH, self.last_words)
        return await super().why_silent(stream)


class Metered(Transport):
    """Lets a module run from message to message. Its clock is the fuel that was used in this match, in seconds."""

    def __init__(self, process: MeteredProcess, make_pipes: Callable[[BotProcess], Pipes]) -> None:
        self.pipes = make_pipes(process)
        self.process = process
        self.background = self.pipes.background
        self.core_wait = CoreWaitMeter(process.root, process.stdout)  # never runs: fuel needs no core
        self.used = 0
        """Units of fuel that the last call has used."""
        self.granted = 0
        """Units of fuel that the last call had; `NO_LIMIT` for a call without a limit."""
        self.spent = False
        """The last call used all of them, and the module can no longer run."""
        self.met_guard = ""
        """How the last call met the guard; empty if it did not."""
        self._earlier = 0  # units used in the calls before
        self._runs = False  # the module runs, so that a message will come
        self._match = b""  # what is sent before the first call of a match
        self._cpu_before, self._since = 0.0, 0.0  # CPU time and time when the call began
        self._buffer = Buffer()

    def now(self) -> float:
        return (self._earlier + self.used) / UNITS_PER_S

    def prepare(self, match: Initialize) -> None:
        self.pipes.prepare(match)
        self.drop()
        self._earlier = self.used = self.granted = 0
        self.spent = self._runs = False
        self.met_guard = ""
        self.process.last_words = None
        self._match = encode(MATCH, match.seed)

    def put(self, frame: bytes) -> bytes:
        return self.pipes.put(frame)

    def send(self) -> bool:
        return False  # frames wait for the next call, which alone grants fuel

    async def send_rest(self, until: float) -> None:
        now = self.now()
        self._earlier += self.used
        self.used, self.granted = 0, NO_LIMIT if until == inf else round((until - now) * UNITS_PER_S)
        frames = bytes(self.pipes.outbox)
        match, self._match = self._match, b""
        self._cpu_before, self._since = self._cpu_s(), self.pipes.now()
        await self._say(match + encode(CALL, self.granted, frames))

    async def _say(self, message: bytes) -> None:
        outbox = self.pipes.outbox
        outbox[:] = message
        self._runs = True
        await self.pipes.send_rest(inf)  # the runner reads whenever the module does not run

    def drop(self) -> None:
        self.pipes.drop()

    def receive(self, at: float) -> bytes | None:
        return None

    async def wait(self, until: float, others: Sequence[int] | None = None) -> bytes:
        if not self._runs:
            await self._say(encode(GO_ON, 0))
        message = await self._message(others)
        if message is None:
            return b""
        self._runs = False
        self.used = message.number
        if message.kind == WROTE:
            return message.data
        if message.kind == READS:
            if self.granted != NO_LIMIT:
                self.used = self.granted
                raise Late
            self.process.last_words = "waits for input, and has not answered"
            return b""
        if message.data:
            self.process.last_words = printable(message.data.decode(errors="replace"))
            return b""
        self.spent = True
        raise Late

    async def _message(self, others: Sequence[int] | None) -> Message | None:
        """Waits for a message; None if the process has ended."""
        while (message := self._buffer.next()) is None:
            data = await self._guarded(others)
            if not data:
                return None
            self._buffer.add(data)
        return message

    async def _guarded(self, others: Sequence[int] | None) -> bytes:
        """Waits for output of the process. Late if the call takes too much CPU time; RunError if it gets none."""
        pipes, allowed_s = self.pipes, GUARD_S + GUARD_FACTOR * self.granted / UNITS_PER_S
        if self.granted == NO_LIMIT:
            return await pipes.wait(inf, others)
        patience_s = GUARD_PATIENCE * allowed_s
        look_at = self._since + allowed_s  # nothing takes more CPU time than time
        while True:
            try:
                return await pipes.wait(look_at, others)
            except Late:
                took_s = self._cpu_s() - self._cpu_before
                if took_s > allowed_s:
                    self.used, limit_s = self.granted, self.granted / UNITS_PER_S
                    self.met_guard = f"had fuel for {limit_s:g} s, and took more than {allowed_s:g} s of {GUARD}"
                    raise
                if pipes.now() > self._since + patience_s:
                    raise RunError(
                        f"the program that runs a module got {took_s:.1f} s of CPU time in {patience_s:g} s, "
                        "so the match cannot go on; the machine is busy, or has stopped it"
                    ) from None
                look_at = pipes.now() + allowed_s - took_s
            finally:
                pipes.core_wait.stop()

    def _cpu_s(self) -> float:
        try:
            return self.process.cpu_ns() / 1e9
        except OSError:
            return 0.0

    def pending(self) -> bytes:
        self._buffer.add(self.pipes.pending())  # nothing, unless the process has ended; reads standard error
        return b""
