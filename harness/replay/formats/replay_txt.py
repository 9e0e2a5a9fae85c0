"""AI Arena 21's own `replay.txt`: its lines, a reader and a writer. Source: aiarena21.md, section 10.

The reader accepts what the original writes and what we write. Each position is the one at the end of its turn: after
auctions and pick-ups, with the heat that applied during the turn.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.aiarena21 import (
    METHODS,
    START_SCORE,
    AIArena21,
    Auction,
    Map,
    Moved,
    PickedUp,
    Player,
    PowerUp,
    Purchase,
    TurnEnded,
)
from referee.games.aiarena21.board import Fruit, drawn
from referee.games.contract import Event, Notice, State
from referee.harness.replay.lines import Opening, Step
from referee.harness.replay.simulate import Difference
from referee.protocol.errors import UNDECODABLE

FIRST_BYTES = b"[Replay]"
"""The beginning of every line. The original writes no blank after it, its document shows one."""
CONTENTS = "positions, heat, fruit, scores and auctions as recorded; no calls, times or rulings, so nothing is verified"
_LETTERS = frozenset("OSD")

Count = Annotated[int, Meta(ge=0)]
Cell = tuple[Count, Count]
"""(row, col)."""


# The lines. The original's viewer needs every member that is not optional here and ignores `powerups`, which is ours.


class Init(Struct, frozen=True, tag="init"):
    """The first line. Pairs are by seat."""

    grid: Sequence[Sequence[str]]
    """Rows × cols texts of one character."""
    scores: tuple[int, int]
    teams: tuple[str, str]
    spawn: tuple[Cell, Cell]
    total_rounds: Annotated[int, Meta(ge=1)]


class Position(Struct, frozen=True):
    """A player after its move and before any auction."""

    new_pos: Cell
    delta: tuple[int, int]


class Tick(Struct, frozen=True, tag="tick"):
    """A turn. Pairs are by seat, lists rows × cols."""

    heatmap: Sequence[Sequence[float]]
    positions: tuple[Position, Position]
    items: Sequence[Sequence[Sequence[str]]]
    """The items on each cell after the pick-ups, as the letters O, S and D."""
    bike: tuple[bool, bool]
    """Whether it still runs after the count-down."""
    teleport: tuple[bool, bool]
    """Never true: the viewer stops at such a line."""
    scores: tuple[int, int]
    remaining_rounds: int
    """This turn included."""
    powerups: tuple[PowerUp, PowerUp] | UnsetType = UNSET
    """The purchases of this turn. The original has no such member."""
    wagers: tuple[int, int] | UnsetType = UNSET
    """The bids of the turn's last auction."""
    wager_positions: tuple[Cell, Cell] | UnsetType = UNSET
    """The players' cells after the turn's auctions."""


class Finish(Struct, frozen=True, tag="finish"):
    """The last line, which the original writes twice."""


# The reader.


class Seen(Struct, frozen=True):
    """The members of the game's `View` that such a file holds."""

    turn: int
    turns: int
    game_map: Map
    players: tuple[Player, Player]
    items: Sequence[Sequence[str]]
    """The items on each cell, as the letters O, S and D."""
    heatmap: Sequence[Sequence[float]]
    """Empty before the first turn: the first line has none."""
    spawns: tuple[Cell, Cell]


class AuctionResult(Struct, frozen=True):
    """The bids of a turn's last auction, and the players' cells after its auctions; by seat."""

    bids: tuple[int, int]
    locations: tuple[Cell, Cell]


class Purchases(Struct, frozen=True):
    """By seat; empty = nothing."""

    power_ups: tuple[PowerUp, PowerUp]


SeenEvent = tuple[str, Any]
"""The name and the members of an event in a file."""


