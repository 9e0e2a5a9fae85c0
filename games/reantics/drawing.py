"""Draws a position: two letters a tile, then what a board cannot show. Coordinates are absolute."""

from typing import TYPE_CHECKING

from referee.games.reantics.board import COORDS, UNITS, Ground, PlacedAnt
from referee.games.reantics.types import PLAY_PHASE

if TYPE_CHECKING:
    from referee.games.reantics.rules import ReAntics


def drawing(state: "ReAntics", ground: Ground) -> str:
    """Draws `state` with its ants on `ground`."""
    rows = ["    " + "  ".join(map(str, range(10)))]
    rows += [f" {y}  " + " ".join(_tile(state, 10 * x + y, ground) for x in range(10)) for y in range(10)]
    for seat, name in enumerate(("one", "two")):
        ants = ", ".join(map(_described, state.ants[seat].values())) or "no ants"
        rows.append(f"player {name}: food {state.food[seat]}, anthill {state.hill_health[seat]}; {ants}")
    rows.append(_situation(state))
    return "\n".join(rows)


def _tile(state: "ReAntics", tile: int, ground: Ground) -> str:
    ant, kind = state.ant_at.get(tile), ground.kind(tile)
    letter = "." if ant is None else "QWDSR"[ant.type] if ant.player == 0 else "qwdsr"[ant.type]
    return letter + ("." if kind is None else "^@;%"[kind])


def _situation(state: "ReAntics") -> str:
    turns = f"after {state.ends} END moves"
    name = ("one", "two")[state.mover]
    if state.result is not None:
        outcome = {1.0: "player one wins", 0.0: "player two wins"}.get(state.result.scores[0], "a draw")
        return f"{outcome}, {state.result.reason}, {turns}"
    if state.phase < PLAY_PHASE:
        return f"setup phase {state.phase}: player {name} to place {state.due()}"
    if state.attacker is not None:
        return f"player {name} to attack with {_described(state.attacker)}, {turns}"
    return f"player {name} to move, {turns}"


def _described(ant: PlacedAnt) -> str:
    """Returns words such as `worker 2 at (4,8), health 4, carrying`."""
    x, y = COORDS[0][ant.tile]
    carrying, moved = ", carrying" * ant.carrying, ", moved" * ant.moved
    return f"{UNITS[ant.type].name} {ant.id} at ({x},{y}), health {ant.health}{carrying}{moved}"
