"""The map, its cells and paths, and the fruit on it: aiarena21.md, sections 2, 3, 7 and 8."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from referee.games.aiarena21.types import (
    BIKE_STEPS,
    BLOCK_CHAR,
    DEPLOYMENT_TURNS,
    DRAGON_FRUIT,
    FREE_CHAR,
    HEAT_REACH,
    ONION,
    SPAWN_CHAR,
    STRAWBERRY,
    Item,
    Map,
    Options,
    Pile,
)
from referee.games.dice import Dice

_encode = msgspec.json.Encoder().encode

DEFAULT_MAP = """\
............................................###...........#...
............................................#.............#...
.....................#...#.................#..............#...
.................#####...##........##.######..................
..................#......##........##.......#.................
###...............#.......#........##.......#.................
#.................#.......#........##.....#.#.................
..................#.......#........#.######...................
..#####...............#............#...#...................###
..#...................#....#...........#...................#..
....S.................######......######.................S....
..#...................#...........#....#...................#..
###...................#...#............#...............#####..
...................######.#........#.......#..................
.................#.#.....##........#.......#.................#
.................#.......##........#.......#...............###
.................#.......##........##......#..................
..................######.##........##...#####.................
...#..............#.................#...#.....................
...#.............#............................................
...#...........###............................................
"""
"""The map `1.txt`."""


Cell = int
"""row * cols + col."""
Batch = Mapping[Cell, str]
"""Fruit by cell, in row-major order, as letters O, S and D (section 3)."""


NAMES: Mapping[str, Item] = {"O": "Onion", "S": "Strawberry", "D": "DragonFruit"}
POINTS = {"O": ONION, "S": STRAWBERRY, "D": DRAGON_FRUIT}
GAPS = {"O": 0.0675, "S": 0.2672, "D": 0.4883}  # the least lead of a cell's number over its neighbours' (section 8)


class Fruit:
    """The fruit on the board. Immutable, so that copies share it."""

    __slots__ = ("_key", "piles", "points")

    def __init__(self, piles: tuple[tuple[str, ...], ...], points: tuple[tuple[int, ...], ...]) -> None:
        self.piles = piles
        """Letters, rows × cols; in a cell by deployment."""
        self.points = points
        self._key: bytes | None = None

    def key(self) -> bytes:
        if self._key is None:
            self._key = _encode(self.piles)
        return self._key

    def with_batch(self, batch: Batch) -> "Fruit":
        """Returns it with a batch on top."""
        cols = len(self.piles[0])
        piles = [list(row) for row in self.piles]
        for cell, letters in batch.items():
            piles[cell // cols][cell % cols] += letters
        return Fruit(tuple(map(tuple, piles)), tuple([tuple(map(points_of, row)) for row in piles]))

    def without(self, row: int, col: int) -> "Fruit":
        """Returns it with that cell empty."""
        piles, points = self.piles[row], self.points[row]
        return Fruit(
            (*self.piles[:row], (*piles[:col], "", *piles[col + 1 :]), *self.piles[row + 1 :]),
            (*self.points[:row], (*points[:col], 0, *points[col + 1 :]), *self.points[row + 1 :]),
        )


@lru_cache(maxsize=1024)
def points_of(letters: str) -> int:
    """Returns the value of a pile."""
    return sum([POINTS[letter] for letter in letters])


def batch_of(ground: "Ground", piles: Sequence[Pile]) -> Batch:
    """Returns piles as the engine's batch."""
    letters = {name: letter for letter, name in NAMES.items()}
    cells = {row * ground.cols + col: pile.items for pile in piles for row, col in [pile.location]}
    return {cell: "".join([letters[item] for item in cells[cell]]) for cell in sorted(cells)}


def new_items(ground: "Ground", deployed: Batch) -> Sequence[Sequence[Sequence[Item]]]:
    """Returns a batch as sent to bots: rows × cols lists."""
    return tuple([tuple([names_of(letters) for letters in row]) for row in ground.bare.with_batch(deployed).piles])


