"""The benchmarks run, nightly. People judge their figures, except two that every change must keep."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

from referee.benchmarks import training
from referee.benchmarks.__main__ import YARDSTICK, table_of_calls, table_of_engines
from referee.benchmarks.cluster import measure, table_of_clusters
from referee.benchmarks.command import ROWS as COMMAND_ROWS
from referee.benchmarks.command import table_of_command
from referee.benchmarks.edits import SOURCES, table_of_edits
from referee.benchmarks.kits import table_of_kits
from referee.benchmarks.metered import table_of_metering
from referee.benchmarks.tournament import ROWS, driven, table_of_tournaments
from referee.games import registry
from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding
from referee.tools.generated import ROOT


@pytest.mark.nightly
@needs("g++")
def test_a_turn_and_a_match_are_measured_in_every_variant() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.calls", "--rounds", "1"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
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
    command = [sys.executable, "-m", "referee.benchmarks.command", "--rounds", "1", "--games", "300"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == COMMAND_ROWS.keys()
    assert figures["without replays"][0] > 0
    assert "| without replays | " in table_of_command(figures)


@pytest.mark.nightly
@needs("gcc")
def test_a_metered_bot_is_compared_with_a_native_one() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.metered", "--json", "--steps", "20000"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert figures["calls"].keys() == figures["start_ms"].keys() == {"native", "metered"}
    assert isinstance(figures["memory_bound"], float)  # of 20,000 steps it is noise
    assert "| an instant call | " in table_of_metering(figures)


@pytest.mark.nightly
@needs("c")
def test_the_time_from_an_edit_to_a_match_is_measured() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.edits", "--json", "--edits", "1", "c", "python"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == {"c", "python"}
    assert all(seconds > 0 for kit in figures.values() for seconds in kit.values())
    assert "| c | " in table_of_edits(figures)


def test_every_kit_has_a_file_to_edit() -> None:
    assert SOURCES.keys() == {path.parent.name for path in KITS.glob("*/new.toml")}


@pytest.mark.nightly
@needs("g++")
def test_tournaments_are_measured() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.tournament", "--seconds", "1", "--lines", "2000"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert ROWS.keys() < figures.keys() and figures["a ledger"]["games"] == 1900
    assert all(figures[name]["games a second"] > 0 for name in ROWS)
    spent = [figures[name]["runner, of all CPU"] for name in ROWS]
    assert all(0 < part <= 1 for part in spent) and min(spent) < 1, "bots of less than the kernel's tick cost nothing"
    assert "| tictactoe, instant C++ bots, used again | " in table_of_tournaments(figures)


@pytest.mark.nightly
@needs("g++")
def test_tournaments_on_a_cluster_are_measured() -> None:
    figures = measure(3, counts=[1], lengths_ms=[10])
    real, model = figures.values()
    assert real["games a second"] > 0 and real.keys() < model.keys()
    table = table_of_clusters(figures)
    assert "| 1 Dask worker on this machine, tictactoe | " in table
    assert "| model of 64 workers, games of 10 ms | " in table


@pytest.mark.nightly
@pytest.mark.alone
def test_the_cost_of_a_game_does_not_grow_during_a_tournament(tmp_path: Path) -> None:
    first, *_, last = driven(tmp_path, 100_000)
    assert last < 1.5 * first


@pytest.mark.nightly
@pytest.mark.alone
def test_environments_for_training_are_faster_than_pettingzoos() -> None:
    figures = training.measured(rounds=3)
    pettingzoo, aec, vector = [min(figures[name]) for name in (training.PETTINGZOO, training.AEC, training.VECTOR)]
    assert aec <= pettingzoo
    assert 2.5 * vector <= pettingzoo  # 3.5 on an idle machine: programs that share its caches slow arrays more
    assert f"| {training.PETTINGZOO} | " in training.table_of_training(figures)


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_call_in_a_kit_is_measured_in_both_encodings() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.kits", "--json", "--calls", "5", "python"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout)
    assert figures.keys() == {"python"}
    assert figures["python"].keys() == set(Encoding)
    assert all(cost > 0 for cost in figures["python"].values())
    assert "| python |" in table_of_kits(figures)
