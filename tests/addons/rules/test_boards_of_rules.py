"""Boards that a `game.toml` declares, also a stranger's."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rules_games import SERVE, SERVES, STEADY, write_game

from referee.addons.rules.board_file import PartTable, board_of, clicks_of
from referee.games import registry
from referee.games.board import Board, Grid, Points
from referee.games.contract import Setup
from referee.harness.cli.main import main
from referee.harness.cli.reports.board_text import board_text

SIGNS = {"X": {"shape": "cross", "seat": 0}, "O": {"shape": "ring", "seat": 1}}


def parts(*tables: dict[str, Any]) -> list[PartTable]:
    return msgspec.convert(tables, list[PartTable])


def drawn(view: Any, **table: Any) -> str | None:
    board = board_of(parts({"kind": "grid", "cells": "board", "pieces": SIGNS, **table}), {"board": view})
    return board and board_text(board).plain


ROWS = "2 × ·\n1 · ○\n  a b"


@pytest.mark.parametrize("rows", [["X.", ".O"], "X.\n.O", [["X", None], [0, "O"]], [["X", " "], [".", "O"]]])
def test_cells_are_texts_or_lists_in_rows(rows: Any) -> None:
    assert drawn(rows) == ROWS


def test_cells_without_rows_need_the_number_of_columns_or_where_it_is() -> None:
    assert drawn("X..O", columns=2) == ROWS
    board = board_of(
        parts({"kind": "grid", "cells": "board", "columns": "size.0", "pieces": SIGNS}), {"board": "X..O", "size": [2]}
    )
    assert board is not None
    assert board_text(board).plain == ROWS


def test_points_have_a_value_each_and_the_names_of_their_numbers() -> None:
    part = {
        "kind": "points",
        "cells": "board",
        "pieces": SIGNS,
        "points": [[0, 0], [3, 0], [1.5, 2]],
        "lines": [[0, 2]],
    }
    board = board_of(parts(part), {"board": "X.O"})
    assert board is not None
    (points,) = board.parts
    assert isinstance(points, Points)
    spots = [(each.name, each.x, each.y, [piece.shape for piece in each.pieces]) for each in points.points]
    assert spots == [("0", 0, 0, ["cross"]), ("1", 3, 0, []), ("2", 1.5, 2, ["ring"])]
    assert points.lines == ((0, 2),)
    assert board_of(parts(part), {"board": "X.O."}) is None


def test_other_values_show_themselves_with_the_piece_for_any() -> None:
    assert drawn([[2, 0], [4, 2048]], pieces={"*": {"shape": "tile"}}, names="paired") == "2    ·\n4    2048"


def test_a_number_is_a_row_of_one_cell() -> None:
    assert drawn(0, kind="row", title="pot", pieces={"*": {"shape": "letter"}}) == "pot  0"


@pytest.mark.parametrize(
    "view",
    [None, {}, True, [], "", ["X" * 500], ["X"] * 5000, "X" * 100_000, [[["X"] * 50] * 50] * 50, ["X", 1, {"a": []}]],
)
def test_what_is_no_board_is_not_drawn_or_within_the_limits(view: Any) -> None:
    board = board_of(parts({"kind": "grid", "cells": "board", "pieces": {"*": {"shape": "tile"}}}), {"board": view})
    if board is not None:
        assert msgspec.json.decode(msgspec.json.encode(board), type=Board) == board
        assert len(board_text(board).plain) < 100_000


def test_control_characters_of_a_view_reach_no_terminal() -> None:
    text = drawn([["\x1b[2J"]], pieces={"*": {"shape": "tile"}})
    assert text is not None
    assert "\x1b" not in text


def test_clicks_are_names_numbers_and_pairs_in_an_answer() -> None:
    answer = {"from": "a1", "to": [0, 2], "count": 3}
    assert clicks_of(["answer.from", "answer.to"], answer) == ["a1", "0,2"]
    assert clicks_of(["answer"], "b2") == ["b2"]
    assert clicks_of(["answer.missing"], answer) == []
    assert clicks_of([], answer) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "cube"},
        {"cells": ""},
        {"cells": "a..b"},
        {"pieces": {"X": {"shape": "dragon"}}},
        {"columns": 0},
        {"kind": "points"},
        {"points": [[0, 0]]},
        {"kind": "points", "points": [[0, 0]], "lines": [[0, 1]]},
        {"kind": "points", "points": [[0, 1e999]]},
    ],
)
def test_a_wrong_part_refuses_the_folder(tmp_path: Path, wrong: dict[str, Any]) -> None:
    table = {"kind": "grid", "cells": "position", **wrong}
    folder = write_game(tmp_path / "game", STEADY + SERVE, presentation={"board": [table]})
    with pytest.raises(Exception, match=r"presentation|Object|Invalid|board|points"):
        registry.in_folder(str(folder))


def test_a_game_with_a_board_gives_one_to_every_seat(tmp_path: Path) -> None:
    table = {"kind": "row", "title": "left", "cells": "position", "pieces": {"*": {"shape": "coin"}}}
    game = registry.in_folder(str(write_game(tmp_path / "game", STEADY + SERVE, presentation={"board": [table]})))
    state = game.new(Setup(1, ("a", "b"), game.options()))
    for player in (None, 0, 1):
        board = game.presentation.board(state, player)
        assert board is not None
        assert board_text(board).plain == "left  ¢3"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (None, "[[presentation.board]] in game.toml declares one"),
        ("position", ""),
        ("board", "the view of everything has none of the cells that presentation.board names"),
    ],
)
def test_check_says_how_to_declare_a_board_and_whether_it_is_in_the_views(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cells: str | None, said: str
) -> None:
    board = [] if cells is None else [{"kind": "row", "cells": cells, "pieces": {"*": {"shape": "coin"}}}]
    folder = write_game(tmp_path / "game", STEADY + SERVE, presentation={"board": board})
    main(["check", "--game", str(folder), "--only", "game-board", "--json"])
    assert said in json.dumps(json.loads(capsys.readouterr().out))


LISTS = """
def start(options, seats, luck):
    return awaits({"turn": 0, "board": ["X.", ".O"], "hand": []})

