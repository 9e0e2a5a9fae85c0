"""The benchmark of environments runs, nightly, and holds a promise that every change must keep."""

import pytest

from referee.benchmarks import training


@pytest.mark.nightly
@pytest.mark.alone
def test_environments_for_training_are_faster_than_pettingzoos() -> None:
    figures = training.measured(rounds=3)
    pettingzoo, aec, vector = [min(figures[name]) for name in (training.PETTINGZOO, training.AEC, training.VECTOR)]
    assert aec <= pettingzoo
    assert 2.5 * vector <= pettingzoo  # 3.5 on an idle machine: programs that share its caches slow arrays more
    assert f"| {training.PETTINGZOO} | " in training.table(figures)


@pytest.mark.nightly
@pytest.mark.alone
def test_programs_of_many_matches_are_stepped_together_faster_than_one_after_the_other() -> None:
    figures = training.against_programs(rounds=3)
    one_by_one, together = [min(figures[name]) for name in (training.ONE_BY_ONE, training.TOGETHER)]
    assert 1.3 * together <= one_by_one
    assert f"| {training.TOGETHER} | " in training.table(figures)
