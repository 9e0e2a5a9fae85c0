"""The search of `@advanced` at Connect Four (connectfour.md B2): alpha-beta on bitboards.

A position has a value only if the search reaches a win: the sooner the win, the higher the value.
"""

from typing import Any

from referee.games.connectfour import (
    COLUMNS,
    FALLING,
    FULL,
    LOWEST,
    RIGHT,
    RISING,
    ROWS,
    STRIDE,
    UP,
    ConnectFour,
    landing,
)
from referee.games.contract import Player
from referee.games.dice import Dice

DEPTH = 9
ORDER = (3, 2, 4, 1, 5, 0, 6)
"""The columns, from the centre outwards."""
IN_COLUMN = tuple((1 << ROWS) - 1 << STRIDE * column for column in ORDER)

Known = dict[tuple[int, int], tuple[int, int]]
"""The bounds of the values of positions, by the mover's and the rival's tokens. In one search, a position is always
reached at the same depth."""


def best(position: ConnectFour, player: Player, dice: Dice, depth: int = DEPTH) -> dict[str, Any]:
    """Returns the answer with the best result within `depth` plies, the first in ORDER of several."""
    own, rival = position.tokens[player], position.tokens[1 - player]
    known: Known = {}
    chosen, most = "", -depth - 1
    for column in ORDER:
        cell = landing(own | rival, column)
        if not cell:
            continue
        if cell & completing(own, own | rival):
            return {"action": "putToken", "column": COLUMNS[column]}
        value = -outlook(rival, own | cell, depth - 1, -depth, -most, known)
        if value > most:
            chosen, most = COLUMNS[column], value
    return {"action": "putToken", "column": chosen}


def outlook(own: int, rival: int, depth: int, low: int, high: int, known: Known) -> int:
    """Returns the value of a position for the player to move, who has the tokens `own`.

    An immediate win is worth `depth`, a win with the next own token `depth` - 2, and so on; losses are negative.
    The value is exact between `low` and `high`, otherwise a bound.
    """
    taken = own | rival
    cells = taken + LOWEST & FULL
    if not depth or not cells:
        return 0
    if cells & completing(own, taken):
        return depth
    if depth == 1:
        return 0
    if must := cells & completing(rival, taken):
        if must & must - 1:
            return 1 - depth  # the rival has two winning cells
        cells = must
    least, most = known.get((own, rival), (1 - depth, max(0, depth - 2)))
    low, high = max(low, least), min(high, most)
    if low >= high:
        return least if low == least else most
    value = -depth
    for column in IN_COLUMN:
        if cell := cells & column:
            value = max(value, -outlook(rival, own | cell, depth - 1, -high, -max(low, value), known))
            if value >= high:
                break
    known[own, rival] = (value if value > low else least, value if value < high else most)
    return value


def completing(tokens: int, taken: int) -> int:
    """Returns the free cells in which one more token makes four in a row."""
    found = tokens << UP & tokens << 2 * UP & tokens << 3 * UP
    for step in (RIGHT, RISING, FALLING):
        two = tokens << step & tokens << 2 * step
        found |= two & (tokens << 3 * step | tokens >> step)
        two = tokens >> step & tokens >> 2 * step
        found |= two & (tokens >> 3 * step | tokens << step)
    return found & FULL & ~taken
