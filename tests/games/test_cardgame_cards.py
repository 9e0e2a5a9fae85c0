"""The card game, sections 6 and 7: what each card does, combat, deaths and their triggers."""

import re
from pathlib import Path

import pytest
from cardgame_positions import act, duel, end_turn, fresh, healths, ids, minion, ready, shown, stats

from referee.games.cardgame import (
    ALPHA,
    ARCANE_SHOT,
    ATTACK,
    ATTACKS,
    COBRA,
    CUB,
    DEADLY_SHOT,
    FIREBALL,
    GAME,
    HATCHLING,
    HEALTH,
    HERO_POWER,
    HIGHMANE,
    HOUND,
    HOUNDS,
    KILL_COMMAND,
    MOLE,
    PLACE_MINION,
    PLAY_SPELL,
    RAPTOR,
    RHINO,
    SCAVENGER,
    SNAPJAW,
    TIMBER_WOLF,
    ULTRASAUR,
)

# Combat (6.1)


def test_both_sides_of_a_combat_take_damage() -> None:
    state = duel([], [SNAPJAW], [RHINO])
    act(state, ATTACK, 1, 1)
    assert stats(state, 0) == [(2, 5)]
    assert stats(state, 1) == [(2, 3)]


def test_both_may_die_in_a_combat() -> None:
    state = duel([], [RAPTOR], [RAPTOR])
    act(state, ATTACK, 1, 1)
    assert (ids(state, 0), ids(state, 1)) == ([], [])


def test_excess_damage_is_lost_and_a_hero_does_not_hit_back() -> None:
    state = duel([], [ULTRASAUR, MOLE], [HATCHLING, MOLE])
    act(state, ATTACK, 1, 1)
    act(state, ATTACK, 2, 0)
    assert healths(state) == (30, 29)
    assert stats(state, 0) == [(7, 13), (1, 3)]
    assert stats(state, 1) == [(1, 3)]


@pytest.mark.parametrize("card", [MOLE, HATCHLING, SNAPJAW, RAPTOR, ULTRASAUR, HOUND, CUB])
def test_a_plain_minion_arrives_as_printed_and_leaves_nothing(card: int) -> None:
    state = duel([card], [], [minion(SNAPJAW, damage=6)])
    if card in (HOUND, CUB):
        state.sides[0].hand, state.sides[0].board = (), (fresh(card),)
    else:
        act(state, PLACE_MINION, 0)
    assert stats(state, 0) == [(ATTACKS[card], HEALTH[card])]
    end_turn(state, 2)
    before = healths(state)
    act(state, ATTACK, 1, 1)
    assert ids(state, 1) == []
    assert ids(state, 0) == ([card] if HEALTH[card] > 2 else [])
    assert healths(state) == before, "a Hatchling's death does nothing, whatever its model does (section 12, row 15)"


def test_attacks_are_read_before_any_damage() -> None:
    """What dies in this very combat hits in full, and so does what its aura reached."""
    state = duel([], [SNAPJAW], [TIMBER_WOLF, TIMBER_WOLF])
    act(state, ATTACK, 1, 1)
    assert stats(state, 0) == [(2, 5)], "the Wolf hit with 2, the other Wolf's aura among it"
    assert stats(state, 1) == [(1, 1)]
    state = duel([], [ALPHA, ALPHA], [minion(SNAPJAW, damage=4)])
    act(state, ATTACK, 1, 1)
    assert ids(state, 1) == [], "an attack of 3, although the attacker itself dies"
    assert stats(state, 0) == [(2, 2)]


def test_attacking_makes_tired_and_being_attacked_does_not() -> None:
    state = duel([], [SNAPJAW], [SNAPJAW])
    act(state, ATTACK, 1, 1)
    assert state.sides[0].board[0].attacks == 1
    assert state.sides[1].board[0].attacks == 0


