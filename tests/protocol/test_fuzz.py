"""Whatever a bot writes: the wire gives an answer, asks for more, or says in one printable line what is wrong."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vectors import CLOCK, PLAIN, initialize

from referee.harness.common.paths import HOME
from referee.protocol.connection import NEED_DATA, AnswerDecoder, Connection
from referee.protocol.errors import RemoteProtocolError
from referee.protocol.messages import Encoding, ErrorObject, Hello

FRAME_BYTES = 4096
PLACE = AnswerDecoder(dict[str, int])
GREETING = {
    Encoding.JSON: b'{"jsonrpc":"2.0","id":0,"result":{"encoding":"json"}}\n',
    Encoding.MSGPACK: b'{"jsonrpc":"2.0","id":0,"result":{"encoding":"msgpack"}}\n',
}
VALUES: list[Any] = [
    None,
    True,
    7,
    -1.5,
    2**64 - 1,
    "NW",
    "╯°□°",
    [],
    {},
    {"x": 1, "y": 2},
    {"moveType": 0, "coordList": [[1, 2], [3, 4]], "buildType": None},
    [[[]]] * 3,
    {"a": {"b": {"c": [1, 2.5, "d"]}}},
]
MESSAGES: list[Any] = [
    *[{"jsonrpc": "2.0", "id": 1, "result": value} for value in VALUES],
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "lost", "data": [1]}},
    {"id": 1, "result": {}, "error": None},
    {"jsonrpc": "2.0", "method": "event", "params": {}},
    {"jsonrpc": "1.0", "id": "1", "result": 0},
]


def written(message: Any, encoding: Encoding) -> bytes:
    if encoding is Encoding.JSON:
        return json.dumps(message).encode() + b"\n"
    packed: bytes = msgpack.packb(message)
    return packed


def asked(encoding: Encoding) -> Connection:
    """A connection with call 1 open."""
    connection = Connection(FRAME_BYTES)
    connection.initialize(initialize())
    connection.receive(GREETING[encoding])
    assert type(connection.handshake()) is Hello
    connection.call("play", connection.encode({}), CLOCK)
    return connection


def outcome(connection: Connection, pieces: list[bytes]) -> str:
    """Hears these bytes to the end: `answer`, `error`, `nothing`, or what the fault is. Anything else is our bug."""
    try:
        for piece in pieces:
            connection.receive(piece)
            answer = connection.answer(PLACE)
            if answer is not NEED_DATA:
                msgspec.json.encode(answer)
                connection.check_silence()
                return "error" if type(answer) is ErrorObject else "answer"
        connection.receive(b"")
        return "answer" if connection.answer(PLAIN) is not NEED_DATA else "nothing"
    except RemoteProtocolError as error:
        text = str(error)
        assert text.isprintable(), f"this would reach a terminal: {text!r}"
        assert len(text) < 600, f"{len(text)} characters"
        return "fault"


# One by one, with hypothesis.

encodings = st.sampled_from(list(Encoding))


@st.composite
def broken_frames(draw: st.DrawFn, encoding: Encoding) -> bytes:
    """A frame of good form with a few bytes cut out, put in or turned."""
    frame = bytearray(written(draw(st.sampled_from(MESSAGES)), encoding))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(frame)))
        end = draw(st.integers(start, min(len(frame), start + 8)))
        frame[start:end] = draw(st.binary(max_size=8))
    return bytes(frame)


@given(data=st.data(), encoding=encodings)
def test_any_dialogue_ends_in_an_answer_or_in_a_fault_of_one_printable_line(
    data: st.DataObject, encoding: Encoding
) -> None:
    """Calls, answers good and broken, calls that are given up, questions for what came unasked: in any order."""
    connection = asked(encoding)
    is_open = True
    try:
        for _ in range(data.draw(st.integers(1, 12))):
            step = data.draw(st.sampled_from(["hear", "hear", "answer", "give up", "call", "unasked", "end"]))
            if step == "hear":
                connection.receive(data.draw(broken_frames(encoding) | st.binary(max_size=40)))
            elif step == "end":
                connection.receive(b"")
            elif is_open and step == "answer":
                is_open = connection.answer(PLACE) is NEED_DATA
            elif is_open and step == "give up":
                connection.give_up()
                is_open = False
            elif not is_open and step == "unasked":
                connection.check_silence()
            elif not is_open and step == "call":
                connection.check_silence()
                connection.call("play", connection.encode({}), CLOCK)
                is_open = True
    except RemoteProtocolError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 600


@given(data=st.data(), encoding=encodings)
def test_bytes_mean_the_same_however_they_arrive(data: st.DataObject, encoding: Encoding) -> None:
    frame = data.draw(broken_frames(encoding))
    size = data.draw(st.integers(1, 9))
    pieces = [frame[start : start + size] for start in range(0, len(frame), size)]
    whole = outcome(asked(encoding), [frame] if frame else [])
    apart = outcome(asked(encoding), pieces)
    if whole == "fault":
        # What follows a good answer is heard later if it arrives later: then it is a fault of the next moment.
        assert apart in ("fault", "answer", "error")
    else:
        assert apart == whole


# Many.


def mutations(luck: random.Random, frames: list[bytes]) -> Iterator[bytes]:
    """Frames with bytes turned, cut out, put in, doubled, cut off or joined with others; without end."""
    draw, below = luck.random, luck.randrange
    interesting = [b"\0", b"\n", b"\xff", b"{", b"[", b'"', b"\\", b"\x80", b"\xde\xff\xff", b"\xdf", b"\xc7", b"NaN"]
    interesting += [b"1e999", b"\\ud800", b"\xed\xa0\x80", b"-", b"9" * 400, b"[" * 600, b"\xc1", b"\x81" * 600]
    while True:
        frame = frames[below(len(frames))]
        for _ in range(1 + below(3)):
            at, kind = below(len(frame) + 1), draw()
            if kind < 0.3:
                frame = frame[:at] + bytes((below(256),)) + frame[at + 1 :]
            elif kind < 0.5:
                frame = frame[:at] + frame[at + 1 + below(6) :]
            elif kind < 0.8:
                frame = frame[:at] + interesting[below(len(interesting))] + frame[at:]
            elif kind < 0.9:
                frame = frame[:at]
            else:
                frame = frame[:at] + frames[below(len(frames))]
        yield frame


def fuzzed(encoding: Encoding, count: int) -> tuple[dict[str, int], float]:
    """Counts the outcomes of that many frames, and measures the CPU time."""
    started = time.process_time()
    found = {"answer": 0, "error": 0, "nothing": 0, "fault": 0}
    frames = mutations(random.Random(f"fuzz {encoding}"), [written(message, encoding) for message in MESSAGES])
    for _ in range(count):
        frame = next(frames)
        try:
            found[outcome(asked(encoding), [frame])] += 1
        except Exception as error:
            raise AssertionError(f"{encoding}: {frame!r}: {error!r}") from error
    return found, time.process_time() - started


@pytest.mark.slow
@pytest.mark.parametrize("count", [50_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_malformed_frames_bring_nothing_down(count: int) -> None:
    """Half in each encoding, side by side. The luck's seed is fixed, so that what is found is found again."""
    path = os.pathsep.join([str(HOME), str(Path(__file__).parent)])
    started = time.perf_counter()
    running = [
        subprocess.Popen(
            [sys.executable, __file__, encoding, str(count // 2)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        for encoding in Encoding
    ]
    told = [json.loads(process.communicate()[0] or b"null") for process in running]
    assert [process.returncode for process in running] == [0, 0]
    print(f"{count:,} frames in {time.perf_counter() - started:.1f} s: {told}")
    for each in told:
        assert each["answer"] + each["error"] + each["nothing"] + each["fault"] == count // 2
        assert each["fault"] > count / 4


if __name__ == "__main__":
    found, cpu_s = fuzzed(Encoding(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps({"encoding": sys.argv[1], "cpu_s": round(cpu_s, 1), **found}))
