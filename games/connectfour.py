"""Connect Four, the Arena's game of 2022, with the flipped table. Rules: connectfour.md, and tictactoe.md A4-B1.

Seat 0 plays `🔴` and moves first, seat 1 plays `🟡`. A bot keeps its own board from the events. The module
`referee.games.arena` has the flipped table and everything else that the Arena's games share.
"""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.arena import UNKNOWN_ACTION, ArenaOptions, Battle, Play, as_printed, presentation
from referee.games.contract import Method, Player, Result, Standing, draw, win
from referee.games.game import Score, TimeControl, named

COLUMNS = ("A", "B", "C", "D", "E", "F", "G")  # from left to right (A1)
ROWS = 6
IN_A_LINE = 4
MAX_ROWS = 100
COLUMN_OF = {name: column for column, name in enumerate(COLUMNS)}

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

    columns: Annotated[int, Meta(ge=1, le=len(COLUMNS), description="columns of the board, from A on")] = len(COLUMNS)
    rows: Annotated[int, Meta(ge=1, le=MAX_ROWS, description="cells of a column")] = ROWS
    inarow: Annotated[int, Meta(ge=1, le=MAX_ROWS, description="tokens in a line that win")] = IN_A_LINE


class View(Struct, frozen=True):
    """The board; nothing in this game is hidden."""

    board: Annotated[str, Meta(description="for each cell `R`, `Y` or `.`, row by row from the top left")]
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
        options = self.setup.options
        self.board = board_of(options.columns, options.rows, options.inarow)
        self.tokens = (0, 0)
        """Red's and yellow's cells."""

    def malformed(self, answer: Mapping[str, Any]) -> str | None:
        if answer.get("action") != "putToken":
            return UNKNOWN_ACTION
        column = answer.get("column", UNSET)
        if not isinstance(column, str) or COLUMN_OF.get(column, len(COLUMNS)) >= self.board.columns:
            return f"{as_printed(column)} is not a valid column"
        return None

    def forbidden(self, player: Player, answer: Mapping[str, Any]) -> str | None:
        column = answer["column"]
        free = self.board.landing(self.tokens[0] | self.tokens[1], COLUMN_OF[column])
        return None if free else f"Column {column} is full"

    def play(self, player: Player, move: Mapping[str, Any]) -> Result | None:
        """Drops the token; `inarow` tokens in a line win, a full board is a draw (A3)."""
        board, (red, yellow) = self.board, self.tokens
        cell = board.landing(red | yellow, COLUMN_OF[move["column"]])
        self.tokens = (red | cell, yellow) if player == 0 else (red, yellow | cell)
        if board.has_line(self.tokens[player]):
            return win(player, self.WINS[player] if board.inarow == IN_A_LINE else f"LINE: {board.inarow}")
        return draw("DRAW") if red | yellow | cell == board.full else None

    def moves(self, player: Player) -> Iterator[dict[str, Any]]:
        """The columns that are not full, from A to G."""
        taken = self.tokens[0] | self.tokens[1]
        for name, top in self.board.tops:
            if not taken & top:
                yield {"action": "putToken", "column": name}

    def marks(self) -> dict[str, list[str]]:
        """`won`: the cells of winning lines (A3), such as `B1`: the column, and the row from the bottom."""
        board, won = self.board, self.board.in_lines(self.tokens[0]) | self.board.in_lines(self.tokens[1])
        cells = [(column, row) for column in range(board.columns) for row in range(board.rows)]
        names = [f"{COLUMNS[column]}{row + 1}" for column, row in cells if won >> board.stride * column + row & 1]
        return {"won": names} if names else {}

    def key(self) -> bytes:
        red, yellow = self.tokens
        return f"{red:x} {yellow:x} {self.turn_key()}".encode("utf-8", "surrogatepass")

    def __str__(self) -> str:
        signs, width = self.board.drawn(self.tokens), self.board.columns
        lines = [signs[start : start + width] for start in range(0, len(signs), width)]
        return "\n".join([*lines, "".join(self.board.names), *self.drawn_flip("RY")])

    def shown_board(self) -> tuple[str]:
        return (self.board.drawn(self.tokens),)

    def restore_board(self, view: View) -> None:
        cells = self.board.cells
        if len(view.board) != len(cells) or set(view.board) - set(".RY"):
            raise ValueError(f"the board is {view.board!r}; expected {len(cells)} characters R, Y or .")
        red, yellow = (sum(cell for cell, sign in zip(cells, view.board, strict=True) if sign == own) for own in "RY")
        taken = red | yellow
        if (floating := taken & ~(taken << 1 | self.board.lowest)) != 0:
            column = (floating.bit_length() - 1) // self.board.stride
            raise ValueError(f"a token of column {COLUMNS[column]} is above an empty cell")
        self.tokens = (red, yellow)