def test_a_combat_and_a_spell_take_health_and_leave_growth_age_and_tiredness() -> None:
    state = duel([ARCANE_SHOT], [minion(SCAVENGER, growth=2, turns=3)], [minion(SNAPJAW, turns=5)])
    act(state, ATTACK, 1, 1)
    assert state.sides[0].board == (minion(SCAVENGER, damage=2, growth=2, turns=3, attacks=1),)
    assert state.sides[1].board == (minion(SNAPJAW, damage=6, turns=5),)
    for action in ((ATTACK, 1, 1), (PLAY_SPELL, 0, 1)):
        state = duel([ARCANE_SHOT], [RAPTOR], [minion(SCAVENGER, growth=4, turns=5)])
        act(state, *action)
        damage = 3 if action[0] == ATTACK else 2
        assert state.sides[1].board == (minion(SCAVENGER, damage=damage, growth=4, turns=5),)


# Cobra (6.2)


@pytest.mark.parametrize("victim", [SNAPJAW, ULTRASAUR, HIGHMANE])
def test_a_cobra_destroys_what_it_attacks(victim: int) -> None:
    state = duel([], [COBRA], [victim])
    act(state, ATTACK, 1, 1)
    assert victim not in ids(state, 1)


def test_a_cobra_destroys_its_attacker_also_when_it_dies() -> None:
    state = duel([], [ULTRASAUR], [COBRA])
    act(state, ATTACK, 1, 1)
    assert (ids(state, 0), ids(state, 1)) == ([], [])


def test_a_cobra_may_survive_a_combat_and_two_cobras_destroy_each_other() -> None:
    state = duel([], [COBRA, COBRA], [SNAPJAW, COBRA])
    act(state, ATTACK, 1, 1)
    assert stats(state, 0) == [(2, 1), (2, 3)]
    act(state, ATTACK, 2, 1)
    assert (ids(state, 0), ids(state, 1)) == ([COBRA], [])


def test_a_cobra_hurts_a_hero_by_2() -> None:
    state = duel([], [COBRA])
    act(state, ATTACK, 1, 0)
    assert healths(state) == (30, 28)


def test_a_cobras_victim_triggers_as_any_death() -> None:
    state = duel([], [COBRA], [HIGHMANE, SCAVENGER])
    act(state, ATTACK, 1, 1)
    assert ids(state, 1) == [SCAVENGER, CUB, CUB]
    assert stats(state, 1)[0] == (4, 3)


def test_a_cobra_and_a_deadly_shot_destroy_a_scavenger_however_much_it_has_grown() -> None:
    """Its maximum health of 12 counts, not the printed 2."""
    grown = minion(SCAVENGER, growth=10)
    for action in ((ATTACK, 1, 1), (PLAY_SPELL, 0)):
        state = duel([DEADLY_SHOT], [COBRA], [grown])
        act(state, *action)
        assert ids(state, 1) == []
    state = duel([], [grown], [COBRA])
    act(state, ATTACK, 1, 1)
    assert (ids(state, 0), ids(state, 1)) == ([], [])


# Spells (6.3, 6.4, 6.8)


def test_deadly_shot_destroys_an_enemy_minion_whatever_its_health() -> None:
    state = duel([DEADLY_SHOT], [MOLE], [ULTRASAUR])
    act(state, PLAY_SPELL, 0)
    assert (ids(state, 0), ids(state, 1)) == ([MOLE], [])


@pytest.mark.parametrize(
    ("card", "board", "damage"),
    [
        (ARCANE_SHOT, [], 2),
        (ARCANE_SHOT, [MOLE], 2),
        (FIREBALL, [], 6),
        (FIREBALL, [MOLE], 6),
        (KILL_COMMAND, [], 3),
        (KILL_COMMAND, [MOLE], 5),
        (KILL_COMMAND, [HOUND], 5),
        (KILL_COMMAND, [fresh(CUB)], 5),
    ],
)
def test_a_damage_spell_hits_one_enemy_target_alone(card: int, board: list[int], damage: int) -> None:
    state = duel([card], board, [ULTRASAUR, ULTRASAUR])
    act(state, PLAY_SPELL, 0, 0)
    assert healths(state) == (30, 30 - damage)
    state = duel([card], board, [ULTRASAUR, ULTRASAUR])
    act(state, PLAY_SPELL, 0, 2)
    assert stats(state, 1) == [(7, 14), (7, 14 - damage)]
    assert healths(state) == (30, 30)
    assert ids(state, 0) == [each if isinstance(each, int) else each.id for each in board]


