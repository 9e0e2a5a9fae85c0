"""A bot in each language raises errors of its language: the referee gets them, and the bot goes on answering."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import NAMES, Bot
from kits import probe

from referee.protocol.messages import Encoding, ErrorObject

SEED = 2**63 - 5
"""The largest seeds are no number of Java."""
ANSWERS: dict[str, dict[str, Any]] = {
    "c": {"bytes": "a\ufffdb", "words": ErrorObject(-32000, "\ufffd"), "stdin": -1, "child": 0, "large": 0},
    "cpp": {
        "bytes": "a\ufffdb",
        "words": ErrorObject(-32000, "\ufffd"),
        "number": ErrorObject(-32000, "threw something that is no std::exception"),
        "stdin": -1,
        "child": 0,
    },
    "go": {
        "nil": ErrorObject(-32000, "runtime error: invalid memory address or nil pointer dereference"),
        "odd": ErrorObject,
        "stdin": "",
        "child": 0,
        "background": None,
    },
    "java": {
        "object": ErrorObject,
        "deep": ErrorObject,
        "bare": ErrorObject,
        "stdin": -1,
        "thread": None,
    },
    "javascript": {
        "nan": [None, 2**63, "\ufffd"],
        "cycle": ErrorObject,
        "deep": ErrorObject,
        "bare": ErrorObject(-32000, "TypeError"),
        "word": ErrorObject(-32000, "a word"),
        "stdin": "",
        "child": 0,
    },
    "python": {
        "nan": ErrorObject(-32000, "Out of range float values are not JSON compliant"),
        "set": ErrorObject(-32000, "set cannot be sent: {1}"),
        "half": "?",
        "silent": ErrorObject(-32000, "ValueError"),
        "stdin": "",
        "child": 0,
    },
    "rust": {
        "error": ErrorObject(-32000, "invalid digit found in string"),
        "index": ErrorObject(-32000, "index out of bounds: the len is 1 but the index is 3"),
        "missing": ErrorObject(-32000, "there is no parameter at"),
        "number": ErrorObject(-32000, "panicked"),
        "stdin": 0,
        "child": 0,
    },
}
"""For each kit: calls, each with its answer or its error. Frames are not for the bot: its standard input is empty."""
TRACES = {
    "c": ("odd.c:",),
    "go": ("in main\n", "nil: panic: runtime error: ", "\tin main.(*odd).Answer, "),
    "java": ("NullPointerException", "\tat odd.call(odd.java:"),
    "javascript": ("TypeError", "    at Odd.answer (file://"),
    "python": ("in call\n    raise ValueError\n",),
    "rust": ("odd.rs:", "index out of bounds", "dropped seat 1\n"),
}
"""Texts that its author finds on standard error."""


@pytest.fixture
def odd(kit: str, encoding: Encoding, tmp_path: Path) -> Iterator[Bot]:
    with Bot(probe(kit, "odd"), encoding, tmp_path / "log") as bot:
        yield bot


def test_a_bot_knows_its_match_and_each_match_has_a_new_bot(kit: str, odd: Bot) -> None:
    for seat in (1, 0):
        hello = odd.initialize("odd", seat, SEED, {"deep": 7})
        assert (hello.name.title(), hello.version, hello.encoding, hello.reuse) == ("Odd", "2.1", odd.encoding, True)
        match = odd.call("match")
        assert match.pop(5) in (None, -1), "there is no limit of a call"
        assert match == ["odd", seat, [*NAMES], 7, 10_000, 7, 1 << 33, SEED]
        assert odd.call("alive") == (1 if kit == "cpp" else 2), "living objects, or calls"
    printed = "early dropped seat 1\n" if kit == "rust" else "early\n"
    assert odd.stderr().replace("in main\n", "") == printed


def test_a_failing_bot_goes_on_answering(kit: str, odd: Bot) -> None:
    odd.initialize("odd", 1, SEED, {"deep": 7})
    for method, expected in ANSWERS[kit].items():
        answer = odd.call(method)
        if expected is ErrorObject:
            assert isinstance(answer, ErrorObject) and answer.code == -32000 and answer.message, method
        else:
            assert answer == expected, method
    assert odd.call("surprise") == ErrorObject(-32601, "unknown method surprise")
    odd.notify("trouble", {})
    assert not isinstance(odd.call("alive"), ErrorObject)
    assert odd.exit() == 0
    log = odd.stderr()
    assert log.startswith("early") and "in trouble\n" in log
    assert all(words in log for words in TRACES.get(kit, ())), log
    if "child" in ANSWERS[kit]:
        assert "a child\n4\n" in log, "its descriptors are 0, 1, 2 and the listed folder: not the pipes"


def test_a_bot_that_fails_as_it_is_made_refuses_the_match(odd: Bot) -> None:
    assert odd.initialize("odd", seat=7) == ErrorObject(-32000, "no seat 7")
    assert odd.exit() == 0