class Reader:
    """Reads the positions of a file in order, also while it is still written."""

    view: Seen
    """The position that was read last, with those members of the game's `view(None)` that the file holds."""

    def __init__(self, line: bytes) -> None:
        """Reads the first line. ValueError if it is wrong."""
        init: Init = _decode(line, Init)
        if not init.grid or not init.grid[0]:
            raise ValueError("grid: there is no cell in it")
        if any(len(sign) != 1 for row in init.grid for sign in row):
            raise ValueError("grid: expected texts of one character")
        self._map = Map(len(init.grid), len(init.grid[0]), tuple(map("".join, init.grid)))
        self._check_size("grid", init.grid)
        self._check_cells("spawn", init.spawn)
        self._spawn = init.spawn
        self.names: tuple[str, ...] = init.teams
        self.total = init.total_rounds
        """The number of turns that the match was to have."""
        self.turns = 0
        """The number of turns that were read."""
        self._number = 1
        self._over = False
        nothing = (("",) * self._map.cols,) * self._map.rows
        self._see(init.scores, init.spawn, (False, False), (False, False), nothing, ())

    def take(self, line: bytes) -> Sequence[SeenEvent] | None:
        """Reads the next line and returns its events; None = it ends the file. Raises Difference."""
        self._number += 1
        try:
            return self._read(line)
        except ValueError as error:
            raise Difference(self._number, str(error)) from error

    def conclude(self, rest: Sequence[bytes]) -> None:
        """Checks the lines from the one that ends the file on. Raises Difference."""
        if not rest:
            raise Difference(self._number + 1, "missing: the file has no end")
        for line in rest[1:]:
            if line.strip():
                self.take(line)

    def _read(self, line: bytes) -> Sequence[SeenEvent] | None:
        tick: Tick | Finish = _decode(line, Tick | Finish)
        if isinstance(tick, Finish):
            self._over = True
            return None
        if self._over:
            raise ValueError("there are turns after the end")
        self._check_size("heatmap", tick.heatmap)
        self._check_size("items", tick.items)
        for letter in {letter for row in tick.items for cell in row for letter in cell} - _LETTERS:
            raise ValueError(f"items: expected O, S and D, found {letter!r}")
        remaining = self.total - self.turns
        if tick.remaining_rounds != remaining:
            raise ValueError(f"remaining_rounds: expected {remaining}, found {tick.remaining_rounds}")
        first, second = tick.positions
        locations = first.new_pos, second.new_pos
        self._check_cells("positions", locations)
        notices: list[SeenEvent] = [("moved", Moved(locations, (first.delta, second.delta)))]
        if isinstance(tick.powerups, tuple) and any(tick.powerups):
            notices.insert(0, ("bought", Purchases(tick.powerups)))
        if isinstance(tick.wagers, tuple):
            if not isinstance(tick.wager_positions, tuple):
                raise ValueError("there are wagers, and no wager_positions")
            locations = tick.wager_positions
            self._check_cells("wager_positions", locations)
            notices.append(("auction", AuctionResult(tick.wagers, locations)))
        self.turns += 1
        items = tuple([tuple(map("".join, row)) for row in tick.items])
        self._see(tick.scores, locations, tick.bike, tick.teleport, items, tick.heatmap)
        return notices

    @property
    def drawing(self) -> Sequence[str]:
        """The same for people, line by line."""
        first, second = self.view.players
        lines = drawn(self._map.cells, (first.location, second.location), self.view.items)
        for seat, player in enumerate(self.view.players):
            at = "({},{})".format(*player.location)
            lines.append(f"{seat} {player.name}: {player.score} points at {at}{', on a bike' if player.bike else ''}")
        return lines

    def _see(
        self,
        scores: tuple[int, int],
        locations: tuple[Cell, Cell],
        bikes: tuple[bool, bool],
        guns: tuple[bool, bool],
        items: Sequence[Sequence[str]],
        heatmap: Sequence[Sequence[float]],
    ) -> None:
        first, second = map(Player, self.names, scores, locations, bikes, guns)
        turn = max(0, self.turns - 1)
        self.view = Seen(turn, self.total, self._map, (first, second), items, heatmap, self._spawn)

    def _check_size(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """Raises ValueError unless there is one item for every cell."""
        size = self._map
        if len(rows) != size.rows or any(len(row) != size.cols for row in rows):
            raise ValueError(f"{name}: expected {size.rows} rows of {size.cols}")

    def _check_cells(self, name: str, cells: Sequence[Cell]) -> None:
        for row, col in cells:
            if row >= self._map.rows or col >= self._map.cols:
                raise ValueError(f"{name}: ({row},{col}) is off the map of {self._map.rows} rows of {self._map.cols}")


def standing(line: bytes) -> tuple[int, Sequence[int]] | None:
    """Returns the turns that remain after a line, and the scores then; None = the line is not a turn."""
    try:
        tick: Tick = _decode(line, Tick)
    except ValueError:
        return None
    return tick.remaining_rounds - 1, tick.scores


def _decode(line: bytes, kind: Any) -> Any:
    """Returns the object of a line. ValueError unless it is of that type, after the first bytes of every line."""
    if not line.startswith(FIRST_BYTES):
        found = line[:20].decode("utf-8", "replace")
        raise ValueError(f"expected {FIRST_BYTES.decode()} and an object, found {found!r}")
    try:
        return msgspec.json.decode(line[len(FIRST_BYTES) :], type=kind)
    except UNDECODABLE as error:
        raise ValueError(str(error)) from error


# The writer.


def content(positions: Iterable[tuple[int, State, Step]]) -> bytes:
    """Returns the file for the positions of a replay that verifies. An unfinished turn has no line."""
    encode = msgspec.json.Encoder().encode
    return b"".join(FIRST_BYTES + b" " + encode(line) + b"\n" for line in _lines(positions))


def _lines(positions: Iterable[tuple[int, State, Step]]) -> Iterator[Init | Tick | Finish]:
    for _, state, step in positions:
        assert isinstance(state, AIArena21)
        if isinstance(step, Opening):
            first, second = [state.ground.location[cell] for cell in state.spawns]
            grid = [list(row) for row in state.ground.map.cells]
            one, two = state.setup.names
            yield Init(grid, (START_SCORE, START_SCORE), (one, two), (first, second), state.turns)
            turn = _TurnWriter(state.heat, state.fruit)
            continue
        for event in msgspec.convert(step.events, list[Event]):
            if not isinstance(event, Notice):
                continue
            params: Struct = msgspec.convert(event.params, METHODS[event.method].params)
            turn.follow(params)
            if isinstance(params, TurnEnded):
                yield turn.tick(params, state)
                turn = _TurnWriter(state.heat, state.fruit)
    yield Finish()


class _TurnWriter(Struct):
    """Collects a turn, from the heat and the fruit with which it begins."""

    heatmap: Sequence[Sequence[float]]
    fruit: Fruit
    powerups: list[PowerUp] = msgspec.field(default_factory=lambda: ["", ""])
    moved: Moved | None = None
    auction: Auction | None = None

    def follow(self, event: Struct) -> None:
        match event:
            case Purchase(bought=True):
                self.powerups[event.player] = event.power_up
            case Moved():
                self.moved = event
            case Auction():
                self.auction = event
            case PickedUp():
                self.fruit = self.fruit.without(*event.location)

    def tick(self, ended: TurnEnded, state: AIArena21) -> Tick:
        """Returns the line. `state` may already hold the next turn's fruit: only its bikes belong to this turn."""
        assert self.moved is not None
        first, second = map(Position, self.moved.locations, self.moved.deltas)
        return Tick(
            heatmap=self.heatmap,
            positions=(first, second),
            items=[[list(letters) for letters in row] for row in self.fruit.piles],
            bike=(state.bike_turns[0] > 0, state.bike_turns[1] > 0),
            teleport=(False, False),
            scores=ended.scores,
            remaining_rounds=state.turns - ended.turn,
            powerups=(self.powerups[0], self.powerups[1]),
            wagers=UNSET if self.auction is None else self.auction.bids,
            wager_positions=UNSET if self.auction is None else ended.locations,
        )
