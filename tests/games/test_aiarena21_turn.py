"""AI Arena 21, sections 4, 5 and 9: the order of a turn, power-ups, moves, pick-ups, faults, the end."""

from typing import Any

import msgspec
import pytest
from aiarena21_positions import (
    asked,
    begun,
    buy,
    fault_of,
    move,
    named,
    place,
    places,
    refusal,
    rulings,
    shown,
    told,
    wait,
)

from referee.games.aiarena21 import (
    GAME,
    METHODS,
    AIArena21,
    Deployed,
    FaultCount,
    GameEnded,
    Moved,
    Options,
    PickedUp,
    Pile,
    Purchase,
    TurnEnded,
)
from referee.games.contract import FATAL, Fault, FaultKind, Notice, Player, Result, Setup
from referee.games.game import TimeControl

LINE = "S" + "." * 39 + "S"
"""One long row, its ends the spawns: nobody meets."""


# Deployment (section 4 step 1)


def test_the_board_is_empty_until_the_first_batch_in_turn_20() -> None:
    state = begun(LINE, batches=[{(0, 5): "OS"}, {(0, 6): "D"}])
    wait(state, 19)
    assert state.view(None).incoming == [Pile((0, 5), ("Onion", "Strawberry"))]
    assert sum(shown(state, 0)["items"][0]) == 0
    events = move(state)
    assert told(events, "deployed") == [Deployed(20, [Pile((0, 5), ("Onion", "Strawberry"))])]
    params = shown(state, 0)
    assert params["remaining_turns"] == 80
    assert params["items"][0][5] == 12
    assert params["new_items"][0][5] == ["Onion", "Strawberry"]
    assert params["heatmap"][0][6] == 30.0, "the next batch shows"


def test_new_items_are_those_of_this_turn_and_items_stay() -> None:
    state = begun(LINE, batches=[{(0, 5): "O"}])
    wait(state, 20)
    buy(state)
    assert shown(state, 1)["new_items"][0][5] == ["Onion"], "in every call of the turn"
    move(state)
    params = shown(state, 0)
    assert params["new_items"] == [[[]] * 41]
    assert params["items"][0][5] == 2


def test_a_later_batch_is_added_to_the_fruit_on_a_cell() -> None:
    state = begun(LINE + "\n" + "." * 41, batches=[{(0, 5): "OSD"}, {(0, 5): "D", (1, 0): "O"}])
    wait(state, 30)
    move(state)
    state.apply({0: 1, 1: 0})  # the clock's auction
    state.apply({0: "0,40"})
    wait(state, 40)
    params = shown(state, 0)
    assert state.view(None).items[0][5] == "OSDD"
    assert (params["items"][0][5], params["items"][1][0]) == (72, 2)
    assert params["new_items"][0][5] == ["DragonFruit"]


def test_a_hundred_turns_draw_five_batches_and_deploy_four() -> None:
    state = begun(LINE, batches=[{(0, 7): "O"}] * 5 + [{(0, 8): "O"}], cells=[(0, 0), (0, 40)] * 3)
    deployed = 0
    while state.result is None:
        events = state.apply({0: 0, 1: 0}) if asked(state) == "play_auction" else move(state)
        deployed += len(told(events, "deployed"))
    assert deployed == 4
    assert state.view(None).items[0][7:9] == ("OOOO", "")


def test_items_new_items_heatmap_and_map_are_one_object_for_both_seats_all_turn() -> None:
    state = begun(LINE, batches=[{(0, 7): "O"}])
    wait(state, 20)
    (first,) = state.calls()
    buy(state)
    for call in state.calls():
        for part in ("game_map", "items", "new_items", "heatmap"):
            assert getattr(call.params, part) is getattr(first.params, part)


# Power-ups (section 5)


