"""Boards of hexagons in axial coordinates (q, r): distances, rings, neighbours and lines.

Row r grows downwards, q to the right along a row. A hexagon has a corner at the top. The third cube coordinate is -q-r.
Orders and ties follow aibg5.md, sections 2 and 7.
"""

Hex = tuple[int, int]
"""(q, r), a place or an offset."""

EAST, SOUTH_EAST, SOUTH_WEST, WEST, NORTH_WEST, NORTH_EAST = (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)
DIRECTIONS: tuple[Hex, ...] = (EAST, SOUTH_EAST, SOUTH_WEST, WEST, NORTH_WEST, NORTH_EAST)
NOWHERE = -1
"""The index of a cell that is not on the board."""


def length(q: int, r: int) -> int:
    """Returns the steps of an offset; for a place, its ring."""
    return max(abs(q), abs(r), abs(q + r))


def distance(a: Hex, b: Hex) -> int:
    """Returns the steps from one place to the other."""
    return length(b[0] - a[0], b[1] - a[1])


def ring(radius: int) -> tuple[Hex, ...]:
    """Returns the 6 × `radius` places of a ring, from (0, -radius) clockwise; for 0, the centre."""
    if radius == 0:
        return ((0, 0),)
    places, (q, r) = [], (0, -radius)
    for dq, dr in DIRECTIONS:
        for _ in range(radius):
            places.append((q, r))
            q, r = q + dq, r + dr
    return tuple(places)


def line(dq: int, dr: int) -> tuple[Hex, ...]:
    """Returns the offsets strictly between the shooter and a target at (dq, dr), nearest first.

    Cube coordinates are interpolated and rounded, halves upwards. The one with the largest rounding error, or the last
    of several, then follows from the other two.
    """
    steps = length(dq, dr)
    return tuple([_rounded(dq * i, dr * i, steps) for i in range(1, steps)])


def _rounded(q: int, r: int, steps: int) -> Hex:
    """Returns the place nearest to (q / steps, r / steps), with integers only."""
    exact = (q, r, -q - r)
    near = [(2 * part + steps) // (2 * steps) for part in exact]
    q_error, r_error, s_error = [abs(rounded * steps - part) for rounded, part in zip(near, exact, strict=True)]
    q, r, s = near
    if q_error > r_error and q_error > s_error:
        return -r - s, r
    return (q, -q - s) if r_error > s_error else (q, r)


class HexBoard:
    """The places at most `radius` from the centre, numbered by r, then q. Immutable."""

    def __init__(self, radius: int, reach: int) -> None:
        """`reach`: the greatest length of a line."""
        span = range(-radius, radius + 1)
        self.radius = radius
        self.cells: tuple[Hex, ...] = tuple([(q, r) for r in span for q in span if abs(q + r) <= radius])
        self.index = {place: cell for cell, place in enumerate(self.cells)}
        """The number of each place."""
        self.row_starts = tuple([self.index[max(-radius, -radius - r), r] for r in span])
        """The first cell of each row, from r = -radius."""
        self.rings = tuple([length(q, r) for q, r in self.cells])
        """The distance of each cell from the centre."""
        self.neighbours = tuple(
            [tuple([self.index.get((q + dq, r + dr), NOWHERE) for dq, dr in DIRECTIONS]) for q, r in self.cells]
        )
        """The six neighbours of each cell in the order of DIRECTIONS; NOWHERE beyond the edge."""
        offsets = [(q, r) for r in range(-reach, reach + 1) for q in range(-reach, reach + 1)]
        between = {offset: line(*offset) for offset in offsets if 0 < length(*offset) <= reach}
        self.lines = tuple([self._lines(q, r, between) for q, r in self.cells])
        """For each cell: every other cell in reach, by r, then q, with the cells strictly between, nearest first."""

    def _lines(self, q: int, r: int, between: dict[Hex, tuple[Hex, ...]]) -> dict[int, tuple[int, ...]]:
        return {
            self.index[q + dq, r + dr]: tuple([self.index[q + x, r + y] for x, y in offsets])
            for (dq, dr), offsets in between.items()
            if (q + dq, r + dr) in self.index
        }
