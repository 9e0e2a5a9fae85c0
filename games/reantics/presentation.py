"""ReAntics in words: `worker (3,4) → (3,5)`. Coordinates are those of the board, for both players."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from referee.games.contract import Call
from referee.games.game import Highlight, Presentation, Score
from referee.games.reantics.board import COORDS, FOOD_TILES, PIECES, UNITS, tile_at
from referee.games.reantics.types import (
    ANTHILL,
    BUILD,
    END,
    FOOD_GOAL,
    GET_ATTACK,
    GET_PLACEMENT,
    MOVE_ANT,
    SETUP_PHASE_1,
    Move,
    View,
)


def _answer(call: Call, answer: Any) -> str | None:
    if call.method is GET_PLACEMENT:
        return _placement(call, answer)
    if call.method is GET_ATTACK:
        return f"{_ant(call, call.params.attackingAnt.coords)} attacks {_ant(call, answer)}"
    return _move(call, answer)


def _move(call: Call, move: Move) -> str | None:
    coords = move.coordList or ()
    if move.moveType == END:
        return "ends the turn"
    if move.moveType == MOVE_ANT and coords:
        return " → ".join([_ant(call, coords[0]), *(_at(call, coord) for coord in coords[1:])])
    if move.moveType == BUILD and coords and move.buildType is not None and 0 < move.buildType < len(UNITS):
        return f"builds a {UNITS[move.buildType].name} at {_at(call, coords[0])}"
    return None


def _placement(call: Call, coords: Sequence[Any]) -> str | None:
    """Names the pieces still due in their order. The rules ignore further coordinates."""
    state = call.params.currentState
    pieces: tuple[str, ...] = ("food",) * FOOD_TILES
    if state.phase == SETUP_PHASE_1:  # the state shows the player's own side only
        pieces = PIECES[len(state.inventories[call.player].constrs) + len(state.inventories[2].constrs) :]
    placed: dict[str, list[str]] = {}
    for piece, coord in zip(pieces, coords, strict=False):
        placed.setdefault(piece, []).append(_at(call, coord))
    return ", ".join(f"{piece} {' '.join(tiles)}" for piece, tiles in placed.items()) or None


def _ant(call: Call, coord: Any) -> str:
    """Returns `soldier (3,4)`, or the tile alone if no ant is there."""
    inventories = call.params.currentState.inventories
    found = [UNITS[ant.type].name for each in inventories for ant in each.ants if tuple(ant.coords) == tuple(coord)]
    return " ".join([*found[:1], _at(call, coord)])


def _at(call: Call, coord: Any) -> str:
    """Converts a coordinate from the player's frame to the board's."""
    x, y = divmod(tile_at(call.player, *coord), 10)
    return f"({x},{y})"


def _read(call: Call, text: str) -> Any:
    """Reads a placement from its tiles, `0,0 1,0 …`, with or without names of pieces between them."""
    found = re.findall(r"\(?(\d)\s*,\s*(\d)\)?", text)
    if call.method is not GET_PLACEMENT or not found:
        return None
    return [list(COORDS[call.player][10 * int(x) + int(y)]) for x, y in found]


def _food(state: Any) -> list[int]:
    """Counts the food of each seat, with what its ants have cost. A queen costs nothing."""
    costs = [sum(UNITS[ant.type].cost for ant in ants.values()) for ants in state.ants]
    return [food + cost for food, cost in zip(state.food, costs, strict=True)]


def _highlights(before: View, after: View, _: Any, names: Sequence[str]) -> list[Highlight]:
    left = {ant.id for side in after.inventories for ant in side.ants}
    died = [ant for side in before.inventories for ant in side.ants if ant.id not in left]
    killed = [f"{names[ant.player]}'s {UNITS[ant.type].name} ({ant.coords[0]},{ant.coords[1]}) dies" for ant in died]
    return [
        *(Highlight("death", words) for words in killed),
        *(Highlight("capture", words) for words in _captures(before, after, names)),
    ]


def _captures(before: View, after: View, names: Sequence[str]) -> Iterator[str]:
    """Names the buildings on which an enemy has ended a turn."""
    now = _buildings(after)
    for where, was in _buildings(before).items():
        here = now.get(where, was)
        what = f"{names[was.player]}'s {'anthill' if was.type == ANTHILL else 'tunnel'}"
        if here.player != was.player:
            yield f"{what} is captured"
        elif here.captureHealth < was.captureHealth:
            yield f"{what}: {here.captureHealth} to capture"


def _buildings(view: View) -> Mapping[Any, Any]:
    pieces = [each for side in view.inventories for each in side.constrs]
    return {tuple(each.coords): each for each in pieces if each.captureHealth is not UNSET}


ENDINGS = {
    "queen_killed": "{loser}'s queen was killed",
    "anthill_captured": "{loser}'s anthill was captured",
    "food_goal": f"{{winner}} has collected {FOOD_GOAL} food",
    "starved": "{loser} had no food and no ant but the queen",
    "draw_limit": "the turn limit was reached",
    "illegal_placement": "{loser}'s placement was illegal",
    "illegal_move": "{loser}'s move was illegal",
    "illegal_attack": "{loser}'s attack was illegal",
}

PRESENTATION = Presentation(
    frame="(x,y), column and row from the top left as player one (seat 0) sees the board; "
    "player two sees it turned, (9-x,9-y)",
    answer=_answer,
    highlights=_highlights,
    read=_read,
    secret=frozenset({"getPlacement"}),
    signs=(r"[QWDSR](?=[.^@;%])", r"[qwdsr](?=[.^@;%])"),
    legend={
        "Qq": "a queen; small letters are player two's",
        "Ww": "a worker",
        "Dd": "a drone",
        "Ss": "a soldier",
        "Rr": "a ranged soldier",
        "^": "an anthill",
        "@": "a tunnel",
        ";": "grass",
        "%": "food",
        ".": "no ant, no construction",
    },
    endings=ENDINGS,
    score=Score("food in store and ants", "The food that a player has, and what its living ants have cost.", _food),
)
