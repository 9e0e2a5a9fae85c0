"""A program at a seat: the conversation of SPEC.md, over a transport. Every failure of the program is a `Fault`."""

import os
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import trio

from referee.games.contract import Call, Fault, FaultKind, Notice, Player
from referee.games.game import Game
from referee.harness.common.records import Cost
from referee.harness.process.bot_process import IDLE, Program
from referee.harness.process.core_wait import QUICK_S, is_uneven, lacked_time
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.process.stall_clock import stall_clock
from referee.harness.process.transport import Late, Transport
from referee.harness.seats.seat import (
    PROGRAM_CHARACTERS,
    CallTotals,
    MatchContext,
    Reply,
    Seat,
    SeatStatus,
    no_answer,
)
from referee.protocol.connection import NEED_DATA, AnswerDecoder, Connection
from referee.protocol.errors import RemoteProtocolError
from referee.protocol.messages import Clock, Encoding, ErrorObject, Hello, Initialize
from referee.protocol.text import printable, quote

MOST_FORGIVEN = 10
"""Most core wait that a call is forgiven, as a multiple of its limit."""
MOST_AWAITED = 3
"""Most core wait for which an answer is awaited after its limit, to see who is at fault, as a multiple of the limit."""
IDLE_SHARE = 0.25
"""A bot that has not answered its greeting seems to wait if it used less CPU time than this share of its limit."""
KEPT_FRAMES = 12
"""Frames that are kept for fault reports."""
KEPT_PIECES = 64
"""Pieces of output that are kept for fault reports, each of at most 64 KiB."""
LONG_BYTES = 1 << 14
"""A longer answer may take more than a millisecond to decode."""
SETTLE_S = 0.005
"""How long bots may be busy with the end of a match before they are greeted for the next. Of CPU time if they wait for
a core, else of wall time."""
MOST_SETTLE_S = 0.1
"""The most wall time that they get, however busy the machine is."""
NAP_S = 0.000001
"""A sleep that frees our core for the bot. The kernel rounds it up to 50 µs, enough for most bots to see the end."""


