"""ReAntics, section 6: what happens at END, the four ways to win, the draws; section 9: what faults cost."""

from typing import Any

import pytest
from reantics_positions import (
    ENDED,
    FOODS,
    LAYOUT,
    ant_at,
    asked,
    attack,
    begun,
    build,
    drawn,
    end,
    open_view,
    own,
    params,
    play,
    rulings,
    set_up,
    walk,
)

from referee.games.contract import Fault, FaultKind, Player, Ruling, draw, win
from referee.games.game import TimeControl
from referee.games.reantics import GAME, REGISTER_WIN, WORKER, Options, ReAntics

both_seats = pytest.mark.parametrize("seat", [0, 1])


def carries(state: ReAntics, tile: tuple[int, int]) -> bool:
    ant = ant_at(state, tile)
    assert ant is not None
    return ant.carrying


# Whose turn it is (5.4)


@both_seats
def test_after_an_end_that_wins_the_other_player_is_to_move(seat: Player) -> None:
    state = drawn("1 W%", mover=seat, food=(10, 10) if seat else (11, 1))
    state.food = [1, 1]
    state.food[seat] = 11
    assert state.result is None
    end(state)
    assert state.result == win(seat, "food_goal")
    assert state.view(None).whoseTurn == 1 - seat


# Food


def test_a_worker_that_ends_the_turn_on_food_carries_it() -> None:
    state = drawn("1 W. .%")
    walk(state, (0, 1), (1, 1))
    assert not carries(state, (1, 1)), "not before END"
    end(state)
    assert carries(state, (1, 1))


def test_a_worker_that_did_not_move_picks_up_too_and_food_never_runs_out() -> None:
    state = drawn("1 W% .. W%", food=(1, 1))
    end(state)
    assert carries(state, (0, 1))
    assert carries(state, (2, 1))
    assert state.ground.foods == {1, 21}


def test_a_worker_that_carries_already_goes_on_carrying_one() -> None:
    state = drawn("0 .. .. .. .. .. .. .. .. W@\n1 W%", carrying={(0, 1), (8, 0)})
    end(state)
    assert carries(state, (0, 1))
    assert state.food == [2, 1]


@pytest.mark.parametrize("letter", ["D", "S", "R", "Q"])
def test_only_workers_pick_up_food(letter: str) -> None:
    state = drawn(f"1 {letter}%")
    end(state)
    assert not carries(state, (0, 1))


def test_any_players_worker_may_use_any_food() -> None:
    state = drawn("8 W%\n1 w%")
    end(state)
    end(state)
    assert carries(state, (0, 8))
    assert carries(state, (0, 1))


@pytest.mark.parametrize("home", ["^", "@"])
def test_food_is_brought_home_to_the_own_hill_or_tunnel_at_end(home: str) -> None:
    state = drawn(f"0 Q.\n1 W. .{home}", carrying={(0, 1)})
    walk(state, (0, 1), (1, 1))
    assert (state.food, carries(state, (1, 1))) == ([1, 1], True)
    end(state)
    assert (state.food, carries(state, (1, 1))) == ([2, 1], False)


def test_food_is_not_delivered_on_the_enemys_buildings() -> None:
    state = drawn("8 W@ .. ..\n9 .. .. .. W^ .. .. q.", carrying={(0, 8), (3, 9)})
    end(state)
    assert state.food == [1, 1]
    assert carries(state, (0, 8))
    assert carries(state, (3, 9))


def test_nothing_happens_to_the_ants_of_the_other_player() -> None:
    state = drawn("1 w% W. W^ .. Q.", moved={(1, 1)}, carrying={(2, 1)})
    end(state)
    assert not carries(state, (0, 1))


def test_at_end_the_own_ants_may_move_again_next_time() -> None:
    state = drawn("1 W. d.", moved={(0, 1), (1, 1)})
    end(state)
    mine, theirs = ant_at(state, (0, 1)), ant_at(state, (1, 1))
    assert mine is not None
    assert theirs is not None
    assert (mine.hasMoved, theirs.hasMoved) == (False, True)


# Capture


@pytest.mark.parametrize("letter", ["Q", "W", "D", "S", "R"])
@pytest.mark.parametrize(("sign", "left"), [("^", (2, 2)), ("@", (3, 1))])
def test_any_unit_on_an_enemy_building_at_end_counts_it_down_also_when_it_arrived_in_this_turn(
    letter: str, sign: str, left: tuple[int, int]
) -> None:
    state = drawn(f"7 q.\n9 .. .. .. {letter}. .{sign}")
    walk(state, (3, 9), (4, 9))
    assert (state.hill_health[1], state.tunnel_health[1]) == (3, 2)
    end(state)
    assert (state.hill_health[1], state.tunnel_health[1]) == left


def test_own_ants_do_not_capture_their_own_hill() -> None:
    state = drawn("1 W^ W@ .. Q.")
    end(state)
    assert (state.hill_health, state.tunnel_health) == ([3, 3], [2, 2])


