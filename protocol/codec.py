"""Messages to bytes and back, in each encoding.

What both encodings can hold is plain JSON values: null, true, false, numbers, strings, arrays and objects. Whatever
else a frame holds (NaN, bytes, keys that are no strings ...) is refused here, so that a bot is judged the same in
either encoding, whether the rest of the program would have looked at that member or not.
"""

import json
import math
import re
from typing import Any, ClassVar, Final, Literal, Protocol

import msgpack  # type: ignore[import-untyped]
import msgspec

from referee.protocol.errors import LocalProtocolError, RemoteProtocolError, broken, stray_print
from referee.protocol.framing import Frames, Lines, Packs
from referee.protocol.messages import Encoding

MAX_DEPTH = 256
"""Arrays and objects inside each other, the frame itself included."""
MIN_INTEGER = -(1 << 63)
MAX_INTEGER = (1 << 64) - 1
"""The integers that both encodings can hold."""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """An answer that holds nothing but what it must; others are refused by this type and looked at with care."""

    id: int
    result: Any
    jsonrpc: Literal["2.0"] = "2.0"


class Codec(Protocol):
    """What both encodings can do."""

    encoding: Encoding

    def frames(self, max_frame_bytes: int, rest: bytes | bytearray) -> Frames:
        """A cutter for this encoding, that begins with `rest`."""

    def encode(self, value: Any) -> bytes:
        """A value without the end of a frame."""

    def frame(self, message: Any) -> bytes:
        """A whole frame."""

    def decode(self, frame: bytes | bytearray) -> Any:
        """A frame's plain value, every part of it checked. Raises RemoteProtocolError."""

    def quick(self, data: bytes | bytearray) -> Answer | None:
        """The answer, if `data` is exactly one frame and easily seen to be good; None = look with care.

        Never raises. What it takes, `decode` would take, with the same values. `data` has at most MAX_DEPTH bytes:
        they cannot nest too deep, nor ask for much memory.
        """

    def request(self, number: int, method: str, params: bytes, clock: bytes) -> bytes:
        """The frame of a call, `clock` added to the encoded `params` as one more member."""

    def notification(self, method: str, params: bytes) -> bytes:
        """The frame of a notification."""


