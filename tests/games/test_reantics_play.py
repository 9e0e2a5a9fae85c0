"""ReAntics, sections 4 and 5: moving, attacking, building. Drawings and tiles are in the absolute frame."""

from typing import Any

import pytest
from reantics_positions import (
    Tile,
    ant_at,
    asked,
    attack,
    build,
    drawn,
    end,
    own,
    params,
    path_refusal,
    play,
    refusal,
    walk,
)

from referee.games.contract import Player
from referee.games.reantics import DRONE, R_SOLDIER, SOLDIER, UNITS, WORKER, ReAntics

KINDS = "wanted 0 move an ant, 1 build an ant or 2 end the turn"
UNIT_LETTERS = {"queen": "Q", "worker": "W", "drone": "D", "soldier": "S", "ranged soldier": "R"}


def legal_paths(state: ReAntics, start: Tile) -> set[tuple[Tile, ...]]:
    """All legal paths of the ant on `start`, absolute."""
    player, _ = asked(state)
    paths = [tuple(own(player, tile) for tile in move.coordList) for move in state.legal(player) if move.moveType == 0]
    return {path for path in paths if path[0] == start}


def reachable(state: ReAntics, start: Tile) -> set[Tile]:
    return {path[-1] for path in legal_paths(state, start)}


# Section 4


def test_the_table_of_units() -> None:
    table = [(u.name, u.moves, u.health, u.attack, u.range, u.cost, u.ignores_grass) for u in UNITS]
    assert table == [
        ("queen", 2, 10, 4, 1, 0, False),
        ("worker", 2, 4, 0, 1, 1, False),
        ("drone", 3, 4, 2, 1, 2, True),
        ("soldier", 2, 8, 4, 1, 2, False),
        ("ranged soldier", 1, 2, 3, 3, 2, True),
    ]


@pytest.mark.parametrize(
    ("letter", "moves"), [("Q", 2), ("W", 2), ("D", 3), ("S", 2), ("R", 1)], ids=UNIT_LETTERS.keys()
)
def test_a_unit_walks_as_far_as_it_has_moves(letter: str, moves: int) -> None:
    state = drawn(f"1 {letter}.")
    line = [(x, 1) for x in range(6)]
    for steps in range(6):
        refused = path_refusal(state, *line[: steps + 1])
        assert (refused is None) == (steps <= moves), (steps, refused)
    name = {short: name for name, short in UNIT_LETTERS.items()}[letter]
    assert path_refusal(state, *line[: moves + 2]) == (f"the path costs {moves + 1} moves; a {name} has {moves}")


@pytest.mark.parametrize(
    ("letter", "grass_costs"), [("Q", 2), ("W", 2), ("D", 1), ("S", 2), ("R", 1)], ids=UNIT_LETTERS.keys()
)
def test_grass_costs_two_except_for_drone_and_ranged_soldier(letter: str, grass_costs: int) -> None:
    moves = {"Q": 2, "W": 2, "D": 3, "S": 2, "R": 1}[letter]
    into = drawn(f"1 {letter}. .;")
    assert path_refusal(into, (0, 1), (1, 1)) is None
    step_then_grass = drawn(f"1 {letter}. .. .;")
    assert (path_refusal(step_then_grass, (0, 1), (1, 1), (2, 1)) is None) == (1 + grass_costs <= moves)
    grass_then_step = drawn(f"1 {letter}. .; ..")
    assert (path_refusal(grass_then_step, (0, 1), (1, 1), (2, 1)) is None) == (grass_costs + 1 <= moves)


@pytest.mark.parametrize("sign", ["^", "@", "%", ";"])
def test_the_start_tile_costs_nothing_and_buildings_and_food_cost_one(sign: str) -> None:
    state = drawn(f"1 W{sign} .. ..")
    assert path_refusal(state, (0, 1), (1, 1), (2, 1)) is None
    if sign != ";":
        assert path_refusal(drawn(f"1 W. .{sign} ..\n3 Q."), (0, 1), (1, 1), (2, 1)) is None


# 5.1 MOVE_ANT


