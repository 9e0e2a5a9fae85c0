"""The kits' example bots for the card game."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import NAMES, Bot, Rival, play, rank, seated
from kits import SENSIBLE, example
from test_matches import assert_clean, matches, named

from referee.games.cardgame import (
    ARCANE_SHOT,
    ATTACK,
    COBRA,
    DEADLY_SHOT,
    END_TURN,
    FIREBALL,
    GAME,
    HERO_POWER,
    HIGHMANE,
    HOUND,
    HOUNDS,
    KILL_COMMAND,
    MOLE,
    PLACE_MINION,
    PLAY_SPELL,
    RAPTOR,
    SNAPJAW,
    ULTRASAUR,
    CardGame,
    Options,
    Placed,
    Side,
)
from referee.games.contract import Player, Setup, State
from referee.games.dice import Dice
from referee.harness.opponents.aggressive import charge
from referee.protocol.messages import Encoding, ErrorObject


def position(
    hand: Sequence[int] = (),
    board: Sequence[int] = (),
    enemies: Sequence[int] = (),
    mana: int = 10,
    enemy_health: int = 30,
) -> CardGame:
    """Returns a position in which seat 0 has the turn and all minions may attack."""
    state = CardGame(Setup(1, NAMES, Options()))
    state.apply({0: None, 1: None})
    own, rival = (tuple([Placed(card, turns_in_play=2) for card in cards]) for cards in (board, enemies))
    state.sides = (
        Side((MOLE,) * 9, tuple(hand), (), own, 30, mana, mana),
        Side((MOLE,) * 9, (), (), rival, enemy_health, 10, 0),
    )
    return state


def turn(bot: Bot, state: CardGame) -> list[list[Any]]:
    """Plays one turn of the bot; returns its actions."""
    bot.initialize("cardgame")
    actions = []
    while state.active == 0 and state.result is None:
        actions.append(answer := bot.call("play", msgspec.to_builtins(state.params(0))))
        assert state.check(0, answer) is None, answer
        state.apply({0: answer})
    return actions


# Trader's decisions.

BURN = [
    # Hand, board, mana, and the most damage they can do.
    ((), (RAPTOR, SNAPJAW), 0, 5),
    ((), (RAPTOR, SNAPJAW), 2, 7),
    ((FIREBALL, KILL_COMMAND), (), 10, 11),
    ((KILL_COMMAND,), (MOLE,), 3, 6),
    ((KILL_COMMAND, FIREBALL, ARCANE_SHOT), (), 6, 8),
    ((KILL_COMMAND, MOLE, FIREBALL, ARCANE_SHOT), (MOLE, RAPTOR), 10, 17),
]


@SENSIBLE
def test_trader_kills_when_it_can_do_enough_damage(kit: str, tmp_path: Path) -> None:
    with Bot(example(kit, "cardgame"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for hand, board, mana, most in BURN:
            for health in (most - 1, most):
                state = position(hand, board, (ULTRASAUR,), mana, health)
                turn(bot, state)
                assert state.result is not None and rank(state, 0) == 1, (hand, board, mana, health)
            state = position(hand, board, (ULTRASAUR,), mana, most + 1)
            turn(bot, state)
            assert state.result is None


DECISIONS = [
    # Hand, board, enemies, mana, and the first action.
    ((), (SNAPJAW,), (RAPTOR,), 0, [ATTACK, [1, 1]]),  # kills it and lives
    ((), (RAPTOR,), (SNAPJAW,), 0, [ATTACK, [1, 0]]),  # would die
    ((), (MOLE, COBRA), (MOLE, ULTRASAUR), 0, [ATTACK, [2, 2]]),  # destroys whatever it hurts
    ((), (SNAPJAW,), (COBRA,), 0, [ATTACK, [1, 0]]),  # would die of poison
    ((), (HOUND,), (HIGHMANE,), 0, [ATTACK, [1, 0]]),
    ((MOLE, RAPTOR), (SNAPJAW,), (RAPTOR,), 2, [PLACE_MINION, [1]]),  # all mana, and before it attacks
    ((DEADLY_SHOT,), (), (MOLE,), 10, [PLAY_SPELL, [0]]),
    ((ARCANE_SHOT,), (), (MOLE, RAPTOR), 2, [PLAY_SPELL, [0, 2]]),
    ((FIREBALL,), (), (), 4, [HERO_POWER, None]),  # Fireball is kept unless it kills
    ((HOUNDS,), (), (MOLE, MOLE), 3, [PLAY_SPELL, [0]]),
    ((HOUNDS, MOLE, DEADLY_SHOT), (MOLE,) * 7, (), 1, [ATTACK, [1, 0]]),  # no room, no enemies
    ((ULTRASAUR,), (), (), 9, [HERO_POWER, None]),
    ((), (), (ULTRASAUR,), 1, [END_TURN, None]),
]


@SENSIBLE
def test_trader_makes_good_trades_and_spends_mana_well(kit: str, tmp_path: Path) -> None:
    with Bot(example(kit, "cardgame"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for hand, board, enemies, mana, expected in DECISIONS:
            assert turn(bot, position(hand, board, enemies, mana))[0] == expected, (hand, board, enemies, mana)


@SENSIBLE
def test_trader_uses_the_hero_power_once_in_every_turn(kit: str, tmp_path: Path) -> None:
    shown = msgspec.to_builtins(position().params(0))
    with Bot(example(kit, "cardgame"), Encoding.JSON, tmp_path / "log") as bot:
        bot.initialize("cardgame")
        actions = [bot.call("play", shown)[0] for _ in range(6)]
        assert actions == [HERO_POWER, END_TURN] * 3


def test_the_template_uses_the_hero_power_at_most_once_a_turn(kit: str, tmp_path: Path) -> None:
    shown = msgspec.to_builtins(position().params(0))
    with Bot(example(kit, "my_cardgame"), Encoding.JSON, tmp_path / "log") as bot:
        bot.initialize("cardgame")
        actions = [bot.call("play", shown)[0] for _ in range(60)]
        assert set(actions) == {HERO_POWER, END_TURN}
        assert (HERO_POWER, HERO_POWER) not in pairwise(actions)


# The examples.


@SENSIBLE
def test_trader_always_beats_random_play(kit: str, kit_encoding: Encoding, tmp_path: Path) -> None:
    """`play` asserts that every answer of the bot is legal."""
    with Bot(example(kit, "cardgame"), kit_encoding, tmp_path / "log") as bot:
        states = [play(GAME, seated(seed % 2, bot, Rival()), seed) for seed in range(12)]
        assert bot.stderr() == ""
    assert [rank(state, seed % 2) for seed, state in enumerate(states)] == [1] * 12


class Aggressive(Rival):
    """Plays as `@aggressive`."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        assert isinstance(state, CardGame)
        return charge(state, player, dice) if state.result is None and state.turn else None


