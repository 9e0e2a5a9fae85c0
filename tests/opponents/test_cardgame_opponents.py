"""The built-in opponents at the card game: their answers to positions, and whole games without a fault."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from referee.games.cardgame import (
    ARCANE_SHOT,
    ATTACK,
    COBRA,
    DEADLY_SHOT,
    END_TURN,
    FIREBALL,
    HATCHLING,
    HERO_POWER,
    HIGHMANE,
    KILL_COMMAND,
    MOLE,
    PLACE_MINION,
    PLAY_SPELL,
    RAPTOR,
    RHINO,
    SNAPJAW,
    TIMBER_WOLF,
    ULTRASAUR,
    CardGame,
    Options,
    Placed,
    Side,
)
from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.harness.opponents import aggressive, random, trader
from referee.harness.opponents._cardgame import lethal
from referee.harness.opponents._follow import Choose
from referee.harness.opponents._serve import Handler, Start
from referee.protocol.messages import Encoding, Initialize, Limits

pytestmark = pytest.mark.slow

RANDOM, AGGRESSIVE, TRADER = random.GAMES["cardgame"], aggressive.GAMES["cardgame"], trader.GAMES["cardgame"]
NAMES = ("one", "two")


def seated(start: Start, seat: int, seed: int = 1) -> Handler:
    options = {"first": 0, "timeouts": 3}
    return start(Initialize(1, "cardgame", options, seat, NAMES, tuple(Encoding), Limits(10_000), seed))


def match(starts: tuple[Start, Start], seed: int) -> tuple[CardGame, list[Any]]:
    """Plays a whole game without faults, and returns the answers too. The params go through JSON as over the pipes."""
    state = CardGame(Setup(seed, NAMES, Options()))
    bots = [seated(start, seat, 2 * seed + seat) for seat, start in enumerate(starts)]
    answered = []
    while state.awaited:
        answers = {}
        for call in state.calls():
            params = msgspec.json.decode(msgspec.json.encode(call.params))
            answers[call.player] = bots[call.player](call.method.name, params)
        assert state.apply(answers) == []
        answered.append(answers)
    return state, answered


@pytest.mark.parametrize("start", [RANDOM, AGGRESSIVE, TRADER])
def test_all_answers_are_legal(start: Start) -> None:
    actions = set()
    for seed in range(4):
        state, answered = match((start, start), seed)
        assert state.result is not None
        actions |= {answer[0] for answers in answered[1:-1] for answer in answers.values()}
    assert actions == {HERO_POWER, PLACE_MINION, PLAY_SPELL, ATTACK, END_TURN}


@pytest.mark.parametrize("start", [RANDOM, AGGRESSIVE, TRADER])
def test_start_and_end_are_answered_with_null(start: Start) -> None:
    handle = seated(start, 0)
    assert handle("start", {}) is None
    assert handle("end", {"victory": True}) is None


# Their answers.


def duel(
    hand: tuple[int, ...] = (),
    board: tuple[int, ...] = (),
    enemies: tuple[int, ...] = (),
    mana: int = 10,
    enemy_health: int = 30,
    power_used: bool = False,
) -> CardGame:
    """Returns a position with seat 0 to play; the minions have been on the board for two turns."""
    state = CardGame(Setup(1, NAMES, Options()))
    state.apply({0: None, 1: None})
    own, rival = [tuple([Placed(card, turns_in_play=2) for card in row]) for row in (board, enemies)]
    state.sides = (Side((MOLE,), hand, (), own, 30, mana, mana, power_used), Side((MOLE,), (), (), rival, enemy_health))
    return state


def answer(choose: Choose, state: CardGame, player: Player = 0) -> Any:
    chosen = choose(state, player, Dice(1))
    assert state.check(player, chosen) is None
    return chosen


BOTH = pytest.mark.parametrize("choose", [aggressive.charge, trader.trade])


@pytest.mark.parametrize(
    ("state", "health"),
    [
        (duel(power_used=True, board=(RAPTOR, SNAPJAW)), 5),
        (duel(power_used=True, board=(RAPTOR, TIMBER_WOLF)), 5),
        (duel(mana=2), 2),
        (duel((FIREBALL, ARCANE_SHOT), mana=8), 10),
        (duel((FIREBALL, ARCANE_SHOT), mana=7), 8),
        (duel((KILL_COMMAND,), mana=3), 3),
        (duel((KILL_COMMAND,), (MOLE,), mana=5), 8),
        (duel((FIREBALL, KILL_COMMAND, ARCANE_SHOT), (MOLE, COBRA), mana=9), 16),
    ],
)
def test_lethal_counts_attacks_auras_and_what_the_mana_allows(state: CardGame, health: int) -> None:
    """The turn wins at that health; with one more health there is no such turn."""
    state.sides[1].health = health + 1
    assert lethal(state, 0) is None
    state.sides[1].health = health
    while state.result is None:
        action = lethal(state, 0)
        assert action is not None
        state.apply({0: action})
    assert state.result.reason == "hero_dead"
    assert list(state.result.ranks) == [1, 2]


@BOTH
def test_they_kill_the_hero_whenever_they_can(choose: Choose) -> None:
    state = duel((HIGHMANE, FIREBALL), (MOLE,), (RAPTOR, HIGHMANE), enemy_health=9)
    for _ in range(3):
        state.apply({0: answer(choose, state)})
    assert state.result is not None
    assert state.result.ranks == (1, 2)


def test_aggressive_plays_minions_then_spells_attacks_and_the_power_at_the_hero() -> None:
    state = duel((MOLE, RHINO, FIREBALL), (SNAPJAW,), (RAPTOR, HATCHLING), mana=12)
    played = []
    while list(state.awaited) == [0]:
        played.append(answer(aggressive.charge, state))
        state.apply({0: played[-1]})
    assert played == [
        [PLACE_MINION, [1]],
        [PLACE_MINION, [0]],
        [PLAY_SPELL, [0, 0]],
        [ATTACK, [1, 0]],
        [ATTACK, [2, 0]],
        [ATTACK, [3, 0]],
        [HERO_POWER, []],
        [END_TURN, []],
    ]


def test_trader_prefers_a_trade_that_its_minion_survives() -> None:
    assert answer(trader.trade, duel((), (SNAPJAW,), (COBRA, HATCHLING, RAPTOR), mana=0)) == [ATTACK, [1, 3]]


def test_trader_does_not_waste_an_expensive_minion() -> None:
    """The Cobra would destroy it; it attacks the hero instead."""
    assert answer(trader.trade, duel((), (ULTRASAUR,), (COBRA,), mana=0)) == [ATTACK, [1, 0]]


def test_trader_trades_a_cobra_for_the_most_expensive_enemy() -> None:
    assert answer(trader.trade, duel((), (COBRA,), (MOLE, ULTRASAUR), mana=0)) == [ATTACK, [1, 2]]


def test_trader_spends_its_mana() -> None:
    state = duel((MOLE, RAPTOR, SNAPJAW), mana=9)
    while list(state.awaited) == [0]:
        state.apply({0: answer(trader.trade, state)})
    assert state.sides[0].hand == ()
    assert state.sides[0].mana == 0, "the power took the rest"


def test_trader_shoots_only_valuable_minions() -> None:
    assert answer(trader.trade, duel((DEADLY_SHOT,), (), (ULTRASAUR,), mana=3)) == [PLAY_SPELL, [0]]
    assert answer(trader.trade, duel((FIREBALL,), (), (), mana=4, power_used=True)) == [END_TURN, []]


@pytest.mark.parametrize("start", [RANDOM, AGGRESSIVE, TRADER])
def test_the_hero_power_is_remembered_until_the_turn_ends(start: Start) -> None:
    """The state does not show it, but it is never used twice in a turn."""
    params = {"state": msgspec.to_builtins(duel(mana=4).view(0))}
    handle = seated(start, 0)
    answered = [handle("play", params)[0] for _ in range(60)]
    assert answered.count(HERO_POWER) >= 15
    for earlier, later in pairwise(answered):
        assert (earlier, later) != (HERO_POWER, HERO_POWER)
