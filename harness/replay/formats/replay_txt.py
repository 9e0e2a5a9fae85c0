"""The lines of AI Arena 21's own `replay.txt`: aiarena21.md, section 10. They are written by
`referee.harness.replay.formats.aiarena21_writer` and read by `referee.harness.replay.formats.aiarena21_reader`.

The original's viewer needs every member that is not optional here and ignores `powerups`, which is ours.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.aiarena21 import PowerUp

Count = Annotated[int, Meta(ge=0)]
Cell = tuple[Count, Count]
"""(row, col)."""


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
    """The letters O, S and D of what lies on each cell after the pick-ups."""
    bike: tuple[bool, bool]
    """Whether it still runs after the count-down."""
    teleport: tuple[bool, bool]
    """Never true: the viewer stops at such a line."""
    scores: tuple[int, int]
    remaining_rounds: int
    """This turn included."""
    powerups: tuple[PowerUp, PowerUp] | UnsetType = UNSET
    """What was bought in this turn. The original has no such member."""
    wagers: tuple[int, int] | UnsetType = UNSET
    """The bids of the turn's last auction."""
    wager_positions: tuple[Cell, Cell] | UnsetType = UNSET
    """Where that turn's auctions left the players."""


class Finish(Struct, frozen=True, tag="finish"):
    """The last line, which the original writes twice."""
