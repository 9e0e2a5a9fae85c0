"""Refuses and lists answers, in the bot's own frame: reantics.md, sections 3 and 5."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from referee.games.contract import Player, in_brief
from referee.games.dice import Dice
from referee.games.reantics import types
from referee.games.reantics.board import COORDS, LIGHT, PIECES, QUEENLESS_ROWS, UNITS, PlacedAnt, tile_at
from referee.games.reantics.position import Position

_CONSTRUCTION_NAMES = {types.ANTHILL: "an anthill", types.TUNNEL: "a tunnel", types.GRASS: "grass", types.FOOD: "food"}


LISTS = (list, tuple)
"""The types that decoded lists have."""


def misfit_of(coord: Any) -> str | None:
    """Returns why `coord`, any value from a bot, is no coordinate, to follow "is"; None = it is one."""
    if not isinstance(coord, LISTS) or len(coord) != 2:
        return f"{in_brief(coord)}; wanted [x, y]"
    x, y = coord
    if type(x) is not int or type(y) is not int:
        return f"[{in_brief(x)}, {in_brief(y)}]; wanted two integers"
    if 0 <= x < types.BOARD_LENGTH and 0 <= y < types.BOARD_LENGTH:
        return None
    return f"({in_brief(x)},{in_brief(y)}); x and y are 0..9"


def placement_refusal(state: Position, player: Player, answer: Sequence[Any]) -> str | None:
    if not answer:
        return f"the list is empty; wanted {state.due()} coordinates"
    first = state.phase == types.SETUP_PHASE_1
    pieces = PIECES[state.placed :] if first else ("food",) * state.due()
    used: list[int] = []
    for index, (piece, coord) in enumerate(zip(pieces, answer, strict=False)):
        if misfit := misfit_of(coord):
            return f"[{index}] is {misfit}"
        x, y = coord
        if first and y > 3:
            return f"[{index}] is ({x},{y}); the {piece} goes on your own side, y 0..3"
        if not first and y < 6:
            return f"[{index}] is ({x},{y}); food goes on the enemy's side, y 6..9"
        tile = tile_at(player, x, y)
        if tile in used:
            return f"[{index}] is ({x},{y}), named twice"
        if (kind := state.ground.kind(tile)) is not None:
            return f"[{index}] is ({x},{y}), where {_CONSTRUCTION_NAMES[kind]} stands; wanted an empty tile"
        used.append(tile)
    return None


def move_refusal(state: Position, player: Player, move: types.AnyMove) -> str | None:
    kind = move.moveType
    if type(kind) is not int or not types.MOVE_ANT <= kind <= types.END:
        undo = " (UNDO is for people)" if kind == types.UNDO else ""
        return f"moveType is {in_brief(kind)}{undo}; wanted 0 move an ant, 1 build an ant or 2 end the turn"
    if kind == types.MOVE_ANT:
        return _path_refusal(state, player, move.coordList, move.buildType)
    return _build_refusal(state, player, move.coordList, move.buildType) if kind == types.BUILD else None


def _path_refusal(state: Position, player: Player, path: Any, build_type: Any) -> str | None:
    if not isinstance(path, LISTS) or not path:
        return f"coordList is {in_brief(path)}; wanted the path, the ant's own tile first"
    if misfit := misfit_of(path[0]):
        return f"coordList[0] is {misfit}"
    x, y = path[0]
    ant = state.ant_at.get(tile_at(player, x, y))
    if ant is None:
        return f"coordList[0] is ({x},{y}), where no ant stands; wanted one of yours"
    unit = UNITS[ant.type]
    if ant.player != player:
        return f"coordList[0] is ({x},{y}), where an enemy's {unit.name} stands; wanted one of your ants"
    if ant.moved:
        return f"the {unit.name} on ({x},{y}) has moved, or was built, in this turn"
    costs = LIGHT if unit.ignores_grass else state.ground.cost
    queen = ant.type == types.QUEEN
    spent = 0
    for index in range(1, len(path)):
        coord = path[index]
        if misfit := misfit_of(coord):
            return f"coordList[{index}] is {misfit}"
        from_x, from_y = x, y
        x, y = coord
        if abs(x - from_x) + abs(y - from_y) != 1:
            return f"coordList[{index}] ({x},{y}) is not next to ({from_x},{from_y})"
        tile = tile_at(player, x, y)
        if tile in state.ant_at:
            return f"coordList[{index}] is ({x},{y}), where {_who(state, player, tile, ant)} stands"
        if queen and y in QUEENLESS_ROWS:
            return f"coordList[{index}] is ({x},{y}); a queen may not enter y 4 and 5"
        spent += costs[tile]
    if spent > unit.moves:
        return f"the path costs {spent} moves; a {unit.name} has {unit.moves}"
    if build_type is not None and type(build_type) is not int:
        return f"buildType is {in_brief(build_type)}; wanted null or an integer"
    return None


def _build_refusal(state: Position, player: Player, coords: Any, build_type: Any) -> str | None:
    hill = state.ground.hills[player]
    hill_x, hill_y = COORDS[player][hill]
    if not isinstance(coords, LISTS) or len(coords) != 1:
        return f"coordList is {in_brief(coords)}; wanted one tile, your anthill ({hill_x},{hill_y})"
    if misfit := misfit_of(coords[0]):
        return f"coordList[0] is {misfit}"
    x, y = coords[0]
    if tile_at(player, x, y) != hill:
        return f"coordList[0] is ({x},{y}); ants are built on your anthill ({hill_x},{hill_y})"
    if hill in state.ant_at:
        return f"{_who(state, player, hill)} stands on your anthill ({x},{y})"
    if type(build_type) is not int or not types.WORKER <= build_type <= types.R_SOLDIER:
        return f"buildType is {in_brief(build_type)}; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"
    unit = UNITS[build_type]
    if state.food[player] < unit.cost:
        return f"a {unit.name} costs {unit.cost} food; you have {state.food[player]}"
    return None


def attack_refusal(state: Position, player: Player, answer: Any) -> str | None:
    if misfit := misfit_of(answer):
        return f"the answer is {misfit}"
    x, y = answer
    if tile_at(player, x, y) in state.targets:
        return None
    offered = [COORDS[player][tile] for tile in state.targets]
    return f"({x},{y}) is not offered; wanted one of {', '.join(f'({x},{y})' for x, y in offered)}"


def _who(state: Position, player: Player, tile: int, walker: PlacedAnt | None = None) -> str:
    """Returns the name of the ant on `tile` in a refusal to `player`."""
    ant = state.ant_at[tile]
    if ant is walker:
        return f"the {UNITS[ant.type].name} itself still"
    owner = "your" if ant.player == player else "an enemy's"
    return f"{owner} {UNITS[ant.type].name}"


def refusal(state: Position, player: Player, answer: Any) -> str | None:
    """Names the first mistake, with coordinates in the bot's own frame."""
    method = state.awaited[player]
    if method is types.GET_MOVE:
        return move_refusal(state, player, answer)
    if method is types.GET_ATTACK:
        return attack_refusal(state, player, answer)
    if method is types.GET_PLACEMENT:
        return placement_refusal(state, player, answer)
    return None  # the answer to registerWin is ignored


