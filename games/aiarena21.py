"""AI Arena 21: two players collect fruit on a grid, buy power-ups and bid for cells. Rules: aiarena21.md.

Seat 0 is `Team 1`, the first bot on the command line. A cell is (row, col) on the wire, row 0 at the top. Inside, it
is one number, row * cols + col.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta, Struct

from games.api import Event, Fault, FaultKind, Game, Method, Notice, Result, Ruling, Setup, State, TimeControl
from games.api import Player as Seat
from games.dice import Dice
from games.words import said

# Sections 2 to 7: the document's own names and numbers.
FREE_CHAR, BLOCK_CHAR, SPAWN_CHAR = ".", "#", "S"
ONION, STRAWBERRY, DRAGON_FRUIT = 2, 10, 30
START_SCORE = 100
DEPLOYMENT_TURNS = 20
BIKE, PORTAL_GUN = "bike", "portal gun"
BIKE_COST, BIKE_TURNS, BIKE_STEPS = 30, 3, 3
PORTAL_GUN_COST, PORTAL_GUN_TURNS = 100, 1
AUCTION_TURNS = 30
AUCTIONS_A_TURN = 10
OPENING_TURNS = 3
HEAT_REACH = 9

DEFAULT_MAP = """\
............................................###...........#...
............................................#.............#...
.....................#...#.................#..............#...
.................#####...##........##.######..................
..................#......##........##.......#.................
###...............#.......#........##.......#.................
#.................#.......#........##.....#.#.................
..................#.......#........#.######...................
..#####...............#............#...#...................###
..#...................#....#...........#...................#..
....S.................######......######.................S....
..#...................#...........#....#...................#..
###...................#...#............#...............#####..
...................######.#........#.......#..................
.................#.#.....##........#.......#.................#
.................#.......##........#.......#...............###
.................#.......##........##......#..................
..................######.##........##...#####.................
...#..............#.................#...#.....................
...#.............#............................................
...#...........###............................................
"""
"""The map `1.txt`, so that a match needs no file."""

# The wire (section 9).
Row = Annotated[int, Meta(ge=0, title="row")]
Col = Annotated[int, Meta(ge=0, title="col")]
Location = Annotated[tuple[Row, Col], Meta(description="[row, col]: row 0 at the top, column 0 at the left")]
Item = Literal["Onion", "Strawberry", "DragonFruit"]
PowerUp = Literal["", "bike", "portal gun"]


class Map(Struct, frozen=True):
    """The grid."""

    rows: Annotated[int, Meta(ge=1, description="how many")]
    cols: Annotated[int, Meta(ge=1, description="how many")]
    cells: Annotated[Sequence[str], Meta(description="one text a row: . free, # blocked, S spawn (free too)")]


class Player(Struct, frozen=True):
    """What is known of a player: everything but its bids."""

    name: Annotated[str, Meta(description="as on the command line")]
    score: Annotated[int, Meta(ge=0, description="points")]
    location: Location
    bike: Annotated[bool, Meta(description="a bike is running in this turn")]
    portal_gun: Annotated[bool, Meta(description="a portal gun was bought in this turn")]


class Situation(Struct, frozen=True):
    """What every function shows. Lists are rows × cols, row first."""

    game_map: Map
    me: Player
    opponent: Player
    items: Annotated[Sequence[Sequence[int]], Meta(description="the points that lie on each cell")]
    new_items: Annotated[
        Sequence[Sequence[Sequence[Item]]], Meta(description="what was put down at the start of this very turn")
    ]
    heatmap: Annotated[Sequence[Sequence[float]], Meta(description="how near the fruit of the next deployment is")]
    remaining_turns: Annotated[int, Meta(description="this turn included: 1 in the last")]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of AI Arena 21."""

    map: Annotated[str, Meta(description="the content of a map file; empty: the map 1.txt")] = ""
    turns: Annotated[int, Meta(ge=1, description="the length of the game")] = 100


# What the viewers are told; no bot hears of it.


class Spawned(Struct, frozen=True):
    """Where the players start, by seat."""

    locations: Annotated[tuple[Location, Location], Meta(description="by seat")]


class Pile(Struct, frozen=True):
    """Fruit on a cell."""

    location: Location
    items: Annotated[Sequence[Item], Meta(description="what lies there")]


class Deployed(Struct, frozen=True):
    """A batch was put down. Piles in row-major order."""

    turn: Annotated[int, Meta(ge=0, description="the first is 0")]
    piles: Annotated[Sequence[Pile], Meta(description="row by row")]


