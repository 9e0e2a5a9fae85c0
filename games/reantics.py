"""ReAntics: two colonies of ants on a 10 × 10 board. Rules: reantics.md.

Seat 0 is player one. Inside, every coordinate is absolute; on the wire each player sees itself on top (section 2).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from operator import attrgetter
from typing import Annotated, Any, Self

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from games.api import (
    Event,
    Fault,
    FaultKind,
    Game,
    Method,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    TimeControl,
    draw,
    win,
)
from games.dice import Dice, derive_seed
from games.words import said

# Section 1: the document's own names and numbers.
BOARD_LENGTH = 10
SETUP_PHASE_1, SETUP_PHASE_2, PLAY_PHASE = 1, 2, 3
FOOD_GOAL = 11
QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER = range(5)
ANTHILL, TUNNEL, GRASS, FOOD = -4, -3, -2, -1
MOVE_ANT, BUILD, END, UNDO = range(4)

# The wire (section 8).
Column = Annotated[int, Meta(ge=0, le=9, title="x")]
Row = Annotated[int, Meta(ge=0, le=9, title="y")]
Coord = Annotated[tuple[Column, Row], Meta(description="[x, y]: column 0-9 from the left, row 0-9 from the top")]


class Ant(Struct, frozen=True):
    """One ant."""

    id: Annotated[int, Meta(ge=0, description="stable for the whole game, never used again")]
    coords: Coord
    type: Annotated[int, Meta(ge=0, le=4, description="0 queen, 1 worker, 2 drone, 3 soldier, 4 ranged soldier")]
    player: Annotated[int, Meta(ge=0, le=1, description="the owner")]
    health: Annotated[int, Meta(ge=1, description="health left")]
    carrying: Annotated[bool, Meta(description="holds a unit of food")]
    hasMoved: Annotated[bool, Meta(description="has moved, or was built, in this turn")]


class Construction(Struct, frozen=True, omit_defaults=True):
    """An anthill, tunnel, grass or food. Grass and food have no `player` and no `captureHealth`."""

    coords: Coord
    type: Annotated[int, Meta(ge=-4, le=-1, description="-4 anthill, -3 tunnel, -2 grass, -1 food")]
    movementCost: Annotated[int, Meta(ge=1, le=2, description="moves that it costs to enter: 2 for grass")]
    player: Annotated[int, Meta(ge=0, le=1, description="the owner of a building")] | UnsetType = UNSET
    captureHealth: Annotated[int | UnsetType, Meta(description="turns until captured; an anthill at 0 loses")] = UNSET


class Inventory(Struct, frozen=True):
    """What a player has; the third inventory is the neutral one."""

    player: Annotated[int, Meta(ge=0, le=2, description="0 player one, 1 player two, 2 neutral")]
    foodCount: Annotated[int, Meta(ge=0, description="units of food stored")]
    ants: Annotated[Sequence[Ant], Meta(description="by absolute x, then y")]
    constrs: Annotated[Sequence[Construction], Meta(description="by absolute x, then y; neutral: as placed")]


class Cell(Struct, frozen=True, omit_defaults=True):
    """A tile that is not empty."""

    ant: Annotated[int | UnsetType, Meta(description="the ant's id")] = UNSET
    constr: Annotated[int, Meta(ge=-4, le=-1, description="the construction's type")] | UnsetType = UNSET


class GameState(Struct, frozen=True, omit_defaults=True):
    """The state in the frame of the player who is asked: its own side is y 0-3, the enemy's y 6-9."""

    phase: Annotated[int, Meta(ge=1, le=3, description="1 anthill, tunnel and grass; 2 food; 3 play")]
    whoseTurn: Annotated[int, Meta(ge=0, le=1, description="the seat of the player who is asked")]
    inventories: Annotated[tuple[Inventory, Inventory, Inventory], Meta(description="player one, player two, neutral")]
    board: Annotated[
        Sequence[Sequence[Cell | None]] | UnsetType,
        Meta(description="board[x][y], null = empty; left out by the option board=false"),
    ] = UNSET


class AnyMove(Struct, frozen=True):
    """A move as it is judged: which members count depends on `moveType` (section 9)."""

    moveType: int
    coordList: Any = None
    buildType: Any = None


