"""The card game, sections 11.1 and 11.2: what is shown and what is hidden; copies, keys, `from_view`, the drawing."""

from collections import Counter
from itertools import islice
from typing import Any

import msgspec
import pytest
from cardgame_positions import act, begun, duel, end_turn, fresh, minion, shown, started

from referee.games.cardgame import (
    ALPHA,
    ATTACK,
    COBRA,
    CUB,
    DECK,
    END_TURN,
    FIREBALL,
    GAME,
    HERO_POWER,
    HIGHMANE,
    HOUND,
    HOUNDS,
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
    GameState,
    Options,
    View,
    from_view,
)
from referee.games.dice import Dice, derive_seed

# The state (11.1)


def printed(card: int, attack: int, health: int, cost: int, place: int, **changes: Any) -> dict[str, Any]:
    """A minion object as the table of 11.1 lists it."""
    return {
        "type": "minion",
        "id": card,
        "atk": attack,
        "health": health,
        "max_health": health,
        "damaged": False,
        "cost": cost,
        "poisonous": False,
        "buffs": [],
        "turns_in_play": 0,
        "zone_position": place,
        "cant_attack": False,
        "powered_up": False,
        "can_attack": False,
        **changes,
    }


def hero(health: int) -> dict[str, Any]:
    return {
        "type": "hero",
        "id": "HERO_05",
        "health": health,
        "damaged": health < 30,
        "dead": health == 0,
        "zone_position": 0,
    }


def in_order(value: Any) -> str:
    """As text, so that the order of the keys counts too."""
    return msgspec.json.encode(value).decode()


def test_the_state_is_that_of_the_document_key_for_key() -> None:
    state = duel(
        hand=[FIREBALL, COBRA],
        board=[minion(SNAPJAW, damage=3, turns=1), fresh(HOUND), fresh(CUB)],
        enemies=[COBRA],
        mana=5,
        health=(30, 17),
        rival_hand=[MOLE, RAPTOR, MOLE],
    )
    expected = {
        "player_hand": [
            {"type": "spell", "id": 9, "cost": 4, "zone_position": 1},
            printed(1, 2, 3, 3, place=2, poisonous=True),
        ],
        "player_target": [
            hero(30),
            printed(6, 2, 4, 4, 1, max_health=7, damaged=True, turns_in_play=1, can_attack=True),
            printed(16, 1, 1, 1, 2, can_attack=True),
            printed(17, 2, 2, 2, 3),
        ],
        "opponent_target": [hero(17), printed(1, 2, 3, 3, 1, poisonous=True, turns_in_play=2)],
        "hero_health": 30,
        "player_health": 30,
        "opponent_health": 17,
        "player_mana": 5,
        "opponent_mana": 0,
        "n_opponent_hand": 3,
    }
    (call,) = state.calls()
    assert in_order(call.params) == in_order({"state": expected})
    assert in_order(state.view(0)) == in_order(expected)


def test_damaged_is_true_from_the_first_point_of_damage() -> None:
    state = duel([], [minion(SNAPJAW, damage=1), SNAPJAW, minion(SCAVENGER, growth=1)], health=(29, 30))
    assert [each["damaged"] for each in shown(state, 0)["player_target"]] == [True, True, False, False]
    assert shown(state, 0)["opponent_target"][0]["damaged"] is False


def test_start_has_no_parameters_and_end_has_victory() -> None:
    state = begun()
    assert [in_order(call.params) for call in state.calls()] == ["{}", "{}"]
    state = duel(health=(30, 2))
    act(state, HERO_POWER)
    assert [in_order(call.params) for call in state.calls()] == ['{"victory":true}', '{"victory":false}']


def test_every_kind_of_card_is_shown_in_the_hand_as_printed() -> None:
    """Auras and growth do not reach the hand."""
    kinds = sorted(set(DECK))
    for cards in (kinds[:8], kinds[8:]):
        hand = shown(duel(cards, [TIMBER_WOLF, RHINO]), 0)["player_hand"]
        assert [each["id"] for each in hand] == cards
        assert [each["zone_position"] for each in hand] == list(range(1, 9))
        for each in hand:
            assert each["type"] == ("spell" if each["id"] in (2, 3, 9, 12, 13) else "minion")
            if each["type"] == "minion":
                assert (each["buffs"], each["can_attack"]) == ([], False)