class Json:
    """JSON, UTF-8, one object on one line."""

    encoding = Encoding.JSON
    encode = staticmethod(msgspec.json.Encoder().encode)
    _heads: ClassVar[dict[str, bytes]] = {}  # what stands between the id and the params, by method
    _notices: ClassVar[dict[str, bytes]] = {}  # what stands before the params of a notification, by method
    _plain = staticmethod(msgspec.json.Decoder().decode)
    _answer = staticmethod(msgspec.json.Decoder(Answer).decode)

    def frames(self, max_frame_bytes: int, rest: bytes | bytearray) -> Frames:
        return Lines(max_frame_bytes, rest)

    def frame(self, message: Any) -> bytes:
        return self.encode(message) + b"\n"

    def decode(self, frame: bytes | bytearray) -> Any:
        try:
            value = self._plain(frame)
        except (UnicodeDecodeError, RecursionError, msgspec.DecodeError) as error:
            raise _not_json(frame, error) from None
        _check(value, frame)
        return value

    def quick(self, data: bytes | bytearray) -> Answer | None:
        size = len(data)
        if data.find(b"\n") != size - 1:
            return None
        if size - len(data.translate(None, b"0123456789")) >= _MANY_DIGITS:
            return None
        try:
            return self._answer(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def request(self, number: int, method: str, params: bytes, clock: bytes) -> bytes:
        if params[:1] != b"{":
            raise LocalProtocolError(f"{method}: the params are no JSON object: {params[:40]!r}")
        head = self._heads.get(method)
        if head is None:
            self._heads[method] = head = b',"method":%b,"params":' % self.encode(method)
        comma = b',"clock":' if len(params) > 2 else b'"clock":'
        return b'{"jsonrpc":"2.0","id":%d%b%b%b%b}}\n' % (number, head, params[:-1], comma, clock)

    def notification(self, method: str, params: bytes) -> bytes:
        head = self._notices.get(method)
        if head is None:
            self._notices[method] = head = b'{"jsonrpc":"2.0","method":%b,"params":' % self.encode(method)
        return b"%b%b}\n" % (head, params)


_MANY_DIGITS = 19  # of 2**63: fewer in a whole frame write no integer that is too large


class MessagePack:
    """MessagePack, of JSON's values only."""

    encoding = Encoding.MSGPACK
    encode = staticmethod(msgspec.msgpack.Encoder().encode)
    frame = encode
    _answer = staticmethod(msgspec.msgpack.Decoder(Answer).decode)

    def frames(self, max_frame_bytes: int, rest: bytes | bytearray) -> Frames:
        return Packs(max_frame_bytes, rest)

    def decode(self, frame: bytes | bytearray) -> Any:
        try:
            value = msgpack.unpackb(frame, strict_map_key=False)
        except UnicodeDecodeError:
            raise broken("invalid UTF-8", frame) from None
        except TypeError:  # a list or a map, which Python cannot hash
            raise broken(_BAD_KEY, frame) from None
        except ValueError as error:
            raise broken(f"not MessagePack ({str(error) or 'an impossible byte'})", frame) from None
        _check(value, frame)
        return value

    def quick(self, data: bytes | bytearray) -> Answer | None:
        # Bytes that begin something which may be bad, keys of any type included. One is the frame's own map, whose
        # keys the type Answer checks; the only other may be the result's.
        suspects = len(data) - len(data.translate(None, _SUSPECTS))
        if suspects > 2:
            return None
        try:
            answer = self._answer(data)
            if type(answer.result) is dict:
                "".join(answer.result)  # the quickest way to see that every key is a string
                return answer
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
            return None
        return answer if suspects == 1 else None

    def request(self, number: int, method: str, params: bytes, clock: bytes) -> bytes:
        header, start = _header_of_one_more(params)
        return b"".join(
            (
                b"\x84\xa7jsonrpc\xa32.0\xa2id",
                self.encode(number),
                b"\xa6method",
                self.encode(method),
                b"\xa6params",
                header,
                params[start:],
                b"\xa5clock",
                clock,
            )
        )

    def notification(self, method: str, params: bytes) -> bytes:
        return b"\x83\xa7jsonrpc\xa32.0\xa6method%b\xa6params%b" % (self.encode(method), params)


# The first bytes of maps, bin, ext and floats (they may be NaN).
_SUSPECTS = bytes((*range(0x80, 0x90), *range(0xC4, 0xCC), *range(0xD4, 0xD9), 0xDE, 0xDF))
_BAD_KEY = "the keys of a map must be strings"


def _header_of_one_more(params: bytes) -> tuple[bytes, int]:
    """The header for a map with one member more, and where the members of `params` begin."""
    first = params[0]
    if 0x80 <= first < 0x8F:
        return _SMALL_MAPS[first - 0x7F], 1
    if first == 0x8F:
        return b"\xde\x00\x10", 1
    if first == 0xDE:
        members = int.from_bytes(params[1:3], "big") + 1
        return (b"\xde" + members.to_bytes(2, "big") if members < 1 << 16 else b"\xdf\x00\x01\x00\x00"), 3
    if first == 0xDF:
        return b"\xdf" + (int.from_bytes(params[1:5], "big") + 1).to_bytes(4, "big"), 5
    raise LocalProtocolError(f"the params are no MessagePack map: {params[:40]!r}")


_SMALL_MAPS = tuple(bytes((0x80 + members,)) for members in range(16))

JSON: Final = Json()
MSGPACK: Final = MessagePack()


def codec(encoding: Encoding) -> Codec:
    """The codec of an encoding."""
    return JSON if encoding is Encoding.JSON else MSGPACK


def _check(value: Any, frame: bytes | bytearray) -> None:
    """Refuses what is no plain JSON value. Goes level by level, so that no depth can overflow our own stack."""
    level = [value]
    depth = 0
    while level:
        depth += 1
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                if not all(type(key) is str for key in item):
                    raise broken(_BAD_KEY, frame)
                below.extend(item.values())
            elif kind is list:
                below.extend(item)
            elif kind is int:
                if not MIN_INTEGER <= item <= MAX_INTEGER:
                    raise broken("an integer beyond -2^63 .. 2^64-1", frame)
            elif kind is float:
                if not math.isfinite(item):
                    raise broken("NaN and Infinity are not allowed", frame)
            elif kind is not str and kind is not bool and item is not None:
                raise broken("MessagePack's bin and ext types are not allowed", frame)
        # A number inside MAX_DEPTH arrays is no deeper than they are.
        if depth > MAX_DEPTH and any(type(item) in (dict, list) for item in level):
            raise broken(f"nested deeper than {MAX_DEPTH} levels", frame)
        level = below


def _not_json(line: bytes | bytearray, error: Exception) -> RemoteProtocolError:
    """Why a line is no JSON, in words for its author."""
    text = line.strip(b" \t\r\n")
    if text.startswith(b"\xef\xbb\xbf"):
        return broken("a byte order mark; write UTF-8 without one", text[3:])
    if 0x80 <= text[0] <= 0x8F:
        return broken("this looks like MessagePack, but the encoding in force is json", text)
    if text in (b"{", b"["):
        return broken("an object over several lines; a frame is one line", text)
    if not text.startswith((b"{", b"[")) or (text[:1] == b"{" and not _MEMBER.search(text)):
        return stray_print(text)
    if isinstance(error, UnicodeDecodeError):
        return broken("invalid UTF-8", text)
    if isinstance(error, RecursionError):
        return broken(f"nested deeper than {MAX_DEPTH} levels", text)
    if isinstance(error, msgspec.ValidationError):
        return broken("a number out of range", text)
    return broken(_more_exactly(text) or f"not JSON ({_WORDS.get(str(error), str(error))})", text)


_WORDS = {"Input data was truncated": "the line ends too early"}
_MEMBER = re.compile(rb'"(jsonrpc|id|result|error|method)"')


def _more_exactly(text: bytes | bytearray) -> str | None:
    """What msgspec's message does not tell, asked of a decoder that accepts more."""
    constants: list[str] = []
    try:
        json.loads(text, parse_constant=constants.append)
    except (ValueError, RecursionError):
        return None
    return "NaN and Infinity are not allowed" if constants else "a lone surrogate"
