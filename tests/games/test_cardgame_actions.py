"""The card game, section 5: the five actions, when each is valid, and how an answer is read."""

import copy
from typing import Any

import msgspec
import pytest
from cardgame_positions import act, duel, end_turn, fresh, healths, ids, minion, refused

from referee.games.cardgame import (
    ALPHA,
    ARCANE_SHOT,
    ATTACK,
    COBRA,
    COST,
    DEADLY_SHOT,
    END_TURN,
    FIREBALL,
    HERO_POWER,
    HOUNDS,
    KILL_COMMAND,
    MOLE,
    PLACE_MINION,
    PLAY_SPELL,
    RAPTOR,
    RHINO,
    SNAPJAW,
    ULTRASAUR,
    Action,
    CardGame,
)
from referee.games.contract import FaultKind
from referee.games.dice import Dice

# The hero power (0)


def test_the_hero_power_costs_2_mana_and_2_of_the_enemys_health() -> None:
    state = duel(mana=2)
    act(state, HERO_POWER)
    assert (healths(state), state.sides[0].mana) == ((30, 28), 0)


def test_the_hero_power_can_be_used_once_a_turn() -> None:
    state = duel()
    act(state, HERO_POWER)
    assert refused(state, [HERO_POWER, []]) == "the hero power was used in this turn"
    end_turn(state)
    act(state, HERO_POWER)
    assert healths(state) == (30, 26)


def test_the_hero_power_with_one_mana_is_refused() -> None:
    assert refused(duel(mana=1), [HERO_POWER, []]) == "the hero power costs 2 mana; you have 1"


# Placing minions (1)


def test_a_minion_arrives_at_the_right_end_and_the_hand_closes_up() -> None:
    state = duel([MOLE, RAPTOR, COBRA], [ALPHA, SNAPJAW], mana=5)
    act(state, PLACE_MINION, 1)
    assert ids(state, 0) == [ALPHA, SNAPJAW, RAPTOR]
    assert state.sides[0].hand == (MOLE, COBRA)
    assert state.sides[0].mana == 3
    assert state.sides[0].board[2] == fresh(RAPTOR)


@pytest.mark.parametrize(("index", "words"), [(2, "2; wanted 0..1"), (-1, "-1; wanted 0..1"), (9**99, "64 bits")])
@pytest.mark.parametrize("action", [PLACE_MINION, PLAY_SPELL])
def test_a_hand_index_out_of_range_is_refused(action: int, index: int, words: str) -> None:
    assert words in refused(duel([MOLE, FIREBALL]), [action, [index, 0]])


def test_any_card_of_an_empty_hand_is_refused() -> None:
    assert refused(duel(), [PLACE_MINION, [0]]) == "the hand index is 0; your hand is empty"


@pytest.mark.parametrize(("action", "card"), [(PLACE_MINION, RAPTOR), (PLAY_SPELL, FIREBALL)])
def test_a_card_is_paid_to_the_last_mana_and_refused_one_below(action: int, card: int) -> None:
    state = duel([card], mana=COST[card])
    act(state, action, 0, 0)
    assert state.sides[0].mana == 0
    words = refused(duel([card], mana=COST[card] - 1), [action, [0, 0]])
    assert words.endswith(f"costs {COST[card]} mana; you have {COST[card] - 1}")


def test_a_board_takes_seven_minions_and_no_eighth() -> None:
    state = duel([MOLE, MOLE], [MOLE] * 6)
    act(state, PLACE_MINION, 0)
    assert len(ids(state, 0)) == 7
    assert refused(state, [PLACE_MINION, [0]]) == "no room for Mole: your board is full"


def test_a_spell_is_not_placed_and_a_minion_is_not_played() -> None:
    words = refused(duel([FIREBALL]), [PLACE_MINION, [0]])
    assert words == "card 0 of your hand is Fireball, a spell; action 1 places minions"
    words = refused(duel([MOLE]), [PLAY_SPELL, [0, 0]])
    assert words == "card 0 of your hand is Mole, a minion; action 2 plays spells"


# Spells (2)


def test_a_spell_that_is_played_is_paid_and_gone() -> None:
    state = duel([MOLE, FIREBALL, COBRA], mana=7)
    act(state, PLAY_SPELL, 1, 0)
    assert state.sides[0].hand == (MOLE, COBRA)
    assert state.sides[0].mana == 3


@pytest.mark.parametrize("card", [ARCANE_SHOT, FIREBALL, KILL_COMMAND])
@pytest.mark.parametrize("target", [-1, 3, None, True, 1.0, "1", [1]])
def test_a_target_out_of_range_or_no_integer_is_refused(card: int, target: Any) -> None:
    assert "target index is" in refused(duel([card], [], [MOLE, MOLE]), [PLAY_SPELL, [0, target]])


