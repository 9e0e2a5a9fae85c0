"""Connect Four, the Arena's game of 2022, with the flipped table. Rules: connectfour.md, and tictactoe.md A4-B1.

Seat 0 plays `🔴` and moves first, seat 1 plays `🟡`. A bot keeps its own board from the events. The module
`referee.games.arena` has the flipped table and everything else that the Arena's games share.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.arena import UNKNOWN_ACTION, ArenaOptions, Battle, Play, as_printed, presentation
from referee.games.contract import Method, Player, Result, Standing, draw, win
from referee.games.game import Score, TimeControl, named

COLUMNS = ("A", "B", "C", "D", "E", "F", "G")  # from left to right (A1)
ROWS = 6
COLUMN_OF = {name: column for column, name in enumerate(COLUMNS)}

# A set of cells is an integer. A column takes seven bits from its lowest cell on, of which the seventh is always 0.
# A direction is then a constant number of bits, and no line crosses the edge.
STRIDE = ROWS + 1
UP, RIGHT, RISING, FALLING = 1, STRIDE, STRIDE + 1, STRIDE - 1
LOWEST = sum(1 << STRIDE * column for column in range(len(COLUMNS)))
FULL = LOWEST * ((1 << ROWS) - 1)

Side = Literal["🔴", "🟡"]
ActionType = Literal["putToken", "(╯°□°)╯︵ ┻━┻"]
Winner = Literal["🔴", "🟡", "draw"]
SIDES: tuple[Side, Side] = ("🔴", "🟡")
RED, YELLOW = SIDES
Column = Literal["A", "B", "C", "D", "E", "F", "G"]


class Action(Struct, frozen=True, omit_defaults=True):
    """An answer to `play`: a token dropped into a column, or the table flipped."""

    action: Annotated[ActionType, Meta(description="putToken, or the flip in kaomoji")]
    column: Annotated[Column | UnsetType, Meta(description="where the token falls, for putToken only")] = UNSET


class ArenaEvent(Struct, frozen=True, omit_defaults=True):
    """Who you are, what `player` did, or who won. Check `player` first: with it, the other members are as sent."""

    youAre: Annotated[Side | UnsetType, Meta(description="your token; the first event")] = UNSET
    id: Annotated[str | UnsetType, Meta(description="the battle's id, with youAre")] = UNSET
    player: Annotated[Side | UnsetType, Meta(description="the side that answered")] = UNSET
    action: Annotated[Any, Meta(description="putToken, the flip, or whatever was sent")] = UNSET
    column: Annotated[Any, Meta(description="the column, or whatever was sent")] = UNSET
    winner: Annotated[Winner | UnsetType, Meta(description="the last event")] = UNSET


class Options(ArenaOptions, frozen=True, forbid_unknown_fields=True):
    """Rule options of Connect Four."""


class View(Struct, frozen=True):
    """The board; nothing in this game is hidden."""

    board: Annotated[str, Meta(description="forty-two characters `R`, `Y` or `.`, row by row from the top left")]
    to_move: Annotated[Side | None, Meta(description="the side to move; null when the battle is over")]
    pending: Annotated[Side | None, Meta(description="the side whose invalid move has not been answered yet")]


class FullView(View, frozen=True):
    """The whole position."""

    pending_reason: Annotated[str, Meta(description="why the pending move was invalid")]
    standing: Standing


PLAY = Method(
    "play",
    Play,
    Action,
    "Your turn: drop a token into a column that has room, or flip the table right after your opponent's invalid move.",
    accepts=Any,  # an object that is no legal action is an invalid move and part of the game (A4)
    rules="connectfour.md, A4",
)
EVENT = Method("event", ArenaEvent, None, "Something happened. The members that are present say what.")
METHODS = {method.name: method for method in (PLAY, EVENT)}


class ConnectFour(Battle):
    """A position: the tokens, whose turn it is and whether an invalid move waits for its flip."""

    METHODS = METHODS
    MOVE = PLAY
    SIDES = SIDES
    WINS = ("RED_WIN", "YELLOW_WIN")
    EVENT_TYPE, VIEW, FULL_VIEW = ArenaEvent, View, FullView

    def start(self) -> None:
        self.tokens = (0, 0)
        """Red's and yellow's cells."""

    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        if answer.get("action") != "putToken":
            return UNKNOWN_ACTION
        column = answer.get("column", UNSET)
        if not isinstance(column, str) or column not in COLUMN_OF:
            return f"{as_printed(column)} is not a valid column"
        return None

    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        column = answer["column"]
        return None if landing(self.tokens[0] | self.tokens[1], COLUMN_OF[column]) else f"Column {column} is full"

    def play(self, player: Player, move: Mapping[str, Any]) -> Result | None:
        """Drops the token; four in a line win, a full board is a draw (A3)."""
        red, yellow = self.tokens
        cell = landing(red | yellow, COLUMN_OF[move["column"]])
        self.tokens = (red | cell, yellow) if player == 0 else (red, yellow | cell)
        if has_four(self.tokens[player]):
            return win(player, self.WINS[player])
        return draw("DRAW") if red | yellow | cell == FULL else None

    def moves(self, player: Player) -> Iterator[dict[str, Any]]:
        """The columns that are not full, from A to G."""
        taken = self.tokens[0] | self.tokens[1]
        for column, name in enumerate(COLUMNS):
            if landing(taken, column):
                yield {"action": "putToken", "column": name}

    def marks(self) -> dict[str, list[str]]:
        """`won`: the cells of the lines of four (A3), such as `B1`: the column, and the row from the bottom."""
        four = fours(self.tokens[0]) | fours(self.tokens[1])
        cells = [(column, row) for column in range(len(COLUMNS)) for row in range(ROWS)]
        won = [f"{COLUMNS[column]}{row + 1}" for column, row in cells if four >> STRIDE * column + row & 1]
        return {"won": won} if won else {}

    def key(self) -> bytes:
        red, yellow = self.tokens
        return f"{red:x} {yellow:x} {self.turn_key()}".encode("utf-8", "surrogatepass")

    def __str__(self) -> str:
        board = drawn(self.tokens)
        lines = [board[start : start + len(COLUMNS)] for start in range(0, len(board), len(COLUMNS))]
        return "\n".join([*lines, "".join(COLUMNS), *self.drawn_flip("RY")])

    def shown_board(self) -> tuple[str]:
        return (drawn(self.tokens),)

    def restore_board(self, view: View) -> None:
        if len(view.board) != len(_CELLS) or set(view.board) - set(".RY"):
            raise ValueError(f"the board is {view.board!r}; expected forty-two characters R, Y or .")
        red, yellow = (sum(cell for cell, sign in zip(_CELLS, view.board, strict=True) if sign == own) for own in "RY")
        taken = red | yellow
        if (floating := taken & ~(taken << UP | LOWEST)) != 0:
            column = (floating.bit_length() - 1) // STRIDE
            raise ValueError(f"a token of column {COLUMNS[column]} is above an empty cell")
        self.tokens = (red, yellow)


def landing(taken: int, column: int) -> int:
    """Returns the lowest free cell of a column, as a set; empty if it is full. `taken`: all tokens."""
    lowest = 1 << STRIDE * column
    return taken + lowest & (lowest << ROWS) - lowest


def has_four(tokens: int) -> bool:
    """Returns whether four of these cells form a line."""
    for step in (UP, RIGHT, RISING, FALLING):
        pairs = tokens & tokens >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


def threats(own: int, rival: int) -> int:
    """Counts the empty cells that would complete a line of four; a complete line counts too."""
    missing = [line & ~own for line in LINES_OF_FOUR]
    cells = {cells for cells in missing if cells.bit_count() == 1 and not cells & rival}
    return len(cells) + has_four(own)


def fours(tokens: int) -> int:
    """Returns the cells that are part of a line of four."""
    found = 0
    for step in (UP, RIGHT, RISING, FALLING):
        pairs = tokens & tokens >> step
        begin = pairs & pairs >> 2 * step
        found |= begin | begin << step | begin << 2 * step | begin << 3 * step
    return found


LINES_OF_FOUR = tuple(
    sum(1 << start + number * step for number in range(4))
    for step in (UP, RIGHT, RISING, FALLING)
    for start in range(STRIDE * len(COLUMNS))
    if all(FULL >> start + number * step & 1 for number in range(4))
)
_CELLS = tuple(1 << STRIDE * column + row for row in range(ROWS - 1, -1, -1) for column in range(len(COLUMNS)))
"""In the order of `View.board`."""


def drawn(tokens: tuple[int, int]) -> str:
    """Returns the board as `View` shows it."""
    red, yellow = tokens
    return "".join(["R" if red & cell else "Y" if yellow & cell else "." for cell in _CELLS])


GAME = ConnectFour.registration(
    "connectfour",
    "Connect Four",
    options=Options,
    time=TimeControl(initial_s=18.0, increment_s=2.0),
    vary={"opening": 4},
    presentation=presentation(
        "columns A-G from the left; seat 0 is 🔴, drawn R, seat 1 🟡, drawn Y",
        SIDES,
        {"putToken": "to"},
        ("R", "Y"),
        {"R": "🔴, seat 0", "Y": "🟡, seat 1", ".": "an empty cell"},
        {**dict.fromkeys(ConnectFour.WINS, "{winner} has four in a line"), "DRAW": "the board is full"},
        Score(
            "threats",
            "The empty cells that would complete a line of four; a complete line counts too.",
            lambda state: [threats(*state.tokens), threats(*reversed(state.tokens))],
        ),
        "column",
    ),
    doc=__doc__ or "",
    constants=named(globals(), "COLUMNS ROWS RED YELLOW"),
)
