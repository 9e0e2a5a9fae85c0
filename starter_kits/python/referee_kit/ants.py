"""Questions about a position of ReAntics: what stands where, distances and paths, legal moves, a look ahead.

The names are those that the original gave its agents (reantics.md, 11.3), in snake_case. The functions look at the
inventories and never at `board`. Coordinates are tuples. Orders, and paths that come twice, are part of the promise:
bots draw from these lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from referee_kit import wire
from referee_kit.reantics import (
    BOARD_LENGTH,
    FOOD_GOAL,
    Ant,
    AntType,
    Construction,
    ConstructionType,
    Coord,
    GameState,
    Inventory,
    Move,
    MoveType,
)


class UnitStats(NamedTuple):
    """The abilities of an ant of a type."""

    movement: int
    health: int
    attack: int
    range: int
    cost: Any  # an int, in food; None for the queen, whom nobody builds
    ignores_grass: bool  # grass costs it 1


class ConstrStats(NamedTuple):
    """The costs of a construction of a type."""

    movement_cost: int  # to enter
    capture_health: int | None  # turns until it is captured; None: it cannot be
    build_cost: int | None


UNIT_STATS = [
    UnitStats(2, 10, 4, 1, None, False),
    UnitStats(2, 4, 0, 1, 1, False),
    UnitStats(3, 4, 2, 1, 2, True),
    UnitStats(2, 8, 4, 1, 2, False),
    UnitStats(1, 2, 3, 3, 2, True),
]
"""By `AntType`: `UNIT_STATS[AntType.WORKER].health`.

The kit sets a worker's health to the option `worker_health` when a match begins, before the bot is made.
"""
CONSTR_STATS = [
    ConstrStats(1, 3, None),
    ConstrStats(1, 2, None),
    ConstrStats(2, None, None),
    ConstrStats(1, None, None),
]
"""By `ConstructionType`: its negative number is the index."""
NEUTRAL = 2
ALL_ANTS = tuple(AntType)
ALL_CONSTRS = tuple(ConstructionType)
# The members that inner loops compare with. Before Python 3.12, `AntType.QUEEN` takes ten times as long as a name.
_QUEEN, _WORKER = AntType.QUEEN, AntType.WORKER
_ANTHILL, _TUNNEL, _FOOD = ConstructionType.ANTHILL, ConstructionType.TUNNEL, ConstructionType.FOOD
_MOVE_ANT, _BUILD = MoveType.MOVE_ANT, MoveType.BUILD


@wire.on_match
def _follow(match: wire.Match) -> None:
    health = match.options.get("worker_health", 4)
    UNIT_STATS[AntType.WORKER] = UNIT_STATS[AntType.WORKER]._replace(health=health)


# What stands where.


def legal_coord(coord: Any) -> bool:
    """Whether that is a tile of the board."""
    try:
        if len(coord) != 2:
            return False
    except TypeError:
        print(f"ERROR: legal_coord needs a pair, not {coord!r}")
        return False
    return bool(0 <= coord[0] < BOARD_LENGTH and 0 <= coord[1] < BOARD_LENGTH)


def get_ant_list(state: GameState, pid: int | None = None, types: Iterable[int] = ALL_ANTS) -> list[Ant]:
    """The ants of a player, None = of both, of those types, in the order of the inventories."""
    inventories = [inventory for inventory in state.inventories if pid is None or inventory.player == pid]
    return [ant for inventory in inventories for ant in inventory.ants if ant.type in types]


def get_constr_list(state: GameState, pid: int | None = None, types: Iterable[int] = ALL_CONSTRS) -> list[Construction]:
    """The constructions of a player, 2 = nobody's, None = all, of those types, in the order of the inventories."""
    inventories = [inventory for inventory in state.inventories if pid is None or inventory.player == pid]
    return [constr for inventory in inventories for constr in inventory.constrs if constr.type in types]


def get_ant_at(state: GameState, coords: Coord) -> Ant | None:
    """The ant on a tile."""
    for inventory in state.inventories:
        for ant in inventory.ants:
            if ant.coords == coords:
                return ant
    return None


def get_constr_at(state: GameState, coords: Coord) -> Construction | None:
    """The construction on a tile."""
    for inventory in state.inventories:
        for constr in inventory.constrs:
            if constr.coords == coords:
                return constr
    return None


def get_curr_player_inventory(state: GameState) -> Inventory:
    """The inventory of the player to move."""
    return state.inventories[state.whose_turn]


def get_enemy_inv(state: GameState) -> Inventory:
    """The inventory of the opponent."""
    return state.inventories[1 - state.whose_turn]


