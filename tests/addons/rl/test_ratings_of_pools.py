"""Ratings of a pool of opponents, by games against each other."""

from typing import Any

import numpy as np
import pytest

import referee

pytest.importorskip("referee.addons.tournament")
pytestmark = pytest.mark.slow


def lowest(seen: Any) -> Any:
    return seen["action_mask"].argmax(axis=1)


def highest(seen: Any) -> Any:
    return seen["action_mask"].shape[1] - 1 - seen["action_mask"][:, ::-1].argmax(axis=1)


def at_random(seed: int) -> Any:
    luck = np.random.default_rng(seed)
    return lambda seen: (luck.random(seen["action_mask"].shape) * seen["action_mask"]).argmax(axis=1)


def stacking(seen: Any) -> Any:
    """Fills the column in the middle and those next to it: three rows of four in a column are soon full."""
    order = np.array([3, 3, 3, 9, 3, 3, 3, 10])
    return (order * seen["action_mask"]).argmax(axis=1)


def test_a_better_policy_has_a_higher_rating() -> None:
    pool = [at_random(1), stacking, at_random(2)]
    one, best, other = referee.rl.ratings("connectfour", pool, 15, seed=4)
    assert best.elo.low is not None and one.elo.high is not None and other.elo.high is not None
    assert best.elo.low > max(one.elo.value, other.elo.value)
    assert best.p_first is not None and best.p_first > 0.95
    assert one.elo.value + best.elo.value + other.elo.value == pytest.approx(0, abs=1e-6)


def test_the_games_follow_from_the_seed() -> None:
    def found(seed: int) -> Any:
        return referee.rl.ratings("tictactoe", [at_random(1), lowest], 6, seed=seed)

    assert found(3) == found(3)


POOLS: list[Any] = [[lowest, highest], [lowest, at_random(1)]]


def test_games_that_repeat_are_one_observation() -> None:
    """Tic-tac-toe has no luck, and neither has the first pool: its thirty seed groups are one."""
    notes = [[each.note for each in referee.rl.ratings("tictactoe", pool, 30)] for pool in POOLS]
    assert notes == [["no information"] * 2, ["", ""]]


def test_programs_are_rated_by_their_games_against_policies() -> None:
    first, weak, program = referee.rl.ratings("connectfour", ["@baseline", lowest, "@random"], 3, seed=1)
    assert first.part == weak.part == program.part == 0, "games connect all of them"
    assert first.elo.value > program.elo.value


def test_a_game_of_four_seats_rates_too() -> None:
    rated = referee.rl.ratings("aibg5", [lowest, at_random(1)], 3, rounds=3)
    assert len(rated) == 2 and sum(each.elo.value for each in rated) == pytest.approx(0, abs=1e-6)


def test_a_match_that_is_cut_off_is_a_tie() -> None:
    rated = referee.rl.ratings("aibg5", [lowest, at_random(1)], 2, max_cycles=2)
    assert [each.elo.value for each in rated] == pytest.approx([0, 0])


@pytest.mark.parametrize(("pool", "groups", "words"), [("@random", 2, "expected a list"), ([lowest], 0, "groups=0")])
def test_wrong_arguments_are_refused_in_a_line(pool: Any, groups: int, words: str) -> None:
    with pytest.raises(referee.UsageError, match=words):
        referee.rl.ratings("tictactoe", pool, groups)