def step(position, answers, faults, luck):
    if faults:
        return over(position, (2, 1), rulings=[{"seat": 0, "penalty": "loses"}])
    return over(position) if position["turn"] else awaits({**position, "turn": 1, "hand": ["X"]})

def legal(position, seat, most):
    return [[0, 1]]
"""
TEXTS = {"type": "array", "items": {"type": "string"}}
TYPED = {"type": "object", "properties": {"turn": {"type": "integer"}, "board": TEXTS, "hand": TEXTS}}
PAIR = {"move": {"doc": "Move.", "result": {"type": "array", "prefixItems": [{"type": "integer"}] * 2}}}


def typed_game(folder: Path, *tables: dict[str, Any]) -> Path:
    """A game whose `view` schema types its lists."""
    board = {"board": [{"pieces": SIGNS, **table} for table in tables], "clicks": ["answer"]}
    return write_game(folder, SERVES + LISTS + SERVE, methods=PAIR, view=TYPED, presentation=board)


def test_lists_that_a_schema_types_are_drawn_and_clicked(tmp_path: Path) -> None:
    parts = {"kind": "grid", "cells": "board"}, {"kind": "row", "cells": "turn", "pieces": {"*": {"shape": "coin"}}}
    game = registry.in_folder(str(typed_game(tmp_path / "game", *parts)))
    state = game.new(Setup(1, ("a", "b"), game.options()))
    for player in (None, 0, 1):
        board = game.presentation.board(state, player)
        assert board is not None
        assert board_text(board).plain.startswith(ROWS) and len(board.parts) == 2
    assert game.presentation.keys(state, 0, [0, 1]) == ["0,1"]


@pytest.mark.parametrize(("cells", "found"), [("hand", ""), ("hnad", "part 2 of presentation.board is in no view")])
def test_check_finds_a_part_that_no_view_of_any_position_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cells: str, found: str
) -> None:
    """An empty hand is no mistake: a later position has cards."""
    folder = typed_game(tmp_path / "game", {"kind": "grid", "cells": "board"}, {"kind": "row", "cells": cells})
    code = main(["check", "--game", str(folder), "--only", "game-board", "--json"])
    (_, check) = json.loads(capsys.readouterr().out)["checks"]
    assert (code, check["status"]) == ((1, "failed") if found else (0, "passed"))
    assert found in json.dumps(check)


def test_a_grid_of_unequal_rows_has_no_cells_beyond_its_rows() -> None:
    (grid,) = board_of(parts({"kind": "grid", "cells": "b", "pieces": SIGNS}), {"b": ["XO", "X"]}).parts  # type: ignore[union-attr]
    assert isinstance(grid, Grid)
    assert [cell.shade for cell in grid.cells] == ["", "", "", "gone"]
