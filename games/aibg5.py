"""AIBG 5.0: four ships on a board of hexagons fight each other and the boss in its middle. Rules: aibg5.md.

Seat 0 is `playerIdx` 1 on the wire. A cell is (q, r) there; inside, it is one number, by r, then q (`games.hexgrid`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from types import NoneType
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from games.api import Event, Fault, FaultKind, Game, Method, Notice, Result, Ruling, Setup, State, TimeControl
from games.api import Player as Seat
from games.dice import Dice
from games.hexgrid import NOWHERE, HexBoard, length, ring
from games.words import said

# Sections 2 to 10: the document's numbers.
SEATS = 4
RADIUS = 14
SIZE = 2 * RADIUS + 1
START_TILES = ((-7, -7), (14, -7), (-14, 7), (7, 7))
TILES_ABOVE = ((-6, -8), (14, -8), (-14, 6), (8, 6))  # section 11
TILES_BELOW = ((-8, -6), (14, -6), (-14, 8), (6, 8))
MAX_HEALTH = (1000, 1300, 1600, 1900, 2200)  # by level, from 1 on
POWER = (150, 200, 250, 300, 350)
LEVEL_XP = 1000
ASTEROID_XP, EXPERIENCE_XP, HIT_XP, KILL_XP = 20, 100, 30, 100
KILL_SCORE = 50
ASTEROID_HEALTH = 350
ATTACK_RANGE = 3
TRAP_TURNS = 2
PENALTY_DIVISOR = 10
BOSS_RINGS, DIRECT_RINGS = range(2), range(2, 5)
HEALTH_RINGS, EXPERIENCE_RINGS = range(2, 11), range(2, 15)
BOSS_POWER = 250
PAUSES = (3, 4, 5, 6, 7)

DEFAULT_MAP = """\
              . . . . . . . . . . . . . . .
             . . . . . . . . . . . . . . . .
            . . . . . . . . . . . . . . . . .
           . . . . # . # # . . # # . # . . . .
          . . . . . . . . . . . . . . . . . . .
         . . . . . . . . . . . . . . . . . . . .
        . . . # . . . . . . . . . . . . . # . . .
       . . . # . . . # # . # # . # # . . . # . . .
      . . . . . . . . . . . . . . . . . . . . . . .
     . . . . . . . . . . . . . . . . . . . . . . . .
    . . . # . o . . . . . . . . . . . . . o . # . . .
   . . . # . . . . . . . . . . . . . . . . . . # . . .
  . . . . . . . . . . . . . . . . . . . . . . . . . . .
 . . . . . . . # . . . . . B B . . . . . # . . . . . . .
. . . . a . . # . . . . . B B B . . . . . # . . a . . . .
 . . . . . . . # . . . . . B B . . . . . # . . . . . . .
  . . . . . . . . . . . . . . . . . . . . . . . . . . .
   . . . # . . . . . . . . . . . . . . . . . . # . . .
    . . . # . o . . . . . . . . . . . . . o . # . . .
     . . . . . . . . . . . . . . . . . . . . . . . .
      . . . . . . . . . . . . . . . . . . . . . . .
       . . . # . . . # # . # # . # # . . . # . . .
        . . . # . . . . . . . . . . . . . # . . .
         . . . . . . . . . . . . . . . . . . . .
          . . . . . . . . . . . . . . . . . . .
           . . . . # . # # . . # # . # . . . .
            . . . . . . . . . . . . . . . . .
             . . . . . . . . . . . . . . . .
              . . . . . . . . . . . . . . .
