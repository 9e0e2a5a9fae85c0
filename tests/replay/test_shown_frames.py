"""`referee replay show --calls` shows the frames that bots got."""

import json
from pathlib import Path

import pytest
from scripted import Arena

from referee.harness.cli.main import main

WRITES = """
def read():
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(0)
    sys.stderr.write(line.decode()); sys.stderr.flush()
    return json.loads(line)
greet(); put('NW'); put('W'); put('SW'); put('S'); call()
"""


def test_calls_are_shown_with_the_clock_that_the_bot_got(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    arena.bot(WRITES, name="writes")
    arena.bot("greet(); put('C'); put('E'); put('N'); call()", name="rival")
    words = ("--game", "tictactoe", "writes.py", "rival.py", "--clock", "60+1", "--call-time", "2s")
    assert main((*words, "--replay", "match.jsonl")) == 0
    capsys.readouterr()
    assert main(("replay", "show", "match.jsonl", "--calls")) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("seat 0 -> ")]
    shown = [json.loads(line.removeprefix("seat 0 -> "))["params"] for line in lines if '"play"' in line]
    sent = [json.loads(line) for line in Path("match.seat0.stderr").read_text().splitlines()]
    got = [frame["params"] for frame in sent if frame["method"] == "play"]
    assert len(got) == len(shown) >= 3
    for mine, theirs in zip(shown, got, strict=True):
        clocks = mine.pop("clock"), theirs.pop("clock")
        assert mine == theirs
        assert clocks[0].keys() == clocks[1].keys()
        for name in clocks[0]:  # a replay has whole microseconds
            assert clocks[0][name] == clocks[1][name] or abs(clocks[0][name] - clocks[1][name]) <= 1
