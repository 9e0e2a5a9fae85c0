"""`--rank-by score`: the mean of what games pay, with its interval, against pyspiel's own returns."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as st

import referee
from referee.addons.tournament.store import ledger, reader
from referee.games.game import Stakes
from referee.harness.cli.main import main
from referee.harness.match.interval import Z, mean_interval

pytestmark = pytest.mark.slow

LEDUC = ["tournament", "run", "--game", "openspiel:leduc_poker"]
ILLEGAL = """
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if call["method"] == "exit":
        break
    if "id" in call:
        result = {"reuse": True} if call["method"] == "initialize" else {"action": 99}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


def returns_of(replay: Path) -> dict[str, float]:
    """By bot, what OpenSpiel pays for the actions of a replay."""
    *_, (_, state, _) = referee.positions(referee.read_replay(replay))
    own = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in state.view(None).history:
        own.apply_action(action)
    assert own.is_terminal()
    return dict(zip(state.setup.names, own.returns(), strict=True))


def test_the_mean_is_that_of_openspiels_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "cup"
    bots = ["@uniform", "@first", "@random"]
    assert main([*LEDUC, *bots, "--games", "12", "--seed", "3", "--rank-by", "score", "--ledger", str(folder)]) == 0
    capsys.readouterr()
    assert main(["tournament", "show", str(folder), "--output", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    units: dict[str, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in extracted(folder, tmp_path):
        paid = returns_of(path)
        for bot, chips in paid.items():
            units[bot][tuple(sorted(paid)), referee.read_replay(path).header.setup.seed].append(chips)
    assert sorted(units) == sorted(bots)
    means = {}
    for row in shown["rows"]:
        groups = units[row["name"]].values()
        assert [len(group) for group in groups] == [2] * 12, "each rival, and each seed at both seats"
        means[row["name"]] = row["mean"]["value"]
        totals = [sum(group) for group in groups]
        assert row["mean"]["value"] == pytest.approx(sum(totals) / 24)
        error = Z * np.std(totals, ddof=1) / math.sqrt(12) / 2
        assert row["mean"]["high"] - row["mean"]["value"] == pytest.approx(error)
    assert [row["name"] for row in shown["rows"]] == sorted(means, key=lambda name: -means[name])
    assert shown["ranking"].startswith("ranked by the mean score of a game")


def extracted(folder: Path, target: Path) -> Iterator[Path]:
    """The replays of a tournament as files."""
    for file in ledger.files(folder):
        for end, text in ledger.lines(file, 0):
            if text and not text.startswith(b'{"ledger":'):
                line = msgspec.json.decode(text, type=ledger.Line)
                content = reader.replay(folder, file, line)
                assert content is not None
                path = target / f"{end}.jsonl"
                path.write_bytes(content)
                yield path


def test_a_fault_costs_the_most_that_can_be_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Leduc pays 13 chips at most. An illegal answer scores 0 in the match, and a lost hand as little as -13."""
    bad = tmp_path / "bad.py"
    bad.write_text(ILLEGAL)
    words = [*LEDUC, str(bad), "@uniform", "--games", "4", "--seed", "1", "--ledger", str(tmp_path / "cup")]
    assert main([*words, "--rank-by", "score"]) == 0
    shown = capsys.readouterr().out
    assert "13.000 [13.000, 13.000]" in shown and "-13.000 [-13.000, -13.000]" in shown
    assert main(["--game", "openspiel:leduc_poker", str(bad), "@uniform", "--games", "2", "--replay", "none"]) == 0
    assert "-13.000" in capsys.readouterr().out


def test_an_organisers_file_asks_for_it_and_a_tournament_that_exists_can_be_ranked_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "cup.toml", str(tmp_path / "cup")
    game = 'game = "openspiel:kuhn_poker"\nbots = ["@uniform", "@first"]\ngames = 4\nseed = 1\n'
    file.write_text(f'{game}rank_by = "score"\n')
    assert main(["tournament", "run", str(file), "--ledger", folder]) == 0
    assert "ranked by the mean score of a game" in capsys.readouterr().out
    for by in ("points", "score"):
        assert main(["tournament", "run", folder, "--rank-by", by]) == 0
        assert ("score a game [low, high]" in capsys.readouterr().out) == (by == "score")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            ["--format", "swiss"],
            "--rank-by score: swiss with 2 seats does not use it; leave it out, or take round-robin,",
        ),
        (["--play-off", "2"], "--rank-by score cannot be combined with a play-off, which goes by points"),
    ],
)
def test_what_ranks_otherwise_refuses_it_in_a_line(
    more: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LEDUC, "@uniform", "@first", "--rank-by", "score", *more, "--ledger", str(tmp_path / "cup")]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=50), st.integers(1, 4))
def test_the_interval_of_units_of_one_size_is_the_usual_one(sums: list[float], games: int) -> None:
    found = mean_interval([(total, games) for total in sums])
    assert found.value == pytest.approx(np.mean(sums) / games, abs=1e-9)
    half = Z * np.std(sums, ddof=1) / math.sqrt(len(sums)) / games
    assert found.low is not None and found.value - found.low == pytest.approx(half, abs=1e-9)
    assert found.high is not None and found.high - found.value == pytest.approx(half, abs=1e-9)


def test_the_interval_contains_the_true_mean_in_19_of_20_samples() -> None:
    """Units of one or two games with skewed pay, as hands of poker."""
    draw, inside = np.random.default_rng(1), 0
    for _ in range(600):
        counts, pay = draw.integers(1, 3, 200), draw.choice([-1, -1, -1, 2, 11], (200, 2))
        sums = pay[:, 0] + pay[:, 1] * (counts == 2)
        found = mean_interval([*zip(sums.tolist(), counts.tolist(), strict=True)])
        assert found.low is not None and found.high is not None
        inside += found.low <= 2 <= found.high
    assert 0.93 < inside / 600 < 0.97
    assert mean_interval([(3.0, 2)]).low is None


@pytest.mark.parametrize(
    ("stakes", "lost", "expected"),
    [
        (Stakes(-13, 0), [True, False], [-13, 13]),
        (Stakes(-13, 0), [True, True], [-13, -13]),
        (Stakes(-6, 0), [True, False, False], [-6, 3, 3]),
        (Stakes(0, 26), [False, True, False], [13, 0, 13]),
        (Stakes(-5), [True, False], [-5, 0]),
    ],
)
def test_the_others_share_what_a_fault_costs(stakes: Stakes, lost: list[bool], expected: list[float]) -> None:
    assert stakes.after_faults(lost) == expected
