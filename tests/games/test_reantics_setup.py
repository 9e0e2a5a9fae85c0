"""ReAntics, section 3: where pieces go, partial and surplus answers, what is hidden; section 10: random layouts."""

from typing import Any

import pytest
from reantics_positions import FOODS, LAYOUT, Tile, asked, begun, build, open_view, own, params, play, refusal, set_up

from referee.games.contract import Player, win
from referee.games.dice import Dice
from referee.games.reantics import Options, ReAntics

both_seats = pytest.mark.parametrize("seat", [0, 1])


def in_phase(phase: int, seat: Player) -> ReAntics:
    """A match in which `seat` is asked for its pieces of `phase`."""
    state = begun()
    for answer in [LAYOUT, LAYOUT, FOODS, FOODS][: 2 * (phase - 1) + seat]:
        play(state, answer)
    return state


def constructions(state: ReAntics, inventory: int) -> list[tuple[int, Tile]]:
    """(type, own tile) of what the one who is asked sees in an inventory."""
    seen = params(state)["currentState"]["inventories"][inventory]["constrs"]
    return [(constr["type"], tuple(constr["coords"])) for constr in seen]


def test_the_players_place_in_turn_and_player_one_moves_first() -> None:
    state, order = begun(), []
    for answer in (LAYOUT, LAYOUT, FOODS, FOODS):
        order.append((asked(state), params(state)["currentState"]["phase"]))
        play(state, answer)
    assert order == [((seat, "getPlacement"), phase) for phase in (1, 2) for seat in (0, 1)]
    assert asked(state) == (0, "getMove")
    assert params(state)["currentState"]["phase"] == 3


def test_the_first_coordinate_is_the_anthill_the_second_the_tunnel_the_rest_grass() -> None:
    state = set_up()
    grass = [(-2, (x, y)) for x, y in LAYOUT[2:]]
    assert sorted(constructions(state, 0)) == [(-4, (0, 0)), (-3, (5, 1))]
    assert sorted(constructions(state, 1)) == [(-4, (9, 9)), (-3, (4, 8))]
    assert constructions(state, 2)[:9] == grass


def test_each_player_starts_with_a_queen_a_worker_and_one_food() -> None:
    one, two, _ = params(set_up())["currentState"]["inventories"]
    assert (one["foodCount"], two["foodCount"]) == (1, 1)
    assert {ant["id"]: (ant["type"], ant["coords"], ant["health"]) for ant in one["ants"] + two["ants"]} == {
        0: (0, [0, 0], 10),
        1: (0, [9, 9], 10),
        2: (1, [5, 1], 4),
        3: (1, [4, 8], 4),
    }
    assert not any(ant["hasMoved"] or ant["carrying"] for ant in one["ants"] + two["ants"])


def test_the_next_ant_that_is_built_gets_the_next_number() -> None:
    state = set_up()
    play(state, {"moveType": 0, "coordList": [[0, 0], [0, 1]]})
    build(state, 1)
    assert [ant["id"] for ant in params(state)["currentState"]["inventories"][0]["ants"]] == [4, 0, 2]


# Where pieces may be placed


@both_seats
@pytest.mark.parametrize(
    ("phase", "place", "words"),
    [
        (1, [0, 4], r"[1] is (0,4); the tunnel goes on your own side, y 0..3"),
        (1, [9, 5], r"[1] is (9,5); the tunnel goes on your own side, y 0..3"),
        (1, [9, 9], r"[1] is (9,9); the tunnel goes on your own side, y 0..3"),
        (1, [4, 12], r"[1] is (4,12); x and y are 0..9"),
        (1, [-1, 3], r"[1] is (-1,3); x and y are 0..9"),
        (1, [10, 0], r"[1] is (10,0); x and y are 0..9"),
        (1, [0, 0], r"[1] is (0,0), named twice"),
        (1, [1, 2, 3], r"[1] is a list of 3; wanted [x, y]"),
        (1, None, r"[1] is null; wanted [x, y]"),
        (1, [1.0, 2], r"[1] is [1.0, 2]; wanted two integers"),
        (1, [True, 2], r"[1] is [true, 2]; wanted two integers"),
        (1, ["1", 2], r"[1] is ['1', 2]; wanted two integers"),
        (1, {"x": 1, "y": 2}, r"[1] is an object; wanted [x, y]"),
        (2, [0, 5], r"[1] is (0,5); food goes on the enemy's side, y 6..9"),
        (2, [0, 3], r"[1] is (0,3); food goes on the enemy's side, y 6..9"),
        (2, [9, 9], r"[1] is (9,9), where an anthill stands; wanted an empty tile"),
        (2, [4, 8], r"[1] is (4,8), where a tunnel stands; wanted an empty tile"),
        (2, [9, 6], r"[1] is (9,6), where grass stands; wanted an empty tile"),
        (2, [0, 6], r"[1] is (0,6), named twice"),
        (2, [3, 10], r"[1] is (3,10); x and y are 0..9"),
    ],
)
def test_a_piece_in_a_wrong_place_loses(seat: Player, phase: int, place: Any, words: str) -> None:
    state = in_phase(phase, seat)
    answer = [LAYOUT[0], place, *LAYOUT[2:]] if phase == 1 else [[0, 6], place]
    assert refusal(state, answer) == f"{words}"
    before = open_view(state)
    play(state, answer)
    assert state.result == win(1 - seat, "illegal_placement")
    assert open_view(state) == before, "nothing of a faulty answer is applied"


