"""`@trainer`: hunts the nearest player and shoots; neither items nor the boss interest it (aibg5.md, 13.4)."""

from heapq import heappop, heappush
from typing import Any

from referee.games.aibg5 import AIBG5, ASTEROID, BLACKHOLE, BOSS, CELLS, NEIGHBOURS, WORMHOLE, Cell
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.hexgrid import NOWHERE, distance
from referee.harness.opponents._aibg5 import follow
from referee.harness.opponents._serve import Start, serve

HOLE_COST = 2
"""What a black hole adds to the step into it."""


def hunt(position: AIBG5, player: Player, dice: Dice) -> Any:
    """Shoots at the nearest player, or takes a step towards it; an asteroid that is in the way is shot.

    Where neither can be done, any legal action.
    """
    target = position.ships[nearest(position, player)].at
    shot = _named("attack", target)
    if shot in position.legal(player):
        return shot
    step = None if position.ships[player].trap else first_step(position, player, target)
    if step is None:
        return position.sample(player, dice)
    return _named("attack" if position.kinds[step] == ASTEROID else "move", step)


def nearest(position: AIBG5, player: Player) -> Player:
    """The other player that is least far away, of several the first."""
    here = CELLS[position.ships[player].at]
    others = [seat for seat in position.on.values() if seat != player]
    return min(others, key=lambda seat: (distance(here, CELLS[position.ships[seat].at]), seat))


def first_step(position: AIBG5, player: Player, target: Cell) -> Cell | None:
    """The first cell of the cheapest way; None if there is no way."""
    start = position.ships[player].at
    edge: list[tuple[int, Cell, Cell]] = [(0, start, start)]  # cost, cell, first cell of the way there
    done = set()
    while edge:
        cost, cell, first = heappop(edge)
        if cell == target:
            return first
        if cell in done:
            continue
        done.add(cell)
        for beside in NEIGHBOURS[cell]:
            if beside != NOWHERE and (beside == target or _may_enter(position, beside)):
                there = cost + step_cost(position, player, beside)
                heappush(edge, (there, beside, beside if cell == start else first))
    return None


def step_cost(position: AIBG5, player: Player, cell: Cell) -> int:
    """1, and what a black hole adds, or the shots that an asteroid takes."""
    kind = position.kinds[cell]
    if kind == ASTEROID:
        return 1 + -(-position.asteroids[cell] // position.ships[player].power)
    return 1 + HOLE_COST * (kind == BLACKHOLE)


def _may_enter(position: AIBG5, cell: Cell) -> bool:
    return cell not in position.on and position.kinds[cell] not in (BOSS, WORMHOLE)


def _named(word: str, cell: Cell) -> dict[str, str]:
    q, r = CELLS[cell]
    return {"action": f"{word},{q},{r}"}


GAMES: dict[str, Start] = {"aibg5": lambda match: follow(match, hunt)}


if __name__ == "__main__":
    serve("trainer", GAMES)
