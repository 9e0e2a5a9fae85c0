"""Questions about a position of ReAntics, under the names that the original gave its agents (reantics.md, 11.3).

All of it comes with `from referee_kit.reantics import *`. The functions look at the inventories and never at `board`,
and work on whatever has their members: the kit's state, and the one that agents of the original are shown.
Coordinates are tuples. Orders, and paths that come twice, are part of what is promised: bots draw from these lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from referee_kit import wire as _wire
from referee_kit.reantics import (
    ANTHILL,
    BOARD_LENGTH,
    BUILD,
    DRONE,
    END,
    FOOD,
    FOOD_GOAL,
    GRASS,
    MOVE_ANT,
    QUEEN,
    R_SOLDIER,
    SOLDIER,
    TUNNEL,
    WORKER,
    Ant,
    Construction,
    Coord,
    GameState,
    Inventory,
    Move,
)

MOVEMENT, HEALTH, ATTACK, RANGE, COST, IGNORES_GRASS = range(6)
UNIT_STATS: list[list[Any]] = [
    [2, 10, 4, 1, None, False],
    [2, 4, 0, 1, 1, False],
    [3, 4, 2, 1, 2, True],
    [2, 8, 4, 1, 2, False],
    [1, 2, 3, 3, 2, True],
]
"""By ant type: moves, health, attack, range, cost in food (None: cannot be built), whether grass costs it 1.

The kit sets a worker's health to the option `worker_health` when a match begins, before the bot is made.
"""
MOVE_COST, CAP_HEALTH, BUILD_COST = range(3)
CONSTR_STATS: list[tuple[int, int | None, int | None]] = [
    (1, 3, None),
    (1, 2, None),
    (2, None, None),
    (1, None, None),
]
"""Anthill, tunnel, grass, food, so that the negative type is the index: cost to enter, turns to capture, cost."""
NEUTRAL = 2
ALL_ANTS = (QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER)
ALL_CONSTRS = (ANTHILL, TUNNEL, GRASS, FOOD)


@_wire.on_match
def _follow(match: _wire.Match) -> None:
    UNIT_STATS[WORKER][HEALTH] = match.options.get("worker_health", 4)


# What stands where.


def legalCoord(coord: Any) -> bool:
    """Whether that is a tile of the board."""
    try:
        if len(coord) != 2:
            return False
    except TypeError:
        print(f"ERROR: legalCoord needs a pair, not {coord!r}")
        return False
    return bool(0 <= coord[0] < BOARD_LENGTH and 0 <= coord[1] < BOARD_LENGTH)


def getAntList(state: GameState, pid: int | None = None, types: Iterable[int] = ALL_ANTS) -> list[Ant]:
    """The ants of a player, None = of both, of those types, in the order of the inventories."""
    inventories = [inventory for inventory in state.inventories if pid is None or inventory.player == pid]
    return [ant for inventory in inventories for ant in inventory.ants if ant.type in types]


def getConstrList(state: GameState, pid: int | None = None, types: Iterable[int] = ALL_CONSTRS) -> list[Construction]:
    """The constructions of a player, 2 = nobody's, None = all, of those types, in the order of the inventories."""
    inventories = [inventory for inventory in state.inventories if pid is None or inventory.player == pid]
    return [constr for inventory in inventories for constr in inventory.constrs if constr.type in types]


def getAntAt(state: GameState, coords: Coord) -> Ant | None:
    """The ant on a tile."""
    for inventory in state.inventories:
        for ant in inventory.ants:
            if ant.coords == coords:
                return ant
    return None


def getConstrAt(state: GameState, coords: Coord) -> Construction | None:
    """The construction on a tile."""
    for inventory in state.inventories:
        for constr in inventory.constrs:
            if constr.coords == coords:
                return constr
    return None


def getCurrPlayerInventory(state: GameState) -> Inventory:
    """The inventory of the player to move."""
    return state.inventories[state.whoseTurn]


