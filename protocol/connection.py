"""Whose turn it is to speak. `Connection` is the referee's end of one bot's wire, `BotConnection` the bot's.

Neither reads, writes or waits: bytes are given to `receive`, frames to be written are returned. What the other end
does wrong is raised as RemoteProtocolError, and the connection is then of no more use; what we do wrong as
LocalProtocolError.
"""

from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from referee.protocol.codec import JSON, MAX_DEPTH, Answer, codec
from referee.protocol.errors import LocalProtocolError, RemoteProtocolError, broken, misplaced, quote, stray_print
from referee.protocol.messages import NEED_DATA, Clock, Encoding, ErrorObject, Hello, Initialize, NeedData

__all__ = [
    "NEED_DATA",
    "AnswerDecoder",
    "BotConnection",
    "Connection",
    "NeedData",
    "Notification",
    "Request",
    "answer_decoder",
]

MAX_FRAME_BYTES = 1 << 20


class AnswerDecoder:
    """Gives the results of one method their type. Make it once and keep it."""

    __slots__ = ("_answer_type",)

    def __init__(self, answer_type: Any) -> None:
        self._answer_type = answer_type

    def typed(self, result: Any) -> Any:
        """`result` in its type; as it is, plain JSON values, if it does not fit."""
        if self._answer_type is Any:
            return result
        try:
            return msgspec.convert(result, self._answer_type)
        except msgspec.ValidationError:
            return result


def answer_decoder(answer_type: Any) -> AnswerDecoder:
    """The decoder for a method whose answers should be of `answer_type`; `Any` = plain JSON values."""
    return AnswerDecoder(answer_type)


