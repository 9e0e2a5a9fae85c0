"""AI Arena 21, sections 2 and 3: maps, spawns, the start; and the maps that we bring along."""

from collections import deque
from pathlib import Path

import pytest
from aiarena21_positions import EXAMPLE, begun, offered, places, shown

from referee.games.aiarena21 import DEFAULT_MAP, AIArena21, Cell, Ground, Options, Spawned, load
from referee.games.contract import Notice, Setup

MAPS = Path(__file__).parents[2] / "maps" / "aiarena21"
SIZES = {  # the table of section 2: rows, cols, free cells
    "1": (21, 62, 1147),
    "2": (19, 44, 619),
    "3": (15, 42, 590),
    "4": (13, 45, 396),
    "5": (21, 52, 940),
    "6": (22, 31, 430),
    "7": (22, 21, 324),
}


def bundled(name: str) -> Ground:
    return load((MAPS / f"{name}.txt").read_text("utf-8"))


def walks(ground: Ground, start: Cell) -> dict[Cell, int]:
    """The length of the shortest path to every cell that can be reached."""
    steps, edge = {start: 0}, deque([start])
    while edge:
        cell = edge.popleft()
        for beside in ground.neighbours[cell]:
            if beside not in steps:
                steps[beside] = steps[cell] + 1
                edge.append(beside)
    return steps


# Loading


def test_the_documents_own_ragged_example_loads_as_four_rows_of_five() -> None:
    ground = load(".....\n..###\n.....\nS.S...\n")
    assert ground.map.cells == (".....", "..###", ".....", "S.S..")
    assert (ground.rows, ground.cols) == (4, 5)
    assert ground.warnings == ("map line 4 has 6 cells; cut to 5, as in line 1",)


def test_a_line_that_is_too_long_is_cut() -> None:
    assert load("..\n..x\n").map.cells == ("..", "..")


def test_white_space_at_both_ends_of_a_line_and_empty_lines_at_the_end_do_not_count() -> None:
    ground = load("  S.#\t\r\n.#S \r\n\r\n   \n")
    assert ground.map.cells == ("S.#", ".#S")
    assert ground.warnings == ()


def test_a_small_s_is_a_spawn() -> None:
    assert load("s.S").map.cells == ("S.S",)
    assert load("s.S").spawns == (0, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the map has no rows; expected lines of '.', '#' and 'S'"),
        (" \n\r\n", "the map has no rows; expected lines of '.', '#' and 'S'"),
        ("...\n\n...\n", "map line 2 is empty; expected 3 of '.', '#' and 'S'"),
        ("\n...\n", "map line 1 is empty; expected some of '.', '#' and 'S'"),
        ("...\n..\n", "map line 2 has 2 cells; expected 3, as in line 1"),
        ("...\n..x\n", "map line 2 has 'x' in column 3; expected '.', '#' or 'S'"),
        (". .\n", "map line 1 has ' ' in column 2; expected '.', '#' or 'S'"),
        ("\ufeff...\n", "map line 1 has '\\ufeff' in column 1; expected '.', '#' or 'S'"),
        ("##\n#S\n", "the map has 1 free cells in lines 1 to 2; expected 2 at least"),
        ("##\n", "the map has 0 free cells in lines 1 to 1; expected 2 at least"),
    ],
)
def test_an_invalid_map_is_refused_with_its_line_when_the_match_is_made(text: str, words: str) -> None:
    for refused in (lambda: load(text), lambda: AIArena21(Setup(1, ("a", "b"), Options(map=text or " ")))):
        with pytest.raises(ValueError, match=r"^(map line \d+|the map) ") as error:
            refused()
        assert str(error.value) == words


def test_two_free_cells_are_enough_and_need_not_be_connected() -> None:
    assert load("S#S").free == (0, 2)


# Spawns and the start (section 3)


def test_the_coin_decides_who_gets_the_first_spawn() -> None:
    assert places(begun(heads=False)) == ((3, 0), (3, 2))
    assert places(begun(heads=True)) == ((3, 2), (3, 0))


def test_of_more_than_two_spawns_the_first_two_in_row_major_order_count() -> None:
    assert places(begun("..S\nS.S\n")) == ((0, 2), (1, 0))


def test_missing_spawns_are_free_cells_not_yet_in_the_list_and_the_coin_is_drawn_for_them_too() -> None:
    one = begun("...\n#S.\n", cells=[(0, 2)], heads=True)
    assert places(one) == ((0, 2), (1, 1))
    assert offered(one) == [[0, 1, 2, 5]]
    none = begun("...\n#..\n", cells=[(1, 2), (0, 0)])
    assert places(none) == ((1, 2), (0, 0))
    assert offered(none) == [[0, 1, 2, 4, 5], [0, 1, 2, 4]]


def test_the_first_notice_to_viewers_has_the_spawns() -> None:
    assert begun(heads=True).opening() == [Notice("spawned", Spawned(((3, 2), (3, 0))))]


def test_both_players_start_with_a_hundred_points_on_an_empty_board() -> None:
    assert shown(begun(), 0) == {
        "game_map": {"rows": 4, "cols": 5, "cells": [".....", "..###", ".....", "S.S.."]},
        "me": {"name": "Team 1", "score": 100, "location": [3, 0], "bike": False, "portal_gun": False},
        "opponent": {"name": "Team 2", "score": 100, "location": [3, 2], "bike": False, "portal_gun": False},
        "items": [[0] * 5] * 4,
        "new_items": [[[]] * 5] * 4,
        "heatmap": [[0] * 5] * 4,
        "remaining_turns": 100,
    }


def test_the_map_is_drawn_for_people() -> None:
    assert str(begun(EXAMPLE)) == (
        ".....\n..###\n.....\n0.1..\n"
        "0 Team 1: 100 points at (3,0)\n1 Team 2: 100 points at (3,2)\nturn 0 of 100, play_powerup of 0"
    )


# The maps that we bring along


def test_seven_maps_are_included_and_the_first_needs_no_file() -> None:
    assert sorted(path.stem for path in MAPS.iterdir()) == sorted(SIZES)
    assert (MAPS / "1.txt").read_text("utf-8") == DEFAULT_MAP
    setup = Setup(1, ("a", "b"), Options())
    assert AIArena21(setup).ground.map == bundled("1").map


@pytest.mark.parametrize("name", SIZES)
def test_an_included_map_has_the_documents_size_and_two_spawns(name: str) -> None:
    ground, (rows, cols, free) = bundled(name), SIZES[name]
    assert (ground.rows, ground.cols) == (rows, cols)
    assert abs(len(ground.free) - free) <= 2
    assert len(ground.spawns) == 2
    assert ground.warnings == ()


@pytest.mark.parametrize("name", SIZES)
def test_an_included_map_is_connected_and_fair_to_both_spawns(name: str) -> None:
    ground = bundled(name)
    first, second = [walks(ground, spawn) for spawn in ground.spawns]
    assert first.keys() == second.keys() == set(ground.free)
    assert sorted(first.values()) == sorted(second.values()), "as many cells at every length of path"
    nearer_to_first = sum(first[cell] < second[cell] for cell in ground.free)
    nearer_to_second = sum(second[cell] < first[cell] for cell in ground.free)
    assert nearer_to_first == nearer_to_second
    half_turned = [row[::-1] for row in reversed(ground.map.cells)]
    assert half_turned == list(ground.map.cells), "what either sees from its spawn is the same"