"""
"""The map `practice1.txt`, so that a match needs no file: . empty, # asteroid, o black hole, B boss; two equal letters
are a pair of wormholes."""

# The wire (section 13).
EntityType = Literal["EMPTY", "BLACKHOLE", "WORMHOLE", "HEALTH", "EXPERIENCE", "ASTEROID", "BOSS"]
TileType = Literal["NORMAL", "FULL"]


class Terrain(Struct, frozen=True, omit_defaults=True):
    """What a tile holds that the boss has attacked: never the boss."""

    type: Annotated[EntityType, Meta(description="what it is")]
    id: Annotated[int | UnsetType, Meta(description="of a WORMHOLE: the pair")] = UNSET
    health: Annotated[int | UnsetType, Meta(description="of an ASTEROID")] = UNSET


class AttackedTile(Struct, frozen=True):
    """A tile that the boss has attacked, as it is now."""

    q: Annotated[int, Meta(ge=-14, le=14, description="column, slanting: the first axial coordinate")]
    r: Annotated[int, Meta(ge=-14, le=14, description="row: the second axial coordinate")]
    entity: Terrain
    tileType: Annotated[TileType, Meta(description="FULL: cannot be entered")]


class Entity(Struct, frozen=True, omit_defaults=True):
    """What a tile holds. Players are not part of the map."""

    type: Annotated[EntityType, Meta(description="what it is")]
    id: Annotated[int | UnsetType, Meta(description="of a WORMHOLE: the pair")] = UNSET
    health: Annotated[int | UnsetType, Meta(description="of an ASTEROID")] = UNSET
    bossAction: Annotated[bool | UnsetType, Meta(description="of a BOSS: see Boss")] = UNSET
    bossAttackedTiles: Annotated[Sequence[AttackedTile] | UnsetType, Meta(description="of a BOSS: see Boss")] = UNSET


class Tile(Struct, frozen=True):
    """A cell of the map."""

    q: Annotated[int, Meta(ge=-14, le=14, description="column, slanting: the first axial coordinate")]
    r: Annotated[int, Meta(ge=-14, le=14, description="row: the second axial coordinate")]
    entity: Entity
    tileType: Annotated[TileType, Meta(description="FULL: cannot be entered")]


class Map(Struct, frozen=True):
    """The board."""

    size: Annotated[int, Meta(description="rows")]
    tiles: Annotated[Sequence[Sequence[Tile]], Meta(description="by r from -14 on, each row by q from its least on")]


class Player(Struct, frozen=True):
    """What is shown of a player: everything but the experience points."""

    type: Annotated[Literal["PLAYER"], Meta(description="always that")]
    r: Annotated[int, Meta(ge=-14, le=14, description="row: the second axial coordinate")]
    q: Annotated[int, Meta(ge=-14, le=14, description="column, slanting: the first axial coordinate")]
    playerIdx: Annotated[int, Meta(ge=1, le=4, description="the player's number: its seat + 1")]
    name: Annotated[str, Meta(description="as on the command line")]
    health: Annotated[int, Meta(description="health left")]
    power: Annotated[int, Meta(description="what an attack takes away")]
    level: Annotated[int, Meta(ge=1, le=5, description="power and maximum health follow from it")]
    kills: Annotated[int, Meta(ge=0, description="players killed")]
    deaths: Annotated[int, Meta(ge=0, description="how often it died")]
    score: Annotated[int, Meta(ge=0, description="points")]
    trapped: Annotated[bool, Meta(description="sits in a black hole")]
    trapDuration: Annotated[int, Meta(description="turns still to be lost")]
    kd: Annotated[float, Meta(description="kills / deaths; kills, if there are no deaths")]


class Boss(Struct, frozen=True):
    """The boss; its seven tiles hold the same."""

    type: Annotated[Literal["BOSS"], Meta(description="always that")]
    bossAction: Annotated[bool, Meta(description="it acted since the last player did")]
    bossAttackedTiles: Annotated[Sequence[AttackedTile], Meta(description="of its last turn: direct hits, the pattern")]


class ScoreBoard(Struct, frozen=True):
    """The ranking."""

    players: Annotated[Sequence[Player], Meta(description="all four, best first")]


class GameState(Struct, frozen=True):
    """The position, as everybody sees it."""

    map: Map
    player1: Annotated[Player | None, Meta(description="null: disqualified")]
    player2: Annotated[Player | None, Meta(description="null: disqualified")]
    player3: Annotated[Player | None, Meta(description="null: disqualified")]
    player4: Annotated[Player | None, Meta(description="null: disqualified")]
    boss: Boss
    scoreBoard: ScoreBoard


class Action(Struct, frozen=True):
    """An answer to `doAction`."""

    action: Annotated[str, Meta(description='"move,Q,R" or "attack,Q,R"')]


class JoinGame(Struct, frozen=True):
    """Parameters of `joinGame`."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="which player you are")]
    gameState: GameState


class DoAction(Struct, frozen=True):
    """Parameters of `doAction`."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="which player you are")]
    gameState: GameState
    message: Annotated[str | None, Meta(description="what was wrong with your last action: a code, a colon, words")]


class GameOver(Struct, frozen=True):
    """The end."""

    reason: Annotated[str, Meta(description="why it ended")]
    players: Annotated[Sequence[Player], Meta(description="all four, best first")]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of AIBG 5.0."""

    map: Annotated[str, Meta(description="the content of a map file; empty: the map practice1.txt")] = ""
    rounds: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="the game ends after so many; null: only the clock ends it")
    ] = None
    trapped_penalty: Annotated[bool, Meta(description="a turn in a black hole costs a tenth of the health")] = True


# What the viewers are told; no bot hears of it.


class Shot(Struct, frozen=True):
    """An attack, with the cell that was really hit."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="who shot")]
    q: Annotated[int, Meta(ge=-14, le=14, description="column, slanting: the first axial coordinate")]
    r: Annotated[int, Meta(ge=-14, le=14, description="row: the second axial coordinate")]
    hit: Annotated[Literal["PLAYER", "ASTEROID", "BOSS"], Meta(description="what stands there")]


class Died(Struct, frozen=True):
    """A player died and stands on (q, r) again. `by`: who did it; null: the boss."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="who died")]
    by: Annotated[int | None, Meta(description="who did it; null: the boss")]
    q: Annotated[int, Meta(ge=-14, le=14, description="column, slanting: the first axial coordinate")]
    r: Annotated[int, Meta(ge=-14, le=14, description="row: the second axial coordinate")]


class PickedUp(Struct, frozen=True):
    """A player took an item."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="the player")]
    item: Annotated[Literal["HEALTH", "EXPERIENCE"], Meta(description="what it took")]


class BossAttack(Struct, frozen=True):
    """The boss's turn: which pattern, null = none; and the players hit, directly and by the pattern."""

    pattern: Annotated[
        Literal["A", "B", "C", "ring 6", "ring 8", "ring 10"] | None, Meta(description="which; null: none in this turn")
    ]
    direct: Annotated[Sequence[int], Meta(description="players hit because they were near")]
    struck: Annotated[Sequence[int], Meta(description="players hit by the pattern")]


JOIN_GAME = Method(
    "joinGame",
    JoinGame,
    NoneType,
    "The game begins: this is where everybody stands. Asked of all four at once; what is answered does not matter.",
    accepts=Any,
    shared=("gameState",),
)
DO_ACTION = Method(
    "doAction",
    DoAction,
    Action,
    "Your turn: move to a cell beside yours, or attack a player, an asteroid or the boss at most 3 cells away.",
    accepts=Any,  # whatever is no action is an illegal action and costs health, no more (section 5)
    shared=("gameState",),
    rules="aibg5.md, 5",
)
EVENTS = (
    Method("gameOver", GameOver, None, "The game is over."),
    Method("shot", Shot, None, "An attack.", viewers=True),
    Method("died", Died, None, "A player died and starts again.", viewers=True),
    Method("pickedUp", PickedUp, None, "A player took an item.", viewers=True),
    Method("bossAttack", BossAttack, None, "The boss had its turn.", viewers=True),
)
METHODS = {method.name: method for method in (JOIN_GAME, DO_ACTION, *EVENTS)}

