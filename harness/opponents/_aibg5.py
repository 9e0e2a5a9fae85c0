"""The way of a ship, for the opponents of AIBG 5 (aibg5.md, 13.4)."""

from collections.abc import Collection
from heapq import heappop, heappush

from referee.games.aibg5 import AIBG5, ASTEROID, BLACKHOLE, BOSS, CELLS, NEIGHBOURS, WORMHOLE, Cell
from referee.games.contract import Player
from referee.games.hexgrid import NOWHERE

HOLE_COST = 2
"""The additional cost of a step into a black hole."""


def first_step(position: AIBG5, player: Player, goals: Collection[Cell]) -> tuple[Cell, int] | None:
    """Returns the first cell of the cheapest path to one of `goals` and the path's cost (Dijkstra); None: no path."""
    start = position.ships[player].cell
    blocked = {*position.seat_at, *[cell for cell, kind in enumerate(position.kinds) if kind in (BOSS, WORMHOLE)]}
    edge: list[tuple[int, Cell, Cell]] = [(0, start, start)]  # cost, cell, first cell of the path
    done = set()
    while edge:
        cost, cell, first = heappop(edge)
        if cell in goals:
            return first, cost
        if cell in done:
            continue
        done.add(cell)
        for neighbour in NEIGHBOURS[cell]:
            if neighbour != NOWHERE and (neighbour in goals or neighbour not in blocked):
                total = cost + step_cost(position, player, neighbour)
                heappush(edge, (total, neighbour, neighbour if cell == start else first))
    return None


def step_cost(position: AIBG5, player: Player, cell: Cell) -> int:
    """Returns 1 plus the cost of a black hole or the number of shots at an asteroid."""
    kind = position.kinds[cell]
    if kind == ASTEROID:
        return 1 + -(-position.asteroids[cell] // position.ships[player].power)
    return 1 + HOLE_COST * (kind == BLACKHOLE)


def step_to(position: AIBG5, cell: Cell) -> dict[str, str]:
    """Returns the move to the cell, or the attack on the asteroid there."""
    return named("attack" if position.kinds[cell] == ASTEROID else "move", cell)


def named(word: str, cell: Cell) -> dict[str, str]:
    q, r = CELLS[cell]
    return {"action": f"{word},{q},{r}"}
