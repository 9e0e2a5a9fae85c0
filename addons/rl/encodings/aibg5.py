"""AIBG 5 as arrays: planes of 29 × 29 by r + 14 and q + 14; moves by direction, attacks by offset."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encoding import FiniteEncoding
from referee.games.aibg5 import ATTACK_RANGE, CELLS, KINDS, RADIUS, SEATS, SIZE, GameState
from referee.games.contract import Player
from referee.games.hexgrid import DIRECTIONS, length
from referee.harness.seats.decision import Decision

_REACH = range(-ATTACK_RANGE, ATTACK_RANGE + 1)
_OFFSETS = tuple((q, r) for r in _REACH for q in _REACH if 0 < length(q, r) <= ATTACK_RANGE)
_WORDS = tuple([*[("move", *offset) for offset in DIRECTIONS], *[("attack", *offset) for offset in _OFFSETS]])
_NUMBERS = {words: number for number, words in enumerate(_WORDS)}
_NOTHING = len(_WORDS)
_PLACE = {kind: 1 + number for number, kind in enumerate(KINDS[1:])}  # after the plane of the board
_ATTACKED, _SHIPS = 7, 8
_STATS = _SHIPS + SEATS


class AIBG5Arrays(FiniteEncoding):
    """An action is a move (0 to 5), an attack (6 to 41), or 42 in a black hole, where no action counts."""

    channels = (
        "cells of the board",
        "black holes",
        "wormholes: the pair's id + 1",
        "health",
        "experience",
        "asteroids: their health",
        "the boss",
        "hit by the boss in its last turn",
        "own ship",
        "the ship of the next player",
        "the ship of the player after that",
        "the ship of the last player",
        "health of the ship here",
        "its power",
        "its level",
        "its kills",
        "its deaths",
        "its score",
        "turns that it still loses in a black hole",
    )
    plane = (SIZE, SIZE)
    actions = _NOTHING + 1
    _board = np.zeros(plane, np.float32)
    for _q, _r in CELLS:
        _board[_r + RADIUS, _q + RADIUS] = 1

    def observe(self, view: GameState, player: Player) -> NDArray[np.float32]:
        planes = np.zeros(self.shape, np.float32)
        planes[0] = self._board
        for row in view.map.tiles:
            for tile in row:
                entity = tile.entity
                if entity.type != "EMPTY":
                    value: Any = 1
                    if entity.type == "WORMHOLE":
                        value = entity.id + 1  # type: ignore[operator] # a wormhole has one
                    elif entity.type == "ASTEROID":
                        value = entity.health
                    planes[_PLACE[entity.type], tile.r + RADIUS, tile.q + RADIUS] = value
        for attacked in view.boss.bossAttackedTiles:
            planes[_ATTACKED, attacked.r + RADIUS, attacked.q + RADIUS] = 1
        ships = (view.player1, view.player2, view.player3, view.player4)
        for seat, ship in enumerate(ships):
            if ship is not None:
                y, x = ship.r + RADIUS, ship.q + RADIUS
                planes[_SHIPS + (seat - player) % SEATS, y, x] = 1
                stats = ship.health, ship.power, ship.level, ship.kills, ship.deaths, ship.score, ship.trapDuration
                planes[_STATS:, y, x] = stats
        return planes

    def number(self, answer: Any, decision: Decision) -> int:
        if not answer["action"]:
            return _NOTHING
        word, q, r = answer["action"].split(",")
        own_q, own_r = _place(decision)
        return _NUMBERS[word, int(q) - own_q, int(r) - own_r]

    def _answer(self, number: int, decision: Decision) -> Any:
        if number == _NOTHING:
            return {"action": ""}
        word, q, r = _WORDS[number]
        own_q, own_r = _place(decision)
        return {"action": f"{word},{own_q + q},{own_r + r}"}


def _place(decision: Decision) -> tuple[int, int]:
    ship = getattr(decision.view, f"player{decision.player + 1}")
    return ship.q, ship.r


ENCODING = AIBG5Arrays
