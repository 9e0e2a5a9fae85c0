"""Who may say what, and when. `Connection` is the referee's end of the wire to one bot, `BotConnection` the bot's end.

Neither reads, writes or waits: `receive` takes bytes, and other methods return the frames to write. A fault of the
other end raises RemoteProtocolError and makes the connection useless. A bug of ours raises LocalProtocolError.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum, auto
from typing import Any, Final, NoReturn

import msgspec
from msgspec import Struct

from referee.protocol.codec import JSON, MAX_DEPTH, codec
from referee.protocol.errors import LocalProtocolError, RemoteProtocolError, broken, misplaced, stray_print
from referee.protocol.messages import NEED_DATA, Clock, Encoding, ErrorObject, Hello, Initialize, NeedData
from referee.protocol.text import quote

__all__ = ["NEED_DATA", "AnswerDecoder", "BotConnection", "Connection", "NeedData", "Notification", "Request"]

MAX_FRAME_BYTES = 1 << 20


class State(IntEnum):
    """The state of the referee's end."""

    NEW = auto()
    FIRST_GREETING = auto()
    """The process has not answered its first `initialize`."""
    GREETING = auto()
    """The process has not answered the `initialize` of a further match."""
    IDLE = auto()
    CALLING = auto()
    """A call is open."""
    REFUSED = auto()
    """The first `initialize` failed. The process plays no match."""
    BROKEN = auto()
    """The bot broke the protocol."""


TRANSITIONS: Final[Mapping[State, Mapping[str, State]]] = {
    State.NEW: {"initialize": State.FIRST_GREETING, "silence": State.NEW},
    State.FIRST_GREETING: {"accept": State.IDLE, "refuse": State.REFUSED, "give up": State.REFUSED},
    State.GREETING: {"accept": State.IDLE, "refuse": State.IDLE, "give up": State.IDLE, "notify": State.GREETING},
    State.IDLE: {"initialize": State.GREETING, "call": State.CALLING, "notify": State.IDLE, "silence": State.IDLE},
    State.CALLING: {"answer": State.IDLE, "give up": State.IDLE, "notify": State.CALLING},
    State.REFUSED: {"silence": State.REFUSED},
    State.BROKEN: {"give up": State.BROKEN, "notify": State.BROKEN, "silence": State.BROKEN},
}
"""What may happen in each state, and the state that follows.

The referee sends `initialize`, `call` and `notify`; it may give up a call, and expect silence. The bot accepts or
refuses `initialize`, and answers calls. Two things may happen at any time and change no state: the referee sends
`exit`, and the bot sends late answers to calls that were given up.
"""

_WORDS = {
    State.NEW: "before the answer to initialize",
    State.FIRST_GREETING: "before the answer to initialize",
    State.GREETING: "while initialize is open",
    State.IDLE: "while no call is open",
    State.CALLING: "while a call is open",
    State.REFUSED: "although the first initialize was refused or given up: this process plays no match",
    State.BROKEN: "after the bot broke the protocol",
}


class AnswerDecoder:
    """Converts the results of one method to its type; `Any` = plain JSON values. Make it once and keep it."""

    __slots__ = ("answer_type",)

    def __init__(self, answer_type: Any) -> None:
        self.answer_type = answer_type

    def typed(self, result: Any) -> Any:
        """Returns `result` in its type, or unchanged as plain JSON values if it does not fit."""
        try:
            return msgspec.convert(result, self.answer_type)
        except msgspec.ValidationError:
            return result


