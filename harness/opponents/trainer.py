"""`@trainer`: hunts the nearest player and shoots; it ignores items and the boss (aibg5.md, 13.4)."""

from heapq import heappop, heappush
from typing import Any

from referee.games.aibg5 import AIBG5, ASTEROID, BLACKHOLE, BOSS, CELLS, NEIGHBOURS, WORMHOLE, Cell
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.hexgrid import NOWHERE, distance
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve

HOLE_COST = 2
"""The additional cost of a step into a black hole."""


def hunt(position: AIBG5, player: Player, dice: Dice) -> Any:
    """Shoots at the nearest player, or moves towards it and shoots at asteroids in its way; else any legal action."""
    target = position.ships[nearest(position, player)].cell
    shot = _named("attack", target)
    if shot in position.legal(player):
        return shot
    step = None if position.ships[player].trap else first_step(position, player, target)
    if step is None:
        return position.sample(player, dice)
    return _named("attack" if position.kinds[step] == ASTEROID else "move", step)


def nearest(position: AIBG5, player: Player) -> Player:
    """Returns the nearest other player, the first of several."""
    place = CELLS[position.ships[player].cell]
    others = [seat for seat in position.seat_at.values() if seat != player]
    return min(others, key=lambda seat: (distance(place, CELLS[position.ships[seat].cell]), seat))


def first_step(position: AIBG5, player: Player, target: Cell) -> Cell | None:
    """Returns the first cell of the cheapest path (Dijkstra); None if there is no path."""
    start = position.ships[player].cell
    blocked = {*position.seat_at, *[cell for cell, kind in enumerate(position.kinds) if kind in (BOSS, WORMHOLE)]}
    edge: list[tuple[int, Cell, Cell]] = [(0, start, start)]  # cost, cell, first cell of the path
    done = set()
    while edge:
        cost, cell, first = heappop(edge)
        if cell == target:
            return first
        if cell in done:
            continue
        done.add(cell)
        for neighbour in NEIGHBOURS[cell]:
            if neighbour != NOWHERE and (neighbour == target or neighbour not in blocked):
                total = cost + step_cost(position, player, neighbour)
                heappush(edge, (total, neighbour, neighbour if cell == start else first))
    return None


def step_cost(position: AIBG5, player: Player, cell: Cell) -> int:
    """Returns 1 plus the cost of a black hole or the number of shots at an asteroid."""
    kind = position.kinds[cell]
    if kind == ASTEROID:
        return 1 + -(-position.asteroids[cell] // position.ships[player].power)
    return 1 + HOLE_COST * (kind == BLACKHOLE)


def _named(word: str, cell: Cell) -> dict[str, str]:
    q, r = CELLS[cell]
    return {"action": f"{word},{q},{r}"}


GAMES: dict[str, Start] = {"aibg5": follow(hunt)}


if __name__ == "__main__":
    serve("trainer", GAMES)
