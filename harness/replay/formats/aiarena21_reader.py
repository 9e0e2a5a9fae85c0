"""Reads AI Arena 21's `replay.txt`, as the original wrote it and as we do: aiarena21.md, section 10.

A position is the one at the end of its turn: after auctions and pick-ups, with the heat that the turn was played by.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.aiarena21 import Map, Moved, Player, PowerUp
from referee.games.aiarena21.board import drawn
from referee.harness.replay.formats.replay_txt import Cell, Finish, Init, Tick

BEGINS = b"[Replay]"
"""The original writes no blank after it, its document shows one."""
HOLDS = "positions, heat, fruit, scores and auctions as recorded; no calls, times or rulings, so nothing is verified"
_LETTERS = frozenset("OSD")


class Seen(Struct, frozen=True):
    """The members of the game's `View` that such a file knows."""

    turn: int
    turns: int
    game_map: Map
    players: tuple[Player, Player]
    items: Sequence[Sequence[str]]
    """The letters O, S and D of what lies on each cell."""
    heatmap: Sequence[Sequence[float]]
    """Empty before the first turn: the file begins without."""
    spawns: tuple[Cell, Cell]


class Auctioned(Struct, frozen=True):
    """The bids of a turn's last auction, and where its auctions left the players; by seat."""

    bids: tuple[int, int]
    locations: tuple[Cell, Cell]


class Bought(Struct, frozen=True):
    """By seat; empty: nothing."""

    power_ups: tuple[PowerUp, PowerUp]


class Reader:
    """See `referee.harness.replay.formats.imports.Reader`."""

    def __init__(self, line: bytes) -> None:
        init: Init = _decoded(line, Init)
        if not init.grid or not init.grid[0]:
            raise ValueError("grid: there is no cell in it")
        if any(len(sign) != 1 for row in init.grid for sign in row):
            raise ValueError("grid: wanted are texts of one character")
        self._map = Map(len(init.grid), len(init.grid[0]), tuple(map("".join, init.grid)))
        self._check("grid", init.grid)
        self._check_cells("spawn", init.spawn)
        self._spawn = init.spawn
        self.names: tuple[str, ...] = init.teams
        self.total = init.total_rounds
        self.turns = 0
        self._over = False
        nothing = ("",) * self._map.cols
        self._see(init.scores, init.spawn, (False, False), (False, False), (nothing,) * self._map.rows, ())

    def take(self, line: bytes) -> Sequence[tuple[str, Any]] | None:
        tick: Tick | Finish = _decoded(line, Tick | Finish)
        if isinstance(tick, Finish):
            self._over = True
            return None
        if self._over:
            raise ValueError("there are turns after the end")
        self._check("heatmap", tick.heatmap)
        self._check("items", tick.items)
        for letter in {letter for row in tick.items for cell in row for letter in cell} - _LETTERS:
            raise ValueError(f"items: wanted are O, S and D, found is {letter!r}")
        if tick.remaining_rounds != self.total - self.turns:
            raise ValueError(f"remaining_rounds: wanted is {self.total - self.turns}, found is {tick.remaining_rounds}")
        first, second = tick.positions
        locations = first.new_pos, second.new_pos
        self._check_cells("positions", locations)
        notices: list[tuple[str, Any]] = [("moved", Moved(locations, (first.delta, second.delta)))]
        if isinstance(tick.powerups, tuple) and any(tick.powerups):
            notices.insert(0, ("bought", Bought(tick.powerups)))
        if isinstance(tick.wagers, tuple):
            if not isinstance(tick.wager_positions, tuple):
                raise ValueError("there are wagers, and no wager_positions")
            locations = tick.wager_positions
            self._check_cells("wager_positions", locations)
            notices.append(("auction", Auctioned(tick.wagers, locations)))
        self.turns += 1
        items = tuple([tuple(map("".join, row)) for row in tick.items])
        self._see(tick.scores, locations, tick.bike, tick.teleport, items, tick.heatmap)
        return notices

    @property
    def view(self) -> Seen:
        return self._seen

    @property
    def drawing(self) -> Sequence[str]:
        seen = self._seen
        first, second = seen.players
        lines = drawn(self._map.cells, (first.location, second.location), seen.items)
        for seat, player in enumerate(seen.players):
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
        self._seen = Seen(turn, self.total, self._map, (first, second), items, heatmap, self._spawn)

    def _check(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """ValueError unless there is something for every cell."""
        expected = self._map
        if len(rows) != expected.rows or any(len(row) != expected.cols for row in rows):
            raise ValueError(f"{name}: wanted are {expected.rows} rows of {expected.cols}")

    def _check_cells(self, name: str, cells: Sequence[Cell]) -> None:
        for row, col in cells:
            if row >= self._map.rows or col >= self._map.cols:
                raise ValueError(f"{name}: ({row},{col}) is off the map of {self._map.rows} rows of {self._map.cols}")


def standing(line: bytes) -> tuple[int, Sequence[int]] | None:
    """Turns that are left after a line, and the scores then; None: it is not the line of a turn."""
    try:
        tick: Tick = _decoded(line, Tick)
    except ValueError:
        return None
    return tick.remaining_rounds - 1, tick.scores


def _decoded(line: bytes, kind: Any) -> Any:
    """ValueError unless that stands in the line, behind what every line begins with."""
    if not line.startswith(BEGINS):
        found = line[:20].decode("utf-8", "replace")
        raise ValueError(f"wanted is {BEGINS.decode()} and an object, found is {found!r}")
    try:
        return msgspec.json.decode(line[len(BEGINS) :], type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
