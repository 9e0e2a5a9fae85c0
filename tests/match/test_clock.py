"""Clock arithmetic: each limit one tick either side."""

import math

import pytest
from msgspec import UNSET

from referee.games.contract import Method
from referee.games.game import TimeControl
from referee.harness.match.clock import Clock, milliseconds

TICK_S = 2.0**-30
"""About a nanosecond, and exact: sums of it do not round."""
ARENA = TimeControl(initial_s=18.0, increment_s=2.0)
"""Tic-tac-toe's own: 18 s + 2 s."""


def test_a_time_control_replaces_a_method_s_own_limit_and_gives_none_to_others() -> None:
    closing, usual = Method("stats", dict, type(None), "", time_s=3.0), Method("play", dict, str, "")
    for time, own_s in ((TimeControl(), 3.0), (TimeControl(closing_call_s=1.5), 1.5)):
        assert time.own_s(closing) == own_s
        assert time.own_s(usual) is None


def test_an_answer_in_time_draws_on_the_bank_and_earns_the_increment() -> None:
    clock = Clock(ARENA)
    assert clock.limit_s() == 18.0
    assert clock.charge(5.0)
    assert (clock.remaining_s, clock.last_s) == (15.0, 5.0)
    for _ in range(3):
        clock.charge(0.5)
    assert clock.remaining_s == 19.5, "quick answers let the bank grow"


@pytest.mark.parametrize(
    ("elapsed_s", "in_time", "remaining_s"),
    [(18.0 - TICK_S, True, 2.0 + TICK_S), (18.0, True, 2.0), (18.0 + TICK_S, False, 0.0)],
)
def test_exactly_the_bank_is_in_time_and_a_tick_more_is_not(
    elapsed_s: float, in_time: bool, remaining_s: float
) -> None:
    clock = Clock(ARENA)
    assert clock.charge(elapsed_s) is in_time
    assert clock.remaining_s == remaining_s


def test_the_bank_gets_more_after_each_period_of_answers() -> None:
    clock = Clock(TimeControl(initial_s=60.0, increment_s=1.0, answers=3))
    left = [(clock.charge(10.0), clock.remaining_s, clock.shown(None).answers_left) for _ in range(4)]
    assert left == [(True, 51.0, 2), (True, 42.0, 1), (True, 93.0, 3), (True, 84.0, 2)]


def test_after_the_first_period_the_rest_of_the_match_may_have_a_bank_of_its_own() -> None:
    clock = Clock(TimeControl(initial_s=60.0, answers=2, final_s=30.0))
    left = [(clock.charge(10.0), clock.remaining_s, clock.shown(None).answers_left) for _ in range(4)]
    assert left == [(True, 50.0, 1), (True, 70.0, UNSET), (True, 60.0, UNSET), (True, 50.0, UNSET)]


def test_a_late_answer_earns_no_increment() -> None:
    clock = Clock(ARENA)
    clock.charge(20.0)
    assert clock.remaining_s == 0.0
    assert clock.limit_s() == 0.0
    assert not clock.charge(TICK_S)


@pytest.mark.parametrize(("elapsed_s", "in_time"), [(1.0 - TICK_S, True), (1.0, True), (1.0 + TICK_S, False)])
def test_a_limit_a_call_needs_no_bank(elapsed_s: float, in_time: bool) -> None:
    clock = Clock(TimeControl(per_call_s=1.0))
    assert clock.limit_s() == 1.0
    assert clock.charge(elapsed_s) is in_time
    assert clock.remaining_s is None
    assert clock.limit_s() == 1.0, "the next call has all of it again"


@pytest.mark.parametrize(("spent_s", "limit_s"), [(7.0, 1.0), (9.0, 1.0), (9.0 + TICK_S, 1.0 - TICK_S), (9.5, 0.5)])
def test_of_bank_and_limit_a_call_the_smaller_counts(spent_s: float, limit_s: float) -> None:
    clock = Clock(TimeControl(initial_s=10.0, per_call_s=1.0))
    clock.remaining_s = 10.0 - spent_s
    assert clock.limit_s() == limit_s


def test_a_late_call_under_both_limits_still_draws_on_the_bank() -> None:
    clock = Clock(TimeControl(initial_s=10.0, increment_s=3.0, per_call_s=1.0))
    assert not clock.charge(4.0)
    assert clock.remaining_s == 6.0


@pytest.mark.parametrize(("elapsed_s", "in_time"), [(2.0, True), (2.0 + TICK_S, False)])
def test_a_call_with_a_limit_of_its_own_leaves_the_bank_alone(elapsed_s: float, in_time: bool) -> None:
    """registerWin: 2 s, whatever is left in the bank."""
    clock = Clock(ARENA)
    clock.remaining_s = 0.25
    assert clock.limit_s(2.0) == 2.0
    assert clock.charge(elapsed_s, 2.0) is in_time
    assert clock.remaining_s == 0.25


def test_without_bank_and_limit_a_call_may_take_for_ever() -> None:
    clock = Clock(TimeControl())
    assert clock.limit_s() == math.inf
    assert clock.charge(1e9)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, None), (0.0, 0), (1.0, 1000), (0.0019, 1), (0.29, 290), (17.9999, 17999), (2e-7, 0)]
)
def test_milliseconds_are_rounded_down_but_not_below_what_was_meant(seconds: float | None, shown: int | None) -> None:
    """0.29 * 1000 is 289.99999999999994 in floating point."""
    assert milliseconds(seconds) == shown
