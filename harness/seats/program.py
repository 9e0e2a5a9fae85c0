"""A program at a seat: the conversation of SPEC.md, over a transport. Every failure of the program is a `Fault`."""

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import trio

from referee.games.contract import Call, Fault, FaultKind, Notice
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.process.pipes import QUICK_S, Late, Transport
from referee.harness.process.usage import Usage
from referee.harness.seats.seat import Frames, Moment, Seat, Table, no_answer
from referee.protocol.connection import NEED_DATA, AnswerDecoder, Connection, answer_decoder
from referee.protocol.errors import RemoteProtocolError, printable, quote
from referee.protocol.messages import Clock, Encoding, ErrorObject, Hello, Initialize

PROGRAM_CHARACTERS = 100
"""What is kept of a bot's own name, and of its version."""
MOST_FORGIVEN = 10
"""So many times its limit a call may wait for a core beside it."""
KEPT_FRAMES = 12
"""So many of our frames are kept for whoever looks for the cause of a fault."""
KEPT_PIECES = 64
"""And so many pieces of what came back, each of 64 KiB at most."""
LONG_BYTES = 1 << 14
"""An answer that is longer may take more than a millisecond to decode."""


class Bot(Seat):
    """A program that speaks the protocol. `referee.harness.seats.roster` starts it."""

    def __init__(self, transport: Transport, limits: Limits) -> None:
        super().__init__()
        self.transport = transport
        self.limits = limits
        self.wire = Connection(limits.frame_bytes)
        self._table: Table
        self._game = ""
        self._decoders: dict[str, AnswerDecoder] = {}
        self._frame = b""
        self._sent: deque[bytes] = deque(maxlen=KEPT_FRAMES)
        self._pieces: deque[bytes] = deque(maxlen=KEPT_PIECES)
        self._received = 0  # how many bytes came in the last call
        self._has_left = False

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        """Opens a match, in a new process or in one that is used again."""
        self._table = table
        self._sent.clear()  # fault reports show the frames of this match alone
        self._pieces.clear()
        self._received = 0
        if match.game != self._game:
            self._game, self._decoders = match.game, {}
        self.transport.start_match(match, lambda: table.log(match.seat))
        answer = await self._exchange(self.wire.initialize(match), self.limits.startup_s, None)
        self.calls = self.noisy_calls = 0
        self.wall_s = self.waited_s = self.calls_cpu_s = 0.0
        self.measure()
        if isinstance(answer, Hello):
            name, version = map(_shown, (answer.name, answer.version))
            self.hello, self.greeted = msgspec.structs.replace(answer, name=name, version=version), True
            return None
        fault = answer if isinstance(answer, Fault) else _error(answer)
        # Whoever has not greeted cannot be asked anything: also a time-out and an error end the process here.
        return self._finish(Fault(fault.kind, f"initialize: {fault.detail}"))

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Any:
        if self.fault is None and self.spoke_unasked() is None:
            wire, method, params = self.wire, call.method, call.params
            if method.shared:
                params = self._table.shared.params(method, params, wire)
            decoder = self._decoders.get(method.name)
            if decoder is None:
                self._decoders[method.name] = decoder = answer_decoder(method.answer_type)
            frame = wire.call(method.name, wire.encode(params), clock)
            self.charge.stderr_bytes = self.transport.mark()
            answer = await self._exchange(frame, limit_s, decoder)
            if type(answer) is ErrorObject:
                return _error(answer)
            if type(answer) is Fault and answer.fatal:
                self._finish(answer)
            return answer
        self.charge.clear()
        return self.fault

    def tell(self, notice: Notice) -> None:
        if self.fault is None:
            self._sent.append(self.transport.put(self._table.shared.notice(notice, self.wire)))

    def flush(self) -> None:
        """Sends what is waiting to be sent, as far as the pipe takes it."""
        try:
            self.transport.send()
        except BrokenPipeError:
            self.transport.drop()  # the next call reports it

    def spoke_unasked(self) -> Fault | None:
        """Takes what has come although no call is open: nothing, or late answers. Anything else ends the bot."""
        try:
            if data := self.transport.pending():
                self._pieces.append(data)
                self._received = len(data)
                self.wire.receive(data)
            self.wire.unasked()
        except RemoteProtocolError as error:
            return self._finish(Fault(FaultKind.PROTOCOL, str(error)))
        return None

    def rests(self) -> bool:
        return self.transport.rests()

    def settle(self) -> None:
        if self.fault is None:
            self.spoke_unasked()

    def end_match(self) -> None:
        self.measure()
        self.transport.end_match()

    async def leave(self, says_exit: bool = True) -> int | None:
        """Tells the program to end, by `exit` and the end of its input or by that alone, and waits a moment for it:
        its exit code; None = it did not end by itself."""
        self._has_left = True
        if says_exit:
            self.transport.put(self.wire.exit())
        return await self.transport.leave(self.limits.exit_s)

    async def end(self, orderly: bool = True) -> None:
        """An orderly end, unless the bot is at fault or still at a call for which its time is over; whatever is left is
        killed. Its limits hold to its last instruction: `fault` is set, should it pass one now."""
        with trio.CancelScope(shield=True):
            if orderly and not self._has_left and self._may_leave():
                await self.leave()
                if self.fault is None:
                    self.spoke_unasked()
            await self.transport.end()
        self.measure()

    def _may_leave(self) -> bool:
        """Whether it is neither at fault nor still at a call that nobody waits for any longer."""
        if self.fault is None and self.wire.owes_answers:
            self.spoke_unasked()
        return self.fault is None and not self.wire.owes_answers

    async def watch(self) -> None:
        """Holds the program to its limits until it is ended."""
        await self.transport.watch(self._rule)

    def measure(self) -> None:
        """Reads what the program uses, unless that was read a moment ago, and rules on the limits."""
        if (passed := self.transport.measure()) is not None:
            self._rule(passed)

    async def _exchange(self, frame: bytes, limit_s: float, decoder: AnswerDecoder | None) -> Any:
        """One write, the reads until the answer is whole, one deadline over both. Without a decoder: the greeting."""
        transport, wire, table = self.transport, self.wire, self._table
        self._frame = transport.put(frame)
        self._sent.append(self._frame)
        keep_piece = self._pieces.append
        if transport.writes_ahead:
            await transport.write_ahead()
        if self.limits.pause:
            transport.resume()
        now, cpu_ns = transport.now, transport.cpu_ns
        cpu_before = cpu_ns()
        started = ended = now()
        until = started + limit_s
        received = 0
        answer: Any = NEED_DATA
        try:
            if not transport.send():
                await transport.send_rest(until)
            while answer is NEED_DATA:
                data = transport.receive(ended) if not (received and table.several) else None
                if data is None:
                    table.flush()
                    try:
                        data = await transport.wait(until, None if table.several else table.background)
                    except Late:
                        until = self._second_look(started, limit_s)
                        continue
                ended = now()
                if not data:
                    answer = self.fault or await transport.why_silent("output")
                    if answer.kind is FaultKind.CRASH:
                        wire.receive(b"")
                        _ = wire.hello() if decoder is None else wire.answer(decoder)  # raises if half a frame is left
                    break
                wire.receive(data)
                keep_piece(data)
                received += len(data)
                if received > LONG_BYTES and table.several and wire.whole:
                    await table.all_heard()  # decoding takes long: the other seats' answers are read before
                answer = (wire.hello() or NEED_DATA) if decoder is None else wire.answer(decoder)
                if answer is NEED_DATA and received > self.limits.call_output_bytes:
                    answer = _too_much_output(self.limits.call_output_bytes)
        except RemoteProtocolError as error:
            answer = Fault(FaultKind.PROTOCOL, str(error))
        except Late:
            ended = max(now(), started + limit_s)
            answer = self.fault or self._explained(no_answer(limit_s))
            wire.give_up()
        except BrokenPipeError:
            ended = now()
            answer = self.fault or await transport.why_silent("input")
        self._received = received
        wall_s = ended - started
        charge = self.charge
        charge.cpu_s = max(0, cpu_ns() - cpu_before) / 1e9
        charge.waited_s = 0.0
        charge.host_noise = False
        if wall_s > QUICK_S:
            wall_s -= self._forgiven(wall_s, limit_s, answered=not isinstance(answer, Fault))
            transport.forget_noise()
        if wall_s > limit_s and not isinstance(answer, Fault):
            answer = no_answer(limit_s)
        charge.wall_s = wall_s
        self.calls += 1
        self.wall_s += wall_s
        self.calls_cpu_s += charge.cpu_s
        if self.limits.pause and self.fault is None:
            transport.pause()
        return answer

    def _explained(self, late: Fault) -> Fault:
        """The same, with what has come, if something has: a line without its end looks like an answer to its author.
        And whoever chose msgpack and goes on reading lines waits for ever."""
        rest, why = self.wire.unread.strip(), ""
        if rest:
            why = ", perhaps its line has no end" if self.wire.encoding is Encoding.JSON else ""
            why = f"; what it wrote is no whole frame{why}: {quote(rest)}"
        elif self.wire.encoding is Encoding.MSGPACK and self.wire.silent:
            why = "; nothing has come since it chose the encoding msgpack, which it is to read and write from then on"
        return Fault(late.kind, late.detail + why)

    def _second_look(self, started: float, limit_s: float) -> float:
        """When the time of a call is up: the moment until which it goes on, because no core was free for the bot.
        Raises Late if it does not."""
        if self.limits.on_noise is OnNoise.FORGIVE and self.fault is None:
            noise = self.transport.noise(answered=False)
            if noise is not None and noise.ran_s <= limit_s:
                until = started + limit_s + min(noise.waited_s, MOST_FORGIVEN * limit_s)
                if until > self.transport.now():
                    return until
        raise Late

    def _forgiven(self, wall_s: float, limit_s: float, answered: bool) -> float:
        """Notes how long a call waited for a core; how much of that it is not charged for."""
        noise = self.transport.noise(answered)
        if noise is None:
            return 0.0
        charge = self.charge
        charge.waited_s = min(noise.waited_s, wall_s)
        self.waited_s += charge.waited_s
        busy_s = max(charge.cpu_s, noise.ran_s)
        forgiven_s = 0.0
        if busy_s <= limit_s <= wall_s and not answered:
            charge.host_noise = charge.waited_s > wall_s / 2
        elif busy_s <= limit_s and self.limits.on_noise is OnNoise.FORGIVE:
            forgiven_s = min(charge.waited_s, MOST_FORGIVEN * limit_s, max(0.0, wall_s - busy_s))
            charge.host_noise = wall_s - forgiven_s <= limit_s < wall_s
        self.noisy_calls += charge.host_noise
        return forgiven_s

    def _rule(self, fault: Fault) -> None:
        """A fault that was found beside the conversation; only the first counts."""
        if self.fault is None:
            self._finish(fault)

    def _finish(self, fault: Fault) -> Fault:
        """The program is done for; its tree is killed at once, the rest waits for `end`."""
        self.fault = fault
        self.transport.drop()
        self.transport.kill()
        return fault

    @property
    def background(self) -> tuple[int, ...]:
        return self.transport.background

    # For the record.

    @property
    def usage(self) -> Usage:
        return self.transport.usage

    def last_words(self) -> tuple[str, ...]:
        return self.transport.last_words()

    def call_stderr(self) -> bytes:
        return self.transport.call_stderr()

    @property
    def curve(self) -> tuple[Moment, ...]:
        return self.transport.curve

    @property
    def last_frames(self) -> Frames:
        return Frames(tuple(self._sent), tuple(self._pieces))

    @property
    def answered(self) -> bytes:
        received = b"".join(self._pieces)
        return received[max(0, len(received) - self._received) :]

    @property
    def encoding(self) -> str:
        return self.wire.encoding

    @property
    def asked(self) -> str:
        if self.wire.encoding is Encoding.JSON:
            return self._frame.decode().rstrip("\n")
        return self._frame.hex(" ")

    @property
    def late_answers(self) -> int:
        return self.wire.late

    @property
    def pid(self) -> int | None:
        return self.transport.pid

    @property
    def isolation(self) -> Mapping[str, str]:
        return self.transport.isolation

    @property
    def exit_code(self) -> int | None:
        return self.transport.exit_code

    @property
    def stderr(self) -> Path | None:
        return self.transport.stderr


def _shown(word: str | None) -> str | None:
    """What a program says of itself, as it may stand on terminals, in records and on pages."""
    return None if word is None else printable(word, PROGRAM_CHARACTERS)


def _too_much_output(limit_bytes: int) -> Fault:
    return Fault(FaultKind.OUTPUT, f"wrote more than {limit_bytes} bytes to standard output in one call")


def _error(error: ErrorObject) -> Fault:
    data = "" if error.data is None else f"; data: {quote(msgspec.json.encode(error.data))}"
    return Fault(FaultKind.ERROR, f"answered error {error.code}: {quote(error.message.encode())}{data}")
