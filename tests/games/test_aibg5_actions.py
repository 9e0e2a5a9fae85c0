"""AIBG 5.0, sections 5, 6, 8 and 9: the checks and their penalty, moves, items, black holes, wormholes."""

from typing import Any

import pytest
from aibg5_positions import (
    Place,
    Scripted,
    act,
    begun,
    code,
    give,
    kind,
    message,
    place,
    refusal,
    rulings,
    seen,
    stand,
    tile,
    told,
)

from referee.games.aibg5 import CELLS, INDEX, RINGS, Action, PickedUp
from referee.games.contract import Fault, FaultKind

# The checks in their order (section 5). Player 1 is on (0,-12).


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # 1: no action given
        (None, "null"),
        ({}, "null"),
        ({"action": None}, "null"),
        ({"action": 5}, "null"),
        ({"action": ["move", 1, -12]}, "null"),
        (7, "null"),
        (["move,1,-12"], "null"),
        ({"Action": "move,1,-12"}, "null"),
        # 2: not three parts
        ("", "three_parameters"),
        ("move", "three_parameters"),
        ("move,1", "three_parameters"),
        ("move,1,-12,0", "three_parameters"),
        ("move,1,,", "three_parameters"),
        (",,,", "three_parameters"),
        ("move;1;-12", "three_parameters"),
        ("move,1,-12,,0", "three_parameters"),
        # 3: Q or R not an integer
        ("move,a,b", "coordinate_format"),
        ("move,1.0,-12", "coordinate_format"),
        ("move,,-12", "coordinate_format"),
        ("foo,1,x", "coordinate_format"),
        ("move,--1,-12", "coordinate_format"),
        ("move,+-1,-12", "coordinate_format"),
        ("move,1,-", "coordinate_format"),
        ("move,\t1,-12", "coordinate_format"),
        ("move,1_0,-12", "coordinate_format"),
        ("move,١,-12", "coordinate_format"),
        ("move,2147483648,0", "coordinate_format"),
        ("move,-2147483649,0", "coordinate_format"),
        ("move," + "9" * 5000 + ",0", "coordinate_format"),
        # 4: the cell does not exist
        ("move,2147483647,0", "off_map"),
        ("move,-2147483648,0", "off_map"),
        ("foo,99,0", "off_map"),
        ("move,8,7", "off_map"),
        ("attack,0,-15", "off_map"),
        # 5: neither move nor attack
        ("foo,1,-12", "unknown_action"),
        ("Move,1,-12", "unknown_action"),
        ("ATTACK,0,-11", "unknown_action"),
        (",1,-12", "unknown_action"),
        # 6: move: dist ≠ 1
        ("move,0,-12", "move_not_adjacent"),
        ("move,2,-12", "move_not_adjacent"),
        ("move,0,0", "move_not_adjacent"),
        # 7: move onto FULL or a player
        ("move,0,-11", "move_onto_full_or_player"),
        ("move,-1,-12", "move_onto_full_or_player"),
        # 8: attack: dist > 3, whatever is there
        ("attack,4,-12", "out_of_range"),
        ("attack,0,0", "out_of_range"),
        ("attack,14,-7", "out_of_range"),
        # 9: attack: own tile
        ("attack,0,-12", "self_attack"),
        # 10: attack: no player, asteroid or boss
        ("attack,1,-12", "not_attackable"),
        ("attack,3,-12", "not_attackable"),
    ],
)
def test_the_message_is_that_of_the_first_failed_check(answer: Any, expected: str) -> None:
    state = begun({(0, -11): "FENCE"}, at={1: (0, -12), 2: (-1, -12)})
    assert code(state, 1, answer) == expected
    events = act(state, 1, answer)
    assert rulings(events) == [(1, "loses 100 health and the turn", False)]
    assert message(state, 1) == refusal(state, 1, answer)
    assert (seen(state, 1)["health"], place(state, 1)) == (900, (0, -12))