@pytest.mark.parametrize("arguments", [0, [0]])
def test_an_aimed_spell_needs_a_target(arguments: Any) -> None:
    words = refused(duel([FIREBALL], [], [MOLE]), [PLAY_SPELL, arguments])
    assert words == "Fireball needs a target index; wanted [hand index, target index]"


@pytest.mark.parametrize("card", [DEADLY_SHOT, HOUNDS])
def test_deadly_shot_and_hounds_need_an_enemy_minion(card: int) -> None:
    assert "needs an enemy minion; there is none" in refused(duel([card]), [PLAY_SPELL, [0]])


def test_hounds_need_a_free_place_and_deadly_shot_does_not() -> None:
    full = duel([HOUNDS, DEADLY_SHOT], [MOLE] * 7, [MOLE])
    assert refused(full.copy(), [PLAY_SPELL, [0]]) == "no room for Hounds: your board is full"
    act(full, PLAY_SPELL, 1)
    assert ids(full, 1) == []


# Attacks (3)


@pytest.mark.parametrize("source", [-1, 3, True, 1.0, None, "1"])
def test_a_source_out_of_range_or_no_integer_is_refused(source: Any) -> None:
    assert "source index is" in refused(duel([], [MOLE, MOLE], [MOLE]), [ATTACK, [source, 0]])


@pytest.mark.parametrize("target", [-1, 2, False, 0.0, None])
def test_a_target_of_an_attack_out_of_range_or_no_integer_is_refused(target: Any) -> None:
    assert "target index is" in refused(duel([], [MOLE], [MOLE]), [ATTACK, [1, target]])


def test_a_hero_cannot_attack() -> None:
    assert refused(duel([], [MOLE]), [ATTACK, [0, 0]]) == "source index 0 is your hero, who cannot attack"


def test_a_fresh_minion_cannot_attack() -> None:
    words = refused(duel([], [MOLE, fresh(COBRA)]), [ATTACK, [2, 0]])
    assert words == "your minion 2, Cobra, has to wait for your next turn"


def test_a_tired_minion_cannot_attack() -> None:
    words = refused(duel([], [minion(COBRA, attacks=1)]), [ATTACK, [1, 0]])
    assert words == "your minion 1, Cobra, has attacked in this turn"


def test_every_enemy_may_be_attacked_and_target_0_is_the_hero() -> None:
    for target, left in ((0, [MOLE, SNAPJAW, RHINO]), (1, [SNAPJAW, RHINO]), (2, [MOLE, RHINO]), (3, [MOLE, SNAPJAW])):
        state = duel([], [ULTRASAUR], [MOLE, SNAPJAW, RHINO])
        act(state, ATTACK, 1, target)
        assert ids(state, 1) == left
        assert healths(state) == (30, 23 if target == 0 else 30)


# How an answer is read (5.2)


@pytest.mark.parametrize(
    "answer",
    [
        *(None, True, 4, 4.0, "4", "[4]", {}, {"action": 4}, {"0": 4}, [], [None]),
        *([True], [False, []], [4.0], [1.0, [0]], ["4"], ["4", []], [[4]], [[4, []]], [{}]),
        *([-1], [-1, [0]], [5], [5, [0]], [10**30]),
    ],
    ids=repr,
)
def test_an_answer_that_does_not_begin_with_an_integer_0_to_4_is_refused(answer: Any) -> None:
    assert refused(duel([MOLE], [], [MOLE]), answer).startswith(("the answer is", "the action is"))


@pytest.mark.parametrize("rest", [(), (None,), ([],), ([None, None],), ("x", 1.5), ([[[]]],), ({},)], ids=repr)
@pytest.mark.parametrize("action", [HERO_POWER, END_TURN])
def test_arguments_of_the_hero_power_and_the_end_of_the_turn_are_ignored(action: int, rest: tuple[Any, ...]) -> None:
    assert played(duel(), [action, *rest]) == played(duel(), [action, []])


@pytest.mark.parametrize("arguments", [[0], 0, [0, None], [0, 99, "x"], (0, None)], ids=repr)
def test_a_minion_is_placed_by_a_list_or_a_bare_integer(arguments: Any) -> None:
    assert played(duel([MOLE]), [PLACE_MINION, arguments]) == played(duel([MOLE]), [PLACE_MINION, [0]])


@pytest.mark.parametrize("arguments", [None, [], [None], [True], [0.0], ["0"], [[0]], True, 0.0, "0", {}, {"0": 0}])
@pytest.mark.parametrize("action", [PLACE_MINION, PLAY_SPELL])
def test_a_hand_index_that_is_no_integer_is_refused(action: int, arguments: Any) -> None:
    assert "hand index is" in refused(duel([MOLE, MOLE]), [action, arguments])


@pytest.mark.parametrize("action", [PLACE_MINION, PLAY_SPELL, ATTACK])
def test_an_action_that_needs_arguments_is_refused_without_them(action: int) -> None:
    assert "wanted" in refused(duel([MOLE], [MOLE]), [action])


