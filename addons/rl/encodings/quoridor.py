"""Quoridor as arrays: planes of 9 × 9 by row, from row 1, and column; 81 squares, 128 walls and the flip."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encoding import ListedEncoding
from referee.games.arena import FLIP
from referee.games.contract import Player
from referee.games.quoridor import BOARD_LENGTH, SIDES, SQUARES, WALLS, View

_NUMBER = {square: number for number, square in enumerate(SQUARES)}
_WALL = {wall.name: (2 + (wall.sign == "|"), wall.square) for wall in WALLS}
"""The plane and the square of each wall."""


class QuoridorArrays(ListedEncoding):
    """An action is a square by row, from a1, then a wall in the order of `WALLS`, or 209 for the flip."""

    channels = (
        "own pawn",
        "opponent's pawn",
        "horizontal walls, on the square that names them",
        "vertical walls, likewise",
        "own goal row",
        "opponent's goal row",
        "own walls left, everywhere",
        "opponent's walls left, everywhere",
        "moves of both so far, everywhere",
        "1 everywhere: flip the table now",
    )
    plane = (BOARD_LENGTH, BOARD_LENGTH)
    answers = (
        *[{"action": "move", "position": square} for square in SQUARES],
        *[{"action": "putWall", "position": wall.name} for wall in WALLS],
        {"action": FLIP},
    )

    @staticmethod
    def key(answer: Any) -> Any:
        return answer.get("position")

    def observe(self, view: View, player: Player) -> NDArray[np.float32]:
        planes = np.zeros(self.shape, np.float32)
        flat = planes.reshape(self.shape[0], -1)
        flat[0, _NUMBER[view.pawns[player]]] = 1
        flat[1, _NUMBER[view.pawns[1 - player]]] = 1
        for name in view.walls:
            flat[_WALL[name]] = 1
        planes[4 + player, BOARD_LENGTH - 1] = planes[5 - player, 0] = 1
        planes[6], planes[7] = view.walls_left[player], view.walls_left[1 - player]
        planes[8] = view.plies
        planes[9] = view.pending == SIDES[1 - player]
        return planes


ENCODING = QuoridorArrays