def getCurrPlayerQueen(state: GameState) -> Ant | None:
    """The queen of the player to move."""
    return next((ant for ant in getCurrPlayerInventory(state).ants if ant.type == QUEEN), None)


def getCurrPlayerFood(self: Any, state: GameState) -> list[Construction]:
    """The two foods on the side of the player to move. The first argument is not used."""
    foods = getConstrList(state, NEUTRAL, (FOOD,))
    return foods[2:4] if state.whoseTurn == 0 else foods[0:2]


def getEnemyInv(self: Any, state: GameState) -> Inventory:
    """The inventory of the opponent. The first argument is not used."""
    return state.inventories[1 - state.whoseTurn]


def getWinner(state: GameState) -> int | None:
    """1 if the player to move has won, 0 if its opponent has, else None (section 6)."""
    if _has_won(state, state.whoseTurn):
        return 1
    return 0 if _has_won(state, 1 - state.whoseTurn) else None


def _has_won(state: GameState, player: int) -> bool:
    own, enemy = state.inventories[player], state.inventories[1 - player]
    if not any(ant.type == QUEEN for ant in enemy.ants):
        return True
    anthill = next((constr for constr in enemy.constrs if constr.type == ANTHILL), None)
    if anthill is not None and anthill.captureHealth is not None and anthill.captureHealth <= 0:
        return True
    return own.foodCount >= FOOD_GOAL or (enemy.foodCount == 0 and len(enemy.ants) == 1)


# Distances and ways.


def approxDist(source: Coord, dest: Coord) -> int:
    """Columns plus rows between two tiles."""
    return abs(source[0] - dest[0]) + abs(source[1] - dest[1])


def listAdjacent(coords: Coord) -> list[Coord]:
    """The tiles left, right, above and below, in this order, as far as they are on the board."""
    if not legalCoord(coords):
        return []
    x, y = coords
    return [near for near in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if _on_board(near)]


def _on_board(coords: Coord) -> bool:
    return 0 <= coords[0] < BOARD_LENGTH and 0 <= coords[1] < BOARD_LENGTH


def listAttackable(coords: Coord, dist: int = 1) -> list[Coord]:
    """The tiles at a distance of 1 to `dist`, by column and then by row."""
    x, y = coords
    reach = range(-dist, dist + 1)
    found = [(x + dx, y + dy) for dx in reach for dy in reach if 0 < abs(dx) + abs(dy) <= dist]
    return [tile for tile in found if _on_board(tile)]


class _Ground:
    """Facts about a state for walkers, gathered once for many questions."""

    def __init__(self, state: GameState) -> None:
        try:
            self.occupied = {ant.coords for inventory in state.inventories for ant in inventory.ants}
        except TypeError:  # somebody gave an ant a list; it equals no tile
            ants = [ant for inventory in state.inventories for ant in inventory.ants]
            self.occupied = {ant.coords for ant in ants if isinstance(ant.coords, tuple)}
        self.costs: dict[Coord, int] = {}
        for inventory in state.inventories:
            for constr in inventory.constrs:
                self.costs.setdefault(constr.coords, constr.movementCost)

    def steps(self, coords: Coord, movement: int, ignoresGrass: bool) -> list[tuple[Coord, int]]:
        """The neighbours that can be entered, each with what is left of `movement`."""
        found = []
        for near in listAdjacent(coords):
            if near not in self.occupied:
                left = movement - (1 if ignoresGrass else self.costs.get(near, 1))
                if left >= 0:
                    found.append((near, left))
        return found

    def paths(self, coords: Coord, movement: int, ignoresGrass: bool) -> list[list[Coord]]:
        if movement <= 0:
            return []
        steps = self.steps(coords, movement, ignoresGrass)
        found = [[coords, near] for near, _ in steps]
        for near, left in steps:
            found += [[coords, *rest] for rest in self.paths(near, left, ignoresGrass)]
        found.append([coords])
        return found

    def toward(self, coords: Coord, dest: Coord, movement: int, ignoresGrass: bool) -> tuple[list[Coord], int]:
        distance = approxDist(coords, dest)
        best = [coords], distance
        if distance == 0 or movement <= 0:
            return best
        for near, left in self.steps(coords, movement, ignoresGrass):
            path, rest = self.toward(near, dest, left, ignoresGrass)
            if rest < best[1]:
                best = [coords, *path], rest
                if rest in (0, distance - movement):
                    break
        return best


