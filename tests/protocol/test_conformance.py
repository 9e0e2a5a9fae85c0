"""The conformance driver itself: it accepts a program that keeps the rules and notices one that does not."""

import sys
from pathlib import Path

import pytest
from conformance import dialogue, dialogue_names, is_for, run_dialogue

from referee.protocol.messages import Encoding

BOT = [sys.executable, str(Path(__file__).with_name("conformance_bot.py"))]
BOTH = pytest.mark.parametrize("encoding", list(Encoding))


@BOTH
@pytest.mark.parametrize("name", dialogue_names())
def test_our_own_bot_end_holds_every_dialogue(name: str, encoding: Encoding) -> None:
    if is_for(dialogue(name), encoding):
        assert run_dialogue(BOT, dialogue(name), encoding) == []


@pytest.mark.parametrize(
    ("wrong", "name", "encoding", "words"),
    [
        ("id", "values", Encoding.JSON, "expected an answer with id 1"),
        ("true", "values", Encoding.MSGPACK, "expected the result true"),
        ("message", "error", Encoding.JSON, 'answered the error {"code": -32000, "message": "failed"'),
        ("print", "text", Encoding.JSON, "x = 5"),
        ("print", "handshake", Encoding.MSGPACK, "x = 5"),
        ("status", "end_of_input", Encoding.JSON, "ended with status 7, expected 0"),
        ("no exit", "exit", Encoding.JSON, "no end in time"),
        ("reuse", "reuse", Encoding.MSGPACK, "expected the result []"),
    ],
)
def test_a_broken_rule_is_noticed(wrong: str, name: str, encoding: Encoding, words: str) -> None:
    (difference,) = run_dialogue([*BOT, wrong], dialogue(name), encoding)
    assert words in difference


def test_a_program_that_ends_early_is_noticed_with_its_last_words() -> None:
    command = [sys.executable, "-c", "import sys; sys.stderr.write('no such file'); sys.exit(3)"]
    (difference,) = run_dialogue(command, dialogue("values"), Encoding.JSON)
    assert "status 3" in difference or "Broken pipe" in difference
    assert "no such file" in difference


def test_a_program_that_never_reads_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.ANSWER_S", 0.3)
    monkeypatch.setattr("conformance.STARTUP_S", 0.3)
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    megabyte = {"steps": [{"send": {"method": "note", "params": {"value": {"$repeat": ["x", 1_000_000]}}}}]}
    (difference,) = run_dialogue(sleeper, megabyte, Encoding.JSON)
    assert "does not read" in difference
