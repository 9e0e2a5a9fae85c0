"""The units, the tiles in both frames and what is built on them: reantics.md, sections 2 to 4."""

import msgspec
from msgspec import Struct

from referee.games.contract import Player
from referee.games.reantics.types import ANTHILL, BOARD_LENGTH, FOOD, GRASS, TUNNEL, Cell, Construction

_encode = msgspec.json.Encoder().encode


class Unit(Struct, frozen=True):
    """A type of ant (section 4). The option `worker_health` replaces a worker's health."""

    name: str
    moves: int
    health: int
    attack: int
    range: int
    cost: int
    ignores_grass: bool


UNITS = (
    Unit("queen", 2, 10, 4, 1, 0, False),  # a queen cannot be built, so her cost does not matter
    Unit("worker", 2, 4, 0, 1, 1, False),
    Unit("drone", 3, 4, 2, 1, 2, True),
    Unit("soldier", 2, 8, 4, 1, 2, False),
    Unit("ranged soldier", 1, 2, 3, 3, 2, True),
)
PIECES = ("anthill", "tunnel") + ("grass",) * 9
FOOD_TILES = 2  # for each player
HILL_HEALTH, TUNNEL_HEALTH = 3, 2

# A tile is one number, 10 * x + y in the absolute frame; player two sees 99 minus that number.
# The first index of the tables below is the frame (= seat).
TILES = range(BOARD_LENGTH * BOARD_LENGTH)
NOWHERE = -1
COORDS = tuple(tuple(divmod(tile if frame == 0 else 99 - tile, BOARD_LENGTH) for tile in TILES) for frame in (0, 1))
DISTANCE = [[abs(a // 10 - b // 10) + abs(a % 10 - b % 10) for b in TILES] for a in TILES]  # Manhattan (section 2)
QUEENLESS_ROWS = (4, 5)
LIGHT = bytes([1] * 100)  # the cost of entering each tile for a unit that ignores grass


def _neighbours(frame: Player, tile: int) -> tuple[int, ...]:
    """Returns the neighbours of `tile` in the order x-1, x+1, y-1, y+1 of the frame."""
    x, y = COORDS[frame][tile]
    adjacent = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
    return tuple(tile_at(frame, x, y) for x, y in adjacent if 0 <= x < BOARD_LENGTH and 0 <= y < BOARD_LENGTH)


def tile_at(frame: Player, x: int, y: int) -> int:
    """Returns the tile at (x, y) of the frame."""
    return 99 - 10 * x - y if frame else 10 * x + y


NEIGHBOURS = tuple(tuple(_neighbours(frame, tile) for tile in TILES) for frame in (0, 1))
OWN_SIDE = tuple(tuple(tile_at(seat, x, y) for x in range(10) for y in range(4)) for seat in (0, 1))
ENEMY_SIDE = tuple(tuple(tile_at(seat, x, y) for x in range(10) for y in range(6, 10)) for seat in (0, 1))


class PlacedAnt(Struct, frozen=True, array_like=True, gc=False):
    """An ant inside the engine."""

    id: int
    tile: int
    type: int
    player: Player
    health: int
    carrying: bool
    moved: bool


class Ground:
    """The constructions and what follows from their places. Immutable, so that copies share it."""

    __slots__ = ("columns", "cost", "foods", "grass", "hills", "key", "neutral", "neutral_shown", "tunnels")

    def __init__(self, hills: tuple[int, int], tunnels: tuple[int, int], neutral: tuple[tuple[int, int], ...]) -> None:
        self.hills, self.tunnels = hills, tunnels
        """Tiles by seat; NOWHERE = not placed yet."""
        self.neutral = neutral
        """(type, tile) of grass and food, in the order of placement (section 7)."""
        self.foods = frozenset(tile for kind, tile in neutral if kind == FOOD)
        self.grass = frozenset(tile for kind, tile in neutral if kind == GRASS)
        self.cost = bytes([2 if tile in self.grass else 1 for tile in TILES])
        """The cost of entering each tile for a unit that does not ignore grass."""
        self.neutral_shown = tuple(
            tuple(Construction(COORDS[frame][tile], kind, self.cost[tile]) for kind, tile in neutral)
            for frame in (0, 1)
        )
        self.columns = tuple(
            tuple(tuple(self._cell(tile_at(frame, x, y)) for y in range(10)) for x in range(10)) for frame in (0, 1)
        )
        """`board` without ants, by frame."""
        self.key = _encode((hills, tunnels, neutral))

    def kind(self, tile: int) -> int | None:
        """Returns the type of the construction on `tile`; None = there is none."""
        if tile in self.hills:
            return ANTHILL
        if tile in self.tunnels:
            return TUNNEL
        if tile in self.grass:
            return GRASS
        return FOOD if tile in self.foods else None

    def on_side(self, seat: Player) -> "Ground":
        """Returns the part of it on this player's own side."""
        side = OWN_SIDE[seat]
        nowhere = (NOWHERE, NOWHERE)
        return Ground(
            replaced(nowhere, seat, self.hills[seat]),
            replaced(nowhere, seat, self.tunnels[seat]),
            tuple((kind, tile) for kind, tile in self.neutral if tile in side),
        )

    def _cell(self, tile: int) -> Cell | None:
        kind = self.kind(tile)
        return None if kind is None else Cell(constr=kind)


def replaced(pair: tuple[int, int], seat: Player, value: int) -> tuple[int, int]:
    return (value, pair[1]) if seat == 0 else (pair[0], value)