class Purchase(Struct, frozen=True):
    """A player asked for a power-up; not `bought`: it has not the points, and nothing was charged."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    power_up: Annotated[PowerUp, Meta(description="what it asked for")]
    bought: Annotated[bool, Meta(description="it had the points")]
    score: Annotated[int, Meta(ge=0, description="its points afterwards")]


class Moved(Struct, frozen=True):
    """Where the players stand after their moves and how they got there, by seat."""

    locations: Annotated[tuple[Location, Location], Meta(description="by seat")]
    deltas: Annotated[
        tuple[tuple[int, int], tuple[int, int]], Meta(description="[rows, cols] that each has moved by, by seat")
    ]


class Auction(Struct, frozen=True):
    """Both have bid. No winner: a tie, and nobody pays."""

    cause: Annotated[Literal["meeting", "clock"], Meta(description="they met, or 30 turns have passed")]
    bids: Annotated[tuple[int, int], Meta(description="by seat; an answer that is no bid is 0")]
    winner: Annotated[int | None, Meta(description="a seat; null: a tie")]
    price: Annotated[int, Meta(ge=0, description="points that the winner pays")]


class Teleported(Struct, frozen=True):
    """An auction put a player elsewhere; not `chosen` by the winner: at random."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    location: Location
    chosen: Annotated[bool, Meta(description="by the winner; else at random")]


class PickedUp(Struct, frozen=True):
    """A player collected what lay on its cell."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    location: Location
    items: Annotated[Sequence[Item], Meta(description="what lay there")]
    score: Annotated[int, Meta(ge=0, description="its points afterwards")]


class TurnEnded(Struct, frozen=True):
    """The turn with this index is over; pairs by seat."""

    turn: Annotated[int, Meta(ge=0, description="the first is 0")]
    locations: Annotated[tuple[Location, Location], Meta(description="by seat")]
    scores: Annotated[tuple[int, int], Meta(description="by seat")]


class FaultCount(Struct, frozen=True):
    """How often a player was at fault in that way."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    kind: FaultKind
    count: Annotated[int, Meta(ge=1, description="how often")]


class GameEnded(Struct, frozen=True):
    """No winner: a draw. Faults by seat, then in the order of their first time."""

    winner: Annotated[int | None, Meta(description="a seat; null: a draw")]
    scores: Annotated[tuple[int, int], Meta(description="by seat")]
    faults: Annotated[Sequence[FaultCount], Meta(description="by seat, then as they first came")]


SHARED = ("game_map", "items", "new_items", "heatmap")
PLAY_POWERUP = Method(
    "play_powerup",
    Situation,
    PowerUp,
    "Buy a power-up: `bike` (30 points, 3 turns, 3 steps a turn), `portal gun` (100 points, 1 turn, any free cell) or "
    "nothing. Player 1 sees what player 0 has bought.",
    accepts=Any,
    shared=SHARED,
    rules="aiarena21.md, 5",
)
PLAY_TURN = Method(
    "play_turn",
    Situation,
    str,
    'Where to go: "row,col" in digits, nothing else. Staying is allowed.',
    accepts=Any,
    shared=SHARED,
    rules="aiarena21.md, 5",
)
PLAY_AUCTION = Method(
    "play_auction",
    Situation,
    int,
    "Your bid, 0 up to your score.",
    accepts=Any,
    shared=SHARED,
    rules="aiarena21.md, 6",
)
PLAY_TRANSPORT = Method(
    "play_transport",
    Situation,
    str,
    'You won the auction: the free cell for your opponent, "row,col".',
    accepts=Any,
    shared=SHARED,
    rules="aiarena21.md, 6",
)
EVENTS = (
    Method("spawned", Spawned, None, "Where the players start.", viewers=True),
    Method("deployed", Deployed, None, "Fruit was put down.", viewers=True),
    Method("purchase", Purchase, None, "A power-up was bought, or was too dear.", viewers=True),
    Method("moved", Moved, None, "Both players have moved.", viewers=True),
    Method("auction", Auction, None, "Both players have bid.", viewers=True),
    Method("teleported", Teleported, None, "An auction put a player elsewhere.", viewers=True),
    Method("picked_up", PickedUp, None, "A player collected fruit.", viewers=True),
    Method("turn_ended", TurnEnded, None, "A turn is over.", viewers=True),
    Method("game_ended", GameEnded, None, "The game is over.", viewers=True),
)
METHODS = {method.name: method for method in (PLAY_POWERUP, PLAY_TURN, PLAY_AUCTION, PLAY_TRANSPORT, *EVENTS)}

