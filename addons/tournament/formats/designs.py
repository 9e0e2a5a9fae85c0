"""Who meets whom, and at which seats: pure combinatorics."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations

WILLIAMS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
"""Rows of seats for four (Williams 1949): everyone has every seat once and precedes every other one once."""
LineUp = tuple[int, ...]
"""Bots that play together, in no order of seats."""


@cache
def rows(seats: int) -> tuple[tuple[int, ...], ...]:
    """Returns the orders of seats of a seed group: every bot has every seat once."""
    if seats == 4:
        return WILLIAMS
    return tuple(tuple((place + turn) % seats for place in range(seats)) for turn in range(seats))


def seated(line_up: Sequence[int], seed_group: int, row: int) -> tuple[int, ...]:
    """Returns the line-up in seat order.

    With more than two seats, the bots change their parts in the square from seed group to seed group: otherwise the
    same two would always sit opposite each other.
    """
    parts = tuple(line_up)
    if len(parts) > 2:
        orders = list(permutations(parts))
        parts = orders[seed_group % len(orders)]
    return tuple(parts[place] for place in rows(len(parts))[row])


def pairings(bots: Sequence[int]) -> Iterator[LineUp]:
    """Yields every pair once, in rounds in which every bot plays once or pauses (circle method)."""
    circle: list[int | None] = [*bots] + ([None] if len(bots) % 2 else [])
    for _ in range(len(circle) - 1):
        for place in range(len(circle) // 2):
            one, two = circle[place], circle[-1 - place]
            if one is not None and two is not None:
                yield min(one, two), max(one, two)
        circle = [circle[0], circle[-1], *circle[1:-1]]


def affine_plane() -> Iterator[LineUp]:
    """Yields the affine plane of order 4: five rounds of four line-ups, every pair in one of them."""
    for slope in range(4):
        for start in range(4):
            yield tuple(sorted(4 * x + (_times(slope, x) ^ start) for x in range(4)))
    for x in range(4):
        yield tuple(4 * x + y for y in range(4))


def _times(one: int, two: int) -> int:
    """Multiplies in the field of four elements, where addition is exclusive or."""
    return 0 if not one or not two else (one + two - 2) % 3 + 1