def legal(state: Position, player: Player) -> Iterator[Any]:
    """Yields every legal answer in the player's own frame, coordinates as tuples.

    getMove: every path of every ant that can move, then BUILD by type, then END. Ants are in order of id. A path
    precedes its extensions, which go x-1, x+1, y-1, y+1. getAttack: the targets as offered. getPlacement: complete
    answers only (shorter and longer ones are legal too), in the order of `itertools.permutations` over the free
    tiles, x first. registerWin: None.
    """
    method, coords = state.awaited[player], COORDS[player]
    if method is types.GET_MOVE:
        yield from _legal_moves(state, player)
    elif method is types.GET_ATTACK:
        yield from [coords[tile] for tile in state.targets]
    elif method is types.GET_PLACEMENT:
        yield from map(list, permutations([coords[tile] for tile in state.free(player)], state.due()))
    else:
        yield None


def _legal_moves(state: Position, player: Player) -> Iterator[types.Move]:
    for ant in state.ants[player].values():
        if not ant.moved:
            for path in state.paths(ant, player):
                yield types.Move(types.MOVE_ANT, path)
    hill = state.ground.hills[player]
    if hill not in state.ant_at:
        for kind in range(types.WORKER, types.R_SOLDIER + 1):
            if UNITS[kind].cost <= state.food[player]:
                yield types.Move(types.BUILD, (COORDS[player][hill],), kind)
    yield types.Move(types.END)


def sampled(state: Position, player: Player, dice: Dice) -> Any:
    if state.awaited[player] is types.GET_PLACEMENT:
        return [COORDS[player][tile] for tile in dice.sample(state.free(player), state.due())]
    return dice.choice(list(legal(state, player)))