@lru_cache(maxsize=1024)
def names_of(letters: str) -> tuple[Item, ...]:
    """Returns a pile as sent to bots."""
    return tuple([NAMES[letter] for letter in letters])


def drawn(cells: Sequence[str], players: Sequence[tuple[int, int]], piles: Sequence[Sequence[str]]) -> list[str]:
    """Draws the map. Players are 0 and 1, X for both on one cell; of a pile it shows the fruit worth most: O S D."""
    lines = [
        [max(letters, key=POINTS.__getitem__, default=sign) for sign, letters in zip(*each, strict=True)]
        for each in zip([row.replace(SPAWN_CHAR, FREE_CHAR) for row in cells], piles, strict=True)
    ]
    for seat, (row, col) in enumerate(players):
        lines[row][col] = str(seat)
    if players[0] == players[1]:
        row, col = players[0]
        lines[row][col] = "X"
    return ["".join(line) for line in lines]


# The map (section 2).


class Ground:
    """A map and what follows from it. Immutable, so that all positions share it. Made by `load`."""

    def __init__(self, cells: Sequence[str], warnings: Sequence[str] = ()) -> None:
        self.warnings = tuple(warnings)
        """One line for each flaw of the map that does not prevent a match."""
        self.rows, self.cols = len(cells), len(cells[0])
        self.map = Map(self.rows, self.cols, tuple(cells))
        text = "".join(cells)
        self.is_free = [sign != BLOCK_CHAR for sign in text]
        self.free = tuple([cell for cell, free in enumerate(self.is_free) if free])
        """In row-major order, like the spawns."""
        self.spawns = tuple([cell for cell, sign in enumerate(text) if sign == SPAWN_CHAR])
        self.location = [divmod(cell, self.cols) for cell in range(len(text))]
        self.neighbours = [self._neighbours(cell) for cell in range(len(text))]
        """The free neighbours of each cell."""
        self.bare = Fruit(((("",) * self.cols),) * self.rows, ((0,) * self.cols,) * self.rows)
        self.no_items: Sequence[Sequence[Sequence[Item]]] = ((((),) * self.cols),) * self.rows
        self.cold: Sequence[Sequence[float]] = ((0.0,) * self.cols,) * self.rows
        # The heat field has a margin as wide as heat reaches, so that no sum has to test for the edge.
        self.stride = self.cols + 2 * HEAT_REACH
        self.field_size = self.stride * (self.rows + 2 * HEAT_REACH)
        self.rings = [self._ring(distance) for distance in range(HEAT_REACH + 1)]
        """For each distance: the offsets in the field to the cells that far away."""

    def distance(self, a: Cell, b: Cell) -> int:
        """Returns the Manhattan distance (section 1)."""
        (row, col), (to_row, to_col) = self.location[a], self.location[b]
        return abs(row - to_row) + abs(col - to_col)

    def within(self, start: Cell, steps: int) -> list[Cell]:
        """Returns the cells within that many steps, `start` included, in row-major order."""
        reached, edge = {start}, [start]
        for _ in range(steps):
            edge = sorted({adjacent for cell in edge for adjacent in self.neighbours[cell]} - reached)
            reached.update(edge)
        return sorted(reached)

    def reach(self, start: Cell, bike: bool, portal_gun: bool) -> Sequence[Cell]:
        """Returns where a move may go (section 5), in row-major order."""
        return self.free if portal_gun else self.within(start, BIKE_STEPS if bike else 1)

    def field_index(self, cell: Cell) -> int:
        row, col = self.location[cell]
        return (row + HEAT_REACH) * self.stride + HEAT_REACH + col

    def _neighbours(self, cell: Cell) -> tuple[Cell, ...]:
        row, col = self.location[cell]
        adjacent = ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col))
        cells = [r * self.cols + c for r, c in adjacent if 0 <= r < self.rows and 0 <= c < self.cols]
        return tuple([cell for cell in cells if self.is_free[cell]])

    def _ring(self, distance: int) -> list[int]:
        return [
            row * self.stride + col
            for row in range(-distance, distance + 1)
            for col in sorted({distance - abs(row), abs(row) - distance})
        ]


