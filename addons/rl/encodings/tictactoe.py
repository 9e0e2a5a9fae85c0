"""Tic-tac-toe as arrays: planes of 3 × 3 from the top left; 9 cells and the flip."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encodings.boards import BoardArrays
from referee.games.arena import FLIP
from referee.games.tictactoe import CELLS, SYMBOLS


class TicTacToeArrays(BoardArrays):
    """An action is the cell's place in `CELLS`, or 9 for the flip."""

    channels = ("own symbols", "opponent's symbols", "1 everywhere: flip the table now")
    plane = (3, 3)
    answers = (*[{"action": "putSymbol", "position": cell} for cell in CELLS], {"action": FLIP})
    sides, signs = SYMBOLS, SYMBOLS

    @staticmethod
    def key(answer: Any) -> Any:
        return answer.get("position")

    def free(self, empty: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return empty


ENCODING = TicTacToeArrays
