"""A metered bot at a seat: a module of WebAssembly, whose limits of time hold in fuel."""

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from referee.addons.wasm import runner
from referee.addons.wasm.measure import FUEL
from referee.addons.wasm.prices import UNITS_PER_MS, UNITS_PER_S
from referee.addons.wasm.transport import Metered, MeteredProcess
from referee.games.contract import Call, Fault, FaultKind, Player
from referee.games.game import Game
from referee.harness.isolation.spawner import Ends
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.seat import MatchContext, Reply
from referee.harness.seats.start import MakePipes, Start
from referee.protocol.connection import AnswerDecoder, Connection
from referee.protocol.messages import Clock, Initialize

RUNNER_BYTES = 128 << 20
"""Memory that the runner may use in addition to the module's: 28 MiB in Python, and the compiled code."""


class ModuleStart(Start):
    """A module, which a program of ours runs. That program and fuel keep the module's own limits."""

    def command(self, argv: tuple[str, ...], memory_bytes: int | None) -> tuple[str, ...]:
        return runner.started(argv, memory_bytes)

    def limits(self, limits: Limits) -> Limits:
        memory_bytes = None if limits.memory_bytes is None else limits.memory_bytes + RUNNER_BYTES
        return msgspec.structs.replace(limits, cpu_s=None, memory_bytes=memory_bytes)

    def folders(self) -> tuple[str, ...]:
        return runner.libraries()

    def process(self, ends: Ends, limits: Limits, scratch: Path) -> MeteredProcess:
        return MeteredProcess(ends, limits, scratch)

    def seat(self, process: BotProcess, make_pipes: MakePipes, limits: Limits, entrant: Entrant) -> "MeteredBot":
        assert isinstance(process, MeteredProcess)
        return MeteredBot(
            Metered(process, make_pipes, runner.is_interpreted(entrant.argv)), process, limits, entrant.argv
        )


class MeteredBot(Bot):
    """A module. Each match begins with a new instance, so that it repeats whatever was played before."""

    transport: Metered

    def __init__(self, transport: Metered, program: MeteredProcess, limits: Limits, command: tuple[str, ...]) -> None:
        super().__init__(transport, program, limits)
        self._command = command

    def record(self, game: Game, seed: int, player: Player) -> Mapping[str, Any]:
        return {"metered": runner.metering(self._command)}

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self.wire = Connection(self.limits.frame_bytes)
        fuel_ms = self._shown_fuel_ms(match.limits.call_ms)
        limits = msgspec.structs.replace(match.limits, fuel_per_ms=UNITS_PER_MS, call_ms=fuel_ms)
        reply = await super().greet(msgspec.structs.replace(match, limits=limits), context)
        self.handshake = msgspec.structs.replace(self.handshake, reuse=True)
        self.totals.measured[FUEL.name] = 0
        return reply

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        limit_s = min(limit_s, self._fuel_s(), self._cpu_left_s())
        shown = msgspec.structs.replace(clock, call_ms=self._shown_fuel_ms(clock.call_ms))
        return await super().ask(call, shown, limit_s)

    def _fuel_s(self) -> float:
        """Returns the limit of a call by `Limits.fuel`, in seconds."""
        return inf if self.limits.fuel is None else self.limits.fuel / UNITS_PER_S

    def _shown_fuel_ms(self, call_ms: int | None) -> int | None:
        if self.limits.fuel is None:
            return call_ms
        fuel_ms = self.limits.fuel // UNITS_PER_MS
        return fuel_ms if call_ms is None else min(call_ms, fuel_ms)

    def _used(self) -> int:
        """Returns the units of this match so far."""
        used: int = self.totals.measured.get(FUEL.name, 0)
        return used

    def _cpu_left_s(self) -> float:
        limit_s = self.limits.cpu_s
        return inf if limit_s is None else max(0.0, limit_s - self._used() / UNITS_PER_S)

    async def _exchange(self, frame: bytes, limit_s: float, decoder: AnswerDecoder | None) -> Reply:
        reply = await super()._exchange(frame, limit_s, decoder)
        fuel = self.transport.used
        self.totals.measured[FUEL.name] = self._used() + fuel
        if self.transport.spent and isinstance(reply.value, Fault):
            self._finish(reply.value)
        return Reply(reply.value, msgspec.structs.replace(reply.cost, measured={FUEL.name: fuel}))

    def _late(self, limit_s: float) -> Fault:
        transport = self.transport
        if self._cpu_left_s() <= limit_s and self.limits.cpu_s is not None:
            return Fault(FaultKind.CPU, f"used more fuel than {self.limits.cpu_s:g} s of CPU time are worth")
        if transport.spent:
            detail = f"call {self.totals.calls + 1} used up its {transport.granted:,} units of fuel"
        else:
            detail = f"call {self.totals.calls + 1} got no answer: the bot waits for more input"
        return self._explained(Fault(FaultKind.TIMEOUT, detail))

    def _seems_idle(self) -> bool:
        return not self.transport.spent

    async def end(self, orderly: bool = True) -> None:
        """Ends the program. What a module would do after its last answer counts for nothing, so it does not run."""
        await super().end(orderly=False)
