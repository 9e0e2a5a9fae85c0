"""The conversation with a rules program: SPEC.md, 18 to 29.

A failure of the program is a RunError: a bug of the game is nobody's loss. The next request starts the program anew.
"""

import re
import threading
import time
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from referee.addons.rules.host import Ended, Host, Overdue
from referee.addons.rules.messages import (
    CALL_S,
    FRAME_BYTES,
    POSITION_BYTES,
    REFUSED_OPTIONS,
    RULES_VERSION,
    STARTUP_S,
    UNKNOWN_POSITION,
    Failure,
    Hello,
    Limits,
    Seen,
    Turn,
)
from referee.harness.common.errors import RunError
from referee.harness.programs.entrant import Entrant
from referee.protocol.codec import MAX_DEPTH, codec
from referee.protocol.errors import RemoteProtocolError
from referee.protocol.framing import FrameSplitter
from referee.protocol.messages import Encoding
from referee.protocol.text import printable

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')
_ZEROS = bytes(ord("0") if chr(each).isdigit() and each < 128 else each for each in range(256))
_MANY_DIGITS = b"0" * 19
"""A number with fewer digits is no integer beyond 64 bits, which msgspec would make a float."""
_NO_BRACKETS = bytes(each for each in range(256) if each not in b"[]{}")
T = TypeVar("T")
NOT_JSON = (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError)
"""What encoding and decoding raise for values that JSON, or a type, does not have."""


class RefusedOptions(ValueError):
    """The rules say that the options make no match. The text is theirs."""


class UnknownPosition(Exception):
    """The program has forgotten the position with that number."""


class Reply(Struct, Generic[T], forbid_unknown_fields=True):
    """An answer frame with a result of that type."""

    id: int
    result: T | UnsetType = UNSET
    error: Failure | UnsetType | None = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


@cache
def _decoder(encoding: Encoding, kind: Any) -> Callable[[bytes | bytearray], Reply[Any]]:
    """Returns a decoder of frames with a result of that type."""
    library: Any = msgspec.json if encoding is Encoding.JSON else msgspec.msgpack
    decode: Callable[[bytes | bytearray], Reply[Any]] = library.Decoder(Reply[kind]).decode
    return decode


class Position(Struct):
    """A position in its canonical form, which nobody reads until somebody asks for its value."""

    canonical: bytes
    """JSON without blanks, with sorted keys."""
    at: int | None = None
    """The number under which the program also keeps it."""
    known_to: object = None
    """The process that gave that number."""
    _value: Any = UNSET

    @property
    def value(self) -> Any:
        """The position as a value. RunError if the program has sent something else."""
        if self._value is UNSET:
            try:
                self._value = msgspec.json.decode(self.canonical)
            except NOT_JSON as error:
                raise RunError(f"the rules sent a position that is no value of JSON: {error}") from error
        return self._value


_canonical = msgspec.json.Encoder(order="deterministic").encode
CHECKED = 64
"""One of so many positions that are said to be in canonical form is checked."""


def depth_within(encoded: bytes | bytearray, most: int) -> bool:
    """Returns whether valid JSON nests at most `most` arrays and objects. Takes little time, however long it is."""
    if len(encoded) <= 2 * most or encoded.count(b"[") + encoded.count(b"{") <= most:
        return True
    brackets = _STRINGS.sub(b"", encoded).translate(None, _NO_BRACKETS)
    for _ in range(most):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return True
    return False


def request_frame(encoding: Encoding, number: int, method: str, params: Any) -> bytes:
    """Returns the frame of a request."""
    if encoding is Encoding.MSGPACK:
        return msgspec.msgpack.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    body = msgspec.json.encode(params)
    return b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":%b}\n' % (number, method.encode(), body)


def is_doubtful(frame: bytes | bytearray) -> bool:
    """Returns whether msgspec might read JSON as something else than it says, or as something too deep."""
    return _MANY_DIGITS in frame.translate(_ZEROS) or not depth_within(frame, MAX_DEPTH)


