"""Elo, normalised Elo, likelihood of superiority and the likelihood ratio of seed groups."""

import math
from collections.abc import Sequence

import pytest

from referee.addons.tournament.statistics import score
from referee.addons.tournament.statistics.score import Sample, elo, expected, llr


def pentanomial(counts: Sequence[int]) -> Sample:
    """Returns game pairs, by their points: 0, ½, 1, 1½, 2."""
    return Sample(tuple(counts))


def trinomial(wins: int, draws: int, losses: int) -> Sample:
    """Returns games that were not paired."""
    return Sample((losses, draws, wins), games=1)


def half_width(interval: score.Interval) -> float:
    assert interval.low is not None and interval.high is not None
    return (interval.high - interval.low) / 2


# Figures that fastchess and its like print for the same counts.


@pytest.mark.parametrize(
    ("counts", "elo_and_width", "nelo_and_width", "los"),
    [
        ([0, 6, 36, 8, 0], (6.95, 25.46), (18.62, 68.10), 70.40),
        ([1, 11, 74, 14, 0], (1.74, 18.35), (4.56, 48.15), 57.37),
    ],
)
def test_elo_normalised_elo_and_superiority_of_a_pentanomial(
    counts: list[int], elo_and_width: tuple[float, float], nelo_and_width: tuple[float, float], los: float
) -> None:
    found = score.strength(pentanomial(counts))
    assert (found.elo.value, half_width(found.elo)) == pytest.approx(elo_and_width, abs=0.005)
    assert (found.nelo.value, half_width(found.nelo)) == pytest.approx(nelo_and_width, abs=0.005)
    assert found.los is not None and 100 * found.los == pytest.approx(los, abs=0.005)
    assert found.note == ""


@pytest.mark.parametrize(
    ("sample", "bounds", "wanted"),
    [
        (trinomial(36433, 68692, 36027), (0, 2, True), 0.92),
        (pentanomial([127, 4883, 10712, 5150, 104]), (-1.75, 0.25, True), 3.01),
        (pentanomial([223, 9863, 21279, 10037, 246]), (0.5, 2.5, False), -3.07),
    ],
)
def test_the_likelihood_ratio_of_long_runs(sample: Sample, bounds: tuple[float, float, bool], wanted: float) -> None:
    assert llr(sample, *bounds) == pytest.approx(wanted, abs=0.005)


# Samples.


def test_the_score_of_a_seed_group_counts_rivals_finished_ahead_of() -> None:
    """Four seats and four games: 12 rivals, 24 half steps."""
    sample = Sample((1, *[0] * 11, 2, *[0] * 10, 1, 1), games=4)
    assert (len(sample.scores), score.strength(sample).units, sample.games) == (25, 5, 4)
    assert [score for score, count in zip(sample.scores, sample.counts, strict=True) if count] == [0, 0.5, 23 / 24, 1]


@pytest.mark.parametrize("counts", [[1, 2, 3], [0, 0, 0, 0, 0], [1, 0, -1, 0, 1]])
def test_impossible_counts_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="counts"):
        pentanomial(counts)


def test_the_draw_ratio_is_that_of_units() -> None:
    assert score.strength(pentanomial([0, 6, 36, 8, 0])).draw_ratio == 0.72
    assert score.strength(trinomial(wins=1, draws=3, losses=0)).draw_ratio == 0.75


def test_a_pair_of_games_tells_more_than_two_single_ones_when_their_luck_is_shared() -> None:
    """One seat wins every game: the game pairs are almost equal, the single games differ widely."""
    paired = score.strength(pentanomial([0, 1, 98, 1, 0]))
    single = score.strength(trinomial(wins=100, draws=2, losses=98))
    assert half_width(paired.elo) < half_width(single.elo) / 5


# Where there is no spread.


def test_winning_all_seed_groups_has_a_lower_end_that_wins_all_once_in_forty() -> None:
    found = score.strength(pentanomial([0, 0, 0, 0, 30]))
    assert found.elo.value == found.elo.high == math.inf
    assert found.elo.low == pytest.approx(elo(0.025 ** (1 / 30)))
    assert expected(found.elo.low) ** 30 == pytest.approx(0.025)
    assert found.los == pytest.approx(1 - 0.5**30)
    assert found.note == ""


