"""Messages to bytes and back, in each encoding.

Both encodings hold plain JSON values: null, true, false, numbers, strings, arrays and objects. Decoding refuses
everything else (NaN, bytes, keys that are not strings ...), even in members that nobody reads, so that a bot is judged
the same in either encoding.
"""

import json
import math
import re
from typing import Any, ClassVar, Final, Literal

import msgpack  # type: ignore[import-untyped]
import msgspec

from referee.protocol.errors import LocalProtocolError, RemoteProtocolError, broken, stray_print
from referee.protocol.framing import FrameSplitter, LineSplitter, MapSplitter
from referee.protocol.messages import Encoding

MAX_DEPTH = 256
"""The limit on nested arrays and objects, the frame itself included."""
MIN_INTEGER = -(1 << 63)
MAX_INTEGER = (1 << 64) - 1
"""The integers that both encodings can hold."""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """An answer with a result and no unknown members. `Codec.decode` handles all others."""

    id: int
    result: Any
    jsonrpc: Literal["2.0"] = "2.0"


class UnreadAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """The same with its result as bytes, of which only the length is known to be right."""

    id: int
    result: msgspec.Raw
    jsonrpc: Literal["2.0"] = "2.0"


class Json:
    """JSON, UTF-8, one object on one line. `MessagePack` has the same methods."""

    encoding = Encoding.JSON
    encode = staticmethod(msgspec.json.Encoder().encode)
    _request_heads: ClassVar[dict[str, bytes]] = {}  # by method, the bytes between the id and the params
    _notification_heads: ClassVar[dict[str, bytes]] = {}  # by method, the bytes before the params
    _plain = staticmethod(msgspec.json.Decoder().decode)
    _answer = staticmethod(msgspec.json.Decoder(Answer).decode)
    _unread = staticmethod(msgspec.json.Decoder(UnreadAnswer).decode)

    def splitter(self, max_frame_bytes: int, rest: bytes | bytearray) -> FrameSplitter:
        """Returns a splitter for this encoding that begins with `rest`."""
        return LineSplitter(max_frame_bytes, rest)

    def frame(self, message: Any) -> bytes:
        """Returns a whole frame. `encode` returns it without its end."""
        return self.encode(message) + b"\n"

    def decode(self, frame: bytes | bytearray) -> Any:
        """Returns a frame's plain value after checking all of it. Raises RemoteProtocolError."""
        try:
            value = self._plain(frame)
        except (UnicodeDecodeError, RecursionError, msgspec.DecodeError) as error:
            raise _not_json(frame, error) from None
        _check(value, frame)
        return value

    def quick(self, data: bytes | bytearray) -> Answer | None:
        """Returns the answer if `data` is exactly one frame that is easily seen to be valid; None = use `decode`.

        Never raises, and accepts only what `decode` accepts, with the same values. `data` has at most MAX_DEPTH bytes,
        so it can neither nest too deep nor claim much memory.
        """
        size = len(data)
        if data.find(b"\n") != size - 1:
            return None
        if size - len(data.translate(None, b"0123456789")) >= _MANY_DIGITS:
            return None
        try:
            return self._answer(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def unread(self, data: bytes | bytearray) -> UnreadAnswer | None:
        """Returns the answer if `data` is exactly one frame that seems to be one; None = use `decode`. Never raises."""
        if data.find(b"\n") != len(data) - 1:
            return None
        try:
            return self._unread(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def request(self, number: int, method: str, params: bytes, clock: bytes) -> bytes:
        """Returns the frame of a call, with `clock` added to the encoded `params` as one more member."""
        if params[:1] != b"{":
            raise LocalProtocolError(f"{method}: the params are no JSON object: {params[:40]!r}")
        head = self._request_heads.get(method)
        if head is None:
            self._request_heads[method] = head = b',"method":%b,"params":' % self.encode(method)
        comma = b',"clock":' if len(params) > 2 else b'"clock":'
        return b'{"jsonrpc":"2.0","id":%d%b%b%b%b}}\n' % (number, head, params[:-1], comma, clock)

    def notification(self, method: str, params: bytes) -> bytes:
        """Returns the frame of a notification."""
        head = self._notification_heads.get(method)
        if head is None:
            self._notification_heads[method] = head = b'{"jsonrpc":"2.0","method":%b,"params":' % self.encode(method)
        return b"%b%b}\n" % (head, params)


_MANY_DIGITS = 19  # as 2**63 has: a frame with fewer digits holds no integer that is too large


class MessagePack:
    """MessagePack, restricted to JSON's values."""

    encoding = Encoding.MSGPACK
    encode = staticmethod(msgspec.msgpack.Encoder().encode)
    frame = encode
    _answer = staticmethod(msgspec.msgpack.Decoder(Answer).decode)
    _unread = staticmethod(msgspec.msgpack.Decoder(UnreadAnswer).decode)

    def splitter(self, max_frame_bytes: int, rest: bytes | bytearray) -> FrameSplitter:
        return MapSplitter(max_frame_bytes, rest)

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
        # Count bytes that may begin something invalid, keys of any type included. One is the frame's own map, whose
        # keys the type Answer checks; one more may be the result's.
        suspects = len(data) - len(data.translate(None, _SUSPECTS))
        if suspects > 2:
            return None
        try:
            answer = self._answer(data)
            if type(answer.result) is dict:
                "".join(answer.result)  # the quickest check that every key is a string
                return answer
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
            return None
        return answer if suspects == 1 else None

    def unread(self, data: bytes | bytearray) -> UnreadAnswer | None:
        try:
            return self._unread(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

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
    """Returns the header of a map with one more member, and where the members of `params` begin."""
    first = params[0]
    if 0x80 <= first < 0x8F:
        return _SMALL_MAPS[first - 0x7F], 1
    if first not in (0x8F, 0xDE, 0xDF):
        raise LocalProtocolError(f"the params are no MessagePack map: {params[:40]!r}")
    start = {0x8F: 1, 0xDE: 3, 0xDF: 5}[first]
    members = 15 if start == 1 else int.from_bytes(params[1:start], "big")
    return msgpack.Packer().pack_map_header(members + 1), start


_SMALL_MAPS = tuple(bytes((0x80 + members,)) for members in range(16))

Codec = Json | MessagePack
JSON: Final = Json()
MSGPACK: Final = MessagePack()


def codec(encoding: Encoding) -> Codec:
    """Returns the codec of an encoding."""
    return JSON if encoding is Encoding.JSON else MSGPACK


def _check(value: Any, frame: bytes | bytearray) -> None:
    """Raises RemoteProtocolError unless `value` is a plain JSON value. Not recursive: no depth overflows our stack."""
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
    """Returns an error that tells the author why a line is no JSON."""
    text = line.strip(b" \t\r\n")
    if text.startswith(b"\xef\xbb\xbf"):
        return broken("a byte order mark; write UTF-8 without one", text[3:])
    if 0x80 <= text[0] <= 0x8F:
        return broken("this looks like MessagePack, but the encoding in force is json", text)
    if text in (b"{", b"["):
        return broken("an object over several lines; a frame is one line", text)
    if not text.startswith((b"{", b"[")) or (text[:1] == b"{" and not _MEMBER.search(text)):
        return stray_print(text)
    if isinstance(error, RecursionError):
        return broken(f"nested deeper than {MAX_DEPTH} levels", text)
    if isinstance(error, msgspec.ValidationError):
        return broken("a number out of range", text)
    return broken(_hidden_cause(text) or f"not JSON ({_WORDS.get(str(error), str(error))})", text)


_WORDS = {"Input data was truncated": "the line ends too early"}
_MEMBER = re.compile(rb'"(jsonrpc|id|result|error|method)"')


def _hidden_cause(text: bytes | bytearray) -> str | None:
    """Returns a cause that msgspec's message does not name, whatever its version."""
    constants: list[str] = []
    try:
        json.loads(text.decode(), parse_constant=constants.append)
    except UnicodeDecodeError:
        return "invalid UTF-8"
    except (ValueError, RecursionError):
        return None
    return "NaN and Infinity are not allowed" if constants else "a lone surrogate"
