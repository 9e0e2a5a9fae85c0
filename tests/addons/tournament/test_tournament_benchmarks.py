"""The benchmarks of tournaments run, nightly. People judge their figures, except one that every change must keep."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

from referee.benchmarks import cluster, tournament


@pytest.mark.nightly
@needs("g++")
def test_tournaments_are_measured() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.tournament", "--seconds", "1", "--lines", "2000"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert tournament.ROWS.keys() < figures.keys() and figures["a ledger"]["games"] == 1900
    assert all(figures[name]["games a second"] > 0 for name in tournament.ROWS)
    spent = [figures[name]["runner, of all CPU"] for name in tournament.ROWS]
    assert all(0 < part <= 1 for part in spent) and min(spent) < 1, "bots of less than the kernel's tick cost nothing"
    assert "| tictactoe, instant C++ bots, used again | " in tournament.table(figures)


@pytest.mark.nightly
@needs("g++")
def test_tournaments_on_a_cluster_are_measured() -> None:
    figures = cluster.measure(3, counts=[1], lengths_ms=[10])
    real, model = figures.values()
    assert real["games a second"] > 0 and real.keys() < model.keys()
    table = cluster.table(figures)
    assert "| 1 Dask worker on this machine, tictactoe | " in table
    assert "| model of 64 workers, games of 10 ms | " in table


@pytest.mark.nightly
@pytest.mark.alone
def test_the_cost_of_a_game_does_not_grow_during_a_tournament(tmp_path: Path) -> None:
    first, *_, last = tournament.driven(tmp_path, 100_000)
    assert last < 1.5 * first
