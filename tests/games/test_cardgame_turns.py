"""The card game, sections 1 to 4, 8 and 9: the cards, set-up, turns, drawing, the end."""

from collections import Counter

import pytest
from cardgame_positions import act, begun, duel, end_turn, healths, ids, minion, ready, refused, shown, started

from referee.games.cardgame import (
    ALPHA,
    ARCANE_SHOT,
    ATTACK,
    ATTACKS,
    COBRA,
    COST,
    CUB,
    DEADLY_SHOT,
    DECK,
    END_TURN,
    FIREBALL,
    HATCHLING,
    HEALTH,
    HERO_POWER,
    HIGHMANE,
    HOUND,
    HOUNDS,
    KILL_COMMAND,
    LABELS,
    MOLE,
    PLACE_MINION,
    PLAY_SPELL,
    RAPTOR,
    RHINO,
    SCAVENGER,
    SNAPJAW,
    TIMBER_WOLF,
    ULTRASAUR,
    CardGame,
)
from referee.games.contract import Result
from referee.games.dice import Dice

TABLE = """
    0  2 1 3  1  Mole
    1  2 2 3  3  Cobra
    2  2 - -  3  Deadly Shot
    3  1 - -  2  Arcane Shot
    4  1 1 1  1  Hatchling
    5  1 2 5  5  Rhino
    6  2 2 7  4  Snapjaw
    7  2 1 1  1  Timber Wolf
    8  2 3 2  2  Raptor
    9  1 - -  4  Fireball
    10 2 7 14 10 Ultrasaur
    11 1 2 2  2  Scavenger
    12 1 - -  3  Kill Command
    13 1 - -  3  Hounds
    14 2 6 5  6  Highmane
    15 2 2 2  2  Alpha
    16 0 1 1  1  Hound
    17 0 2 2  2  Cub
"""
"""Section 1.1: id, copies, attack, health, cost, label."""


def test_the_cards_are_those_of_the_table() -> None:
    for line in TABLE.strip().splitlines():
        number, copies, attack, health, cost, label = line.split(maxsplit=5)
        card = int(number)
        printed = [0 if value == "-" else int(value) for value in (attack, health)]
        assert (ATTACKS[card], HEALTH[card], COST[card], LABELS[card]) == (*printed, int(cost), label)
        assert DECK.count(card) == int(copies)
    assert len(DECK) == 25
    names = [MOLE, COBRA, DEADLY_SHOT, ARCANE_SHOT, HATCHLING, RHINO, SNAPJAW, TIMBER_WOLF, RAPTOR, FIREBALL]
    names += [ULTRASAUR, SCAVENGER, KILL_COMMAND, HOUNDS, HIGHMANE, ALPHA, HOUND, CUB]
    assert names == list(range(18))


# Set-up (section 2)


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_player_is_dealt_three_cards_and_the_other_four_out_of_25_each(first: int) -> None:
    state = begun(first=first)
    assert list(state.awaited) == [0, 1]
    assert [len(state.sides[seat].hand) for seat in (first, 1 - first)] == [3, 4]
    for side in state.sides:
        assert Counter(side.hand + side.deck) == Counter(DECK)
        assert (side.health, side.mana, side.max_mana, side.fatigue, side.board) == (30, 0, 0, 0, ())


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_players_deck_is_shuffled_before_the_others_and_nothing_else_is_random(first: int) -> None:
    dice, state = Dice(5), begun(5, first=first)
    for seat in (first, 1 - first):
        deck = list(DECK)
        dice.shuffle(deck)
        assert state.sides[seat].hand + state.sides[seat].deck == tuple(deck)
    assert state.dice.state == dice.state


# A turn (section 3)


@pytest.mark.parametrize("first", [0, 1])
def test_both_players_have_one_mana_in_their_first_turn_and_four_or_five_cards(first: int) -> None:
    state = started(first=first)
    for seat, cards in ((first, 4), (1 - first, 5)):
        assert list(state.awaited) == [seat]
        view = shown(state, seat)
        assert (view["player_mana"], len(view["player_hand"])) == (1, cards)
        end_turn(state)


