"""The board that a `game.toml` declares: where its parts are in a view. View and file may be a stranger's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from referee.games.board import MOST_CELLS, Board, Cell, Column, Label, Piece, Text, lettered, paired, text_board
from referee.games.contract import Player, State
from referee.games.game import Game
from referee.harness.replay.lines import plain

Path = Annotated[str, Meta(pattern=r"^[^.\s]+(\.[^.\s]+)*$", max_length=200)]
"""Names of members and numbers of items, with dots between them."""
NAMES = ("lettered", "from-top", "paired", "numbered")
ANY = "*"
"""The key of the piece for all other values: it shows the value."""
BLANKS = ("", " ", ".", "None", "False")
"""Values that are empty cells unless `pieces` has them; 0 too, but not in a row."""
MOST_COLUMNS = 100


class PartTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """A part of the board."""

    kind: Literal["grid", "hexagons", "points", "row", "text"]
    cells: Path
    """Where the view has the cells: a text, a list, or a list of either for rows from the top."""
    columns: Annotated[int, Meta(ge=1, le=MOST_COLUMNS)] | Path | None = None
    """How many are in a row, or where the view says it; None if `cells` has rows."""
    names: Literal["lettered", "from-top", "paired", "numbered"] = "lettered"
    ground: Literal["plain", "chequered", "lines"] = "plain"
    shift: Annotated[float, Meta(ge=-1, le=1)] = 0.5
    """How much further each row of hexagons begins than the one above."""
    points: Annotated[tuple[tuple[Column, Column], ...], Meta(max_length=MOST_CELLS)] = ()
    """Where each point is, from the left and from the top; a piece is one wide. Points have the names 0, 1, 2 …"""
    lines: Annotated[tuple[tuple[int, int], ...], Meta(max_length=2 * MOST_CELLS)] = ()
    """Which points have a line between them."""
    title: Label = ""
    seat: Annotated[int, Meta(ge=0, lt=64)] | None = None
    beside: bool = False
    pieces: Annotated[dict[str, Piece], Meta(max_length=200)] = {}
    """The piece for each value of a cell, as text; `*` for any other."""

    def __post_init__(self) -> None:
        if (self.kind == "points") != bool(self.points):
            raise ValueError('a part of kind "points" needs `points`, and no other part has them')
        for line in self.lines:
            if not all(0 <= end < len(self.points) for end in line):
                raise ValueError(f"the line {list(line)} leads to a point that is not in `points`")


def board_of(parts: Sequence[PartTable], view: Any) -> Board | None:
    """Returns the board of a view as plain values; None if it shows none of the parts, or what is no board."""
    made = [part for table in parts if (part := _part(table, view)) is not None]
    try:
        return msgspec.convert({"parts": made}, Board) if made else None
    except msgspec.ValidationError:
        return None


class DeclaredBoard:
    """Draws the board of a position."""

    def __init__(self, parts: Sequence[PartTable]) -> None:
        self.parts = parts

    def __call__(self, state: State, player: Player | None) -> Board | None:
        """Returns the board that a seat sees; None = everybody's. See `board_of`."""
        return board_of(self.parts, plain(state.view(player)))


def drawn(game: Game, states: Iterable[State]) -> str:
    """Returns a note about the board of some positions, for `referee check`.

    ValueError if a view of the first one has no board, or if no view of any has a part: a hand may be empty, or another
    seat's.
    """
    board = game.presentation.board
    if not isinstance(board, DeclaredBoard):
        return "no board is declared, so pages show the text; [[presentation.board]] in game.toml declares one"
    missing = dict(enumerate(board.parts, 1))
    for number, state in enumerate(states):
        for player in (None, *range(len(state.setup.names))):
            if not number and board(state, player) is None:
                whose = "the view of everything" if player is None else f"the view of seat {player}"
                raise ValueError(f"{whose} has none of the cells that presentation.board names, or they are no board")
            view = plain(state.view(player))
            missing = {at: part for at, part in missing.items() if board_of([part], view) is None}
        if not missing:
            return ""
    at, part = next(iter(missing.items()))
    raise ValueError(f"part {at} of presentation.board is in no view: none has `{part.cells}`, or it is no {part.kind}")


