"""Gathers food and defends.

Two workers walk between the nearest food and the nearest anthill or tunnel; the queen steps aside, so that the anthill
can build, and guards it; soldiers and drones are built when enemies come, and hunt them on this side of the board.
"""

import heapq

from referee_kit.ants import UNIT_STATS, approx_dist, get_anthill, list_adjacent
from referee_kit.reantics import (
    Ant,
    AntType,
    ConstructionType,
    Coord,
    GameState,
    Move,
    MoveType,
    Phase,
    ReAnticsBot,
    run,
)

FIGHTERS = (AntType.DRONE, AntType.SOLDIER, AntType.R_SOLDIER)

LAYOUT: list[Coord] = [(2, 1), (7, 1), *((x, 3) for x in range(10) if x != 5)]  # anthill, tunnel, a fence of grass
WORKERS_WANTED = 2
HOME_ROWS = range(5)  # an enemy here is an intruder


class Forager(ReAnticsBot):
    def get_placement(self, current_state: GameState) -> list[Coord]:
        if current_state.phase == Phase.SETUP_PHASE_1:
            return LAYOUT
        board = Board(current_state)
        buildings = [
            constr.coords
            for constr in board.enemy.constrs
            if constr.type in (ConstructionType.ANTHILL, ConstructionType.TUNNEL)
        ]
        walks = [board.costs(building, AntType.WORKER) for building in buildings]
        free = [(x, y) for x in range(10) for y in range(6, 10) if (x, y) not in board.constrs]
        free.sort(key=lambda tile: -min((walk.get(tile, 99) for walk in walks), default=0))
        return free[:2]

    def get_move(self, current_state: GameState) -> Move:
        """The first ant that has something to do does it; then the anthill builds; then the turn ends."""
        board = Board(current_state)
        for ant in board.me.ants:
            path = None if ant.has_moved else self.path(board, ant)
            if path:
                return Move(MoveType.MOVE_ANT, path)
        return self.build(board) or Move(MoveType.END)

    def get_attack(self, current_state: GameState, attacking_ant: Ant, enemy_locations: list[Coord]) -> Coord:
        """The queen if she is there; else an ant that dies of it, fighters before workers; else the weakest."""
        targets = Board(current_state).ants
        damage = UNIT_STATS[attacking_ant.type].attack

        def worth(tile: Coord) -> tuple[bool, bool, bool, int]:
            ant = targets[tile]
            return ant.type == AntType.QUEEN, ant.health <= damage, ant.type != AntType.WORKER, -ant.health

        return max(enemy_locations, key=worth)

    def path(self, board: "Board", ant: Ant) -> list[Coord] | None:
        """Where the ant goes now, its own tile first; None: it stays and does nothing."""
        if ant.type == AntType.WORKER:
            return board.walk(ant, self.errand(board, ant))
        if any(near(ant, enemy) for enemy in board.enemy.ants):
            return [ant.coords]  # stand and attack
        if ant.type == AntType.QUEEN:
            return board.walk(ant, board.post())
        intruders = [enemy.coords for enemy in board.enemy.ants if enemy.coords[1] in HOME_ROWS]
        return board.walk(ant, intruders or board.around(board.anthill, range(2, 4)))

    def errand(self, board: "Board", worker: Ant) -> list[Coord]:
        """Home with the food; else the food from which the whole way, there and home, is shortest."""
        if worker.carrying:
            return board.homes
        here = board.costs(worker.coords, AntType.WORKER, around_ants=True)
        homeward = [board.costs(home, AntType.WORKER) for home in board.homes]
        return sorted(
            (food for food in board.foods if food in here),
            key=lambda food: here[food] + min(costs.get(food, 99) for costs in homeward),
        )[:1]

    def build(self, board: "Board") -> Move | None:
        """A worker while there are too few; a soldier, or a drone where haste matters, for each fighter that comes.

        A unit of food is kept for a new worker: the queen alone without food has lost.
        """
        mine = [ant.type for ant in board.me.ants]
        food = board.me.food_count
        if board.anthill in board.ants:
            return None
        if mine.count(AntType.WORKER) < WORKERS_WANTED and food >= UNIT_STATS[AntType.WORKER].cost:
            return Move(MoveType.BUILD, [board.anthill], AntType.WORKER)
        coming = [ant for ant in board.enemy.ants if ant.type in FIGHTERS and ant.coords[1] <= 6]
        intruders = [ant for ant in board.enemy.ants if ant.coords[1] in HOME_ROWS]
        threats = max(len(coming), len(intruders))
        if threats > sum(kind in FIGHTERS for kind in mine) and food > UNIT_STATS[AntType.SOLDIER].cost:
            only_workers = not coming
            return Move(MoveType.BUILD, [board.anthill], AntType.DRONE if only_workers else AntType.SOLDIER)
        return None


