"""The card game as arrays: a list of numbers; actions by the places of cards and targets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encoding import ListedEncoding
from referee.games.cardgame import (
    ATTACK,
    BOARD_SIZE,
    END_TURN,
    HAND_SIZE,
    HERO_POWER,
    LABELS,
    PLACE_MINION,
    PLAY_SPELL,
    GameState,
    Minion,
    Target,
)
from referee.games.contract import Player

_CARDS = len(LABELS)
_NUMBERS = ("own health", "opponent's health", "own mana", "opponent's mana", "cards in the opponent's hand")
_MINION = ("attack", "health", "maximum health", "turns in play", "may attack")
_OWN_BOARD = len(_NUMBERS) + HAND_SIZE * _CARDS
_PER_MINION = _CARDS + len(_MINION)
_TARGETS = range(BOARD_SIZE + 1)


def _names(board: str) -> list[str]:
    places = [f"{board} {place}" for place in range(1, BOARD_SIZE + 1)]
    return [f"{place}: {what}" for place in places for what in (*LABELS, *_MINION)]


class CardGameArrays(ListedEncoding):
    """An action is the hero power, a minion placed, a spell without and with a target, an attack, or the turn's end."""

    channels = (
        *_NUMBERS,
        *[f"hand {place}: {card}" for place in range(HAND_SIZE) for card in LABELS],
        *_names("own minion"),
        *_names("opponent's minion"),
    )
    answers = (
        [HERO_POWER, []],
        *[[PLACE_MINION, [index]] for index in range(HAND_SIZE)],
        *[[PLAY_SPELL, [index]] for index in range(HAND_SIZE)],
        *[[PLAY_SPELL, [index, target]] for index in range(HAND_SIZE) for target in _TARGETS],
        *[[ATTACK, [source, target]] for source in range(1, BOARD_SIZE + 1) for target in _TARGETS],
        [END_TURN, []],
    )

    @staticmethod
    def key(answer: Any) -> Any:
        return answer[0], *answer[1]

    def observe(self, view: GameState, player: Player) -> NDArray[np.float32]:
        numbers = np.zeros(len(self.channels), np.float32)
        healths = view.player_health, view.opponent_health
        numbers[: len(_NUMBERS)] = *healths, view.player_mana, view.opponent_mana, view.n_opponent_hand
        for index, card in enumerate(view.player_hand):
            numbers[len(_NUMBERS) + index * _CARDS + card.id] = 1
        _put(numbers, _OWN_BOARD, view.player_target)
        _put(numbers, _OWN_BOARD + BOARD_SIZE * _PER_MINION, view.opponent_target)
        return numbers


def _put(numbers: NDArray[np.float32], start: int, targets: Sequence[Target]) -> None:
    for target in targets:
        if isinstance(target, Minion):
            place = start + (target.zone_position - 1) * _PER_MINION
            numbers[place + target.id] = 1
            end = place + _PER_MINION
            numbers[place + _CARDS : end] = (
                target.atk,
                target.health,
                target.max_health,
                target.turns_in_play,
                target.can_attack,
            )


ENCODING = CardGameArrays
