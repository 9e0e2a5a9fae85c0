"""`@advanced`: the Arena's strong opponent (tictactoe.md, quoridor.md and connectfour.md, B2)."""

from functools import cache
from typing import Any

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.tictactoe import CELLS, LINES, SYMBOLS, TicTacToe
from referee.harness.opponents._connectfour import best as best_nine_plies
from referee.harness.opponents._follow import follow
from referee.harness.opponents._quoridor import best as best_two_plies
from referee.harness.opponents._serve import Start, serve


def perfect_cell(position: TicTacToe, player: Player, dice: Dice) -> Any:
    """Tic-tac-toe: the quickest win, else a draw, else the slowest loss; the first of equal cells from NW to SE."""
    board, symbol, rival = "".join(position.board), SYMBOLS[player], SYMBOLS[1 - player]
    empty = [index for index in range(9) if board[index] == "."]
    best = max(empty, key=lambda index: -outlook(_put(board, index, symbol), rival, symbol))
    return {"action": "putSymbol", "position": CELLS[best]}


@cache
def outlook(board: str, mover: str, rival: str) -> int:
    """Returns the best result for `mover`: positive for a win, higher if sooner; 0 for a draw; negative for a loss.

    `board` is nine characters, row by row from the top left.
    """
    if any(board[a] == board[b] == board[c] == rival for a, b, c in LINES):
        return -1 - board.count(".")
    if "." not in board:
        return 0
    return max(-outlook(_put(board, index, mover), rival, mover) for index in range(9) if board[index] == ".")


def _put(board: str, index: int, symbol: str) -> str:
    return board[:index] + symbol + board[index + 1 :]


GAMES: dict[str, Start] = {
    "connectfour": follow(best_nine_plies),
    "quoridor": follow(best_two_plies),
    "tictactoe": follow(perfect_cell),
}


if __name__ == "__main__":
    serve("advanced", GAMES)