def test_a_damage_spell_kills_at_the_last_health_and_not_one_above() -> None:
    for damage, alive in ((0, True), (1, False)):
        state = duel([FIREBALL], [], [minion(SNAPJAW, damage)])
        act(state, PLAY_SPELL, 0, 1)
        assert bool(ids(state, 1)) == alive


@pytest.mark.parametrize(("own", "enemies", "come"), [(0, 1, 1), (0, 7, 7), (3, 3, 3), (5, 3, 2), (6, 7, 1)])
def test_one_hound_arrives_for_each_enemy_minion_while_there_is_room(own: int, enemies: int, come: int) -> None:
    state = duel([HOUNDS], [MOLE] * own, [MOLE] * enemies)
    act(state, PLAY_SPELL, 0)
    assert ids(state, 0) == [MOLE] * own + [HOUND] * come


def test_hounds_may_attack_at_once_and_once() -> None:
    state = duel([HOUNDS], [], [MOLE, MOLE])
    act(state, PLAY_SPELL, 0)
    assert ready(state, 0) == [True, True]
    act(state, ATTACK, 1, 0)
    assert ready(state, 0) == [False, True]
    assert healths(state) == (30, 29)
    assert stats(state, 0) == [(1, 1), (1, 1)]


# Rhino (6.5)


def test_with_a_rhino_nobody_waits_neither_itself_nor_those_before_it_nor_tokens() -> None:
    state = duel([RHINO, RAPTOR], [fresh(MOLE), fresh(CUB)])
    assert ready(state, 0) == [False, False]
    act(state, PLACE_MINION, 0)
    act(state, PLACE_MINION, 0)
    assert ready(state, 0) == [True, True, True, True]
    act(state, ATTACK, 4, 0)
    assert ready(state, 0) == [True, True, True, False], "once, all the same"
    assert healths(state) == (30, 27)


def test_when_the_rhino_leaves_the_fresh_ones_wait_again() -> None:
    state = duel([], [fresh(MOLE), minion(RHINO, damage=3, turns=0), SNAPJAW, fresh(HOUND)], [SNAPJAW])
    act(state, ATTACK, 2, 1)
    assert ids(state, 0) == [MOLE, SNAPJAW, HOUND]
    assert ready(state, 0) == [False, True, True]


def test_a_rhino_does_nothing_for_the_other_side() -> None:
    state = duel([MOLE], [], [RHINO])
    act(state, PLACE_MINION, 0)
    assert ready(state, 0) == [False]


# Timber Wolf (6.6)


def test_a_wolf_gives_one_attack_to_all_others_of_its_side() -> None:
    state = duel([], [MOLE, TIMBER_WOLF, COBRA], [MOLE])
    assert stats(state, 0) == [(2, 3), (1, 1), (3, 3)]
    assert stats(state, 1) == [(1, 3)]


def test_two_wolves_strengthen_each_other_and_add_up() -> None:
    assert stats(duel([], [TIMBER_WOLF, MOLE, TIMBER_WOLF]), 0) == [(2, 1), (3, 3), (2, 1)]


def test_an_aura_works_at_once_and_ends_with_its_source() -> None:
    state = duel([TIMBER_WOLF], [MOLE])
    act(state, PLACE_MINION, 0)
    act(state, ATTACK, 1, 0)
    assert healths(state) == (30, 28)
    end_turn(state, 2)
    state.sides[1].board = (minion(RAPTOR),)
    act(state, ATTACK, 2, 1)
    assert stats(state, 0) == [(1, 3)]


# Scavenger (6.7)