def test_mana_grows_by_one_crystal_a_turn_up_to_ten_and_is_filled_up_at_the_own_turns_start_only() -> None:
    state = duel(mana=0)
    state.sides[0].max_mana = state.sides[1].max_mana = 0
    seen = []
    for _ in range(12):
        end_turn(state, 2)
        seen.append(shown(state, 0)["player_mana"])
        state.sides[0].mana -= 1
        assert state.sides[0].max_mana == seen[-1]
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]


def test_the_opponents_mana_is_what_it_had_left_and_0_before_its_first_turn() -> None:
    state = started()
    assert shown(state, 0)["opponent_mana"] == 0
    end_turn(state)
    assert shown(state, 1)["opponent_mana"] == 1
    state = duel(mana=5)
    act(state, HERO_POWER)
    end_turn(state)
    assert shown(state, 1)["opponent_mana"] == 3


def test_at_every_turns_start_all_minions_are_a_turn_older_and_may_attack_again() -> None:
    state = duel(board=[minion(MOLE, turns=0)], enemies=[minion(MOLE, turns=4, attacks=1)])
    for age in (1, 2, 3):
        end_turn(state)
        assert state.sides[0].board[0].turns_in_play == age
        assert state.sides[1].board[0].turns_in_play == 4 + age
        assert state.sides[1].board[0].attacks == 0


def test_a_new_minion_waits_until_the_owners_next_turn_and_attacks_once_a_turn() -> None:
    state = duel([MOLE])
    act(state, PLACE_MINION, 0)
    assert ready(state, 0) == [False]
    end_turn(state)
    assert ready(state, 0) == [False], "it is not its owner's turn"
    end_turn(state)
    assert ready(state, 0) == [True]
    act(state, ATTACK, 1, 0)
    assert ready(state, 0) == [False]
    assert "has attacked in this turn" in refused(state, [ATTACK, [1, 0]])


def test_the_same_player_is_asked_again_until_it_ends_its_turn() -> None:
    state = duel([MOLE], [MOLE], [MOLE])
    for action in ((HERO_POWER,), (PLACE_MINION, 0), (ATTACK, 1, 1)):
        act(state, *action)
        assert list(state.awaited) == [0]
    end_turn(state)
    assert list(state.awaited) == [1]


def test_a_player_without_a_useful_action_is_still_asked() -> None:
    state = duel(mana=2)
    act(state, HERO_POWER)
    assert list(state.awaited) == [0]
    assert list(state.legal(0)) == [[END_TURN, []]]


# Drawing (section 4)


def test_a_card_goes_to_the_right_end_of_the_hand() -> None:
    state = duel(rival_hand=[COBRA, RHINO], rival_deck=[FIREBALL, MOLE])
    end_turn(state)
    assert state.sides[1].hand == (COBRA, RHINO, FIREBALL)
    assert state.sides[1].deck == (MOLE,)


@pytest.mark.parametrize(("held", "then"), [(9, 10), (10, 10)])
def test_a_card_that_finds_ten_in_the_hand_is_destroyed_without_damage(held: int, then: int) -> None:
    state = duel(rival_hand=[MOLE] * held, rival_deck=[FIREBALL, COBRA])
    end_turn(state)
    assert len(state.sides[1].hand) == then
    assert (FIREBALL in state.sides[1].hand) == (held == 9)
    assert state.sides[1].deck == (COBRA,)
    assert healths(state) == (30, 30)


def test_an_empty_deck_costs_1_then_2_then_3_and_a_full_hand_does_not_protect() -> None:
    state = duel(rival_hand=[MOLE] * 10, rival_deck=[COBRA])
    seen = []
    for _ in range(4):
        end_turn(state)
        seen.append(healths(state)[1])
        end_turn(state)
    assert seen == [30, 29, 27, 24], "the last card does no damage"


# The end (section 8)