_POWERUP: tuple[Mapping[Seat, Method], ...] = ({0: PLAY_POWERUP}, {1: PLAY_POWERUP})
_TURN: Mapping[Seat, Method] = {0: PLAY_TURN, 1: PLAY_TURN}
_AUCTION: Mapping[Seat, Method] = {0: PLAY_AUCTION, 1: PLAY_AUCTION}
_TRANSPORT: tuple[Mapping[Seat, Method], ...] = ({0: PLAY_TRANSPORT}, {1: PLAY_TRANSPORT})
_OVER: Mapping[Seat, Method] = {}
_PENALTIES = {
    "play_powerup": "buys nothing",
    "play_turn": "stays",
    "play_auction": "bids 0",
    "play_transport": "the loser goes to a random cell",
}

Cell = int
"""row * cols + col."""
Batch = Mapping[Cell, str]
"""Fruit by cell, in row-major order: the letters of what lies there, O, S and D (section 3)."""

POWER_UPS: tuple[PowerUp, ...] = ("", "bike", "portal gun")
NAMES: Mapping[str, Item] = {"O": "Onion", "S": "Strawberry", "D": "DragonFruit"}
POINTS = {"O": ONION, "S": STRAWBERRY, "D": DRAGON_FRUIT}
GAPS = {"O": 0.0675, "S": 0.2672, "D": 0.4883}  # section 8: how far a cell's number must be above its neighbours'

_FORMAT = re.compile(r"[0-9]+,[0-9]+")
_BID = re.compile(r"\s*([+-]?)([0-9]+)\s*")
_LONGEST_NUMBER = 18  # digits without leading zeros; more than any row or score has
_encode = msgspec.json.Encoder().encode


# The map (section 2).


class Ground:
    """A map and what follows from it. Never changed, so that all positions share it. Made by `load`."""

    def __init__(self, cells: Sequence[str], warnings: Sequence[str] = ()) -> None:
        self.warnings = tuple(warnings)
        """One line each, about a map that is played all the same."""
        self.rows, self.cols = len(cells), len(cells[0])
        self.map = Map(self.rows, self.cols, tuple(cells))
        text = "".join(cells)
        self.is_free = [sign != BLOCK_CHAR for sign in text]
        self.free = tuple([cell for cell, free in enumerate(self.is_free) if free])
        """In row-major order, as are the spawns."""
        self.spawns = tuple([cell for cell, sign in enumerate(text) if sign == SPAWN_CHAR])
        self.location = [divmod(cell, self.cols) for cell in range(len(text))]
        self.neighbours = [self._neighbours(cell) for cell in range(len(text))]
        """The free cells beside each."""
        self.bare = Fruit(((("",) * self.cols),) * self.rows, ((0,) * self.cols,) * self.rows)
        self.no_items: Sequence[Sequence[Sequence[Item]]] = ((((),) * self.cols),) * self.rows
        self.cold: Sequence[Sequence[float]] = ((0.0,) * self.cols,) * self.rows
        # The heat field has a margin as wide as heat reaches, so that no sum needs to look for the edge.
        self.stride = self.cols + 2 * HEAT_REACH
        self.field_size = self.stride * (self.rows + 2 * HEAT_REACH)
        self.rings = [self._ring(distance) for distance in range(HEAT_REACH + 1)]
        """Per distance: what to add to an index of the field to get to the cells so far away."""

    def distance(self, a: Cell, b: Cell) -> int:
        """Manhattan distance (section 1)."""
        (row, col), (to_row, to_col) = self.location[a], self.location[b]
        return abs(row - to_row) + abs(col - to_col)

    def within(self, start: Cell, steps: int) -> list[Cell]:
        """The cells that a path of at most so many steps leads to, in row-major order; `start` is one."""
        reached, edge = {start}, [start]
        for _ in range(steps):
            edge = sorted({beside for cell in edge for beside in self.neighbours[cell]} - reached)
            reached.update(edge)
        return sorted(reached)

    def reach(self, start: Cell, bike: bool, portal_gun: bool) -> Sequence[Cell]:
        """Where a move may go (section 5), in row-major order."""
        return self.free if portal_gun else self.within(start, BIKE_STEPS if bike else 1)

    def field_index(self, cell: Cell) -> int:
        row, col = self.location[cell]
        return (row + HEAT_REACH) * self.stride + HEAT_REACH + col

    def _neighbours(self, cell: Cell) -> tuple[Cell, ...]:
        row, col = self.location[cell]
        beside = ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col))
        cells = [r * self.cols + c for r, c in beside if 0 <= r < self.rows and 0 <= c < self.cols]
        return tuple([cell for cell in cells if self.is_free[cell]])

    def _ring(self, distance: int) -> list[int]:
        return [
            row * self.stride + col
            for row in range(-distance, distance + 1)
            for col in sorted({distance - abs(row), abs(row) - distance})
        ]


