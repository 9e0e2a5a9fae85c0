"""The transport of a metered bot: a module of WebAssembly, whose time is the fuel that it uses.

The program behind the pipes is `run.c` or `run.py` of `referee.harness.adapters.wasm`. It holds the module between two
messages, so that nothing runs unless the referee grants fuel for it, and nothing that the module can see depends on the
machine.
"""

from collections.abc import Callable, Sequence
from math import inf

from referee.games.contract import Fault, FaultKind, Player
from referee.harness.adapters.wasm.frames import CALL, GO_ON, MATCH, NO_LIMIT, READS, WROTE, Buffer, Message, encode
from referee.harness.adapters.wasm.prices import UNITS_PER_S
from referee.harness.errors import RunError
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.core_wait import CoreWaitMeter
from referee.harness.process.pipes import Pipes
from referee.harness.process.transport import Late, Transport
from referee.protocol.messages import Initialize

RUNNER_BYTES = 128 << 20
"""Memory that the runner may use in addition to the module's: 28 MiB in Python, and the compiled code."""
GUARD_S = 10.0
GUARD_FACTOR = 20
"""CPU time that a call may take beyond its limit in fuel: so many times its limit, and `GUARD_S`. Fuel does not see
that memory is slow: following pointers through 256 MiB takes 550 times as long as the fuel says, and a look into a
table of that size every 500 units, as in a search, 3 times."""
GUARD_PATIENCE = 20
"""The wall time that the guard allows, as a multiple of that CPU time: the machine may be busy, or asleep."""


class GuardMet(RunError):
    """A call of a metered bot took so much more CPU time than fuel that the match is void."""

    def __init__(self, player: Player, text: str) -> None:
        super().__init__(text)
        self.player = player


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
        self.core_wait = CoreWaitMeter(process.handle.root, process.handle.stdout)  # never runs: fuel needs no core
        self.used = 0
        """Units of fuel that the last call has used."""
        self.granted = 0
        """Units of fuel that the last call had; `NO_LIMIT` for a call without a limit."""
        self.spent = False
        """The last call used all of them, and the module can no longer run."""
        self._earlier = 0  # units used in the calls before
        self._runs = False  # the module runs, so that a message will come
        self._match = b""  # what is sent before the first call of a match
        self._seat, self._name = 0, ""  # in the match
        self._buffer = Buffer()

    def now(self) -> float:
        return (self._earlier + self.used) / UNITS_PER_S

    def prepare(self, match: Initialize) -> None:
        self.pipes.prepare(match)
        self.drop()
        self._earlier = self.used = self.granted = 0
        self.spent = self._runs = False
        self.process.last_words = None
        self._match = encode(MATCH, match.seed)
        self._seat, self._name = match.seat, match.names[match.seat]

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
            self.process.last_words = message.data.decode()
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
        """Waits for output of the process. GuardMet if it takes too long."""
        pipes, allowed_s = self.pipes, GUARD_S + GUARD_FACTOR * self.granted / UNITS_PER_S
        if self.granted == NO_LIMIT:
            return await pipes.wait(inf, others)
        cpu_before = self._cpu_s()
        until = pipes.now() + GUARD_PATIENCE * allowed_s
        while True:
            try:
                return await pipes.wait(min(until, pipes.now() + allowed_s), others)
            except Late:
                if pipes.now() >= until or self._cpu_s() - cpu_before > allowed_s:
                    limit_s = self.granted / UNITS_PER_S
                    raise GuardMet(
                        self._seat,
                        f"{self._name}: a call with fuel for {limit_s:g} s took more than {allowed_s:g} s of CPU time, "
                        "so the game is void; does it follow pointers through much memory?",
                    ) from None
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