@lru_cache(maxsize=16)
def load(text: str) -> Ground:
    """Reads a map file's content. A line that is too long is cut.

    ValueError, one line with the number of the map's line, if it is no map.
    """
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ValueError("the map has no rows; expected lines of '.', '#' and 'S'")
    cols, cells, warnings = len(lines[0]), [], []
    for number, line in enumerate(lines, 1):
        if not line:
            raise ValueError(f"map line {number} is empty; expected {cols or 'some'} of '.', '#' and 'S'")
        if len(line) < cols:
            raise ValueError(f"map line {number} has {len(line)} cells; expected {cols}, as in line 1")
        if len(line) > cols:
            warnings.append(f"map line {number} has {len(line)} cells; cut to {cols}, as in line 1")
        row = line[:cols].replace("s", SPAWN_CHAR)
        if stray := re.search(r"[^.#S]", row):
            raise ValueError(
                f"map line {number} has {stray[0]!r} in column {stray.start() + 1}; expected '.', '#' or 'S'"
            )
        cells.append(row)
    free = sum(len(row) - row.count(BLOCK_CHAR) for row in cells)
    if free < 2:
        raise ValueError(f"the map has {free} free cells in lines 1 to {len(cells)}; expected 2 at least")
    return Ground(cells, warnings)


def ground_of(options: Options) -> Ground:
    """Returns the map that the options name. ValueError as in `load`."""
    return load(options.map or DEFAULT_MAP)


# The next fruit and its heat (sections 7 and 8).


def heat_distance(turn: int) -> int:
    """Returns the reach of the incoming batch's heat in that turn: 9 9 8 8 … 0 0."""
    return (DEPLOYMENT_TURNS - 1 - turn % DEPLOYMENT_TURNS) // 2


def heatmap(ground: Ground, incoming: Batch, distance: int) -> tuple[tuple[float, ...], ...]:
    """Returns rows × cols with 2 decimals, 0 on blocked cells.

    The sum goes over the batch in row-major order: another order would round some figures differently.
    """
    field = [0.0] * ground.field_size
    for cell, letters in incoming.items():
        points, middle = points_of(letters), ground.field_index(cell)
        for away, ring in enumerate(ground.rings[: distance + 1]):
            heat = points / (away + 1) ** 3
            for offset in ring:
                field[middle + offset] += heat
    rows = []
    for row in range(ground.rows):
        start = ground.field_index(row * ground.cols)
        heats = field[start : start + ground.cols]
        open_cells = ground.is_free[row * ground.cols : (row + 1) * ground.cols]
        rows.append(
            tuple([round(heat, 2) if free and heat else 0.0 for heat, free in zip(heats, open_cells, strict=True)])
        )
    return tuple(rows)


def drawn_batch(ground: Ground, dice: Dice) -> Batch:
    """Draws onions, strawberries and dragon fruit.

    For each kind, a field of random numbers, one cell wider than the map on each side, puts fruit on the cells whose
    number leads its four neighbours by enough.
    """
    width = ground.cols + 2
    indexes = [(row + 1) * width + col + 1 for row, col in map(ground.location.__getitem__, ground.free)]
    piles: dict[Cell, str] = {}
    for letter, gap in GAPS.items():
        field = [(dice.bits() >> 11) * 2.0**-53 for _ in range(width * (ground.rows + 2))]
        for cell, i in zip(ground.free, indexes, strict=True):
            rest = field[i] - gap
            if rest >= 0 and rest >= max(field[i - width], field[i - 1], field[i + 1], field[i + width]):
                piles[cell] = piles.get(cell, "") + letter
    return dict(sorted(piles.items()))
