"""Arrays of positions and answers: complete, inside their spaces, and made from what the seat may see."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import referee
from referee.addons.rl.encoding import ChoiceEncoding, Encoding, FiniteEncoding, encoding_of
from referee.addons.rl.encodings.reantics import ReAnticsArrays
from referee.games.contract import State
from referee.games.dice import Dice
from referee.harness.seats.decision import Decision

GAMES = referee.game_names()
FINITE = ("aibg5", "cardgame", "connectfour", "quoridor", "tictactoe")
LISTED = ("aiarena21", "reantics")
TURNS = 120


def encoding(name: str) -> Encoding:
    return encoding_of(referee.game(name), referee.setup(name).options)


def positions(name: str, seed: int) -> Iterator[State]:
    """The positions of a match, with illegal answers now and then."""
    state, dice = referee.new(name, seed=seed, **referee.game(name).ending), Dice(seed)
    for _ in range(TURNS):
        if state.result is not None:
            return
        yield state
        slip = dice.below(12) == 0 and name in FINITE
        state.apply({player: {} if slip else state.sample(player, dice) for player in state.awaited})


def decisions(name: str, seed: int) -> Iterator[Decision]:
    """The calls of such a match that need an action."""
    asked = encoding(name).asked
    for state in positions(name, seed):
        for call in state.calls():
            if call.method.name in asked:
                yield Decision(state, call, Dice(1))


@pytest.mark.parametrize("name", FINITE)
def test_a_mask_has_every_legal_answer_and_no_other(name: str) -> None:
    arrays, seen = encoding(name), 0
    assert isinstance(arrays, FiniteEncoding)
    for seed in range(3):
        for decision in decisions(name, seed):
            mask = arrays.observation(decision.view, decision.player, decision)["action_mask"]
            legal = list(decision.legal())
            assert sorted(np.flatnonzero(mask)) == sorted(arrays.legal(decision))
            assert [arrays.answer(action, decision) for action in arrays.legal(decision)] == legal
            seen += len(legal)
    assert seen > 100


@pytest.mark.parametrize("name", GAMES)
@given(seed=st.integers(0, 2**64 - 1), luck=st.integers(0, 2**32 - 1))
@settings(max_examples=6, deadline=None)
def test_legal_actions_of_every_game_are_legal_answers(name: str, seed: int, luck: int) -> None:
    """A match that is played by numbers of the mask. Where answers are listed, every number of the space will do."""
    arrays, draw = encoding(name), np.random.default_rng(luck)
    state = referee.new(name, seed=seed, **referee.game(name).ending)
    for _ in range(TURNS):
        if state.result is not None:
            break
        answers: dict[int, Any] = dict.fromkeys(state.awaited)
        for call in state.calls():
            if call.method.name in arrays.asked:
                decision = Decision(state, call, Dice(1))
                seen = arrays.observation(decision.view, decision.player, decision)
                legal = np.flatnonzero(seen["action_mask"])
                assert legal.tolist() == sorted(arrays.legal(decision)) and len(legal)
                listed = isinstance(arrays, ChoiceEncoding)
                action = draw.integers(arrays.actions) if listed else draw.choice(legal)
                answers[call.player] = arrays.answer(action, decision)
                assert state.check(call.player, answers[call.player]) is None
                msgspec.json.encode(answers[call.player])  # a replay can hold it
        state.apply(answers)


@pytest.mark.parametrize("name", LISTED)
def test_rows_of_the_list_tell_its_answers_apart_and_follow_from_what_the_seat_sees(name: str) -> None:
    arrays, seen = encoding(name), 0
    assert isinstance(arrays, ChoiceEncoding)
    for seed in range(3):
        for decision in decisions(name, seed):
            observation = arrays.observation(decision.view, decision.player, decision)
            count = observation["action_mask"].sum()
            rows, rest = observation["legal"][:count], observation["legal"][count:]
            assert len(np.unique(rows, axis=0)) == count > 0 and not rest.any() and rows.shape[1] == len(arrays.parts)
            answers = [arrays.answer(action, decision) for action in range(arrays.actions)]
            assert all(answer == answers[number % count] for number, answer in enumerate(answers)), "it counts on"
            seen += 1
    assert seen > 100


def test_a_piece_of_reantics_may_go_where_the_rules_allow_it_and_nowhere_else() -> None:
    arrays = reantics()
    checked = 0
    for decision in decisions("reantics", 5):
        if decision.call.method.name == "getPlacement":
            tiles = {to for _, _, to in arrays.choices(decision)}
            allowed = {10 * y + x for x in range(10) for y in range(10) if not refused(decision, [(x, y)])}
            assert tiles == allowed
            checked += 1
    assert checked >= 2


def refused(decision: Decision, answer: Any) -> bool:
    return decision._state.check(decision.player, answer) is not None


def reantics() -> ReAnticsArrays:
    arrays = encoding("reantics")
    assert isinstance(arrays, ReAnticsArrays)
    return arrays


def test_every_end_of_a_path_of_reantics_is_an_action() -> None:
    arrays = reantics()
    for decision in decisions("reantics", 6):
        if decision.call.method.name == "getMove":
            ends = {
                (move.moveType, move.buildType, move.coordList and (move.coordList[0], move.coordList[-1]))
                for move in decision.legal()
            }
            assert len(arrays.legal(decision)) == len(ends)


@pytest.mark.parametrize("name", GAMES)
def test_observations_of_all_seats_are_inside_their_space(name: str) -> None:
    arrays = encoding(name)
    space = arrays.observation_space()
    assert arrays.shape[0] == len(arrays.channels) == len(set(arrays.channels))
    for state in positions(name, 4):
        asked = {call.player: Decision(state, call, Dice(1)) for call in state.calls()}
        asked = {player: each for player, each in asked.items() if each.call.method.name in arrays.asked}
        seen = [(state.view(player), player, asked.get(player)) for player in range(len(state.setup.names))]
        single = [arrays.observation(*each) for each in seen]
        assert all(observation in space for observation in single)
        for key, values in arrays.batch(seen).items():
            assert np.array_equal(values, np.stack([observation[key] for observation in single]))


def test_a_tunnel_on_which_an_enemy_stays_is_inside_the_space() -> None:
    """Its `captureHealth` goes below zero, without end (reantics.md, 6)."""
    arrays = encoding("reantics")
    state = [*positions("reantics", 4)][-1]
    state.tunnel_health[:] = [-7, -8]  # type: ignore[attr-defined]
    assert "-8" in msgspec.json.encode(state.view(0)).decode()
    assert all(arrays.observation(state.view(player), player, None) in arrays.observation_space() for player in (0, 1))


@pytest.mark.parametrize("name", ["aibg5", "aiarena21", "cardgame", "reantics"])
def test_what_is_hidden_from_a_seat_changes_nothing_that_it_observes(name: str) -> None:
    """`copy(seed)` deals again what the seats that are asked cannot know: hands, decks, layouts and all luck."""
    arrays, differ = encoding(name), 0
    for decision in decisions(name, 7):
        state = decision._state
        for seed in (1, 2):
            other = state.copy(seed)
            differ += other.key() != state.key()
            (call,) = [each for each in other.calls() if each.player == decision.player]
            twin = Decision(other, call, Dice(1))
            seen = arrays.observation(decision.view, decision.player, decision)
            assert same(seen, arrays.observation(twin.view, decision.player, twin))
            assert arrays.legal(decision) == arrays.legal(twin)
    assert differ >= 8


def same(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_player_two_of_reantics_does_not_see_where_player_one_builds() -> None:
    arrays = encoding("reantics")
    state = referee.new("reantics")
    seen = []
    for seed in (1, 2):
        other = state.copy()
        other.apply({0: other.sample(0, Dice(seed))})
        (call,) = other.calls()
        seen.append(arrays.observation(other.view(1), 1, Decision(other, call, Dice(1))))
    assert same(*seen)


def test_an_encoding_reads_the_view_alone() -> None:
    """A view that was written as JSON and read again, as a program gets it, gives the same array."""
    for name in GAMES:
        arrays, game = encoding(name), referee.game(name)
        for number, state in enumerate(positions(name, 8)):
            if number % 10 == 0:
                player = next(iter(state.awaited))
                view = state.view(player)
                read = msgspec.json.decode(msgspec.json.encode(view), type=game.seat_view or game.view)
                assert np.array_equal(arrays.observe(view, player), arrays.observe(read, player))


def test_the_arrays_of_connect_four_have_the_size_of_its_board() -> None:
    env = referee.rl.aec("connectfour", columns=5, rows=4, inarow=3)
    env.reset(seed=1)
    seen = env.observe("player_0")
    assert (seen["observation"].shape, env.action_space("player_0").n) == ((3, 4, 5), 6)
    for column in (0, 1, 0, 1, 0):
        env.step(column)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}


def test_a_game_without_arrays_says_so_and_a_package_names_its_own() -> None:
    game = msgspec.structs.replace(referee.game("tictactoe"), name="noughts")
    with pytest.raises(referee.UsageError, match="noughts has no arrays for training"):
        encoding_of(game, None)
    named = msgspec.structs.replace(game, encoding="referee.addons.rl.encodings.tictactoe")
    assert encoding_of(named, None).shape == (3, 3, 3)