def test_power_ups_are_asked_for_one_after_the_other_and_the_second_sees_the_firsts_purchase() -> None:
    state = begun()
    assert list(state.awaited) == [0]
    events = state.apply({0: "bike"})
    assert told(events, "purchase") == [Purchase(0, "bike", True, 70)]
    assert (asked(state), list(state.awaited)) == ("play_powerup", [1])
    assert shown(state, 1)["opponent"] == {
        "name": "Team 1",
        "score": 70,
        "location": [3, 0],
        "bike": True,
        "portal_gun": False,
    }
    state.apply({1: "portal gun"})
    assert (asked(state), list(state.awaited)) == ("play_turn", [0, 1])
    assert shown(state, 0)["opponent"]["portal_gun"] is True
    assert shown(state, 1)["me"]["score"] == 0


@pytest.mark.parametrize(("power_up", "cost"), [("bike", 30), ("portal gun", 100)])
def test_a_power_up_costs_its_price_and_too_few_points_buy_nothing_and_cost_nothing(power_up: str, cost: int) -> None:
    for score, bought, left in ((cost - 1, False, cost - 1), (cost, True, 0), (cost + 1, True, 1)):
        state = begun(score=(score, 0))
        assert refusal(state, 0, power_up) is None
        events = state.apply({0: power_up})
        assert told(events, "purchase") == [Purchase(0, power_up, bought, left)]  # type: ignore[arg-type]
        assert rulings(events) == []
        state.apply({1: ""})
        me = shown(state, 0)["me"]
        assert me["score"] == left
        assert (me["bike"] or me["portal_gun"]) is bought


def test_a_bike_lasts_for_the_turn_of_purchase_and_two_more() -> None:
    state = begun(LINE)
    buy(state, "bike")
    serving = []
    for _ in range(4):
        if asked(state) == "play_powerup":
            buy(state)
        serving.append(shown(state, 0)["me"]["bike"])
        move(state)
    assert serving == [True, True, True, False]


def test_a_second_bike_is_charged_again_and_adds_three_turns() -> None:
    state = begun(LINE)
    buy(state, "bike")
    move(state)
    assert state.view(None).bike_turns == (2, 0)
    assert shown(state, 0)["me"]["bike"] is True, "an earlier bike still runs"
    buy(state, "bike")
    assert state.view(None).bike_turns == (5, 0)
    assert state.score[0] == 40


def test_a_portal_gun_lasts_one_turn_even_with_a_bike() -> None:
    state = begun(LINE, score=(130, 100))
    buy(state, "bike")
    move(state)
    buy(state, "portal gun")
    me = shown(state, 0)["me"]
    assert (me["bike"], me["portal_gun"], me["score"]) == (True, True, 0)
    move(state, "0,20")
    assert place(state, 0) == (0, 20)
    me = shown(state, 0)["me"]
    assert (me["bike"], me["portal_gun"]) == (True, False)


@pytest.mark.parametrize(
    "answer", ["Bike", "bike ", "portal_gun", "portalgun", None, 0, 30, True, ["bike"], {}, "\ud800"]
)
def test_anything_but_the_three_texts_buys_nothing(answer: Any) -> None:
    state = begun()
    events = state.apply({0: answer})
    assert rulings(events) == [(0, "buys nothing")]
    assert fault_of(events).detail.endswith(' is no power-up; wanted "bike", "portal gun" or ""')
    assert state.score == [100, 100]
    assert list(state.awaited) == [1]


# Moves (section 5)


@pytest.mark.parametrize(
    ("answer", "goes"),
    [
        *[("2,2", (2, 2)), ("1,2", (1, 2)), ("3,2", (3, 2)), ("2,1", (2, 1)), ("2,3", (2, 3))],
        *[("02,0003", (2, 3)), ("0" * 6000 + "2,3", (2, 3))],
    ],
)
def test_a_move_goes_to_a_neighbour_or_stays_and_leading_zeros_are_fine(answer: str, goes: tuple[int, int]) -> None:
    state = begun("S....\n.....\n.....\n.....\n....S\n", at=((2, 2), (0, 0)))
    assert rulings(move(state, answer)) == []
    assert place(state, 0) == goes


