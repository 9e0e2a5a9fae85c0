"""The benchmark of the truth of `referee analyse`."""

import json
import subprocess
import sys
from typing import Any

import pytest

from referee.benchmarks.turning_points import GAMES, Exact, table
from referee.games import registry
from referee.games.contract import Setup


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"columns": 2, "rows": 1, "inarow": 1}, 1.0),
        ({"columns": 4, "rows": 1, "inarow": 4}, 0.5),
        ({"columns": 3, "rows": 2, "inarow": 2}, 1.0),
    ],
)
def test_the_exact_value_is_that_of_the_best_play_of_both(options: dict[str, Any], value: float) -> None:
    game = registry.game("connectfour")
    state = game.new(Setup(1, ("a", "b"), game.options(**options)))
    assert Exact().value(state) == value


@pytest.mark.nightly
@pytest.mark.timeout(3000)
def test_the_curve_agrees_and_the_moments_name_the_blunders_in_every_game() -> None:
    line = [sys.executable, "-m", "referee.benchmarks.turning_points", "--json", "--matches", "20", "--seconds", "30"]
    figures = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    assert figures.keys() == GAMES.keys()
    for name, row in figures.items():
        assert row["matches"] == 20 and row["changes"] >= 10 and row["blunders"] >= 10
        assert row["agreed"] >= 0.95 * row["changes"] and row["found"] >= 0.9 * row["blunders"], name
        assert f"| {name} | 20 | " in table(figures)
