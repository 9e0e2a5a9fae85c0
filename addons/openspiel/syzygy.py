"""Ends matches of chess by Syzygy tables, which python-chess reads.

The option has the number of pieces, and the environment has the place: so a replay names no folder of a machine, and
gives the same result wherever the tables are.
"""

import os
from functools import cache
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from referee.addons.openspiel.adjudication import REASON
from referee.games.contract import Result, draw, win

if TYPE_CHECKING:
    import chess.syzygy

VARIABLE = "SYZYGY_PATH"
OPTION = "syzygy"
LEAST, MOST = 3, 7
"""The numbers of pieces for which there are tables, kings included."""
WON = 2
"""The value of a win that the rule of 50 moves does not take away; -2 is a loss."""
WHITE, BLACK = 1, 0
"""Seats."""
SHOWN = 3

Pieces = Annotated[
    int,
    Meta(
        ge=0,
        le=MOST,
        description="end a match by Syzygy tables of so many pieces, in the folders of SYZYGY_PATH; 0 = never",
    ),
]


class Tables:
    """The tables of up to a number of pieces."""

    def __init__(self, tablebase: "chess.syzygy.Tablebase", pieces: int) -> None:
        self._tablebase, self._pieces = tablebase, pieces

    def result(self, fen: str) -> Result | None:
        """Returns the result of a position that the tables know; None for any other.

        A table does not know castling, and how near the draw by the rule of 50 moves is.
        """
        import chess

        board = chess.Board(fen)
        if chess.popcount(board.occupied) > self._pieces or board.castling_rights or board.halfmove_clock:
            return None
        value = self._tablebase.probe_wdl(board)
        if abs(value) < WON:
            return draw(f"{REASON}: a draw by the Syzygy tables")
        winner = WHITE if board.turn == (value > 0) else BLACK
        return win(winner, f"{REASON}: won by the Syzygy tables")


@cache
def opened(pieces: int) -> Tables:
    """Opens the tables. ValueError, with what to do, if one is missing: results would depend on the machine."""
    if pieces < LEAST:
        raise ValueError(f"{OPTION}={pieces}: expected {LEAST} to {MOST} pieces, kings included")
    try:
        import chess.syzygy
    except ImportError:
        raise ValueError(f"{OPTION} needs python-chess: install the extra `engines`") from None
    tablebase = chess.syzygy.Tablebase()
    for folder in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        try:
            tablebase.add_directory(folder, load_dtz=False)
        except OSError as error:
            raise ValueError(f"{VARIABLE}: {folder}: {error.strerror}") from error
    missing = [name for name in chess.syzygy.tablenames(piece_count=pieces) if name not in tablebase.wdl]
    if missing:
        raise ValueError(
            f"{OPTION}={pieces} needs all tables of up to {pieces} pieces; {len(missing):,} are missing, such as "
            f"{', '.join(missing[:SHOWN])}: set {VARIABLE} to their folders"
        )
    return Tables(tablebase, pieces)