@pytest.mark.parametrize(
    "answer",
    [
        *[
            "2, 3",
            " 2,3",
            "2,3 ",
            "2,3\n",
            "+2,3",
            "-2,3",
            "2,-3",
            "2;3",
            "2,",
            ",3",
            "2",
            "",
            "2,3,4",
            "(2,3)",
            "2.0,3",
        ],
        *["٢,٣", "²,3", "\ud800,3", None, 23, 2.3, True, [2, 3], ["2,3"], {"row": 2, "col": 3}],
    ],
)
def test_a_malformed_move_stays_and_costs_nothing(answer: Any) -> None:
    state = begun("S....\n.....\n.....\n.....\n....S\n", at=((2, 2), (0, 0)))
    buy(state)
    events = state.apply({0: answer, 1: "0,0"})
    assert rulings(events) == [(0, "stays")]
    assert 'is no cell; wanted "row,col" in digits, such as "6,11"' in fault_of(events).detail
    assert told(events, "moved") == [Moved(((2, 2), (0, 0)), ((0, 0), (0, 0)))]
    assert state.score == [100, 100]


def test_an_illegal_move_is_refused_with_its_reason() -> None:
    state = begun("S#...\n....S\n")
    buy(state)
    assert refusal(state, 0, "0,1") == "'0,1' is blocked; wanted a free cell"
    assert refusal(state, 0, "2,0") == "'2,0' is off the map; rows are 0..1, columns 0..4"
    assert refusal(state, 0, "0,5") == "'0,5' is off the map; rows are 0..1, columns 0..4"
    assert refusal(state, 0, "9" * 5000 + ",0") == f"'{'9' * 60}'… is off the map; rows are 0..1, columns 0..4"
    assert refusal(state, 0, "1,1") == "(1,1) is 2 away from (0,0); without a power-up a move goes 1 far"
    assert refusal(state, 0, "6, 11") == '\'6, 11\' is no cell; wanted "row,col" in digits, such as "6,11"'


def test_a_bike_goes_three_steps_and_not_four() -> None:
    state = begun(LINE, at=((0, 10), (0, 40)))
    buy(state, "bike")
    assert [col for col in range(41) if refusal(state, 0, f"0,{col}") is None] == [7, 8, 9, 10, 11, 12, 13]
    assert refusal(state, 0, "0,14") == "(0,14) is 4 away from (0,10); a bike goes 3 far"


def test_a_bike_does_not_pass_walls_and_a_portal_gun_does() -> None:
    """The document's example."""
    state = begun("S#.", cells=[(0, 2)])
    buy(state, "bike")
    assert refusal(state, 0, "0,2") == (
        "(0,2) is 2 away from (0,0), but no path of 3 steps through free cells leads there"
    )
    gun = begun("S#.", cells=[(0, 2)])
    buy(gun, "portal gun")
    assert refusal(gun, 0, "0,2") is None


def test_distance_three_with_a_wall_in_between_is_not_enough_for_a_bike() -> None:
    around = begun("S.\n#.\n..\n.S\n")
    buy(around, "bike")
    assert refusal(around, 0, "2,1") is None
    assert refusal(around, 0, "3,0") == (
        "(3,0) is 3 away from (0,0), but no path of 3 steps through free cells leads there"
    )


def test_a_portal_gun_goes_to_any_free_cell_and_beats_the_bikes_limits() -> None:
    state = begun("S#.#\n####\n...S\n", score=(130, 100))
    buy(state, "bike")
    move(state)
    buy(state, "portal gun")
    assert list(state.legal(0)) == ["0,0", "0,2", "2,0", "2,1", "2,2", "2,3"]
    assert refusal(state, 0, "0,1") == "'0,1' is blocked; wanted a free cell"


def test_players_swap_cells_without_meeting() -> None:
    state = begun(at=((2, 0), (2, 1)))
    events = move(state, "2,1", "2,0")
    assert places(state) == ((2, 1), (2, 0))
    assert told(events, "moved") == [Moved(((2, 1), (2, 0)), ((0, 1), (0, -1)))]
    assert (asked(state), state.turn) == ("play_powerup", 1)


