"""The vectors of protocol/vectors/rules: their bytes are those of the referee, and countdown answers as they say."""

import sys
from pathlib import Path

import pytest
from conformance import frame_bytes, same
from rules_conformance import run_rules_vectors
from vectors import load, names

from referee.protocol.codec import codec
from referee.protocol.messages import Encoding

COUNTDOWN = Path(__file__).parents[1] / "support" / "rules" / "countdown" / "countdown.py"
CASES = [
    (name, encoding) for name in names("rules") for encoding in Encoding if encoding in load(name)["request_frame"]
]


@pytest.mark.parametrize(("name", "encoding"), CASES)
def test_a_frame_holds_its_message(name: str, encoding: Encoding) -> None:
    vector = load(name)
    for part in ("request", "answer"):
        data = frame_bytes(vector[f"{part}_frame"], encoding)
        assert codec(encoding).frame(vector[part]) == data
        assert same(codec(encoding).decode(data), vector[part])


@pytest.mark.parametrize("encoding", Encoding)
def test_countdown_in_plain_python_answers_as_the_vectors_say(encoding: Encoding) -> None:
    program = [sys.executable, str(COUNTDOWN), encoding.value]
    assert run_rules_vectors(program, encoding) == []