class Bot(Seat):
    """A program that speaks the protocol. `referee.harness.seats.roster` starts it."""

    def __init__(self, transport: Transport, program: Program, limits: Limits) -> None:
        super().__init__()
        self.transport = transport
        self.program = program
        self.limits = limits
        self.wire = Connection(limits.frame_bytes)
        self.background = transport.background
        self._context: MatchContext
        self._game = ""
        self._decoders: dict[str, AnswerDecoder] = {}
        self._hello: Hello | None = None  # the last answer to a greeting, as it came
        self._request = b""
        self._sent: deque[bytes] = deque(maxlen=KEPT_FRAMES)
        self._pieces: deque[bytes] = deque(maxlen=KEPT_PIECES)
        self._received = 0  # bytes that came in the last call
        self._stderr_bytes = 0  # size of the file with standard error when the last call began

    def record(self, game: Game, seed: int, player: Player) -> Mapping[str, Any]:
        """Returns what the header of a replay says of the program besides its command, by members of the header.

        `seed`: the match's. RunError if a file that it needs for that is gone.
        """
        return {}

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        """Opens a match, in a new process or in one that is used again."""
        self._context = context
        self._sent.clear()  # fault reports show the frames of this match alone
        self._pieces.clear()
        self._received = 0
        if match.game != self._game:
            self._game, self._decoders = match.game, {}
        self.program.start_match(lambda: context.log(match.seat))
        self.transport.prepare(match)
        reply = await self._exchange(self.wire.initialize(match), self.limits.startup_s, None)
        self.totals = CallTotals()
        self.measure()
        answer = reply.value
        if isinstance(answer, Hello):
            if answer is not self._hello:
                name, version = [text and printable(text, PROGRAM_CHARACTERS) for text in (answer.name, answer.version)]
                self.handshake, self.greeted = msgspec.structs.replace(answer, name=name, version=version), True
                self._hello = answer
            return Reply(None, reply.cost)
        fault = answer if isinstance(answer, Fault) else _error(answer)
        # A bot that has not greeted cannot be asked anything, so a time-out or an error ends the process too.
        return Reply(self._finish(Fault(fault.kind, f"initialize: {fault.detail}")), reply.cost)

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        if self.fault is None and self.check_unasked() is None:
            wire, method, params = self.wire, call.method, call.params
            if method.shared:
                params = self._context.notices.params(method, params, wire)
            decoder = self._decoders.get(method.name)
            if decoder is None:
                self._decoders[method.name] = decoder = AnswerDecoder(method.answer_type)
            frame = wire.call(method.name, wire.encode(params), clock)
            log = self.program.log
            log.call_from = log.taken
            self._stderr_bytes = min(log.taken, log.cap_bytes)
            reply = await self._exchange(frame, limit_s, decoder)
            answer = reply.value
            if type(answer) is ErrorObject:
                return Reply(_error(answer), reply.cost)
            if type(answer) is Fault and answer.fatal:
                self._finish(answer)
            return reply
        return Reply(self.fault, Cost(stderr_bytes=self._stderr_bytes))

    def notify(self, notice: Notice) -> None:
        if self.fault is None:
            notices, wire = self._context.notices, self.wire
            frame = notices.frames.get(wire.encoding) if notices.notice is notice else None
            self._sent.append(self.transport.put(frame or notices.frame(notice, wire)))

    def flush(self) -> None:
        try:
            self.transport.send()
        except BrokenPipeError:
            self.transport.drop()  # the next call reports it

    def check_unasked(self) -> Fault | None:
        """Reads what has come although no call is open. Anything but late answers is a fault and ends the bot."""
        try:
            if data := self.transport.pending():
                self._pieces.append(data)
                self._received = len(data)
                self.wire.receive(data)
            self.wire.check_silence()
        except RemoteProtocolError as error:
            return self._finish(Fault(FaultKind.PROTOCOL, str(error)))
        return None

    def end_match(self) -> None:
        """Takes the last readings of a match, after `settle` or `end`."""
        self.measure()
        self.program.end_match()

    async def leave(self, says_exit: bool = True) -> int | None:
        """Asks the program to end, by `exit` and the end of its input or by the latter alone, and waits `exit_s`.

        Returns its exit code; None if it did not end.
        """
        transport = self.transport
        if says_exit:
            transport.put(self.wire.exit())
        self.program.expect_exit()
        until = transport.now() + self.limits.exit_s
        try:
            await transport.send_rest(until)
        except (Late, BrokenPipeError):
            pass
        return await self.program.leave(until - transport.now())

    async def end(self, orderly: bool = True) -> None:
        """Ends the program, in good order unless it is at fault or still at a call.

        Limits hold to the end: sets `fault` if the program exceeds one now. Kills what is left.
        """
        with trio.CancelScope(shield=True):
            if orderly and self.program.state in IDLE and self.fault is None:
                if self.wire.owes_answers:
                    self.check_unasked()
                if self.fault is None and not self.wire.owes_answers:
                    await self.leave()
                    if self.fault is None:
                        self.check_unasked()
            await self.program.end()
        self.measure()

    async def watch(self) -> None:
        """Holds the program to its limits until it is ended."""
        await self.program.watch(self._limit_exceeded)

    def measure(self) -> None:
        """Reads what the program uses, unless that was read a moment ago, and checks the limits."""
        if (passed := self.program.measure()) is not None:
            self._limit_exceeded(passed)

    async def _exchange(self, frame: bytes, limit_s: float, decoder: AnswerDecoder | None) -> Reply:
        """Writes a frame and reads until the answer is whole, under one deadline. No decoder: the greeting."""
        transport, wire, context, program = self.transport, self.wire, self._context, self.program
        program.call()
        self._request = transport.put(frame)
        self._sent.append(self._request)
        keep_piece = self._pieces.append
        if transport.writes_ahead:
            await transport.write_ahead()
        now, cpu_ns = transport.now, program.cpu_ns
        try:
            cpu_before = cpu_ns()
        except OSError:  # the process is gone
            cpu_before = 0
        started = ended = now()
        until = started + limit_s
        received = 0
        answer: Any = NEED_DATA
        try:
            if not transport.send():
                await transport.send_rest(until)
            while answer is NEED_DATA:
                data = transport.receive(ended) if not (received and context.several) else None
                if data is None:
                    context.flush()
                    try:
                        data = await transport.wait(until, None if context.several else context.background)
                    except Late:
                        until = self._extended(started, limit_s)
                        continue
                    ended = max(started, transport.came())
                else:
                    ended = now()
                if not data:
                    answer = self.fault or await program.why_silent("output")
                    if answer.kind is FaultKind.CRASH:
                        wire.receive(b"")  # the next line raises if half a frame is left
                        _ = wire.handshake() if decoder is None else wire.answer(decoder)
                    break
                wire.receive(data)
                keep_piece(data)
                received += len(data)
                if received > LONG_BYTES and context.several and wire.has_whole_frame:
                    await context.all_read()  # decoding takes long: the other seats' answers are read before
                answer = (wire.handshake() or NEED_DATA) if decoder is None else wire.answer(decoder)
                if answer is NEED_DATA and received > self.limits.call_output_bytes:
                    most = self.limits.call_output_bytes
                    answer = Fault(FaultKind.OUTPUT, f"wrote more than {most} bytes to standard output in one call")
        except RemoteProtocolError as error:
            answer = Fault(FaultKind.PROTOCOL, str(error))
        except Late:
            ended = max(now(), started + limit_s)
            answer = self.fault or self._late(limit_s)
            wire.give_up()
        except BrokenPipeError:
            ended = now()
            answer = self.fault or await program.why_silent("input")
            if answer.kind is FaultKind.CRASH:
                answer = self._printed(decoder) or answer
        self._received = received
        wall_s = ended - started
        try:
            cpu_s = max(0, cpu_ns() - cpu_before) / 1e9
        except OSError:
            cpu_s = 0.0
        if wall_s > QUICK_S:
            cost = self._corrected(wall_s, cpu_s, limit_s, answer)
        else:
            cost = Cost(wall_s, cpu_s, 0.0, False, self._stderr_bytes)
        if cost.wall_s > limit_s and not isinstance(answer, Fault):
            answer = no_answer(limit_s)
        totals = self.totals
        totals.calls += 1
        totals.wall_s += cost.wall_s
        totals.cpu_s += cpu_s
        program.answer()
        return Reply(answer, cost)

    def _printed(self, decoder: AnswerDecoder | None) -> Fault | None:
        """Returns the fault in what a bot wrote that ended before it was asked; None if it wrote nothing wrong."""
        try:
            if data := self.transport.pending():
                self._pieces.append(data)
                self.wire.receive(data)
                _ = self.wire.handshake() if decoder is None else self.wire.answer(decoder)
        except RemoteProtocolError as error:
            return Fault(FaultKind.PROTOCOL, str(error))
        return None

    def _late(self, limit_s: float) -> Fault:
        """Returns the fault of a call whose time has run out."""
        return self._explained(no_answer(limit_s))

    def _explained(self, late: Fault) -> Fault:
        """Adds to a time-out what has come: half a line, or nothing from a bot that still speaks the old encoding."""
        rest, why = self.wire.unread.strip(), ""
        if rest:
            why = ", perhaps its line has no end" if self.wire.encoding is Encoding.JSON else ""
            why = f"; what it wrote is no whole frame{why}: {quote(rest)}"
        elif self.wire.encoding is Encoding.MSGPACK and self.wire.silent:
            why = "; nothing has come since it chose the encoding msgpack, which it is to read and write from then on"
        elif not self.greeted and self.transport.unread():
            why = "; it had not read its greeting by then: what it does before its first read takes long"
        elif not self.greeted and self._seems_idle():
            why = (
                "; it used little CPU time, and its standard output stayed empty: did you flush it? And does it read "
                "line by line? A reader that fills a buffer first waits for more"
            )
        return Fault(late.kind, late.detail + why)

    def _seems_idle(self) -> bool:
        """Returns whether the bot has used little CPU time, so that its answer may be in a buffer."""
        return self.program.status(brief=True).usage.cpu_s < IDLE_SHARE * self.limits.startup_s

    def _extended(self, started: float, limit_s: float) -> float:
        """Returns the new deadline of a late call whose bot had no core for part of the limit. Else Late.

        An answer after the limit is late, unless such calls are forgiven. But a bot that has not answered when it has
        had its time is at fault, and not the machine.
        """
        wait = self.transport.core_wait.read(answered=False) if self.fault is None else None
        if wait is not None and wait.ran_s <= limit_s:
            forgives = self.limits.on_noise is OnNoise.FORGIVE
            most_s = (MOST_FORGIVEN if forgives else MOST_AWAITED) * limit_s
            until = started + limit_s + min(wait.waited_s, most_s)
            if until > self.transport.now() and (forgives or is_uneven(limit_s, wait.waited_s)):
                return until
        raise Late

    def _corrected(self, wall_s: float, cpu_s: float, limit_s: float, answer: Any) -> Cost:
        """Returns the cost of a call of more than `QUICK_S`, less the core wait that was given back."""
        answered = not isinstance(answer, Fault)
        wait = self.transport.core_wait.read(answered)
        self.transport.core_wait.stop()
        if wait is None:
            return Cost(wall_s, cpu_s, 0.0, False, self._stderr_bytes)
        busy_s = max(cpu_s, wait.ran_s)
        waited_s = min(wait.waited_s, max(0.0, wall_s - busy_s))
        slowed = False
        if not answered:
            if answer.kind is FaultKind.TIMEOUT:  # what came after the limit made up for core wait: neither counts
                wall_s, waited_s = limit_s, max(0.0, limit_s - (wall_s - waited_s))
                slowed = lacked_time(limit_s, waited_s)
        elif self.limits.on_noise is not OnNoise.FORGIVE:
            slowed = wall_s - waited_s <= limit_s < wall_s and is_uneven(limit_s, waited_s)
        elif busy_s <= limit_s:
            forgiven_s = min(waited_s, MOST_FORGIVEN * limit_s)
            slowed = wall_s - forgiven_s <= limit_s < wall_s
            wall_s -= forgiven_s
        self.totals.waited_s += waited_s
        self.totals.slowed += slowed
        return Cost(wall_s, cpu_s, waited_s, slowed, self._stderr_bytes)

    def _limit_exceeded(self, fault: Fault) -> None:
        """Ends the program for a fault that was found outside of a call. Only the first fault counts."""
        if self.fault is None:
            self._finish(fault)

    def _finish(self, fault: Fault) -> Fault:
        """Kills the program's process tree. `end` does the rest."""
        self.fault = fault
        self.transport.drop()
        self.program.kill()
        return fault

    def status(self, brief: bool = False) -> SeatStatus:
        process = self.program.status(brief)
        if brief:
            return SeatStatus(self.wire.encoding, self.wire.late, process=process)
        received = b"".join(self._pieces) if self._received else b""
        return SeatStatus(
            encoding=self.wire.encoding,
            late_answers=self.wire.late,
            sent=tuple(self._sent),
            received=tuple(self._pieces),
            request=self._request,
            answer=received[max(0, len(received) - self._received) :],
            process=process,
        )


