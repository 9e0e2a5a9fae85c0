"""Connect Four as arrays: planes of 6 × 7 from the top left; 7 columns and the flip."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.games.arena import FLIP
from referee.games.connectfour import COLUMNS, ROWS, SIDES
from referee.harness.rl.encodings.boards import BoardArrays


class ConnectFourArrays(BoardArrays):
    """An action is the column from the left, or 7 for the flip."""

    channels = ("own tokens", "opponent's tokens", "1 everywhere: flip the table now")
    plane = (ROWS, len(COLUMNS))
    answers = (*[{"action": "putToken", "column": column} for column in COLUMNS], {"action": FLIP})
    sides, signs = SIDES, ("R", "Y")

    @staticmethod
    def key(answer: Any) -> Any:
        return answer.get("column")

    def free(self, empty: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The columns whose top cell is empty."""
        return empty[:, : len(COLUMNS)]


ENCODING = ConnectFourArrays
