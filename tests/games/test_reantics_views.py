"""ReAntics, sections 2, 7 and 8: frames, orderings, what a state looks like; and the way back, `from_view`."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_matches import moments, plain, reached
from reantics_positions import (
    FOODS,
    LAYOUT,
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
    set_up,
    turned,
    walk,
)

from referee.games.contract import Player
from referee.games.dice import Dice, derive_seed
from referee.games.reantics import GAME, WORKER, GetAttack, Options, ReAntics, from_view

some = settings(max_examples=60, deadline=None, derandomize=True)
numbers = st.integers(0, 10**6)

CROWD = """
    0  .. .^ .. .. .. .. W. .. .. ..
    1  W. .. D. .; .. .. .. .. .. ..
    2  .. Q. .. .. s. .. .. .% .. ..
    3  .. .. .. .@ .. .. .. .. .. ..
    4  .. .. .. d. .. .. .. .. .. ..
    6  .. .% .. .. .. w. .. .. .@ ..
    7  .. .. .. .. .; .. .. .. .. r.
    8  .. .^ q. .. .. .. .. .. .. ..
"""


# Section 2: frames


def test_player_ones_frame_is_the_absolute_frame() -> None:
    state = drawn(CROWD)
    assert state.view(0) == open_view(state)


def test_player_two_sees_every_coordinate_turned_and_nothing_else() -> None:
    state = drawn(CROWD, mover=1)
    one, two = (msgspec.to_builtins(state.view(seat)) for seat in (0, 1))
    assert two["whoseTurn"] == one["whoseTurn"] == 1
    for seen, turned_by_hand in zip(one["inventories"], two["inventories"], strict=True):
        for kind in ("ants", "constrs"):
            for piece in seen[kind]:
                piece["coords"] = turned(piece["coords"])
        assert seen == turned_by_hand
    assert [column[::-1] for column in one["board"]][::-1] == two["board"]


def test_every_bot_sees_itself_on_top() -> None:
    state = set_up()
    for seat in (0, 1):
        shown = params(state)["currentState"]
        assert shown["whoseTurn"] == seat
        mine = [ant["coords"] for ant in shown["inventories"][seat]["ants"]]
        assert sorted(mine) == [[0, 0], [5, 1]]
        end(state)


def test_the_attack_call_of_player_two_is_turned_too() -> None:
    state = drawn("4 s. D.", mover=1)
    walk(state, (0, 4))
    shown = params(state)
    assert shown["attackingAnt"]["coords"] == [9, 5]
    assert shown["enemyLocations"] == [[8, 5]]
    attack(state, (1, 4))
    assert asked(state) == (1, "getMove")


# Section 7: orderings


@pytest.mark.parametrize("mover", [0, 1])
def test_ants_and_buildings_are_sorted_by_absolute_x_then_y_for_both_players(mover: Player) -> None:
    state = drawn(CROWD, mover=mover)
    inventories = params(state)["currentState"]["inventories"]
    seen = [[own(mover, tuple(piece["coords"])) for piece in inventories[seat]["ants"]] for seat in (0, 1)]
    assert seen == [
        [(0, 1), (1, 2), (2, 1), (6, 0)],
        [(2, 8), (3, 4), (4, 2), (5, 6), (9, 7)],
    ]
    buildings = [[own(mover, tuple(piece["coords"])) for piece in inventories[seat]["constrs"]] for seat in (0, 1)]
    assert buildings == [[(1, 0), (3, 3)], [(1, 8), (8, 6)]]


def test_the_anthill_is_not_always_before_the_tunnel() -> None:
    state = drawn("1 .. .@ .. .^")
    assert [constr.type for constr in state.view(0).inventories[0].constrs] == [-3, -4]


def test_neutral_constructions_come_in_the_order_of_placement() -> None:
    grass = [(x, y) for x, y in LAYOUT[2:]]
    food = [(x, y) for x, y in FOODS]
    placed = [*grass, *map(turned, grass), *food, *map(turned, food)]
    state = set_up()
    for seat in (0, 1):
        seen = [tuple(constr["coords"]) for constr in params(state)["currentState"]["inventories"][2]["constrs"]]
        assert seen == [own(seat, tile) for tile in placed]
        end(state)


def test_inventories_are_player_one_player_two_neutral_for_both() -> None:
    state = drawn(CROWD, mover=1)
    assert [inventory["player"] for inventory in params(state)["currentState"]["inventories"]] == [0, 1, 2]


# Section 8.1: the state


def test_the_members_of_a_state_are_the_documents() -> None:
    state = drawn("0 .^\n1 W% .;\n2 Q.", carrying={(0, 1)}, moved={(0, 1)}, health={(0, 1): 3})
    shown = params(state)["currentState"]
    assert list(shown) == ["phase", "whoseTurn", "inventories", "board"]
    one, _, neutral = shown["inventories"]
    assert one == {
        "player": 0,
        "foodCount": 1,
        "ants": [
            {"id": 2, "coords": [0, 1], "type": 1, "player": 0, "health": 3, "carrying": True, "hasMoved": True},
            {"id": 0, "coords": [0, 2], "type": 0, "player": 0, "health": 10, "carrying": False, "hasMoved": False},
        ],
        "constrs": [
            {"coords": [0, 0], "type": -4, "movementCost": 1, "player": 0, "captureHealth": 3},
            {"coords": [8, 0], "type": -3, "movementCost": 1, "player": 0, "captureHealth": 2},
        ],
    }
    assert neutral == {
        "player": 2,
        "foodCount": 0,
        "ants": [],
        "constrs": [
            {"coords": [0, 1], "type": -1, "movementCost": 1},
            {"coords": [1, 1], "type": -2, "movementCost": 2},
        ],
    }
    column = [{"constr": -4}, {"ant": 2, "constr": -1}, {"ant": 0}, *[None] * 6, {"ant": 1, "constr": -4}]
    assert shown["board"][0] == column
    assert shown["board"][1][1] == {"constr": -2}


@some
@given(kind=numbers, nth=numbers)
def test_the_board_repeats_the_inventories(kind: int, nth: int) -> None:
    state = reached(GAME, kind, nth)
    for seat in (None, 0, 1):
        view = plain(state.view(seat))
        board: list[list[Any]] = [[None] * 10 for _ in range(10)]
        for member, value, pieces in (("constr", "type", "constrs"), ("ant", "id", "ants")):
            for inventory in view["inventories"]:
                for piece in inventory[pieces]:
                    x, y = piece["coords"]
                    board[x][y] = {**(board[x][y] or {}), member: piece[value]}
        assert view["board"] == board


def test_the_option_board_leaves_it_out() -> None:
    state = set_up(Options(board=False))
    assert "board" not in params(state)["currentState"]


# Both frames play the same game

MOSTLY_REFUSED = {"moveType": 0, "coordList": [[4, 4], [4, 5]]}


def exchanged(view: dict[str, Any]) -> dict[str, Any]:
    """Returns the view of the other seat if all pieces changed owners."""
    one, two, neutral = view["inventories"]
    seats: list[dict[str, Any]] = []
    for seat, inventory in ((0, two), (1, one)):
        ants = [
            {**ant, "player": seat, "id": 1 - ant["id"] if ant["id"] < 2 else ant["id"]} for ant in inventory["ants"]
        ]
        buildings = [{**building, "player": seat} for building in inventory["constrs"]]
        # The order is by absolute place, which the turn reverses.
        seats.append({**inventory, "player": seat, "ants": ants[::-1], "constrs": buildings[::-1]})
    return {"phase": view["phase"], "whoseTurn": 1 - view["whoseTurn"], "inventories": [*seats, neutral]}


def boardless(state: ReAntics, seat: Player) -> dict[str, Any]:
    view: dict[str, Any] = plain(state.view(seat))
    del view["board"]
    return view


@pytest.mark.slow
@some
@given(seed=numbers, start=st.integers(0, 300))
def test_exchanged_seats_and_turned_input_give_turned_output(seed: int, start: int) -> None:
    """One match goes on twice: as it is, and with the seats exchanged, the same answers in the players' own frames."""
    state = set_up()
    for _ in zip(range(start), moments(state, seed), strict=False):
        pass
    if state.result is not None or asked(state)[1] != "getMove":
        return
    mover, _ = asked(state)
    mirror = from_view(msgspec.convert(exchanged(boardless(state, mover)), type(state.view(0))))
    mirror.next_id, mirror.ends = state.next_id, state.ends
    dice = Dice(derive_seed(seed, "mirror"))
    for _ in range(120):
        for seat in (0, 1):
            assert exchanged(boardless(state, seat)) == boardless(mirror, 1 - seat)
        if state.result is not None:
            assert mirror.result is not None
            assert mirror.result.reason == state.result.reason
            assert mirror.result.scores == state.result.scores[::-1]
            return
        player, method = asked(state)
        assert asked(mirror) == (1 - player, method)
        assert list(mirror.legal(1 - player)) == list(state.legal(player))
        answer: Any = state.sample(player, dice) if dice.below(60) else MOSTLY_REFUSED
        assert mirror.check(1 - player, answer) == state.check(player, answer)
        state.apply({player: answer})
        mirror.apply({1 - player: answer})


