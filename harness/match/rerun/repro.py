"""Reproduces a fault: a bot gets the calls of a replay up to the one at fault, without a rival and with wide limits."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.contract import Call, Fault, FaultKind
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.match.replay_prefix import prefix_calls
from referee.harness.match.turn import Driver
from referee.harness.process.limits import Limits, OnNoise, died_of_error, exit_words, passed_limit, recorded_limits
from referee.harness.process.stderr import last_lines
from referee.harness.process.usage import Usage
from referee.harness.programs.debuggers import backtrace, dump, dumped, dumping, traced
from referee.harness.programs.entrant import Entrant
from referee.harness.replay import fault_report
from referee.harness.replay.fault_report import FaultDetails
from referee.harness.replay.lines import Turn, detail_of, plain
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions
from referee.harness.seats.random_seat import RandomSeat
from referee.harness.seats.roster import open_roster
from referee.harness.seats.seat import Reply, Seat
from referee.protocol.messages import Encoding

PATIENCE = 10
"""Time limit of a call that nobody debugs, as a multiple of the original limit, and at least this many seconds."""
DUMP_S = 1.0
"""How long a program may take to show its stack."""
BACKTRACE_S = 30.0
"""How long gdb may take, with the calls before the crash."""
SAFETY = 4
"""Limits of memory and processes, as a multiple of the original limits: a bomb must harm nobody."""

_NOT_THERE = "the replay does not lead to the call at fault; verify it with `referee replay verify`"

Waits = Callable[[Seat], Awaitable[None]]
"""Awaited before the call in question is made: a debugger may be attached."""


class Differs(Struct, frozen=True):
    """The first earlier call that was answered differently than in the replay."""

    call: int
    method: str
    recorded: Any
    now: Any


class Reproduced(Struct, frozen=True):
    """The outcome, compared with the match."""

    bundle: str
    call: int
    method: str
    calls: int
    """Calls that were made before."""
    differs: Differs | None
    """None: all were answered as in the replay."""
    recorded: str
    """Kind and detail of the fault in the match."""
    now: str
    """Kind and detail of the fault now, or the answer."""
    same: bool
    """The fault is of the same kind, and an illegal answer is the same answer."""
    at_fault: bool
    wall_s: float
    said: tuple[str, ...]
    """The last lines of standard error in the call."""
    backtrace: tuple[str, ...] = ()
    """The frames of a crash by a signal, or of a time-out when the time is up, the innermost frame first;
    empty if nothing shows them, as without gdb."""
    note: str = ""
    """For a player that answers from a transcript: how what it was asked differs from the match."""


class _LastCall(Struct, frozen=True):
    outcome: Any
    """The answer, or the fault."""
    call: int
    method: str


async def reproduce(
    path: Path, number: int, entrant: Entrant, isolation: Isolation, waits: Waits | None = None
) -> Reproduced:
    """Makes the calls of a fault report again, or of a replay up to the fault of that number.

    Limits of time, CPU, memory and processes are wide, and with `waits` there are none; exceeding those of the match is
    the same fault as in the match. The bot is shown the recorded clock. A bot that crashes by a signal is run once more
    under gdb, if that is installed and `waits` is None. UsageError for a path that is neither and for a replay that
    does not verify, RunError if the bot cannot be started.
    """
    report, replay = fault_report.read_any(path, number)
    if report.fault.method == "inject":
        raise UsageError(f"{path}: a built-in opponent acted out of turn, which no call can reproduce")
    if entrant.image is not None and isolation.mode == OFF.mode:
        isolation = Isolation()
    limits = _wide(recorded_limits(replay.header.limits), isolation, debugged=waits is not None)
    async with open_roster(limits) as roster:
        seat = await roster.take(entrant)
        reproduction = _Reproduction(report, replay, seat, waits)
        try:
            try:
                last = await reproduction.run()
            except Difference as difference:
                raise UsageError(f"{path}: {difference}; {_NOT_THERE}") from difference
            if last is None:
                raise UsageError(f"{path}: {_NOT_THERE}")
            result = reproduction.result(str(path), last)
        finally:
            await roster.end([seat], orderly=seat.fault is None)
        code = seat.status().process.exit_code
    if waits is None and code is not None and died_of_error(exit_words(code)):
        return msgspec.structs.replace(result, backtrace=await _backtrace(report, replay, entrant, limits))
    if waits is None and result.now.startswith(f"{FaultKind.TIMEOUT}: "):
        return msgspec.structs.replace(result, backtrace=await _stack(report, replay, entrant, limits))
    return result


async def _stack(report: FaultDetails, replay: Replay, entrant: Entrant, limits: Limits) -> tuple[str, ...]:
    """Makes the calls once more, and has the program show its stack when the time of the call is up."""
    with _log_folder(limits) as (log, limits):
        program = dumping(entrant, log)
        stderr = None if program is None else await _again(report, replay, program, limits, partial(_dump, program))
        return () if stderr is None else dumped(stderr, log)


async def _backtrace(report: FaultDetails, replay: Replay, entrant: Entrant, limits: Limits) -> tuple[str, ...]:
    """Makes the calls once more, to the program under gdb."""
    with _log_folder(limits) as (log, limits):
        program = traced(entrant, log)
        if program is None:
            return ()
        await _again(report, replay, program, limits)
        return backtrace(log)


async def _again(
    report: FaultDetails,
    replay: Replay,
    program: Entrant,
    limits: Limits,
    on_late: Callable[[Seat], Awaitable[None]] | None = None,
) -> bytes | None:
    """Makes the calls once more. Returns standard error of the last one; None after `BACKTRACE_S`.

    `on_late`: awaited if the original time of the call at fault passes.
    """
    with trio.move_on_after(BACKTRACE_S):
        async with open_roster(limits) as roster:
            seat = await roster.take(program)
            try:
                reproduction = _Reproduction(report, replay, seat, None)
                reproduction.on_late = None if on_late is None else partial(on_late, seat)
                await reproduction.run()
                return seat.status().process.stderr_of_call
            finally:
                await roster.end([seat], orderly=False)
    return None


async def _dump(program: Entrant, seat: Seat) -> None:
    dump(seat.status().process.pid, program.argv)
    await trio.sleep(DUMP_S)


@contextmanager
def _log_folder(limits: Limits) -> Iterator[tuple[Path, Limits]]:
    """Yields the path of a log that a bot's sandbox may write, and the limits that say so."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # gdb runs in the bot's sandbox, perhaps with an account of its own
        isolation = msgspec.structs.replace(limits.isolation, writable=(folder,))
        yield Path(folder, "gdb"), msgspec.structs.replace(limits, isolation=isolation)


