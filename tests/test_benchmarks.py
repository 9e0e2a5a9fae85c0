"""The benchmarks run; what they measure is for people to judge."""

import json
import shutil
import subprocess
import sys

import pytest

from benchmarks.__main__ import YARDSTICK, table_of_calls, table_of_engines
from benchmarks.aibg5 import table_of_aibg5
from benchmarks.kits import table_of_kits
from games import registry
from protocol.messages import Encoding
from tools.generated import ROOT


@pytest.mark.skipif(shutil.which("g++") is None, reason="the instant bots need g++")
def test_a_call_is_measured_in_every_variant() -> None:
    command = [sys.executable, "-m", "benchmarks.calls", "--rounds", "1"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert {
        "bare blocking pipes",
        YARDSTICK,
        "referee, tictactoe, json",
        "referee, reantics, msgpack",
    } <= figures.keys()
    assert all(len(rounds) == 1 and rounds[0] > 0 for rounds in figures.values())
    assert f"| {YARDSTICK} | 1.00 |" in table_of_calls(figures, figures)


@pytest.mark.skipif(shutil.which("g++") is None, reason="the bot that parses needs g++")
def test_the_referee_is_measured_against_a_bot_that_parses() -> None:
    command = [sys.executable, "-m", "benchmarks.aibg5", "--rounds", "1", "--game-rounds", "20"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == set(Encoding)
    assert all(figure["referee"] > 0 and figure["bot"] > 0 for figure in figures.values())
    assert "| json | " in table_of_aibg5(figures)


def test_every_engine_is_measured() -> None:
    command = [sys.executable, "benchmarks/engines.py", "--json", "tictactoe"]
    rates = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert rates.keys() == {"tictactoe"} <= set(registry.names())
    assert rates["tictactoe"]["apply"]["median"] > 0
    assert "| tictactoe |" in table_of_engines(rates)
    assert table_of_engines({**rates, "another": {"copy": {"median": 7.0}}}).endswith(
        "| another |  |  | 7.0 |  |  |  |  |  |"
    )
    assert rates["tictactoe"]["match"]["median"] > 0


def test_a_call_in_a_kit_is_measured_in_both_encodings() -> None:
    command = [sys.executable, "-m", "benchmarks.kits", "--json", "--calls", "5", "python"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout)
    assert figures.keys() == {"python"}
    assert figures["python"].keys() == set(Encoding)
    assert all(cost > 0 for cost in figures["python"].values())
    assert "| python |" in table_of_kits(figures)