@lru_cache(maxsize=16)
def load(text: str) -> Ground:
    """The map in `text`, the content of a map file. ValueError, one line with the number of the map's line, if it is
    none. A line's surplus is cut off unseen."""
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ValueError("the map has no rows; wanted lines of '.', '#' and 'S'")
    cols, cells, warnings = len(lines[0]), [], []
    for number, line in enumerate(lines, 1):
        if not line:
            raise ValueError(f"map line {number} is empty; wanted {cols or 'some'} of '.', '#' and 'S'")
        if len(line) < cols:
            raise ValueError(f"map line {number} has {len(line)} cells; wanted {cols}, as in line 1")
        if len(line) > cols:
            warnings.append(f"map line {number} has {len(line)} cells; cut to {cols}, as in line 1")
        row = line[:cols].replace("s", SPAWN_CHAR)
        if stray := re.search(r"[^.#S]", row):
            raise ValueError(
                f"map line {number} has {stray[0]!r} in column {stray.start() + 1}; wanted '.', '#' or 'S'"
            )
        cells.append(row)
    free = sum(len(row) - row.count(BLOCK_CHAR) for row in cells)
    if free < 2:
        raise ValueError(f"the map has {free} free cells in lines 1 to {len(cells)}; wanted 2 at least")
    return Ground(cells, warnings)


def ground_of(options: Options) -> Ground:
    """The map that the options name. ValueError as in `load`."""
    return load(options.map or DEFAULT_MAP)


# Fruit and heat (sections 3 and 7).


