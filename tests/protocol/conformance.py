"""Plays the dialogues of protocol/vectors with a program over real pipes. Every starter kit is tested with it.

    differences = run_dialogue(["./conformance"], dialogue("echo"), Encoding.JSON)

The program is the kit's conformance program; protocol/vectors/README.md says what it must do.
"""

import json
import math
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from referee.protocol.codec import codec
from referee.protocol.errors import RemoteProtocolError
from referee.protocol.messages import Encoding

DIALOGUES = Path(__file__).parents[2] / "protocol" / "vectors" / "dialogues"
STARTUP_S = 20.0
ANSWER_S = 5.0
END_S = 5.0  # a busy machine may take a second for it
"""A program ends within this time after `exit` or the end of its input."""
LARGEST_ANSWER_BYTES = 1 << 20

INITIALIZE = {
    "protocol": 1,
    "game": "conformance",
    "options": {},
    "seat": 0,
    "names": ["mine", "theirs"],
    "limits": {
        "startup_ms": 20000,
        "call_ms": 5000,
        "opening_ms": None,
        "closing_ms": None,
        "exit_ms": 1000,
        "initial_ms": None,
        "increment_ms": 0,
        "cpu_ms": None,
        "memory_bytes": None,
        "processes": 256,
        "frame_bytes": 1048576,
        "call_output_bytes": 4194304,
        "stderr_bytes": 1048576,
        "file_bytes": 67108864,
        "scratch_bytes": 67108864,
    },
    "seed": 4711,
}
CLOCK = {"call_ms": 5000, "remaining_ms": None, "last_ms": None}


class Different(Exception):
    """The program did something else than the dialogue says."""


def dialogue_names() -> list[str]:
    """The names of all dialogues, in order."""
    return sorted(file.stem for file in DIALOGUES.glob("*.json"))


def dialogue(name: str) -> dict[str, Any]:
    """Returns a dialogue from its file."""
    vector: dict[str, Any] = json.loads((DIALOGUES / f"{name}.json").read_text("utf-8"))
    return vector


def is_for(vector: dict[str, Any], encoding: Encoding) -> bool:
    """Whether the dialogue is held in this encoding."""
    return encoding in vector.get("encodings", list(Encoding))


def run_dialogue(command: Sequence[str | Path], vector: dict[str, Any], encoding: Encoding) -> list[str]:
    """Returns the differences, one line each, with the end of the program's standard error; [] = none.

    A dialogue stops at its first difference, since what follows would only be a consequence. ValueError if the
    dialogue is not for this encoding.
    """
    if not is_for(vector, encoding):
        raise ValueError(f"this dialogue is held in {vector['encodings']}, not in {encoding}")
    with tempfile.TemporaryFile() as stderr, Program(command, encoding, stderr) as program:
        try:
            for number, step in enumerate(vector["steps"]):
                where = f"step {number} {_short(step)}"
                program.take(step)
        except (Different, RemoteProtocolError, OSError) as error:
            stderr.seek(0)
            words = stderr.read().decode(errors="replace").strip()[-500:]
            return [f"{where}: {error}" + (f"; standard error ended: {words!r}" if words else "")]
    return []