class Move(AnyMove, frozen=True):
    """An answer to `getMove`."""

    moveType: Annotated[int, Meta(ge=0, le=2, description="0 move an ant, 1 build an ant, 2 end the turn")]
    coordList: Annotated[
        Sequence[Coord] | None,
        Meta(description="0: the path, the ant's own tile first; 1: the own anthill; 2: null"),
    ] = None
    buildType: Annotated[int | None, Meta(description="1: the ant's type, 1-4; else null")] = None


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
    enemyLocations: Annotated[Sequence[Coord], Meta(description="the tiles that may be named, oldest ant first")]


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
    accepts=list[Any],  # what follows the pieces still due is ignored, unseen and unchecked (section 3)
    rules="reantics.md, 3",
)
GET_MOVE = Method(
    "getMove",
    GetMove,
    Move,
    "One action of your turn: move an ant, build an ant, or end the turn. Asked again until you end it.",
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
)
METHODS = {method.name: method for method in (GET_PLACEMENT, GET_MOVE, GET_ATTACK, REGISTER_WIN)}


class Unit(Struct, frozen=True):
    """What a type of ant can do (section 4). A worker's health is the option `worker_health`."""

    name: str
    moves: int
    health: int
    attack: int
    range: int
    cost: int
    ignores_grass: bool


UNITS = (
    Unit("queen", 2, 10, 4, 1, 0, False),  # her cost is never asked for: she cannot be built
    Unit("worker", 2, 4, 0, 1, 1, False),
    Unit("drone", 3, 4, 2, 1, 2, True),
    Unit("soldier", 2, 8, 4, 1, 2, False),
    Unit("ranged soldier", 1, 2, 3, 3, 2, True),
)
PIECES = ("anthill", "tunnel") + ("grass",) * 9
FOOD_TILES = 2  # that each player places
HILL_HEALTH, TUNNEL_HEALTH = 3, 2

