"""AI Arena 21, section 6: auctions."""

from typing import Any

import pytest
from aiarena21_positions import (
    asked,
    begun,
    buy,
    fault_of,
    move,
    offered,
    place,
    places,
    refusal,
    rulings,
    shown,
    told,
    wait,
)

from referee.games.aiarena21 import AIArena21, Auction, PickedUp, Teleported
from referee.games.contract import Event, Fault, FaultKind

OPEN = "S....\n.....\n.....\n.....\n....S\n"
CORNERS = ((0, 0), (4, 4))


def meeting(score: tuple[int, int] = (100, 100), cells: Any = (), batches: Any = ()) -> AIArena21:
    """Player 0 has just moved to (2,2), where player 1 stayed."""
    state = begun(OPEN, at=((2, 1), (2, 2)), score=score, cells=cells, batches=batches)
    move(state, "2,2")
    assert asked(state) == "play_auction"
    return state


def bid(state: AIArena21, first: Any, second: Any) -> list[Event]:
    return state.apply({0: first, 1: second})


# When


def test_both_are_asked_at_once_with_the_cells_after_the_moves() -> None:
    state = meeting()
    assert list(state.awaited) == [0, 1]
    for player in (0, 1):
        params = shown(state, player)
        assert params["me"]["location"] == params["opponent"]["location"] == [2, 2]


def test_both_entering_one_cell_meet_too() -> None:
    state = begun(OPEN, at=((2, 1), (2, 3)))
    move(state, "2,2", "2,2")
    assert asked(state) == "play_auction"


def test_the_clock_causes_auctions_in_turns_30_60_and_90_without_meetings() -> None:
    state = begun(OPEN, cells=[*CORNERS] * 3)
    struck = []
    while state.result is None:
        if asked(state) == "play_auction":
            struck.append(state.turn)
            assert told(bid(state, 0, 0), "auction") == [Auction("clock", (0, 0), None, 0)]
        else:
            move(state)
    assert struck == [30, 60, 90]


def test_the_clock_causes_the_next_auction_thirty_turns_after_the_last() -> None:
    state = begun(OPEN, at=((2, 1), (2, 2)), cells=[*CORNERS] * 2)
    wait(state, 7)
    move(state, "2,2")
    bid(state, 0, 0)
    wait(state, 37)
    move(state)
    assert (state.turn, asked(state)) == (37, "play_auction")


def test_both_causes_together_give_one_auction() -> None:
    state = begun(OPEN, at=((2, 1), (2, 2)), cells=CORNERS)
    wait(state, 30)
    move(state, "2,2")
    assert told(bid(state, 0, 0), "auction") == [Auction("meeting", (0, 0), None, 0)]
    assert (state.turn, asked(state)) == (31, "play_powerup")


# Bids


@pytest.mark.parametrize(
    ("answer", "counts"),
    [(0, 0), (1, 1), (100, 100), (" 8 ", 8), ("+9", 9), ("007", 7), ("-0", 0), ("\t12\n", 12), ("0" * 6000 + "5", 5)],
)
def test_a_bid_is_a_whole_number_or_its_digits_up_to_the_own_score(answer: Any, counts: int) -> None:
    state = meeting(cells=[*CORNERS])
    assert refusal(state, 0, answer) is None
    assert told(bid(state, answer, 0), "auction")[0].bids == (counts, 0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (-1, "the bid is -1; wanted 0..100, your score"),
        (101, "the bid is 101; wanted 0..100, your score"),
        ("101", "the bid is '101'; wanted 0..100, your score"),
        ("-1", "the bid is '-1'; wanted 0..100, your score"),
        ("9" * 5000, f"the bid is '{'9' * 60}'…; wanted 0..100, your score"),
        (1 << 64, "the bid is a number beyond 64 bits; wanted 0..100, your score"),
        (2.0, "2.0 is no bid; wanted a whole number, 0..100"),
        (2.5, "2.5 is no bid; wanted a whole number, 0..100"),
        ("2.0", "'2.0' is no bid; wanted a whole number, 0..100"),
        ("1_0", "'1_0' is no bid; wanted a whole number, 0..100"),
        ("٢", "'\\u0662' is no bid; wanted a whole number, 0..100"),
        ("", "'' is no bid; wanted a whole number, 0..100"),
        ("+ 9", "'+ 9' is no bid; wanted a whole number, 0..100"),
        (True, "true is no bid; wanted a whole number, 0..100"),
        (None, "null is no bid; wanted a whole number, 0..100"),
        ([1], "a list of 1 is no bid; wanted a whole number, 0..100"),
        ({"bid": 1}, "an object is no bid; wanted a whole number, 0..100"),
    ],
)
def test_every_other_bid_counts_as_zero(answer: Any, words: str) -> None:
    state = meeting()
    events = bid(state, answer, 1)
    assert rulings(events) == [(0, "bids 0")]
    assert fault_of(events).detail == words
    assert told(events, "auction") == [Auction("meeting", (0, 1), 1, 0)]


