"""The board, its ships and its maps: aibg5.md, sections 2, 4, 10 and 13.5."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.aibg5 import types
from referee.games.contract import in_brief
from referee.games.hexgrid import HexBoard, ring

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


# The board (section 2).

Cell = int
"""By r, then q."""
Rows = tuple[tuple[types.Tile, ...], ...]

BOARD = HexBoard(types.RADIUS, types.ATTACK_RANGE)
CELLS, INDEX, NEIGHBOURS, LINES, RINGS = BOARD.cells, BOARD.index, BOARD.neighbours, BOARD.lines, BOARD.rings

EMPTY, BLACKHOLE, WORMHOLE, HEALTH, EXPERIENCE, ASTEROID, BOSS = range(7)
KINDS: tuple[types.EntityType, ...] = ("EMPTY", "BLACKHOLE", "WORMHOLE", "HEALTH", "EXPERIENCE", "ASTEROID", "BOSS")
TILE_TYPES: tuple[types.TileType, ...] = ("NORMAL", "NORMAL", "NORMAL", "NORMAL", "NORMAL", "FULL", "FULL")
ITEMS = (HEALTH, EXPERIENCE)
OBSTACLES = (ASTEROID, BOSS, BLACKHOLE, WORMHOLE)
SIGNS = ".ow+*#B"

BOSS_CELLS = tuple([cell for cell, away in enumerate(RINGS) if away in types.BOSS_RINGS])
STARTS = tuple([INDEX[tile] for tile in types.START_TILES])
BESIDE_STARTS = tuple([(INDEX[up], INDEX[down]) for up, down in zip(types.TILES_ABOVE, types.TILES_BELOW, strict=True)])
ITEM_CELLS = {
    item: tuple([cell for cell, away in enumerate(RINGS) if away in rings])
    for item, rings in ((HEALTH, types.HEALTH_RINGS), (EXPERIENCE, types.EXPERIENCE_RINGS))
}

ENTITIES = tuple([types.Entity(kind) for kind in KINDS])


class Ship(Struct, array_like=True):
    """A player. `trap` = turns that it still loses in a black hole; `out` = disqualified."""

    cell: Cell
    health: int = types.MAX_HEALTH[0]
    level: int = 1
    xp: int = 0
    kills: int = 0
    deaths: int = 0
    score: int = 0
    trap: int = 0
    out: bool = False

    @property
    def power(self) -> int:
        return types.POWER[self.level - 1]

    @property
    def max_health(self) -> int:
        return types.MAX_HEALTH[self.level - 1]

    @property
    def kd(self) -> float:
        return self.kills / (self.deaths or 1)

    @property
    def penalty(self) -> int:
        """The health that an illegal action costs (section 5)."""
        return self.health // types.PENALTY_DIVISOR

    def shown(self, player: int, name: str) -> types.Player:
        """Returns the player as sent to bots."""
        q, r = CELLS[self.cell]
        return types.Player(
            type="PLAYER",
            r=r,
            q=q,
            playerIdx=player + 1,
            name=name,
            health=self.health,
            power=self.power,
            level=self.level,
            kills=self.kills,
            deaths=self.deaths,
            score=self.score,
            trapped=self.trap > 0,
            trapDuration=self.trap,
            kd=self.kd,
        )

    def gain(self, xp: int) -> None:
        """Adds experience points and raises the level (section 4)."""
        self.xp += xp
        if self.xp >= types.LEVEL_XP and self.level < len(types.POWER):
            self.level += 1
            self.xp -= types.LEVEL_XP
            self.health = self.max_health


def pattern_1(step: int) -> tuple[Cell, ...]:
    """Returns the eight cells of step A, B or C: 0, 1 or 2 (section 10)."""
    left = [(-6 + 2 * step, -2 - 2 * step), (-5 + 2 * step, -3 - 2 * step)]
    four = left + [(-q, -r) for q, r in left]
    return tuple([INDEX[place] for place in four + [(-q - r, r) for q, r in four]])


def pattern_2(radius: int) -> tuple[Cell, ...]:
    """Returns the ring of that radius, clockwise from its top left."""
    return tuple([INDEX[place] for place in ring(radius)])


_PATTERN_1 = (("A", pattern_1(0)), ("B", pattern_1(1)), ("C", pattern_1(2)))
PATTERNS: tuple[tuple[Any, tuple[Cell, ...]], ...] = (
    *(*_PATTERN_1, ("ring 6", pattern_2(6))),
    *(*_PATTERN_1, ("ring 8", pattern_2(8))),
    *(*_PATTERN_1, ("ring 10", pattern_2(10))),
)
"""The boss's whole cycle. A pause follows every third and fourth pattern."""


# The map (section 13.5).


