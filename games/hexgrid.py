"""Boards of hexagons in axial coordinates (q, r): distances, rings, neighbours and lines.

r is the row, growing downwards; q grows to the right along a row; the tops of the hexagons are points. The third cube
coordinate is -q-r. The rules of aibg5 (aibg5.md, sections 2 and 7) are where the orders and the ties come from.
"""

Hex = tuple[int, int]
"""(q, r), a place or an offset."""

EAST, SOUTH_EAST, SOUTH_WEST, WEST, NORTH_WEST, NORTH_EAST = (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)
DIRECTIONS: tuple[Hex, ...] = (EAST, SOUTH_EAST, SOUTH_WEST, WEST, NORTH_WEST, NORTH_EAST)
NOWHERE = -1
"""In place of the index of a cell that is not on the board."""


def length(q: int, r: int) -> int:
    """The steps that an offset is long; of a place, how far it is from the centre: its ring."""
    return max(abs(q), abs(r), abs(q + r))


def distance(a: Hex, b: Hex) -> int:
    """Steps from one place to the other."""
    return length(b[0] - a[0], b[1] - a[1])


def ring(radius: int) -> tuple[Hex, ...]:
    """The 6 × `radius` places of a ring around the centre, from (0, -radius) clockwise; the centre alone for 0."""
    if radius == 0:
        return ((0, 0),)
    places, (q, r) = [], (0, -radius)
    for dq, dr in DIRECTIONS:
        for _ in range(radius):
            places.append((q, r))
            q, r = q + dq, r + dr
    return tuple(places)


def line(dq: int, dr: int) -> tuple[Hex, ...]:
    """The offsets strictly between the shooter and a target at (dq, dr), nearest first.

    Cube coordinates are interpolated and rounded, halves upwards; the one with the largest rounding error is then made
    to fit the other two, of equal errors the last of q, r, s.
    """
    steps = length(dq, dr)
    return tuple([_rounded(dq * i, dr * i, steps) for i in range(1, steps)])


def _rounded(q: int, r: int, steps: int) -> Hex:
    """The place nearest to (q / steps, r / steps), in whole numbers throughout."""
    exact = (q, r, -q - r)
    near = [(2 * part + steps) // (2 * steps) for part in exact]
    q_error, r_error, s_error = [abs(rounded * steps - part) for rounded, part in zip(near, exact, strict=True)]
    q, r, s = near
    if q_error > r_error and q_error > s_error:
        return -r - s, r
    return (q, -q - s) if r_error > s_error else (q, r)


class HexBoard:
    """The places at most `radius` from the centre, numbered by r, then q, and what follows from that. Never changed."""

    def __init__(self, radius: int, reach: int) -> None:
        """`reach` is how far the lines of `lines` go."""
        span = range(-radius, radius + 1)
        self.radius = radius
        self.cells: tuple[Hex, ...] = tuple([(q, r) for r in span for q in span if abs(q + r) <= radius])
        self.index = {place: cell for cell, place in enumerate(self.cells)}
        """The number of each place."""
        self.row_starts = tuple([self.index[max(-radius, -radius - r), r] for r in span])
        """The first cell of each row, from r = -radius on."""
        self.rings = tuple([length(q, r) for q, r in self.cells])
        """How far each cell is from the centre."""
        self.neighbours = tuple([tuple([self._beside(q, r, *way) for way in DIRECTIONS]) for q, r in self.cells])
        """The six cells beside each in the order of DIRECTIONS; NOWHERE beyond the edge."""
        offsets = [(q, r) for r in range(-reach, reach + 1) for q in range(-reach, reach + 1)]
        between = {offset: line(*offset) for offset in offsets if 0 < length(*offset) <= reach}
        self.lines = tuple([self._lines(q, r, between) for q, r in self.cells])
        """Per cell: every other cell in reach, by r, then q, with the cells strictly between, nearest first."""

    def _beside(self, q: int, r: int, dq: int, dr: int) -> int:
        return self.index.get((q + dq, r + dr), NOWHERE)

    def _lines(self, q: int, r: int, between: dict[Hex, tuple[Hex, ...]]) -> dict[int, tuple[int, ...]]:
        return {
            self.index[q + dq, r + dr]: tuple([self.index[q + x, r + y] for x, y in offsets])
            for (dq, dr), offsets in between.items()
            if (q + dq, r + dr) in self.index
        }