def listReachableAdjacent(state: GameState, coords: Coord, movement: int, ignoresGrass: bool = False) -> list[Coord]:
    """The neighbours without an ant that cost at most `movement` to enter."""
    return [near for near, _ in _Ground(state).steps(coords, movement, ignoresGrass)]


def listReachAdj(state: GameState, coords: Coord, antCoords: Any = None) -> list[Coord]:
    """The neighbours without an ant. The last argument is not used."""
    return [near for near in listAdjacent(coords) if getAntAt(state, near) is None]


def listAllMovementPaths(
    state: GameState, coords: Coord, movement: int, ignoresGrass: bool = False
) -> list[list[Coord]]:
    """Every path from a tile: first those of one step, then each of them with what may follow, at last staying.

    Shorter paths come more than once, since each step may be followed by staying. A queen's may leave her home.
    """
    return _Ground(state).paths(coords, movement, ignoresGrass)


def stepsToReach(state: GameState, src: Coord, dst: Coord) -> int:
    """About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile.

    Tiles are looked at in the order in which they were found, each once: the way that is found first through grass may
    not be the cheapest.
    """
    if not legalCoord(src) or not legalCoord(dst):
        return -1
    grounds = _Ground(state).costs
    source, dest = (src[0], src[1]), (dst[0], dst[1])
    costs, queue = {source: 0}, [source]
    for here in queue:
        if here == dest:
            return costs[here]
        for near in listAdjacent(here):
            cost = costs[here] + grounds.get(near, 1)
            if near not in costs:
                queue.append(near)
            costs[near] = min(cost, costs.get(near, cost))
    return -1


def findPathRecursive(
    state: GameState, src: Coord, dst: Coord, movement: int, ignoresGrass: bool
) -> tuple[list[Coord], int]:
    """The path that gets nearest to a tile within `movement`, the first of equals, and the distance that is left.

    Each step is taken for the distance alone, so that it may stay where a way round would help.
    """
    return _Ground(state).toward(src, dst, movement, ignoresGrass)


def createPathToward(state: GameState, src: Coord, dst: Coord, movement: int) -> list[Coord]:
    """The path of `findPathRecursive` for the ant on `src`."""
    ant = getAntAt(state, src)
    ignoresGrass = ant is not None and bool(UNIT_STATS[ant.type][IGNORES_GRASS])
    return findPathRecursive(state, src, dst, movement, ignoresGrass)[0]


class GraphNode:
    """A tile that `aStarSearchPath` has come to; equal to any other of the same tile."""

    def __init__(self, parent: GraphNode | None, coords: Coord, g: int = 0, h: int = 0) -> None:
        self.parent, self.coords, self.g, self.h = parent, coords, g, h
        self.f = g + h

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphNode) and self.coords == other.coords

    def __hash__(self) -> int:
        return hash(self.coords)


def neighbors(state: GameState, node: GraphNode, goal: Coord, ign_grass: bool, antMovement: int) -> list[GraphNode]:
    """The tiles next to a node that can be entered, each one step further."""
    near = listReachableAdjacent(state, node.coords, antMovement + 1, ign_grass)
    return [GraphNode(node, coords, node.g + 1, approxDist(coords, goal)) for coords in near]


def construct_path(node: GraphNode | None, antMovement: int) -> list[Coord]:
    """The way to a node from where it began, as far as an ant gets."""
    path: list[Coord] = []
    while node is not None:
        path.append(node.coords)
        node = node.parent
    path.reverse()
    return path[: antMovement + 1]