@pytest.mark.parametrize(
    "text",
    [
        *("move,1,-12", " m o v e , 1 , - 1 2 ", "move,1,-12,,", "move,+1,-12", "move,01,-012", "move,1,-12,,,,,"),
        *("move,+01,-12", "move,0000000000000000000001,-12"),
    ],
)
def test_signs_leading_zeros_spaces_and_empty_parts_at_the_end_are_accepted(text: str) -> None:
    state = begun(at={1: (0, -12)})
    assert not rulings(act(state, 1, text))
    assert place(state, 1) == (1, -12)


def test_minus_zero_is_zero_and_07_is_7() -> None:
    state = begun(at={1: (-1, 7)})
    act(state, 1, "move,-0,+07")
    assert place(state, 1) == (0, 7)
    act(state, 1, "move,-0,06")
    act(state, 1, Action("move,-0,+07"))
    assert place(state, 1) == (0, 7)


def test_a_refusal_gives_its_reason() -> None:
    wormholes = {(2, -12): "0", (13, 0): "0"}
    state = begun({(0, -11): "FENCE", (1, -13): "BLACKHOLE", **wormholes}, at={1: (0, -12), 2: (-1, -12)})
    wanted = 'wanted "move,Q,R" or "attack,Q,R"'
    assert refusal(state, 1, None) == f"null: no action was given; {wanted}"
    assert refusal(state, 1, {"action": 5}) == f"null: the action is 5; wanted text, {wanted.removeprefix('wanted ')}"
    assert refusal(state, 1, "go") == ('three_parameters: \'go\' has 1 parts; wanted three, "move,Q,R" or "attack,Q,R"')
    assert refusal(state, 1, "move,x,1") == "coordinate_format: Q is 'x'; wanted a whole number"
    assert refusal(state, 1, "move,1,") == "three_parameters: 'move,1,' has 2 parts; " + (
        'wanted three, "move,Q,R" or "attack,Q,R"'
    )
    assert refusal(state, 1, "move,1,y") == "coordinate_format: R is 'y'; wanted a whole number"
    assert refusal(state, 1, "go,15,0") == "off_map: (15,0) is not on the board; |q|, |r| and |q+r| are at most 14"
    assert refusal(state, 1, "go,1,1") == "unknown_action: 'go'; wanted move or attack"
    assert refusal(state, 1, "move,5,5") == "move_not_adjacent: (5,5) is not next to (0,-12); a move is one step"
    assert refusal(state, 1, "move,0,-11") == "move_onto_full_or_player: on (0,-11) is an asteroid"
    assert refusal(state, 1, "move,-1,-12") == "move_onto_full_or_player: on (-1,-12) stands player 2"
    assert refusal(state, 1, "attack,4,-12") == "out_of_range: (4,-12) is 4 away from (0,-12); an attack goes 3"
    assert refusal(state, 1, "attack,0,-12") == "self_attack: you cannot attack your own tile"
    assert refusal(state, 1, "attack,1,-12") == "not_attackable: on (1,-12) is nothing, and no player"
    assert refusal(state, 1, "attack,1,-13") == "not_attackable: on (1,-13) is a black hole, and no player"
    stand(state, 1, (1, -12))
    stand(state, 3, (14, 0))
    assert refusal(state, 1, "move,2,-12") == (
        "move_onto_full_or_player: on (2,-12) is a wormhole whose exit is (14,0), which is not free"
    )
    stand(state, 2, (4, -12))
    assert refusal(state, 1, "attack,4,-12") == ("not_attackable: the shot at (4,-12) ends at a wormhole on (2,-12)")


def test_the_next_call_has_the_message_and_a_legal_action_clears_it() -> None:
    state = begun()
    assert message(state, 1) is None
    act(state, 1, "go")
    assert str(message(state, 1)).startswith("three_parameters: ")
    assert message(state, 2) is None
    act(state, 1, "move,-6,-7")
    assert message(state, 1) is None


# The penalty


