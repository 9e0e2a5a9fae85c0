"""The benchmarks run; what they measure is for people to judge."""

import json
import shutil
import subprocess
import sys

import pytest

from benchmarks.__main__ import YARDSTICK, table_of_calls, table_of_engines
from games import registry


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


def test_every_engine_is_measured() -> None:
    command = [sys.executable, "benchmarks/engines.py", "--json", "tictactoe"]
    rates = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert rates.keys() == {"tictactoe"} <= set(registry.names())
    assert rates["tictactoe"]["apply"]["median"] > 0
    assert "| tictactoe |" in table_of_engines(rates)