def test_a_scavenger_grows_by_2_and_1_for_good_when_another_of_its_side_dies() -> None:
    state = duel([], [HATCHLING, minion(SCAVENGER, damage=1)], [SNAPJAW])
    assert stats(state, 0)[1] == (2, 1)
    act(state, ATTACK, 1, 1)
    assert stats(state, 0) == [(4, 2)], "the damage stays"
    assert shown(state, 0)["player_target"][1]["max_health"] == 3
    end_turn(state, 2)
    assert stats(state, 0) == [(4, 2)]


def test_a_scavenger_that_grows_is_as_tired_and_as_old_as_before() -> None:
    tired, new = minion(SCAVENGER, attacks=1, turns=3), fresh(SCAVENGER)
    state = duel([], [HATCHLING, tired, new], [SNAPJAW])
    act(state, ATTACK, 1, 1)
    assert state.sides[0].board == (
        minion(SCAVENGER, attacks=1, turns=3, growth=1),
        minion(SCAVENGER, turns=0, growth=1),
    )
    assert ready(state, 0) == [False, False]


def test_every_scavenger_grows_once_for_each_of_several_deaths() -> None:
    state = duel([], [HATCHLING, HATCHLING, SCAVENGER, SCAVENGER], [SNAPJAW])
    act(state, ATTACK, 1, 1)
    act(state, ATTACK, 1, 1)
    assert stats(state, 0) == [(6, 4), (6, 4)]


def test_deaths_in_the_same_moment_are_several_triggers() -> None:
    """A made-up position: nothing in the game kills two of one side at once."""
    state = duel([], [minion(MOLE, damage=3), minion(RAPTOR, damage=2), SCAVENGER])
    act(state, HERO_POWER)
    assert stats(state, 0) == [(6, 4)]


def test_a_scavenger_does_not_grow_by_the_enemys_deaths() -> None:
    state = duel([], [SCAVENGER, SNAPJAW], [HATCHLING, SCAVENGER])
    act(state, ATTACK, 2, 1)
    assert stats(state, 0)[0] == (2, 2)
    assert stats(state, 1) == [(4, 3)]


def test_a_scavenger_cannot_be_saved_by_a_death_of_the_same_moment() -> None:
    state = duel([], [minion(SCAVENGER, damage=2), minion(MOLE, damage=3), SCAVENGER])
    act(state, HERO_POWER)
    assert ids(state, 0) == [SCAVENGER]
    assert stats(state, 0) == [(6, 4)], "one for the Mole, one for the other Scavenger"


def test_a_scavengers_own_death_gives_it_nothing() -> None:
    state = duel([], [SCAVENGER], [SNAPJAW])
    act(state, ATTACK, 1, 1)
    assert ids(state, 0) == []


# Highmane (6.9)


@pytest.mark.parametrize(("others", "cubs"), [(0, 2), (5, 2), (6, 1)])
def test_a_dead_highmane_leaves_two_cubs_at_the_right_end_as_far_as_there_is_room(others: int, cubs: int) -> None:
    state = duel([DEADLY_SHOT], [COBRA], [HIGHMANE] + [MOLE] * others)
    act(state, ATTACK, 1, 1)
    assert ids(state, 1) == [MOLE] * others + [CUB] * cubs


def test_cubs_wait_in_their_owners_turn() -> None:
    state = duel([], [minion(HIGHMANE, damage=4), MOLE], [SNAPJAW])
    act(state, ATTACK, 1, 1)
    assert ids(state, 0) == [MOLE, CUB, CUB]
    assert ready(state, 0) == [True, False, False]


def test_cubs_that_come_in_the_opponents_turn_are_ready_at_the_owners_next_turn() -> None:
    state = duel([DEADLY_SHOT], [], [HIGHMANE])
    act(state, PLAY_SPELL, 0)
    assert stats(state, 1) == [(2, 2), (2, 2)]
    end_turn(state)
    assert ready(state, 1) == [True, True]


def test_two_highmanes_that_kill_each_other_leave_cubs_on_both_sides() -> None:
    state = duel([], [HIGHMANE], [HIGHMANE])
    act(state, ATTACK, 1, 1)
    assert (ids(state, 0), ids(state, 1)) == ([CUB, CUB], [CUB, CUB])