def test_a_late_bid_counts_as_zero() -> None:
    events = bid(meeting(), Fault(FaultKind.TIMEOUT, "late"), 3)
    assert told(events, "auction") == [Auction("meeting", (0, 3), 1, 1)]


def test_a_bid_may_be_the_whole_score_and_not_a_point_more() -> None:
    state = meeting(score=(7, 0))
    assert refusal(state, 0, 7) is None
    assert refusal(state, 0, 8) == "the bid is 8; wanted 0..7, your score"
    assert list(state.legal(0)) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert list(state.legal(1)) == [0]


# Different bids


def test_the_winner_stays_sends_the_loser_away_and_pays_half_of_both_bids() -> None:
    state = meeting()
    assert told(bid(state, 30, 21), "auction") == [Auction("meeting", (30, 21), 0, 25)]
    assert (asked(state), list(state.awaited)) == ("play_transport", [0])
    params = shown(state, 0)
    assert params["me"]["score"] == params["opponent"]["score"] == 100, "before payment"
    assert params["me"]["location"] == params["opponent"]["location"] == [2, 2]
    events = state.apply({0: "04,0"})
    assert told(events, "teleported") == [Teleported(1, (4, 0), True)]
    assert places(state) == ((2, 2), (4, 0))
    assert state.score == [75, 100]
    assert (state.turn, asked(state)) == (1, "play_powerup")


def test_the_bids_one_and_zero_cost_nothing() -> None:
    state = meeting()
    assert told(bid(state, 0, 1), "auction") == [Auction("meeting", (0, 1), 1, 0)]
    state.apply({1: "0,0"})
    assert state.score == [100, 100]
    assert places(state) == ((0, 0), (2, 2))


@pytest.mark.parametrize("answer", ["9,9", "2, 2", "", None, [0, 0], 5, Fault(FaultKind.CRASH, "gone")])
def test_a_fault_in_play_transport_sends_the_loser_to_a_random_free_cell_and_the_winner_pays(answer: Any) -> None:
    state = meeting(cells=[(3, 1)])
    bid(state, 10, 4)
    events = state.apply({0: answer})
    assert rulings(events) == [(0, "the loser goes to a random cell")]
    assert told(events, "teleported") == [Teleported(1, (3, 1), False)]
    assert offered(state) == [state.ground.free], "the cells of both are not excluded"
    assert state.score == [93, 100]


def test_the_loser_cannot_be_sent_to_a_wall() -> None:
    state = begun("S.#\n..S\n", at=((0, 0), (0, 1)), cells=[(1, 0)])
    move(state, "0,1")
    bid(state, 1, 0)
    assert list(state.legal(0)) == ["0,0", "0,1", "1,0", "1,1", "1,2"]
    assert fault_of(state.apply({0: "0,2"})).detail == "'0,2' is blocked; wanted a free cell"
    assert place(state, 1) == (1, 0)


# Equal bids