_JOINING: Mapping[Seat, Method] = dict.fromkeys(range(SEATS), JOIN_GAME)
_TURN: tuple[Mapping[Seat, Method], ...] = tuple([{seat: DO_ACTION} for seat in range(SEATS)])
_OVER: Mapping[Seat, Method] = {}

# The board (section 2).

Cell = int
"""By r, then q."""

BOARD = HexBoard(RADIUS, ATTACK_RANGE)
CELLS, INDEX, NEIGHBOURS, LINES, RINGS = BOARD.cells, BOARD.index, BOARD.neighbours, BOARD.lines, BOARD.rings

EMPTY, BLACKHOLE, WORMHOLE, HEALTH, EXPERIENCE, ASTEROID, BOSS = range(7)
KINDS: tuple[EntityType, ...] = ("EMPTY", "BLACKHOLE", "WORMHOLE", "HEALTH", "EXPERIENCE", "ASTEROID", "BOSS")
TILE_TYPES: tuple[TileType, ...] = ("NORMAL", "NORMAL", "NORMAL", "NORMAL", "NORMAL", "FULL", "FULL")
ITEMS = (HEALTH, EXPERIENCE)
OBSTACLES = (ASTEROID, BOSS, BLACKHOLE, WORMHOLE)
SIGNS = ".ow+*#B"

BOSS_CELLS = tuple([cell for cell, away in enumerate(RINGS) if away in BOSS_RINGS])
STARTS = tuple([INDEX[tile] for tile in START_TILES])
BESIDE_STARTS = tuple([(INDEX[up], INDEX[down]) for up, down in zip(TILES_ABOVE, TILES_BELOW, strict=True)])
ITEM_CELLS = {
    item: tuple([cell for cell, away in enumerate(RINGS) if away in rings])
    for item, rings in ((HEALTH, HEALTH_RINGS), (EXPERIENCE, EXPERIENCE_RINGS))
}

_ENTITIES = tuple([Entity(kind) for kind in KINDS])
_encode = msgspec.json.Encoder().encode


def pattern_1(step: int) -> tuple[Cell, ...]:
    """The eight cells of the steps A, B and C: 0, 1, 2 (section 10)."""
    left = [(-6 + 2 * step, -2 - 2 * step), (-5 + 2 * step, -3 - 2 * step)]
    four = left + [(-q, -r) for q, r in left]
    return tuple([INDEX[place] for place in four + [(-q - r, r) for q, r in four]])


def pattern_2(radius: int) -> tuple[Cell, ...]:
    """The ring of that radius, clockwise from its top left."""
    return tuple([INDEX[place] for place in ring(radius)])


_PATTERN_1 = (("A", pattern_1(0)), ("B", pattern_1(1)), ("C", pattern_1(2)))
PATTERNS: tuple[tuple[Any, tuple[Cell, ...]], ...] = (
    *(*_PATTERN_1, ("ring 6", pattern_2(6))),
    *(*_PATTERN_1, ("ring 8", pattern_2(8))),
    *(*_PATTERN_1, ("ring 10", pattern_2(10))),
)
"""The boss's whole cycle. There is a pause after each third and fourth."""


# The map (section 13.5).


class MapCell(Struct, frozen=True, forbid_unknown_fields=True):
    """An element of a map file."""

    q: int
    r: int
    type: TileType
    entity: Literal["NONE", "BLACKHOLE", "WORMHOLE", "FENCE", "BOSS"]
    id: Annotated[int, Meta(ge=-(1 << 31), le=(1 << 31) - 1)] | UnsetType = UNSET  # the kits read it into an int


_KIND_OF = {
    ("NORMAL", "NONE"): EMPTY,
    ("NORMAL", "BLACKHOLE"): BLACKHOLE,
    ("NORMAL", "WORMHOLE"): WORMHOLE,
    ("FULL", "FENCE"): ASTEROID,
    ("FULL", "BOSS"): BOSS,
}


class Ground:
    """A map and what follows from it. Never changed, so that all positions share it. Made by `load` and `drawn`."""

    def __init__(self, kinds: bytes, ids: Mapping[Cell, int]) -> None:
        """`kinds` by cell, `ids` of the wormholes. ValueError if they are not in pairs, or a fixed tile is not free."""
        self.kinds, self.ids = kinds, ids
        self._check()
        self.partner = {cell: self._partner(cell) for cell in ids}
        self.asteroids = tuple([cell for cell, kind in enumerate(kinds) if kind == ASTEROID])
        rows = zip(BOARD.row_starts, (*BOARD.row_starts[1:], len(CELLS)), strict=True)
        self.rows = tuple([tuple([self._tile(cell) for cell in range(*row)]) for row in rows])
        """The tiles of the wire, boss tiles without what the boss did."""

    def _check(self) -> None:
        for cell, kind in enumerate(self.kinds):
            if (kind == BOSS) is not (cell in BOSS_CELLS):
                raise ValueError(f"the map's cell {_place(cell)} is {KINDS[kind]}; the boss has rings 0 and 1, no more")
        for cell in STARTS:
            if self.kinds[cell] != EMPTY:
                raise ValueError(f"the map's start tile {_place(cell)} is {KINDS[self.kinds[cell]]}; wanted NONE")
        ids = list(self.ids.values())
        for cell, pair in self.ids.items():
            if ids.count(pair) != 2:
                raise ValueError(f"the map's wormhole id {pair}, {_place(cell)}, has {ids.count(pair)} tiles; wanted 2")

    def _partner(self, cell: Cell) -> Cell:
        return next(other for other, pair in self.ids.items() if pair == self.ids[cell] and other != cell)

    def _tile(self, cell: Cell) -> Tile:
        kind = self.kinds[cell]
        entity = _ENTITIES[kind]
        if kind == WORMHOLE:
            entity = Entity("WORMHOLE", id=self.ids[cell])
        elif kind == ASTEROID:
            entity = Entity("ASTEROID", health=ASTEROID_HEALTH)
        return Tile(*CELLS[cell], entity, TILE_TYPES[kind])