class Connection:
    """The referee's end. At most one call is open; ids count up from 0 for as long as the process lives."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.late = 0
        """The number of late answers dropped so far: answers to calls that were given up."""
        self.closed = False
        """The bot has closed its standard output."""
        self.encoding = Encoding.JSON
        """The encoding in force."""
        self.encode: Callable[[Any], bytes] = JSON.encode
        """Encodes params for `call` and `notify`. Seats with the same encoding in force may share them."""
        self._state = State.NEW
        self._codec = codec(Encoding.JSON)
        self._splitter = JSON.splitter(max_frame_bytes, b"")
        self._max_frame_bytes = max_frame_bytes
        self._short_bytes = min(max_frame_bytes, MAX_DEPTH)
        self._next_id = 0
        self._open: int | None = None
        self._initialize: Initialize | None = None  # until it is answered
        # An answer to `initialize` that equals the last one, byte for byte, is not read again.
        self._hello: Hello | None = None
        self._hello_bytes: msgspec.Raw | None = None
        self._given_up: set[int] = set()
        self._error: RemoteProtocolError | None = None  # set in state BROKEN

    @property
    def has_whole_frame(self) -> bool:
        """Whether a whole frame has arrived that was not taken yet. It may still be invalid."""
        return self._splitter.has_frame()

    @property
    def unread(self) -> bytes:
        """The bytes that have arrived and form no whole frame yet."""
        return bytes(self._splitter.rest)

    @property
    def owes_answers(self) -> bool:
        """Whether the answer to a call that was given up has not arrived yet."""
        return bool(self._given_up)

    @property
    def silent(self) -> bool:
        """Whether calls were made, and nothing has arrived since the answer to the first `initialize`."""
        if self._state not in (State.IDLE, State.GREETING, State.CALLING) or self._splitter.rest:
            return False
        return 0 < self._next_id - 1 == len(self._given_up) + (self._open is not None)

    def initialize(self, params: Initialize) -> bytes:
        """Returns the frame that begins a match. It opens a call, which `handshake` closes.

        In a reused process it offers only the encoding in force, whatever `params.encodings` says.
        """
        state = self._state
        self._enter("initialize")
        if state is State.IDLE and params.encodings != (self.encoding,):
            params = msgspec.structs.replace(params, encodings=(self.encoding,))
        self._initialize = params
        number = self._open = self._next_id
        self._next_id = number + 1
        return self._codec.frame({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params})

    def handshake(self) -> Hello | ErrorObject | None:
        """Returns the answer to `initialize`, or None if it needs more data. Raises RemoteProtocolError.

        The encoding that the bot chose is in force from here on.
        """
        params = self._initialize
        if params is None:
            raise self._error or self._misuse("handshake")
        unread = self._codec.unread(self._splitter.rest) if len(self._splitter.rest) <= self._short_bytes else None
        if unread is not None and unread.result == self._hello_bytes and unread.id == self._open:
            self._splitter.clear()
            self._open = self._initialize = None
            self._enter("accept")
            return self._hello
        if (message := self._next_answer()) is None:
            return None
        self._initialize = None
        try:
            if "error" in message:
                refusal = _read_error(message)
                self._enter("refuse")
                return refusal
            hello = _read_hello(message, params, self.encoding)
        except RemoteProtocolError as error:
            self._fail(error)
        if unread is not None and params.encodings == (hello.encoding,):
            self._hello, self._hello_bytes = hello, unread.result.copy()
        if hello.encoding is not self.encoding:
            self.encoding, self._codec = hello.encoding, codec(hello.encoding)
            self.encode = self._codec.encode
            self._splitter = self._codec.splitter(self._max_frame_bytes, self._splitter.rest)
        self._enter("accept")
        return hello

    def call(self, method: str, params: bytes, clock: Clock) -> bytes:
        """Returns the frame of a call, and opens it. `params` is an encoded object without a member `clock`."""
        next_state = TRANSITIONS[self._state].get("call")
        if next_state is None:
            raise self._misuse(method)
        self._state = next_state
        number = self._open = self._next_id
        self._next_id = number + 1
        return self._codec.request(number, method, params, self.encode(clock))

    def notify(self, method: str, params: bytes) -> bytes:
        """Returns the frame of a notification. It may be sent at any time, also while a call is open."""
        if "notify" not in TRANSITIONS[self._state]:
            raise self._misuse(method)
        return self._codec.notification(method, params)

    def exit(self) -> bytes:
        """Returns the frame that tells the bot to end. Close its standard input after it."""
        return self._codec.frame({"jsonrpc": "2.0", "method": "exit"})

    def receive(self, data: bytes) -> None:
        """Takes bytes from the bot's standard output; b"" = it was closed."""
        splitter = self._splitter
        if not data:
            self.closed = True
        elif splitter.rest:
            splitter.feed(data)
        else:
            splitter.rest = data

    def answer(self, decoder: AnswerDecoder) -> Any | ErrorObject | NeedData:
        """Returns the answer to the open call and closes it; NEED_DATA = it has not arrived, see `closed`.

        A result that does not fit the decoder's type is returned as plain JSON values: the rules of the game decide
        whether it is legal. Raises RemoteProtocolError.
        """
        next_state = TRANSITIONS[self._state].get("answer")
        if next_state is None:
            raise self._error or self._misuse("answer")
        rest = self._splitter.rest
        answer = self._codec.quick(rest) if 0 < len(rest) <= self._short_bytes else None
        if answer is not None and answer.id == self._open:  # as usual: it is short, and all that has arrived
            self._splitter.clear()
            self._open = None
            result = answer.result
        else:
            message = self._next_answer()
            if message is None:
                return NEED_DATA
            if "error" in message:
                try:
                    error_object = _read_error(message)
                except RemoteProtocolError as error:
                    self._fail(error)
                self._state = next_state
                return error_object
            result = message["result"]
        self._state = next_state
        return result if decoder.answer_type is Any else decoder.typed(result)

    def check_silence(self) -> None:
        """Raises RemoteProtocolError if the bot spoke out of turn. To be called before each call and at the end.

        Late answers are dropped and counted, blank lines dropped. Half a frame is a fault too, unless it may be half a
        late answer.
        """
        if "silence" not in TRANSITIONS[self._state]:
            raise self._misuse("check_silence")
        if not self._splitter.rest:
            return
        if (message := self._next_message()) is not None:
            self._fail(self._out_of_turn(message))
        rest = self._splitter.rest
        if rest.strip(b" \t\r\n") and not self._given_up:
            self._fail(broken("wrote without being asked", rest))

    def give_up(self) -> None:
        """Stops waiting for the open call. Its answer, if it comes, is late."""
        if self._open is None:
            raise self._misuse("give_up")
        self._enter("give up")
        self._given_up.add(self._open)
        self._open = self._initialize = None

    def _enter(self, event: str) -> None:
        """Moves to the state that follows an event of the table."""
        next_state = TRANSITIONS[self._state].get(event)
        if next_state is None:
            raise self._misuse(event)
        self._state = next_state

    def _misuse(self, action: str) -> LocalProtocolError:
        cause = "" if self._error is None else f": {self._error}"
        return LocalProtocolError(f"{action} {_WORDS[self._state]}{cause}")

    def _next_answer(self) -> dict[str, Any] | None:
        """Takes the answer to the open call; None = need data."""
        if (message := self._next_message()) is not None:
            if message["id"] != self._open:
                self._fail(self._out_of_turn(message))
            self._open = None
            return message
        if self.closed and self._splitter.rest.strip(b" \t\r\n"):
            self._fail(broken("standard output was closed in the middle of a frame", self._splitter.rest))
        return None

    def _next_message(self) -> dict[str, Any] | None:
        """Takes the next well-formed answer, whatever its id, dropping and counting late ones; None = need data."""
        if self._error is not None:
            raise self._error
        try:
            while (frame := self._splitter.next()) is not None:
                message = _check_answer(self._codec.decode(frame), frame)
                if message["id"] not in self._given_up:
                    return message
                self._given_up.remove(message["id"])
                self.late += 1
        except RemoteProtocolError as error:
            self._fail(error)
        return None

    def _out_of_turn(self, message: dict[str, Any]) -> RemoteProtocolError:
        """Returns the error for an answer that is not to the open call."""
        number = message["id"]
        if 0 <= number < self._next_id:
            return misplaced(f"a second answer to call {number}", message)
        if self._open is None:
            return misplaced(f"an answer with id {number}, but no call is open", message)
        return misplaced(f"an answer with id {number}, but the open call has id {self._open}", message)

    def _fail(self, error: RemoteProtocolError) -> NoReturn:
        self._state, self._error = State.BROKEN, error
        raise error