def test_an_ant_goes_to_the_last_tile_and_has_moved() -> None:
    state = drawn("1 W. .. ..")
    walk(state, (0, 1), (1, 1), (1, 2))
    ant = ant_at(state, (1, 2))
    assert ant is not None
    assert (ant.id, ant.hasMoved) == (2, True)
    assert ant_at(state, (0, 1)) is None
    assert asked(state) == (0, "getMove"), "a turn goes on until END"
    assert path_refusal(state, (1, 2), (1, 3)) == "the worker on (1,2) has moved, or was built, in this turn"


def test_a_path_of_one_tile_is_legal_and_counts_as_a_move() -> None:
    state = drawn("1 W.")
    walk(state, (0, 1))
    ant = ant_at(state, (0, 1))
    assert ant is not None
    assert ant.hasMoved


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([[0, 1], [1, 2]], "coordList[1] (1,2) is not next to (0,1)"),
        ([[0, 1], [2, 1]], "coordList[1] (2,1) is not next to (0,1)"),
        ([[0, 1], [0, 1]], "coordList[1] (0,1) is not next to (0,1)"),
        ([[0, 1], [1, 1], [3, 1]], "coordList[2] (3,1) is not next to (1,1)"),
        ([[0, 1], [-1, 1]], "coordList[1] is (-1,1); x and y are 0..9"),
        ([[4, 12]], "coordList[0] is (4,12); x and y are 0..9"),
        ([[5, 5]], "coordList[0] is (5,5), where no ant stands; wanted one of yours"),
        ([[0, 3]], "coordList[0] is (0,3), where an enemy's drone stands; wanted one of your ants"),
        ([[0, 1], [0, 2]], "coordList[1] is (0,2), where your soldier stands"),
        ([[0, 2], [0, 3]], "coordList[1] is (0,3), where an enemy's drone stands"),
        ([[0, 1], [1, 1], [0, 1]], "coordList[2] is (0,1), where the worker itself still stands"),
        ([[0, 1], [1, 1], [2, 1], [3, 1]], "the path costs 3 moves; a worker has 2"),
        ([], "coordList is an empty list; wanted the path, the ant's own tile first"),
        (None, "coordList is null; wanted the path, the ant's own tile first"),
        ("abc", "coordList is 'abc'; wanted the path, the ant's own tile first"),
        ({"0": [0, 1]}, "coordList is an object; wanted the path, the ant's own tile first"),
        ([0, 1], "coordList[0] is 0; wanted [x, y]"),
        ([[0, 1], [1]], "coordList[1] is a list of 1; wanted [x, y]"),
        ([[0, 1], [1, 1, 1]], "coordList[1] is a list of 3; wanted [x, y]"),
        ([[0, 1], [1.0, 1]], "coordList[1] is [1.0, 1]; wanted two integers"),
        ([[False, True]], "coordList[0] is [false, true]; wanted two integers"),
        ([[0, 1], [10**5000, 1]], "coordList[1] is (a number beyond 64 bits,1); x and y are 0..9"),
        ([[0, 1], ["x" * 5000, 1]], f"coordList[1] is ['{'x' * 60}'…, 1]; wanted two integers"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_path_that_is_refused_is_refused_in_the_frame_of_its_author(seat: Player, path: Any, words: str) -> None:
    text = """
        1  W. .. .. ..
        2  S.
        3  d.
    """
    turned_text = """
        6  .. .. .. .. .. .. .. .. .. D.
        7  .. .. .. .. .. .. .. .. .. s.
        8  .. .. .. .. .. .. .. .. .. w.
    """
    state = drawn(turned_text if seat else text, mover=seat)
    assert refusal(state, {"moveType": 0, "coordList": path}) == f"{words}"


def test_other_tiles_may_be_entered_twice_but_the_own_tile_may_not() -> None:
    state = drawn("1 D. .. .. ..")
    assert path_refusal(state, (0, 1), (1, 1), (2, 1), (1, 1)) is None
    assert path_refusal(state, (0, 1), (1, 1), (0, 1)) is not None


def test_nobody_walks_through_ants_but_around_them() -> None:
    state = drawn("""
        1  .. d. ..
        2  W. D. D.
        3  .. .. ..
    """)
    assert reachable(state, (1, 2)) == {(1, 2), (1, 3), (0, 3), (2, 3), (1, 4), (0, 4), (2, 4), (3, 3), (1, 5)}


def test_a_queen_never_enters_rows_4_and_5() -> None:
    state = drawn("2 Q.")
    assert path_refusal(state, (0, 2), (0, 3)) is None
    words = "coordList[2] is (0,4); a queen may not enter y 4 and 5"
    assert path_refusal(state, (0, 2), (0, 3), (0, 4)) == words
    assert all(y <= 3 for _, y in reachable(state, (0, 2)))
    other = drawn("7 q.", mover=1)
    assert path_refusal(other, (0, 7), (0, 6)) is None
    words = "coordList[2] is (9,4); a queen may not enter y 4 and 5"
    assert path_refusal(other, (0, 7), (0, 6), (0, 5)) == words


def test_others_may_enter_rows_4_and_5() -> None:
    assert path_refusal(drawn("3 W."), (0, 3), (0, 4), (0, 5)) is None


@pytest.mark.parametrize("build_type", [None, 0, -7, 99])
def test_the_build_type_of_a_move_is_ignored_when_null_or_an_integer(build_type: Any) -> None:
    assert refusal(drawn("1 W."), {"moveType": 0, "coordList": [[0, 1]], "buildType": build_type}) is None


@pytest.mark.parametrize(("build_type", "said"), [("1", "'1'"), (1.0, "1.0"), (True, "true"), ([], "an empty list")])
def test_any_other_build_type_of_a_move_is_refused(build_type: Any, said: str) -> None:
    refused = refusal(drawn("1 W."), {"moveType": 0, "coordList": [[0, 1]], "buildType": build_type})
    assert refused == f"buildType is {said}; wanted null or an integer"


def test_passing_food_and_buildings_does_nothing_during_the_turn() -> None:
    state = drawn("1 W. .% ..")
    walk(state, (0, 1), (1, 1))
    ant = ant_at(state, (1, 1))
    assert ant is not None
    assert not ant.carrying


def test_legal_lists_paths_before_their_extensions_then_builds_then_end() -> None:
    state = drawn("0 .^ W. .; .. .. .. .. .. .. Q.", food=(2, 1))
    moves = list(state.legal(0))
    worker = [move.coordList for move in moves if move.moveType == 0 and move.coordList[0] == (1, 0)]
    assert worker == [
        ((1, 0),),
        ((1, 0), (0, 0)),
        ((1, 0), (0, 0), (0, 1)),
        ((1, 0), (2, 0)),
        ((1, 0), (1, 1)),
        ((1, 0), (1, 1), (0, 1)),
        ((1, 0), (1, 1), (2, 1)),
        ((1, 0), (1, 1), (1, 2)),
    ]
    assert [(move.moveType, move.coordList, move.buildType) for move in moves[-5:]] == [
        *[(1, ((0, 0),), kind) for kind in (1, 2, 3, 4)],
        (2, None, None),
    ]
    queen = [move for move in moves if move.moveType == 0 and move.coordList[0] == (9, 0)]
    assert moves[: len(queen)] == queen, "ants by id: the queen is 0"


# 5.2 Attack


def test_an_ant_that_ends_beside_an_enemy_must_attack_it() -> None:
    state = drawn("1 S. .. .. w.")
    walk(state, (0, 1), (1, 1), (2, 1))
    assert asked(state) == (0, "getAttack")
    shown = params(state)
    assert shown["enemyLocations"] == [[3, 1]]
    assert shown["attackingAnt"] == {
        "id": 2, "coords": [2, 1], "type": 3, "player": 0, "health": 8, "carrying": False, "hasMoved": True,
    }  # fmt: skip
    assert shown["attackingAnt"] in shown["currentState"]["inventories"][0]["ants"], "it has moved in the state too"
    attack(state, (3, 1))
    assert ant_at(state, (3, 1)) is None
    assert asked(state) == (0, "getMove")


def test_an_ant_may_stand_and_attack() -> None:
    state = drawn("1 S. w.")
    walk(state, (0, 1))
    assert asked(state) == (0, "getAttack")


def test_enemies_on_the_way_are_not_attacked() -> None:
    state = drawn("1 D. .. .. ..\n2 .. w. .. ..")
    walk(state, (0, 1), (1, 1), (2, 1), (3, 1))
    assert asked(state) == (0, "getMove")


@pytest.mark.parametrize(("letter", "reach"), [("Q", 1), ("D", 1), ("S", 1), ("R", 3)])
@pytest.mark.parametrize("away", [1, 2, 3, 4])
def test_units_reach_as_far_as_their_range(letter: str, reach: int, away: int) -> None:
    tiles = [".."] * 10
    tiles[0], tiles[away] = f"{letter}.", "w."
    state = drawn("1 " + " ".join(tiles))
    walk(state, (0, 1))
    assert asked(state)[1] == ("getAttack" if away <= reach else "getMove")


@pytest.mark.parametrize("letter", ["Q", "D", "S"])
def test_diagonal_neighbours_are_out_of_reach(letter: str) -> None:
    state = drawn(f"1 {letter}.\n2 .. w.")
    walk(state, (0, 1))
    assert asked(state)[1] == "getMove"


def test_there_is_no_line_of_sight() -> None:
    state = drawn("1 R. S. .. w.")
    walk(state, (0, 1))
    assert params(state)["enemyLocations"] == [[3, 1]]


def test_a_worker_is_never_asked_to_attack() -> None:
    state = drawn("1 W. w.")
    walk(state, (0, 1))
    assert asked(state) == (0, "getMove")


@pytest.mark.parametrize(("letter", "damage"), [("Q", 4), ("D", 2), ("S", 4), ("R", 3)])
def test_the_target_loses_the_attackers_attack_value(letter: str, damage: int) -> None:
    state = drawn(f"1 {letter}. s.")
    walk(state, (0, 1))
    attack(state, (1, 1))
    hit, attacker = ant_at(state, (1, 1)), ant_at(state, (0, 1))
    assert hit is not None
    assert attacker is not None
    assert hit.health == 8 - damage
    assert attacker.health == UNITS[attacker.type].health, "no counter-attack"
    assert asked(state) == (0, "getMove"), "one attack per move"


@pytest.mark.parametrize(("health", "left"), [(5, 1), (4, None), (3, None)])
def test_an_ant_dies_at_zero_health_or_less(health: int, left: int | None) -> None:
    state = drawn("1 S. s.", health={(1, 1): health})
    walk(state, (0, 1))
    attack(state, (1, 1))
    hit = ant_at(state, (1, 1))
    assert (None if hit is None else hit.health) == left
    assert len(state.view(None).inventories[1].ants) == (2 if left else 1)


def test_food_that_a_dead_ant_carried_is_lost() -> None:
    state = drawn("1 S. w.", carrying={(1, 1)})
    walk(state, (0, 1))
    attack(state, (1, 1))
    assert state.food == [1, 1]


def test_targets_are_offered_oldest_first_not_by_place() -> None:
    state = drawn("""
        1  .. .. s.
        2  .. w. R. w.
        3  .. .. q.
    """)
    walk(state, (2, 2))
    assert params(state)["enemyLocations"] == [[2, 3], [2, 1], [1, 2], [3, 2]]
    ids = [ant.id for tile in ((2, 3), (2, 1), (1, 2), (3, 2)) if (ant := ant_at(state, tile))]
    assert ids == sorted(ids)
    assert list(state.legal(0)) == [(2, 3), (2, 1), (1, 2), (3, 2)]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([0, 1], "(0,1) is not offered; wanted one of (1,1)"),
        ([5, 5], "(5,5) is not offered; wanted one of (1,1)"),
        ([3, 1], "(3,1) is not offered; wanted one of (1,1)"),
        ([0, 2], "(0,2) is not offered; wanted one of (1,1)"),
        (None, "the answer is null; wanted [x, y]"),
        ([], "the answer is an empty list; wanted [x, y]"),
        ([1], "the answer is a list of 1; wanted [x, y]"),
        ([1, 1, 1], "the answer is a list of 3; wanted [x, y]"),
        ([[1, 1]], "the answer is a list of 1; wanted [x, y]"),
        ([1.0, 1], "the answer is [1.0, 1]; wanted two integers"),
        ([True, True], "the answer is [true, true]; wanted two integers"),
        ([11, 1], "(11,1)"),
        ("11", "the answer is '11'; wanted [x, y]"),
    ],
    ids=repr,
)
def test_an_attack_on_anything_but_an_offered_tile_is_refused(seat: Player, answer: Any, words: str) -> None:
    text = "1 S. w. .. w.\n2 D."
    turned_text = "7 .. .. .. .. .. .. .. .. .. d.\n8 .. .. .. .. .. .. W. .. W. s."
    state = drawn(turned_text if seat else text, mover=seat)
    walk(state, own(seat, (0, 1)))
    said = refusal(state, answer)
    assert said is not None
    assert words in said
    assert refusal(state, (1, 1)) is None


