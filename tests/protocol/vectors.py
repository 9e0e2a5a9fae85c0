"""The vectors of protocol/vectors as tests use them: read, set up, fed to the referee's end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance import frame_bytes

from referee.protocol.connection import NEED_DATA, AnswerDecoder, BotConnection, Connection
from referee.protocol.messages import Clock, Encoding, ErrorObject, Initialize, Limits

VECTORS = Path(__file__).parents[2] / "protocol" / "vectors"
PLAIN = AnswerDecoder(Any)
CLOCK = Clock(1000, None, 3)
FEEDS = ("whole", "byte by byte", "with trailing bytes")
TRAILING = {Encoding.JSON: b'{"json', Encoding.MSGPACK: b"\x83\xa7json"}


def load(name: str) -> dict[str, Any]:
    """A vector by its folder and name, such as `frames/answer`."""
    vector: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text("utf-8"))
    return vector


def names(folder: str) -> list[str]:
    """All names in a folder."""
    return sorted(f"{folder}/{file.stem}" for file in (VECTORS / folder).glob("*.json"))


def encodings(vector: dict[str, Any]) -> Iterator[Encoding]:
    """The encodings that a frame is given in."""
    for encoding in Encoding:
        if encoding in vector["frame"] or f"{encoding}_hex" in vector["frame"]:
            yield encoding


def cases(folder: str, sender: str) -> list[tuple[str, Encoding]]:
    """Every frame of a folder that `sender` sends, in every encoding it has."""
    return [
        (name, encoding) for name in names(folder) if load(name)["from"] == sender for encoding in encodings(load(name))
    ]


def initialize(encodings: tuple[Encoding, ...] = tuple(Encoding)) -> Initialize:
    """Parameters of some match."""
    return Initialize(1, "tictactoe", {}, 0, ("a", "b"), encodings, Limits(10_000), 4711)


def joined(encoding: Encoding, max_frame_bytes: int = 1 << 20) -> tuple[Connection, BotConnection]:
    """Both ends after the handshake, nothing open."""
    referee, bot = Connection(max_frame_bytes), BotConnection()
    bot.receive(referee.initialize(initialize()))
    bot.next_message()
    referee.receive(bot.respond(0, {"encoding": bot.choose_encoding([encoding])}))
    assert referee.handshake() is not None
    assert referee.encoding is bot.encoding is encoding
    return referee, bot


def prepared(vector: dict[str, Any], encoding: Encoding) -> Connection:
    """The referee's end in the state that a vector from a bot names."""
    limit = vector.get("limit", 1 << 20)
    if vector["open"] == 0:
        referee = Connection(limit)
        referee.initialize(initialize(tuple(map(Encoding, vector.get("offered", list(Encoding))))))
        return referee
    referee, bot = joined(encoding, limit)
    given_up = vector.get("given_up", [])
    for number in range(1, vector["open"] or 2):
        bot.receive(referee.call("play", referee.encode({}), CLOCK))
        bot.next_message()
        if number in given_up:
            referee.give_up()
        else:
            referee.receive(bot.respond(number, None))
            assert referee.answer(PLAIN) is None
    if vector["open"] is not None:
        referee.call("play", referee.encode({}), CLOCK)
    return referee


def verdict(referee: Connection, vector: dict[str, Any]) -> Any:
    """Returns the referee's verdict on the bytes so far: a value or NEED_DATA. Raises RemoteProtocolError."""
    if vector["open"] is None:
        return referee.check_silence()
    if vector["open"] == 0:
        hello = referee.handshake()
        return NEED_DATA if hello is None else hello
    return referee.answer(PLAIN)


def fed(vector: dict[str, Any], encoding: Encoding, feed: str) -> tuple[Connection, Any]:
    """The referee's end after the vector's frame, and its verdict. Raises RemoteProtocolError."""
    referee = prepared(vector, encoding)
    data = frame_bytes(vector["frame"], encoding)
    result: Any = NEED_DATA
    if feed == "byte by byte":
        for at in range(len(data)):
            referee.receive(data[at : at + 1])
            result = verdict(referee, vector)
            if result not in (NEED_DATA, None):
                assert at == len(data) - 1, "decided too early"
    else:
        referee.receive(data + (TRAILING[encoding] if feed == "with trailing bytes" else b""))
        result = verdict(referee, vector)
    if vector.get("end"):
        referee.receive(b"")
        result = verdict(referee, vector)
    return referee, result


def wanted(verdict: dict[str, Any]) -> Any:
    """The value that a vector's verdict stands for."""
    return ErrorObject(**verdict["error"]) if "error" in verdict else verdict.get("result")