def buffs(state: CardGame, player: int) -> list[list[tuple[int, int, int, bool]]]:
    """Id, attack, health and charge of each buff of each minion."""
    minions = shown(state, player)["player_target"][1:]
    assert all(list(buff) == ["id", "atk", "health", "charge"] for each in minions for buff in each["buffs"])
    return [[tuple(buff.values()) for buff in each["buffs"]] for each in minions]


def test_buffs_are_the_growth_first_then_the_auras_from_left_to_right() -> None:
    grown, wolf, alpha, rhino = (11, 2, 1, False), (7, 1, 0, False), (15, 1, 0, False), (5, 0, 0, True)
    state = duel([], [RHINO, ALPHA, minion(SCAVENGER, growth=2), TIMBER_WOLF, ALPHA])
    assert buffs(state, 0) == [
        [rhino, alpha, wolf],
        [rhino, wolf],
        [grown, grown, rhino, alpha, wolf],
        [rhino, alpha],
        [rhino, wolf],
    ]
    assert buffs(duel([], [minion(SCAVENGER, growth=1), MOLE]), 0) == [[grown], []]
    assert buffs(duel([], [HOUND]), 0) == [[]], "its own charge is no buff"


def test_only_the_player_who_is_asked_has_minions_that_can_attack() -> None:
    state = duel([], [MOLE], [MOLE])
    assert shown(state, 0)["player_target"][1]["can_attack"] is True
    assert shown(state, 0)["opponent_target"][1]["can_attack"] is False
    assert shown(state, 1)["player_target"][1]["can_attack"] is False
    state.stop("stopped")
    assert shown(state, 0)["player_target"][1]["can_attack"] is False


# What is hidden (11.2)


def test_two_states_that_differ_in_what_is_hidden_look_the_same() -> None:
    def seen(
        seed: int = 1,
        deck: tuple[int, ...] = (MOLE,),
        rival_deck: tuple[int, ...] = (MOLE,),
        rival_hand: tuple[int, ...] = (MOLE, MOLE),
        **of_rival: Any,
    ) -> dict[str, Any]:
        state = duel([FIREBALL], [MOLE], [RAPTOR], deck=deck, rival_hand=rival_hand, rival_deck=rival_deck, seed=seed)
        for name, value in of_rival.items():
            setattr(state.sides[1], name, value)
        return shown(state, 0)

    assert seen() == seen(rival_hand=(FIREBALL, ULTRASAUR))
    assert seen() == seen(deck=(HOUNDS,), rival_deck=())
    assert seen() == seen(seed=99)
    assert seen() == seen(burnt=(COBRA,), fatigue=3, max_mana=4, timeouts=2, power_used=True)


def test_in_whole_games_no_view_depends_on_hidden_cards() -> None:
    """Every position with a copy that has other hidden cards."""
    dealt = 0
    for seed in range(6):
        state, dice = started(seed), Dice(seed)
        while state.result is None:
            (player,) = state.awaited
            other = state.copy(derive_seed(seed, state.turn))
            assert other.view(player) == state.view(player)
            assert list(other.legal(player)) == list(state.legal(player))
            dealt += other.sides[1 - player].hand != state.sides[1 - player].hand
            state.apply({player: state.sample(player, dice)})
    assert dealt > 100


def test_players_get_information_through_play_only() -> None:
    state, dice = started(4), Dice(4)
    assert begun(4).opening() == []
    while state.awaited:
        assert state.apply({player: state.sample(player, dice) for player in state.awaited}) == []


def test_the_view_of_everything_has_the_hidden_parts_too() -> None:
    state = duel([FIREBALL], [MOLE], rival_hand=[RAPTOR], rival_deck=[COBRA], deck=[SNAPJAW], mana=4)
    view = state.view(None)
    assert isinstance(view, View)
    assert (view.turn, view.active) == (1, 0)
    assert (view.players[0].hand, view.players[0].deck, view.players[0].max_mana) == ((FIREBALL,), (SNAPJAW,), 4)
    assert (view.players[1].hand, view.players[1].deck) == ((RAPTOR,), (COBRA,))
    assert [each.id for each in view.players[0].board] == [MOLE]


# Copies with other luck


