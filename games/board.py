"""A board as data: what there is to see of a position. One painter draws it in pages, and one in terminals.

A game makes it by `Presentation.board`, from nothing but what the viewer of the position may see.
"""

from collections.abc import Callable, Mapping, Sequence
from re import fullmatch
from string import ascii_lowercase
from textwrap import wrap
from typing import Annotated, Literal

from msgspec import Meta, Struct

MOST_CELLS, MOST_STACKED, MOST_PARTS = 2_000, 30, 40
MOST_LINES, LONGEST_LINE = 200, 200
WIDTH = 64
"""Characters in a line of a text board, before it is wrapped."""

Label = Annotated[str, Meta(max_length=40)]
Column = Annotated[float, Meta(ge=-1000, le=1000)]

Chessman = Literal["king", "queen", "rook", "bishop", "knight", "pawn"]
Counter = Literal["stone", "disc", "crowned", "ring", "cross", "square", "triangle", "diamond", "star", "dot", "heart"]
Written = Literal["card", "tile", "die", "letter"]
Kept = Literal["back", "coin", "seed", "key", "book", "hat", "ball", "box", "food", "cup", "crown", "sword", "shield"]
Mark = Literal["ship", "hit", "miss", "burnt", "fog", "wall-right", "wall-below", "line-across", "line-down"]
Place = Literal["flag", "house", "tree", "rock", "water", "fire", "bomb", "bolt"]
Walker = Literal["up", "right", "down", "left", "person", "robot", "bug", "fish", "bird", "snake"]
Shape = Chessman | Counter | Written | Kept | Mark | Place | Walker
"""The shapes of pieces. Those of `Written` show the piece's text; the others have it on top."""
Colour = Literal["", "white", "black", "red", "green", "blue", "yellow"]


class Piece(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Something on a cell."""

    shape: Shape
    seat: Annotated[int, Meta(ge=0, lt=64)] | None = None
    """Whose it is: it has this seat's colour, or its edge has, if it has a colour of its own."""
    text: Label = ""
    """A number or letters on it."""
    colour: Colour = ""


class Cell(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A place of a board."""

    name: Label = ""
    """Its name in clicks (`Presentation.clicks`), which people read. Cells may share one, such as a column."""
    pieces: Annotated[tuple[Piece, ...], Meta(max_length=MOST_STACKED)] = ()
    """From below to the top, or from the edge inwards on a tall cell."""
    shade: Literal["", "dark", "goal", "gone"] = ""
    """`gone`: no part of the board."""


class Spot(Cell, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A cell with a place of its own; a piece is one wide."""

    x: Column = 0.0
    y: Column = 0.0


class Titled(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="kind", kw_only=True):
    """What every part of a board has. Parts are drawn one below the other."""

    title: Label = ""
    seat: Annotated[int, Meta(ge=0, lt=64)] | None = None
    """Whose part it is."""
    beside: bool = False
    """Whether it is drawn to the right of the part before."""


class Grid(Titled, frozen=True, omit_defaults=True, tag="grid"):
    """Rows of cells, from the top."""

    columns: Annotated[int, Meta(ge=1, le=100)]
    cells: Annotated[tuple[Cell, ...], Meta(max_length=MOST_CELLS)]
    ground: Literal["plain", "chequered", "lines"] = "plain"
    """`lines`: pieces stand where lines cross."""
    across: Annotated[tuple[Label, ...], Meta(max_length=100)] = ()
    """Labels below the columns."""
    along: Annotated[tuple[Label, ...], Meta(max_length=100)] = ()
    """Labels left of the rows."""
    tall: Annotated[int, Meta(ge=1, le=8)] = 1
    """How many pieces a cell holds along its height. Those of the upper half begin at its top."""


class Hexagons(Titled, frozen=True, omit_defaults=True, tag="hexagons"):
    """Rows of hexagons with a corner on top."""

    rows: Annotated[tuple[Annotated[tuple[Cell, ...], Meta(max_length=100)], ...], Meta(max_length=100)]
    starts: Annotated[tuple[Column, ...], Meta(max_length=100)]
    """Where each row begins, in widths of a hexagon."""


class Points(Titled, frozen=True, omit_defaults=True, tag="points"):
    """Points with lines between them."""

    points: Annotated[tuple[Spot, ...], Meta(max_length=MOST_CELLS)]
    lines: Annotated[tuple[tuple[int, int], ...], Meta(max_length=2 * MOST_CELLS)] = ()
    """Between the points of these two numbers."""


class Row(Titled, frozen=True, omit_defaults=True, tag="row"):
    """A hand, a pile, dice, a track or counters: cells in a row, without a ground."""

    cells: Annotated[tuple[Cell, ...], Meta(max_length=200)]


class Text(Titled, frozen=True, omit_defaults=True, tag="text"):
    """Lines of text; blanks count."""

    lines: Annotated[tuple[Annotated[str, Meta(max_length=LONGEST_LINE)], ...], Meta(max_length=MOST_LINES)]


Part = Grid | Hexagons | Points | Row | Text


class Board(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What there is to see."""

    parts: Annotated[tuple[Part, ...], Meta(max_length=MOST_PARTS)]


def lettered(columns: int, rows: int, upwards: bool = True, letters: str = ascii_lowercase) -> list[list[str]]:
    """Returns the names of cells by row from the top: `a8` first, or `a1` unless numbers go `upwards`."""
    numbers = range(rows, 0, -1) if upwards else range(1, rows + 1)
    return [[f"{letters[column]}{number}" for column in range(columns)] for number in numbers]


def paired(columns: int, rows: int) -> list[list[str]]:
    """Returns the names of cells by row from the top: `0,0` first, the row's number before the column's."""
    return [[f"{row},{column}" for column in range(columns)] for row in range(rows)]


def grid(
    rows: Sequence[str],
    pieces: Mapping[str, Piece],
    names: Callable[[int, int], Sequence[Sequence[str]]] = lettered,
    ground: Literal["plain", "chequered", "lines"] = "plain",
    title: str = "",
    beside: bool = False,
) -> Grid:
    """Returns a grid from rows of signs. A sign without a piece is an empty cell."""
    columns = max(map(len, rows))
    named = names(columns, len(rows))
    cells = [
        Cell(name, (pieces[sign],) if sign in pieces else ())
        for row, line in enumerate(rows)
        for name, sign in zip(named[row], line.ljust(columns), strict=True)
    ]
    across: list[str] = []
    along: list[str] = []
    if fullmatch(r"[a-z]\d+", named[0][0]):
        across, along = [name[0] for name in named[0]], [row[0][1:] for row in named]
    return Grid(
        columns=columns,
        cells=tuple(cells),
        ground=ground,
        across=tuple(across),
        along=tuple(along),
        title=title,
        beside=beside,
    )


def text_board(text: str) -> Board:
    """Returns the board of a game that has only a text: its lines, without margins, wrapped and limited."""
    lines = [line.rstrip() for line in text.expandtabs().split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    shown = [part for line in lines[:MOST_LINES] for part in _wrapped(line[: WIDTH * MOST_LINES])][:MOST_LINES]
    return Board((Text(lines=tuple(shown or ["nothing yet"])),))


def _wrapped(line: str) -> list[str]:
    if len(line) <= WIDTH:
        return [line]
    return wrap(line, WIDTH, drop_whitespace=False, break_on_hyphens=False)