def test_an_ant_that_survives_a_hit_keeps_its_age_and_its_food() -> None:
    state = drawn("1 w. S. w.\n2 .. D.", health={(0, 1): 3}, carrying={(2, 1)})
    walk(state, (1, 2), (0, 2))
    attack(state, (0, 1))
    walk(state, (1, 1))
    assert params(state)["enemyLocations"] == [[0, 1], [2, 1]], "hurt, but still the older one"
    state = drawn("1 D. w.", carrying={(1, 1)})
    walk(state, (0, 1))
    attack(state, (1, 1))
    hit = ant_at(state, (1, 1))
    assert hit is not None
    assert (hit.health, hit.carrying) == (2, True)


def test_ants_that_do_not_move_do_not_attack() -> None:
    state = drawn("1 S. w.\n5 W.")
    walk(state, (0, 5))
    assert asked(state)[1] == "getMove"
    end(state)
    hit = ant_at(state, (1, 1))
    assert hit is not None
    assert hit.health == 4


# 5.3 BUILD


@pytest.mark.parametrize("kind", [WORKER, DRONE, SOLDIER, R_SOLDIER])
def test_a_built_ant_stands_on_the_hill_with_full_health_and_cannot_move(kind: int) -> None:
    state = drawn("0 .^ Q.", food=(5, 1))
    build(state, kind)
    ant = ant_at(state, (0, 0))
    assert ant is not None
    assert (ant.type, ant.player, ant.health, ant.carrying, ant.hasMoved) == (
        kind, 0, UNITS[kind].health, False, True,
    )  # fmt: skip
    assert state.food == [5 - UNITS[kind].cost, 1]
    assert path_refusal(state, (0, 0), (0, 1)) is not None
    end(state)
    end(state)
    assert path_refusal(state, (0, 0), (0, 1)) is None, "in the next turn it can"