def aStarSearchPath(state: GameState, start: Coord, goal: Coord) -> list[Coord] | bool:
    """The way of the ant on `start` to the tile before `goal`, as far as it gets in one move; False if there is none.

    Every step counts 1, grass too, so that the path may cost more than the ant has.
    """
    if start == goal:
        return []
    ant = getAntAt(state, start)
    if ant is None:
        raise ValueError(f"aStarSearchPath: there is no ant on {start}")
    movement, ign_grass = UNIT_STATS[ant.type][MOVEMENT], UNIT_STATS[ant.type][IGNORES_GRASS]
    queue, expanded = [GraphNode(None, start, 0, approxDist(start, goal))], set()
    while queue:
        node = queue.pop(queue.index(min(queue, key=_f)))  # the first entry of the best tile, which may be a worse one
        if node.coords in expanded:
            continue
        expanded.add(node.coords)
        for near in neighbors(state, node, goal, ign_grass, movement):
            if near.coords == goal:
                return construct_path(node, movement)
            queued = queue[queue.index(near)] if near in queue else None
            if queued is None or queued.f >= near.f:
                queue.append(near)
    return False


def _f(node: GraphNode) -> int:
    return node.f


# Moves.


def isPathOkForQueen(path: Sequence[Coord]) -> bool:
    """Whether a path keeps out of the two rows in the middle."""
    return not any(coords[1] in (4, 5) for coords in path)


def listAllBuildMoves(state: GameState) -> list[Move]:
    """A BUILD for every ant that the player to move can pay, if its anthill is free."""
    own = getCurrPlayerInventory(state)
    anthill = next((constr for constr in own.constrs if constr.type == ANTHILL), None)
    if anthill is None or getAntAt(state, anthill.coords) is not None:
        return []
    make = getattr(state, "makeMove", Move)
    return [
        make(BUILD, [anthill.coords], kind)
        for kind in (WORKER, DRONE, SOLDIER, R_SOLDIER)
        if own.foodCount >= UNIT_STATS[kind][COST]
    ]


def listAllMovementMoves(state: GameState) -> list[Move]:
    """A MOVE_ANT for every path of every ant of the player to move that has not moved yet."""
    make, ground = getattr(state, "makeMove", Move), _Ground(state)
    moves = []
    for ant in getCurrPlayerInventory(state).ants:
        if not ant.hasMoved:
            stats = UNIT_STATS[ant.type]
            paths = ground.paths(ant.coords, stats[MOVEMENT], stats[IGNORES_GRASS])
            moves += [make(MOVE_ANT, path, None) for path in paths if ant.type != QUEEN or isPathOkForQueen(path)]
    return moves


def listAllLegalMoves(state: GameState) -> list[Move]:
    """Everything that the player to move may do: its ants' paths, what it can build, and END."""
    make = getattr(state, "makeMove", Move)
    return [*listAllMovementMoves(state), *listAllBuildMoves(state), make(END, None, None)]


# Looking ahead.


def fastclone(state: GameState) -> GameState:
    """A copy whose ants, constructions and inventories are its own, without `board`."""
    copied: GameState = _copy(state)
    copied.board = None
    copied.inventories = [_copy(inventory) for inventory in state.inventories]
    for inventory in copied.inventories:
        inventory.ants = [_copy(ant) for ant in inventory.ants]
        inventory.constrs = [_copy(constr) for constr in inventory.constrs]
    return copied


def _copy(record: Any) -> Any:
    """A shallow copy, at a fraction of what the module `copy` takes."""
    copied = object.__new__(type(record))
    copied.__dict__.update(record.__dict__)
    return copied