def test_neither_move_depends_on_the_other() -> None:
    state = begun(at=((2, 0), (2, 1)))
    move(state, "2,1", "9,9")
    assert places(state) == ((2, 1), (2, 1))
    assert asked(state) == "play_auction"


# Pick-up, count-down, end (section 4)


def test_a_player_picks_up_all_fruit_on_its_cell() -> None:
    state = begun(LINE, batches=[{(0, 0): "OSD", (0, 39): "S"}])
    wait(state, 20)
    events = move(state, None, "0,39")
    assert told(events, "picked_up") == [
        PickedUp(0, (0, 0), ("Onion", "Strawberry", "DragonFruit"), 142),
        PickedUp(1, (0, 39), ("Strawberry",), 110),
    ]
    assert told(events, "turn_ended") == [TurnEnded(20, ((0, 0), (0, 39)), (142, 110))]
    assert shown(state, 0)["items"] == [[0] * 41]


def test_fruit_on_a_spawn_waits_for_the_end_of_the_turn_that_puts_it_down() -> None:
    state = begun(LINE, batches=[{(0, 0): "D"}])
    wait(state, 20)
    params = shown(state, 0)
    assert (params["me"]["score"], params["items"][0][0]) == (100, 30)


@pytest.mark.parametrize(
    ("score", "result"),
    [
        ((101, 100), Result((1, 2), (101.0, 100.0), "points")),
        ((7, 8), Result((2, 1), (7.0, 8.0), "points")),
        ((50, 50), Result((1, 1), (50.0, 50.0), "equal_points")),
    ],
)
def test_after_the_last_turn_the_higher_score_wins(score: tuple[int, int], result: Result) -> None:
    state = begun(LINE, turns=3, score=score)
    wait(state, 2)
    assert shown(state, 0)["remaining_turns"] == 1
    events = move(state)
    assert state.result == result
    assert state.calls() == ()
    winner = None if result.ranks == (1, 1) else result.ranks.index(1)
    assert told(events, "game_ended") == [GameEnded(winner, score, [])]


def test_a_match_has_a_hundred_turns_by_default() -> None:
    assert Options().turns == 100
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"turns": 0}, Options)


def test_an_end_from_outside_ranks_by_points() -> None:
    state = begun(score=(10, 20))
    events = state.stop("match_time")
    assert state.result == Result((2, 1), (10.0, 20.0), "match_time")
    assert told(events, "game_ended") == [GameEnded(1, (10, 20), [])]


# Faults (section 9)


@pytest.mark.parametrize("kind", sorted(set(FaultKind) - FATAL))
def test_no_fault_ends_the_game_or_costs_points(kind: FaultKind) -> None:
    """A player that never answers stays and bids 0 to the end."""
    state = begun(LINE + "\n" + LINE, turns=40, cells=[(1, 5), (1, 9)])
    gone = Fault(kind, "as the referee saw it")
    penalties = set()
    while state.result is None:
        events = state.apply(dict.fromkeys(state.awaited, gone))
        penalties |= set(rulings(events))
    assert penalties == {(seat, cost) for seat in (0, 1) for cost in ("buys nothing", "stays", "bids 0")}
    assert state.result == Result((1, 1), (100.0, 100.0), "equal_points")
    assert places(state) == ((1, 5), (1, 9)), "the auction of turn 30 was a tie"
    assert told(events, "game_ended")[0].faults == [FaultCount(0, kind, 81), FaultCount(1, kind, 81)]


