"""What both opponents of ReAntics share: where they build, how their workers gather and when their queen fights."""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from referee.games.contract import Player
from referee.games.reantics import ReAntics
from referee.games.reantics.board import COORDS, DISTANCE, LIGHT, NEIGHBOURS, UNITS, PlacedAnt, tile_at
from referee.games.reantics.types import BUILD, END, GRASS, MOVE_ANT, SETUP_PHASE_1, WORKER, Move

Path = Sequence[tuple[int, int]]

HOME = (2, 1), (7, 1)
"""The anthill and the tunnel: no tile of the own side is more than four steps away from one of them."""
GRASS_TILES = (0, 3), (4, 3), (5, 3), (9, 3), (1, 3), (3, 3), (6, 3), (8, 3), (9, 0)
"""The tiles that are far from home, so that the rival cannot put our food there; most lie in the way of attackers."""
IN_THE_WAY = 2
"""The additional cost of a tile on which an ant stands: it may be gone in the next turn."""
FAR = 1000
"""A cost that no path has."""


def placement(position: ReAntics, player: Player) -> Path:
    """Returns the own pieces, then the food on the free tiles that are farthest from the rival's buildings."""
    if position.phase == SETUP_PHASE_1:
        return [*HOME, *GRASS_TILES][position.placed :]
    rival = 1 - player
    costs = costs_to(position, rival, (position.ground.hills[rival], position.ground.tunnels[rival]), WORKER)
    free = sorted(position.free(player), key=lambda tile: (-costs[tile], tile))
    return [COORDS[player][tile] for tile in free[: position.due()]]


def costs_to(position: ReAntics, player: Player, goals: Iterable[int], kind: int) -> list[int]:
    """Returns the moves that a unit of `player` needs from each tile to the nearest goal (Dijkstra); FAR: no path."""
    entering = LIGHT if UNITS[kind].ignores_grass else position.ground.cost
    costs = [FAR] * 100
    edge = [(0, goal) for goal in goals]
    for _, goal in edge:
        costs[goal] = 0
    while edge:
        cost, tile = heappop(edge)
        if cost > costs[tile]:
            continue
        cost += entering[tile] + IN_THE_WAY * (tile in position.ant_at)
        for adjacent in NEIGHBOURS[player][tile]:
            if cost < costs[adjacent]:
                costs[adjacent] = cost
                heappush(edge, (cost, adjacent))
    return costs


def ready(position: ReAntics, player: Player) -> list[PlacedAnt]:
    """Returns the own ants that have not moved in this turn, oldest first."""
    return [ant for ant in position.ants[player].values() if not ant.moved]


def gathering(position: ReAntics, player: Player) -> Move | None:
    """Returns the next step of a worker towards food or home; None if all workers are where they should be."""
    homes = position.ground.hills[player], position.ground.tunnels[player]
    for ant in ready(position, player):
        if ant.type == WORKER:
            goals = homes if ant.carrying else position.ground.foods
            path = nearest_path(position, player, ant, costs_to(position, player, goals, WORKER))
            if len(path) > 1:
                return Move(MOVE_ANT, path)
    return None


def nearest_path(position: ReAntics, player: Player, ant: PlacedAnt, costs: Sequence[int]) -> Path:
    """Returns the path with the cheapest end, the first and shortest of several."""
    return min(position.paths(ant, player), key=lambda path: (costs[tile_at(player, *path[-1])], len(path)))


def queens_move(position: ReAntics, player: Player) -> Move | None:
    """Attacks an enemy that the queen can reach without leaving the anthill's neighbours; else frees the anthill."""
    queen = position.ants[player].get(player)
    if queen is None or queen.moved:
        return None
    hill, enemies = position.ground.hills[player], position.ants[1 - player].values()
    posts = []
    for path in position.paths(queen, player):
        tile = tile_at(player, *path[-1])
        struck = any(DISTANCE[tile][enemy.tile] == 1 for enemy in enemies)
        if DISTANCE[tile][hill] <= 2 and tile != hill and position.ground.kind(tile) in (None, GRASS):
            # Behind the anthill she is in nobody's way.
            posts.append((not struck, DISTANCE[tile][hill], path[-1][1], len(path), path))
    if not posts:
        return None
    idle, *_, path = min(posts)
    return None if idle and queen.tile != hill else Move(MOVE_ANT, path)


def build(position: ReAntics, player: Player, kind: int) -> Move | None:
    """Returns the move that builds such an ant; None if it cannot be built now."""
    hill = position.ground.hills[player]
    if hill in position.ant_at or position.food[player] < UNITS[kind].cost:
        return None
    return Move(BUILD, (COORDS[player][hill],), kind)


def number_of(position: ReAntics, player: Player, *kinds: int) -> int:
    """Returns the number of own ants of these types."""
    return sum(ant.type in kinds for ant in position.ants[player].values())


END_OF_TURN = Move(END)
