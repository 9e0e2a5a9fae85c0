"""What is told of a fault: enough to find its cause, and to play it again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from scripted import Arena

from referee.harness.cli.main import main
from referee.harness.replay.reader import Replay
from referee.harness.web.page import about

CHATTY = """
print("awake", file=sys.stderr, flush=True)
greet()
for number, place in enumerate(("NW", "NW")):
    asked = call()
    print(f"thinking of {number}", file=sys.stderr, flush=True)
    answer(asked, cell(place))
call()
"""
"""Says something in each call; its second answer is illegal."""
RIVAL = "greet(); put('C'); call(); answer({'id': 2}, {'action': 'flipTable'}); call()"


def said(text: bytes, offsets: list[int]) -> list[bytes]:
    """A file of standard error, cut at these places."""
    ends = [*offsets[1:], len(text)]
    return [text[start:end] for start, end in zip(offsets, ends, strict=True)]


@pytest.fixture
def played(arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(arena.folder)
    arena.bot(CHATTY, name="chatty")
    arena.bot(RIVAL, name="rival")

    def run(*words: str) -> str:
        assert main(words) == 0
        return capsys.readouterr().out

    return run


MATCH = ("--game", "tictactoe", "--seed", "5", "--call-time", "3s", "chatty.py", "rival.py")


def test_the_verdict_shows_answer_position_rule_and_what_was_said_in_that_call(played: Any) -> None:
    lines = played(*MATCH).splitlines()
    at = next(
        number for number, line in enumerate(lines) if line.startswith("fault: illegal by seat 0 (chatty), call 2")
    )
    assert lines[at + 1].startswith('  its answer: {"jsonrpc": "2.0", "id": 2, "result": {"action": "putSymbol"')
    assert lines[at + 2 : at + 8] == [
        "  the position:",
        "    O..",
        "    .X.",
        "    ...",
        "  on standard error, in this call:",
        "    thinking of 1",
    ]
    assert "  rules:  tictactoe.md, A4 (referee rules tictactoe A4)" in lines
    assert "again   referee --game tictactoe --call-time 3s --seed 5 chatty.py rival.py" in lines


def test_the_command_that_is_told_plays_the_same_match_again(played: Any) -> None:
    """Of a series the one match, with the seats as they were."""
    outcome = json.loads(played(*MATCH, "--games", "2", "--swap", "--json"))
    second = outcome["matches"][1]
    assert second["again"][-2:] == ["rival.py", "chatty.py"]
    again = json.loads(played(*second["again"][1:], "--json"))["matches"][0]
    assert (again["seed"], again["result"], again["turns"]) == (second["seed"], second["result"], second["turns"])
    assert [seat["name"] for seat in again["seats"]] == ["rival", "chatty"]


def test_the_record_and_its_page_say_the_same_command_as_the_verdict(played: Any) -> None:
    """With the bots as they were named, and with what is not the game's own."""
    words = ("--game", "connectfour", "--seed", "5", "--call-time", "3s", "@random", "@random")
    verdict = json.loads(played(*words, "--replay", "kept.jsonl", "--json"))["matches"][0]
    record = Replay(Path("kept.jsonl"))
    assert list(record.header.again) == verdict["again"]
    assert about(record).command == "referee --game connectfour --call-time 3s --seed 5 @random @random"
    assert about(record, frozenset({0})).command == "", "the seed is not for those who see one seat"
    header, *rest = Path("kept.jsonl").read_text().splitlines(keepends=True)
    older = {key: value for key, value in json.loads(header).items() if key != "again"}
    Path("kept.jsonl").write_text("".join([json.dumps(older) + "\n", *rest]))
    assert about(Replay(Path("kept.jsonl"))).command == "", "an older record does not say it"


def test_json_and_the_record_hold_the_same(played: Any) -> None:
    outcome = json.loads(played(*MATCH, "--json"))["matches"][0]
    (fault,) = outcome["faults"]
    assert (fault["rules"], fault["position"], fault["said"]) == (
        "tictactoe.md, A4",
        "O..\n.X.\n...",
        ["thinking of 1"],
    )
    assert json.loads(fault["answer"])["result"] == {"action": "putSymbol", "position": "NW"}
    lines = [json.loads(line) for line in Path(outcome["replay"]).read_bytes().splitlines()]
    assert lines[-1]["faults"] == [fault]


def test_the_record_tells_where_the_standard_error_of_each_call_begins(played: Any) -> None:
    """The file itself is what the bot wrote, and nothing else."""
    outcome = json.loads(played(*MATCH, "--json"))["matches"][0]
    turns = [json.loads(line) for line in Path(outcome["replay"]).read_bytes().splitlines()[2:-1]]
    offsets = [turn.get("stderr", {}).get("0", 0) for turn in turns if "0" in turn["answers"]]
    text = Path(outcome["seats"][0]["stderr"]).read_bytes()
    assert text == b"awake\nthinking of 0\nthinking of 1\n"
    assert said(text, offsets[:2]) == [b"thinking of 0\n", b"thinking of 1\n"]


def test_nothing_that_a_terminal_would_obey_comes_from_an_answer(played: Any, arena: Arena) -> None:
    arena.bot("greet(); call(); write(b'\\x1b[2J \\xff\\n'); call()", name="chatty")
    out = played(*MATCH)
    assert "\x1b" not in out
    assert "  its answer: \\x1b[2J \\xff" in out
    assert "  rules:  SPEC.md, 16" in out
    assert shlex.split(out[out.index("again ") :].splitlines()[0])[1:3] == ["referee", "--game"]
