"""Plays tic-tac-toe perfectly, and flips the table when, and only when, the rival's move was invalid or out of turn."""

from functools import cache

from referee_kit.tictactoe import CELLS, FLIP, Action, ArenaEvent, TicTacToeBot, run

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class Perfect(TicTacToeBot):
    def __init__(self) -> None:
        self.me = ""
        self.board = "." * 9
        self.to_move = "O"
        self.rival_was_invalid = False

    def event(self, event: ArenaEvent) -> None:
        if event.player is None:
            self.me = event.you_are or self.me
            return
        cell = CELLS.index(event.position) if event.position in CELLS else None
        if (
            event.action == "putSymbol"
            and cell is not None
            and self.board[cell] == "."
            and event.player == self.to_move
        ):
            self.board = put(self.board, cell, event.player)
            self.to_move = "X" if self.to_move == "O" else "O"
        elif event.player != self.me:
            self.rival_was_invalid = True  # a flip too: had it been right, nobody would ask us again

    def play(self, id: str) -> Action:
        if self.rival_was_invalid:
            return Action(FLIP)
        return Action("putSymbol", CELLS[best(self.board, self.me)[1]])


def put(board: str, cell: int, symbol: str) -> str:
    return board[:cell] + symbol + board[cell + 1 :]


@cache
def best(board: str, mover: str) -> tuple[int, int]:
    """(value, cell) of the mover's best move, the first of several: 1 wins, 0 draws, -1 loses."""
    return max(
        ((value(put(board, cell, mover), mover), cell) for cell in range(9) if board[cell] == "."),
        key=lambda outcome: outcome[0],
    )


def value(board: str, mover: str) -> int:
    """The position after `mover` moved, for the mover."""
    if any(board[a] == board[b] == board[c] == mover for a, b, c in LINES):
        return 1
    return 0 if "." not in board else -best(board, "X" if mover == "O" else "O")[0]


if __name__ == "__main__":
    run(Perfect)
