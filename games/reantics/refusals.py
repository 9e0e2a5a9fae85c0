"""Refusals of ReAntics, in words of the bot's own frame: reantics.md, sections 3 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from referee.games.contract import Player, in_brief
from referee.games.reantics.board import (
    COORDS,
    LIGHT,
    LISTS,
    PIECES,
    QUEENLESS_ROWS,
    UNITS,
    PlacedAnt,
    misfit_of,
    tile_at,
)
from referee.games.reantics.types import (
    ANTHILL,
    BUILD,
    END,
    FOOD,
    GRASS,
    MOVE_ANT,
    QUEEN,
    R_SOLDIER,
    SETUP_PHASE_1,
    TUNNEL,
    UNDO,
    WORKER,
    AnyMove,
)

if TYPE_CHECKING:
    from referee.games.reantics.rules import ReAntics

_CONSTRUCTION_NAMES = {ANTHILL: "an anthill", TUNNEL: "a tunnel", GRASS: "grass", FOOD: "food"}


def placement_refusal(state: ReAntics, player: Player, answer: Sequence[Any]) -> str | None:
    if not answer:
        return f"the list is empty; wanted {state.due()} coordinates"
    first = state.phase == SETUP_PHASE_1
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


def move_refusal(state: ReAntics, player: Player, move: AnyMove) -> str | None:
    kind = move.moveType
    if type(kind) is not int or not MOVE_ANT <= kind <= END:
        undo = " (UNDO is for people)" if kind == UNDO else ""
        return f"moveType is {in_brief(kind)}{undo}; wanted 0 move an ant, 1 build an ant or 2 end the turn"
    if kind == MOVE_ANT:
        return _path_refusal(state, player, move.coordList, move.buildType)
    return _build_refusal(state, player, move.coordList, move.buildType) if kind == BUILD else None


def _path_refusal(state: ReAntics, player: Player, path: Any, build_type: Any) -> str | None:
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
    queen = ant.type == QUEEN
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


def _build_refusal(state: ReAntics, player: Player, coords: Any, build_type: Any) -> str | None:
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
    if type(build_type) is not int or not WORKER <= build_type <= R_SOLDIER:
        return f"buildType is {in_brief(build_type)}; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"
    unit = UNITS[build_type]
    if state.food[player] < unit.cost:
        return f"a {unit.name} costs {unit.cost} food; you have {state.food[player]}"
    return None


def attack_refusal(state: ReAntics, player: Player, answer: Any) -> str | None:
    if misfit := misfit_of(answer):
        return f"the answer is {misfit}"
    x, y = answer
    if tile_at(player, x, y) in state.targets:
        return None
    offered = [COORDS[player][tile] for tile in state.targets]
    return f"({x},{y}) is not offered; wanted one of {', '.join(f'({x},{y})' for x, y in offered)}"


def _who(state: ReAntics, player: Player, tile: int, walker: PlacedAnt | None = None) -> str:
    """Returns the name of the ant on `tile` in a refusal to `player`."""
    ant = state.ant_at[tile]
    if ant is walker:
        return f"the {UNITS[ant.type].name} itself still"
    owner = "your" if ant.player == player else "an enemy's"
    return f"{owner} {UNITS[ant.type].name}"
