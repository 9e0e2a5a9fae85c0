"""ReAntics as arrays: planes of 10 × 10 by y and x in the player's own frame; a kind of move and two tiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from referee.addons.rl.encoding import Encoding, number_in
from referee.games.contract import Player
from referee.games.reantics import (
    ANTHILL,
    BOARD_LENGTH,
    BUILD,
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

if TYPE_CHECKING:
    from gymnasium import spaces

_TILES = BOARD_LENGTH * BOARD_LENGTH
_ANTS = ("queen", "worker", "drone", "soldier", "ranged soldier")
_CARRYING, _MOVED, _BUILDINGS, _GRASS, _FOOD, _STORED, _PHASES = 10, 11, 12, 16, 17, 18, 20
_ENDS = 5
"""The value of `move` that ends the turn. 0 moves an ant, 1 to 4 build one."""
_OWN_ROWS, _ENEMY_ROWS = range(4), range(6, 10)


class ReAnticsArrays(Encoding):
    """An action has `move`, `from` and `to`. A placement places one piece on `to`, an attack attacks `to`."""

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

    def action_space(self) -> spaces.Dict:
        from gymnasium import spaces

        tiles = {"from": spaces.Discrete(_TILES), "to": spaces.Discrete(_TILES)}
        return spaces.Dict({"move": spaces.Discrete(_ENDS + 1), **tiles})

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

    def answer(self, action: Mapping[str, Any], decision: Decision) -> Any:
        """Of the paths that lead from one tile to the other, takes the first of `State.legal`."""
        kind = number_in(action, "move")
        start, end = _coords(number_in(action, "from")), _coords(number_in(action, "to"))
        method = decision.call.method
        if method is GET_ATTACK:
            return end
        if method is not GET_MOVE:
            return [end]
        if kind == _ENDS:
            return Move(END)
        if kind:
            own = decision.view.inventories[decision.player].constrs
            return Move(BUILD, tuple([each.coords for each in own if each.type == ANTHILL]), kind)
        return next((move for move in decision.legal() if _ends_of(move) == (start, end)), Move(MOVE_ANT, (start, end)))

    def legal(self, decision: Decision) -> list[dict[str, int]]:
        method = decision.call.method
        if method is GET_ATTACK:
            return [_action(0, (0, 0), target) for target in decision.legal()]
        if method is not GET_MOVE:
            return [_action(0, (0, 0), tile) for tile in _free_tiles(decision.view)]
        actions: dict[tuple[int, ...], dict[str, int]] = {}
        for move in decision.legal():
            kind = _ENDS if move.moveType == END else move.buildType or 0
            action = _action(kind, *(_ends_of(move) or ((0, 0), (0, 0))))
            actions.setdefault(tuple(action.values()), action)
        return list(actions.values())


def _action(kind: int, start: tuple[int, int], end: tuple[int, int]) -> dict[str, int]:
    return {"move": kind, "from": BOARD_LENGTH * start[1] + start[0], "to": BOARD_LENGTH * end[1] + end[0]}


def _coords(tile: int) -> tuple[int, int]:
    if not 0 <= tile < _TILES:
        raise ValueError(f"tile {tile}: expected 0 to {_TILES - 1}")
    return tile % BOARD_LENGTH, tile // BOARD_LENGTH


def _ends_of(move: Move) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Returns the first and the last tile of a path; None if no ant moves."""
    if move.moveType != MOVE_ANT or not move.coordList:
        return None
    return move.coordList[0], move.coordList[-1]


def _free_tiles(view: GameState) -> list[tuple[int, int]]:
    """Returns the tiles that the next piece may go to: empty ones of the own side, or of the enemy's for food."""
    taken = {each.coords for inventory in view.inventories for each in inventory.constrs}
    rows = _OWN_ROWS if view.phase == SETUP_PHASE_1 else _ENEMY_ROWS
    return [(x, y) for y in rows for x in range(BOARD_LENGTH) if (x, y) not in taken]


ENCODING = ReAnticsArrays
