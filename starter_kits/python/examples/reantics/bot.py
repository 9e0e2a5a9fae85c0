"""Gathers food and defends.

Two workers walk between the nearest food and the nearest anthill or tunnel; the queen steps aside, so that the anthill
can build, and guards it; soldiers and drones are built when enemies come, and hunt them on this side of the board.
"""

import heapq

from referee_kit.reantics import *

FIGHTERS = (DRONE, SOLDIER, R_SOLDIER)

LAYOUT: list[Coord] = [(2, 1), (7, 1), *((x, 3) for x in range(10) if x != 5)]  # anthill, tunnel, a fence of grass
WORKERS_WANTED = 2
HOME_ROWS = range(5)  # an enemy here is an intruder


class Forager(ReAnticsBot):
    def getPlacement(self, currentState: GameState) -> list[Coord]:
        if currentState.phase == SETUP_PHASE_1:
            return LAYOUT
        board = Board(currentState)
        buildings = [constr.coords for constr in board.enemy.constrs if constr.type in (ANTHILL, TUNNEL)]
        walks = [board.costs(building, WORKER) for building in buildings]
        free = [(x, y) for x in range(10) for y in range(6, 10) if (x, y) not in board.constrs]
        free.sort(key=lambda tile: -min((walk.get(tile, 99) for walk in walks), default=0))
        return free[:2]

    def getMove(self, currentState: GameState) -> Move:
        """The first ant that has something to do does it; then the anthill builds; then the turn ends."""
        board = Board(currentState)
        for ant in board.me.ants:
            path = None if ant.hasMoved else self.path(board, ant)
            if path:
                return Move(MOVE_ANT, path)
        return self.build(board) or Move(END)

    def getAttack(self, currentState: GameState, attackingAnt: Ant, enemyLocations: list[Coord]) -> Coord:
        """The queen if she is there; else an ant that dies of it, fighters before workers; else the weakest."""
        targets = Board(currentState).ants
        damage = UNIT_STATS[attackingAnt.type][ATTACK]

        def worth(tile: Coord) -> tuple[bool, bool, bool, int]:
            ant = targets[tile]
            return ant.type == QUEEN, ant.health <= damage, ant.type != WORKER, -ant.health

        return max(enemyLocations, key=worth)

    def path(self, board: "Board", ant: Ant) -> list[Coord] | None:
        """Where the ant goes now, its own tile first; None: it stays and does nothing."""
        if ant.type == WORKER:
            return board.walk(ant, self.errand(board, ant))
        if any(near(ant, enemy) for enemy in board.enemy.ants):
            return [ant.coords]  # stand and attack
        if ant.type == QUEEN:
            return board.walk(ant, board.post())
        intruders = [enemy.coords for enemy in board.enemy.ants if enemy.coords[1] in HOME_ROWS]
        return board.walk(ant, intruders or board.around(board.anthill, range(2, 4)))

    def errand(self, board: "Board", worker: Ant) -> list[Coord]:
        """Home with the food; else the food from which the whole way, there and home, is shortest."""
        if worker.carrying:
            return board.homes
        here = board.costs(worker.coords, WORKER, around_ants=True)
        homeward = [board.costs(home, WORKER) for home in board.homes]
        return sorted(
            (food for food in board.foods if food in here),
            key=lambda food: here[food] + min(costs.get(food, 99) for costs in homeward),
        )[:1]

    def build(self, board: "Board") -> Move | None:
        """A worker while there are too few; a soldier, or a drone where haste matters, for each fighter that comes.

        A unit of food is kept for a new worker: the queen alone without food has lost.
        """
        mine = [ant.type for ant in board.me.ants]
        food = board.me.foodCount
        if board.anthill in board.ants:
            return None
        if mine.count(WORKER) < WORKERS_WANTED and food >= UNIT_STATS[WORKER][COST]:
            return Move(BUILD, [board.anthill], WORKER)
        coming = [ant for ant in board.enemy.ants if ant.type in FIGHTERS and ant.coords[1] <= 6]
        intruders = [ant for ant in board.enemy.ants if ant.coords[1] in HOME_ROWS]
        threats = max(len(coming), len(intruders))
        if threats > sum(kind in FIGHTERS for kind in mine) and food > UNIT_STATS[SOLDIER][COST]:
            only_workers = not coming
            return Move(BUILD, [board.anthill], DRONE if only_workers else SOLDIER)
        return None


class Board:
    """A state, looked at as a map."""

    def __init__(self, state: GameState) -> None:
        self.me = state.inventories[state.whoseTurn]
        self.enemy = state.inventories[1 - state.whoseTurn]
        self.ants: dict[Coord, Ant] = {ant.coords: ant for ant in (*self.me.ants, *self.enemy.ants)}
        self.constrs = {constr.coords: constr for side in state.inventories for constr in side.constrs}
        self.homes = [constr.coords for constr in self.me.constrs]
        self.anthill = next((constr.coords for constr in self.me.constrs if constr.type == ANTHILL), (0, 0))
        self.foods = [tile for tile, constr in self.constrs.items() if constr.type == FOOD]

    def post(self) -> list[Coord]:
        """The queen's place: next to the anthill, away from the enemy, on nobody's way."""
        beside = [tile for tile in listAdjacent(self.anthill) if tile not in self.constrs and tile[1] <= 3]
        return sorted(beside, key=lambda tile: tile[1])[:1]

    def around(self, centre: Coord, distances: range) -> list[Coord]:
        """The tiles of this side at one of the `distances` from `centre`, those nearest to the enemy only."""
        tiles = [(x, y) for x in range(10) for y in range(4) if approxDist((x, y), centre) in distances]
        front = max(y for _, y in tiles)
        return [tile for tile in tiles if tile[1] == front]

    def walk(self, ant: Ant, goals: list[Coord]) -> list[Coord] | None:
        """This turn's part of the way to the nearest goal; None when there, or when there is no step to take."""
        if not goals or ant.coords in goals:
            return None
        blocked = self.way(ant, goals, around_ants=True)
        way = blocked or self.way(ant, goals, around_ants=False)
        path, left = [ant.coords], UNIT_STATS[ant.type][MOVEMENT]
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
        return listAdjacent(goal) if ant in self.enemy.ants else [goal]

    def costs(
        self, start: Coord, kind: int, around_ants: bool = False, before: dict[Coord, Coord] | None = None
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
            for beside in listAdjacent(tile):
                if not (around_ants and beside in self.ants) and not (kind == QUEEN and beside[1] > 3):
                    heapq.heappush(queue, (paid + self.cost(beside, kind), beside, tile))
        return costs

    def cost(self, tile: Coord, kind: int) -> int:
        constr = self.constrs.get(tile)
        return 1 if constr is None or UNIT_STATS[kind][IGNORES_GRASS] else constr.movementCost


def near(ant: Ant, enemy: Ant) -> bool:
    return bool(approxDist(ant.coords, enemy.coords) <= UNIT_STATS[ant.type][RANGE])


if __name__ == "__main__":
    run(Forager)
