"""Answers and events in the games' own notation."""

from itertools import islice
from types import NoneType
from typing import Any

import msgspec
import pytest
from test_every_game import reached

from referee.games import registry
from referee.games.contract import Setup, State
from referee.games.game import Game

OURS = [registry.game(name) for name in registry.own_names()]
every_game = pytest.mark.parametrize("game", OURS, ids=lambda game: game.name)


def told(name: str, state: State, answer: Any) -> str | None:
    (call, *_) = state.calls()
    return registry.game(name).presentation.in_words(call, answer)


def new(name: str, **options: Any) -> State:
    game = registry.game(name)
    return game.new(Setup(5, ("one", "two", "three", "four")[: game.seats.start], game.options(**options)))


@every_game
def test_every_legal_answer_has_words_of_its_own(game: Game) -> None:
    """So a person who is shown the words can choose by them."""
    for nth in (0, 1, 2, 5, 11, 23, 47, 95):
        state = reached(game, 3, nth)
        for call in state.calls():
            if call.method.result is not NoneType:
                answers = list(islice(state.legal(call.player), 150))
                words = [game.presentation.in_words(call, answer) for answer in answers]
                assert None not in words, (answers[words.index(None)], str(state))
                assert len(set(words)) == len(words)


@every_game
@pytest.mark.parametrize("answer", [None, 7, "x", "move,1", [], [3, [99, 99]], {"action": "fly"}, {"moveType": 0}, {}])
def test_an_answer_that_is_none_has_no_words_and_does_no_harm(game: Game, answer: Any) -> None:
    state = reached(game, 3, 30)
    for call in state.calls():
        if call.method.result is not NoneType:
            words = game.presentation.in_words(call, answer)
            assert words is None or state.check(call.player, answer) is None or isinstance(answer, int | str)


@every_game
def test_every_event_of_a_match_is_told_or_left_as_it_is(game: Game) -> None:
    state = reached(game, 1, 0)
    names = state.setup.names
    for _ in range(60):
        if not state.awaited:
            break
        events = state.apply({player: state.sample(player, state.dice.copy()) for player in state.awaited})
        for event in msgspec.to_builtins(events):
            if event["event"] == "notice":
                words = game.presentation.event(event["method"], event["params"], names)
                assert words is None or "{" not in words


def test_reantics_is_told_in_the_frame_of_the_board_for_both_players() -> None:
    state = new("reantics", random_layout=(True, True))
    assert told("reantics", state, {"moveType": 2, "coordList": None, "buildType": None}) == "ends the turn"
    ant = state.calls()[0].params.currentState.inventories[0].ants[0]
    kind = ("queen", "worker")[ant.type]
    x, y = ant.coords
    move = {"moveType": 0, "coordList": [[x, y], [x, y + 1]], "buildType": None}
    assert told("reantics", state, move) == f"{kind} ({x},{y}) → ({x},{y + 1})"
    state.apply({0: {"moveType": 2, "coordList": None, "buildType": None}})
    ant = state.calls()[0].params.currentState.inventories[1].ants[0]
    x, y = ant.coords
    move = {"moveType": 0, "coordList": [[x, y]], "buildType": None}
    assert told("reantics", state, move) == f"{('queen', 'worker')[ant.type]} ({9 - x},{9 - y})"


def test_a_placement_names_its_pieces() -> None:
    state = new("reantics")
    tiles = [[x, y] for y in (0, 1) for x in range(10)][:11]
    words = told("reantics", state, tiles)
    assert words == "anthill (0,0), tunnel (1,0), grass (2,0) (3,0) (4,0) (5,0) (6,0) (7,0) (8,0) (9,0) (0,1)"


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("tictactoe", {"action": "putSymbol", "position": "NW"}, "O to NW"),
        ("quoridor", {"action": "move", "position": "e2"}, "first to e2"),
        ("quoridor", {"action": "putWall", "position": "e3h"}, "first wall e3h"),
        ("quoridor", {"action": "(╯°□°)╯︵ ┻━┻"}, "first flips the table"),
        ("connectfour", {"action": "putToken", "column": "D"}, "🔴 to D"),
        ("aiarena21", "bike", "buys a bike"),
        ("aiarena21", "", "buys nothing"),
    ],
)
def test_first_answers(name: str, answer: Any, words: str) -> None:
    assert told(name, new(name), answer) == words


def test_cards_and_minions_are_named() -> None:
    state = new("cardgame")
    state.apply({0: None, 1: None})
    places = {told("cardgame", state, [1, [index]]) for index in range(3)}
    assert None not in places and all(words.startswith("places ") for words in places if words)
    assert told("cardgame", state, [4, []]) == "ends the turn"
    assert told("cardgame", state, [1, [40]]) is None


def test_aibg_names_players_where_the_wire_numbers_them() -> None:
    said = registry.game("aibg5").presentation.event
    names = ("a", "b", "c", "d")
    shot = {"playerIdx": 1, "q": -7, "r": -4, "hit": "ASTEROID"}
    assert said("shot", shot, names) == "a hits an asteroid at (-7,-4)"
    assert said("died", {"playerIdx": 4, "by": None, "q": 1, "r": 2}, names) == (
        "d is killed by the boss and starts again at (1,2)"
    )
    blow = {"pattern": "A", "direct": [2], "struck": []}
    assert said("bossAttack", blow, names) == "the boss: pattern A; a direct hit on b"


@every_game
def test_the_score_has_a_number_for_every_seat_in_every_position(game: Game) -> None:
    score = game.presentation.score
    assert score is not None
    for kind in range(4):
        for nth in range(0, 40, 3):
            state = reached(game, kind, nth)
            assert len(score.count(state)) == len(state.setup.names)


@pytest.mark.parametrize("name", ["aiarena21", "aibg5"])
def test_the_score_of_a_game_for_points_ends_as_its_result(name: str) -> None:
    game, state = registry.game(name), new(name, **registry.game(name).short)
    assert game.presentation.score is not None
    while state.result is None:
        state.apply({player: state.sample(player, state.dice.copy()) for player in state.awaited})
    assert tuple(game.presentation.score.count(state)) == state.result.scores


def test_the_score_of_quoridor_counts_steps_around_walls() -> None:
    game, state = registry.game("quoridor"), new("quoridor")
    assert game.presentation.score is not None
    assert list(game.presentation.score.count(state)) == [8, 8]
    state.apply({0: {"action": "putWall", "position": "e8h"}})
    assert list(game.presentation.score.count(state)) == [9, 9]
    state.apply({1: {"action": "move", "position": "d9"}})
    assert list(game.presentation.score.count(state)) == [9, 8]


def test_the_score_of_connect_four_counts_cells_that_complete_a_line() -> None:
    game, state = registry.game("connectfour"), new("connectfour")
    assert game.presentation.score is not None
    for player, column in enumerate("CCDDE"):
        state.apply({player % 2: {"action": "putToken", "column": column}})
    assert list(game.presentation.score.count(state)) == [2, 0], "B1 and F1"
    for player, column in enumerate("EF", start=1):
        state.apply({player % 2: {"action": "putToken", "column": column}})
    assert list(game.presentation.score.count(state)) == [3, 2], "the line, B1 and G1; B2 and F2"


def test_the_score_of_reantics_counts_food_and_what_ants_cost() -> None:
    game, state = registry.game("reantics"), new("reantics", random_layout=(True, True))
    assert game.presentation.score is not None
    assert list(game.presentation.score.count(state)) == [2, 2], "a worker and one food each"