@pytest.mark.parametrize("kind", [WORKER, DRONE, SOLDIER, R_SOLDIER])
def test_an_ant_is_built_for_exactly_its_cost_and_not_for_less(kind: int) -> None:
    unit = UNITS[kind]
    answer = {"moveType": 1, "coordList": [[0, 0]], "buildType": kind}
    assert refusal(drawn("0 .^ Q.\n1 W.", food=(unit.cost, 1)), answer) is None
    words = f"a {unit.name} costs {unit.cost} food; you have {unit.cost - 1}"
    assert refusal(drawn("0 .^ Q.\n1 W.", food=(unit.cost - 1, 1)), answer) == words


def test_a_built_ant_blocks_the_hill_so_that_one_is_built_a_turn() -> None:
    state = drawn("0 .^ Q.", food=(9, 1))
    build(state, WORKER)
    answer = {"moveType": 1, "coordList": [[0, 0]], "buildType": 1}
    assert refusal(state, answer) == "your worker stands on your anthill (0,0)"


def test_an_enemy_on_the_hill_blocks_it_too() -> None:
    state = drawn("0 d^ Q.", food=(9, 1))
    answer = {"moveType": 1, "coordList": [[0, 0]], "buildType": 1}
    assert refusal(state, answer) == "an enemy's drone stands on your anthill (0,0)"


