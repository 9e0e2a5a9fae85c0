"""AI Arena 21's map to walk on."""

import pytest

from referee_kit.aiarena21 import Map, Player
from referee_kit.grid import FAR, Grid, name


def grid(*cells: str) -> Grid:
    return Grid(Map(len(cells), len(cells[0]), list(cells)))


ROOMS = grid(
    "S..#",
    ".#.#",
    ".#.S",
)


def test_spawns_are_free_and_blocks_and_what_is_off_the_map_are_not() -> None:
    assert ROOMS.free == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2), (2, 3)]
    around = [(row, col) for row in range(-1, 4) for col in range(-1, 5)]
    assert [cell for cell in around if ROOMS.is_free(cell)] == ROOMS.free


def test_neighbours_are_above_left_right_and_below() -> None:
    assert grid("...", "...", "...").neighbours((1, 1)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert ROOMS.neighbours((0, 0)) == [(0, 1), (1, 0)]


def test_a_distance_is_that_from_the_nearest_start() -> None:
    assert ROOMS.distances([(0, 0)]) == [[0, 1, 2, FAR], [1, FAR, 3, FAR], [2, FAR, 4, 5]]
    assert ROOMS.distances([(2, 0), (2, 3)]) == [[2, 3, 3, FAR], [1, FAR, 2, FAR], [0, FAR, 1, 0]]


def test_a_path_holds_both_its_ends_and_is_empty_if_there_is_none() -> None:
    assert ROOMS.path((2, 0), (0, 1)) == [(2, 0), (1, 0), (0, 0), (0, 1)]
    assert ROOMS.path((0, 0), (0, 0)) == [(0, 0)]
    assert grid("S#S").path((0, 0), (0, 2)) == []


@pytest.mark.parametrize(
    ("bike", "portal_gun", "reach"),
    [
        (False, False, [(1, 0), (2, 0)]),
        (True, False, [(0, 0), (0, 1), (1, 0), (2, 0)]),
        (False, True, ROOMS.free),
    ],
)
def test_a_player_steps_once_three_times_on_a_bike_and_anywhere_with_a_portal_gun(
    bike: bool, portal_gun: bool, reach: list[object]
) -> None:
    assert ROOMS.reach(Player("a", 0, (2, 0), bike, portal_gun)) == reach


def test_a_cell_is_answered_as_row_and_column() -> None:
    assert name((12, 3)) == "12,3"
