"""Fault reports: enough to find the cause of a fault, and to play it again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from scripted import Arena

from referee.addons.web.page import about
from referee.harness.cli.main import main
from referee.harness.match.fault_reports import _answer_text
from referee.harness.replay.lines import ANSWER_CHARACTERS
from referee.harness.replay.reader import Replay
from referee.harness.seats.seat import SeatStatus

CHATTY = """
print("awake", file=sys.stderr, flush=True)
greet()
for number, place in enumerate(("NW", "NW")):
    asked = call()
    print(f"thinking of {number}", file=sys.stderr, flush=True)
    answer(asked, cell(place))
call()
"""
"""Writes to standard error in each call; its second answer is illegal."""
RIVAL = "greet(); put('C'); call(); answer({'id': 2}, {'action': 'flipTable'}); call()"


def said(text: bytes, offsets: list[int]) -> list[bytes]:
    """Returns a file of standard error, cut at these places."""
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


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_an_answer_is_cut_after_its_limit_and_says_so(more: int) -> None:
    answer = b"x" * (ANSWER_CHARACTERS + more)
    shown = _answer_text(SeatStatus(answer=answer))
    assert shown == "x" * min(len(answer), ANSWER_CHARACTERS) + ("…" if more > 0 else "")


MATCH = ("--game", "tictactoe", "--seed", "5", "--call-time", "3s", "chatty.py", "rival.py")


def test_the_verdict_shows_answer_position_rule_and_standard_error_of_the_call(played: Any) -> None:
    lines = played(*MATCH).splitlines()
    at = next(
        number for number, line in enumerate(lines) if line.startswith("fault: illegal by seat 0 (chatty), call 2")
    )
    assert lines[at + 1].startswith('  answer: {"jsonrpc": "2.0", "id": 2, "result": {"action": "putSymbol"')
    assert lines[at + 2 : at + 9] == [
        "  position:",
        "    O..",
        "    .X.",
        "    ...",
        "    O seat 0   X seat 1   . an empty cell",
        "  standard error during this call:",
        "    thinking of 1",
    ]
    assert "  rule: tictactoe.md, A4 (referee rules tictactoe A4)" in lines
    assert "reproduce with: referee --game tictactoe --call-time 3s --seed 5 chatty.py rival.py" in lines


def test_the_shown_command_plays_the_same_match_again(played: Any) -> None:
    """The command plays a single match of a series, with the same seats."""
    outcome = json.loads(played(*MATCH, "--games", "2", "--swap", "--json"))
    second = outcome["matches"][1]
    assert second["again"][-2:] == ["rival.py", "chatty.py"]
    again = json.loads(played(*second["again"][1:], "--json"))["matches"][0]
    assert (again["seed"], again["result"], again["turns"]) == (second["seed"], second["result"], second["turns"])
    assert [seat["name"] for seat in again["seats"]] == ["rival", "chatty"]


def test_the_replay_and_its_page_show_the_same_command_as_the_verdict(played: Any) -> None:
    """With the bots as the user named them, and with options that differ from the game's defaults."""
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


def test_the_json_verdict_and_the_replay_have_the_same_faults(played: Any) -> None:
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


def test_the_replay_says_where_the_standard_error_of_each_call_begins(played: Any) -> None:
    """The file holds what the bot wrote and nothing else."""
    outcome = json.loads(played(*MATCH, "--json"))["matches"][0]
    turns = [json.loads(line) for line in Path(outcome["replay"]).read_bytes().splitlines()[2:-1]]
    offsets = [turn.get("stderr", {}).get("0", 0) for turn in turns if "0" in turn["answers"]]
    text = Path(outcome["seats"][0]["stderr"]).read_bytes()
    assert text == b"awake\nthinking of 0\nthinking of 1\n"
    assert said(text, offsets[:2]) == [b"thinking of 0\n", b"thinking of 1\n"]


def test_a_match_without_a_replay_reports_faults_and_writes_no_folder(played: Any) -> None:
    (match,) = json.loads(played(*MATCH, "--json", "--replay", "none"))["matches"]
    (fault,) = match["faults"]
    assert fault["rules"] == "tictactoe.md, A4"
    assert fault["bundle"] is None
    assert [path.name for path in Path().iterdir() if path.is_dir()] == []


def test_control_characters_in_an_answer_are_escaped(played: Any, arena: Arena) -> None:
    arena.bot("greet(); call(); write(b'\\x1b[2J \\xff\\n'); call()", name="chatty")
    out = played(*MATCH)
    assert "\x1b" not in out
    assert "  answer: \\x1b[2J \\xff" in out
    assert "  rule: SPEC.md, 16" in out
    assert shlex.split(out[out.index("reproduce with: ") :].splitlines()[0])[2:4] == ["referee", "--game"]