class Conversation:
    """One process and its frames. Ends with the process."""

    def __init__(self, entrant: Entrant, stderr: str) -> None:
        """`stderr`: the file for standard error; empty = none."""
        self.host = Host(entrant, stderr)
        self.encoding = Encoding.JSON
        self.numbers = object()
        """Stands for this process wherever a number of a position is kept."""
        self._next_id = 0
        self._splitter: FrameSplitter = codec(Encoding.JSON).splitter(FRAME_BYTES, b"")
        self.in_order = True
        """Whether every request has its answer. An interrupt leaves one without."""

    def speak(self, encoding: Encoding) -> None:
        """Chooses the encoding from the next frame on."""
        self.encoding = encoding
        self._splitter = codec(encoding).splitter(FRAME_BYTES, b"")

    def ask(self, method: str, params: Any, limit_s: float, kind: Any) -> Any:
        """Makes a request and returns its result, of type `kind`. Wrong, Ended or Overdue if that fails."""
        number, self._next_id = self._next_id, self._next_id + 1
        frame = request_frame(self.encoding, number, method, params)
        if len(frame) > FRAME_BYTES:
            raise Wrong(f"the request would have {len(frame):,} bytes, and {FRAME_BYTES:,} are allowed")
        splitter = self._splitter
        if splitter.rest:
            raise Wrong("it wrote to standard output although no request was open")
        self.in_order = False
        try:
            answer = self.host.exchange(frame, time.perf_counter() + limit_s, splitter)
            self.in_order = True
            return self._result(answer, number, kind)
        except RemoteProtocolError as error:
            raise Wrong(str(error)) from error

    def _result(self, frame: bytes | bytearray, number: int, kind: Any) -> Any:
        try:
            if self.encoding is Encoding.MSGPACK or is_doubtful(frame):
                codec(self.encoding).decode(frame)  # checks every value
            elif not frame.isascii():
                str(frame, "utf-8")  # the position is not decoded here
            reply = _decoder(self.encoding, kind)(frame)
        except NOT_JSON as error:
            codec(self.encoding).decode(frame)  # says what is wrong with a frame that no reader understands
            raise Wrong(f"{error}: {printable(bytes(frame[:200]).decode(errors='replace'))}") from error
        if reply.id != number:
            raise Wrong(f"an answer with id {reply.id}, but the open request has id {number}")
        if isinstance(failure := reply.error, Failure):
            if failure.code == UNKNOWN_POSITION:
                raise UnknownPosition
            if failure.code == REFUSED_OPTIONS:
                raise RefusedOptions(printable(failure.message, 2000))
            raise Wrong(printable(failure.message, 2000) or f"error {failure.code}", by_itself=True)
        if reply.result is UNSET:
            raise Wrong("an answer with neither result nor error")
        return reply.result


class Wrong(Exception):
    """The program has answered with something else than it should have."""

    def __init__(self, problem: str, by_itself: bool = False) -> None:
        """`by_itself`: the program reports its own failure, and may go on."""
        super().__init__(problem)
        self.by_itself = by_itself


FAILURES = (Wrong, Ended, Overdue, UnknownPosition)
"""The ways in which a program fails."""


