"""A bot that takes if it can, and else moves its first pawn that is free to move."""

from typing import Any

from referee_kit.wire import Bot, run


class First(Bot):
    game = "@game@"

    def call(self, method: str, params: dict[str, Any]) -> Any:
        if method != "play":
            return super().call(method, params)
        board, own = params["board"], params["sign"]
        moves = []
        for row in range(len(board)):
            ahead = row - 1 if own == "o" else row + 1
            for column in range(len(board[row])):
                if board[row][column] != own or not 0 <= ahead < len(board):
                    continue
                for to in (column - 1, column + 1, column):
                    if not 0 <= to < len(board[row]):
                        continue
                    there = board[ahead][to]
                    takes = to != column and there not in (own, ".")
                    if takes or (to == column and there == "."):
                        moves.append((not takes, square(column, row), square(to, ahead)))
        _, pawn, to = min(moves, key=lambda move: move[0])
        return {"pawn": pawn, "to": to}


def square(column: int, row: int) -> str:
    return f"{'abcdefg'[column]}{3 - row}"


run(First)