class Board:
    """The cells of a board of one size, and its lines.

    A set of cells is an integer. A column takes `stride` bits from its lowest cell on, of which the last is always 0. A
    direction is then a constant number of bits, and no line crosses the edge.
    """

    def __init__(self, columns: int, rows: int, inarow: int) -> None:
        self.columns, self.rows, self.inarow = columns, rows, inarow
        self.names = COLUMNS[:columns]
        self.stride = rows + 1
        self.lowest = sum(1 << self.stride * column for column in range(columns))
        """The lowest cell of each column."""
        self.full = self.lowest * ((1 << rows) - 1)
        """All cells."""
        self.directions = (1, self.stride, self.stride + 1, self.stride - 1)
        """The steps up, to the right, and up and down to the right."""
        self.cells = tuple(
            [1 << self.stride * column + row for row in range(rows - 1, -1, -1) for column in range(columns)]
        )
        """Each cell as a set, in the order of `View.board`."""
        self.tops = tuple([(name, 1 << self.stride * column + rows - 1) for column, name in enumerate(self.names)])
        """The name of each column, and its highest cell."""
        self._digits = self.stride * columns
        self._rows_down = tuple([slice(self._digits - 1 - row, None, -self.stride) for row in reversed(range(rows))])
        self._shifts = tuple([tuple(_doubling(step, inarow)) for step in self.directions])

    def landing(self, taken: int, column: int) -> int:
        """Returns the lowest free cell of a column, as a set; empty if it is full. `taken`: all tokens."""
        lowest = 1 << self.stride * column
        return taken + lowest & (lowest << self.rows) - lowest

    def has_line(self, tokens: int) -> bool:
        """Returns whether `inarow` of these cells form a line."""
        for shifts in self._shifts:
            starts = tokens
            for shift in shifts:
                starts &= starts >> shift
            if starts:
                return True
        return False

    def in_lines(self, tokens: int) -> int:
        """Returns the cells that are part of a line."""
        found = 0
        for step in self.directions:
            starts = tokens
            for number in range(1, self.inarow):
                starts &= tokens >> number * step
            for number in range(self.inarow):
                found |= starts << number * step
        return found

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """All lines, each as the set of its cells."""
        return tuple(
            sum(1 << start + number * step for number in range(self.inarow))
            for step in self.directions
            for start in range(self.stride * self.columns)
            if all(self.full >> start + number * step & 1 for number in range(self.inarow))
        )

    def threats(self, own: int, rival: int) -> int:
        """Counts the empty cells that would complete a line; a complete line counts too."""
        missing = [line & ~own for line in self.lines]
        cells = {cells for cells in missing if cells.bit_count() == 1 and not cells & rival}
        return len(cells) + self.has_line(own)

    def drawn(self, tokens: tuple[int, int]) -> str:
        """Returns the board as `View` shows it."""
        red, yellow = tokens
        digits = f"{int(f'{red:b}', 16) + 2 * int(f'{yellow:b}', 16):0{self._digits}x}"  # a digit a cell
        return "".join(map(digits.__getitem__, self._rows_down)).translate(_SIGNS)


_SIGNS = str.maketrans("012", ".RY")


def _doubling(step: int, count: int) -> Iterator[int]:
    """Yields shifts which, each followed by a conjunction, leave the starts of `count` cells in a direction."""
    length = 1
    while length < count:
        further = min(length, count - length)
        yield further * step
        length += further


@cache
def board_of(columns: int = len(COLUMNS), rows: int = ROWS, inarow: int = IN_A_LINE) -> Board:
    """Returns the board of this size. ValueError if no line fits on it."""
    if inarow > max(columns, rows):
        raise ValueError(f"inarow={inarow} does not fit on {columns} columns and {rows} rows: nobody could win")
    return Board(columns, rows, inarow)


GAME = ConnectFour.registration(
    "connectfour",
    "Connect Four",
    options=Options,
    time=TimeControl(initial_s=18.0, increment_s=2.0),
    vary={"opening": 4},
    presentation=presentation(
        "columns from A at the left; seat 0 is 🔴, drawn R, seat 1 🟡, drawn Y",
        SIDES,
        {"putToken": "to"},
        ("R", "Y"),
        {"R": "🔴, seat 0", "Y": "🟡, seat 1", ".": "an empty cell"},
        {
            **dict.fromkeys(ConnectFour.WINS, "{winner} has four in a line"),
            "LINE": "{winner} has {detail} in a line",
            "DRAW": "the board is full",
        },
        Score(
            "threats",
            "The empty cells that would complete a line; a complete line counts too.",
            lambda state: [state.board.threats(*state.tokens), state.board.threats(*reversed(state.tokens))],
        ),
        "column",
    ),
    doc=__doc__ or "",
    constants=named(globals(), "COLUMNS ROWS RED YELLOW"),
)