@pytest.mark.parametrize("first", [0, 1])
def test_if_neither_player_acts_the_second_dies_in_turn_58(first: int) -> None:
    state = started(first=first)
    while state.result is None:
        end_turn(state)
    assert state.turn == 58
    assert state.result.ranks[first] == 1
    assert state.result.reason == "fatigue"
    assert healths(state)[1 - first] == 0
    assert healths(state)[first] == 30 - sum(range(1, 8)), "its 29th turn was the seventh with an empty deck"


def test_a_hero_at_0_loses_at_once_in_the_middle_of_a_turn() -> None:
    state = duel([MOLE], health=(1, 2))
    act(state, HERO_POWER)
    assert state.result == Result((1, 2), (1.0, 0.0), "hero_dead")
    assert [(call.player, call.method.name, call.params.victory) for call in state.calls()] == [
        (0, "end", True),
        (1, "end", False),
    ]
    assert state.apply({0: "whatever", 1: None}) == []
    assert state.calls() == ()


def test_fatigue_kills_at_the_turns_start_and_no_play_follows() -> None:
    state = duel(health=(30, 1), rival_deck=[])
    end_turn(state)
    assert state.result == Result((1, 2), (1.0, 0.0), "fatigue")
    assert {method.name for method in state.awaited.values()} == {"end"}


def test_health_is_never_below_0() -> None:
    state = duel([FIREBALL], health=(30, 1))
    act(state, PLAY_SPELL, 0, 0)
    assert shown(state, 0)["opponent_health"] == 0
    assert shown(state, 0)["opponent_target"][0]["dead"] is True


def test_two_dead_heroes_would_be_a_draw() -> None:
    """It cannot come about: the position is made up."""
    state = duel(health=(0, 2))
    act(state, HERO_POWER)
    assert state.result == Result((1, 1), (0.5, 0.5), "both_heroes_dead")
    assert [call.params.victory for call in state.calls()] == [False, False]


def test_a_match_that_is_stopped_is_a_draw() -> None:
    state = started()
    assert state.stop("match_time") == []
    assert state.result == Result((1, 1), (0.5, 0.5), "match_time")
    assert [call.params.victory for call in state.calls()] == [False, False]


# Luck (section 9)


def test_deadly_shot_draws_one_number_even_if_there_is_one_minion_and_nothing_else_draws() -> None:
    state = duel([DEADLY_SHOT, ARCANE_SHOT, FIREBALL, HOUNDS, KILL_COMMAND, MOLE], [MOLE], [SNAPJAW, HIGHMANE], mana=99)
    dice = state.dice.copy()
    for action in ((PLACE_MINION, 5), (PLAY_SPELL, 1, 1), (PLAY_SPELL, 1, 2), (PLAY_SPELL, 1), (PLAY_SPELL, 1, 0)):
        act(state, *action)
    act(state, HERO_POWER)
    act(state, ATTACK, 1, 0)
    assert state.dice.state == dice.state
    state = duel([DEADLY_SHOT], [], [MOLE])
    dice = state.dice.copy()
    act(state, PLAY_SPELL, 0)
    dice.below(1)
    assert state.dice.state == dice.state
    end_turn(state)
    assert state.dice.state == dice.state


def test_deadly_shot_takes_the_minion_of_the_number_drawn_from_left_to_right() -> None:
    board = [MOLE, COBRA, RHINO]
    victims = Counter[int]()
    for seed in range(60):
        state = duel([DEADLY_SHOT], [], board, seed=seed)
        victim = state.dice.copy().below(3)
        act(state, PLAY_SPELL, 0)
        assert ids(state, 1) == [card for place, card in enumerate(board) if place != victim]
        victims[victim] += 1
    assert min(victims[place] for place in range(3)) > 8


def test_the_same_seed_deals_the_same_and_another_seed_other_cards() -> None:
    def dealt(state: CardGame) -> list[tuple[int, ...]]:
        return [side.hand + side.deck for side in state.sides]

    assert dealt(begun(1)) == dealt(begun(1)) != dealt(begun(2))
    first, second = dealt(begun(1))
    assert first != second