@both_seats
@pytest.mark.parametrize("index", range(1, 11))
def test_no_tile_is_named_twice_however_far_apart(seat: Player, index: int) -> None:
    for earlier in range(index):
        answer = [*LAYOUT[:index], LAYOUT[earlier], *LAYOUT[index + 1 :]]
        x, y = LAYOUT[earlier]
        assert refusal(in_phase(1, seat), answer) == f"[{index}] is ({x},{y}), named twice"


@both_seats
@pytest.mark.parametrize("phase", [1, 2])
def test_the_rows_at_the_edge_of_a_side_belong_to_it(phase: int, seat: Player) -> None:
    state = in_phase(phase, seat)
    row = 3 if phase == 1 else 6
    assert refusal(state, [[8, row]]) is None
    assert refusal(state, [[8, row + (1 if phase == 1 else -1)]]) is not None


@both_seats
@pytest.mark.parametrize("phase", [1, 2])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([], "the list is empty; wanted {due} coordinates"),
        (None, "Expected `array`, got `null`"),
        ({}, "Expected `array`, got `object`"),
        ("abc", "Expected `array`, got `str`"),
        (7, "Expected `array`, got `int`"),
    ],
    ids=repr,
)
def test_an_answer_without_a_coordinate_loses(seat: Player, phase: int, answer: Any, words: str) -> None:
    state = in_phase(phase, seat)
    assert refusal(state, answer) == "" + words.format(due=11 if phase == 1 else 2)
    play(state, answer)
    assert state.result == win(1 - seat, "illegal_placement")


def test_nothing_forbids_food_next_to_buildings() -> None:
    state = in_phase(2, 0)
    assert refusal(state, [[4, 7], [3, 8]]) is None, "beside the tunnel"


# Partial and surplus answers


@both_seats
def test_too_few_pieces_are_placed_and_the_same_player_is_asked_again(seat: Player) -> None:
    state = in_phase(1, seat)
    for start, stop in ((0, 1), (1, 4), (4, 10)):
        play(state, LAYOUT[start:stop])
        assert asked(state) == (seat, "getPlacement")
        assert len(constructions(state, seat)) + len(constructions(state, 2)) == stop
    assert refusal(state, [[1, 2]]) == "[0] is (1,2), where grass stands; wanted an empty tile"
    assert refusal(state, []) == "the list is empty; wanted 1 coordinates"
    play(state, LAYOUT[10:])
    assert asked(state) == (1 - seat, "getPlacement")
    whole = in_phase(1, seat)
    play(whole, LAYOUT)
    assert state.key() == whole.key()


@both_seats
def test_food_may_come_one_by_one_too(seat: Player) -> None:
    state = in_phase(2, seat)
    play(state, FOODS[:1])
    assert asked(state) == (seat, "getPlacement")
    play(state, FOODS[1:])
    assert asked(state)[0] == 1 - seat


@both_seats
@pytest.mark.parametrize("surplus", [[[0, 0]], [None], ["junk", [99, 99]], [LAYOUT]], ids=repr)
def test_surplus_is_ignored_unseen_and_unchecked(seat: Player, surplus: list[Any]) -> None:
    for phase, pieces in ((1, LAYOUT), (2, FOODS)):
        exact, more = in_phase(phase, seat), in_phase(phase, seat)
        play(exact, pieces)
        assert not play(more, pieces + surplus)
        assert more.key() == exact.key()


def test_answers_may_be_tuples() -> None:
    state = begun()
    assert not play(state, tuple(map(tuple, LAYOUT)))
    assert state.ground.hills[0] == 0


# What is hidden


def test_player_one_starts_with_an_empty_board() -> None:
    shown = params(begun())["currentState"]
    assert shown["board"] == [[None] * 10] * 10
    assert [inventory["constrs"] for inventory in shown["inventories"]] == [[], [], []]


def test_player_two_sees_nothing_of_player_ones_pieces_in_phase_1() -> None:
    shown = params(in_phase(1, 1))["currentState"]
    assert shown["whoseTurn"] == 1
    assert shown["board"] == [[None] * 10] * 10
    assert [inventory["constrs"] for inventory in shown["inventories"]] == [[], [], []]