def get_queen(inventory: Inventory) -> Ant | None:
    """The queen of a side."""
    return next((ant for ant in inventory.ants if ant.type == _QUEEN), None)


def get_anthill(inventory: Inventory) -> Construction | None:
    """The anthill of a side."""
    return next((constr for constr in inventory.constrs if constr.type == _ANTHILL), None)


def get_tunnels(inventory: Inventory) -> list[Construction]:
    """The tunnels of a side."""
    return [constr for constr in inventory.constrs if constr.type == _TUNNEL]


def get_curr_player_queen(state: GameState) -> Ant | None:
    """The queen of the player to move."""
    return get_queen(get_curr_player_inventory(state))


def get_curr_player_food(state: GameState) -> list[Construction]:
    """The two foods on the side of the player to move."""
    foods = get_constr_list(state, NEUTRAL, (_FOOD,))
    return foods[2:4] if state.whose_turn == 0 else foods[0:2]


def get_winner(state: GameState) -> int | None:
    """1 if the player to move has won, 0 if its opponent has, else None (section 6)."""
    if _has_won(state, state.whose_turn):
        return 1
    return 0 if _has_won(state, 1 - state.whose_turn) else None


def _has_won(state: GameState, player: int) -> bool:
    own, enemy = state.inventories[player], state.inventories[1 - player]
    if get_queen(enemy) is None:
        return True
    anthill = get_anthill(enemy)
    if anthill is not None and anthill.capture_health is not None and anthill.capture_health <= 0:
        return True
    return own.food_count >= FOOD_GOAL or (enemy.food_count == 0 and len(enemy.ants) == 1)


# Distances and ways.


def approx_dist(source: Coord, dest: Coord) -> int:
    """Columns plus rows between two tiles."""
    return abs(source[0] - dest[0]) + abs(source[1] - dest[1])


def list_adjacent(coords: Coord) -> list[Coord]:
    """The tiles left, right, above and below, in this order, as far as they are on the board."""
    if not legal_coord(coords):
        return []
    x, y = coords
    return [near for near in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if _on_board(near)]


def _on_board(coords: Coord) -> bool:
    return 0 <= coords[0] < BOARD_LENGTH and 0 <= coords[1] < BOARD_LENGTH


def list_attackable(coords: Coord, dist: int = 1) -> list[Coord]:
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
                self.costs.setdefault(constr.coords, constr.movement_cost)

    def steps(self, coords: Coord, movement: int, ignores_grass: bool) -> list[tuple[Coord, int]]:
        """The neighbours that can be entered, each with what is left of `movement`."""
        found = []
        for near in list_adjacent(coords):
            if near not in self.occupied:
                left = movement - (1 if ignores_grass else self.costs.get(near, 1))
                if left >= 0:
                    found.append((near, left))
        return found

    def paths(self, coords: Coord, movement: int, ignores_grass: bool) -> list[list[Coord]]:
        if movement <= 0:
            return []
        steps = self.steps(coords, movement, ignores_grass)
        found = [[coords, near] for near, _ in steps]
        for near, left in steps:
            found += [[coords, *rest] for rest in self.paths(near, left, ignores_grass)]
        found.append([coords])
        return found

    def toward(self, coords: Coord, dest: Coord, movement: int, ignores_grass: bool) -> tuple[list[Coord], int]:
        distance = approx_dist(coords, dest)
        best = [coords], distance
        if distance == 0 or movement <= 0:
            return best
        for near, left in self.steps(coords, movement, ignores_grass):
            path, rest = self.toward(near, dest, left, ignores_grass)
            if rest < best[1]:
                best = [coords, *path], rest
                if rest in (0, distance - movement):
                    break
        return best


def list_reachable_adjacent(state: GameState, coords: Coord, movement: int, ignores_grass: bool = False) -> list[Coord]:
    """The neighbours without an ant that cost at most `movement` to enter."""
    return [near for near, _ in _Ground(state).steps(coords, movement, ignores_grass)]


def list_all_movement_paths(
    state: GameState, coords: Coord, movement: int, ignores_grass: bool = False
) -> list[list[Coord]]:
    """Every path from a tile: first those of one step, then each of them with what may follow, at last staying.

    Shorter paths come more than once, since each step may be followed by staying. A queen's may leave her home.
    """
    return _Ground(state).paths(coords, movement, ignores_grass)


