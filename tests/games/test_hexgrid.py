"""Hexagonal boards: aibg5.md, sections 2 and 7."""

import pytest

from referee.games.hexgrid import DIRECTIONS, NOWHERE, Hex, HexBoard, distance, length, line, ring

BOARD = HexBoard(14, 3)

LINES: dict[Hex, list[Hex]] = {  # the table of section 7
    (2, 0): [(1, 0)],
    (-2, 0): [(-1, 0)],
    (0, 2): [(0, 1)],
    (0, -2): [(0, -1)],
    (2, -2): [(1, -1)],
    (-2, 2): [(-1, 1)],
    (1, 1): [(1, 0)],
    (-1, -1): [(0, -1)],
    (2, -1): [(1, 0)],
    (-2, 1): [(-1, 1)],
    (1, -2): [(1, -1)],
    (-1, 2): [(0, 1)],
    (3, 0): [(1, 0), (2, 0)],
    (-3, 0): [(-1, 0), (-2, 0)],
    (0, 3): [(0, 1), (0, 2)],
    (0, -3): [(0, -1), (0, -2)],
    (3, -3): [(1, -1), (2, -2)],
    (-3, 3): [(-1, 1), (-2, 2)],
    (1, 2): [(0, 1), (1, 1)],
    (-1, -2): [(0, -1), (-1, -1)],
    (2, 1): [(1, 0), (1, 1)],
    (-2, -1): [(-1, 0), (-1, -1)],
    (3, -1): [(1, 0), (2, -1)],
    (-3, 1): [(-1, 0), (-2, 1)],
    (3, -2): [(1, -1), (2, -1)],
    (-3, 2): [(-1, 1), (-2, 1)],
    (2, -3): [(1, -1), (1, -2)],
    (-2, 3): [(-1, 1), (-1, 2)],
    (1, -3): [(0, -1), (1, -2)],
    (-1, 3): [(0, 1), (-1, 2)],
}


def test_the_table_has_every_target_at_distance_two_and_three() -> None:
    assert len(LINES) == 30
    assert sorted(LINES) == sorted((*ring(2), *ring(3)))


@pytest.mark.parametrize("target", LINES, ids=str)
def test_a_line_of_fire_has_the_documents_cells_nearest_first(target: Hex) -> None:
    assert list(line(*target)) == LINES[target]


@pytest.mark.parametrize("target", LINES, ids=str)
def test_a_line_of_fire_has_the_same_cells_in_both_directions(target: Hex) -> None:
    q, r = target
    assert {(q + dq, r + dr) for dq, dr in line(-q, -r)} == set(line(q, r))


def test_neighbours_have_no_cells_between_them() -> None:
    assert [line(*way) for way in DIRECTIONS] == [()] * 6


def test_the_board_of_radius_14_has_631_cells_in_29_rows() -> None:
    assert len(BOARD.cells) == 631
    rows = [[q for q, row in BOARD.cells if row == r] for r in range(-14, 15)]
    for r, row in zip(range(-14, 15), rows, strict=True):
        assert row == list(range(max(-14, -14 - r), min(14, 14 - r) + 1))
        assert len(row) == 29 - abs(r)
    assert [BOARD.cells[start] for start in BOARD.row_starts] == [
        (row[0], r) for r, row in zip(range(-14, 15), rows, strict=True)
    ]
    assert [BOARD.index[place] for place in BOARD.cells] == list(range(631))


def test_distance_and_ring_follow_the_documents_formulas() -> None:
    for q, r in BOARD.cells:
        assert distance((0, 0), (q, r)) == length(q, r) == max(abs(q), abs(r), abs(q + r))
        assert distance((3, -5), (q, r)) == (abs(q - 3) + abs(r + 5) + abs(q - 3 + r + 5)) / 2
    assert BOARD.rings[BOARD.index[14, -7]] == 14


def test_neighbours_are_in_the_order_e_se_sw_w_nw_ne() -> None:
    beside = BOARD.neighbours[BOARD.index[2, 3]]
    assert [BOARD.cells[cell] for cell in beside] == [(3, 3), (2, 4), (1, 4), (1, 3), (2, 2), (3, 2)]


def test_neighbours_beyond_the_edge_are_nowhere() -> None:
    beside = BOARD.neighbours[BOARD.index[14, -14]]
    assert [cell if cell == NOWHERE else BOARD.cells[cell] for cell in beside] == [
        *(NOWHERE, (14, -13), (13, -13), (13, -14), NOWHERE, NOWHERE)
    ]


def test_a_ring_goes_clockwise_from_its_top_left() -> None:
    assert ring(1) == ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
    assert ring(0) == ((0, 0),)
    for radius in range(1, 15):
        places = ring(radius)
        assert len(set(places)) == len(places) == 6 * radius
        assert places[0] == (0, -radius)
        assert {length(*place) for place in places} == {radius}
        assert all(distance(a, b) == 1 for a, b in zip(places, (*places[1:], places[0]), strict=True))
    assert ring(2)[:4] == ((0, -2), (1, -2), (2, -2), (2, -1))


def test_the_lines_of_a_cell_lead_to_all_in_reach_by_r_then_q_and_stay_on_the_board() -> None:
    for cell, (q, r) in enumerate(BOARD.cells):
        targets = list(BOARD.lines[cell])
        assert targets == [
            other for other, place in enumerate(BOARD.cells) if other != cell and distance((q, r), place) <= 3
        ]
        for target, between in BOARD.lines[cell].items():
            to_q, to_r = BOARD.cells[target]
            assert [BOARD.cells[between_cell] for between_cell in between] == [
                (q + dq, r + dr) for dq, dr in line(to_q - q, to_r - r)
            ]