def test_player_two_sees_its_own_pieces_when_asked_again_in_phase_1() -> None:
    state = in_phase(1, 1)
    play(state, LAYOUT[:3])
    shown = params(state)["currentState"]
    assert constructions(state, 0) == []
    assert sorted(constructions(state, 1)) == [(-4, (0, 0)), (-3, (5, 1))]
    assert constructions(state, 2) == [(-2, (0, 3))]
    cells = {(x, y): cell for x, column in enumerate(shown["board"]) for y, cell in enumerate(column) if cell}
    assert cells == {(0, 0): {"constr": -4}, (5, 1): {"constr": -3}, (0, 3): {"constr": -2}}


def test_player_one_could_not_see_player_twos_pieces_in_phase_1_either() -> None:
    state = in_phase(1, 1)
    play(state, LAYOUT[:3])
    shown = state.view(0)
    assert not shown.inventories[1].constrs
    assert len(shown.inventories[0].constrs) == 2
    assert len(shown.inventories[2].constrs) == 9


def test_everything_is_hidden_from_nobody_for_viewers() -> None:
    state = in_phase(1, 1)
    assert len(state.view(None).inventories[0].constrs) == 2
    assert len(state.view(None).inventories[2].constrs) == 9


def test_all_is_visible_in_phase_2_with_the_food_already_placed() -> None:
    state = in_phase(2, 1)
    assert len(constructions(state, 0)) == len(constructions(state, 1)) == 2
    neutral = constructions(state, 2)
    assert neutral[9:18] == [(-2, (x, y)) for x, y in LAYOUT[2:]], "own grass in the own frame"
    assert neutral[18:] == [(-1, own(1, (4, 6))), (-1, own(1, (5, 8)))]


def test_in_the_setup_nobody_has_ants_or_food() -> None:
    for phase, seat in ((1, 0), (1, 1), (2, 0), (2, 1)):
        inventories = params(in_phase(phase, seat))["currentState"]["inventories"]
        assert [(inventory["foodCount"], inventory["ants"]) for inventory in inventories] == [(0, [])] * 3


# Random layouts


@pytest.mark.parametrize(
    ("random_layout", "order"),
    [
        ((False, False), [0, 1, 0, 1]),
        ((True, False), [1, 1]),
        ((False, True), [0, 0]),
        ((True, True), []),
    ],
)
def test_a_seat_with_a_random_layout_is_not_asked(random_layout: tuple[bool, bool], order: list[Player]) -> None:
    state, asked_seats = begun(Options(random_layout=random_layout)), []
    while asked(state)[1] == "getPlacement":
        asked_seats.append(asked(state)[0])
        play(state, state.sample(asked(state)[0], Dice(len(asked_seats))))
    assert asked_seats == order
    assert asked(state) == (0, "getMove")
    shown = state.view(None)
    assert len(shown.inventories[2].constrs) == 22
    every = [constr.coords for inventory in shown.inventories for constr in inventory.constrs]
    assert len(set(every)) == 26


@both_seats
def test_a_drawn_layout_is_legal(seat: Player) -> None:
    for seed in range(30):
        state = begun(Options(random_layout=(seat == 0, seat == 1)), seed)
        if seat == 1:
            play(state, LAYOUT)
        drawn_pieces = state.view(None)
        rows = range(4) if seat == 0 else range(6, 10)
        mine = [constr.coords for constr in drawn_pieces.inventories[seat].constrs]
        mine += [constr.coords for constr in drawn_pieces.inventories[2].constrs][-9:]
        assert len(set(mine)) == 11
        assert all(y in rows for _, y in mine)


@pytest.mark.slow
def test_a_layout_is_drawn_evenly() -> None:
    """Over 4000 seeds each of 40 tiles gets the anthill 100 times, give or take (4 standard deviations are 40)."""
    count = dict.fromkeys(range(40), 0)
    for seed in range(4000):
        x, y = divmod(begun(Options(random_layout=(True, False)), seed).ground.hills[0], 10)
        count[4 * x + y] += 1
    assert all(60 < times < 140 for times in count.values())


def test_a_layout_follows_from_the_seed() -> None:
    options = Options(random_layout=(True, True))
    assert begun(options, 5).key() == begun(options, 5).key() != begun(options, 6).key()


def test_a_copy_with_a_seed_cannot_foresee_the_layouts_still_to_be_drawn() -> None:
    state = begun(Options(random_layout=(False, True)))
    as_it_is, foresight, again = state.copy(), state.copy(12), state.copy(12)
    for copied in (as_it_is, foresight, again):
        play(copied, LAYOUT)
    assert as_it_is.ground.hills[1] != foresight.ground.hills[1] == again.ground.hills[1]
