"""Who meets whom, at which seats: combinatorics and nothing else."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations

from referee.games.dice import Dice, derive_seed

WILLIAMS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
"""Rows of seats for four (Williams 1949): everyone has every seat once and every other one once as the next to move."""
Table = tuple[int, ...]
"""Bots that play together, in no order of seats."""


@cache
def rows(seats: int) -> tuple[tuple[int, ...], ...]:
    """The orders of seats of one orbit: every bot has every seat once."""
    if seats == 4:
        return WILLIAMS
    return tuple(tuple((place + turn) % seats for place in range(seats)) for turn in range(seats))


def seated(table: Sequence[int], orbit: int, row: int) -> tuple[int, ...]:
    """The table in seat order. From orbit to orbit the four change their parts in the square, since rotation would
    leave the same two pairs opposite in all of its rows."""
    parts = table
    if len(table) > 2:
        every = _orders(len(table))
        parts = [table[part] for part in every[orbit % len(every)]]
    return tuple(parts[place] for place in rows(len(table))[row])


@cache
def _orders(seats: int) -> tuple[tuple[int, ...], ...]:
    return tuple(permutations(range(seats)))


def pairings(bots: int) -> Iterator[Table]:
    """Every pair once, by the circle method: in rounds in which everybody plays once, or pauses if they are odd."""
    circle: list[int | None] = [*range(bots)] + ([None] if bots % 2 else [])
    for _ in range(len(circle) - 1):
        for place in range(len(circle) // 2):
            one, two = circle[place], circle[-1 - place]
            if one is not None and two is not None:
                yield min(one, two), max(one, two)
        circle = [circle[0], circle[-1], *circle[1:-1]]


def in_list_order(bots: int) -> Iterator[Table]:
    """Every pair once, the first of the list against all behind it, then the second."""
    return combinations(range(bots), 2)


def fours(bots: int, rounds: int | None = None) -> Iterator[Table]:
    """Tables of four. Thirteen and sixteen bots meet exactly once; others as evenly as a greedy choice finds.

    `rounds`: how often everybody sits; None = as often as there are others, which gives every pair three meetings on
    average, or the exact design once.
    """
    if bots < 4:
        raise ValueError(f"four seats need four bots, not {bots}")
    if bots == 4:
        yield from [(0, 1, 2, 3)] * (rounds or 1)
    elif bots == 16 and rounds in (None, 5):
        yield from _plane()
    elif bots == 13 and rounds is None:
        yield from (tuple(sorted((start + step) % 13 for step in (0, 1, 3, 9))) for start in range(13))
    else:
        yield from _greedy(bots, bots - 1 if rounds is None else rounds)


def _plane() -> Iterator[Table]:
    """The affine plane of order 4: five rounds of four tables, every pair at one of them."""
    for slope in range(4):
        for start in range(4):
            yield tuple(sorted(4 * x + (_times(slope, x) ^ start) for x in range(4)))
    for x in range(4):
        yield tuple(4 * x + y for y in range(4))


def _times(one: int, two: int) -> int:
    """Multiplication in the field of four elements, where addition is exclusive or."""
    return 0 if not one or not two else (one + two - 2) % 3 + 1


ATTEMPTS = 4
"""Of the greedy choice with other draws between equals; the most even one is taken."""


@cache
def _greedy(bots: int, rounds: int) -> tuple[Table, ...]:
    """The most even of some attempts."""
    attempts = (_attempt(bots, rounds, Dice(derive_seed(bots, "fours", number))) for number in range(ATTEMPTS))
    return min(attempts, key=lambda attempt: attempt[0])[1]


def _attempt(bots: int, rounds: int, dice: Dice) -> tuple[int, tuple[Table, ...]]:
    """Each table: whoever has sat least, then whoever has met the others of the table least. With how uneven it is."""
    meetings = [[0] * bots for _ in range(bots)]
    played = [0] * bots
    tables: list[Table] = []
    order = list(range(bots))
    for _ in range(round(rounds * bots / 4)):
        dice.shuffle(order)
        least = min(played)
        table = [next(bot for bot in order if played[bot] == least)]
        while len(table) < 4:
            free = [bot for bot in order if bot not in table and played[bot] <= least + 1]
            free = free if len(free) >= 4 - len(table) else [bot for bot in order if bot not in table]
            table.append(
                min(free, key=lambda bot: 10 * (played[bot] > least) + sum(meetings[bot][o] ** 3 for o in table))
            )
        for one, two in combinations(table, 2):
            meetings[one][two] += 1
            meetings[two][one] += 1
        for bot in table:
            played[bot] += 1
        tables.append(tuple(sorted(table)))
    return sum(times**4 for row in meetings for times in row), tuple(tables)
