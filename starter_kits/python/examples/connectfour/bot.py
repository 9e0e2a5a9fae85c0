"""Looks six plies ahead, and flips the table when, and only when, the rival's move was invalid or out of turn."""

from referee_kit.connectfour import COLUMNS, FLIP, RED, ROWS, YELLOW, Action, ArenaEvent, ConnectFourBot, run

DEPTH = 6
ORDER = (3, 2, 4, 1, 5, 0, 6)  # the columns from the middle outwards

# A set of cells is an integer: seven bits a column from its lowest cell on, the seventh always 0. So two cells that are
# neighbours in a direction are the same number of bits apart everywhere, and no line runs over the edge.
STRIDE = ROWS + 1
DIRECTIONS = (1, STRIDE - 1, STRIDE, STRIDE + 1)


class Dropper(ConnectFourBot):
    def __init__(self) -> None:
        self.me = ""
        self.tokens = {RED: 0, YELLOW: 0}
        self.to_move = RED
        self.rival_was_invalid = False

    def event(self, event: ArenaEvent) -> None:
        if event.player is None:
            self.me = event.you_are or self.me
            return
        cell = 0
        if event.action == "putToken" and event.column in COLUMNS and event.player == self.to_move:
            cell = landing(self.tokens[RED] | self.tokens[YELLOW], COLUMNS.index(event.column))
        if cell:
            self.tokens[event.player] |= cell
            self.to_move = other(self.to_move)
        elif event.player != self.me:
            self.rival_was_invalid = True  # a flip too: had it been right, nobody would ask us again

    def play(self, id: str) -> Action:
        if self.rival_was_invalid:
            return Action(FLIP)
        _, column = best(self.tokens[self.me], self.tokens[other(self.me)], DEPTH, -DEPTH, DEPTH)
        return Action("putToken", COLUMNS[column])


def best(own: int, rival: int, depth: int, low: int, high: int) -> tuple[int, int]:
    """(value, column) of the mover's best move within `depth` plies, the first of several: above 0 it wins, the sooner
    the higher, below 0 it loses. Only what lies between `low` and `high` matters."""
    chosen = (-DEPTH - 1, 0)
    for column in ORDER if depth else ():
        cell = landing(own | rival, column)
        if cell:
            won = has_four(own | cell)
            value = depth if won else -best(rival, own | cell, depth - 1, -high, -max(low, chosen[0]))[0]
            if value > chosen[0]:
                chosen = value, column
            if value >= high:
                break
    return chosen if chosen[0] >= -DEPTH else (0, 0)  # a full board, or the end of what it looks at


def landing(taken: int, column: int) -> int:
    """The lowest free cell of a column, as a set; 0 if it is full."""
    lowest = 1 << STRIDE * column
    return taken + lowest & (lowest << ROWS) - lowest


def has_four(tokens: int) -> bool:
    for step in DIRECTIONS:
        pairs = tokens & tokens >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


def other(side: str) -> str:
    return YELLOW if side == RED else RED


if __name__ == "__main__":
    run(Dropper)