class Board:
    """A state, looked at as a map."""

    def __init__(self, state: GameState) -> None:
        self.me = state.inventories[state.whose_turn]
        self.enemy = state.inventories[1 - state.whose_turn]
        self.ants: dict[Coord, Ant] = {ant.coords: ant for ant in (*self.me.ants, *self.enemy.ants)}
        self.constrs = {constr.coords: constr for side in state.inventories for constr in side.constrs}
        self.homes = [constr.coords for constr in self.me.constrs]
        anthill = get_anthill(self.me)
        self.anthill = anthill.coords if anthill else (0, 0)
        self.foods = [tile for tile, constr in self.constrs.items() if constr.type == ConstructionType.FOOD]

    def post(self) -> list[Coord]:
        """The queen's place: next to the anthill, away from the enemy, on nobody's way."""
        beside = [tile for tile in list_adjacent(self.anthill) if tile not in self.constrs and tile[1] <= 3]
        return sorted(beside, key=lambda tile: tile[1])[:1]

    def around(self, centre: Coord, distances: range) -> list[Coord]:
        """The tiles of this side at one of the `distances` from `centre`, those nearest to the enemy only."""
        tiles = [(x, y) for x in range(10) for y in range(4) if approx_dist((x, y), centre) in distances]
        front = max(y for _, y in tiles)
        return [tile for tile in tiles if tile[1] == front]

    def walk(self, ant: Ant, goals: list[Coord]) -> list[Coord] | None:
        """This turn's part of the way to the nearest goal; None when there, or when there is no step to take."""
        if not goals or ant.coords in goals:
            return None
        blocked = self.way(ant, goals, around_ants=True)
        way = blocked or self.way(ant, goals, around_ants=False)
        path, left = [ant.coords], UNIT_STATS[ant.type].movement
        for tile in way[1:]:
            left -= self.cost(tile, ant.type)
            if left < 0 or tile in self.ants:
                break
            path.append(tile)
        return path if len(path) > 1 else None

    def way(self, ant: Ant, goals: list[Coord], around_ants: bool) -> list[Coord]:
        """The cheapest way from the ant to one of the goals, both ends included; empty if there is none."""
        before: dict[Coord, Coord] = {}
        costs = self.costs(ant.coords, ant.type, around_ants, before)
        # An enemy's own tile cannot be entered: a neighbouring tile is near enough.
        reach = {near_goal for goal in goals for near_goal in self.ends(goal) if near_goal in costs}
        if not reach:
            return []
        way = [min(reach, key=lambda tile: (costs[tile], tile))]
        while way[-1] != ant.coords:
            way.append(before[way[-1]])
        return way[::-1]

    def ends(self, goal: Coord) -> list[Coord]:
        ant = self.ants.get(goal)
        return list_adjacent(goal) if ant in self.enemy.ants else [goal]

    def costs(
        self, start: Coord, kind: AntType, around_ants: bool = False, before: dict[Coord, Coord] | None = None
    ) -> dict[Coord, int]:
        """The price for an ant of this kind from `start` to every tile that it can reach; `before` gets the ways."""
        costs: dict[Coord, int] = {}
        queue = [(0, start, start)]
        while queue:
            paid, tile, previous = heapq.heappop(queue)
            if tile in costs:
                continue
            costs[tile] = paid
            if before is not None:
                before[tile] = previous
            for beside in list_adjacent(tile):
                if not (around_ants and beside in self.ants) and not (kind == AntType.QUEEN and beside[1] > 3):
                    heapq.heappush(queue, (paid + self.cost(beside, kind), beside, tile))
        return costs

    def cost(self, tile: Coord, kind: AntType) -> int:
        constr = self.constrs.get(tile)
        return 1 if constr is None or UNIT_STATS[kind].ignores_grass else constr.movement_cost


def near(ant: Ant, enemy: Ant) -> bool:
    return bool(approx_dist(ant.coords, enemy.coords) <= UNIT_STATS[ant.type].range)


if __name__ == "__main__":
    run(Forager)