class _Reproduction:
    def __init__(self, report: FaultDetails, replay: Replay, seat: Seat, waits: Waits | None) -> None:
        self.report = report
        self.fault = report.fault
        self.replay = replay
        self.seat = seat
        self.waits = waits
        self.driver = Driver(replay.game, replay.header.setup, replay.header.time)
        self.driver.seats.extend(RandomSeat() for _ in replay.header.setup.names)  # they are never asked
        self.driver.seats[self.fault.player] = seat
        self.limits = recorded_limits(replay.header.limits)
        self.limit_s = inf
        """The original limit of the call in question."""
        self.on_late: Callable[[], Awaitable[None]] | None = None
        """Awaited if the original time of the call in question passes; then the call ends."""
        self.calls = 0
        self.differs: Differs | None = None

    async def run(self) -> _LastCall | None:
        """Makes the calls up to the one in question, or to an earlier one that ends the bot."""
        driver, fault, player = self.driver, self.fault, self.fault.player
        if fault.method == "initialize":
            await self._wait()
        encodings = [Encoding(name) for name in self.report.encodings]
        await driver.greet(player, self.limits, encodings, driver.setup.seed)
        if fault.method == "initialize" or player in driver.lost:
            return _LastCall(driver.lost.get(player, "the greeting"), 0, "initialize")
        for call, step in prefix_calls(driver, [step for _, _, step in positions(self.replay)]):
            if call.player == player and (last := await self._make(call, step)) is not None:
                return last
        if fault.method and fault.method != "exit":
            return None
        await self._wait()
        await self.seat.end()
        return _LastCall(self.seat.fault or "its end", self.calls, fault.method or "none")

    async def _make(self, call: Call, step: Turn) -> _LastCall | None:
        """Makes a call. Returns it if it is the last."""
        driver, player = self.driver, call.player
        own_s = driver.clocks[player].limit_s(driver.time.own_s(call.method), driver.state.in_opening)
        last = step.turn == self.fault.turn and self.fault.method not in ("exit", "")
        if last:
            self.limit_s = own_s
            await self._wait()
        limit_s = inf if self.waits is not None else max(PATIENCE * own_s, float(PATIENCE))
        reply = await self._ask(call, limit_s, late=last)
        driver.costs[player], answer = reply.cost, reply.value
        number = self.calls + 1
        if last or self.seat.fault is not None:
            return _LastCall(answer, number, call.method.name)
        self.calls = number
        recorded = step.faults.get(player, step.answers.get(player))
        if self.differs is None and _comparable(answer) != _comparable(recorded):
            self.differs = Differs(number, call.method.name, recorded, _comparable(answer))
        return None

    async def _ask(self, call: Call, limit_s: float, late: bool) -> Reply:
        """Makes a call; if its original time passes, `on_late` is awaited, and the call ends."""
        clock = self.driver.shown_clock(call)
        if not late or self.on_late is None:
            return await self.seat.ask(call, clock, limit_s)
        reply = Reply(Fault(FaultKind.TIMEOUT, "stopped"))
        async with trio.open_nursery() as nursery:

            async def interrupt(on_late: Callable[[], Awaitable[None]]) -> None:
                await trio.sleep(self.limit_s)
                await on_late()
                nursery.cancel_scope.cancel()

            nursery.start_soon(interrupt, self.on_late)
            reply = await self.seat.ask(call, clock, limit_s)
            await trio.sleep(DUMP_S)  # standard error may come after the end of the output
            nursery.cancel_scope.cancel()
        return reply

    async def _wait(self) -> None:
        if self.waits is not None:
            await self.waits(self.seat)

    def _judged(self, last: _LastCall, usage: Usage) -> Any:
        """Returns the Fault that the outcome is by the rules and limits of the match, or else the outcome."""
        driver, player, outcome = self.driver, self.fault.player, last.outcome
        if isinstance(outcome, Fault):
            return outcome
        if (passed := passed_limit(usage, self.limits)) is not None:
            return passed
        if last.method in driver.game.methods and player in driver.state.awaited:
            wall_s = driver.costs[player].wall_s
            if wall_s > self.limit_s and self.waits is None:
                return Fault(FaultKind.TIMEOUT, f"answered after {wall_s:.3f} s; the limit is {self.limit_s:g} s")
            return driver.state.check(player, outcome) or outcome
        return outcome

    def result(self, path: str, last: _LastCall) -> Reproduced:
        """Returns what the bot did, compared with the replay at `path`."""
        fault, status = self.fault, self.seat.status()
        process = status.process
        now = self._judged(last, process.usage)
        at_fault = isinstance(now, Fault)
        same_call = last.call == fault.call or fault.method in ("exit", "", "initialize")
        same = at_fault and now.kind is fault.kind and same_call
        same = same and (fault.kind is not FaultKind.ILLEGAL or now.detail == fault.detail)
        return Reproduced(
            bundle=path,
            call=last.call,
            method=last.method,
            calls=self.calls,
            differs=self.differs,
            recorded=f"{fault.kind}: {fault.detail}",
            now=f"{now.kind}: {detail_of(now, last.method)}" if at_fault else msgspec.json.encode(plain(now)).decode(),
            same=same,
            at_fault=at_fault,
            wall_s=self.driver.costs[fault.player].wall_s,
            said=last_lines(process.stderr_of_call),
            note=status.note,
        )


def _comparable(value: Any) -> Any:
    """Returns a value as a replay has it; of a Fault the kind, since details mention times."""
    return value.kind if isinstance(value, Fault) else plain(value)


def _wide(limits: Limits, isolation: Isolation, debugged: bool) -> Limits:
    memory, processes = limits.memory_bytes, limits.processes
    return msgspec.structs.replace(
        limits,
        startup_s=inf if debugged else PATIENCE * limits.startup_s,
        memory_bytes=None if debugged or memory is None else SAFETY * memory,
        cpu_s=None,
        processes=None if debugged or processes is None else SAFETY * processes,
        file_bytes=None if debugged else limits.file_bytes,
        isolation=isolation,
        on_noise=OnNoise.CHARGE,
        pause=False,
    )