def _check_answer(message: Any, frame: bytes | bytearray) -> dict[str, Any]:
    """Returns `message` if it has the form of an answer. Raises RemoteProtocolError."""
    if not isinstance(message, dict):
        if isinstance(message, list) and message and all(isinstance(item, dict) for item in message):
            raise misplaced("a batch; answer with one object a frame", message)
        raise stray_print(frame)
    if not message.keys() & {"jsonrpc", "id", "result", "error", "method"}:
        raise stray_print(msgspec.json.encode(message))
    if message.get("jsonrpc", "2.0") != "2.0":
        raise misplaced('jsonrpc must be "2.0"', message)
    if "method" in message:
        what = "request" if "id" in message else "notification"
        raise misplaced(f"a {what}; a bot sends nothing but answers", message)
    if "id" not in message:
        raise misplaced("an answer without id", message)
    if type(message["id"]) is not int:
        wrong = quote(msgspec.json.encode(message["id"]))
        raise misplaced(f"an answer with id {wrong}, but ids are integers, sent back as they came", message)
    if "result" in message and "error" in message:
        raise misplaced("an answer with both result and error", message)
    if "result" not in message and "error" not in message:
        raise misplaced("an answer with neither result nor error", message)
    return message


def _read_error(message: dict[str, Any]) -> ErrorObject:
    """Returns the error of an answer. Raises RemoteProtocolError."""
    try:
        return msgspec.convert(message["error"], ErrorObject)
    except msgspec.ValidationError as error:
        raise misplaced(f"error must be {{code, message, data}} ({error})", message) from None