@some
@given(seed=numbers)
def test_the_same_setup_from_both_players_is_turned_by_180_degrees(seed: int) -> None:
    state, dice = begun(), Dice(seed)
    pieces = state.sample(0, dice)
    play(state, pieces)
    play(state, pieces)
    foods = state.sample(0, dice)
    play(state, foods)
    play(state, foods)
    one, two = boardless(state, 0), boardless(state, 1)
    for kind in ("ants", "constrs"):
        places = [
            sorted((piece["type"], piece["coords"]) for piece in view["inventories"][seat][kind])
            for seat, view in ((0, one), (1, two))
        ]
        assert places[0] == places[1]


# from_view


def shown_again(state: ReAntics, seat: Player) -> ReAntics:
    """The position made from what the call to `seat` shows, as it comes off the wire."""
    (call,) = state.calls()
    received: Any = msgspec.json.decode(msgspec.json.encode(call.params), type=call.method.params)
    attacking = received.attackingAnt if isinstance(received, GetAttack) else None
    return from_view(received.currentState, state.options, attacking)


@settings(some, max_examples=150)
@given(kind=numbers, nth=numbers)
def test_a_position_made_from_a_view_has_the_same_view_and_legal_answers(kind: int, nth: int) -> None:
    state = reached(GAME, kind, nth)
    if state.result is not None:
        return
    assert isinstance(state, ReAntics)
    seat, method = asked(state)
    again = shown_again(state, seat)
    assert asked(again) == (seat, method)
    assert msgspec.json.encode(again.params(seat)) == msgspec.json.encode(state.params(seat))
    for _, one, other in zip(range(400), state.legal(seat), again.legal(seat), strict=False):
        assert one == other
    answers: list[Any] = [state.sample(seat, Dice(kind)), "junk", [], MOSTLY_REFUSED]
    for answer in answers:
        assert again.check(seat, answer) == state.check(seat, answer)