# Inside, a tile is one number, 10 * x + y in the absolute frame. So player two's turned tile is 99 minus the number.
# The tables below are indexed by frame (= seat) first.
TILES = range(BOARD_LENGTH * BOARD_LENGTH)
NOWHERE = -1
COORDS = tuple(tuple(divmod(tile if frame == 0 else 99 - tile, BOARD_LENGTH) for tile in TILES) for frame in (0, 1))
DISTANCE = [[abs(a // 10 - b // 10) + abs(a % 10 - b % 10) for b in TILES] for a in TILES]  # Manhattan (section 2)
QUEENLESS_ROWS = (4, 5)
LIGHT = bytes([1] * 100)  # what it costs a unit that ignores grass to enter each tile


def _neighbours(frame: Player, tile: int) -> tuple[int, ...]:
    """The tiles beside `tile` in the order x-1, x+1, y-1, y+1 of the frame."""
    x, y = COORDS[frame][tile]
    beside = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
    return tuple(_tile(frame, x, y) for x, y in beside if 0 <= x < BOARD_LENGTH and 0 <= y < BOARD_LENGTH)


def _tile(frame: Player, x: int, y: int) -> int:
    """The tile at (x, y) of the frame."""
    return 99 - 10 * x - y if frame else 10 * x + y


NEIGHBOURS = tuple(tuple(_neighbours(frame, tile) for tile in TILES) for frame in (0, 1))
OWN_SIDE = tuple(tuple(_tile(seat, x, y) for x in range(10) for y in range(4)) for seat in (0, 1))
ENEMY_SIDE = tuple(tuple(_tile(seat, x, y) for x in range(10) for y in range(6, 10)) for seat in (0, 1))

_PLACEMENT: tuple[Mapping[Player, Method], ...] = ({0: GET_PLACEMENT}, {1: GET_PLACEMENT})
_MOVE: tuple[Mapping[Player, Method], ...] = ({0: GET_MOVE}, {1: GET_MOVE})
_ATTACK: tuple[Mapping[Player, Method], ...] = ({0: GET_ATTACK}, {1: GET_ATTACK})
_CLOSING: Mapping[Player, Method] = {0: REGISTER_WIN, 1: REGISTER_WIN}
_OVER: Mapping[Player, Method] = {}
_ILLEGAL_REASONS = {"getPlacement": "illegal_placement", "getMove": "illegal_move", "getAttack": "illegal_attack"}

_encode = msgspec.json.Encoder().encode


class _Ant(Struct, frozen=True, array_like=True, gc=False):
    """An ant inside the engine."""

    id: int
    tile: int
    type: int
    player: Player
    health: int
    carrying: bool
    moved: bool


class Ground:
    """The constructions: where each stands, and all that follows from it. Never changed, so copies share it."""

    __slots__ = ("columns", "cost", "foods", "grass", "hills", "key", "neutral", "neutral_shown", "tunnels")

    def __init__(self, hills: tuple[int, int], tunnels: tuple[int, int], neutral: tuple[tuple[int, int], ...]) -> None:
        self.hills, self.tunnels = hills, tunnels
        """Tiles by seat; NOWHERE = not placed yet."""
        self.neutral = neutral
        """(type, tile) of grass and food, in the order of placement (section 7)."""
        self.foods = frozenset(tile for kind, tile in neutral if kind == FOOD)
        self.grass = frozenset(tile for kind, tile in neutral if kind == GRASS)
        self.cost = bytes([2 if tile in self.grass else 1 for tile in TILES])
        """What entering each tile costs a unit that does not ignore grass."""
        self.neutral_shown = tuple(
            tuple(Construction(COORDS[frame][tile], kind, self.cost[tile]) for kind, tile in neutral)
            for frame in (0, 1)
        )
        self.columns = tuple(
            tuple(tuple(self._cell(_tile(frame, x, y)) for y in range(10)) for x in range(10)) for frame in (0, 1)
        )
        """`board` without ants, by frame."""
        self.key = _encode((hills, tunnels, neutral))

    def kind(self, tile: int) -> int | None:
        """The type of the construction on `tile`; None = there is none."""
        if tile in self.hills:
            return ANTHILL
        if tile in self.tunnels:
            return TUNNEL
        if tile in self.grass:
            return GRASS
        return FOOD if tile in self.foods else None

    def on_side(self, seat: Player) -> "Ground":
        """Only what stands on this player's own side."""
        side = OWN_SIDE[seat]
        nowhere = (NOWHERE, NOWHERE)
        return Ground(
            _replaced(nowhere, seat, self.hills[seat]),
            _replaced(nowhere, seat, self.tunnels[seat]),
            tuple((kind, tile) for kind, tile in self.neutral if tile in side),
        )

    def _cell(self, tile: int) -> Cell | None:
        kind = self.kind(tile)
        return None if kind is None else Cell(constr=kind)


class ReAntics(State):
    """A position, in absolute coordinates."""

    METHODS = METHODS

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.options: Options = setup.options
        self.luck = setup.seed
        self.phase = SETUP_PHASE_1
        self.mover: Player = 0
        self.placed = 0
        """How many pieces of this phase `mover` has placed."""
        self.ground = Ground((NOWHERE, NOWHERE), (NOWHERE, NOWHERE), ())
        self.ants: tuple[dict[int, _Ant], dict[int, _Ant]] = ({}, {})
        """By seat: id -> ant, ids ascending. A queen's id is her seat (section 3)."""
        self.at: dict[int, _Ant] = {}
        """The same ants: tile -> ant."""
        self.next_id = 0
        self.food = [0, 0]
        self.hill_health = [HILL_HEALTH, HILL_HEALTH]
        self.tunnel_health = [TUNNEL_HEALTH, TUNNEL_HEALTH]
        self.attacker: _Ant | None = None
        """Whose attack is due, and on which tiles."""
        self.targets: tuple[int, ...] = ()
        self.ends = 0
        """END moves so far, of both players together."""
        self.result: Result | None = None
        self.awaited = _PLACEMENT[0]
        self._draw_layouts()

    def params(self, player: Player) -> GetPlacement | GetMove | GetAttack | RegisterWin:
        method = self.awaited[player]
        if method is GET_MOVE:
            return GetMove(self.view(player))
        if method is GET_PLACEMENT:
            return GetPlacement(self.view(player))
        if self.result is not None:
            return RegisterWin(self.result.scores[player] == 1.0)
        assert self.attacker is not None
        coords = COORDS[player]
        return GetAttack(self.view(player), _shown(self.attacker, coords), [coords[tile] for tile in self.targets])

    def refusal(self, player: Player, answer: Any) -> str | None:
        """In words of the bot's own frame; the first thing wrong, in the order of the answer."""
        method = self.awaited[player]
        if method is GET_MOVE:
            return self._move_refusal(player, answer)
        if method is GET_ATTACK:
            return self._attack_refusal(player, answer)
        if method is GET_PLACEMENT:
            return self._placement_refusal(player, answer)
        return None  # what the answer to registerWin holds is ignored

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        if self.result is not None:
            self.awaited = _OVER
            return [Ruling(seat, answer, "none") for seat, answer in answers.items() if isinstance(answer, Fault)]
        ((player, answer),) = answers.items()
        method = self.awaited[player]
        if isinstance(answer, Fault):
            illegal = answer.kind is FaultKind.ILLEGAL
            self._finish(win(1 - player, _ILLEGAL_REASONS[method.name] if illegal else answer.kind.value))
            return [Ruling(player, answer, "loses")]
        if method is GET_MOVE:
            self._move(player, answer)
        elif method is GET_ATTACK:
            self._attack(player, answer)
        else:
            self._place(player, [_tile(player, *coord) for coord in answer[: self._due()]])
            self._draw_layouts()
        return []

    def stop(self, reason: str) -> list[Event]:
        """A draw (assumed: the document knows no end from outside); `registerWin` follows, false for both."""
        self._finish(draw(reason))
        return []

    def legal(self, player: Player) -> Iterator[Any]:
        """In the player's own frame, coordinates as tuples.

        getMove: every path of every ant that can move, then BUILD by type, then END. Ants by id; a path comes before
        its own extensions, which go x-1, x+1, y-1, y+1. getAttack: the targets as offered. getPlacement: the complete
        answers only (shorter and longer ones are legal too), in the order of `itertools.permutations` over the free
        tiles, x first. registerWin: None.
        """
        method, coords = self.awaited[player], COORDS[player]
        if method is GET_MOVE:
            yield from self._legal_moves(player)
        elif method is GET_ATTACK:
            yield from [coords[tile] for tile in self.targets]
        elif method is GET_PLACEMENT:
            yield from map(list, permutations([coords[tile] for tile in self._free(player)], self._due()))
        else:
            yield None

    def sample(self, player: Player, dice: Dice) -> Any:
        if self.awaited[player] is GET_PLACEMENT:
            return [COORDS[player][tile] for tile in dice.sample(self._free(player), self._due())]
        return super().sample(player, dice)

    def view(self, player: Player | None) -> GameState:
        """In the player's frame; None: everything, in the absolute frame. In phase 1 the rival's pieces are hidden."""
        frame = player or 0
        ground = self.ground
        if player is not None and self.phase == SETUP_PHASE_1:
            ground = ground.on_side(player)
        inventories = (
            self._inventory(0, ground, frame),
            self._inventory(1, ground, frame),
            Inventory(2, 0, (), ground.neutral_shown[frame]),
        )
        board = self._board(ground, frame) if self.options.board else UNSET
        return GameState(self.phase, self.mover, inventories, board)

    def copy(self, seed: int | None = None) -> Self:
        """A seed replaces the layouts that are still to be drawn; nothing else in this game is luck."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.ants = (self.ants[0].copy(), self.ants[1].copy())
        twin.at = self.at.copy()
        twin.food = self.food.copy()
        twin.hill_health = self.hill_health.copy()
        twin.tunnel_health = self.tunnel_health.copy()
        if seed is not None:
            twin.luck = seed
        return twin

    def key(self) -> bytes:
        """JSON. Seed and placed pieces decide nothing any more once the play phase has come."""
        setup = (self.luck, self.placed) if self.phase < PLAY_PHASE else ()
        return self.ground.key + _encode(
            (
                self.phase,
                self.mover,
                list(self.ants[0].values()),
                list(self.ants[1].values()),
                self.food,
                self.hill_health,
                self.tunnel_health,
                self.next_id,
                self.ends,
                self.attacker and self.attacker.id,
                self.result and self.result.scores,
                len(self.awaited),
                setup,
            )
        )

    def __str__(self) -> str:
        """The absolute frame, two letters a tile: ant (player one's in capitals), construction.

        Ants Q W D S R; constructions ^ anthill, @ tunnel, ; grass, % food.
        """
        rows = ["    " + "  ".join(map(str, range(10)))]
        rows += [f" {y}  " + " ".join(self._drawn(10 * x + y) for x in range(10)) for y in range(10)]
        for seat, name in enumerate(("one", "two")):
            ants = ", ".join(_described(ant) for ant in self.ants[seat].values()) or "no ants"
            rows.append(f"player {name}: food {self.food[seat]}, anthill {self.hill_health[seat]}; {ants}")
        rows.append(self._situation())
        return "\n".join(rows)

    def targets_of(self, ant: _Ant) -> tuple[int, ...]:
        """The tiles that `ant` can attack from where it stands, oldest enemy first (5.2, section 7)."""
        unit = UNITS[ant.type]
        if not unit.attack:
            return ()
        away, reach = DISTANCE[ant.tile], unit.range
        return tuple([enemy.tile for enemy in self.ants[1 - ant.player].values() if away[enemy.tile] <= reach])

    # Setup (section 3).

    def _due(self) -> int:
        """How many pieces `mover` has still to place in this phase."""
        return (len(PIECES) if self.phase == SETUP_PHASE_1 else FOOD_TILES) - self.placed

    def _free(self, player: Player) -> list[int]:
        """The tiles that a placement may name, x first in the player's frame."""
        side = OWN_SIDE if self.phase == SETUP_PHASE_1 else ENEMY_SIDE
        return [tile for tile in side[player] if self.ground.kind(tile) is None]

    def _placement_refusal(self, player: Player, answer: Sequence[Any]) -> str | None:
        if not answer:
            return f"the list is empty; wanted {self._due()} coordinates"
        first = self.phase == SETUP_PHASE_1
        pieces = PIECES[self.placed :] if first else ("food",) * self._due()
        used: list[int] = []
        for index, (piece, coord) in enumerate(zip(pieces, answer, strict=False)):
            if misfit := _misfit(coord):
                return f"[{index}] is {misfit}"
            x, y = coord
            if first and y > 3:
                return f"[{index}] is ({x},{y}); the {piece} goes on your own side, y 0..3"
            if not first and y < 6:
                return f"[{index}] is ({x},{y}); food goes on the enemy's side, y 6..9"
            tile = _tile(player, x, y)
            if tile in used:
                return f"[{index}] is ({x},{y}), named twice"
            if (kind := self.ground.kind(tile)) is not None:
                return f"[{index}] is ({x},{y}), where {_CONSTRUCTION_NAMES[kind]} stands; wanted an empty tile"
            used.append(tile)
        return None

    def _place(self, player: Player, tiles: Sequence[int]) -> None:
        hills, tunnels, neutral = self.ground.hills, self.ground.tunnels, list(self.ground.neutral)
        for number, tile in enumerate(tiles, self.placed):
            piece = PIECES[number] if self.phase == SETUP_PHASE_1 else "food"
            if piece == "anthill":
                hills = _replaced(hills, player, tile)
            elif piece == "tunnel":
                tunnels = _replaced(tunnels, player, tile)
            else:
                neutral.append((GRASS if piece == "grass" else FOOD, tile))
        self.ground = Ground(hills, tunnels, tuple(neutral))
        self.placed += len(tiles)
        if self._due() == 0:
            self._next_setup_turn()

    def _next_setup_turn(self) -> None:
        """Player one, player two; then the same in phase 2; then the play phase begins."""
        self.placed = 0
        if self.mover == 1:
            self.phase += 1
        self.mover = 1 - self.mover
        self.awaited = _PLACEMENT[self.mover]
        if self.phase == PLAY_PHASE:
            self._begin_play()

    def _begin_play(self) -> None:
        for kind, homes in ((QUEEN, self.ground.hills), (WORKER, self.ground.tunnels)):
            for seat, tile in enumerate(homes):
                self._add_ant(seat, kind, tile, moved=False)
        self.food = [1, 1]
        self.awaited = _MOVE[0]

    def _draw_layouts(self) -> None:
        """Places for the seats whose layout is random, as long as it is the turn of one (section 10)."""
        while self.phase < PLAY_PHASE and self.options.random_layout[self.mover]:
            dice = Dice(derive_seed(self.luck, "layout", self.mover, self.phase))
            self._place(self.mover, dice.sample(self._free(self.mover), self._due()))

    # The play phase (section 5): what is refused.

    def _move_refusal(self, player: Player, move: AnyMove) -> str | None:
        kind = move.moveType
        if type(kind) is not int or not MOVE_ANT <= kind <= END:
            undo = " (UNDO is for people)" if kind == UNDO else ""
            return f"moveType is {said(kind)}{undo}; wanted 0 move an ant, 1 build an ant or 2 end the turn"
        if kind == MOVE_ANT:
            return self._path_refusal(player, move.coordList, move.buildType)
        return self._build_refusal(player, move.coordList, move.buildType) if kind == BUILD else None

    def _path_refusal(self, player: Player, path: Any, build_type: Any) -> str | None:
        if not isinstance(path, _LISTS) or not path:
            return f"coordList is {said(path)}; wanted the path, the ant's own tile first"
        if misfit := _misfit(path[0]):
            return f"coordList[0] is {misfit}"
        x, y = path[0]
        ant = self.at.get(_tile(player, x, y))
        if ant is None:
            return f"coordList[0] is ({x},{y}), where no ant stands; wanted one of yours"
        unit = UNITS[ant.type]
        if ant.player != player:
            return f"coordList[0] is ({x},{y}), where an enemy's {unit.name} stands; wanted one of your ants"
        if ant.moved:
            return f"the {unit.name} on ({x},{y}) has moved, or was built, in this turn"
        costs = LIGHT if unit.ignores_grass else self.ground.cost
        queen = ant.type == QUEEN
        spent = 0
        for index in range(1, len(path)):
            coord = path[index]
            if misfit := _misfit(coord):
                return f"coordList[{index}] is {misfit}"
            from_x, from_y = x, y
            x, y = coord
            if abs(x - from_x) + abs(y - from_y) != 1:
                return f"coordList[{index}] ({x},{y}) is not next to ({from_x},{from_y})"
            tile = _tile(player, x, y)
            if tile in self.at:
                return f"coordList[{index}] is ({x},{y}), where {self._who(player, tile, ant)} stands"
            if queen and y in QUEENLESS_ROWS:
                return f"coordList[{index}] is ({x},{y}); a queen may not enter y 4 and 5"
            spent += costs[tile]
        if spent > unit.moves:
            return f"the path costs {spent} moves; a {unit.name} has {unit.moves}"
        if build_type is not None and type(build_type) is not int:
            return f"buildType is {said(build_type)}; wanted null or an integer"
        return None

    def _build_refusal(self, player: Player, coords: Any, build_type: Any) -> str | None:
        hill = self.ground.hills[player]
        hill_x, hill_y = COORDS[player][hill]
        if not isinstance(coords, _LISTS) or len(coords) != 1:
            return f"coordList is {said(coords)}; wanted one tile, your anthill ({hill_x},{hill_y})"
        if misfit := _misfit(coords[0]):
            return f"coordList[0] is {misfit}"
        x, y = coords[0]
        if _tile(player, x, y) != hill:
            return f"coordList[0] is ({x},{y}); ants are built on your anthill ({hill_x},{hill_y})"
        if hill in self.at:
            return f"{self._who(player, hill)} stands on your anthill ({x},{y})"
        if type(build_type) is not int or not WORKER <= build_type <= R_SOLDIER:
            return f"buildType is {said(build_type)}; wanted 1 worker, 2 drone, 3 soldier or 4 ranged soldier"
        unit = UNITS[build_type]
        if self.food[player] < unit.cost:
            return f"a {unit.name} costs {unit.cost} food; you have {self.food[player]}"
        return None

    def _attack_refusal(self, player: Player, answer: Any) -> str | None:
        if misfit := _misfit(answer):
            return f"the answer is {misfit}"
        x, y = answer
        if _tile(player, x, y) in self.targets:
            return None
        offered = [COORDS[player][tile] for tile in self.targets]
        return f"({x},{y}) is not offered; wanted one of {', '.join(f'({x},{y})' for x, y in offered)}"

    # The play phase: what happens.

    def _move(self, player: Player, move: AnyMove) -> None:
        kind = move.moveType
        if kind == MOVE_ANT:
            self._move_ant(player, move.coordList)
        elif kind == BUILD:
            self._build(player, move.buildType)
        else:
            self._end_turn(player)

    def _move_ant(self, player: Player, path: Sequence[tuple[int, int]]) -> None:
        """The ant walks; if it can attack anything from there, it must (5.2)."""
        ant = self.at.pop(_tile(player, *path[0]))
        tile = _tile(player, *path[-1])
        ant = _Ant(ant.id, tile, ant.type, player, ant.health, ant.carrying, True)
        self.at[tile] = self.ants[player][ant.id] = ant
        targets = self.targets_of(ant)
        if targets:
            self.attacker, self.targets, self.awaited = ant, targets, _ATTACK[player]
        else:
            self._test_win()

    def _attack(self, player: Player, target: tuple[int, int]) -> None:
        assert self.attacker is not None
        tile = _tile(player, *target)
        hit = self.at.pop(tile)
        health = hit.health - UNITS[self.attacker.type].attack
        if health > 0:
            hurt = _Ant(hit.id, tile, hit.type, hit.player, health, hit.carrying, hit.moved)
            self.at[tile] = self.ants[hit.player][hit.id] = hurt
        else:
            del self.ants[hit.player][hit.id]
        self.attacker, self.targets, self.awaited = None, (), _MOVE[player]
        self._test_win()

    def _build(self, player: Player, kind: int) -> None:
        self.food[player] -= UNITS[kind].cost
        self._add_ant(player, kind, self.ground.hills[player], moved=True)
        self._test_win()

    def _end_turn(self, player: Player) -> None:
        """Captures, food picked up and brought home (section 6); then the other player is to move."""
        rival = 1 - player
        hills, tunnels = self.ground.hills, self.ground.tunnels
        ants = self.ants[player]
        for ant in list(ants.values()):
            tile, carrying = ant.tile, ant.carrying
            if tile == hills[rival]:
                self.hill_health[rival] -= 1
            elif tile == tunnels[rival]:
                self.tunnel_health[rival] -= 1
            elif tile in self.ground.foods:
                carrying = carrying or ant.type == WORKER
            elif carrying and (tile == hills[player] or tile == tunnels[player]):
                self.food[player] += 1
                carrying = False
            if ant.moved or carrying is not ant.carrying:
                ants[ant.id] = self.at[tile] = _Ant(ant.id, tile, ant.type, player, ant.health, carrying, False)
        self.ends += 1
        self._test_win()
        if self.result is not None:
            return
        if self.ends >= self.options.draw_after:
            self._finish(draw("draw_limit"))
            return
        self.mover, self.awaited = rival, _MOVE[rival]

    def _test_win(self) -> None:
        """Player one first, then player two; the kinds in the order of section 6."""
        for player in (0, 1):
            rival = 1 - player
            if rival not in self.ants[rival]:
                return self._finish(win(player, "queen_killed"))
            if self.hill_health[rival] <= 0:
                return self._finish(win(player, "anthill_captured"))
            if self.food[player] >= FOOD_GOAL:
                return self._finish(win(player, "food_goal"))
            if not self.food[rival] and len(self.ants[rival]) == 1:
                return self._finish(win(player, "starved"))
        return None

    def _finish(self, result: Result) -> None:
        self.result, self.awaited = result, _CLOSING

    # Small parts.

    def _add_ant(self, player: Player, kind: int, tile: int, moved: bool) -> None:
        health = self.options.worker_health if kind == WORKER else UNITS[kind].health
        ant = _Ant(self.next_id, tile, kind, player, health, False, moved)
        self.at[tile] = self.ants[player][ant.id] = ant
        self.next_id += 1

    def _legal_moves(self, player: Player) -> Iterator[Move]:
        coords, neighbours, at = COORDS[player], NEIGHBOURS[player], self.at
        for ant in self.ants[player].values():
            if ant.moved:
                continue
            unit = UNITS[ant.type]
            costs = LIGHT if unit.ignores_grass else self.ground.cost
            paths: list[tuple[tuple[tuple[int, int], ...], int, int]] = [((coords[ant.tile],), ant.tile, unit.moves)]
            while paths:
                path, tile, left = paths.pop()
                yield Move(MOVE_ANT, path)
                for beside in reversed(neighbours[tile]):
                    blocked = beside in at or (ant.type == QUEEN and beside % 10 in QUEENLESS_ROWS)
                    if not blocked and costs[beside] <= left:
                        paths.append(((*path, coords[beside]), beside, left - costs[beside]))
        hill = self.ground.hills[player]
        if hill not in at:
            for kind in range(WORKER, R_SOLDIER + 1):
                if UNITS[kind].cost <= self.food[player]:
                    yield Move(BUILD, (coords[hill],), kind)
        yield Move(END)

    def _inventory(self, seat: Player, ground: Ground, frame: Player) -> Inventory:
        """Ants and buildings by absolute tile, which is x first, then y (section 7)."""
        coords = COORDS[frame]
        ants = [_shown(ant, coords) for ant in sorted(self.ants[seat].values(), key=_BY_TILE)]
        hill, tunnel = ground.hills[seat], ground.tunnels[seat]
        buildings = []
        if hill != NOWHERE:
            buildings.append(Construction(coords[hill], ANTHILL, 1, seat, self.hill_health[seat]))
        if tunnel != NOWHERE:
            buildings.append(Construction(coords[tunnel], TUNNEL, 1, seat, self.tunnel_health[seat]))
            if tunnel < hill:
                buildings.reverse()
        return Inventory(seat, self.food[seat], ants, buildings)

    def _board(self, ground: Ground, frame: Player) -> Sequence[Sequence[Cell | None]]:
        """Columns without an ant are the ground's own, shared by all views."""
        columns: list[Any] = list(ground.columns[frame])
        for tile, ant in self.at.items():
            x, y = COORDS[frame][tile]
            column = columns[x]
            if type(column) is tuple:
                columns[x] = column = list(column)
            under = column[y]
            column[y] = Cell(ant.id) if under is None else Cell(ant.id, under.constr)
        return columns

    def _who(self, player: Player, tile: int, walker: _Ant | None = None) -> str:
        """The ant on `tile`, as a refusal names it to `player`."""
        ant = self.at[tile]
        if ant is walker:
            return f"the {UNITS[ant.type].name} itself still"
        owner = "your" if ant.player == player else "an enemy's"
        return f"{owner} {UNITS[ant.type].name}"

    def _drawn(self, tile: int) -> str:
        ant, kind = self.at.get(tile), self.ground.kind(tile)
        letter = "." if ant is None else "QWDSR"[ant.type] if ant.player == 0 else "qwdsr"[ant.type]
        return letter + ("." if kind is None else "^@;%"[kind])

    def _situation(self) -> str:
        turns = f"after {self.ends} END moves"
        name = ("one", "two")[self.mover]
        if self.result is not None:
            outcome = {1.0: "player one wins", 0.0: "player two wins"}.get(self.result.scores[0], "a draw")
            return f"{outcome}, {self.result.reason}, {turns}"
        if self.phase < PLAY_PHASE:
            return f"setup phase {self.phase}: player {name} to place {self._due()}"
        if self.attacker is not None:
            return f"player {name} to attack with {_described(self.attacker)}, {turns}"
        return f"player {name} to move, {turns}"


# Small parts.

_LISTS = (list, tuple)
_BY_TILE = attrgetter("tile")
_CONSTRUCTION_NAMES = {ANTHILL: "an anthill", TUNNEL: "a tunnel", GRASS: "grass", FOOD: "food"}


def _replaced(pair: tuple[int, int], seat: Player, value: int) -> tuple[int, int]:
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def _shown(ant: _Ant, coords: Sequence[tuple[int, int]]) -> Ant:
    """The ant as the wire has it, in the frame that `coords` belongs to."""
    return Ant(ant.id, coords[ant.tile], ant.type, ant.player, ant.health, ant.carrying, ant.moved)


def _described(ant: _Ant) -> str:
    """Absolute frame: `worker 2 at (4,8), health 4, carrying`."""
    x, y = COORDS[0][ant.tile]
    carrying, moved = ", carrying" * ant.carrying, ", moved" * ant.moved
    return f"{UNITS[ant.type].name} {ant.id} at ({x},{y}), health {ant.health}{carrying}{moved}"


def _misfit(coord: Any) -> str | None:
    """Why `coord` is no coordinate, to be put behind "is"; None = it is one. A bot sent it: anything may come."""
    if not isinstance(coord, _LISTS) or len(coord) != 2:
        return f"{said(coord)}; wanted [x, y]"
    x, y = coord
    if type(x) is not int or type(y) is not int:
        return f"[{said(x)}, {said(y)}]; wanted two integers"
    if 0 <= x < BOARD_LENGTH and 0 <= y < BOARD_LENGTH:
        return None
    return f"({said(x)},{said(y)}); x and y are 0..9"


def from_view(view: GameState, options: Options | None = None, attacking: Ant | None = None, seed: int = 0) -> ReAntics:
    """The position that a bot was shown when it was asked, so that it can look ahead with the engine.

    `attacking` is the `attackingAnt` of a `getAttack`. What a view does not hold is assumed: the pieces that the rival
    hides in phase 1 are drawn with `seed`, no END was played yet, and the next ant gets the next id after the highest.
    """
    mover = view.whoseTurn
    position = ReAntics(Setup(seed, ("one", "two"), Options()))
    position.options = options or position.options
    position.setup = Setup(seed, ("one", "two"), position.options)
    position.phase, position.mover = view.phase, mover
    position.ground = _ground(view)
    seen = [*view.inventories[0].ants, *view.inventories[1].ants]
    for ant in sorted(seen, key=attrgetter("id")):
        tile = _tile(mover, *ant.coords)
        inner = _Ant(ant.id, tile, ant.type, ant.player, ant.health, ant.carrying, ant.hasMoved)
        position.at[tile] = position.ants[ant.player][ant.id] = inner
        position.next_id = ant.id + 1
    position.food = [inventory.foodCount for inventory in view.inventories[:2]]
    for seat in (0, 1):
        for building in view.inventories[seat].constrs:
            if building.captureHealth is not UNSET:
                health = position.hill_health if building.type == ANTHILL else position.tunnel_health
                health[seat] = building.captureHealth
    if view.phase < PLAY_PHASE:
        position.placed = _placed(view)
        position.awaited = _PLACEMENT[mover]
        if view.phase == SETUP_PHASE_1 and mover == 1:
            position.ground = _with_hidden(position.ground, Dice(derive_seed(seed, "hidden")))
    elif attacking is None:
        position.awaited = _MOVE[mover]
    else:
        position.attacker = position.at[_tile(mover, *attacking.coords)]
        position.targets = position.targets_of(position.attacker)
        position.awaited = _ATTACK[mover]
    return position


def _ground(view: GameState) -> Ground:
    hills, tunnels = (NOWHERE, NOWHERE), (NOWHERE, NOWHERE)
    for seat in (0, 1):
        for building in view.inventories[seat].constrs:
            tile = _tile(view.whoseTurn, *building.coords)
            if building.type == ANTHILL:
                hills = _replaced(hills, seat, tile)
            else:
                tunnels = _replaced(tunnels, seat, tile)
    neutral = tuple((constr.type, _tile(view.whoseTurn, *constr.coords)) for constr in view.inventories[2].constrs)
    return Ground(hills, tunnels, neutral)


def _placed(view: GameState) -> int:
    """How many pieces of this phase the player who is asked has placed already."""
    neutral = view.inventories[2].constrs
    if view.phase == SETUP_PHASE_1:
        return len(view.inventories[view.whoseTurn].constrs) + len(neutral)
    return sum(constr.type == FOOD for constr in neutral) - FOOD_TILES * view.whoseTurn


def _with_hidden(ground: Ground, dice: Dice) -> Ground:
    """Player one's eleven pieces drawn beside player two's."""
    hill, tunnel, *grass = dice.sample(OWN_SIDE[0], len(PIECES))
    neutral = (*((GRASS, tile) for tile in grass), *ground.neutral)
    return Ground(_replaced(ground.hills, 0, hill), _replaced(ground.tunnels, 0, tunnel), neutral)


GAME = Game(
    name="reantics",
    title="ReAntics",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=1.0),
    new=ReAntics,
)