def _read_hello(message: dict[str, Any], params: Initialize, in_force: Encoding) -> Hello:
    """Returns the result of `initialize`, with the encoding that holds from now on. Raises RemoteProtocolError."""
    result = message["result"]
    try:
        hello = msgspec.convert(result, Hello)
        chosen: Any = hello.encoding
    except msgspec.ValidationError as error:
        chosen = result.get("encoding") if isinstance(result, dict) else None
        if chosen is None or chosen in list(Encoding):
            raise misplaced(f"no result for initialize ({error})", message) from None
    else:
        if "encoding" not in result:
            return msgspec.structs.replace(hello, encoding=in_force)
        if chosen in params.encodings:
            return hello
    offered = ", ".join(params.encodings)
    named = quote(msgspec.json.encode(chosen))
    raise misplaced(f"chose the encoding {named}, but offered were: {offered}", message)


class Request(Struct, frozen=True):
    """A call that awaits an answer."""

    id: int
    method: str
    params: dict[str, Any]


class Notification(Struct, frozen=True):
    """A message that is not answered."""

    method: str
    params: dict[str, Any]


class BotConnection:
    """The bot's end, for bots that are written with this package."""

    def __init__(self, max_frame_bytes: int = 1 << 26) -> None:
        self.closed = False
        """The referee has closed our standard input."""
        self._codec = codec(Encoding.JSON)
        self._splitter = JSON.splitter(max_frame_bytes, b"")
        self._max_frame_bytes = max_frame_bytes
        self._open: set[int] = set()
        self._chosen: Encoding | None = None

    @property
    def encoding(self) -> Encoding:
        """The encoding in force."""
        return self._codec.encoding

    def receive(self, data: bytes) -> None:
        """Takes bytes from standard input; b"" = it was closed."""
        if data:
            self._splitter.feed(data)
        else:
            self.closed = True

    def next_message(self) -> Request | Notification | NeedData:
        """Returns the referee's next message. Raises RemoteProtocolError if the frame is none."""
        frame = self._splitter.next()
        if frame is None:
            return NEED_DATA
        message = self._codec.decode(frame)
        try:
            if not isinstance(message, dict) or "id" not in message:
                return msgspec.convert(_with_params(message), Notification)
            request = msgspec.convert(_with_params(message), Request)
        except msgspec.ValidationError as error:
            raise misplaced(f"neither a request nor a notification ({error})", message) from None
        self._open.add(request.id)
        return request

    def choose_encoding(
        self, offered: Iterable[str], spoken: Iterable[Encoding] = (Encoding.JSON, Encoding.MSGPACK)
    ) -> Encoding:
        """Returns the first of the `offered` encodings that is spoken, for the result of `initialize`.

        It comes into force with the next `respond`. If none is spoken it is JSON, and the referee will object.
        """
        spoken = list(spoken)
        self._chosen = next((Encoding(name) for name in offered if name in spoken), Encoding.JSON)
        return self._chosen

    def respond(self, number: int, result: Any) -> bytes:
        """Returns the frame that answers request `number`."""
        self._close_call(number)
        frame = self._codec.frame({"jsonrpc": "2.0", "id": number, "result": result})
        chosen, self._chosen = self._chosen, None
        if chosen is not None and chosen is not self.encoding:
            self._codec = codec(chosen)
            self._splitter = self._codec.splitter(self._max_frame_bytes, self._splitter.rest)
        return frame

    def fail(self, number: int, code: int, message: str, data: Any = None) -> bytes:
        """Returns the frame that answers request `number` with an error."""
        self._close_call(number)
        self._chosen = None
        error = ErrorObject(code, message, data)
        return self._codec.frame({"jsonrpc": "2.0", "id": number, "error": error})

    def _close_call(self, number: int) -> None:
        if number not in self._open:
            raise LocalProtocolError(f"an answer to request {number}, which is not open")
        self._open.remove(number)


def _with_params(message: Any) -> Any:
    return {"params": {}, **message} if isinstance(message, dict) else message
