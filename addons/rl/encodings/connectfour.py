"""Connect Four as arrays: planes of the board from the top left; its columns and the flip."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.addons.rl.encodings.boards import BoardArrays
from referee.games.arena import FLIP
from referee.games.connectfour import COLUMNS, SIDES, Options
from referee.games.game import Game


class ConnectFourArrays(BoardArrays):
    """An action is the column from the left; the last one is the flip."""

    channels = ("own tokens", "opponent's tokens", "1 everywhere: flip the table now")
    sides, signs = SIDES, ("R", "Y")

    def __init__(self, game: Game, options: Options) -> None:
        self.plane = (options.rows, options.columns)
        columns = COLUMNS[: options.columns]
        self.answers = (*[{"action": "putToken", "column": column} for column in columns], {"action": FLIP})
        super().__init__(game, options)

    @staticmethod
    def key(answer: Any) -> Any:
        return answer.get("column")

    def free(self, empty: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The columns whose top cell is empty."""
        return empty[:, : self.plane[1]]


ENCODING = ConnectFourArrays