class Connection:
    """The referee's end. One call is open at most; ids count up from 0 for as long as the process lives."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.late = 0
        """Late answers dropped so far: answers to calls that were given up."""
        self.closed = False
        """The bot has closed its standard output."""
        self.encoding = Encoding.JSON
        """The encoding in force."""
        self._codec = codec(Encoding.JSON)
        self._frames = JSON.frames(max_frame_bytes, b"")
        self._max_frame_bytes = max_frame_bytes
        self._short_bytes = min(max_frame_bytes, MAX_DEPTH)
        self._next_id = 0
        self._open: int | None = None
        self._initialize: Initialize | None = None  # until it is answered
        self._ready = False  # an initialize was answered with a result
        self._given_up: set[int] = set()
        self._error: RemoteProtocolError | None = None

    @property
    def whole(self) -> bool:
        """Whether a whole frame has come that was not taken yet. It may still turn out to be none of the protocol."""
        return self._frames.whole()

    @property
    def unread(self) -> bytes:
        """What has come and is no whole frame yet."""
        return bytes(self._frames.rest)

    def initialize(self, params: Initialize) -> bytes:
        """The frame that begins a match, and opens a call that `hello` closes.

        In a reused process only the encoding in force is offered, whatever `params.encodings` says.
        """
        if self._ready:
            if params.encodings != (self.encoding,):
                params = msgspec.structs.replace(params, encodings=(self.encoding,))
        elif self._next_id:
            raise LocalProtocolError("the first initialize was refused or given up: this process plays no match")
        number = self._open_call("initialize")
        self._initialize = params
        message = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}
        return self._codec.frame(message)

    def hello(self) -> Hello | ErrorObject | None:
        """The answer to `initialize`; None = need data. From a good answer on its encoding is in force.

        Raises RemoteProtocolError.
        """
        if self._initialize is None:
            raise self._error or LocalProtocolError("hello() without initialize()")
        short = self._short_answer()
        if short is None:
            message = self._next_answer()
        else:
            message = {"jsonrpc": short.jsonrpc, "id": short.id, "result": short.result}
        if message is None:
            return None
        params, self._initialize = self._initialize, None
        if "error" in message:
            return self._error_object(message)
        hello = self._read_hello(message, params)
        if hello.encoding is not self.encoding:
            self.encoding, self._codec = hello.encoding, codec(hello.encoding)
            self._frames = self._codec.frames(self._max_frame_bytes, self._frames.rest)
        self._ready = True
        return hello

    def encode(self, value: Any) -> bytes:
        """Params in the encoding in force, for `call` and `notify`; seats with the same may share them."""
        return self._codec.encode(value)

    def call(self, method: str, params: bytes, clock: Clock) -> bytes:
        """The frame of a call, which it opens. `params` is an encoded object without a member `clock`."""
        if not self._ready:
            raise LocalProtocolError(f"call of {method} before the answer to initialize")
        encode = self._codec.encode
        return self._codec.request(self._open_call(method), method, params, encode(clock))

    def notify(self, method: str, params: bytes) -> bytes:
        """The frame of a notification. It may be sent at any time, also while a call is open."""
        if not self._ready:
            raise LocalProtocolError(f"notification {method} before the answer to initialize")
        return self._codec.notification(method, params)

    def exit(self) -> bytes:
        """The frame that tells the bot to end. Close its standard input after it."""
        return self._codec.frame({"jsonrpc": "2.0", "method": "exit"})

    def receive(self, data: bytes) -> None:
        """Takes bytes from the bot's standard output; b"" = it was closed."""
        if data:
            self._frames.feed(data)
        else:
            self.closed = True

    def answer(self, decoder: AnswerDecoder) -> Any | ErrorObject | NeedData:
        """The answer to the open call, which it closes; NEED_DATA = it has not come yet, see `closed`.

        A result of the decoder's type comes typed. One that does not fit comes as plain JSON values: whether it is
        legal is not for the wire to say. Raises RemoteProtocolError.
        """
        if self._open is None or self._initialize is not None:
            raise self._error or LocalProtocolError("answer() without an open call")
        answer = self._short_answer()
        if answer is not None:
            return decoder.typed(answer.result)
        message = self._next_answer()
        if message is None:
            return NEED_DATA
        if "error" in message:
            return self._error_object(message)
        return decoder.typed(message["result"])

    def unasked(self) -> None:
        """Raises RemoteProtocolError if the bot spoke out of turn. To be asked before each call and at the end.

        Late answers are dropped and counted, blank lines dropped. Half a frame is a fault too, unless it can be
        half a late answer.
        """
        if self._open is not None:
            raise LocalProtocolError(f"unasked() while call {self._open} is open")
        if not self._frames.rest:
            return
        while (message := self._next_message()) is not None:
            if not self._is_late(message):
                self._fail(self._out_of_turn(message))
        rest = self._frames.rest
        if rest.strip(b" \t\r\n") and not self._given_up:
            self._fail(broken("wrote without being asked", rest))

    @property
    def owes_answers(self) -> bool:
        """Whether there is a call that was given up and whose answer has not come yet."""
        return bool(self._given_up)

    @property
    def silent(self) -> bool:
        """Whether nothing has come since the answer to the first `initialize`, although something was asked."""
        calls = self._next_id - 1
        return self._ready and not self._frames.rest and 0 < calls == len(self._given_up) + (self._open is not None)

    def give_up(self) -> None:
        """The open call is not waited for any longer. Its answer, if it comes, is late."""
        if self._open is None:
            raise LocalProtocolError("give_up() without an open call")
        self._given_up.add(self._open)
        self._open = None
        self._initialize = None

    def _open_call(self, method: str) -> int:
        if self._error is not None:
            raise LocalProtocolError(f"{method}: this bot has broken the protocol: {self._error}")
        if self._open is not None:
            raise LocalProtocolError(f"{method}: call {self._open} is still open")
        self._open = self._next_id
        self._next_id += 1
        return self._open

    def _short_answer(self) -> Answer | None:
        """The usual case: the answer to the open call, which it closes, is short and all that has come."""
        rest = self._frames.rest
        if 0 < len(rest) <= self._short_bytes and self._error is None:
            answer = self._codec.quick(rest)
            if answer is not None and answer.id == self._open:
                self._frames.clear()
                self._open = None
                return answer
        return None

    def _next_answer(self) -> dict[str, Any] | None:
        """The answer to the open call, which it closes; late ones before it are dropped. None = need data."""
        while (message := self._next_message()) is not None:
            if self._is_late(message):
                continue
            if message["id"] != self._open:
                self._fail(self._out_of_turn(message))
            self._open = None
            return message
        if self.closed and self._frames.rest.strip(b" \t\r\n"):
            self._fail(broken("standard output was closed in the middle of a frame", self._frames.rest))
        return None

    def _next_message(self) -> dict[str, Any] | None:
        """The next answer of good form, whatever its id; None = need data."""
        if self._error is not None:
            raise self._error
        try:
            frame = self._frames.next()
            return None if frame is None else _answer(self._codec.decode(frame), frame)
        except RemoteProtocolError as error:
            self._fail(error)

    def _is_late(self, message: dict[str, Any]) -> bool:
        if message["id"] not in self._given_up:
            return False
        self._given_up.remove(message["id"])
        self.late += 1
        return True

    def _out_of_turn(self, message: dict[str, Any]) -> RemoteProtocolError:
        """An answer, but not to the open call."""
        number = message["id"]
        if 0 <= number < self._next_id:
            return misplaced(f"a second answer to call {number}", message)
        if self._open is None:
            return misplaced(f"an answer with id {number}, but no call is open", message)
        return misplaced(f"an answer with id {number}, but the open call has id {self._open}", message)

    def _error_object(self, message: dict[str, Any]) -> ErrorObject:
        try:
            return msgspec.convert(message["error"], ErrorObject)
        except msgspec.ValidationError as error:
            self._fail(misplaced(f"error must be {{code, message, data}} ({error})", message))

    def _read_hello(self, message: dict[str, Any], params: Initialize) -> Hello:
        result = message["result"]
        try:
            hello = msgspec.convert(result, Hello)
        except msgspec.ValidationError as error:
            named = result.get("encoding") if isinstance(result, dict) else None
            if named is None or named in list(Encoding):
                self._fail(misplaced(f"no result for initialize ({error})", message))
            self._fail(self._not_offered(named, params, message))
        if "encoding" not in result:
            return msgspec.structs.replace(hello, encoding=self.encoding)
        if hello.encoding not in params.encodings:
            self._fail(self._not_offered(hello.encoding, params, message))
        return hello

    def _not_offered(self, named: Any, params: Initialize, message: dict[str, Any]) -> RemoteProtocolError:
        offered = ", ".join(params.encodings)
        chosen = quote(msgspec.json.encode(named))
        return misplaced(f"chose the encoding {chosen}, but offered were: {offered}", message)

    def _fail(self, error: RemoteProtocolError) -> NoReturn:
        self._error = error
        raise error