class MapCell(Struct, frozen=True, forbid_unknown_fields=True):
    """An element of a map file."""

    q: int
    r: int
    type: types.TileType
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
    """A map and what follows from it. Immutable, so that all positions share it. Made by `load` and `drawn`."""

    def __init__(self, kinds: bytes, ids: Mapping[Cell, int]) -> None:
        """`kinds` by cell, `ids` of the wormholes. ValueError if they are not in pairs, or a fixed tile is not free."""
        self.kinds, self.ids = kinds, ids
        self._check()
        self.partner = {
            cell: other for cell, pair in ids.items() for other in ids if ids[other] == pair and other != cell
        }
        self.asteroids = tuple([cell for cell, kind in enumerate(kinds) if kind == ASTEROID])
        rows = zip(BOARD.row_starts, (*BOARD.row_starts[1:], len(CELLS)), strict=True)
        self.rows = tuple([tuple([self._tile(cell) for cell in range(*row)]) for row in rows])
        """The tiles as sent to bots, but boss tiles without the boss's actions."""

    def _check(self) -> None:
        for cell, kind in enumerate(self.kinds):
            if (kind == BOSS) is not (cell in BOSS_CELLS):
                raise ValueError(f"the map's cell {place(cell)} is {KINDS[kind]}; the boss has rings 0 and 1, no more")
        for cell in STARTS:
            if self.kinds[cell] != EMPTY:
                raise ValueError(f"the map's start tile {place(cell)} is {KINDS[self.kinds[cell]]}; expected NONE")
        ids = list(self.ids.values())
        for cell, pair in self.ids.items():
            if ids.count(pair) != 2:
                raise ValueError(
                    f"the map's wormhole id {pair}, {place(cell)}, has {ids.count(pair)} tiles; expected 2"
                )

    def _tile(self, cell: Cell) -> types.Tile:
        kind = self.kinds[cell]
        entity = ENTITIES[kind]
        if kind == WORMHOLE:
            entity = types.Entity("WORMHOLE", id=self.ids[cell])
        elif kind == ASTEROID:
            entity = types.Entity("ASTEROID", health=types.ASTEROID_HEALTH)
        return types.Tile(*CELLS[cell], entity, TILE_TYPES[kind])


@lru_cache(maxsize=16)
def load(text: str) -> Ground:
    """Reads a map file's content. ValueError, one line with the place, if it is no map."""
    try:
        rows = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"the map is no JSON: {error}") from error
    if not isinstance(rows, list) or len(rows) != types.SIZE:
        raise ValueError(f"the map is {in_brief(rows)}; expected a list of {types.SIZE} rows")
    kinds, ids = bytearray(len(CELLS)), {}
    seen: set[Cell] = set()
    for number, row in enumerate(rows, 1):
        width = types.SIZE - abs(number - 1 - types.RADIUS)
        if not isinstance(row, list) or len(row) != width:
            raise ValueError(f"map row {number} is {in_brief(row)}; expected a list of {width} cells")
        for column, element in enumerate(row, 1):
            try:
                cell, kinds[cell], pair = _map_cell(element)
            except ValueError as error:  # msgspec.ValidationError is one too
                raise ValueError(f"map row {number} cell {column}: {error}") from error
            if cell in seen:
                raise ValueError(f"map row {number} cell {column}: {place(cell)} comes twice")
            seen.add(cell)
            if pair is not None:
                ids[cell] = pair
    return Ground(bytes(kinds), ids)


def _map_cell(element: Any) -> tuple[Cell, int, int | None]:
    """Returns the cell, its kind and a wormhole's id. ValueError if the element is no cell."""
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
    """Reads a map from a drawing such as `DEFAULT_MAP`. A pair's id is its letter's place in the alphabet."""
    signs = text.split()
    kinds = bytes([SIGNS.find(sign) if sign in SIGNS and sign != "w" else WORMHOLE for sign in signs])
    return Ground(kinds, {cell: ord(signs[cell]) - ord("a") for cell, kind in enumerate(kinds) if kind == WORMHOLE})


def ground_of(options: types.Options) -> Ground:
    """Returns the map that the options name. ValueError as in `load`."""
    return load(options.map) if options.map else drawn(DEFAULT_MAP)


NOUNS = ("nothing", "a black hole", "a wormhole", "health", "experience", "an asteroid", "the boss")


def place(cell: Cell) -> str:
    q, r = CELLS[cell]
    return f"({q},{r})"


def with_tile(rows: Rows, cell: Cell, tile: types.Tile) -> Rows:
    """Returns the rows with another tile on that cell."""
    number = tile.r + types.RADIUS
    row, column = rows[number], cell - BOARD.row_starts[number]
    return (*rows[:number], (*row[:column], tile, *row[column + 1 :]), *rows[number + 1 :])
