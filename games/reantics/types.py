"""The documented names, numbers and shapes of ReAntics: reantics.md, sections 1, 7, 8 and 10."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.contract import Method, Standing
from referee.games.game import choice

# Section 1: the document's own names and numbers.
BOARD_LENGTH = 10
SETUP_PHASE_1, SETUP_PHASE_2, PLAY_PHASE = 1, 2, 3
FOOD_GOAL = 11
QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER = range(5)
ANTHILL, TUNNEL, GRASS, FOOD = -4, -3, -2, -1
MOVE_ANT, BUILD, END, UNDO = range(4)

# The wire (section 8).
AntType = Annotated[int, Meta(extra_json_schema=choice(globals(), "QUEEN WORKER DRONE SOLDIER R_SOLDIER"))]
ConstructionType = Annotated[int, Meta(extra_json_schema=choice(globals(), "ANTHILL TUNNEL GRASS FOOD"))]
MoveType = Annotated[int, Meta(extra_json_schema=choice(globals(), "MOVE_ANT BUILD END"))]
Phase = Annotated[int, Meta(extra_json_schema=choice(globals(), "SETUP_PHASE_1 SETUP_PHASE_2 PLAY_PHASE"))]
Column = Annotated[int, Meta(ge=0, le=9, title="x")]
Row = Annotated[int, Meta(ge=0, le=9, title="y")]
Coord = Annotated[tuple[Column, Row], Meta(description="[x, y]: column 0-9 from the left, row 0-9 from the top")]


class Ant(Struct, frozen=True):
    """One ant."""

    id: Annotated[int, Meta(ge=0, description="stable for the whole game, never used again")]
    coords: Coord
    type: Annotated[AntType, Meta(ge=0, le=4, description="0 queen, 1 worker, 2 drone, 3 soldier, 4 ranged soldier")]
    player: Annotated[int, Meta(ge=0, le=1, description="the owner")]
    health: Annotated[int, Meta(ge=1, description="health left")]
    carrying: Annotated[bool, Meta(description="carries a unit of food")]
    hasMoved: Annotated[bool, Meta(description="has moved or was built in this turn")]


class Construction(Struct, frozen=True, omit_defaults=True):
    """An anthill, tunnel, grass or food. Grass and food have no `player` and no `captureHealth`."""

    coords: Coord
    type: Annotated[ConstructionType, Meta(ge=-4, le=-1, description="-4 anthill, -3 tunnel, -2 grass, -1 food")]
    movementCost: Annotated[int, Meta(ge=1, le=2, description="moves that it costs to enter: 2 for grass")]
    player: Annotated[int, Meta(ge=0, le=1, description="the owner of a building")] | UnsetType = UNSET
    captureHealth: Annotated[int | UnsetType, Meta(description="turns until captured; an anthill at 0 loses")] = UNSET


class Inventory(Struct, frozen=True):
    """A player's ants, buildings and food; the third inventory is neutral."""

    player: Annotated[int, Meta(ge=0, le=2, description="0 player one, 1 player two, 2 neutral")]
    foodCount: Annotated[int, Meta(ge=0, description="units of food stored")]
    ants: Annotated[Sequence[Ant], Meta(description="by absolute x, then y")]
    constrs: Annotated[Sequence[Construction], Meta(description="by absolute x, then y; neutral: as placed")]


class Cell(Struct, frozen=True, omit_defaults=True):
    """A tile that is not empty."""

    ant: Annotated[int | UnsetType, Meta(description="the ant's id")] = UNSET
    constr: Annotated[ConstructionType, Meta(ge=-4, le=-1, description="the construction's type")] | UnsetType = UNSET


