"""Draws the next fruit and its heat: aiarena21.md, sections 7 and 8."""

from referee.games.aiarena21.board import Batch, Cell, Ground, points_of
from referee.games.aiarena21.types import DEPLOYMENT_TURNS
from referee.games.dice import Dice

GAPS = {"O": 0.0675, "S": 0.2672, "D": 0.4883}  # the least lead of a cell's number over its neighbours' (section 8)


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


# Luck (section 8).


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