class Fruit:
    """What lies on the board. Never changed, so that copies share it."""

    __slots__ = ("_key", "piles", "points")

    def __init__(self, piles: tuple[tuple[str, ...], ...], points: tuple[tuple[int, ...], ...]) -> None:
        self.piles = piles
        """Letters, rows × cols, each cell's in the order of deployment."""
        self.points = points
        self._key: bytes | None = None

    def key(self) -> bytes:
        if self._key is None:
            self._key = _encode(self.piles)
        return self._key

    def with_batch(self, batch: Batch) -> "Fruit":
        """The batch put on top."""
        cols = len(self.piles[0])
        piles = [list(row) for row in self.piles]
        for cell, letters in batch.items():
            piles[cell // cols][cell % cols] += letters
        return Fruit(tuple(map(tuple, piles)), tuple([tuple(map(points_of, row)) for row in piles]))

    def without(self, row: int, col: int) -> "Fruit":
        """That cell emptied."""
        piles, points = self.piles[row], self.points[row]
        return Fruit(
            (*self.piles[:row], (*piles[:col], "", *piles[col + 1 :]), *self.piles[row + 1 :]),
            (*self.points[:row], (*points[:col], 0, *points[col + 1 :]), *self.points[row + 1 :]),
        )


@lru_cache(maxsize=1024)
def points_of(letters: str) -> int:
    """What a pile is worth."""
    return sum([POINTS[letter] for letter in letters])


@lru_cache(maxsize=1024)
def names_of(letters: str) -> tuple[Item, ...]:
    """A pile as the wire has it."""
    return tuple([NAMES[letter] for letter in letters])


def heat_distance(turn: int) -> int:
    """How far the heat of the incoming batch reaches on that turn: 9 9 8 8 … 0 0."""
    return (DEPLOYMENT_TURNS - 1 - turn % DEPLOYMENT_TURNS) // 2


def heatmap(ground: Ground, incoming: Batch, distance: int) -> tuple[tuple[float, ...], ...]:
    """Rows × cols, 2 decimals; blocked cells have 0. Added up from cell to cell of the batch, in row-major order: any
    other order would round some figures differently."""
    field = [0.0] * ground.field_size
    for cell, letters in incoming.items():
        points, middle = points_of(letters), ground.field_index(cell)
        for away, ring in enumerate(ground.rings[: distance + 1]):
            heat = points / (away + 1) ** 3
            for offset in ring:
                field[middle + offset] += heat
    rows = []
    for row in range(ground.rows):
        start = ground.field_index(row * ground.cols)
        heats = field[start : start + ground.cols]
        open_cells = ground.is_free[row * ground.cols : (row + 1) * ground.cols]
        rows.append(
            tuple([round(heat, 2) if free and heat else 0.0 for heat, free in zip(heats, open_cells, strict=True)])
        )
    return tuple(rows)


# Luck (section 8).


class Dealer:
    """All luck of a match. A test gives `AIArena21` one of its own, with the outcomes that it wants."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice

    def coin(self) -> bool:
        """True: heads, the spawns are swapped."""
        return self.dice.below(2) == 1

    def cell(self, cells: Sequence[Cell]) -> Cell:
        """One of `cells`: a spawn or the end of a teleport."""
        return self.dice.choice(cells)

    def batch(self, ground: Ground) -> Batch:
        """Onions, strawberries and dragon fruit, each on the cells whose number in a field of random numbers, one cell
        wider than the map all round, is far enough above the four beside it."""
        width = ground.cols + 2
        indexes = [(row + 1) * width + col + 1 for row, col in map(ground.location.__getitem__, ground.free)]
        piles: dict[Cell, str] = {}
        for letter, gap in GAPS.items():
            field = [(self.dice.bits() >> 11) * 2.0**-53 for _ in range(width * (ground.rows + 2))]
            for cell, i in zip(ground.free, indexes, strict=True):
                rest = field[i] - gap
                if rest >= 0 and rest >= max(field[i - width], field[i - 1], field[i + 1], field[i + width]):
                    piles[cell] = piles.get(cell, "") + letter
        return dict(sorted(piles.items()))

    def copy(self, seed: int | None = None) -> "Dealer":
        """Independent; a seed replaces the luck."""
        return Dealer(self.dice.copy() if seed is None else Dice(seed))

    def key(self) -> int:
        """All that decides what is still to be dealt."""
        return self.dice.state


# Answers (sections 5 and 6).


def legal_answers(method: Method, ground: Ground, me: Player) -> Iterator[Any]:
    """Every legal answer of a player to one of the four functions, in one form each: power-ups as in POWER_UPS, bids
    from 0 up, cells in row-major order without leading zeros."""
    if method is PLAY_POWERUP:
        yield from POWER_UPS
    elif method is PLAY_AUCTION:
        yield from range(me.score + 1)
    else:
        row, col = me.location
        at = row * ground.cols + col
        cells = ground.reach(at, me.bike, me.portal_gun) if method is PLAY_TURN else ground.free
        for cell in cells:
            row, col = ground.location[cell]
            yield f"{row},{col}"


def bid_of(answer: Any) -> int | None:
    """The whole number that a bid names: a JSON integer, or ASCII digits with a sign and blanks around; else None."""
    if type(answer) is int:
        return answer
    found = _BID.fullmatch(answer) if isinstance(answer, str) else None
    if found is None:
        return None
    sign, digits = found[1], found[2].lstrip("0")
    size = int(digits[:_LONGEST_NUMBER] or "0") if len(digits) <= _LONGEST_NUMBER else 10**_LONGEST_NUMBER
    return -size if sign == "-" else size


def cell_of(answer: Any, ground: Ground) -> Cell | str:
    """The free cell that "row,col" names; or why it names none, in words."""
    if not isinstance(answer, str) or _FORMAT.fullmatch(answer) is None:
        return f'{said(answer)} is no cell; wanted "row,col" in digits, such as "6,11"'
    row, col = [number.lstrip("0") or "0" for number in answer.split(",")]
    if max(len(row), len(col)) > _LONGEST_NUMBER or int(row) >= ground.rows or int(col) >= ground.cols:
        return f"{said(answer)} is off the map; rows are 0..{ground.rows - 1}, columns 0..{ground.cols - 1}"
    cell = int(row) * ground.cols + int(col)
    return cell if ground.is_free[cell] else f"{said(answer)} is blocked; wanted a free cell"


# The game.


class View(Struct, frozen=True):
    """Everything, for viewers. Pairs are by seat, lists rows × cols."""

    turn: int
    turns: int
    game_map: Map
    players: tuple[Player, Player]
    bike_turns: tuple[int, int]
    items: Sequence[Sequence[str]]
    """The letters O, S and D of what lies on each cell."""
    incoming: Sequence[Pile]
    """What the next deployment puts down."""
    heatmap: Sequence[Sequence[float]]
    last_auction: int


class AIArena21(State):
    """A position of a match."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dealer: Dealer | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        self.setup = setup
        self.turns: int = setup.options.turns
        self.ground = ground_of(setup.options)
        self.warnings = self.ground.warnings
        self.dealer = dealer or Dealer(Dice(setup.seed))
        self.turn = 0
        self.score = [START_SCORE, START_SCORE]
        self.spawns = self._spawns()
        self.at = list(self.spawns)
        self.bike_turns = [0, 0]
        self.portal_gun_turns = [0, 0]
        self.fruit = self.ground.bare
        self.incoming: Batch = {}
        self.deployed: Batch = {}
        """What this turn put down."""
        self.new_items = self.ground.no_items
        self.heat = self.ground.cold
        self.last_auction = 0
        self.auctions = 0
        """How many this turn has had."""
        self.bids = (0, 0)
        """Those of the last auction."""
        self.faults: tuple[dict[FaultKind, int], dict[FaultKind, int]] = ({}, {})
        self.result: Result | None = None
        self.awaited = _POWERUP[0]
        self._begin_turn()

    # The contract of every engine.

    def opening(self) -> list[Event]:
        return [Notice("spawned", Spawned(self._located(self.spawns)))]

    def params(self, player: Seat) -> Situation:
        return Situation(
            self.ground.map,
            self._player(player),
            self._player(1 - player),
            self.fruit.points,
            self.new_items,
            self.heat,
            self.turns - self.turn,
        )

    def refusal(self, player: Seat, answer: Any) -> str | None:
        """A power-up that is too dear is no fault: nothing happens (section 5)."""
        method = self.awaited[player]
        if method is PLAY_POWERUP:
            known = isinstance(answer, str) and answer in POWER_UPS
            return None if known else f'{said(answer)} is no power-up; wanted "bike", "portal gun" or ""'
        if method is PLAY_AUCTION:
            return self._bid_refusal(player, answer)
        cell = cell_of(answer, self.ground)
        if isinstance(cell, str):
            return cell
        return self._move_refusal(player, cell) if method is PLAY_TURN else None

    def step(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """No fault ends the game (section 9): it has the result that the table there gives it."""
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                self.faults[player][answer.kind] = self.faults[player].get(answer.kind, 0) + 1
                events.append(Ruling(player, answer, _PENALTIES[self.awaited[player].name]))
        method = next(iter(self.awaited.values()))
        if method is PLAY_POWERUP:
            events += self._buy(*next(iter(answers.items())))
        elif method is PLAY_TURN:
            events += self._move(answers)
        elif method is PLAY_AUCTION:
            events += self._bid(answers)
        else:
            events += self._transport(*next(iter(answers.items())))
        return events

    def stop(self, reason: str) -> list[Event]:
        """The higher score wins, as at the regular end."""
        return self._finish(reason)

    def legal(self, player: Seat) -> Iterator[Any]:
        """See `legal_answers`."""
        return legal_answers(self.awaited[player], self.ground, self._player(player))

    def view(self, player: Seat | None) -> Any:
        """A `Situation`; None: a `View`. Of the next fruit a player sees the heat only, everything else is open."""
        if player is not None:
            return self.params(player)
        return View(
            self.turn,
            self.turns,
            self.ground.map,
            (self._player(0), self._player(1)),
            (self.bike_turns[0], self.bike_turns[1]),
            self.fruit.piles,
            self._piles(self.incoming),
            self.heat,
            self.last_auction,
        )

    def copy(self, seed: int | None = None) -> Self:
        """A seed replaces what is still to be drawn; the incoming batch stays, since the heatmap shows it already."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.dealer = self.dealer.copy(seed)
        twin.score = self.score.copy()
        twin.at = self.at.copy()
        twin.bike_turns = self.bike_turns.copy()
        twin.portal_gun_turns = self.portal_gun_turns.copy()
        twin.faults = (self.faults[0].copy(), self.faults[1].copy())
        return twin

    def key(self) -> bytes:
        """JSON."""
        return self.fruit.key() + _encode(
            (
                self.turn,
                self.score,
                self.at,
                self.bike_turns,
                self.portal_gun_turns,
                self.last_auction,
                self.auctions,
                self.bids,
                [(player, method.name) for player, method in self.awaited.items()],
                self.faults,
                self.result,
                self.incoming,
                self.deployed,
                self.dealer.key(),
            )
        )

    def __str__(self) -> str:
        """The map with the players as 0 and 1, X for both on one cell; of a pile the fruit worth most: O S D."""
        rows, cols = range(self.ground.rows), range(self.ground.cols)
        lines = ["".join([self._sign(row, col) for col in cols]) for row in rows]
        for player, name in enumerate(self.setup.names):
            row, col = self.ground.location[self.at[player]]
            bike = f", bike for {self.bike_turns[player]} turns" if self.bike_turns[player] else ""
            gun = ", portal gun" if self.portal_gun_turns[player] else ""
            lines.append(f"{player} {name}: {self.score[player]} points at ({row},{col}){bike}{gun}")
        calls = " and ".join(f"{method.name} of {player}" for player, method in self.awaited.items())
        lines.append(f"turn {self.turn} of {self.turns}, " + (calls or f"over: {self.result and self.result.reason}"))
        return "\n".join(lines)

    # The start (section 3).

    def _spawns(self) -> tuple[Cell, Cell]:
        spawns = list(self.ground.spawns[:2])
        while len(spawns) < 2:
            spawns.append(self.dealer.cell([cell for cell in self.ground.free if cell not in spawns]))
        first, second = spawns
        return (second, first) if self.dealer.coin() else (first, second)

    # A turn, in the order of section 4.

    def _begin_turn(self) -> list[Event]:
        """Deployment, the heatmap; then the first player is asked for a power-up."""
        events: list[Event] = []
        self.awaited = _POWERUP[0]
        self.in_opening = self.turn < OPENING_TURNS
        self.auctions = 0
        self.deployed, self.new_items = {}, self.ground.no_items
        if self.turn % DEPLOYMENT_TURNS == 0:
            if self.turn:
                events = self._deploy()
            self.incoming = self.dealer.batch(self.ground)
        if self.turn % 2 == 0:  # the reach changes on these turns only, and the batch on some of them
            self.heat = heatmap(self.ground, self.incoming, heat_distance(self.turn))
        return events

    def _deploy(self) -> list[Event]:
        ground, self.deployed = self.ground, self.incoming
        self.fruit = self.fruit.with_batch(self.deployed)
        fresh = ground.bare.with_batch(self.deployed)
        self.new_items = tuple([tuple([names_of(letters) for letters in row]) for row in fresh.piles])
        return [Notice("deployed", Deployed(self.turn, self._piles(self.deployed)))]

    def _buy(self, player: Seat, answer: PowerUp | Fault) -> list[Event]:
        """Applies a purchase (section 5); then the other player, or the moves."""
        self.awaited = _POWERUP[1] if player == 0 else _TURN
        if isinstance(answer, Fault) or answer == "":
            return []
        cost = BIKE_COST if answer == BIKE else PORTAL_GUN_COST
        bought = self.score[player] >= cost
        if bought:
            self.score[player] -= cost
            if answer == BIKE:
                self.bike_turns[player] += BIKE_TURNS
            else:
                self.portal_gun_turns[player] += PORTAL_GUN_TURNS
        return [Notice("purchase", Purchase(player, answer, bought, self.score[player]))]

    def _move(self, answers: Mapping[Seat, Any]) -> list[Event]:
        before = list(self.at)
        for player, answer in answers.items():
            if not isinstance(answer, Fault):
                self.at[player] = self._named(answer)
        rows_cols = self._located(self.at)
        deltas = [
            (row - from_row, col - from_col)
            for (row, col), (from_row, from_col) in zip(rows_cols, self._located(before), strict=True)
        ]
        return [Notice("moved", Moved(rows_cols, (deltas[0], deltas[1]))), *self._auctions()]

    def _auctions(self) -> list[Event]:
        """Asks for bids if there is an auction to hold; else ends the turn. Called again after each auction."""
        if self._cause() is None:
            return self._end_turn()
        if self.auctions == AUCTIONS_A_TURN:
            shared = self.at[0]
            elsewhere = [cell for cell in self.ground.free if cell != shared]
            return [self._teleport(self._loser(), self.dealer.cell(elsewhere), False), *self._end_turn()]
        self.awaited = _AUCTION
        return []

    def _cause(self) -> Literal["meeting", "clock"] | None:
        if self.at[0] == self.at[1]:
            return "meeting"
        return "clock" if self.turn - self.last_auction == AUCTION_TURNS else None

    def _end_turn(self) -> list[Event]:
        """Pick-up, count-down, the next turn or the end."""
        events: list[Event] = []
        for player in (0, 1):
            events += self._pick_up(player)
        for counts in (self.bike_turns, self.portal_gun_turns):
            counts[:] = [max(0, count - 1) for count in counts]
        ended = TurnEnded(self.turn, self._located(self.at), (self.score[0], self.score[1]))
        events.append(Notice("turn_ended", ended))
        self.turn += 1
        if self.turn == self.turns:
            return events + self._finish("equal_points" if self.score[0] == self.score[1] else "points")
        return events + self._begin_turn()

    def _pick_up(self, player: Seat) -> list[Event]:
        row, col = self.ground.location[self.at[player]]
        letters = self.fruit.piles[row][col]
        if not letters:
            return []
        self.fruit = self.fruit.without(row, col)
        self.score[player] += points_of(letters)
        return [Notice("picked_up", PickedUp(player, (row, col), names_of(letters), self.score[player]))]

    def _finish(self, reason: str) -> list[Event]:
        first, second = self.score
        ranks = (1, 1) if first == second else (1, 2) if first > second else (2, 1)
        self.result = Result(ranks, (float(first), float(second)), reason)
        self.awaited = _OVER
        winner = None if first == second else ranks.index(1)
        faults = [FaultCount(player, *count) for player in (0, 1) for count in self.faults[player].items()]
        return [Notice("game_ended", GameEnded(winner, (first, second), faults))]

    # Auctions (section 6).

    def _bid(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """A tie sends both away at once; else the winner is asked for the loser's cell."""
        cause = self._cause()
        assert cause is not None
        first, second = [
            0 if isinstance(answer, Fault) else bid_of(answer) or 0 for _, answer in sorted(answers.items())
        ]
        self.bids = (first, second)
        self.auctions += 1
        self.last_auction = self.turn
        winner = self._winner()
        if winner is not None:
            self.awaited = _TRANSPORT[winner]
            return [Notice("auction", Auction(cause, self.bids, winner, self._price()))]
        events: list[Event] = [Notice("auction", Auction(cause, self.bids, None, 0))]
        for player in (0, 1):
            events.append(self._teleport(player, self.dealer.cell(self.ground.free), False))
        return events + self._auctions()

    def _transport(self, winner: Seat, answer: str | Fault) -> list[Event]:
        """The loser goes where the winner says, or anywhere; the winner pays."""
        chosen = not isinstance(answer, Fault)
        cell = self._named(answer) if isinstance(answer, str) else self.dealer.cell(self.ground.free)
        self.score[winner] -= self._price()
        return [self._teleport(1 - winner, cell, chosen), *self._auctions()]

    def _winner(self) -> Seat | None:
        """Of the last auction; None = a tie."""
        first, second = self.bids
        return None if first == second else int(second > first)

    def _loser(self) -> Seat:
        """Who goes away if ten auctions have not parted the two: player 1 after a tie."""
        winner = self._winner()
        return 1 if winner is None else 1 - winner

    def _price(self) -> int:
        return sum(self.bids) // 2

    def _teleport(self, player: Seat, cell: Cell, chosen: bool) -> Notice:
        self.at[player] = cell
        return Notice("teleported", Teleported(player, self.ground.location[cell], chosen))

    # What is refused.

    def _bid_refusal(self, player: Seat, answer: Any) -> str | None:
        bid = bid_of(answer)
        if bid is None:
            return f"{said(answer)} is no bid; wanted a whole number, 0..{self.score[player]}"
        if 0 <= bid <= self.score[player]:
            return None
        return f"the bid is {said(answer)}; wanted 0..{self.score[player]}, your score"

    def _move_refusal(self, player: Seat, target: Cell) -> str | None:
        """Judged in the order of section 5; `target` is a free cell."""
        ground, at = self.ground, self.at[player]
        distance = ground.distance(at, target)
        if distance <= 1 or self.portal_gun_turns[player]:
            return None
        bike = self.bike_turns[player] > 0
        if bike and distance <= BIKE_STEPS and target in ground.within(at, BIKE_STEPS):
            return None
        (row, col), (to_row, to_col) = ground.location[at], ground.location[target]
        there = f"({to_row},{to_col}) is {distance} away from ({row},{col})"
        if not bike:
            return f"{there}; without a power-up a move goes 1 far"
        if distance > BIKE_STEPS:
            return f"{there}; a bike goes {BIKE_STEPS} far"
        return f"{there}, but no path of {BIKE_STEPS} steps through free cells leads there"

    # Small parts.

    def _named(self, answer: str) -> Cell:
        """The cell of an answer that is legal."""
        row, _, col = answer.partition(",")
        return int(row.lstrip("0") or "0") * self.ground.cols + int(col.lstrip("0") or "0")

    def _player(self, player: Seat) -> Player:
        return Player(
            self.setup.names[player],
            self.score[player],
            self.ground.location[self.at[player]],
            self.bike_turns[player] > 0,
            self.portal_gun_turns[player] > 0,
        )

    def _located(self, cells: Sequence[Cell]) -> tuple[tuple[int, int], tuple[int, int]]:
        return self.ground.location[cells[0]], self.ground.location[cells[1]]

    def _piles(self, batch: Batch) -> list[Pile]:
        return [Pile(self.ground.location[cell], names_of(letters)) for cell, letters in batch.items()]

    def _sign(self, row: int, col: int) -> str:
        cell = row * self.ground.cols + col
        here = [str(player) for player in (0, 1) if self.at[player] == cell]
        if here:
            return here[0] if len(here) == 1 else "X"
        if not self.ground.is_free[cell]:
            return BLOCK_CHAR
        return max(self.fruit.piles[row][col], key=POINTS.__getitem__, default=FREE_CHAR)


GAME = Game(
    name="aiarena21",
    title="AI Arena 21",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=2.0, opening_call_s=30.0),
    new=AIArena21,
)
