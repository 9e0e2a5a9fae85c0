"""A fault again: a bot is asked what it was asked up to the call of a bundle, without a rival and without limits."""

from collections.abc import Awaitable, Callable
from math import inf
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import Call, Fault, FaultKind
from referee.harness.errors import RunError, UsageError
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Loop
from referee.harness.match.replay_prefix import relive
from referee.harness.process.limits import Limits, OnNoise, passed_limit
from referee.harness.process.stderr import lines as printable_lines
from referee.harness.programs.spec import Entrant
from referee.harness.replay import fault_report
from referee.harness.replay.fault_report import Bundle
from referee.harness.replay.lines import Turn, plain
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions
from referee.harness.seats.roster import open_roster
from referee.harness.seats.seat import EngineSeat, Seat
from referee.protocol.messages import Encoding

PATIENCE = 10
"""So many times its limit, and this many seconds at least, a call may take that nobody debugs."""
SAFETY = 4
"""So many times the memory and the processes of the match it may use then: a bomb is to harm nobody."""

Waits = Callable[[Seat], Awaitable[None]]
"""Is called before the call in question is made: a debugger may be attached."""


class Differs(Struct, frozen=True):
    """The first call before the one in question that was not answered as in the record."""

    call: int
    method: str
    recorded: Any
    now: Any


class Reproduced(Struct, frozen=True):
    """What the bot did this time."""

    bundle: str
    call: int
    method: str
    calls: int
    """So many calls before it were made again."""
    differs: Differs | None
    """None: all were answered as in the record."""
    recorded: str
    """What it did in the match: a fault's kind and detail."""
    now: str
    """What it did now: likewise, or its answer."""
    same: bool
    """A fault of the same kind, with the same answer if it was an illegal one."""
    at_fault: bool
    """Whether it was at fault at all."""
    wall_s: float
    said: tuple[str, ...]
    """The last lines of its standard error in the call."""


class _Ended(Exception):
    """The bot's part is over: what came of the last call, and what that was."""

    def __init__(self, now: Any, call: int, method: str) -> None:
        super().__init__(method)
        self.now, self.call, self.method = now, call, method


async def reproduce(path: Path, number: int, entrant: Entrant, waits: Waits | None = None) -> Reproduced:
    """Makes the calls of a bundle again, or of a record up to the fault of that number. UsageError for what is neither,
    RunError if the bot cannot be started.

    Limits of time, CPU, memory and processes are wide, and with `waits` there are none; what has passed those of the
    match is told as the same fault. The clock that it is shown is the record's.
    """
    found, replay = fault_report.read_any(path, number)
    if found.fault.method == "inject":
        raise UsageError(f"{path}: no call of the protocol was at fault, but an opponent of our own")
    limits = _wide(replay.header.limits, debugged=waits is not None)
    async with open_roster(limits) as roster:
        again = _Again(found, replay, debugged=waits is not None)
        seat = again.seats[found.fault.player] = await roster.take(entrant)
        try:
            await again.play_again(waits)
            raise RunError(f"{path}: the record does not lead to the call that was at fault")
        except _Ended as ended:
            now = again.judged(ended)
            said = printable_lines(seat.call_stderr())
            result = again.result(str(path), ended, now, said)
        finally:
            await roster.end([seat], orderly=seat.fault is None)
    return result


