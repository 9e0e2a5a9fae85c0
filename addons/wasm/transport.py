"""The transport of a metered bot: a module of WebAssembly, whose time is the fuel that it uses.

The program behind the pipes is `run.c` or `run.py`. It holds the module between two
messages, so that nothing runs unless the referee grants fuel for it, and nothing that the module can see depends on the
machine.
"""

from collections.abc import Callable, Sequence
from math import inf

from referee.addons.wasm import runner
from referee.addons.wasm.frames import CALL, GO_ON, MATCH, NO_LIMIT, READS, USES, WROTE, Buffer, Message, encode
from referee.addons.wasm.prices import UNITS_PER_S
from referee.games.contract import Fault, FaultKind
from referee.harness.common.errors import RunError
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.core_wait import CoreWaitMeter
from referee.harness.process.pipes import Pipes
from referee.harness.process.transport import Late, Transport
from referee.protocol.messages import Initialize
from referee.protocol.text import printable

GUARD_S = 10.0
GUARD_FACTOR = 20
INTERPRETER_FACTOR = 2000
"""CPU time that a module may take in a match: `GUARD_S`, and this multiple of the fuel that it has used, in seconds. A
bot that takes more has lost. The interpreter takes up to 100 times as long as the usual engine.

Fuel does not see that memory is slow: a module that only follows pointers takes up to 1,500 times as long as the fuel
says, and a search with a large table up to 3 times."""
GUARD_PATIENCE = 20
"""How long the process may get less CPU time than that before the run ends, as a multiple of it: the machine is busy.
"""
SHORTEST_LOOK_S = 0.01
"""How soon after one look at the CPU time the next may come."""
GUARD = "CPU time that fuel does not see"
"""In the words about every bot that met the guard."""


class MeteredProcess(BotProcess):
    """The process that runs a module."""

    last_words: str | None = None
    """How the module has ended."""
    met_guard: str | None = None
    """How the module has met the guard."""

    async def why_silent(self, stream: str) -> Fault:
        if self.met_guard is not None:
            return Fault(FaultKind.CPU, self.met_guard)
        if self.last_words is not None:
            return Fault(FaultKind.CRASH, self.last_words)
        return await super().why_silent(stream)


class Metered(Transport):
    """Lets a module run from message to message. Its clock is the fuel that was used in this match, in seconds."""

    def __init__(self, process: MeteredProcess, make_pipes: Callable[[BotProcess], Pipes], interpreted: bool) -> None:
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
        self._factor = INTERPRETER_FACTOR if interpreted else GUARD_FACTOR
        self._reports = runner.runner_in_c() is not None  # else nobody knows what a call has used before it ends
        self._earlier = 0  # units used in the calls before
        self._runs = False  # the module runs, so that a message will come
        self._match = b""  # what is sent before the first call of a match
        self._cpu_before = 0.0  # CPU time when the match began
        self._buffer = Buffer()

    @property
    def carrier(self) -> Transport:
        return self.pipes

    def now(self) -> float:
        return (self._earlier + self.used) / UNITS_PER_S

    def prepare(self, match: Initialize) -> None:
        self.pipes.prepare(match)
        self.drop()
        self._earlier = self.used = self.granted = 0
        self.spent = self._runs = False
        self.process.last_words = self.process.met_guard = None
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
        if match:
            self._cpu_before = self._cpu_s()
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
        if self._cpu_left_s(self.used) == 0:
            return b""
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
        """Waits for a message; None if the process has ended, or has met the guard."""
        while True:
            while (message := self._buffer.next()) is None:
                data = await self._guarded(others)
                if not data:
                    return None
                self._buffer.add(data)
            if message.kind != USES:
                return message
            self.used = message.number

    async def _guarded(self, others: Sequence[int] | None) -> bytes:
        """Waits for output of the process. Empty at its end or at the guard; RunError if it gets no CPU time."""
        pipes, since = self.pipes, self.pipes.now()
        used = self.used if self._reports else self.granted
        while (left_s := self._cpu_left_s(used)) > 0:
            try:
                return await pipes.wait(pipes.now() + max(left_s, SHORTEST_LOOK_S), others)
            except Late:
                patience_s = GUARD_PATIENCE * max(GUARD_S, left_s)
                if pipes.now() > since + patience_s:
                    raise RunError(
                        f"the program that runs a module needs {left_s:.1f} s more of CPU time, and did not get it in "
                        f"{patience_s:g} s, so the match cannot go on; the machine is busy, or has stopped it"
                    ) from None
            finally:
                pipes.core_wait.stop()
        return b""

    def _cpu_left_s(self, used: int) -> float:
        """Returns how much CPU time the module may still take, given the fuel of the last call. 0: it met the guard."""
        if used == NO_LIMIT:
            return inf
        allowed_s = GUARD_S + self._factor * (self._earlier + used) / UNITS_PER_S
        left_s = allowed_s + self._cpu_before - self._cpu_s()
        if left_s > 0:
            return left_s
        self.process.met_guard = (
            f"took more than {allowed_s:.1f} s of {GUARD}: in a match, {GUARD_S:g} s and {self._factor} times its fuel "
            f"are allowed, which was {self.now():.3f} s"
        )
        return 0.0

    def _cpu_s(self) -> float:
        try:
            return self.process.cpu_ns() / 1e9
        except OSError:
            return 0.0

    def pending(self) -> bytes:
        self._buffer.add(self.pipes.pending())  # nothing, unless the process has ended; reads standard error
        return b""
