"""The benchmarks run, nightly. People judge their figures."""

import importlib.util
import json
import subprocess
import sys

import pytest
from needs import needs

from referee.benchmarks import command, edits, kits
from referee.benchmarks.__main__ import YARDSTICK, table_of_calls, table_of_engines
from referee.games import registry
from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding
from referee.tools.generated import ROOT


@pytest.mark.nightly
@needs("g++")
def test_a_turn_and_a_match_are_measured_in_every_variant() -> None:
    line = [sys.executable, "-m", "referee.benchmarks.calls", "--rounds", "1"]
    figures = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    for ((wall, own),) in figures["bare blocking pipes"], figures[YARDSTICK]:
        assert 0 < own <= wall * 1.05
    for name in (f"{game}, {encoding}" for game in ("tictactoe", "reantics") for encoding in Encoding):
        ((_, turn),), ((_, match),) = figures[f"a turn, {name}"], figures[f"a match, {name}"]
        assert 0 < turn < match
    assert {name for name in figures if "think" in name} == {
        "a turn, tictactoe, json, bots that think 100 µs",
        "a turn, tictactoe, json, bots that think 1000 µs",
    }
    for name, package in (
        ("PettingZoo, tictactoe", "pettingzoo"),
        ("kaggle-environments, connectx", "kaggle_environments"),
    ):
        assert bool(figures[f"a step, {name}"]) is (importlib.util.find_spec(package) is not None)
    figures["a step of a missing package"] = []
    table = table_of_calls(figures, figures)
    assert f"| {YARDSTICK} | 1.00 |" in table and "| a step of a missing package | not installed |" in table


@pytest.mark.nightly
@needs("g++")
def test_a_game_of_the_command_is_measured() -> None:
    line = [sys.executable, "-m", "referee.benchmarks.command", "--rounds", "1", "--games", "300"]
    figures = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == command.ROWS.keys()
    assert figures["without replays"][0] > 0
    assert "| without replays | " in command.table(figures)


@pytest.mark.nightly
@needs("c")
def test_the_time_from_an_edit_to_a_match_is_measured() -> None:
    line = [sys.executable, "-m", "referee.benchmarks.edits", "--json", "--edits", "1", "c", "python"]
    figures = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == {"c", "python"}
    assert all(seconds > 0 for kit in figures.values() for seconds in kit.values())
    assert "| c | " in edits.table(figures)


def test_every_kit_has_a_file_to_edit() -> None:
    assert edits.SOURCES.keys() == {path.parent.name for path in KITS.glob("*/new.toml")}


@pytest.mark.nightly
def test_every_engine_is_measured() -> None:
    line = [sys.executable, "benchmarks/engines.py", "--json", "tictactoe"]
    rates = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    assert rates.keys() == {"tictactoe"} <= set(registry.names())
    assert rates["tictactoe"]["apply"]["median"] > 0
    assert "| tictactoe |" in table_of_engines(rates)
    assert table_of_engines({**rates, "another": {"copy": {"median": 7.0}}}).endswith(
        "| another |  |  | 7.0 |  |  |  |  |  |"
    )
    assert rates["tictactoe"]["match"]["median"] > 0


@pytest.mark.nightly
def test_a_call_in_a_kit_is_measured_in_both_encodings() -> None:
    line = [sys.executable, "-m", "referee.benchmarks.kits", "--json", "--calls", "5", "python"]
    figures = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout)
    assert figures.keys() == {"python"}
    assert figures["python"].keys() == set(Encoding)
    assert all(cost > 0 for cost in figures["python"].values())
    assert "| python |" in kits.table(figures)