class GameState(Struct, frozen=True, omit_defaults=True):
    """The state in the frame of the player to move: its own side is y 0-3, the enemy's y 6-9."""

    phase: Annotated[Phase, Meta(ge=1, le=3, description="1 anthill, tunnel and grass; 2 food; 3 play")]
    whoseTurn: Annotated[int, Meta(ge=0, le=1, description="the seat of the player to move")]
    inventories: Annotated[tuple[Inventory, Inventory, Inventory], Meta(description="player one, player two, neutral")]
    board: Annotated[
        Sequence[Sequence[Cell | None]] | UnsetType,
        Meta(description="board[x][y], null = empty; left out by the option board=false"),
    ] = UNSET


class View(GameState, frozen=True, kw_only=True):
    """Everything, in the absolute frame, for viewers and replays."""

    placed: Annotated[int, Meta(description="the pieces that the player to move has placed in this phase")]
    nextId: Annotated[int, Meta(description="the id of the next ant")]
    ends: Annotated[int, Meta(description="END moves so far, of both players together")]
    attacker: Annotated[int | None, Meta(description="the id of the ant whose attack is due")]
    standing: Standing


class AnyMove(Struct, frozen=True):
    """A move as the rules judge it. `moveType` decides which members count (section 9)."""

    moveType: int
    coordList: Any = None
    buildType: Any = None


class Move(AnyMove, frozen=True):
    """An answer to `getMove`."""

    moveType: Annotated[MoveType, Meta(ge=0, le=2, description="0 move an ant, 1 build an ant, 2 end the turn")]
    coordList: Annotated[
        Sequence[Coord] | None,
        Meta(description="0: the path, the ant's own tile first; 1: the own anthill; 2: null"),
    ] = None
    buildType: Annotated[AntType | None, Meta(description="1: the ant's type, 1-4; else null")] = None


class GetPlacement(Struct, frozen=True):
    """Parameters of `getPlacement`."""

    currentState: GameState


class GetMove(Struct, frozen=True):
    """Parameters of `getMove`."""

    currentState: GameState


class GetAttack(Struct, frozen=True):
    """Parameters of `getAttack`."""

    currentState: GameState
    attackingAnt: Annotated[Ant, Meta(description="the ant that has just moved, on its final tile")]
    enemyLocations: Annotated[Sequence[Coord], Meta(description="the tiles to choose from, oldest ant first")]


class RegisterWin(Struct, frozen=True):
    """Parameters of `registerWin`."""

    hasWon: Annotated[bool, Meta(description="you have won; false for both in a draw")]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of ReAntics."""

    worker_health: Annotated[int, Meta(ge=1, description="4 by the document; 2 in the original program")] = 4
    random_layout: Annotated[
        tuple[bool, bool], Meta(description="per seat: the referee draws the placements and asks for none")
    ] = (False, False)
    draw_after: Annotated[int, Meta(ge=1, description="END moves of both players together, then a draw")] = 2000
    board: Annotated[bool, Meta(description="send `board`, which repeats the inventories")] = True


GET_PLACEMENT = Method(
    "getPlacement",
    GetPlacement,
    list[Coord],
    "Phase 1: tiles on your side (y 0-3) for the anthill, the tunnel and nine grass, in this order. "
    "Phase 2: two tiles on the enemy's side (y 6-9) for food.",
    accepts=list[Any],  # anything after the pieces still due is ignored without a check (section 3)
    rules="reantics.md, 3",
)
GET_MOVE = Method(
    "getMove",
    GetMove,
    Move,
    "One action of your turn: move an ant, build an ant, or end the turn. The referee asks again until you end it.",
    accepts=AnyMove,
    rules="reantics.md, 5",
)
GET_ATTACK = Method(
    "getAttack",
    GetAttack,
    Coord,
    "The ant that has just moved must attack: name one of `enemyLocations`.",
    accepts=Any,
    rules="reantics.md, 5.2",
)
REGISTER_WIN = Method(
    "registerWin",
    RegisterWin,
    type(None),
    "The game is over. The answer is null; a fault here changes nothing.",
    accepts=Any,
    time_s=2.0,
    rules="reantics.md, 9",
)
METHODS = {method.name: method for method in (GET_PLACEMENT, GET_MOVE, GET_ATTACK, REGISTER_WIN)}