def test_trader_beats_aggressive_play_mostly(tmp_path: Path) -> None:
    """Tests one language: the next test compares the others with it."""
    with Bot(example("python", "cardgame"), Encoding.MSGPACK, tmp_path / "log") as bot:
        states = [play(GAME, seated(seed % 2, bot, Aggressive()), seed) for seed in range(30)]
    assert sum(rank(state, seed % 2) == 1 for seed, state in enumerate(states)) >= 18


def test_trader_thinks_alike_in_cpp_and_python(cpp_kit: None, tmp_path: Path) -> None:
    """Plays games in which `bot` answers for both seats, and `model` must give the same answers."""
    kinds = Counter[int]()
    with (
        Bot(example("cpp", "cardgame"), Encoding.MSGPACK, tmp_path / "log") as bot,
        Bot(example("python", "cardgame"), Encoding.JSON, tmp_path / "python.log") as model,
    ):
        for seed in range(10):
            state = CardGame(Setup(seed, NAMES, Options()))
            for each in (bot, model):
                assert not isinstance(each.initialize("cardgame", seed=seed), ErrorObject)
            while state.awaited:
                answers = {}
                for call in state.calls():
                    params = msgspec.to_builtins(call.params)
                    answers[call.player] = answer = bot.call(call.method.name, params)
                    assert answer == model.call(call.method.name, params)
                    if call.method.name == "play":
                        kinds[answer[0]] += 1
                        assert state.check(call.player, answer) is None
                state.apply(answers)
    assert sorted(kinds) == [HERO_POWER, PLACE_MINION, PLAY_SPELL, ATTACK, END_TURN]


def test_the_template_plays_by_the_rules_and_follows_its_seed(kit: str, kit_encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "my_cardgame"), kit_encoding, tmp_path / "log") as bot:
        ends = [play(GAME, seated(seed % 2, bot, Rival()), seed) for seed in (*range(4), *range(4))]
        assert bot.exit() == 0
    keys = [state.key() for state in ends]
    assert keys[:4] == keys[4:]
    assert len(set(keys)) == 4


# A match under the real referee.


@pytest.mark.trio
async def test_a_match_of_seven_games_between_cpp_and_python(cpp_kit: None, tmp_path: Path) -> None:
    """Each replay is verified. Both bots think alike, so neither wins all."""
    pair = named("cpp", example("cpp", "cardgame")), named("python", example("python", "cardgame"))
    outcome = await matches(pair, "cardgame", Encoding.MSGPACK, tmp_path, games=7)
    for verdict in outcome.matches:
        assert_clean(verdict, Encoding.MSGPACK)
        assert verdict.result.reason in ("hero_dead", "fatigue")
    wins = [standing.wins for standing in outcome.standings]
    assert sum(wins) == 7 and min(wins) > 0
