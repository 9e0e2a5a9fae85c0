"""`@raider`: gathers food with two workers, kills the rival's workers with its soldiers and takes the anthill."""

from collections.abc import Sequence
from typing import Any

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.reantics import GET_ATTACK, GET_PLACEMENT, ReAntics
from referee.games.reantics.board import COORDS, DISTANCE, UNITS, PlacedAnt, tile_at
from referee.games.reantics.types import FOOD_GOAL, MOVE_ANT, QUEEN, SOLDIER, WORKER, Move
from referee.harness.opponents import _reantics as ants
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve

WORKERS = 2
ENOUGH = FOOD_GOAL - 3
"""The food from which on it saves what it has."""
LEAD = 3
"""It has enough soldiers if it has this many more than the rival has ants that fight."""

# The worth of what a soldier does, in moves that it would make for it.
KILL = {QUEEN: 1000.0, WORKER: 12.0}
"""Of other ants it is `KILL_OTHER`."""
KILL_OTHER = 10.0
DAMAGE = 1.0
"""Of each point, and of each point of the own health that the rival can take."""
LOSS = 6.0
"""Of a soldier of its own."""
CAPTURE = 4.0
"""Of a turn on the rival's anthill."""
OBSTRUCTION = 3.0
"""Of a turn where the own workers want to go."""


def raid(position: ReAntics, player: Player, dice: Dice) -> Any:
    """Moves soldiers first, then the queen and the workers; builds; ends the turn."""
    method = position.awaited[player]
    if method is GET_PLACEMENT:
        return ants.placement(position, player)
    if method is GET_ATTACK:
        assert position.attacker is not None
        return COORDS[player][best_target(position, position.attacker, position.targets)]
    return (
        fighting(position, player)
        or ants.queens_move(position, player)
        or ants.gathering(position, player)
        or building(position, player)
        or ants.END_OF_TURN
    )


def building(position: ReAntics, player: Player) -> Move | None:
    """Builds two soldiers before the second worker, then soldiers until they are enough, or the food nearly is."""
    army = len(fighters(position, player))
    if ants.number_of(position, player, WORKER) < (WORKERS if army > 1 else 1):
        return ants.build(position, player, WORKER)
    enough = army - len(fighters(position, 1 - player)) >= LEAD or position.food[player] >= ENOUGH
    return None if enough else ants.build(position, player, SOLDIER)


def fighters(position: ReAntics, player: Player) -> list[PlacedAnt]:
    """Returns the ants of a player that can attack, without the queen."""
    return [ant for ant in position.ants[player].values() if ant.type not in (QUEEN, WORKER)]


def fighting(position: ReAntics, player: Player) -> Move | None:
    """Returns the best move of the first soldier that has one."""
    army = fighters(position, player)
    fear = min(1.0, len(fighters(position, 1 - player)) / max(1, len(army)))
    for ant in army:
        if ant.moved:
            continue
        costs = ants.costs_to(position, player, goals(position, player), ant.type)
        worths = {}
        for path in position.paths(ant, player):
            end = tile_at(player, *path[-1])
            if end not in worths:
                worths[end] = (worth(position, ant, end, fear) - costs[end], -len(path), path)
        *_, path = max(worths.values())
        if len(path) > 1 or position.targets_of(ant):
            return Move(MOVE_ANT, path)
    return None


def goals(position: ReAntics, player: Player) -> list[int]:
    """Returns the tiles that soldiers go to: enemies on the own side, else workers, else the anthill."""
    rival = 1 - player
    enemies = position.ants[rival].values()
    intruders = [ant.tile for ant in enemies if ant.type not in (QUEEN, WORKER) and COORDS[player][ant.tile][1] <= 5]
    workers = [ant.tile for ant in enemies if ant.type == WORKER]
    return intruders or workers or [position.ground.hills[rival]]


def worth(position: ReAntics, ant: PlacedAnt, tile: int, fear: float) -> float:
    """Returns the worth of the best attack from `tile`, less `fear` times what the rival can do to the ant there."""
    rival = 1 - ant.player
    targets = targets_from(position, ant, tile)
    gain, killed = 0.0, None
    if targets:
        target = position.ant_at[best_target(position, ant, targets)]
        gain = gain_of(ant, target)
        if target.health <= UNITS[ant.type].attack:
            killed = target
    ground = position.ground
    if tile == ground.hills[rival]:
        gain += CAPTURE
    elif tile in ground.foods or tile in (ground.hills[ant.player], ground.tunnels[ant.player]):
        gain -= OBSTRUCTION
    danger = 0
    for enemy in position.ants[rival].values():
        unit = UNITS[enemy.type]
        if unit.attack and enemy is not killed and DISTANCE[enemy.tile][tile] <= unit.moves + unit.range:
            danger += unit.attack
    return gain - fear * (DAMAGE * min(danger, ant.health) + LOSS * (danger >= ant.health))


def targets_from(position: ReAntics, ant: PlacedAnt, tile: int) -> list[int]:
    """Returns the tiles that `ant` could attack from `tile`."""
    reach = UNITS[ant.type].range
    return [enemy.tile for enemy in position.ants[1 - ant.player].values() if DISTANCE[tile][enemy.tile] <= reach]


def best_target(position: ReAntics, ant: PlacedAnt, targets: Sequence[int]) -> int:
    """Returns the tile of the enemy that is worth most to hit, the oldest of several."""
    return max(targets, key=lambda tile: gain_of(ant, position.ant_at[tile]))


def gain_of(ant: PlacedAnt, target: PlacedAnt) -> float:
    """Returns the worth of one attack."""
    damage = UNITS[ant.type].attack
    if damage >= target.health:
        return KILL.get(target.type, KILL_OTHER)
    return DAMAGE * damage


GAMES: dict[str, Start] = {"reantics": follow(raid)}


if __name__ == "__main__":
    serve("raider", GAMES)