@pytest.mark.slow
@some
@given(seed=numbers, steps=st.integers(0, 300))
def test_a_position_made_from_a_view_plays_on_like_the_real_one(seed: int, steps: int) -> None:
    state = set_up()
    for _ in zip(range(steps), moments(state, seed), strict=False):
        pass
    if state.result is not None:
        return
    again = shown_again(state, asked(state)[0])
    again.next_id, again.ends = state.next_id, state.ends  # the two things that a view does not hold
    assert again.key() == state.key()
    for (_, real), (_, ahead) in zip(moments(state, seed + 1), moments(again, seed + 1), strict=True):
        assert real == ahead
        assert open_view(state) == open_view(again)
    assert state.result == again.result


def test_the_next_ant_after_a_view_gets_the_next_id_after_the_highest() -> None:
    state = drawn("0 .^ Q. W.\n1 S. d. w.")
    again = shown_again(state, 0)
    build(again, WORKER)
    assert [ant.id for ant in again.view(None).inventories[0].ants if ant.coords == (0, 0)] == [6]


def test_a_view_of_player_two_in_phase_1_hides_pieces_that_are_then_drawn() -> None:
    state = begun()
    play(state, LAYOUT)
    play(state, LAYOUT[:3])
    view = state.view(1)
    guesses = [from_view(view, seed=seed) for seed in (1, 1, 2)]
    assert guesses[0].key() == guesses[1].key() != guesses[2].key()
    for guess in guesses:
        assert msgspec.json.encode(guess.view(1)) == msgspec.json.encode(view)
        seat, method = asked(guess)
        while method == "getPlacement":
            play(guess, guess.sample(seat, Dice(1)))
            seat, method = asked(guess)
        assert len(guess.view(None).inventories[2].constrs) == 22


# The drawing for people


def test_the_drawing_can_be_read_back() -> None:
    state = drawn(CROWD)
    rows = [row for row in str(state).splitlines() if row[1:2].isdigit()]
    assert len(rows) == 10
    assert drawn("\n".join(rows)).key() == state.key()


def test_the_drawing_tells_food_ants_and_whose_turn_it_is() -> None:
    state = drawn("0 .^\n1 S. w.\n2 Q.", carrying={(1, 1)})
    assert str(state).splitlines()[-3:] == [
        "player one: food 1, anthill 3; queen 0 at (0,2), health 10, soldier 2 at (0,1), health 8",
        "player two: food 1, anthill 3; queen 1 at (0,9), health 10, worker 3 at (1,1), health 4, carrying",
        "player one to move, after 0 END moves",
    ]
    walk(state, (0, 1))
    assert str(state).endswith("player one to attack with soldier 2 at (0,1), health 8, moved, after 0 END moves")
    play(state, None)
    assert str(state).endswith("one's attack was illegal, after 0 END moves")
    assert str(begun()).endswith("setup phase 1: player one to place 11")


# The key


def test_positions_that_go_on_differently_have_different_keys() -> None:
    text = "0 .^ .. W.\n1 S. .. .;\n2 Q."
    positions = [
        drawn(text),
        drawn(text, mover=1),
        drawn(text.replace(";", "%")),
        drawn(text.replace("S", "D")),
        drawn(text.replace("W.", ".. W.")),
        drawn(text, food=(2, 1)),
        drawn(text, food=(1, 2)),
        drawn(text, health={(2, 0): 3}),
        drawn(text, carrying={(2, 0)}),
        drawn(text, moved={(2, 0)}),
        drawn(text, hill_health=(2, 3)),
        drawn(text, hill_health=(3, 2)),
    ]
    for changed in ("ends", "next_id"):  # nearer to the draw; another name for the next ant
        position = drawn(text)
        setattr(position, changed, 40)
        positions.append(position)
    stopped = drawn(text)
    stopped.stop("match_time")
    told = stopped.copy()
    told.apply({0: None, 1: None})
    keys = {position.key() for position in (*positions, stopped, told)}
    assert len(keys) == len(positions) + 2
    assert drawn(text).key() == positions[0].key()