def test_a_capture_needs_three_turns_not_in_a_row_nor_by_the_same_ant_and_never_recovers() -> None:
    state = drawn("7 q.\n9 .. .. .. D. .^ W.")
    walk(state, (3, 9), (4, 9))
    end(state)
    end(state)
    walk(state, (4, 9), (3, 9))
    end(state)
    end(state)
    walk(state, (5, 9), (4, 9))
    end(state)
    assert (state.hill_health[1], state.result) == (1, None)
    end(state)
    end(state)
    assert state.result == win(0, "anthill_captured")


def test_a_tunnel_goes_on_counting_below_zero_without_effect() -> None:
    state = drawn("7 q. w.\n9 .. .. .. D@")
    for _ in range(4):
        end(state)
        end(state)
    assert state.tunnel_health[1] == -2
    assert state.result is None
    assert [c["captureHealth"] for c in params(state)["currentState"]["inventories"][1]["constrs"]] == [3, -2]


def test_a_tunnel_that_was_captured_still_takes_food_from_its_owner() -> None:
    state = drawn("0 W@", carrying={(0, 0)})
    state.tunnel_health[0] = -1
    end(state)
    assert state.food == [2, 1]


# Winning


@both_seats
def test_a_dead_queen_loses(seat: Player) -> None:
    text = "7 w. .. .. Q.\n8 .. .. .. s." if seat else "1 S. q.\n3 .. w."
    spot = (3, 7) if seat else (1, 1)
    state = drawn(text, mover=seat, health={spot: 4})
    walk(state, (3, 8) if seat else (0, 1))
    attack(state, spot)
    assert state.result == win(seat, "queen_killed")
    assert state.awaited == {0: REGISTER_WIN, 1: REGISTER_WIN}


@pytest.mark.parametrize(("before", "won"), [(9, False), (10, True)])
@both_seats
def test_the_eleventh_food_wins(seat: Player, before: int, won: bool) -> None:
    tile = own(seat, (8, 0))
    text = "9 .. w@" if seat else "0 .. .. .. .. .. .. .. .. W@"
    state = drawn(text, mover=seat, food=(1, before) if seat else (before, 1), carrying={tile})
    end(state)
    assert state.food[seat] == before + 1
    assert state.result == (win(seat, "food_goal") if won else None)


def test_eleven_food_win_when_several_workers_deliver_at_once() -> None:
    state = drawn("1 W^ W@ .. Q.", food=(9, 1), carrying={(0, 1), (1, 1)})
    end(state)
    assert state.result == win(0, "food_goal")


@both_seats
def test_the_last_worker_dying_without_food_starves_its_player_at_once(seat: Player) -> None:
    text = "1 W. s." if seat else "1 S. w."
    mine, theirs = ((1, 1), (0, 1)) if seat else ((0, 1), (1, 1))
    state = drawn(text, mover=seat, food=(0, 1) if seat else (1, 0), health={theirs: 4})
    walk(state, mine)
    assert state.result is None, "not before the attack"
    attack(state, theirs)
    assert state.result == win(seat, "starved")


def test_one_food_or_one_more_ant_keeps_a_player_from_starving() -> None:
    with_food = drawn("1 S. w.", food=(1, 1))
    walk(with_food, (0, 1))
    attack(with_food, (1, 1))
    assert with_food.result is None
    with_ant = drawn("1 S. w.\n5 w.", food=(1, 0))
    walk(with_ant, (0, 1))
    attack(with_ant, (1, 1))
    assert with_ant.result is None


def test_the_mover_may_starve_itself_by_no_move_of_its_own_but_its_last_food_may_go_into_an_ant() -> None:
    state = drawn("0 .^ Q.", food=(1, 1))
    build(state, WORKER)
    assert (state.food[0], state.result) == (0, None)


def test_a_dead_queen_is_named_before_starvation() -> None:
    state = drawn("1 S. q. w.", food=(1, 0), health={(1, 1): 1})
    walk(state, (0, 1))
    attack(state, (1, 1))
    assert state.result == win(0, "queen_killed")


def test_a_captured_hill_is_named_before_the_food_goal() -> None:
    state = drawn("0 W@ .. Q.\n7 q.\n9 .. .. .. D^", food=(10, 1), carrying={(0, 0)}, hill_health=(3, 1))
    end(state)
    assert state.result == win(0, "anthill_captured")


def test_a_win_on_the_last_turn_before_the_limit_is_a_win() -> None:
    state = drawn("7 q.\n9 .. .. .. D^", hill_health=(3, 1), options=Options(draw_after=1))
    end(state)
    assert state.result == win(0, "anthill_captured")


# Draws


def test_the_draw_limit_counts_the_end_moves_of_both() -> None:
    state = set_up(Options(draw_after=3))
    end(state)
    end(state)
    assert state.result is None
    end(state)
    assert state.result == draw("draw_limit")
    assert {call.player: call.params.hasWon for call in state.calls()} == {0: False, 1: False}


def test_the_limit_is_2000_end_moves_unless_told() -> None:
    state = set_up()
    for _ in range(1999):
        end(state)
    assert state.result is None
    end(state)
    assert state.result == draw("draw_limit")