@pytest.mark.parametrize(("health", "left"), [(1000, 900), (999, 900), (2200, 1980), (19, 18), (10, 9), (9, 9), (1, 1)])
def test_an_illegal_action_costs_a_tenth_of_the_current_health_rounded_down_and_never_kills(
    health: int, left: int
) -> None:
    state = begun()
    give(state, 1, health=health)
    assert rulings(act(state, 1, "go")) == [(1, f"loses {health - left} health and the turn", False)]
    assert (seen(state, 1)["health"], seen(state, 1)["deaths"]) == (left, 0)


def test_a_move_onto_a_full_tile_costs_health_once() -> None:
    state = begun({(-6, -7): "FENCE"})
    act(state, 1, "move,-6,-7")
    assert seen(state, 1)["health"] == 900


def test_an_error_in_place_of_an_answer_is_no_action() -> None:
    state = begun()
    error = Fault(FaultKind.ERROR, "code -32000: oh")
    assert rulings(act(state, 1, error)) == [(1, "loses 100 health and the turn", False)]
    assert message(state, 1) == 'null: no action was given; wanted "move,Q,R" or "attack,Q,R"'
    assert list(state.awaited) == [0]


# Moves and items (section 6)


@pytest.mark.parametrize("to", [(1, -12), (0, -11), (-1, -11), (-1, -12), (0, -13), (1, -13)], ids=str)
def test_a_step_goes_to_each_of_the_six_neighbours(to: Place) -> None:
    state = begun(at={1: (0, -12)})
    act(state, 1, f"move,{to[0]},{to[1]}")
    assert place(state, 1) == to


def test_nobody_enters_the_boss() -> None:
    state = begun(at={1: (2, 0)})
    assert refusal(state, 1, "move,1,0") == "move_onto_full_or_player: on (1,0) is the boss"


def test_health_restores_the_maximum_of_the_level_and_reappears_elsewhere() -> None:
    state = begun(dice=Scripted([(5, 0), (0, 14), (0, -5)]), at={1: (4, 0)})
    give(state, 1, health=3, level=2)
    events = act(state, 1, "move,5,0")
    assert told(events, "pickedUp") == [PickedUp(1, "HEALTH")]
    assert (place(state, 1), seen(state, 1)["health"]) == ((5, 0), 1300)
    assert (kind(state, (5, 0)), kind(state, (0, -5))) == ("EMPTY", "HEALTH")
    assert tile(state, (0, -5)) == {"q": 0, "r": -5, "entity": {"type": "HEALTH"}, "tileType": "NORMAL"}
    assert tile(state, (5, 0)) == {"q": 5, "r": 0, "entity": {"type": "EMPTY"}, "tileType": "NORMAL"}


def test_experience_gives_a_hundred_points_and_reappears_elsewhere() -> None:
    state = begun(dice=Scripted([(0, 5), (5, 0), (0, 14)]), at={1: (4, 0)})
    events = act(state, 1, "move,5,0")
    assert told(events, "pickedUp") == [PickedUp(1, "EXPERIENCE")]
    assert (state.ships[0].xp, state.ships[0].health) == (100, 1000)
    assert (kind(state, (5, 0)), kind(state, (0, 14))) == ("EMPTY", "EXPERIENCE")


def test_health_is_placed_first_each_in_its_rings_where_nothing_is_and_nobody_stands() -> None:
    dice = Scripted([(10, 0), (14, 0)])
    state = begun({(9, 0): "BLACKHOLE"}, dice=dice)
    assert (kind(state, (10, 0)), kind(state, (14, 0))) == ("HEALTH", "EXPERIENCE")
    health, experience = [[CELLS[cell] for cell in offered] for offered in dice.offered[:2]]
    free = [cell for cell in range(631) if RINGS[cell] > 1 and CELLS[cell] != (9, 0)]
    assert health == [CELLS[cell] for cell in free if RINGS[cell] <= 10]
    starts = ((-7, -7), (14, -7), (-14, 7), (7, 7))
    assert experience == [CELLS[cell] for cell in free if CELLS[cell] not in (*starts, (10, 0))]