def getNextState(state: GameState, move: Move) -> GameState:
    """About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
    attacks the first enemy that it finds. END changes nothing."""
    if move.moveType == BUILD and move.buildType == TUNNEL:
        print("getNextState: tunnels cannot be built")
        return state
    after = fastclone(state)
    me = after.whoseTurn
    own, enemy = after.inventories[me], after.inventories[1 - me]
    for constr in own.constrs:
        if constr.type == ANTHILL and any(ant.coords == constr.coords for ant in enemy.ants):
            constr.captureHealth = (constr.captureHealth or 0) - 1
    if move.moveType == BUILD and move.coordList:
        own.ants.append(_new_ant(after, move.coordList[0], move.buildType or 0, me))
        own.foodCount -= UNIT_STATS[move.buildType or 0][COST]
    elif move.moveType == MOVE_ANT and move.coordList:
        for ant in own.ants:
            if ant.coords == move.coordList[0]:
                ant.coords, ant.hasMoved = move.coordList[-1], False
                _carry(after, own, ant)
                _attack(enemy, ant)
                break
    return after


def _new_ant(state: GameState, coords: Coord, kind: int, player: int) -> Ant:
    make = getattr(state, "makeAnt", None)
    if make is not None:
        return make(coords, kind, player)  # type: ignore[no-any-return]
    number = max((ant.id for ant in getAntList(state)), default=-1) + 1
    return Ant(number, coords, kind, player, UNIT_STATS[kind][HEALTH], False, False)


def _carry(state: GameState, own: Inventory, ant: Ant) -> None:
    under = getConstrAt(state, ant.coords)
    if under is None:
        return
    if ant.carrying and under.type in (ANTHILL, TUNNEL) and any(under is constr for constr in own.constrs):
        ant.carrying = False
        own.foodCount += 1
    if not ant.carrying and ant.type == WORKER and under.type == FOOD:
        ant.carrying = True


def _attack(enemy: Inventory, ant: Ant) -> None:
    targets = {other.coords: other for other in reversed(enemy.ants)}
    for coords in listAttackable(ant.coords, UNIT_STATS[ant.type][RANGE]):
        if coords in targets:
            target = targets[coords]
            target.health -= UNIT_STATS[ant.type][ATTACK]
            if target.health <= 0:
                enemy.ants.remove(target)
            return


def getNextStateAdversarial(state: GameState, move: Move) -> GameState:
    """As `getNextState`, for searches over several turns: an ant that moves has moved, and END passes the turn on."""
    after = getNextState(state, move)
    own = after.inventories[after.whoseTurn]
    if move.moveType == MOVE_ANT and move.coordList:
        for ant in own.ants:
            if ant.coords == move.coordList[-1]:
                ant.hasMoved = True
    elif move.moveType == END:
        for ant in own.ants:
            ant.hasMoved = False
        after.whoseTurn = 1 - after.whoseTurn
    return after


# Drawing.


def charRepAnt(ant: Ant | None) -> str:
    """An ant as a letter: Q W D S I; a blank for none."""
    if ant is None:
        return " "
    return "QWDSI"[ant.type] if ant.type in ALL_ANTS else "?"


def charRepConstr(constr: Construction | None) -> str:
    """A construction as a sign: ^ anthill, @ tunnel, ; grass, % food; a blank for none."""
    if constr is None:
        return " "
    return "^@;%"[constr.type] if constr.type in ALL_CONSTRS else "?"


def charRepLoc(loc: Any) -> str:
    """A tile, which has `ant` and `constr`: its ant, else its construction, else a dot."""
    if loc is None:
        return " "
    if loc.ant is not None:
        return charRepAnt(loc.ant)
    return "." if loc.constr is None else charRepConstr(loc.constr)


def asciiPrintState(state: GameState) -> None:
    """Prints the board, turned for player two, and the food of both."""
    order = range(BOARD_LENGTH) if state.whoseTurn == 0 else range(BOARD_LENGTH - 1, -1, -1)
    header = " " + "".join(map(str, order))
    print(header)
    for y in order:
        cells = []
        for x in order:
            ant, constr = getAntAt(state, (x, y)), getConstrAt(state, (x, y))
            cells.append(charRepAnt(ant) if ant is not None else "." if constr is None else charRepConstr(constr))
        print(f"{y}{''.join(cells)}{y}")
    print(header)
    print(f" food: {state.inventories[0].foodCount}/{state.inventories[1].foodCount}")