def steps_to_reach(state: GameState, src: Coord, dst: Coord) -> int:
    """About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile.

    Tiles are looked at in the order in which they were found, each once: the way that is found first through grass may
    not be the cheapest.
    """
    if not legal_coord(src) or not legal_coord(dst):
        return -1
    grounds = _Ground(state).costs
    source, dest = (src[0], src[1]), (dst[0], dst[1])
    costs, queue = {source: 0}, [source]
    for here in queue:
        if here == dest:
            return costs[here]
        for near in list_adjacent(here):
            cost = costs[here] + grounds.get(near, 1)
            if near not in costs:
                queue.append(near)
            costs[near] = min(cost, costs.get(near, cost))
    return -1


def find_path_recursive(
    state: GameState, src: Coord, dst: Coord, movement: int, ignores_grass: bool
) -> tuple[list[Coord], int]:
    """The path that gets nearest to a tile within `movement`, the first of equals, and the distance that is left.

    Each step is taken for the distance alone, so that it may stay where a way round would help.
    """
    return _Ground(state).toward(src, dst, movement, ignores_grass)


def create_path_toward(state: GameState, src: Coord, dst: Coord, movement: int) -> list[Coord]:
    """The path of `find_path_recursive` for the ant on `src`."""
    ant = get_ant_at(state, src)
    ignores_grass = ant is not None and UNIT_STATS[ant.type].ignores_grass
    return find_path_recursive(state, src, dst, movement, ignores_grass)[0]


class GraphNode:
    """A tile that `a_star_search_path` has come to; equal to any other of the same tile."""

    def __init__(self, parent: GraphNode | None, coords: Coord, g: int = 0, h: int = 0) -> None:
        self.parent, self.coords, self.g, self.h = parent, coords, g, h
        self.f = g + h

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphNode) and self.coords == other.coords

    def __hash__(self) -> int:
        return hash(self.coords)


def neighbors(state: GameState, node: GraphNode, goal: Coord, ign_grass: bool, ant_movement: int) -> list[GraphNode]:
    """The tiles next to a node that can be entered, each one step further."""
    near = list_reachable_adjacent(state, node.coords, ant_movement + 1, ign_grass)
    return [GraphNode(node, coords, node.g + 1, approx_dist(coords, goal)) for coords in near]


def construct_path(node: GraphNode | None, ant_movement: int) -> list[Coord]:
    """The way to a node from where it began, as far as an ant gets."""
    path: list[Coord] = []
    while node is not None:
        path.append(node.coords)
        node = node.parent
    path.reverse()
    return path[: ant_movement + 1]


def a_star_search_path(state: GameState, start: Coord, goal: Coord) -> list[Coord] | None:
    """The way of the ant on `start` to the tile before `goal`, as far as it gets in one move; None if there is none.

    Every step counts 1, grass too, so that the path may cost more than the ant has.
    """
    if start == goal:
        return []
    ant = get_ant_at(state, start)
    if ant is None:
        raise ValueError(f"a_star_search_path: there is no ant on {start}")
    movement, ign_grass = UNIT_STATS[ant.type].movement, UNIT_STATS[ant.type].ignores_grass
    queue, expanded = [GraphNode(None, start, 0, approx_dist(start, goal))], set()
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
    return None


def _f(node: GraphNode) -> int:
    return node.f


# Moves.


def is_path_ok_for_queen(path: Sequence[Coord]) -> bool:
    """Whether a path keeps out of the two rows in the middle."""
    return not any(coords[1] in (4, 5) for coords in path)


def list_all_build_moves(state: GameState) -> list[Move]:
    """A build for every ant that the player to move can pay, if its anthill is free."""
    own = get_curr_player_inventory(state)
    anthill = get_anthill(own)
    if anthill is None or get_ant_at(state, anthill.coords) is not None:
        return []
    make = getattr(state, "make_move", Move)
    return [
        make(_BUILD, [anthill.coords], kind)
        for kind in (_WORKER, AntType.DRONE, AntType.SOLDIER, AntType.R_SOLDIER)
        if own.food_count >= UNIT_STATS[kind].cost
    ]


def list_all_movement_moves(state: GameState) -> list[Move]:
    """A move for every path of every ant of the player to move that has not moved yet."""
    make, ground = getattr(state, "make_move", Move), _Ground(state)
    moves = []
    for ant in get_curr_player_inventory(state).ants:
        if not ant.has_moved:
            stats = UNIT_STATS[ant.type]
            paths = ground.paths(ant.coords, stats.movement, stats.ignores_grass)
            moves += [make(_MOVE_ANT, path, None) for path in paths if ant.type != _QUEEN or is_path_ok_for_queen(path)]
    return moves


def list_all_legal_moves(state: GameState) -> list[Move]:
    """Everything that the player to move may do: its ants' paths, what it can build, and the end of the turn."""
    make = getattr(state, "make_move", Move)
    return [*list_all_movement_moves(state), *list_all_build_moves(state), make(MoveType.END, None, None)]


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