@pytest.mark.parametrize("both", [0, 40])
def test_equal_bids_teleport_both_players_and_leave_the_items(both: int) -> None:
    state = begun(OPEN, at=((2, 1), (2, 2)), batches=[{(2, 2): "D", (4, 0): "S"}], cells=[(4, 0), (0, 4)])
    wait(state, 20)
    move(state, "2,1", "2,3")
    move(state, "2,2", "2,2")
    events = bid(state, both, both)
    assert told(events, "auction") == [Auction("meeting", (both, both), None, 0)]
    assert told(events, "teleported") == [Teleported(0, (4, 0), False), Teleported(1, (0, 4), False)]
    assert offered(state) == [state.ground.free] * 2
    assert shown(state, 0)["items"][2][2] == 30, "both have left it"
    assert state.score == [110, 100], "what lies where a player lands is picked up"
    assert told(events, "picked_up") == [PickedUp(0, (4, 0), ("Strawberry",), 110)]


def test_the_winner_picks_up_the_contested_fruit() -> None:
    state = begun(OPEN, at=((2, 0), (2, 4)), batches=[{(2, 2): "D"}])
    wait(state, 20)
    move(state, "2,1", "2,3")
    move(state, "2,2", "2,2")
    bid(state, 0, 9)
    state.apply({1: "0,0"})
    assert state.score == [100, 126]


def test_a_tie_that_teleports_both_to_one_cell_causes_another_auction() -> None:
    state = meeting(cells=[(1, 1), (1, 1), *CORNERS])
    bid(state, 3, 3)
    assert (asked(state), shown(state, 1)["me"]["location"]) == ("play_auction", [1, 1])
    bid(state, 0, 0)
    assert places(state) == CORNERS
    assert state.turn == 1


# Several auctions in one turn


def test_the_winner_may_name_its_own_cell_and_the_next_auction_has_the_new_scores() -> None:
    state = meeting()
    bid(state, 50, 20)
    state.apply({0: "2,2"})
    assert asked(state) == "play_auction"
    assert shown(state, 0)["me"]["score"] == 65
    assert refusal(state, 0, 66) is not None
    bid(state, 0, 1)
    state.apply({1: "0,0"})
    assert (state.turn, places(state)) == (1, ((0, 0), (2, 2)))


def test_after_ten_auctions_the_loser_of_the_last_goes_to_another_cell() -> None:
    state = meeting(cells=[(4, 1)])
    for number in range(1, 11):
        assert asked(state) == "play_auction", number
        bid(state, 0, 1)
        events = state.apply({1: "2,2"})
    assert told(events, "teleported") == [Teleported(0, (2, 2), True), Teleported(0, (4, 1), False)]
    assert places(state) == ((4, 1), (2, 2))
    assert offered(state) == [[cell for cell in state.ground.free if cell != 12]]
    assert (state.turn, asked(state)) == (1, "play_powerup")
    assert state.score == [100, 100]


def test_after_ten_ties_on_one_cell_player_1_moves_away() -> None:
    state = meeting(cells=[(1, 1)] * 20 + [(3, 3)])
    for _ in range(10):
        assert asked(state) == "play_auction"
        bid(state, 0, 0)
    assert places(state) == ((1, 1), (3, 3))
    assert state.turn == 1


def test_a_tenth_auction_that_separates_the_players_draws_no_cell() -> None:
    state = meeting()
    for _ in range(9):
        bid(state, 1, 0)
        state.apply({0: "2,2"})
    bid(state, 1, 0)
    state.apply({0: "0,0"})
    assert places(state) == ((2, 2), (0, 0))


def test_the_limit_of_ten_auctions_is_per_turn() -> None:
    state = meeting(cells=[(4, 1)])
    for _ in range(10):
        bid(state, 0, 1)
        state.apply({1: "2,2"})
    state.cells[0] = state.cells[1]
    move(state)
    bid(state, 0, 1)
    state.apply({1: "2,2"})
    assert asked(state) == "play_auction"


# Power-ups


def test_an_auction_shows_purchases_of_the_same_turn() -> None:
    state = begun(OPEN, at=((2, 0), (2, 3)))
    buy(state, "bike", "portal gun")
    move(state, "2,3")
    params = shown(state, 1)
    assert (params["me"]["portal_gun"], params["opponent"]["bike"]) == (True, True)
    assert (params["me"]["score"], params["opponent"]["score"]) == (0, 70)