@pytest.mark.parametrize(
    ("coords", "build_type", "words"),
    [
        ([[1, 1]], 1, "coordList[0] is (1,1); ants are built on your anthill (0,0)"),
        ([[8, 0]], 1, "coordList[0] is (8,0); ants are built on your anthill (0,0)"),
        ([[9, 9]], 1, "coordList[0] is (9,9); ants are built on your anthill (0,0)"),
        ([[0, 0], [0, 0]], 1, "coordList is a list of 2; wanted one tile, your anthill (0,0)"),
        ([], 1, "coordList is an empty list; wanted one tile, your anthill (0,0)"),
        (None, 1, "coordList is null; wanted one tile, your anthill (0,0)"),
        ([[-1, 0]], 1, "coordList[0] is (-1,0); x and y are 0..9"),
        ([0, 0], 1, "coordList is a list of 2; wanted one tile, your anthill (0,0)"),
        ([[0, 0]], 0, "buildType is 0; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"),
        ([[0, 0]], 5, "buildType is 5; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"),
        ([[0, 0]], -3, "buildType is -3; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"),
        ([[0, 0]], None, "buildType is null; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"),
        ([[0, 0]], True, "buildType is true; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"),
        ([[0, 0]], 1.0, "buildType is 1.0; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_build_that_is_refused(seat: Player, coords: Any, build_type: Any, words: str) -> None:
    text, turned_text = "0 .^ Q. .. .. .. .. .. .. .@ ..", "9 .. .@ .. .. .. .. .. .. q. .^"
    state = drawn(turned_text if seat else text, mover=seat, food=(9, 9))
    answer = {"moveType": 1, "coordList": coords, "buildType": build_type}
    assert refusal(state, answer) == f"{words}"


# 5.4 END, 5.5 UNDO, other moves


@pytest.mark.parametrize("extra", [None, [], "junk", [[99, 99]], {"a": 1}, 7], ids=repr)
def test_end_ignores_the_other_members(extra: Any) -> None:
    state = drawn("1 W.")
    play(state, {"moveType": 2, "coordList": extra, "buildType": extra, "mood": extra})
    assert asked(state) == (1, "getMove")


def test_the_members_that_do_not_count_may_be_missing() -> None:
    state = drawn("1 W.")
    assert refusal(state, {"moveType": 2}) is None
    assert refusal(state, {"moveType": 0, "coordList": [[0, 1]]}) is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"moveType": 3, "coordList": None}, "moveType is 3 (UNDO is for people); " + KINDS),
        ({"moveType": 4}, "moveType is 4; " + KINDS),
        ({"moveType": -1}, "moveType is -1; " + KINDS),
        ({"moveType": 10**5000}, "moveType is a number beyond 64 bits; " + KINDS),
        ({"moveType": "0"}, "Expected `int`, got `str` - at `$.moveType`"),
        ({"moveType": 2.0}, "Expected `int`, got `float` - at `$.moveType`"),
        ({"moveType": True}, "Expected `int`, got `bool` - at `$.moveType`"),
        ({"moveType": None}, "Expected `int`, got `null` - at `$.moveType`"),
        ({}, "Object missing required field `moveType`"),
        (None, "Expected `object`, got `null`"),
        ([2], "Expected `object`, got `array`"),
        (2, "Expected `object`, got `int`"),
        ("END", "Expected `object`, got `str`"),
    ],
    ids=lambda value: "" if isinstance(value, str) else repr(value) if value != {"moveType": 10**5000} else "huge",
)  # fmt: skip
def test_an_answer_that_is_no_move_is_refused(answer: Any, words: str) -> None:
    assert refusal(drawn("1 W."), answer) == f"{words}"


def test_a_turn_is_any_mixture_of_moves_and_one_build() -> None:
    state = drawn("0 .^ Q. ..\n1 W. .. S.", food=(3, 1))
    walk(state, (0, 1), (0, 2))
    build(state, SOLDIER)
    walk(state, (1, 0), (1, 1))
    walk(state, (2, 1))
    assert asked(state) == (0, "getMove")
    assert {move.moveType for move in state.legal(0)} == {2}, "only END is left"
    end(state)
    assert asked(state) == (1, "getMove")
