"""Draws a declared board in the terminal, with Unicode signs and each piece in its seat's colour."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from referee.games.board import Board, Cell, Grid, Hexagons, Part, Piece, Points, Row
from referee.games.board import Text as Lines
from referee.protocol.text import printable

SEAT_STYLES = ("bold blue", "bold red", "bold green", "bold magenta")
"""By seat, from the first again after the last."""
_SHAPES = """
king ♚ queen ♛ rook ♜ bishop ♝ knight ♞ pawn ♟ stone ● disc ● crowned ◉ ring ○ cross × square ■ triangle ▲ diamond ◆
star ★ dot · heart ♥ back ▒ coin ¢ seed • key ⚷ book ▤ hat ∆ ball ◍ box □ food ◘ cup u crown ♛ sword † shield ◈ ship █
hit # miss ~ burnt ▓ fog ░ flag ⚑ house ⌂ tree ♣ rock ▲ water ≈ fire * bomb δ bolt ↯ up ↑ right → down ↓ left ←
person ☺ robot ☻ bug ж fish ¤ bird v snake § line-across ─ line-down │
"""
GLYPHS: Mapping[str, str] = dict(zip(_SHAPES.split()[::2], _SHAPES.split()[1::2], strict=True))
"""Signs of one column each; shapes without one show their text."""
OUTLINED = dict(zip("♚♛♜♝♞♟●", "♔♕♖♗♘♙○", strict=True))
"""Signs of white pieces, and of seat 1 where pieces have no colour of their own."""
COLOURS = {"red": "bold red", "green": "bold green", "blue": "bold blue", "yellow": "bold yellow"}
Drawn = tuple[str, str]
"""A sign and its style."""


def board_text(board: Board) -> Text:
    """Draws a board; parts with `beside` go to the right of the one before."""
    blocks: list[list[Text]] = []
    for part in board.parts:
        lines = [_row(part)] if isinstance(part, Row) else [*_title(part), *_lines(part)]
        if part.beside and blocks:
            blocks[-1] = _beside(blocks[-1], lines)
        else:
            blocks.append(lines)
    drawn = [line for block in blocks for line in block]
    for line in drawn:
        line.rstrip()
    return Text("\n").join(drawn)


def _title(part: Part) -> list[Text]:
    return [Text(printable(part.title), style=_seat_style(part.seat) or "dim")] if part.title else []


def _lines(part: Part) -> list[Text]:
    if isinstance(part, Grid):
        return _grid(part)
    if isinstance(part, Hexagons):
        return _hexagons(part)
    if isinstance(part, Points):
        return _points(part)
    assert isinstance(part, Lines)
    return [Text(printable(line)) for line in part.lines]


def _row(part: Row) -> Text:
    title = Text(f"{printable(part.title)}  " if part.title else "", style=_seat_style(part.seat) or "dim")
    cells = [Text(*_sign(cell, "·")) for cell in part.cells] or [Text("none", style="dim")]
    return title.append_text(Text(" ").join(cells))


def _seat_style(seat: int | None) -> str:
    return "" if seat is None else SEAT_STYLES[seat % len(SEAT_STYLES)]


def _sign(cell: Cell, empty: str) -> Drawn:
    """Returns the uppermost piece, and how many there are."""
    if cell.shade == "gone":
        return " ", ""
    pieces = [piece for piece in cell.pieces if piece.shape not in ("wall-right", "wall-below")]
    if not pieces:
        return empty, "dim"
    top = pieces[-1]
    glyph = GLYPHS.get(top.shape, "")
    if top.colour == "white" or (not top.colour and top.seat == 1):
        glyph = OUTLINED.get(glyph, glyph)
    text = glyph + printable(top.text) + (f"×{len(pieces)}" if len(pieces) > 1 else "")
    return text or "?", _style(top)


def _style(piece: Piece) -> str:
    if piece.seat is not None:
        return _seat_style(piece.seat)
    return COLOURS.get(piece.colour, "bold")


def _padded(drawn: Drawn, width: int) -> Text:
    sign, style = drawn
    return Text(sign + " " * (width - cell_len(sign)), style=style)


def _width(cells: Sequence[Drawn]) -> int:
    return max((cell_len(sign) for sign, _ in cells), default=1)


def _has(cell: Cell, shape: str) -> bool:
    return any(piece.shape == shape for piece in cell.pieces)


def _grid(part: Grid) -> list[Text]:
    signs = [_sign(cell, "+" if part.ground == "lines" else "·") for cell in part.cells]
    across = [(printable(label), "dim") for label in part.across]
    width = _width([*signs, *across])
    margin = max((cell_len(label) for label in part.along), default=-1) + 1
    rows = []
    for row, start in enumerate(range(0, len(signs), part.columns)):
        label = printable(part.along[row]) if row < len(part.along) else ""
        line = Text(label.rjust(margin - 1) + " " * (margin > 0), style="dim")
        cells = part.cells[start : start + part.columns]
        for cell, drawn in zip(cells, signs[start : start + part.columns], strict=True):
            line.append_text(_padded(drawn, width)).append("│" if _has(cell, "wall-right") else " ")
        rows.append(line)
        if any(_has(cell, "wall-below") for cell in cells):
            below = ["─" * width if _has(cell, "wall-below") else " " * width for cell in cells]
            rows.append(Text(" " * margin + " ".join(below)))
    if across:
        rows.append(Text(" " * margin).append_text(Text(" ").join([_padded(label, width) for label in across])))
    return rows


def _hexagons(part: Hexagons) -> list[Text]:
    signs = [[_sign(cell, "·") for cell in row] for row in part.rows]
    width = _width([each for row in signs for each in row])
    return [
        Text(" " * round(start * (width + 1))).append_text(Text(" ").join([_padded(each, width) for each in row]))
        for start, row in zip(part.starts, signs, strict=True)
    ]


def _points(part: Points) -> list[Text]:
    """Draws points on a canvas of four columns and two rows for each unit, with the lines that are straight."""
    if not part.points:
        return []
    left, top = min(point.x for point in part.points), min(point.y for point in part.points)
    places = [(round(4 * (point.x - left)), round(2 * (point.y - top))) for point in part.points]
    canvas: dict[tuple[int, int], Drawn] = {}
    for first, second in part.lines:
        if not (0 <= first < len(places) and 0 <= second < len(places)):
            continue
        (x, y), (to_x, to_y) = sorted((places[first], places[second]))
        if y == to_y:
            canvas.update({(at, y): ("─", "dim") for at in range(x, to_x)})
        elif x == to_x:
            canvas.update({(x, at): ("│", "dim") for at in range(min(y, to_y), max(y, to_y))})
    for (x, y), point in zip(places, part.points, strict=True):
        if _has(point, "line-across"):
            canvas.update({(x + by, y): ("─", _style(point.pieces[-1])) for by in (-1, 0, 1)})
        elif point.pieces or not _edge(point):
            sign, style = _sign(point, "·")
            canvas.update({(x + by, y): (each, style) for by, each in enumerate(sign)})
    height, width = max(y for _, y in places), max(x for x, _ in canvas) + 1
    blank: Drawn = (" ", "")
    return [Text.assemble(*[canvas.get((x, y), blank) for x in range(width)]) for y in range(height + 1)]


def _edge(point: Cell) -> bool:
    """Tells whether a point is a place for a line, which is not drawn while it is empty."""
    return point.name.startswith(("h,", "v,"))


def _beside(left: list[Text], right: list[Text]) -> list[Text]:
    width = max(cell_len(line.plain) for line in left)
    rows = []
    for at in range(max(len(left), len(right))):
        line = left[at].copy() if at < len(left) else Text()
        line.append(" " * (width - cell_len(line.plain) + 4))
        rows.append(line.append_text(right[at]) if at < len(right) else line)
    return rows