def test_a_new_item_never_appears_on_the_old_items_tile_or_a_players() -> None:
    dice = Scripted([(5, 0), (0, 14)])
    state = begun(dice=dice, at={1: (4, 0), 2: (0, 5)})
    act(state, 1, "move,5,0")
    offered = [CELLS[cell] for cell in dice.offered[2]]
    assert not {(5, 0), (0, 5)} & set(offered)
    assert (4, 0) in offered, "where the player came from"


def test_an_item_without_a_free_cell_does_not_appear() -> None:
    """Rings 2 to 10 are full except for the tile that is entered and the next one, which has another player."""
    tiles = {CELLS[cell]: "FENCE" for cell in range(631) if 2 <= RINGS[cell] <= 10}
    del tiles[10, 0], tiles[9, 0]
    state = begun(tiles, dice=Scripted([(10, 0), (14, 0)]), at={1: (11, 0), 2: (9, 0)})
    act(state, 1, "move,10,0")
    assert "HEALTH" not in {kind(state, found) for found in CELLS}


# Black holes (section 8)


def test_a_black_hole_costs_two_turns_and_a_tenth_of_the_health_in_each() -> None:
    state = begun({(-6, -7): "BLACKHOLE"})
    act(state, 1, "move,-6,-7")
    shown = seen(state, 1)
    assert (place(state, 1), shown["trapped"], shown["trapDuration"], shown["health"]) == ((-6, -7), True, 2, 1000)
    assert message(state, 1) is None
    for duration, health in ((1, 900), (0, 810)):
        assert not rulings(act(state, 1, "move,-5,-7")), "what is sent does not matter"
        shown = seen(state, 1)
        assert (shown["trapped"], shown["trapDuration"], shown["health"]) == (duration > 0, duration, health)
        assert message(state, 1) == "trapped: you are trapped in a black hole on (-6,-7)"
    act(state, 1, "move,-5,-7")
    assert place(state, 1) == (-5, -7)
    assert message(state, 1) is None


@pytest.mark.parametrize("answer", [None, "", "foo,99,0", {"action": 3}, []])
def test_nothing_that_a_trapped_player_sends_is_illegal(answer: Any) -> None:
    state = begun({(-6, -7): "BLACKHOLE"})
    act(state, 1, "move,-6,-7")
    assert refusal(state, 1, answer) == ""
    assert not rulings(act(state, 1, answer))
    assert (seen(state, 1)["health"], message(state, 1)) == (
        900,
        "trapped: you are trapped in a black hole on (-6,-7)",
    )


def test_an_error_of_a_trapped_player_has_no_extra_cost() -> None:
    state = begun({(-6, -7): "BLACKHOLE"})
    act(state, 1, "move,-6,-7")
    events = act(state, 1, Fault(FaultKind.ERROR, "oh"))
    assert rulings(events) == [(1, "loses 100 health and the turn", False)]
    assert (seen(state, 1)["health"], seen(state, 1)["trapDuration"]) == (900, 1)


def test_the_penalty_of_the_trap_can_be_switched_off() -> None:
    state = begun({(-6, -7): "BLACKHOLE"}, trapped_penalty=False)
    act(state, 1, "move,-6,-7")
    act(state, 1, "x")
    assert rulings(act(state, 1, Fault(FaultKind.ERROR, "oh"))) == [(1, "loses the turn", False)]
    assert (seen(state, 1)["health"], seen(state, 1)["trapped"]) == (1000, False)
    assert str(message(state, 1)).startswith("trapped: ")


def test_a_hole_is_illegal_while_somebody_is_in_it_trapped_or_free_and_legal_after() -> None:
    state = begun({(-6, -7): "BLACKHOLE"}, at={2: (-5, -7)})
    act(state, 1, "move,-6,-7")
    for _ in range(3):
        assert refusal(state, 2, "move,-6,-7") == "move_onto_full_or_player: on (-6,-7) stands player 1"
        act(state, 1, "move,-7,-7")
    assert place(state, 1) == (-7, -7)
    act(state, 2, "move,-6,-7")
    assert seen(state, 2)["trapDuration"] == 2


