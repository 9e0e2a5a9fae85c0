"""`@gunner`: shoots at the boss for as long as it lives, and levels up on the way."""

from typing import Any

from referee.games.aibg5 import AIBG5, BOSS, EXPERIENCE, HEALTH, LINES, OBSTACLES, RINGS, Cell
from referee.games.aibg5.types import ATTACK_RANGE
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._aibg5 import first_step, named, step_to
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve

POST_RING = 1 + ATTACK_RANGE
"""The outermost ring with the boss in range."""
DETOUR = 4
"""The cost of a way that an item is worth."""
HURT = 0.5
"""The part of its maximum health below which it needs health."""
CURE = 9
"""The cost of a way that health is worth then: less than the way back from the start tile."""


def besiege(position: AIBG5, player: Player, dice: Dice) -> Any:
    """Shoots at the boss, else at a player; else goes for an item that is near, or to the boss."""
    ship = position.ships[player]
    if ship.trap:
        return position.sample(player, dice)
    shots = targets(position, player)
    for cell in shots:
        if cell not in position.seat_at:
            return named("attack", cell)
    if shots:
        return named("attack", min(shots, key=lambda cell: position.ships[position.seat_at[cell]].health))
    hurt = ship.health < HURT * ship.max_health
    for kind, worth in ((HEALTH, CURE if hurt else 0), (EXPERIENCE, DETOUR)):
        items = [cell for cell, found in enumerate(position.kinds) if found == kind]
        way = first_step(position, player, items)
        if way is not None and way[1] <= worth:
            return step_to(position, way[0])
    way = first_step(position, player, posts(position))
    return position.sample(player, dice) if way is None else step_to(position, way[0])


def targets(position: AIBG5, player: Player) -> list[Cell]:
    """Returns the cells of players and of the boss that a shot would reach."""
    lines = LINES[position.ships[player].cell]
    return [
        cell
        for cell in lines
        if (cell in position.seat_at or position.kinds[cell] == BOSS) and position.first_obstacle(player, cell) == cell
    ]


def posts(position: AIBG5) -> set[Cell]:
    """Returns the free cells from which a shot would reach the boss."""
    return {
        cell
        for cell, ring in enumerate(RINGS)
        if ring == POST_RING
        and cell not in position.seat_at
        and position.kinds[cell] not in OBSTACLES
        and any(
            position.kinds[target] == BOSS and all(position.kinds[each] not in OBSTACLES for each in line)
            for target, line in LINES[cell].items()
        )
    }


GAMES: dict[str, Start] = {"aibg5": follow(besiege)}


if __name__ == "__main__":
    serve("gunner", GAMES)
