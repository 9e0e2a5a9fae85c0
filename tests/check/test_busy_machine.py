"""`referee check` on a busy machine: a bot is refused for its own time only."""

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from contests import burners, drawing_bot
from submissions import folder_of, prepared

from referee.harness.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.alone]

CORE = """
import time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
plain = choose
"""
SLOW = f"""{CORE}
def choose():
    until = time.thread_time() + 0.15
    while time.thread_time() < until: pass
    return plain()
"""
ENDLESS = f"""{CORE}
def choose():
    while True: pass
"""


def checked(folder: Path, body: str, capsys: pytest.CaptureFixture[str], load: int, *options: str) -> tuple[int, Any]:
    bot = drawing_bot(folder, "mine", 1, body)
    argv = ["check", bot, "--game", "tictactoe", "--call-time", "250ms", "--limit", "startup=60s", "--isolation", "off"]
    with burners(min(os.sched_getaffinity(0)), load):
        code = main([*argv, *options, "--only", "answers-every-call", "--only", "time-limit", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_bot_for_which_no_core_was_free_is_neither_accepted_nor_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = checked(tmp_path, SLOW, capsys, 40, "--junit", str(tmp_path / "check.xml"))
    assert (code, report["passed"]) == (4, False)
    (late,) = [each for each in report["checks"] if each["status"] == "not decided"]
    (finding,) = late["findings"]
    assert finding["level"] == "note" and "slowed by machine load: no core was free for " in finding["text"]
    assert report["decided_by_machine"] == 3
    root = ElementTree.parse(tmp_path / "check.xml").getroot()
    assert root.get("failures") == "0"
    assert "not decided: the machine was busy" in [each.get("message") for each in root.iter("skipped")]


def test_the_time_without_a_core_is_not_charged_when_a_game_is_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = checked(tmp_path, SLOW, capsys, 3)
    assert (code, report["passed"]) == (0, True)
    assert report["decided_by_machine"] > 0


def test_an_endless_loop_is_refused_on_a_busy_machine_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = checked(tmp_path, ENDLESS, capsys, 3)
    assert (code, report["passed"]) == (1, False)


def test_a_tournament_neither_accepts_nor_refuses_a_bot_for_which_no_core_was_free(tmp_path: Path) -> None:
    """The next intake tries it again."""
    folder_of(tmp_path / "teams" / "slow", more=f"import os\n{SLOW}")
    folder_of(tmp_path / "teams" / "quick", 2)
    words = [tmp_path / "teams", "--into", tmp_path / "t", "--jobs", "1"]
    with burners(min(os.sched_getaffinity(0)), 40):
        told = prepared(
            tmp_path, *words, "--game", "tictactoe", "--call-time", "250ms", "--limit", "startup=60s", code=4
        )
    assert (told["accepted"], told["refused"], told["undecided"]) == (["quick"], {}, ["slow"])
    report = (tmp_path / "t" / "reports" / "slow.txt").read_text()
    assert "not decided: the machine was busy" in report and "no core was free for " in report
    told = prepared(tmp_path, *words, code=0)
    assert (told["accepted"], told["unchanged"]) == (["quick", "slow"], ["quick"])