def get_next_state(state: GameState, move: Move) -> GameState:
    """About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
    attacks the first enemy that it finds. The end of a turn changes nothing."""
    action, path = move.move_type, move.coord_list
    if action == _BUILD and move.build_type not in ALL_ANTS:
        print("get_next_state: only ants can be built")
        return state
    after = fastclone(state)
    me = after.whose_turn
    own, enemy = after.inventories[me], after.inventories[1 - me]
    for constr in own.constrs:
        if constr.type == _ANTHILL and any(ant.coords == constr.coords for ant in enemy.ants):
            constr.capture_health = (constr.capture_health or 0) - 1
    if action == _BUILD and path:
        kind = move.build_type or _QUEEN
        own.ants.append(_new_ant(after, path[0], kind, me))
        own.food_count -= UNIT_STATS[kind].cost
    elif action == _MOVE_ANT and path:
        for ant in own.ants:
            if ant.coords == path[0]:
                ant.coords, ant.has_moved = path[-1], False
                _carry(after, own, ant)
                _attack(enemy, ant)
                break
    return after


def _new_ant(state: GameState, coords: Coord, kind: AntType, player: int) -> Ant:
    make = getattr(state, "make_ant", None)
    if make is not None:
        return make(coords, kind, player)  # type: ignore[no-any-return]
    number = max((ant.id for ant in get_ant_list(state)), default=-1) + 1
    return Ant(number, coords, kind, player, UNIT_STATS[kind].health, False, False)


def _carry(state: GameState, own: Inventory, ant: Ant) -> None:
    under = get_constr_at(state, ant.coords)
    if under is None:
        return
    if ant.carrying and under.type in (_ANTHILL, _TUNNEL) and any(under is constr for constr in own.constrs):
        ant.carrying = False
        own.food_count += 1
    if not ant.carrying and ant.type == _WORKER and under.type == _FOOD:
        ant.carrying = True


def _attack(enemy: Inventory, ant: Ant) -> None:
    targets = {other.coords: other for other in reversed(enemy.ants)}
    for coords in list_attackable(ant.coords, UNIT_STATS[ant.type].range):
        if coords in targets:
            target = targets[coords]
            target.health -= UNIT_STATS[ant.type].attack
            if target.health <= 0:
                enemy.ants.remove(target)
            return


def get_next_state_adversarial(state: GameState, move: Move) -> GameState:
    """As `get_next_state`, for searches over several turns: an ant that moves has moved, and the end of a
    turn passes it on."""
    after = get_next_state(state, move)
    own = after.inventories[after.whose_turn]
    if move.move_type == _MOVE_ANT and move.coord_list:
        for ant in own.ants:
            if ant.coords == move.coord_list[-1]:
                ant.has_moved = True
    elif move.move_type == MoveType.END:
        for ant in own.ants:
            ant.has_moved = False
        after.whose_turn = 1 - after.whose_turn
    return after


# Drawing.


def char_rep_ant(ant: Ant | None) -> str:
    """An ant as a letter: Q W D S I; a blank for none."""
    if ant is None:
        return " "
    return "QWDSI"[ant.type] if ant.type in ALL_ANTS else "?"


def char_rep_constr(constr: Construction | None) -> str:
    """A construction as a sign: ^ anthill, @ tunnel, ; grass, % food; a blank for none."""
    if constr is None:
        return " "
    return "^@;%"[constr.type] if constr.type in ALL_CONSTRS else "?"


def char_rep_loc(loc: Any) -> str:
    """A tile, which has `ant` and `constr`: its ant, else its construction, else a dot."""
    if loc is None:
        return " "
    if loc.ant is not None:
        return char_rep_ant(loc.ant)
    return "." if loc.constr is None else char_rep_constr(loc.constr)


def ascii_print_state(state: GameState) -> None:
    """Prints the board, turned for player two, and the food of both."""
    order = range(BOARD_LENGTH) if state.whose_turn == 0 else range(BOARD_LENGTH - 1, -1, -1)
    header = " " + "".join(map(str, order))
    print(header)
    for y in order:
        cells = []
        for x in order:
            ant, constr = get_ant_at(state, (x, y)), get_constr_at(state, (x, y))
            cells.append(char_rep_ant(ant) if ant is not None else "." if constr is None else char_rep_constr(constr))
        print(f"{y}{''.join(cells)}{y}")
    print(header)
    print(f" food: {state.inventories[0].food_count}/{state.inventories[1].food_count}")