def test_a_scavenger_grows_by_the_highmanes_death_and_the_cubs_stay_as_they_are() -> None:
    state = duel([DEADLY_SHOT], [COBRA], [HIGHMANE, SCAVENGER])
    act(state, ATTACK, 1, 1)
    assert stats(state, 1) == [(4, 3), (2, 2), (2, 2)]


def test_with_both_highmanes_dead_at_once_on_a_full_board_both_places_are_filled() -> None:
    """A made-up position: five live, two places are free, four cubs would come."""
    dying = minion(HIGHMANE, damage=5)
    state = duel([], [dying, MOLE, MOLE, dying, MOLE, MOLE, MOLE])
    act(state, HERO_POWER)
    assert ids(state, 0) == [MOLE] * 5 + [CUB] * 2


# Alpha (6.10)


def test_an_alpha_strengthens_its_neighbours_alone() -> None:
    state = duel([], [MOLE, COBRA, ALPHA, RAPTOR, MOLE], [MOLE])
    assert stats(state, 0) == [(1, 3), (3, 3), (2, 2), (4, 2), (1, 3)]
    assert stats(state, 1) == [(1, 3)]


def test_a_minion_between_two_alphas_has_two_more_and_adjacent_alphas_strengthen_each_other() -> None:
    assert stats(duel([], [ALPHA, MOLE, ALPHA]), 0) == [(2, 2), (3, 3), (2, 2)]
    assert stats(duel([], [ALPHA, ALPHA]), 0) == [(3, 2), (3, 2)]


def test_when_the_row_closes_the_new_neighbours_profit_at_once() -> None:
    state = duel([], [ALPHA, HATCHLING, MOLE], [SNAPJAW])
    act(state, ATTACK, 2, 1)
    assert stats(state, 0) == [(2, 2), (2, 3)]
    act(state, ATTACK, 2, 0)
    assert healths(state) == (30, 28)


def test_auras_of_both_kinds_and_growth_add_up() -> None:
    state = duel([], [TIMBER_WOLF, ALPHA, minion(SCAVENGER, growth=2), ALPHA])
    assert stats(state, 0)[2] == (2 + 4 + 1 + 2, 4)


# Deaths (section 7)


def test_a_hero_dies_before_any_trigger_runs() -> None:
    """A made-up position, for nothing kills a hero and a minion at once."""
    state = duel([], [], [minion(HIGHMANE, damage=5), SCAVENGER], health=(30, 2))
    act(state, HERO_POWER)
    assert state.result is not None
    assert ids(state, 1) == [SCAVENGER]
    assert stats(state, 1) == [(2, 2)]


def test_the_dead_of_both_sides_leave_together_and_the_rows_close_up() -> None:
    state = duel([], [MOLE, RAPTOR, SNAPJAW], [COBRA, RAPTOR, MOLE])
    act(state, ATTACK, 2, 2)
    assert ids(state, 0) == [MOLE, SNAPJAW]
    assert ids(state, 1) == [COBRA, MOLE]
    act(state, ATTACK, 2, 2)
    assert stats(state, 1) == [(2, 3), (1, 1)], "target 2 is the Mole now"


def test_people_see_the_texts_of_the_cards_in_the_document() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "rules" / "cardgame.md"
    table = page.read_text("utf-8").split("### 1.1")[1]
    rows = [[cell.strip(" *") for cell in row.split("|")[1:-1]] for row in table.split("### 1.2")[0].splitlines()]
    for row in rows:
        if len(row) != 8 or not row[0].isdigit():
            continue
        number, _, kind, attack, health, cost, effect, label = row
        words = [f"{cost.strip('()')} mana", f"{attack}/{health}" if kind == "minion" else ""]
        words.append("" if effect == "none" else re.sub(r" \(6\.\d+\)", "", effect))
        assert GAME.presentation.card_names[number] == label
        assert GAME.presentation.card_texts[number] == ", ".join(filter(None, words))
    assert len(GAME.presentation.card_texts) == 18
