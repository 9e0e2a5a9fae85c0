"""Plays the vectors of protocol/vectors/rules with the `countdown` of a kit, over pipes."""

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from conformance import frame_bytes, same
from vectors import load, names

from referee.addons.rules.messages import UNKNOWN_POSITION
from referee.protocol.codec import codec
from referee.protocol.framing import FrameSplitter
from referee.protocol.messages import Encoding


def run_rules_vectors(command: Sequence[str], encoding: Encoding, cwd: Any = None) -> list[str]:
    """The differences of a rules program from the vectors. The program must choose `encoding` when only it is offered.

    One process answers all of them, one after the other; then it gets `exit` and must end with status 0.
    """
    differences, numbers = [], False
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd) as program:
        try:
            talk = _Talk(program)
            greeting = load("rules/initialize")["request"]
            greeting["params"]["encodings"] = [encoding.value]
            hello = talk.ask(json.dumps(greeting).encode() + b"\n")
            if hello.get("result", {}).get("encoding", "json") != encoding:
                return [f"initialize: {hello}; expected the encoding {encoding}"]
            talk.speak(encoding)
            for name in names("rules"):
                vector = load(name)
                if vector["request"]["method"] != "initialize":
                    answer = talk.ask(frame_bytes(vector["request_frame"], encoding))
                    numbers |= "at" in (answer.get("result") if isinstance(answer.get("result"), dict) else ())
                    if not _same(answer, vector):
                        differences.append(f"{name}: {answer}; expected {vector['answer']}")
            if numbers:
                params = {"at": (1 << 53) - 1, "answers": {"0": 1}, "faults": {}, "luck": "0" * 16}
                asked = {"jsonrpc": "2.0", "id": 99, "method": "step", "params": params}
                answer = talk.ask(codec(encoding).frame(asked))
                if answer.get("error", {}).get("code") != UNKNOWN_POSITION:
                    differences.append(f"an unknown position: {answer}; expected the code {UNKNOWN_POSITION}")
            program.stdin.write(codec(encoding).frame({"jsonrpc": "2.0", "method": "exit"}))  # type: ignore[union-attr]
            program.stdin.close()  # type: ignore[union-attr]
            if (status := program.wait(10)) != 0:
                differences.append(f"exit: status {status}")
        finally:
            program.kill()
    return differences


class _Talk:
    def __init__(self, program: subprocess.Popen[bytes]) -> None:
        self.program = program
        self.speak(Encoding.JSON)

    def speak(self, encoding: Encoding) -> None:
        self.codec = codec(encoding)
        self.splitter: FrameSplitter = self.codec.splitter(1 << 23, b"")

    def ask(self, frame: bytes) -> Any:
        self.program.stdin.write(frame)  # type: ignore[union-attr]
        self.program.stdin.flush()  # type: ignore[union-attr]
        while (answer := self.splitter.next()) is None:
            data = self.program.stdout.read1(65536)  # type: ignore[union-attr]
            if not data:
                raise AssertionError(f"the program ended after {frame[:200]!r}")
            self.splitter.feed(data)
        return self.codec.decode(answer)


def _same(answer: Any, vector: dict[str, Any]) -> bool:
    """Whether an answer is the vector's. Of an error, the code counts. Members with their defaults may be there."""
    expected, faults = vector["answer"], vector["request"]["params"].get("faults", {})
    if "error" in expected:
        return bool(answer.get("error", {}).get("code") == expected["error"]["code"])
    results = (_filled(each.get("result"), faults) for each in (answer, expected))
    return answer.get("id") == expected["id"] and same(*results)


_DEFAULTS = {"notices": [], "rulings": [], "result": None, "out": [], "scores": [], "marks": {}, "opening": False}


def _filled(result: Any, faults: Any) -> Any:
    """A turn with the defaults of the members that were left out."""
    if not isinstance(result, dict) or "position" not in result:
        return result
    turn = (
        _DEFAULTS
        | {"warnings": []}
        | {name: value for name, value in result.items() if name not in ("at", "canonical")}
    )
    turn["notices"] = [{"to": [0, 1], **notice} for notice in turn["notices"]]
    turn["rulings"] = [
        {"kind": "illegal", "after": 0} | {name: fault[name] for name in ("kind", "detail")} | ruling
        if (fault := faults.get(str(ruling["seat"])))
        else {"kind": "illegal", "after": 0} | ruling
        for ruling in turn["rulings"]
    ]
    return turn
