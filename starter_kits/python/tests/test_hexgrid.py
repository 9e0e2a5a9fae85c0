"""AIBG 5's board to walk and to shoot on."""

import pytest

from referee_kit.aibg5 import RADIUS, Boss, Entity, GameState, Map, Player, ScoreBoard, Tile
from referee_kit.hexgrid import (
    CELLS,
    CENTRE,
    DIRECTIONS,
    Board,
    Cell,
    attack,
    distance,
    is_on_board,
    line_of_fire,
    move,
    neighbours,
    ring,
    within,
)


def player(number: int, cell: Cell) -> Player:
    return Player("PLAYER", cell[1], cell[0], number, "a", 1000, 150, 1, 0, 0, 0, False, 0, 0.0)


def board(entities: dict[Cell, str], players: dict[int, Cell]) -> Board:
    """The board with these types of entity on these cells, all others empty, and these players by number."""

    def tile(cell: Cell) -> Tile:
        kind = entities.get(cell, "EMPTY")
        return Tile(cell[0], cell[1], Entity(kind), "FULL" if kind in ("ASTEROID", "BOSS") else "NORMAL")

    def seated(number: int) -> Player | None:
        return player(number, players[number]) if number in players else None

    rows = [[tile(cell) for cell in CELLS if cell[1] == r] for r in range(-RADIUS, RADIUS + 1)]
    state = GameState(
        map=Map(len(rows), rows),
        player1=seated(1),
        player2=seated(2),
        player3=seated(3),
        player4=seated(4),
        boss=Boss("BOSS", False, []),
        score_board=ScoreBoard([]),
    )
    return Board(state)


def test_the_board_has_631_cells_row_by_row() -> None:
    assert len(CELLS) == 631
    assert CELLS[:2] == [(0, -14), (1, -14)]
    assert sorted(CELLS, key=lambda cell: (cell[1], cell[0])) == CELLS


def test_a_distance_counts_steps() -> None:
    assert [distance(CENTRE, way) for way in DIRECTIONS] == [1] * 6
    assert distance((0, -7), (3, -5)) == 5
    assert distance((-14, 14), (14, -14)) == 28
    assert (is_on_board((14, -14)), is_on_board((14, 1))) == (True, False)


def test_neighbours_come_in_the_order_of_the_directions_and_lie_on_the_board() -> None:
    assert neighbours(CENTRE) == [*DIRECTIONS]
    assert neighbours((0, -14)) == [(1, -14), (0, -13), (-1, -13)]  # a corner


@pytest.mark.parametrize("radius", [0, 1, 4, 14])
def test_a_ring_holds_the_cells_at_its_distance(radius: int) -> None:
    assert sorted(ring(radius)) == sorted(cell for cell in CELLS if distance(CENTRE, cell) == radius)
    assert ring(radius)[0] == (0, -radius)


def test_what_is_within_some_steps_ends_with_the_board() -> None:
    assert len(within(CENTRE, 3)) == 37
    assert within((0, -14), 1) == [(0, -14), (1, -14), (-1, -13), (0, -13)]


def test_a_line_of_fire_holds_the_cells_between() -> None:
    assert line_of_fire(CENTRE, (3, 0)) == [(1, 0), (2, 0)]
    assert line_of_fire((3, 0), CENTRE) == [(2, 0), (1, 0)]
    assert line_of_fire(CENTRE, (1, 0)) == []
    assert line_of_fire(CENTRE, (1, 2)) == [(0, 1), (1, 1)]
    assert line_of_fire(CENTRE, (-2, -1)) == [(-1, 0), (-1, -1)]


@pytest.mark.parametrize(
    ("target", "between"),
    [
        ((1, 1), (1, 0)),
        ((-1, -1), (0, -1)),
        ((2, -1), (1, 0)),
        ((-2, 1), (-1, 1)),
        ((1, -2), (1, -1)),
        ((-1, 2), (0, 1)),
    ],
)
def test_a_line_of_fire_between_two_cells_takes_the_one_of_the_rules(target: Cell, between: Cell) -> None:
    assert line_of_fire(CENTRE, target) == [between]


def test_a_player_may_enter_what_is_free_a_black_hole_too() -> None:
    space = board({(1, 0): "ASTEROID", (0, 1): "BLACKHOLE", (-1, 1): "WORMHOLE"}, {1: CENTRE, 2: (-1, 0)})
    assert [cell for cell in neighbours(CENTRE) if space.may_enter(cell)] == [(0, 1), (0, -1), (1, -1)]


def test_the_first_target_in_the_line_of_fire_is_hit() -> None:
    space = board({(2, 0): "ASTEROID"}, {1: CENTRE, 3: (3, 0)})
    assert space.hit(CENTRE, (3, 0)) == (2, 0)
    assert space.hit((3, 0), CENTRE) == (2, 0)
    assert space.targets(CENTRE) == [(2, 0), (3, 0)]


@pytest.mark.parametrize("hole", ["BLACKHOLE", "WORMHOLE"])
def test_a_hole_in_the_line_of_fire_swallows_the_shot(hole: str) -> None:
    assert board({(1, 0): hole}, {1: CENTRE, 3: (3, 0)}).targets(CENTRE) == []


def test_a_shot_reaches_three_cells_and_needs_a_target() -> None:
    space = board({(0, 3): "BOSS"}, {1: CENTRE, 2: (3, 0), 4: (-4, 0)})
    assert space.targets(CENTRE) == [(3, 0), (0, 3)]
    assert space.hit(CENTRE, CENTRE) is None
    assert space.player_on((-4, 0)) == player(4, (-4, 0))
    assert [known.player_idx for known in space.players] == [1, 2, 4]  # the third is disqualified


def test_answers_name_the_cell() -> None:
    assert (move((-3, 12)).action, attack((0, -1)).action) == ("move,-3,12", "attack,0,-1")