async def settle(bots: Iterable[Bot]) -> None:
    """Gives bots a moment to read the end of a match, before they are greeted for another.

    What a bot has written without being asked becomes its `fault`. Other tasks get a turn only if another match is
    open, or if no core is free for a bot: a sleep by trio takes longer than most bots need.
    """
    bots = tuple(bots)
    alone, busy, naps = stall_clock().matches <= 1, bots, False
    started, cpu_before = time.perf_counter(), [_cpu_ns(bot) for bot in bots]
    while busy := tuple([bot for bot in busy if not bot.transport.rests()]):
        passed_s = time.perf_counter() - started
        if passed_s >= SETTLE_S:
            used_s = {bot: (_cpu_ns(bot) - before) / 1e9 for bot, before in zip(bots, cpu_before, strict=True)}
            busy = tuple([bot for bot in busy if used_s[bot] < SETTLE_S and bot.transport.is_ready()])
            if not busy or passed_s >= MOST_SETTLE_S:
                break
        # A bot may share our core. One that has used much of it lately runs only when we sleep.
        if not naps:
            os.sched_yield()
        elif alone and passed_s < SETTLE_S:
            time.sleep(NAP_S)
        else:
            await trio.sleep(NAP_S)
        naps = not naps
    for bot in bots:
        if bot.fault is None:
            bot.check_unasked()


def _cpu_ns(bot: Bot) -> int:
    try:
        return bot.program.cpu_ns()
    except OSError:
        return 0  # the process is gone


def _error(error: ErrorObject) -> Fault:
    data = "" if error.data is None else f"; data: {quote(msgspec.json.encode(error.data))}"
    return Fault(FaultKind.ERROR, f"answered error {error.code}: {quote(error.message.encode())}{data}")