def test_other_moves_do_not_count_for_the_draw_limit() -> None:
    state = set_up(Options(draw_after=1))
    walk(state, (0, 0))
    walk(state, (5, 1))
    assert state.result is None
    end(state)
    assert state.result == draw("draw_limit")


@pytest.mark.parametrize("answers", [[], [LAYOUT], [LAYOUT, LAYOUT, FOODS], [LAYOUT, LAYOUT, FOODS, FOODS, ENDED]])
def test_a_stopped_match_is_a_draw_and_both_hear_of_it(answers: list[Any]) -> None:
    state = begun()
    for answer in answers:
        play(state, answer)
    assert state.stop("match_time") == []
    assert state.result == draw("match_time")
    assert {call.player: call.params.hasWon for call in state.calls()} == {0: False, 1: False}


# registerWin


@both_seats
def test_both_are_told_together_who_has_won(seat: Player) -> None:
    state = set_up()
    if seat == 0:
        end(state)
    play(state, None)
    assert [(call.player, call.method.name, call.params.hasWon) for call in state.calls()] == [
        (0, "registerWin", seat == 0),
        (1, "registerWin", seat == 1),
    ]
    assert state.apply({0: None, 1: None}) == []
    assert state.calls() == ()


@pytest.mark.parametrize("answer", [None, 5, "thanks", {"won": True}, [[]]], ids=repr)
def test_what_the_answer_to_register_win_holds_is_ignored(answer: Any) -> None:
    state = set_up(Options(draw_after=1))
    end(state)
    assert state.apply({0: answer, 1: answer}) == []


@pytest.mark.parametrize("kind", list(FaultKind))
def test_a_fault_in_register_win_changes_nothing(kind: FaultKind) -> None:
    state = set_up(Options(draw_after=1))
    end(state)
    fault = Fault(kind, "gone")
    assert state.apply({0: fault, 1: fault}) == [Ruling(seat, fault, "none", out=fault.fatal) for seat in (0, 1)]
    assert state.result == draw("draw_limit")
    assert not state.awaited


def test_every_call_has_a_second_and_register_win_two_of_its_own() -> None:
    assert TimeControl(per_call_s=1.0) == GAME.time
    assert {name: method.time_s for name, method in GAME.methods.items()} == {
        "getPlacement": None,
        "getMove": None,
        "getAttack": None,
        "registerWin": 2.0,
    }


# Section 9: faults

KINDS = [kind for kind in FaultKind if kind is not FaultKind.ILLEGAL]


def asking(method: str, seat: Player) -> ReAntics:
    """A position in which `seat` is asked for `method`."""
    if method == "getPlacement":
        state = begun()
        if seat == 1:
            play(state, LAYOUT)
        return state
    state = drawn("1 S. w.\n7 W. s.", mover=seat)
    if method == "getAttack":
        walk(state, (1, 7) if seat else (0, 1))
    assert asked(state) == (seat, method)
    return state


@both_seats
@pytest.mark.parametrize("method", ["getPlacement", "getMove", "getAttack"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_in_any_call_loses_by_its_own_name(kind: FaultKind, method: str, seat: Player) -> None:
    state = asking(method, seat)
    before = open_view(state)
    fault = Fault(kind, "as the referee saw it")
    assert play(state, fault) == [Ruling(seat, fault, "loses", out=fault.fatal)]
    assert state.result == win(1 - seat, kind.value)
    told = [1 - seat] if fault.fatal else [0, 1]
    assert state.awaited == dict.fromkeys(told, REGISTER_WIN), "nobody is asked whose process is gone"
    assert open_view(state) == before, "nothing else changes"


@both_seats
@pytest.mark.parametrize(
    ("method", "reason"),
    [("getPlacement", "illegal_placement"), ("getMove", "illegal_move"), ("getAttack", "illegal_attack")],
)
@pytest.mark.parametrize("answer", [None, "junk", [], {}, {"moveType": 3}, [[99, 99]]], ids=repr)
def test_an_illegal_answer_loses_by_the_functions_name(answer: Any, method: str, reason: str, seat: Player) -> None:
    state = asking(method, seat)
    before = open_view(state)
    assert rulings(play(state, answer)) == [(seat, "loses")]
    assert state.result == win(1 - seat, reason)
    assert open_view(state) == before, "nothing of a faulty answer is applied"


# Options


@pytest.mark.parametrize("health", [4, 2])
def test_workers_have_the_health_of_the_option(health: int) -> None:
    state = set_up(Options(worker_health=health))
    walk(state, (0, 0), (0, 1))
    build(state, WORKER)
    ants = params(state)["currentState"]["inventories"][0]["ants"]
    assert [ant["health"] for ant in ants if ant["type"] == WORKER] == [health, health]
    assert [ant["health"] for ant in ants if ant["type"] != WORKER] == [10]


def test_a_drone_kills_a_worker_of_health_2_at_one_blow() -> None:
    state = drawn("1 D. w.", options=Options(worker_health=2))
    walk(state, (0, 1))
    attack(state, (1, 1))
    assert ant_at(state, (1, 1)) is None