def clicks_of(members: Sequence[str], answer: Any) -> list[str]:
    """Returns the names of cells at these paths, which begin with `answer`; none if one of them has no name."""
    values = [_at({"answer": answer}, path) for path in members]
    if not all(isinstance(value, str | int) or _is_pair(value) for value in values):
        return []
    return [",".join(map(str, value)) if isinstance(value, list) else str(value) for value in values]


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, int) for each in value)


def _at(value: Any, path: str) -> Any:
    """Returns what is at a path in plain values; None if nothing is."""
    for name in path.split("."):
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict):
            value = value.get(name)
        else:
            return None
    return value


def _part(table: PartTable, view: Any) -> dict[str, Any] | None:
    """Returns a part as plain values; None if the view does not have it."""
    found = _at(view, table.cells)
    if isinstance(found, int | float):
        found = [found]
    if not isinstance(found, str | list):
        return None
    shared = {"title": table.title, "seat": table.seat, "beside": table.beside}
    if table.kind == "text":
        text = found if isinstance(found, str) else "\n".join(map(str, found))
        (part,) = text_board(text).parts
        assert isinstance(part, Text)
        return {"kind": "text", "lines": part.lines, **shared}
    blanks = BLANKS if table.kind == "row" else (*BLANKS, "0")
    if table.kind == "points":
        return {"kind": "points", "points": _spots(table, found, blanks), "lines": table.lines, **shared}
    rows = _rows(found, table.columns if isinstance(table.columns, int | None) else _at(view, table.columns))
    if not rows or sum(map(len, rows)) > MOST_CELLS:
        return None
    width = max(map(len, rows))
    names = _names(table.names, width, len(rows))
    cells = [
        [_cell(table.pieces, blanks, *pair) for pair in zip(*each, strict=False)]
        for each in zip(names, rows, strict=True)
    ]
    if table.kind == "hexagons":
        return {"kind": "hexagons", "rows": cells, "starts": [row * table.shift for row in range(len(rows))], **shared}
    flat = [cell for row in cells for cell in [*row, *[{"shade": "gone"}] * (width - len(row))]]
    if table.kind == "row":
        return {"kind": "row", "cells": flat, **shared}
    labels = table.names in ("lettered", "from-top")
    return {
        "kind": "grid",
        "columns": width,
        "cells": flat,
        "ground": table.ground,
        "across": [name[:1] for name in names[0]] if labels else [],
        "along": [row[0][1:] for row in names] if labels else [],
        **shared,
    }


def _spots(table: PartTable, found: str | list[Any], blanks: Sequence[str]) -> list[dict[str, Any]] | None:
    """Returns the points with their pieces; None, which is no board, unless the view has one value for each."""
    if len(found) != len(table.points):
        return None
    return [
        {**_cell(table.pieces, blanks, str(number), value), "x": x, "y": y}
        for number, ((x, y), value) in enumerate(zip(table.points, found, strict=True))
    ]


def _rows(found: str | list[Any], columns: Any) -> list[Sequence[Any]]:
    """Returns the cells by row; none if they are in no rows."""
    if isinstance(found, str):
        found = found.split("\n") if columns is None else [*found]
    if type(columns) is int and 0 < columns <= MOST_COLUMNS and len(found) <= MOST_CELLS:
        return [found[at : at + columns] for at in range(0, len(found), columns)]
    rows: list[Sequence[Any]] = [row for row in found[:MOST_COLUMNS] if isinstance(row, str | list) and row]
    if len(rows) != len(found):
        return [found] if columns is None and len(found) <= MOST_CELLS else []
    return rows if max(map(len, rows), default=0) <= MOST_COLUMNS else []


def _names(how: str, columns: int, rows: int) -> list[list[str]]:
    if how == "numbered" or (how != "paired" and columns > 26):
        return [[str(row * columns + column) for column in range(columns)] for row in range(rows)]
    return paired(columns, rows) if how == "paired" else lettered(columns, rows, how == "lettered")


def _cell(pieces: Mapping[str, Piece], blanks: Sequence[str], name: str, value: Any) -> dict[str, Any]:
    sign = str(value)[:40] if isinstance(value, str | int | float | None) else "?"
    piece = pieces.get(sign)
    if piece is None and ANY in pieces and sign not in blanks:
        piece = msgspec.structs.replace(pieces[ANY], text=sign)
    return msgspec.to_builtins(Cell(name, () if piece is None else (piece,)))  # type: ignore[no-any-return]