@pytest.mark.parametrize("kind", sorted(FATAL))
@pytest.mark.parametrize("gone", [0, 1])
def test_a_player_whose_process_has_ended_stays_and_bids_0_without_calls(gone: Player, kind: FaultKind) -> None:
    state = begun(LINE + "\n" + LINE, turns=40, cells=[(1, 5), (1, 9)])
    penalties, calls = [], set()
    while state.result is None:
        calls |= {(player, method.name) for player, method in state.awaited.items()}
        answers = {"play_powerup": "", "play_turn": named(place(state, 1 - gone)), "play_auction": "0"}
        faults = dict.fromkeys(state.awaited.keys() & {gone}, Fault(kind, "as the referee saw it"))
        events = state.apply(dict.fromkeys(state.awaited, answers[asked(state)]) | faults)
        penalties += rulings(events)
    assert penalties == [(gone, "buys nothing")]
    assert calls == {(gone, "play_powerup"), *((1 - gone, method) for method in answers)}
    assert state.result == Result((1, 1), (100.0, 100.0), "equal_points")
    assert places(state) == ((1, 5), (1, 9)), "the auction of turn 30 was a tie"
    assert told(events, "game_ended")[0].faults == [FaultCount(gone, kind, 1)]


def test_the_game_ends_by_points_when_both_processes_have_ended() -> None:
    state = begun(turns=100, score=(90, 100))
    gone = Fault(FaultKind.CRASH, "gone")
    state.apply({0: gone})
    assert list(state.awaited) == [1]
    events = state.apply({1: gone})
    assert state.result == Result((2, 1), (90.0, 100.0), "nobody_left")
    assert told(events, "game_ended")[0].winner == 1
    assert not state.awaited


def test_a_player_that_never_started_has_lost_whatever_the_points() -> None:
    state = begun(score=(100, 90))
    events = state.forfeit({0: Fault(FaultKind.TIMEOUT, "initialize: no answer")})
    assert rulings(events) == [(0, "loses")]
    assert state.result == Result((2, 1), (100.0, 90.0), "timeout")
    ended = told(events, "game_ended")[0]
    assert (ended.winner, ended.faults) == (1, [FaultCount(0, FaultKind.TIMEOUT, 1)])


def test_the_calls_of_the_first_three_turns_have_thirty_seconds_and_all_others_two() -> None:
    assert GAME.time == TimeControl(per_call_s=2.0, opening_call_s=30.0)
    state = begun("S...S", turns=5, at=((0, 1), (0, 2)))
    opening = []
    while state.result is None:
        opening.append((asked(state), state.turn, state.in_opening))
        if asked(state) == "play_turn":
            state.apply({0: "0,2", 1: "0,2"})
        else:  # player 0 wins every auction
            answers = {"play_powerup": "", "play_auction": 1, "play_transport": "0,3"}
            state.apply({player: answers[asked(state)] if player == 0 else "0" for player in state.awaited})
    assert {method for method, _, _ in opening} == {"play_powerup", "play_turn", "play_auction", "play_transport"}
    assert {turn for _, turn, granted in opening if granted} == {0, 1, 2}
    assert {turn for _, turn, granted in opening if not granted} == {3, 4}


def test_faults_are_counted_by_player_and_kind() -> None:
    state = begun(LINE, turns=2)
    late = Fault(FaultKind.TIMEOUT, "late")
    buy(state, "nothing", late)
    move(state, late, None)
    buy(state, "", "")
    events = move(state, late, [])
    assert told(events, "game_ended")[0].faults == [
        FaultCount(0, FaultKind.ILLEGAL, 1),
        FaultCount(0, FaultKind.TIMEOUT, 2),
        FaultCount(1, FaultKind.TIMEOUT, 1),
        FaultCount(1, FaultKind.ILLEGAL, 1),
    ]


def test_every_notice_is_of_its_declared_type_and_for_viewers_only() -> None:
    state = AIArena21(Setup(4, ("a", "b"), Options(map="S...\n....\n...S\n", turns=70)))
    events = state.opening()
    for number in range(1000):
        if not state.awaited:
            break
        sampled = {seat: list(state.legal(seat)) for seat in state.awaited}
        events += state.apply({seat: legal[number % len(legal)] for seat, legal in sampled.items()})
    notices = [event for event in events if isinstance(event, Notice)]
    assert {notice.method for notice in notices} == {name for name, method in METHODS.items() if method.result is None}
    for notice in notices:
        assert type(notice.params) is METHODS[notice.method].params
        assert notice.to == ()