class RulesProgram:
    """A rules program of one game, for all its positions. Threads may share it."""

    def __init__(self, name: str, version: int, build: Callable[[], Entrant]) -> None:
        """`build` builds it, and returns what is started. Called before the first request."""
        self.name, self.version = name, version
        self._build = build
        self._entrant: Entrant | None = None
        self._talk: Conversation | None = None
        self._stderr = ""
        self._promised = 0  # positions that were said to be in canonical form
        self._hello: Hello | None = None
        self._lock = threading.RLock()

    @property
    def requests(self) -> tuple[str, ...]:
        """Returns the optional requests that it answers. Starts it, if it does not run."""
        with self._lock:
            self._started()
            assert self._hello is not None
            return self._hello.requests

    @property
    def pid(self) -> int:
        """The number of its process; 0 = it does not run."""
        return 0 if self._talk is None else self._talk.host.pid

    def start(self, options: Any, seats: int, luck: str) -> Turn:
        """Requests the first position. RefusedOptions if there is none."""
        return self._turn("start", {"options": options, "seats": seats, "luck": luck})

    def turn(self, method: str, position: Position, **params: Any) -> Turn:
        """Requests `step`, `forfeit`, `stop`, `deal` or `inject`."""
        return self._turn(method, params, position)

    def view(self, position: Position, seat: int | None) -> Seen:
        """Requests what a seat may see; None = everything."""
        seen: Seen = self._ask("view", {"seat": seat}, Seen, position)
        return seen

    def legal(self, position: Position, seat: int, most: int) -> list[Any] | None:
        """Requests legal answers; None = they cannot be listed."""
        found: list[Any] | None = self._ask("legal", {"seat": seat, "most": most}, list[Any] | None, position)
        if found is not None and len(found) > most:
            raise self.broken("legal", f"it returned {len(found)} answers, and {most} were requested at most")
        return found

    def sample(self, position: Position, seat: int, luck: str) -> Any:
        """Requests a legal answer."""
        return self._ask("sample", {"seat": seat, "luck": luck}, Any, position)

    def position(self, turn: Turn, method: str = "step") -> Position:
        """Returns the position of a turn. RunError if it is too large or no value."""
        sent = canonical = bytes(turn.position)
        value: Any = UNSET
        self._promised += turn.canonical
        if not turn.canonical or self._promised % CHECKED == 1:
            try:
                value = msgspec.json.decode(canonical)
                canonical = _canonical(value)
            except NOT_JSON as error:
                raise self._failed(method, Wrong(f"the position is no value of JSON: {error}")) from error
            if turn.canonical and canonical != sent:
                raise self._failed(method, Wrong("the position is not in canonical form, and the turn says that it is"))
        if len(canonical) > POSITION_BYTES:
            many = f"the position has {len(canonical):,} bytes; expected at most {POSITION_BYTES:,}"
            raise self._failed(method, Wrong(many))
        numbers = None if turn.at is None or self._talk is None else self._talk.numbers
        return Position(canonical, turn.at, numbers, value)

    def broken(self, method: str, problem: str) -> RunError:
        """Returns the error about a program that did something else than it should."""
        file = "" if self._talk is None else self._talk.host.stderr_file()
        return RunError(f"the rules of {self.name} failed in {method}: {problem}{f'; see {file}' if file else ''}")

    def stderr_to(self, file: str) -> None:
        """Keeps standard error in that file from now on, if there is any; empty = nowhere.

        Matches that share the program also share the file of the one that began last.
        """
        with self._lock:
            if file or self._stderr:
                self._stderr = file
                if self._talk is not None:
                    self._talk.host.stderr_to(file)

    def close(self) -> None:
        """Ends the process. The next request starts another."""
        with self._lock:
            talk, self._talk = self._talk, None
            if talk is not None:
                talk.host.close()

    def restart(self) -> None:
        """Does the same, also for a program that has changed: it is built again."""
        with self._lock:
            self.close()
            self._entrant = None

    def _turn(self, method: str, params: dict[str, Any], position: Position | None = None) -> Turn:
        turn: Turn = self._ask(method, params, Turn, position)
        if self._talk is not None and self._talk.encoding is Encoding.MSGPACK:
            position_in_json = Raw(msgspec.json.encode(msgspec.msgpack.decode(turn.position)))
            turn = msgspec.structs.replace(turn, position=position_in_json, canonical=False)
        return turn

    def _ask(self, method: str, params: dict[str, Any], kind: Any, position: Position | None) -> Any:
        with self._lock:
            talk = self._started()
            try:
                if position is None:
                    return talk.ask(method, params, CALL_S, kind)
                if position.at is not None and position.known_to is talk.numbers:
                    try:
                        return talk.ask(method, {"at": position.at, **params}, CALL_S, kind)
                    except UnknownPosition:
                        pass
                sent = Raw(position.canonical) if talk.encoding is Encoding.JSON else position.value
                return talk.ask(method, {"position": sent, **params}, CALL_S, kind)
            except RefusedOptions as error:
                if method == "start":
                    raise
                raise self._failed(method, Wrong(str(error), by_itself=True)) from error
            except FAILURES as error:
                raise self._failed(method, error) from error

    def _started(self) -> Conversation:
        if self._talk is not None and not self._talk.in_order:
            self.close()
        if self._talk is None:
            if self._entrant is None:
                self._entrant = self._build()
            self._talk = talk = Conversation(self._entrant, self._stderr)
            offered = [encoding.value for encoding in Encoding]
            params = {"rules": RULES_VERSION, "game": self.name, "version": self.version}
            try:
                hello: Hello = talk.ask(
                    "initialize", {**params, "encodings": offered, "limits": Limits()}, STARTUP_S, Hello
                )
            except (RefusedOptions, *FAILURES) as error:
                failure = self._failed("initialize", error)
                self.close()
                raise failure from error
            talk.speak(Encoding(hello.encoding))
            self._hello = hello
        return self._talk

    def _failed(self, method: str, error: Exception) -> RunError:
        """Returns the RunError for a failure of the program, and ends a process that cannot be trusted any more."""
        problem = str(error)
        if isinstance(error, Overdue):
            problem = f"no answer within {STARTUP_S if method == 'initialize' else CALL_S:g} s"
        elif isinstance(error, UnknownPosition):
            problem = "it does not know a position that it was sent whole"
        failure = self.broken(method, problem)
        if not (isinstance(error, Wrong) and error.by_itself):
            self.close()
        return failure


def luck_of(state: int) -> str:
    """Returns the 64 bits of luck that go with a state of the dice, derived one way."""
    return blake2b(b"rules/%016x" % state, digest_size=8).hexdigest()