def test_losing_all_seed_groups_is_the_mirror_of_winning_all() -> None:
    won, lost = score.strength(pentanomial([0, 0, 0, 0, 7])), score.strength(pentanomial([7, 0, 0, 0, 0]))
    assert won.elo.low is not None and lost.elo.high == pytest.approx(-won.elo.low)
    assert (lost.elo.value, lost.elo.low) == (-math.inf, -math.inf)
    assert won.los is not None and lost.los == pytest.approx(1 - won.los)
    assert won.note == lost.note == "few"


@pytest.mark.parametrize(("counts", "value"), [([0, 0, 40, 0, 0], 0.0), ([0, 0, 0, 40, 0], elo(0.75))])
def test_equal_seed_groups_give_no_interval(counts: list[int], value: float) -> None:
    found = score.strength(pentanomial(counts))
    assert (found.elo.value, found.elo.low, found.elo.high) == (pytest.approx(value), None, None)
    assert (found.nelo.low, found.nelo.high, found.los, found.note) == (None, None, None, "no information")


@pytest.mark.parametrize(("units", "note"), [(19, "few"), (20, ""), (21, "")])
def test_below_twenty_seed_groups_are_few(units: int, note: str) -> None:
    assert score.strength(pentanomial([0, 1, units - 2, 1, 0])).note == note


def test_an_end_beyond_a_sure_win_is_infinite() -> None:
    found = score.strength(pentanomial([0, 0, 0, 1, 5]))
    assert found.elo.high == math.inf and found.elo.low is not None and math.isfinite(found.elo.low)


def test_elo_and_the_expected_score_are_each_others_inverse() -> None:
    for difference in (-2000.0, -400.0, -1.5, 0.0, 3.0, 800.0):
        assert elo(expected(difference)) == pytest.approx(difference)
    assert (expected(math.inf), expected(-math.inf), expected(-1e9)) == (1, 0, 0)


# The likelihood ratio where scores are missing.


def test_equal_seed_groups_are_evidence_for_h0_but_do_not_decide_at_once() -> None:
    """The normal approximation would divide by 0; in the likeliest distribution some seed groups are won."""
    share = 2 * (expected(30) - 0.5)
    assert llr(pentanomial([0, 0, 8, 0, 0]), 0, 30) == pytest.approx(8 * math.log(1 - share))


def test_won_seed_groups_are_evidence_for_h1_by_the_ratio_of_the_expected_scores() -> None:
    assert llr(pentanomial([0, 0, 0, 0, 8]), 0, 30) == pytest.approx(8 * math.log(expected(30) / 0.5))
    assert llr(pentanomial([8, 0, 0, 0, 0]), -30, 0) == pytest.approx(8 * math.log(0.5 / expected(30)))


@pytest.mark.parametrize("normalised", [False, True])
def test_the_mirrored_sample_under_mirrored_hypotheses_has_the_negative_ratio(normalised: bool) -> None:
    counts = [3, 7, 20, 0, 6]
    there = llr(pentanomial(counts), -5, 20, normalised)
    back = llr(pentanomial(counts[::-1]), -20, 5, normalised)
    assert there == pytest.approx(-back)


@pytest.mark.parametrize(
    ("sample", "bounds", "wanted"),
    [
        (pentanomial([1, 18, 19885, 82, 14]), (-2.5, 100, True), -2670.4540),
        (trinomial(wins=113, draws=87, losses=0), (-2.5, 2.5, True), 2.1634578),
        (pentanomial([1, 0, 0, 0, 0]), (-30, 30, True), -0.2436231),
        (trinomial(wins=0, draws=1, losses=2), (0, 100, True), -0.8089794),
    ],
)
def test_the_ratio_is_what_a_general_optimiser_finds(
    sample: Sample, bounds: tuple[float, float, bool], wanted: float
) -> None:
    """Scipy's SLSQP from several starts: where scores are missing, and where there are several local optima."""
    assert llr(sample, *bounds) == pytest.approx(wanted, rel=1e-6)