def test_a_seed_deals_the_rivals_hand_and_both_decks_again_and_keeps_the_players_hand_and_all_counts() -> None:
    state = started(8)
    end_turn(state, 6)
    hands, decks = set(), set()
    for seed in range(20):
        twin = state.copy(seed)
        own, rival = twin.sides
        assert own.hand == state.sides[0].hand
        assert Counter(own.deck) == Counter(state.sides[0].deck)
        assert Counter(rival.hand + rival.deck) == Counter(DECK)
        assert (len(rival.hand), len(rival.deck)) == (len(state.sides[1].hand), len(state.sides[1].deck))
        hands.add(rival.hand)
        decks.add(own.deck)
    assert min(len(hands), len(decks)) > 15


def test_a_seed_deals_the_same_whatever_the_hidden_cards_really_are() -> None:
    """Two states that the player cannot tell apart: in the other the rival holds what is in its deck here."""
    state = duel([MOLE], deck=[FIREBALL, COBRA, RHINO], rival_hand=[HOUNDS, ALPHA], rival_deck=[MOLE, SNAPJAW])
    state.sides[0].burnt = (ULTRASAUR,)
    other = duel([MOLE], deck=[ULTRASAUR, RHINO, FIREBALL], rival_hand=[SNAPJAW, MOLE], rival_deck=[ALPHA, HOUNDS])
    other.sides[0].burnt = (COBRA,)
    other.dice.bits()
    assert other.key() != state.key()
    for seed in range(5):
        assert other.copy(seed).key() == state.copy(seed).key()


def test_a_burnt_card_is_among_those_that_a_seed_deals() -> None:
    """It was seen by nobody, so it may as well lie in the deck, or in the rival's hand."""
    rival_hand, rival_deck = [MOLE] * 10, [FIREBALL, COBRA]
    state = duel(rival_hand=rival_hand, rival_deck=rival_deck)
    end_turn(state)
    assert state.sides[1].burnt == (FIREBALL,)
    end_turn(state)
    hands, decks = set(), set()
    for seed in range(30):
        rival = state.copy(seed).sides[1]
        assert (len(rival.hand), len(rival.deck), len(rival.burnt)) == (10, 1, 1)
        assert Counter(rival.hand + rival.deck + rival.burnt) == Counter(rival_hand + rival_deck)
        hands.add(FIREBALL in rival.hand)
        decks.add(rival.deck)
    assert hands == {True, False}
    assert len(decks) > 1


def test_a_seed_replaces_the_draws_of_deadly_shot() -> None:
    state = duel([2], [], [MOLE, COBRA, RHINO, SNAPJAW])
    left = set()
    for seed in range(20):
        twin = state.copy(seed)
        act(twin, PLAY_SPELL, 0)
        left.add(tuple(each.id for each in twin.sides[1].board))
    assert len(left) == 4


@pytest.mark.parametrize("moment", ["start", "end"])
def test_outside_a_turn_a_seed_leaves_both_hands(moment: str) -> None:
    state = begun()
    if moment == "end":
        state.stop("stopped")
    twin = state.copy(5)
    for side, original in zip(twin.sides, state.sides, strict=True):
        assert side.hand == original.hand
        assert side.deck != original.deck


def test_a_copy_is_independent() -> None:
    state = duel([FIREBALL, MOLE], [MOLE], [RAPTOR])
    before, twin = state.key(), state.copy()
    assert twin.key() == before
    act(twin, PLAY_SPELL, 0, 0)
    act(twin, PLACE_MINION, 0)
    act(twin, ATTACK, 1, 1)
    end_turn(twin)
    assert state.key() == before


# The key


