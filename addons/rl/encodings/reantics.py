"""ReAntics as arrays: planes of 10 × 10 by y and x in the player's own frame; answers as a kind and two tiles."""

from itertools import islice
from typing import Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from referee.addons.rl.encoding import ChoiceEncoding
from referee.games.contract import Player
from referee.games.reantics import (
    ANTHILL,
    BOARD_LENGTH,
    END,
    GET_ATTACK,
    GET_MOVE,
    GRASS,
    MOVE_ANT,
    SETUP_PHASE_1,
    SETUP_PHASE_2,
    GameState,
    Move,
)
from referee.harness.seats.decision import Decision

_ANTS = ("queen", "worker", "drone", "soldier", "ranged soldier")
_CARRYING, _MOVED, _BUILDINGS, _GRASS, _FOOD, _STORED, _PHASES = 10, 11, 12, 16, 17, 18, 20
_ENDS, _PLACES, _ATTACKS = 5, 6, 7
"""Kinds of answers. 0 moves an ant, 1 to 4 build one."""
_OWN_ROWS, _ENEMY_ROWS = range(4), range(6, 10)


class ReAnticsArrays(ChoiceEncoding):
    """Of the paths of an ant from one tile to another, the first of `State.legal` counts. A placement is one piece."""

    actions = 256
    """More than any match has had. Of a longer list, the first ones count."""
    parts = ("kind", "from", "to")

    channels = (
        *[f"own {ant}: its health" for ant in _ANTS],
        *[f"enemy {ant}: its health" for ant in _ANTS],
        "the ant here carries food",
        "the ant here has moved",
        "own anthill: turns until it is captured",
        "own tunnel: likewise",
        "enemy anthill: likewise",
        "enemy tunnel: likewise",
        "grass",
        "food",
        "own food, everywhere",
        "enemy's food, everywhere",
        "phase 1, everywhere",
        "phase 2, everywhere",
    )
    plane = (BOARD_LENGTH, BOARD_LENGTH)

    def observe(self, view: GameState, player: Player) -> NDArray[np.float32]:
        planes = np.zeros(self.shape, np.float32)
        for seat, inventory in enumerate(view.inventories[:2]):
            rival = int(seat != player)
            planes[_STORED + rival] = inventory.foodCount
            for ant in inventory.ants:
                x, y = ant.coords
                planes[5 * rival + ant.type, y, x] = ant.health
                planes[_CARRYING, y, x], planes[_MOVED, y, x] = ant.carrying, ant.hasMoved
            for building in inventory.constrs:
                x, y = building.coords
                plane = _BUILDINGS + 2 * rival + (building.type != ANTHILL)
                health = building.captureHealth  # an enemy that stays on a tunnel lowers it without end
                planes[plane, y, x] = 1 if health is UNSET else max(0, health)
        for construction in view.inventories[2].constrs:
            x, y = construction.coords
            planes[_GRASS if construction.type == GRASS else _FOOD, y, x] = 1
        for phase in (SETUP_PHASE_1, SETUP_PHASE_2):
            planes[_PHASES + phase - SETUP_PHASE_1] = view.phase == phase
        return planes

    def choices(self, decision: Decision) -> dict[tuple[int, ...], Any]:
        """Returns the end of the turn, then what can be built, then the moves ant by ant."""
        method = decision.call.method
        if method is GET_ATTACK:
            return {(_ATTACKS, 0, _tile(target)): target for target in decision.legal()}
        if method is not GET_MOVE:
            return {(_PLACES, 0, _tile(place)): [place] for place in _free_tiles(decision.view)}
        found: dict[tuple[int, ...], Any] = {}
        for move in sorted(decision.legal(), key=_moves_last):
            found.setdefault(_row(move), move)
        return dict(islice(found.items(), self.actions))


def _moves_last(move: Move) -> int:
    return -move.moveType


def _row(move: Move) -> tuple[int, int, int]:
    if move.moveType == MOVE_ANT:
        assert move.coordList is not None
        return 0, _tile(move.coordList[0]), _tile(move.coordList[-1])
    return (_ENDS if move.moveType == END else move.buildType or 0), 0, 0


def _tile(place: tuple[int, int]) -> int:
    return BOARD_LENGTH * place[1] + place[0]


def _free_tiles(view: GameState) -> list[tuple[int, int]]:
    """Returns the tiles that the next piece may go to: empty ones of the own side, or of the enemy's for food."""
    taken = {each.coords for inventory in view.inventories for each in inventory.constrs}
    rows = _OWN_ROWS if view.phase == SETUP_PHASE_1 else _ENEMY_ROWS
    return [(x, y) for y in rows for x in range(BOARD_LENGTH) if (x, y) not in taken]


ENCODING = ReAnticsArrays