@pytest.mark.parametrize("card", [DEADLY_SHOT, HOUNDS])
@pytest.mark.parametrize("arguments", [[0], 0, [0, None], [0, 7], [0, -1], [0, "x", []]], ids=repr)
def test_the_target_of_deadly_shot_and_hounds_is_ignored(card: int, arguments: Any) -> None:
    def state() -> CardGame:
        return duel([card], [], [MOLE, COBRA])

    assert played(state(), [PLAY_SPELL, arguments]) == played(state(), [PLAY_SPELL, [0]])


def test_surplus_arguments_are_ignored() -> None:
    for answer, extra in (
        ([PLAY_SPELL, [0, 1]], [PLAY_SPELL, [0, 1, 9], "x"]),
        ([ATTACK, [1, 1]], [ATTACK, [1, 1, None], None]),
    ):
        assert played(duel([FIREBALL], [MOLE], [MOLE]), extra) == played(duel([FIREBALL], [MOLE], [MOLE]), answer)


@pytest.mark.parametrize("arguments", [1, [1], [], None, "10", {"source": 1, "target": 0}])
def test_an_attack_needs_a_list_of_two(arguments: Any) -> None:
    words = refused(duel([], [MOLE]), [ATTACK, arguments])
    assert words.endswith("wanted [source index, target index]")


def test_the_documented_type_is_as_good_as_the_list() -> None:
    for action in (Action(END_TURN), Action(PLACE_MINION, [0]), Action(PLAY_SPELL, [1, 0]), Action(ATTACK, [1, 0])):
        plain = msgspec.to_builtins(action)
        assert isinstance(plain, list)
        assert played(duel([MOLE, FIREBALL], [MOLE]), action) == played(duel([MOLE, FIREBALL], [MOLE]), plain)
    fault = duel().check(0, Action(ATTACK, [1, 0]))
    assert fault is not None
    assert fault.kind is FaultKind.ILLEGAL


# The legal actions


def test_the_legal_actions_are_in_their_documented_order() -> None:
    state = duel([FIREBALL, MOLE, HOUNDS, ULTRASAUR, COBRA], [MOLE, fresh(MOLE), RAPTOR], [MOLE], mana=4)
    assert list(state.legal(0)) == [
        [HERO_POWER, []],
        [PLACE_MINION, [1]],
        [PLACE_MINION, [4]],
        [PLAY_SPELL, [0, 0]],
        [PLAY_SPELL, [0, 1]],
        [PLAY_SPELL, [2]],
        [ATTACK, [1, 0]],
        [ATTACK, [1, 1]],
        [ATTACK, [3, 0]],
        [ATTACK, [3, 1]],
        [END_TURN, []],
    ]


def test_on_a_full_board_neither_minions_nor_hounds_are_legal() -> None:
    state = duel([HOUNDS, DEADLY_SHOT, MOLE], [fresh(MOLE)] * 7, [MOLE], mana=3)
    assert list(state.legal(0)) == [[HERO_POWER, []], [PLAY_SPELL, [1]], [END_TURN, []]]


def test_the_legal_actions_are_exactly_those_that_pass_the_check() -> None:
    """Every action with every pair of indices that could mean anything, in positions of random games."""
    dice, seen = Dice(3), 0
    for seed in range(4):
        state = duel(hand=[MOLE, HOUNDS, FIREBALL], enemies=[MOLE], deck=[3, 12, 2, 5, 14, 7, 10, 13, 9], seed=seed)
        for _ in range(60):
            if state.result is not None:
                break
            (player,) = state.awaited
            legal = list(state.legal(player))
            assert legal == [answer for answer in conceivable(state, player) if state.check(player, answer) is None]
            seen += len(legal)
            state.apply({player: dice.choice(legal)})
    assert seen > 500


def conceivable(state: CardGame, player: int) -> list[list[Any]]:
    own, enemies = state.sides[player], state.sides[1 - player].board
    answers: list[list[Any]] = [[HERO_POWER, []]]
    answers += [[PLACE_MINION, [index]] for index in range(-1, 11)]
    for index in range(-1, 11):
        if 0 <= index < len(own.hand) and own.hand[index] in (DEADLY_SHOT, HOUNDS):
            answers.append([PLAY_SPELL, [index]])
        else:
            answers += [[PLAY_SPELL, [index, target]] for target in range(-1, len(enemies) + 3)]
    answers += [[ATTACK, [source, target]] for source in range(-1, 9) for target in range(-1, len(enemies) + 3)]
    return [*answers, [END_TURN, []]]


def played(state: CardGame, answer: Any) -> bytes:
    """The position after a valid answer."""
    kept = copy.deepcopy(answer)
    assert state.check(0, answer) is None
    assert state.apply({0: answer}) == []
    assert answer == kept
    return state.key()