# Wormholes (section 9). (-8,0) and (8,0) are a pair.

WORMHOLES = {(-8, 0): "3", (8, 0): "3"}


@pytest.mark.parametrize("way", [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)], ids=str)
def test_a_wormhole_exits_behind_its_partner_in_the_direction_of_travel(way: Place) -> None:
    dq, dr = way
    state = begun(WORMHOLES, at={1: (-8 - dq, -dr)})
    act(state, 1, "move,-8,0")
    assert place(state, 1) == (8 + dq, dr)
    act(state, 1, "move,8,0")
    assert place(state, 1) == (-8 - dq, -dr)


def blocked(tiles: dict[Place, str], exit_at: Place = (9, 0)) -> str:
    state = begun(WORMHOLES | tiles, at={1: (-9, 0)}, dice=Scripted([(0, 10), exit_at] if not tiles else ()))
    return refusal(state, 1, "move,-8,0")


def test_a_wormhole_with_an_exit_that_is_not_empty_is_illegal() -> None:
    words = "move_onto_full_or_player: on (-8,0) is a wormhole whose exit is (9,0), which is not free"
    assert blocked({(9, 0): "FENCE"}) == words
    assert blocked({(9, 0): "BLACKHOLE"}) == words
    assert blocked({(9, 0): "1", (0, 9): "1"}) == words
    assert blocked({}) == words, "an item"


def test_a_wormhole_with_a_player_at_its_exit_is_illegal() -> None:
    state = begun(WORMHOLES, at={1: (-9, 0), 2: (9, 0)})
    assert code(state, 1, "move,-8,0") == "move_onto_full_or_player"
    act(state, 1, "move,-8,0")
    assert (seen(state, 1)["health"], place(state, 1)) == (900, (-9, 0))
    stand(state, 2, (9, 1))
    assert refusal(state, 1, "move,-8,0") == ""


def test_a_wormhole_whose_exit_would_be_off_the_board_is_illegal() -> None:
    state = begun({(-8, 0): "3", (14, 0): "3"}, at={1: (-9, 0)})
    assert refusal(state, 1, "move,-8,0") == (
        "move_onto_full_or_player: on (-8,0) is a wormhole whose exit is off the board"
    )


def test_a_wormhole_may_lead_back_to_where_the_player_stands() -> None:
    state = begun({(3, 5): "0", (5, 5): "0"}, at={1: (4, 5)})
    assert refusal(state, 1, "move,5,5") == ""
    act(state, 1, "move,5,5")
    assert place(state, 1) == (4, 5)
    assert state.seat_at[INDEX[4, 5]] == 0


# What is legal


def test_legal_actions_are_moves_clockwise_from_the_east_then_attacks_by_r_then_q() -> None:
    tiles = {(1, -12): "FENCE", (0, -10): "FENCE", (3, -12): "FENCE", (-2, -12): "BLACKHOLE", (-3, -12): "FENCE"}
    state = begun(tiles, at={1: (0, -12), 2: (0, -13)})
    assert [answer["action"] for answer in state.legal(0)] == [
        *("move,0,-11", "move,-1,-11", "move,-1,-12", "move,1,-13"),
        *("attack,0,-13", "attack,1,-12", "attack,3,-12", "attack,0,-10"),
    ]


def test_every_action_text_on_the_board_is_either_listed_or_refused() -> None:
    tiles = {(1, -12): "FENCE", (-2, -12): "BLACKHOLE", (-3, -12): "FENCE", (-1, -11): "0", (1, 7): "0"}
    state = begun(tiles, at={1: (0, -12), 2: (0, -13)})
    texts = [f"{word},{q},{r}" for word in ("move", "attack") for q, r in CELLS]
    accepted = [text for text in texts if refusal(state, 1, text) == ""]
    assert sorted(accepted) == sorted(answer["action"] for answer in state.legal(0))
