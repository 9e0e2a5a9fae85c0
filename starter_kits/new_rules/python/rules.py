"""Hexapawn: pawns against pawns on three rows. Change it into a game of your own.

A pawn moves a step forward to a free square, or a step diagonally forward to take. A player wins by reaching the far
row, or if the other one cannot move.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from referee_kit.rules import Fault, Luck, Result, Rules, Turn, run

SIGNS = "ox"
ROWS = 3


class Position(TypedDict):
    """The whole position: `schemas/position.json`."""

    board: list[str]
    turn: int


class Hexapawn(Rules[Position]):
    """The rules. They keep nothing between two requests."""

    game = "@game@"

    def start(self, options: Any, seats: int, luck: Luck) -> Turn[Position]:
        width = options["width"]
        return asking({"board": ["x" * width, "." * width, "o" * width], "turn": 0})

    def step(self, position: Position, answers: Mapping[int, Any], luck: Luck) -> Turn[Position]:
        seat = position["turn"]
        move = answers[seat]
        if isinstance(move, Fault):
            return lost(position, seat, move.kind).punish(seat)
        if move not in list(moves(position)):
            detail = f"{move['pawn']} to {move['to']} is no move now"
            return lost(position, seat, "illegal").refuse(seat, detail)
        board = [list(row) for row in position["board"]]
        set_sign(board, move["pawn"], ".")
        set_sign(board, move["to"], SIGNS[seat])
        after: Position = {"board": ["".join(row) for row in board], "turn": 1 - seat}
        return asking(after).notice("moved", {"seat": seat, **move})

    def legal(self, position: Position, seat: int, most: int) -> list[Any]:
        return list(moves(position))[:most]


def asking(position: Position) -> Turn[Position]:
    """Returns the turn of a position: the next call, or the result."""
    turn = Turn(position, text="\n".join(position["board"]))
    seat = position["turn"]
    if SIGNS[1 - seat] in position["board"][ROWS - 1 if seat == 0 else 0]:
        turn.result = won(1 - seat, "far_row")
    elif next(moves(position), None) is None:
        turn.result = won(1 - seat, "no_move")
    else:
        turn.ask(seat, "play", {"board": position["board"], "sign": SIGNS[seat]})
    return turn


def lost(position: Position, seat: int, reason: str) -> Turn[Position]:
    """Returns the turn in which a seat loses by a fault."""
    return Turn(position, text="\n".join(position["board"]), result=won(1 - seat, reason))


def won(winner: int, reason: str) -> Result:
    return Result([1, 2], [1, 0], reason) if winner == 0 else Result([2, 1], [0, 1], reason)


def moves(position: Position) -> Iterator[dict[str, str]]:
    """Yields the moves of the player to move, pawn by pawn from the top left."""
    board, seat = position["board"], position["turn"]
    own, rival = SIGNS[seat], SIGNS[1 - seat]
    for row in range(ROWS):
        ahead = row - 1 if seat == 0 else row + 1
        if not 0 <= ahead < ROWS:
            continue
        for column in range(len(board[row])):
            if board[row][column] != own:
                continue
            for to, needed in ((column - 1, rival), (column, "."), (column + 1, rival)):
                if 0 <= to < len(board[row]) and board[ahead][to] == needed:
                    yield {"pawn": square(column, row), "to": square(to, ahead)}


def square(column: int, row: int) -> str:
    """Returns the name of a square. Row 0 is the top one."""
    return f"{'abcdefg'[column]}{ROWS - row}"


def set_sign(board: list[list[str]], name: str, sign: str) -> None:
    board[ROWS - int(name[1])]["abcdefg".index(name[0])] = sign


if __name__ == "__main__":
    run(Hexapawn)