class _Again(Loop):
    """A match of which one seat is played again."""

    def __init__(self, found: Bundle, replay: Replay, debugged: bool) -> None:
        super().__init__(replay.game, replay.header.setup, replay.header.time)
        self.found = found
        self.fault = found.fault
        self.replay = replay
        self.debugged = debugged
        self.seats.extend(EngineSeat() for _ in self.setup.names)  # they are never asked
        self.limits = replay.header.limits
        self.limit_s = inf
        """That of the call in question, in the match."""
        self.waits: Waits | None = None
        self.calls = 0
        self.differs: Differs | None = None

    @property
    def seat(self) -> Seat:
        return self.seats[self.fault.player]

    async def play_again(self, waits: Waits | None) -> None:
        """To the call in question, which raises _Ended."""
        fault, player = self.fault, self.fault.player
        self.waits = waits
        if fault.method == "initialize":
            await self._wait()
        encodings = [Encoding(name) for name in self.found.encodings]
        await self.greet(player, self.limits, encodings, self.setup.seed)
        if fault.method == "initialize" or player in self.lost:
            raise _Ended(self.lost.get(player, "the greeting"), 0, "initialize")
        steps = [step for _, _, step in positions(self.replay)]
        await relive(self, steps, self._feed)
        if not fault.method or fault.method == "exit":
            await self._wait()
            await self.seat.end()
            raise _Ended(self.seat.fault or "its end", self.calls, fault.method or "none")

    async def _feed(self, call: Call, step: Turn) -> None:
        player = call.player
        if player != self.fault.player:
            return
        own_s = self.clocks[player].limit_s(self.time.own_s(call.method), self.state.in_opening)
        last = step.turn == self.fault.turn and self.fault.method not in ("exit", "")
        if last:
            self.limit_s = own_s
            await self._wait()
        limit_s = inf if self.debugged else max(PATIENCE * own_s, float(PATIENCE))
        answer = await self.seat.ask(call, self.shown_clock(call), limit_s)
        number = self.calls + 1
        if last or self.seat.fault is not None:
            raise _Ended(answer, number, call.method.name)
        self.calls = number
        recorded = step.faults.get(player, step.answers.get(player))
        if self.differs is None and _shown(answer) != _shown(recorded):
            self.differs = Differs(number, call.method.name, recorded, _shown(answer))

    async def _wait(self) -> None:
        if self.waits is not None:
            await self.waits(self.seat)

    def judged(self, ended: _Ended) -> Any:
        """What it did now: the Fault that it is by the rules and limits of the match, or else its answer."""
        player, now, charge = self.fault.player, ended.now, self.seat.charge
        if isinstance(now, Fault):
            return now
        passed = passed_limit(self.seat.usage, self.limits)
        if passed is not None:
            return passed
        if ended.method in self.game.methods and player in self.state.awaited:
            if charge.wall_s > self.limit_s and not self.debugged:
                detail = f"answered after {charge.wall_s:.3f} s; the limit is {self.limit_s:g} s"
                return Fault(FaultKind.TIMEOUT, detail)
            return self.state.check(player, now) or now
        return now

    def result(self, folder: str, ended: _Ended, now: Any, said: tuple[str, ...]) -> Reproduced:
        fault = self.fault
        in_place = ended.call == fault.call or fault.method in ("exit", "", "initialize")
        same = isinstance(now, Fault) and now.kind is fault.kind and in_place
        if same and fault.kind is FaultKind.ILLEGAL:
            same = now.detail == fault.detail
        return Reproduced(
            bundle=folder,
            call=ended.call,
            method=ended.method,
            calls=self.calls,
            differs=self.differs,
            recorded=f"{fault.kind}: {fault.detail}",
            now=f"{now.kind}: {now.detail}" if isinstance(now, Fault) else msgspec.json.encode(plain(now)).decode(),
            same=same,
            at_fault=isinstance(now, Fault),
            wall_s=self.seat.charge.wall_s,
            said=said,
        )


def _shown(value: Any) -> Any:
    """As the record has it; of a Fault its kind, since details tell of times."""
    return value.kind if isinstance(value, Fault) else plain(value)


def _wide(limits: Limits, debugged: bool) -> Limits:
    """The limits under which a bot is run again."""
    memory, processes = limits.memory_bytes, limits.processes
    return msgspec.structs.replace(
        limits,
        startup_s=inf if debugged else PATIENCE * limits.startup_s,
        memory_bytes=None if debugged or memory is None else SAFETY * memory,
        cpu_s=None,
        processes=None if debugged or processes is None else SAFETY * processes,
        file_bytes=None if debugged else limits.file_bytes,
        isolation=OFF,
        on_noise=OnNoise.CHARGE,
        pause=False,
    )
