"""The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.

A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a hexagon
is -q-r. The board holds the cells at most RADIUS from the centre, (0, 0).
"""

from referee_kit.aibg5 import ATTACK_RANGE, RADIUS, Action, GameState, Player, Tile

Cell = tuple[int, int]
CENTRE = (0, 0)
DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
"""East, south-east, south-west, west, north-west, north-east."""


def distance(one: Cell, other: Cell) -> int:
    """Steps from one cell to the other; from CENTRE, the cell's ring."""
    dq, dr = other[0] - one[0], other[1] - one[1]
    return max(abs(dq), abs(dr), abs(dq + dr))


def is_on_board(cell: Cell) -> bool:
    return distance(CENTRE, cell) <= RADIUS


def within(middle: Cell, steps: int) -> list[Cell]:
    """The cells of the board at most so far from this one, row by row."""
    span = range(-steps, steps + 1)
    around = [(middle[0] + dq, middle[1] + dr) for dr in span for dq in span if abs(dq + dr) <= steps]
    return [cell for cell in around if is_on_board(cell)]


CELLS = within(CENTRE, RADIUS)
"""All cells, row by row."""


def neighbours(cell: Cell) -> list[Cell]:
    """The neighbouring cells on the board, in the order of DIRECTIONS."""
    beside = [(cell[0] + dq, cell[1] + dr) for dq, dr in DIRECTIONS]
    return [place for place in beside if is_on_board(place)]


def ring(radius: int) -> list[Cell]:
    """The cells of a ring around the centre, clockwise from (0, -radius)."""
    if radius == 0:
        return [CENTRE]
    cells, (q, r) = [], (0, -radius)
    for dq, dr in DIRECTIONS:
        for _ in range(radius):
            cells.append((q, r))
            q, r = q + dq, r + dr
    return cells


def line_of_fire(shooter: Cell, target: Cell) -> list[Cell]:
    """The cells strictly between, nearest first."""
    steps, (q, r) = distance(shooter, target), shooter
    offset = (target[0] - q, target[1] - r)
    nearest = [_rounded(offset[0] * i, offset[1] * i, steps) for i in range(1, steps)]
    return [(q + dq, r + dr) for dq, dr in nearest]


def _rounded(q: int, r: int, steps: int) -> Cell:
    """The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected."""
    exact = (q, r, -q - r)
    near = [(2 * part + steps) // (2 * steps) for part in exact]
    errors = [abs(whole * steps - part) for whole, part in zip(near, exact, strict=False)]
    if errors[0] > errors[1] and errors[0] > errors[2]:
        return -near[1] - near[2], near[1]
    return near[0], (-near[0] - near[2] if errors[1] > errors[2] else near[1])


class Board:
    """The view in a call."""

    def __init__(self, state: GameState) -> None:
        shown = (state.player1, state.player2, state.player3, state.player4)
        self.players = [player for player in shown if player is not None]
        """Without the disqualified."""
        self._tiles = state.map.tiles

    def tile(self, cell: Cell) -> Tile:
        """`cell` is on the board."""
        q, r = cell
        return self._tiles[r + RADIUS][q - max(-RADIUS, -RADIUS - r)]

    def player_on(self, cell: Cell) -> Player | None:
        return next((player for player in self.players if (player.q, player.r) == cell), None)

    def may_enter(self, cell: Cell) -> bool:
        """Nobody and nothing is in the way; False for a wormhole too, whose exit may be blocked, and off the board."""
        if not is_on_board(cell):
            return False
        tile = self.tile(cell)
        return tile.tile_type == "NORMAL" and tile.entity.type != "WORMHOLE" and self.player_on(cell) is None

    def is_target(self, cell: Cell) -> bool:
        """A player, an asteroid or the boss is there; False off the board, too."""
        if not is_on_board(cell):
            return False
        return self.player_on(cell) is not None or self.tile(cell).entity.type in ("ASTEROID", "BOSS")

    def hit(self, shooter: Cell, target: Cell) -> Cell | None:
        """The cell that an attack on `target` really hits; None if the attack is not legal."""
        is_in_range = is_on_board(shooter) and 0 < distance(shooter, target) <= ATTACK_RANGE
        if not is_in_range or not self.is_target(target):
            return None
        for cell in line_of_fire(shooter, target):
            if self.is_target(cell):
                return cell
            if self.tile(cell).entity.type in ("BLACKHOLE", "WORMHOLE"):
                return None
        return target

    def targets(self, shooter: Cell) -> list[Cell]:
        """The cells that may be attacked, row by row."""
        return [cell for cell in within(shooter, ATTACK_RANGE) if self.hit(shooter, cell) is not None]


def move(cell: Cell) -> Action:
    return Action(f"move,{cell[0]},{cell[1]}")


def attack(cell: Cell) -> Action:
    return Action(f"attack,{cell[0]},{cell[1]}")
