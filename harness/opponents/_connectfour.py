"""The search of `@advanced` at Connect Four (connectfour.md B2): alpha-beta on bitboards.

A position has a value only if the search reaches a win: the sooner the win, the higher the value.
"""

from typing import Any

from referee.games.connectfour import COLUMNS, Board, ConnectFour
from referee.games.contract import Player
from referee.games.dice import Dice

DEPTH = 9


def best(position: ConnectFour, player: Player, dice: Dice, depth: int = DEPTH) -> dict[str, Any]:
    """Returns the answer with the best result within `depth` plies, the first in `order` of several."""
    search = Search(position.board)
    own, rival = position.tokens[player], position.tokens[1 - player]
    chosen, most = "", -depth - 1
    for column in search.order:
        cell = position.board.landing(own | rival, column)
        if not cell:
            continue
        if cell & search.completing(own, own | rival):
            return {"action": "putToken", "column": COLUMNS[column]}
        value = -search.outlook(rival, own | cell, depth - 1, -depth, -most)
        if value > most:
            chosen, most = COLUMNS[column], value
    return {"action": "putToken", "column": chosen}


class Search:
    """The search on a board of one size. In one search, a position is always reached at the same depth."""

    def __init__(self, board: Board) -> None:
        self.board = board
        middle = (board.columns - 1) / 2
        self.order = sorted(range(board.columns), key=lambda column: abs(column - middle))
        """The columns, from the centre outwards, left before right."""
        self.in_column = [((1 << board.rows) - 1) << board.stride * column for column in self.order]
        self.known: dict[tuple[int, int], tuple[int, int]] = {}
        """The bounds of the values of positions, by the mover's and the rival's tokens."""
        self.shifts = [[step * number for number in range(1, board.inarow)] for step in board.directions]
        """For each direction, from a cell to the others of a line that begins there."""
        self.next_to: dict[int, int] = {}
        """The cells that complete a line, by the tokens."""

    def outlook(self, own: int, rival: int, depth: int, low: int, high: int) -> int:
        """Returns the value of a position for the player to move, who has the tokens `own`.

        An immediate win is worth `depth`, a win with the next own token `depth` - 2, and so on; losses are negative.
        The value is exact between `low` and `high`, otherwise a bound.
        """
        taken = own | rival
        cells = taken + self.board.lowest & self.board.full
        if not depth or not cells:
            return 0
        if cells & self.completing(own, taken):
            return depth
        if depth == 1:
            return 0
        if must := cells & self.completing(rival, taken):
            if must & must - 1:
                return 1 - depth  # the rival has two winning cells
            cells = must
        least, most = self.known.get((own, rival), (1 - depth, max(0, depth - 2)))
        low, high = max(low, least), min(high, most)
        if low >= high:
            return least if low == least else most
        value = -depth
        for column in self.in_column:
            if cell := cells & column:
                value = max(value, -self.outlook(rival, own | cell, depth - 1, -high, -max(low, value)))
                if value >= high:
                    break
        self.known[own, rival] = (value if value > low else least, value if value < high else most)
        return value

    def completing(self, tokens: int, taken: int) -> int:
        """Returns the free cells in which one more token completes a line."""
        found = self.next_to.get(tokens)
        if found is None:
            found = self.next_to[tokens] = self._next_to(tokens)
        return found & ~taken

    def _next_to(self, tokens: int) -> int:
        """Returns the cells which make a line with the tokens before and after them, one of each direction."""
        found = 0
        for shifts in self.shifts:
            before = [self.board.full]  # the cells with this many tokens right before them
            for shift in shifts:
                before.append(before[-1] & tokens << shift)
            found |= before.pop()
            after = self.board.full
            for shift in shifts:
                after &= tokens >> shift
                found |= after & before.pop()
        return found