@pytest.mark.parametrize(
    "change",
    [
        {"deck": (MOLE,)},
        {"hand": (MOLE, FIREBALL)},
        {"board": (minion(MOLE, damage=1),)},
        {"board": (minion(MOLE, turns=3),)},
        {"board": (minion(MOLE, attacks=1),)},
        *({"health": 29}, {"mana": 9}, {"max_mana": 9}, {"power_used": True}, {"fatigue": 1}, {"timeouts": 1}),
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.parametrize("player", [0, 1])
def test_the_key_has_everything_that_decides_the_future(change: dict[str, Any], player: int) -> None:
    state = duel([FIREBALL, MOLE], [MOLE], [MOLE], rival_hand=[FIREBALL, MOLE])
    other = state.copy()
    for name, value in change.items():
        setattr(other.sides[player], name, value)
    assert other.key() != state.key()


def test_the_key_has_the_turn_and_the_luck_but_not_the_past() -> None:
    assert duel(player=0).key() != duel(player=1).key()
    other = duel()
    other.dice.bits()
    assert other.key() != duel().key()
    first, second = duel([FIREBALL]), duel([FIREBALL])
    act(first, HERO_POWER)
    act(first, PLAY_SPELL, 0, 0)
    act(second, PLAY_SPELL, 0, 0)
    act(second, HERO_POWER)
    assert first.key() == second.key()


# The way back: a position from what a bot is shown


@pytest.mark.parametrize("player", [0, 1])
def test_a_position_made_from_a_view_has_that_view_and_its_legal_actions(player: int) -> None:
    seen = 0
    for seed in range(6):
        state, dice = started(seed, first=player), Dice(seed)
        while state.result is None:
            (asked,) = state.awaited
            view = msgspec.json.decode(msgspec.json.encode(state.view(asked)), type=GameState)
            again = from_view(view, asked, state.sides[asked].power_used, seed)
            assert in_order(again.view(asked)) == in_order(view)
            assert list(again.legal(asked)) == list(state.legal(asked))
            answer = state.sample(asked, dice)
            if answer[0] != END_TURN and answer[0] != PLAY_SPELL:
                again.apply({asked: answer})
                after = state.copy()
                after.apply({asked: answer})
                assert in_order(again.view(asked)) == in_order(after.view(asked))
                seen += 1
            state.apply({asked: answer})
    assert seen > 200


def test_the_seed_decides_what_a_position_made_from_a_view_hides() -> None:
    view = duel([FIREBALL, MOLE], [HIGHMANE], [RAPTOR, CUB], rival_hand=[MOLE] * 3).view(0)
    assert isinstance(view, GameState)
    first, again, other = [from_view(view, 0, seed=seed) for seed in (1, 1, 2)]
    assert first.key() == again.key() != other.key()
    assert first.sides[1].board == (minion(RAPTOR), minion(CUB))
    assert Counter((*first.sides[0].deck, FIREBALL, MOLE, HIGHMANE)) == Counter(DECK)
    assert Counter((*first.sides[1].deck, *first.sides[1].hand, RAPTOR)) == Counter(DECK)


def test_a_tree_search_can_play_on_from_a_copy_to_the_end() -> None:
    state = started(3)
    end_turn(state, 4)
    reasons = Counter[str]()
    for seed in range(10):
        twin, dice = state.copy(seed), Dice(seed)
        for _ in range(400):
            if twin.result is not None:
                break
            (player,) = twin.awaited
            twin.apply({player: twin.sample(player, dice)})
        assert twin.result is not None
        reasons[twin.result.reason] += 1
    assert reasons["hero_dead"] > 0


# Others


def test_the_drawing_shows_both_sides() -> None:
    state = duel([FIREBALL], [MOLE, fresh(RAPTOR)], [COBRA], mana=4, health=(30, 12), deck=[MOLE, RHINO], rival_deck=[])
    state.sides[1].fatigue = 2
    assert str(state).splitlines() == [
        "turn 1, seat 0 to play",
        "0 one: health 30, mana 4/4",
        "  board Mole 1/3*, Raptor 3/2",
        "  hand  Fireball",
        "  deck  Mole, Rhino",
        "1 two: health 12, mana 0/10, fatigue 2",
        "  board Cobra 2/3",
        "  hand  -",
        "  deck  -",
    ]
    assert str(begun()).startswith("turn 0, both to start\n")
    state.stop("stopped")
    assert str(state).startswith("turn 1, a draw: stopped\n")


@pytest.mark.parametrize("options", [{"first": 2}, {"first": -1}, {"first": True}, {"timeouts": 0}, {"third": 1}])
def test_options_out_of_range_or_unknown_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(options, GAME.options)
    assert GAME.options() == Options(first=0, timeouts=3)


def test_legal_is_lazy_and_start_and_end_are_answered_with_null() -> None:
    assert list(islice(duel([MOLE]).legal(0), 1)) == [[HERO_POWER, []]]
    assert list(begun().legal(0)) == [None]
    state = begun()
    state.stop("stopped")
    assert list(state.legal(1)) == [None]
