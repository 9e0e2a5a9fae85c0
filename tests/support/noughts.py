"""A player of tic-tac-toe that was written from the rules alone, without the referee.

`Player.hear` takes an event of the stream and returns the move to post, if any.
"""

from functools import cache

FLIP = "(╯°□°)╯︵ ┻━┻"
CELLS = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@cache
def worth(board: str, mover: str) -> int:
    """Returns 1, 0 or -1: the best result for the side to move."""
    other = "X" if mover == "O" else "O"
    if any(board[a] == board[b] == board[c] == other for a, b, c in LINES):
        return -1
    if "." not in board:
        return 0
    return max(-worth(board[:i] + mover + board[i + 1 :], other) for i in range(9) if board[i] == ".")


class Player:
    """Follows one battle by its events."""

    def __init__(self) -> None:
        self.me = ""
        self.board = "........."
        self.turn = "O"
        self.flipped = False
        self.heard: list[dict[str, str]] = []

    def hear(self, event: dict[str, str]) -> dict[str, str] | None:
        """Takes an event and returns the move to post."""
        self.heard.append(event)
        if "youAre" in event:
            self.me = event["youAre"]
            return self.move() if self.me == "O" else None
        if "player" not in event:
            return None
        if event["player"] == self.me:
            if event.get("action") == "putSymbol":
                self.put(event["position"], self.me)
            return None
        index = CELLS.index(event["position"]) if event.get("position") in CELLS else -1
        if event.get("action") != "putSymbol" or index < 0 or self.board[index] != "." or self.turn == self.me:
            return None if self.flipped else self.flip()
        self.put(event["position"], event["player"])
        return self.move() if "." in self.board and worth(self.board, self.me) > -2 and not self.over() else None

    def flip(self) -> dict[str, str]:
        """The answer to an invalid move."""
        self.flipped = True
        return {"action": FLIP}

    def over(self) -> bool:
        """Whether somebody has three in a line."""
        return any(self.board[a] == self.board[b] == self.board[c] != "." for a, b, c in LINES)

    def put(self, cell: str, symbol: str) -> None:
        """Follows a move."""
        index = CELLS.index(cell)
        self.board = self.board[:index] + symbol + self.board[index + 1 :]
        self.turn = "X" if symbol == "O" else "O"

    def move(self) -> dict[str, str]:
        """The best move, the first of equals."""
        other = "X" if self.me == "O" else "O"
        if self.board == ".........":
            return {"action": "putSymbol", "position": "NW"}
        free = [i for i in range(9) if self.board[i] == "."]
        best = min(free, key=lambda i: worth(self.board[:i] + self.me + self.board[i + 1 :], other))
        return {"action": "putSymbol", "position": CELLS[best]}
