"""How a terminal draws a declared board."""

from typing import get_args

import pytest

from referee.games.board import Board, Cell, Grid, Hexagons, Piece, Points, Row, Shape, Spot, grid, text_board
from referee.harness.cli.reports.board_text import GLYPHS, board_text

SHAPES = [shape for group in get_args(Shape) for shape in (get_args(group) or [group])]


def drawn(*parts: Grid | Hexagons | Points | Row) -> list[str]:
    return board_text(Board(parts)).plain.split("\n")


def test_a_grid_has_its_labels_and_white_pieces_are_outlined() -> None:
    pieces = {"K": Piece("king", 1, "", "white"), "k": Piece("king", 0, "", "black")}
    assert drawn(grid(["k.", ".K"], pieces)) == ["2 ♚ ·", "1 · ♔", "  a b"]


def test_a_stack_says_how_many_it_has() -> None:
    assert drawn(Grid(columns=1, cells=(Cell("a", (Piece("disc", 0),) * 3),))) == ["●×3"]


def test_walls_stand_between_cells() -> None:
    cells = (Cell("a", (Piece("wall-right"),)), Cell("b"), Cell("c", (Piece("wall-below"),)), Cell("d"))
    assert drawn(Grid(columns=2, cells=cells)) == ["·│·", "· ·", "─"]


def test_hexagons_are_shifted_by_half() -> None:
    assert drawn(Hexagons(rows=((Cell("a"), Cell("b")), (Cell("c"),)), starts=(0.0, 0.5))) == ["· ·", " ·"]


def test_points_are_joined_by_lines() -> None:
    spots = (Spot("a", (Piece("disc", 0),), x=0, y=0), Spot("b", x=1, y=0), Spot("c", x=0, y=1))
    assert drawn(Points(points=spots, lines=((0, 1), (0, 2)))) == ["●───·", "│", "·"]


def test_a_line_between_points_that_are_not_there_is_left_out() -> None:
    assert drawn(Points(points=(Spot("a"),), lines=((0, 7), (-1, 0)))) == ["·"]


def test_parts_stand_beside_each_other_if_they_say_so() -> None:
    left, right = Grid(columns=1, cells=(Cell("a"),)), Grid(columns=1, cells=(Cell("b"),), beside=True)
    assert drawn(left, right) == ["·     ·"]


def test_a_hand_is_a_row_with_its_title() -> None:
    assert drawn(Row(title="hand", cells=(Cell("", (Piece("card", None, "J♠"),)),))) == ["hand  J♠"]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_a_sign_or_shows_its_text(shape: Shape) -> None:
    assert len(GLYPHS.get(shape, "x")) == 1
    assert shape.startswith("wall") or drawn(Row(cells=(Cell("", (Piece(shape, None, "7"),)),)))[0].endswith("7")


def test_a_text_board_has_no_margins_and_no_line_without_end() -> None:
    board = text_board(f"\n\na {'b' * 300}\n" + "x\n" * 1000)
    lines = board_text(board).plain.split("\n")
    assert lines[0].startswith("a ")
    assert max(map(len, lines)) <= 64
    assert len(lines) == 200