@lru_cache(maxsize=16)
def load(text: str) -> Ground:
    """The map in `text`, the content of a map file. ValueError, one line with the place, if it is none."""
    try:
        rows = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"the map is no JSON: {error}") from error
    if not isinstance(rows, list) or len(rows) != SIZE:
        raise ValueError(f"the map is {said(rows)}; wanted a list of {SIZE} rows")
    kinds, ids = bytearray(len(CELLS)), {}
    seen: set[Cell] = set()
    for number, row in enumerate(rows, 1):
        wanted = SIZE - abs(number - 1 - RADIUS)
        if not isinstance(row, list) or len(row) != wanted:
            raise ValueError(f"map row {number} is {said(row)}; wanted a list of {wanted} cells")
        for column, element in enumerate(row, 1):
            try:
                cell, kinds[cell], pair = _map_cell(element)
            except ValueError as error:  # msgspec's are ValueErrors too
                raise ValueError(f"map row {number} cell {column}: {error}") from error
            if cell in seen:
                raise ValueError(f"map row {number} cell {column}: {_place(cell)} comes twice")
            seen.add(cell)
            if pair is not None:
                ids[cell] = pair
    return Ground(bytes(kinds), ids)


def _map_cell(element: Any) -> tuple[Cell, int, int | None]:
    """The cell, its kind and, for a wormhole, its id. ValueError."""
    found = msgspec.convert(element, MapCell)
    kind = _KIND_OF.get((found.type, found.entity))
    if kind is None:
        raise ValueError(f"{found.entity} is not {found.type}")
    if (found.q, found.r) not in INDEX:
        raise ValueError(f"({found.q},{found.r}) is off the board")
    if (kind == WORMHOLE) is (found.id is UNSET):
        raise ValueError("a WORMHOLE needs an id" if kind == WORMHOLE else f"{found.entity} has no id")
    return INDEX[found.q, found.r], kind, None if found.id is UNSET else found.id


@lru_cache(maxsize=16)
def drawn(text: str) -> Ground:
    """The map that a drawing such as `DEFAULT_MAP` shows. A pair's id is its letter's place in the alphabet."""
    signs = text.split()
    kinds = bytes([SIGNS.find(sign) if sign in SIGNS and sign != "w" else WORMHOLE for sign in signs])
    return Ground(kinds, {cell: ord(signs[cell]) - ord("a") for cell, kind in enumerate(kinds) if kind == WORMHOLE})


def ground_of(options: Options) -> Ground:
    """The map that the options name. ValueError as in `load`."""
    return load(options.map) if options.map else drawn(DEFAULT_MAP)


# The action text (section 5).

_COORDINATE = re.compile(r"[+-]?[0-9]+")
_LONGEST_COORDINATE = 10  # digits without leading zeros: more would not be of 32 bits
_INT32 = range(-(1 << 31), 1 << 31)
_TWO_WAYS = '"move,Q,R" or "attack,Q,R"'
NO_ACTION = f"null: no action was given; wanted {_TWO_WAYS}"


def read_action(text: str) -> tuple[str, int, int] | str:
    """The three parts of an action's text; or the message of the check that it fails, 2 or 3."""
    parts = text.replace(" ", "").split(",")
    while parts and not parts[-1]:
        parts.pop()
    if len(parts) != 3:
        return f"three_parameters: {said(text)} has {len(parts)} parts; wanted three, {_TWO_WAYS}"
    q, r = _coordinate(parts[1]), _coordinate(parts[2])
    if q is None or r is None:
        wrong, part = ("Q", parts[1]) if q is None else ("R", parts[2])
        return f"coordinate_format: {wrong} is {said(part)}; wanted a whole number"
    return parts[0], q, r


def _coordinate(text: str) -> int | None:
    """A whole number of 32 bits in ASCII digits, with a sign or without; else None."""
    if _COORDINATE.fullmatch(text) is None or len(text.lstrip("+-0")) > _LONGEST_COORDINATE:
        return None
    number = int(text.lstrip("+-0") or "0") * (-1 if text[0] == "-" else 1)
    return number if number in _INT32 else None


# The game.


class _Ship(Struct, array_like=True):
    """A player. `trap` = turns still to be lost in a black hole; `out` = disqualified, the rest stays as it was."""

    at: Cell
    health: int = MAX_HEALTH[0]
    level: int = 1
    xp: int = 0
    kills: int = 0
    deaths: int = 0
    score: int = 0
    trap: int = 0
    out: bool = False

    @property
    def power(self) -> int:
        return POWER[self.level - 1]

    @property
    def max_health(self) -> int:
        return MAX_HEALTH[self.level - 1]

    @property
    def kd(self) -> float:
        return self.kills / (self.deaths or 1)

    def gain(self, xp: int) -> None:
        """Experience; enough of it is the next level (section 4)."""
        self.xp += xp
        if self.xp >= LEVEL_XP and self.level < len(POWER):
            self.level += 1
            self.xp -= LEVEL_XP
            self.health = self.max_health


class View(Struct, frozen=True):
    """Everything, for viewers. Lists are by seat."""

    gameState: GameState
    xp: Sequence[int]
    messages: Sequence[str | None]
    """What each was, or will be, told of its last action."""
    awaited: Sequence[int]
    """The `playerIdx` of those who are asked."""
    rounds: int
    """How many are over."""
    nextPattern: str
    pause: int
    """How many turns of the boss have no pattern before that."""