class Program:
    """A running bot and both ends of its pipes. Leaving the block ends it."""

    def __init__(self, command: Sequence[str | Path], wanted: Encoding, stderr: Any) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        os.set_blocking(self.input.fileno(), False)
        os.set_blocking(self.output.fileno(), False)
        self.wanted = wanted
        self.in_force = codec(Encoding.JSON)
        self.frames = self.in_force.splitter(LARGEST_ANSWER_BYTES, b"")
        self.initialized = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        self.input.close()
        self.output.close()

    def take(self, step: dict[str, Any]) -> None:
        """Does what a step says. Raises Different."""
        chunk = step.get("chunk")
        if "initialize" in step:
            self._initialize(step["initialize"], step.get("id", 0))
        elif "send" in step:
            self._write(self._frame(step["send"]), chunk)
        elif "send_together" in step:
            self._write(b"".join(map(self._frame, step["send_together"])), chunk)
        elif "send_bytes" in step:
            self._write(frame_bytes(step["send_bytes"], self.in_force.encoding), chunk)
        elif "expect" in step:
            self._expect(step["expect"])
        elif "expect_error" in step:
            self._expect_error(step["expect_error"])
        elif "end" in step:
            self._end(step)
        else:
            raise ValueError(f"no such step: {step}")

    def _initialize(self, differing: dict[str, Any], number: int) -> None:
        """The first match is in JSON and the wanted encoding is offered; later ones are in the one in force."""
        encodings = [self.wanted, *(other for other in Encoding if other is not self.wanted and not self.initialized)]
        params = {**INITIALIZE, "encodings": encodings, **differing}
        self._write(self._frame({"id": number, "method": "initialize", "params": params}))
        result = self._answer(number, STARTUP_S).get("result")
        wanted = {"name": "conformance", "encoding": self.wanted, "reuse": True}
        if not isinstance(result, dict) or any(result.get(member) != value for member, value in wanted.items()):
            raise Different(f"answered {_short(result)}, expected at least {_short(wanted)}")
        self.initialized = True
        self.in_force = codec(self.wanted)
        self.frames = self.in_force.splitter(LARGEST_ANSWER_BYTES, self.frames.rest)

    def _frame(self, message: dict[str, Any]) -> bytes:
        message = expanded({"jsonrpc": "2.0", **message})
        if "id" in message and message["method"] != "initialize":
            message["params"].setdefault("clock", CLOCK)
        return self.in_force.frame(message)

    def _expect(self, wanted: dict[str, Any]) -> None:
        answer = self._answer(wanted["id"])
        result = expanded(wanted["result"])
        if "result" not in answer or not same(answer["result"], result):
            raise Different(f"answered {_short(answer)}, expected the result {_short(result)}")

    def _expect_error(self, wanted: dict[str, Any]) -> None:
        error: Any = self._answer(wanted["id"]).get("error")
        well_formed = isinstance(error, dict) and type(error.get("code")) is int and type(error.get("message")) is str
        if not well_formed or not same({**error, **wanted, "id": 0}, {**error, "id": 0}):
            raise Different(f"answered the error {_short(error)}, expected {_short(wanted)}")

    def _answer(self, number: int, seconds: float = ANSWER_S) -> dict[str, Any]:
        """The next frame, which must be an answer to call `number`."""
        answer = self._next_frame(time.monotonic() + seconds)
        if (
            not isinstance(answer, dict)
            or answer.get("jsonrpc") != "2.0"
            or not same(answer.get("id"), number)
            or ("result" in answer) == ("error" in answer)
        ):
            raise Different(f"wrote {_short(answer)}, expected an answer with id {number}")
        return answer

    def _next_frame(self, deadline: float) -> Any:
        while (frame := self.frames.next()) is None:
            data = self._read(deadline)
            if not data:
                raise Different(
                    f"ended (status {self._status(deadline)}) before its answer; left: {self.frames.rest!r}"
                )
            self.frames.feed(data)
        return self.in_force.decode(frame)

    def _read(self, deadline: float, awaited: str = "answer") -> bytes:
        if not select.select([self.output], [], [], max(0, deadline - time.monotonic()))[0]:
            raise Different(f"no {awaited} in time; only {bytes(self.frames.rest[:80])!r}")
        return os.read(self.output.fileno(), 1 << 16)

    def _write(self, data: bytes, chunk: int | None = None) -> None:
        """Writes all of it, `chunk` bytes at a time, each in a write of its own."""
        deadline = time.monotonic() + ANSWER_S
        while data:
            if not select.select([], [self.input], [], max(0, deadline - time.monotonic()))[1]:
                raise Different(f"does not read: {len(data)} bytes are left to be written")
            data = data[os.write(self.input.fileno(), data[: chunk or len(data)]) :]

    def _end(self, step: dict[str, Any]) -> None:
        """The program ends by itself, with status 0, and has nothing more to say."""
        deadline = time.monotonic() + (END_S if self.initialized else STARTUP_S)
        if step["end"] == "exit":
            self._write(self._frame({"method": "exit"}))
        if step.get("stdin") != "open":
            self.input.close()
        left = bytearray(self.frames.rest)
        while data := self._read(deadline, "end"):
            left += data
        if left.strip(b" \t\r\n"):
            raise Different(f"wrote unasked: {bytes(left[:200])!r}")
        if (status := self._status(deadline)) != 0:
            raise Different(f"ended with status {status}, expected 0")

    def _status(self, deadline: float) -> int:
        try:
            return self.process.wait(max(0.01, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Different("closed its standard output, but still runs") from None


def frame_bytes(frame: dict[str, str], encoding: Encoding) -> bytes:
    """A frame of a vector in one encoding: text under `json`, hexadecimal digits under `json_hex` and `msgpack`."""
    if encoding is Encoding.MSGPACK:
        return bytes.fromhex(frame["msgpack"])
    return bytes.fromhex(frame["json_hex"]) if "json_hex" in frame else frame["json"].encode()


def expanded(value: Any) -> Any:
    """`value` with its abbreviations written out: {"$repeat": [text or item, times]}, {"$nest": [value, depth]}."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        item, times = value["$repeat"]
        return item * times if isinstance(item, str) else [item] * times
    if "$nest" in value:
        inner, depth = value["$nest"]
        for _ in range(depth):
            inner = [inner]
        return inner
    return {key: expanded(item) for key, item in value.items()}


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values: 1 is 1.0, but true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other and math.isfinite(one)
    return type(one) is type(other) and bool(one == other)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:120] + "…"