def _answer(message: Any, frame: bytes | bytearray) -> dict[str, Any]:
    """`message`, if it has the form of an answer. Raises RemoteProtocolError."""
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


class Request(Struct, frozen=True):
    """A call that awaits an answer."""

    id: int
    method: str
    params: dict[str, Any]


class Notification(Struct, frozen=True):
    """Something told, that is not answered."""

    method: str
    params: dict[str, Any]


class BotConnection:
    """The bot's end, for bots that are written with this package."""

    def __init__(self, max_frame_bytes: int = 1 << 26) -> None:
        self.closed = False
        """The referee has closed our standard input."""
        self._codec = codec(Encoding.JSON)
        self._frames = JSON.frames(max_frame_bytes, b"")
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
            self._frames.feed(data)
        else:
            self.closed = True

    def next_message(self) -> Request | Notification | NeedData:
        """What the referee says next. Raises RemoteProtocolError if that is no message of the protocol."""
        frame = self._frames.next()
        if frame is None:
            return NEED_DATA
        message = self._codec.decode(frame)
        try:
            if isinstance(message, dict) and "id" in message:
                request = msgspec.convert({"params": {}, **message}, Request)
                self._open.add(request.id)
                return request
            return msgspec.convert({"params": {}, **message} if isinstance(message, dict) else message, Notification)
        except msgspec.ValidationError as error:
            raise misplaced(f"neither a request nor a notification ({error})", message) from None

    def choose_encoding(
        self, offered: Iterable[str], spoken: Iterable[Encoding] = (Encoding.JSON, Encoding.MSGPACK)
    ) -> Encoding:
        """The first of the `offered` encodings that is spoken: name it in the result of `initialize`.

        It comes into force with the next `respond`. JSON if there is none: the referee will say so.
        """
        spoken = list(spoken)
        self._chosen = next((Encoding(name) for name in offered if name in spoken), Encoding.JSON)
        return self._chosen

    def respond(self, number: int, result: Any) -> bytes:
        """The frame that answers request `number`."""
        self._close_call(number)
        frame = self._codec.frame({"jsonrpc": "2.0", "id": number, "result": result})
        chosen, self._chosen = self._chosen, None
        if chosen is not None and chosen is not self.encoding:
            self._codec = codec(chosen)
            self._frames = self._codec.frames(self._max_frame_bytes, self._frames.rest)
        return frame

    def fail(self, number: int, code: int, message: str, data: Any = None) -> bytes:
        """The frame that answers request `number` with an error."""
        self._close_call(number)
        self._chosen = None
        error = ErrorObject(code, message, data)
        return self._codec.frame({"jsonrpc": "2.0", "id": number, "error": error})

    def _close_call(self, number: int) -> None:
        if number not in self._open:
            raise LocalProtocolError(f"an answer to request {number}, which is not open")
        self._open.remove(number)