class AIBG5(State):
    """A position of a match. The tiles, rows and states that it hands out are never changed, only replaced."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        self.setup = setup
        self.options: Options = setup.options
        self.ground = ground_of(setup.options)
        self.dice = dice or Dice(setup.seed)
        self.ships = [_Ship(cell) for cell in STARTS]
        self.on = {cell: seat for seat, cell in enumerate(STARTS)}
        """Who stands where; those who are out stand nowhere."""
        self.messages: list[str | None] = [None] * SEATS
        self.kinds = bytearray(self.ground.kinds)
        self.asteroids = dict.fromkeys(self.ground.asteroids, ASTEROID_HEALTH)
        self.rows = self.ground.rows
        """The tiles of the wire, boss tiles without what the boss did."""
        self.rounds = 0
        self.boss_action = False
        self.attacked: tuple[Cell, ...] = ()
        """Where the boss's last turn struck."""
        self.step_of_boss = 0
        """Which of PATTERNS comes next."""
        self.idle, self.pause = 0, 1
        """Boss turns without a pattern since the last one, and how many there are to be. The first has none."""
        self.result: Result | None = None
        self.awaited = _JOINING
        self._bossed: tuple[Boss, tuple[tuple[Tile, ...], ...]] | None = None
        self._state: GameState | None = None
        for item in ITEMS:
            self._place_item(item)

    # The contract of every engine.

    def params(self, player: Seat) -> JoinGame | DoAction:
        if self.awaited is _JOINING:
            return JoinGame(player + 1, self.game_state())
        return DoAction(player + 1, self.game_state(), self.messages[player])

    def refusal(self, player: Seat, answer: Any) -> str | None:
        """The checks of section 5 in their order; the message begins with the code of the first that applies. What a
        trapped player answers does not matter."""
        if self.awaited is _JOINING or self.ships[player].trap:
            return None
        text = _text_of(answer)
        if not isinstance(text, str):
            return NO_ACTION if text is None else f"null: the action is {said(text)}; wanted text, {_TWO_WAYS}"
        action = read_action(text)
        if isinstance(action, str):
            return action
        word, q, r = action
        target = INDEX.get((q, r))
        if target is None:
            return f"off_map: ({q},{r}) is not on the board; |q|, |r| and |q+r| are at most {RADIUS}"
        if word == "move":
            return self._move_refusal(player, target)
        if word == "attack":
            return self._attack_refusal(player, target)
        return f"unknown_action: {said(word)}; wanted move or attack"

    def step(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """An answer that is no action, be it an error, costs health and the turn. Who does not answer at all is out
        (section 12)."""
        self._state = None
        if self.awaited is _JOINING:
            return self._join(answers)
        ((player, answer),) = answers.items()
        self._show_boss(False, self.attacked)
        events = self._turn(player, answer)
        return events if self.result is not None else events + self._next_turn(player)

    def stop(self, reason: str) -> list[Event]:
        """Ranked as at any end."""
        return self._finish(reason)

    def legal(self, player: Seat) -> Iterator[Any]:
        """Moves E, SE, SW, W, NW, NE, then attacks by r, then q. One answer stands for all where none matters.

        Nothing at all for a player between wormholes with blocked exits: whatever it does is illegal.
        """
        if self.awaited is _JOINING:
            yield {}
        elif self.ships[player].trap:
            yield {"action": ""}
        else:
            here = self.ships[player].at
            for word, targets, refusal in (
                ("move", NEIGHBOURS[here], self._move_refusal),
                ("attack", LINES[here], self._attack_refusal),
            ):
                for target in targets:
                    if target != NOWHERE and refusal(player, target) is None:
                        q, r = CELLS[target]
                        yield {"action": f"{word},{q},{r}"}

    def view(self, player: Seat | None) -> Any:
        """A `GameState`; None: a `View`."""
        if player is not None:
            return self.game_state()
        return View(
            self.game_state(),
            [ship.xp for ship in self.ships],
            list(self.messages),
            [player + 1 for player in self.awaited],
            self.rounds,
            PATTERNS[self.step_of_boss][0],
            max(0, self.pause - self.idle),
        )

    def copy(self, seed: int | None = None) -> Self:
        """A seed replaces what is still to be drawn, and the boss's pause by another that fits what was seen of it."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.ships = [copy(ship) for ship in self.ships]
        twin.on = self.on.copy()
        twin.messages = self.messages.copy()
        twin.kinds = self.kinds.copy()
        twin.asteroids = self.asteroids.copy()
        twin.dice = self.dice.copy() if seed is None else Dice(seed)
        if seed is not None and self.pause in PAUSES and self._between_patterns():
            twin.pause = twin.dice.choice([pause for pause in PAUSES if pause >= self.idle])
        return twin

    def key(self) -> bytes:
        """The kind of every cell, then JSON. The asteroids are in the map's order."""
        return bytes(self.kinds) + _encode(
            (
                list(self.asteroids.values()),
                self.ships,
                self.messages,
                list(self.awaited),
                self.awaited is _JOINING,
                self.rounds,
                self.boss_action,
                self.attacked,
                self.step_of_boss,
                self.idle,
                self.pause,
                self.dice.state,
                self.result,
            )
        )

    def __str__(self) -> str:
        """The board with the players as 1 to 4: . empty, # asteroid, o black hole, w wormhole, + health, * experience,
        B boss."""
        signs = [str(self.on[cell] + 1) if cell in self.on else SIGNS[kind] for cell, kind in enumerate(self.kinds)]
        lines = []
        for start, row in zip(BOARD.row_starts, self.rows, strict=True):
            lines.append(" " * (SIZE - len(row)) + " ".join(signs[start : start + len(row)]))
        for player, ship in enumerate(self.ships):
            standing = "disqualified" if ship.out else f"at {_place(ship.at)}" + ", trapped" * (ship.trap > 0)
            lines.append(
                f"{player + 1} {self.setup.names[player]}: score {ship.score}, health {ship.health}, "
                f"level {ship.level}, {ship.xp} XP, {ship.kills} kills, {ship.deaths} deaths, {standing}"
            )
        calls = ", ".join(f"{method.name} of {player + 1}" for player, method in self.awaited.items())
        lines.append(f"{self.rounds} rounds over, " + (calls or f"the end: {self.result and self.result.reason}"))
        return "\n".join(lines)

    # The start and the order of play (sections 1, 5 and 12).

    def _join(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """What is answered does not matter, so that an error does not either; who does not answer is out."""
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                if _answers_still(answer):
                    events.append(Ruling(player, answer, "none: no answer to joinGame matters"))
                else:
                    events.append(self._disqualify(player, answer))
        return events + (self._end_of_the_last_but_one() or self._give_turn(0))

    def _turn(self, player: Seat, answer: Any) -> list[Event]:
        ship = self.ships[player]
        events: list[Event] = []
        if isinstance(answer, Fault):
            if not _answers_still(answer):
                return [self._disqualify(player, answer), *self._end_of_the_last_but_one()]
            loses = not ship.trap or self.options.trapped_penalty
            cost = f"loses {_penalty(ship)} health and the turn" if loses else "loses the turn"
            events.append(Ruling(player, answer, cost))
        self.messages[player] = None
        if ship.trap:
            self._sit(player)
        elif isinstance(answer, Fault):
            ship.health -= _penalty(ship)
            self.messages[player] = answer.detail if answer.kind is FaultKind.ILLEGAL else NO_ACTION
        else:
            action = read_action(_text_of(answer))
            assert not isinstance(action, str)
            word, q, r = action
            events += (self._move if word == "move" else self._attack)(player, INDEX[q, r])
        return events

    def _next_turn(self, player: Seat) -> list[Event]:
        """The next player who is left; after the last of the round, the boss's turn first."""
        if any(not ship.out for ship in self.ships[player + 1 :]):
            return self._give_turn(player + 1)
        events = self._boss_turn()
        self.rounds += 1
        if self.rounds == self.options.rounds:
            return events + self._finish("rounds")
        return events + self._give_turn(0)

    def _give_turn(self, first: Seat) -> list[Event]:
        """To the first from `first` on who is left."""
        self.awaited = next(_TURN[seat] for seat in range(first, SEATS) if not self.ships[seat].out)
        return []

    def _disqualify(self, player: Seat, fault: Fault) -> Ruling:
        """Off the board and out of the order of play (section 12)."""
        ship = self.ships[player]
        ship.out, ship.trap = True, 0
        del self.on[ship.at]
        return Ruling(player, fault, "disqualified", out=True)

    def _end_of_the_last_but_one(self) -> list[Event]:
        """The end if three are disqualified; else nothing."""
        left = SEATS - sum([ship.out for ship in self.ships])
        return self._finish("last_one_left" if left else "nobody_left") if left <= 1 else []

    def _finish(self, reason: str) -> list[Event]:
        order = self._ranking()
        ranks = tuple([order.index(player) + 1 for player in range(SEATS)])
        self.result = Result(ranks, tuple([float(ship.score) for ship in self.ships]), reason)
        self.awaited, self._state = _OVER, None
        left = tuple([player for player, ship in enumerate(self.ships) if not ship.out])
        return [Notice("gameOver", GameOver(reason, self.game_state().scoreBoard.players), left)]

    def _ranking(self) -> list[Seat]:
        """Best first: six keys, then the lower index; the disqualified after all others (section 12)."""
        keyed = [
            (ship.out, -ship.score, -ship.kd, -ship.kills, ship.deaths, -ship.level, -ship.health, player)
            for player, ship in enumerate(self.ships)
        ]
        return [key[-1] for key in sorted(keyed)]

    # Moves (sections 6, 8 and 9).

    def _move(self, player: Seat, target: Cell) -> list[Event]:
        kind = self.kinds[target]
        if kind == WORMHOLE:
            self._go(player, self._exit(self.ships[player].at, target))
            return []
        self._go(player, target)
        if kind == BLACKHOLE:
            self.ships[player].trap = TRAP_TURNS
        return self._pick_up(player, kind) if kind in ITEMS else []

    def _pick_up(self, player: Seat, item: int) -> list[Event]:
        """The new item is placed while the old one is still there."""
        ship = self.ships[player]
        if item == HEALTH:
            ship.health = ship.max_health
        else:
            ship.gain(EXPERIENCE_XP)
        self._place_item(item)
        self._put(ship.at, EMPTY)
        return [Notice("pickedUp", PickedUp(player + 1, "HEALTH" if item == HEALTH else "EXPERIENCE"))]

    def _place_item(self, item: int) -> None:
        """Anywhere in its rings where nothing is and nobody stands; nowhere if there is no such cell."""
        kinds, on = self.kinds, self.on
        if cells := [cell for cell in ITEM_CELLS[item] if kinds[cell] == EMPTY and cell not in on]:
            self._put(self.dice.choice(cells), item)

    def _sit(self, player: Seat) -> None:
        """A turn in a black hole (section 8)."""
        ship = self.ships[player]
        if self.options.trapped_penalty:
            ship.health -= _penalty(ship)
        self.messages[player] = f"trapped: you are trapped in a black hole on {_place(ship.at)}"
        ship.trap -= 1

    def _exit(self, here: Cell, wormhole: Cell) -> Cell:
        """Where a step from `here` into `wormhole` ends; NOWHERE if that is off the board."""
        return NEIGHBOURS[self.ground.partner[wormhole]][NEIGHBOURS[here].index(wormhole)]

    def _go(self, player: Seat, cell: Cell) -> None:
        ship = self.ships[player]
        del self.on[ship.at]
        ship.at = cell
        self.on[cell] = player

    # Attacks (section 7).

    def _attack(self, player: Seat, target: Cell) -> list[Event]:
        cell = self._first_obstacle(player, target)
        shooter, (q, r) = self.ships[player], CELLS[cell]
        if cell in self.on:
            return [Notice("shot", Shot(player + 1, q, r, "PLAYER")), *self._hit(player, self.on[cell])]
        if self.kinds[cell] == BOSS:
            shooter.score += shooter.power
            return [Notice("shot", Shot(player + 1, q, r, "BOSS"))]
        self.asteroids[cell] -= shooter.power
        if self.asteroids[cell] > 0:
            self._put(cell, ASTEROID)
        else:
            del self.asteroids[cell]
            self._put(cell, EMPTY)
            shooter.gain(ASTEROID_XP)
        return [Notice("shot", Shot(player + 1, q, r, "ASTEROID"))]

    def _first_obstacle(self, player: Seat, target: Cell) -> Cell:
        """Where a shot at `target` ends."""
        for cell in LINES[self.ships[player].at][target]:
            if cell in self.on or self.kinds[cell] in OBSTACLES:
                return cell
        return target

    def _hit(self, player: Seat, victim: Seat) -> list[Event]:
        """In the order of section 7, Kill."""
        shooter, hit = self.ships[player], self.ships[victim]
        hit.health -= shooter.power
        shooter.gain(HIT_XP)
        if hit.health > 0:
            return []
        hit.deaths += 1
        shooter.gain(KILL_XP)
        shooter.score += KILL_SCORE
        shooter.kills += 1
        return [self._respawn(victim, player + 1)]

    # The boss (section 10).

    def _boss_turn(self) -> list[Event]:
        ships = self.ships
        pattern, cells = self._pattern()
        left = [player for player, ship in enumerate(ships) if not ship.out]
        direct = [player for player in left if RINGS[ships[player].at] in DIRECT_RINGS]
        struck = [player for player in left if ships[player].at in cells]
        self._show_boss(True, (*[ships[player].at for player in direct], *cells))
        told = BossAttack(pattern, [player + 1 for player in direct], [player + 1 for player in struck])
        events: list[Event] = [Notice("bossAttack", told)]
        for player in direct + struck:
            ships[player].health -= BOSS_POWER
            if ships[player].health <= 0:
                ships[player].deaths += 1
                events.append(self._respawn(player, None))
        return events

    def _pattern(self) -> tuple[Any, tuple[Cell, ...]]:
        """The pattern of this turn of the boss, none during a pause; moves the schedule on."""
        if self.idle < self.pause:
            self.idle += 1
            return None, ()
        pattern = PATTERNS[self.step_of_boss]
        self.step_of_boss = (self.step_of_boss + 1) % len(PATTERNS)
        if self._between_patterns():
            self.idle, self.pause = 0, self.dice.choice(PAUSES)
        return pattern

    def _between_patterns(self) -> bool:
        """Not in the middle of pattern 1."""
        return self.step_of_boss % 4 in (0, 3)

    def _show_boss(self, action: bool, attacked: tuple[Cell, ...]) -> None:
        if action is not self.boss_action or attacked is not self.attacked:
            self.boss_action, self.attacked, self._bossed = action, attacked, None

    # Death and respawn (section 11).

    def _respawn(self, player: Seat, by: int | None) -> Notice:
        ship = self.ships[player]
        ship.health, ship.trap = ship.max_health, 0
        self._go(player, self._spawn(player))
        return Notice("died", Died(player + 1, by, *CELLS[ship.at]))

    def _spawn(self, player: Seat) -> Cell:
        """The start tile, or else the tile above, the one below, the nearest empty cell; where it died, if there is
        none (assumed: the document has no such case). The search walks over everything (assumed)."""
        start = STARTS[player]
        if self.on.get(start, player) == player:
            return start
        for cell in BESIDE_STARTS[player]:
            if self._is_free(player, cell, (EMPTY, *ITEMS)):
                return cell
        reached = [start]
        for cell in reached:
            for beside in NEIGHBOURS[cell]:
                if beside != NOWHERE and beside not in reached:
                    if self._is_free(player, beside, (EMPTY,)):
                        return beside
                    reached.append(beside)
        return self.ships[player].at

    def _is_free(self, player: Seat, cell: Cell, kinds: Sequence[int]) -> bool:
        """Nobody else stands there, and it is of one of the `kinds`."""
        return self.on.get(cell, player) == player and self.kinds[cell] in kinds

    # What is refused: checks 6 to 10 (section 5).

    def _move_refusal(self, player: Seat, target: Cell) -> str | None:
        here = self.ships[player].at
        if target not in NEIGHBOURS[here]:
            return f"move_not_adjacent: {_place(target)} is not next to {_place(here)}; a move is one step"
        there = f"move_onto_full_or_player: on {_place(target)}"
        if target in self.on:
            return f"{there} stands player {self.on[target] + 1}"
        kind = self.kinds[target]
        if kind in (ASTEROID, BOSS):
            return f"{there} is {_NOUNS[kind]}"
        if kind == WORMHOLE:
            out = self._exit(here, target)
            if out == NOWHERE or not self._is_free(player, out, (EMPTY,)):
                blocked = "off the board" if out == NOWHERE else f"{_place(out)}, which is not free"
                return f"{there} is a wormhole whose exit is {blocked}"
        return None

    def _attack_refusal(self, player: Seat, target: Cell) -> str | None:
        """A shot that would end at a black hole or a wormhole is refused too: all it does is cost (section 7)."""
        here = self.ships[player].at
        if target == here:
            return "self_attack: you cannot attack your own tile"
        if target not in LINES[here]:
            (q, r), (to_q, to_r) = CELLS[here], CELLS[target]
            away = length(to_q - q, to_r - r)
            return f"out_of_range: {_place(target)} is {away} away from {_place(here)}; an attack goes {ATTACK_RANGE}"
        if target not in self.on and self.kinds[target] not in (ASTEROID, BOSS):
            return f"not_attackable: on {_place(target)} is {_NOUNS[self.kinds[target]]}, and no player"
        hit = self._first_obstacle(player, target)
        if hit not in self.on and self.kinds[hit] in (BLACKHOLE, WORMHOLE):
            return f"not_attackable: the shot at {_place(target)} ends at {_NOUNS[self.kinds[hit]]} on {_place(hit)}"
        return None

    # What is shown (section 13.1).

    def game_state(self) -> GameState:
        """The same object until the next step."""
        if self._state is None:
            players = [self._player(player) for player in range(SEATS)]
            boss, rows = self._bossed = self._bossed or self._boss()
            one, two, three, four = [
                None if ship.out else player for ship, player in zip(self.ships, players, strict=True)
            ]
            board = ScoreBoard([players[player] for player in self._ranking()])
            self._state = GameState(Map(SIZE, rows), one, two, three, four, boss, board)
        return self._state

    def _player(self, player: Seat) -> Player:
        ship = self.ships[player]
        q, r = CELLS[ship.at]
        return Player(
            type="PLAYER",
            r=r,
            q=q,
            playerIdx=player + 1,
            name=self.setup.names[player],
            health=ship.health,
            power=ship.power,
            level=ship.level,
            kills=ship.kills,
            deaths=ship.deaths,
            score=ship.score,
            trapped=ship.trap > 0,
            trapDuration=ship.trap,
            kd=ship.kd,
        )

    def _boss(self) -> tuple[Boss, tuple[tuple[Tile, ...], ...]]:
        """The boss, and the rows with its tiles filled in."""
        attacked = tuple([self._attacked_tile(cell) for cell in self.attacked])
        entity = Entity("BOSS", bossAction=self.boss_action, bossAttackedTiles=attacked)
        rows = self.rows
        for cell in BOSS_CELLS:
            rows = _with_tile(rows, cell, Tile(*CELLS[cell], entity, "FULL"))
        return Boss("BOSS", self.boss_action, attacked), rows

    def _attacked_tile(self, cell: Cell) -> AttackedTile:
        q, r = CELLS[cell]
        tile = self.rows[r + RADIUS][cell - BOARD.row_starts[r + RADIUS]]
        entity = tile.entity
        return AttackedTile(q, r, Terrain(entity.type, entity.id, entity.health), tile.tileType)

    def _put(self, cell: Cell, kind: int) -> None:
        """A cell of that kind, an asteroid with the health that it has now."""
        self.kinds[cell] = kind
        entity = Entity("ASTEROID", health=self.asteroids[cell]) if kind == ASTEROID else _ENTITIES[kind]
        self.rows = _with_tile(self.rows, cell, Tile(*CELLS[cell], entity, TILE_TYPES[kind]))
        self._bossed = None


# Small parts.

_NOUNS = ("nothing", "a black hole", "a wormhole", "health", "experience", "an asteroid", "the boss")


def _place(cell: Cell) -> str:
    q, r = CELLS[cell]
    return f"({q},{r})"


def _penalty(ship: _Ship) -> int:
    return ship.health // PENALTY_DIVISOR


def _answers_still(fault: Fault) -> bool:
    """The bot has said something, even if it is an error (assumed: as good as no action; the document has no such
    answers). Every other fault is as bad as a timeout."""
    return fault.kind in (FaultKind.ILLEGAL, FaultKind.ERROR)


def _text_of(answer: Any) -> Any:
    """The member `action`; None if there is none, and for what is no object (assumed: as good as no action)."""
    if isinstance(answer, Action):
        return answer.action
    return answer.get("action") if isinstance(answer, dict) else None


def _with_tile(rows: tuple[tuple[Tile, ...], ...], cell: Cell, tile: Tile) -> tuple[tuple[Tile, ...], ...]:
    number = tile.r + RADIUS
    row, column = rows[number], cell - BOARD.row_starts[number]
    return (*rows[:number], (*row[:column], tile, *row[column + 1 :]), *rows[number + 1 :])


def from_view(view: GameState, player: Seat, options: Options, seed: int = 0) -> AIBG5:
    """The position that `player` was shown when it was asked, so that it can look ahead with the engine.

    What a view does not hold is assumed: no experience points, no round over, and a boss that begins its schedule.
    """
    shown = {shown.playerIdx - 1: shown for shown in view.scoreBoard.players}
    position = AIBG5(Setup(seed, tuple([shown[seat].name for seat in range(SEATS)]), options))
    position.rows = tuple([tuple(row) for row in view.map.tiles])
    tiles = [tile for row in position.rows for tile in row]
    position.kinds = bytearray([KINDS.index(tile.entity.type) for tile in tiles])
    position.asteroids = {
        cell: tile.entity.health for cell, tile in enumerate(tiles) if isinstance(tile.entity.health, int)
    }
    for seat, seen in shown.items():
        out = (view.player1, view.player2, view.player3, view.player4)[seat] is None
        numbers = seen.health, seen.level, 0, seen.kills, seen.deaths, seen.score, seen.trapDuration
        position.ships[seat] = _Ship(INDEX[seen.q, seen.r], *numbers, out)
    position.on = {ship.at: seat for seat, ship in enumerate(position.ships) if not ship.out}
    position.boss_action = view.boss.bossAction
    position.attacked = tuple([INDEX[tile.q, tile.r] for tile in view.boss.bossAttackedTiles])
    position.awaited = _TURN[player]
    return position


GAME = Game(
    name="aibg5",
    title="AIBG 5",
    seats=range(SEATS, SEATS + 1),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=3.0, match_s=180.0),
    new=AIBG5,
    trial="rounds=200",
)
