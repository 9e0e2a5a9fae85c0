"""Who meets whom, and at which seats: pure combinatorics."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from operator import add

from referee.games.dice import Dice, derive_seed

WILLIAMS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
"""Rows of seats for four (Williams 1949): everyone has every seat once and precedes every other one once."""
ATTEMPTS = 4
"""How often to draw the line-ups of four; the most even result is taken."""
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


def fours(bots: int, rounds: int | None = None) -> Iterator[LineUp]:
    """Yields line-ups of four. Of 13 and 16 bots, every pair meets once; others meet about equally often.

    `rounds` is how often every bot plays. By default that is the number of its opponents, so that every pair meets
    three times on average, or the exact design once.
    """
    count = number_of_fours(bots, rounds)
    if bots == 4:
        yield from [(0, 1, 2, 3)] * count
    elif bots == 16 and rounds in (None, 5):
        yield from _plane()
    elif bots == 13 and rounds is None:
        yield from (tuple(sorted((start + step) % 13 for step in (0, 1, 3, 9))) for start in range(13))
    else:
        yield from _greedy(bots, bots - 1 if rounds is None else rounds)


def number_of_fours(bots: int, rounds: int | None = None) -> int:
    """Returns how many line-ups `fours` yields, without making them."""
    if bots < 4:
        raise ValueError(f"four seats need four bots, not {bots}")
    if bots == 4:
        return rounds or 1
    if rounds is None and bots in (13, 16):
        return {13: 13, 16: 20}[bots]
    return round((bots - 1 if rounds is None else rounds) * bots / 4)


def _plane() -> Iterator[LineUp]:
    """Yields the affine plane of order 4: five rounds of four line-ups, every pair in one of them."""
    for slope in range(4):
        for start in range(4):
            yield tuple(sorted(4 * x + (_times(slope, x) ^ start) for x in range(4)))
    for x in range(4):
        yield tuple(4 * x + y for y in range(4))


def _times(one: int, two: int) -> int:
    """Multiplies in the field of four elements, where addition is exclusive or."""
    return 0 if not one or not two else (one + two - 2) % 3 + 1


@cache
def _greedy(bots: int, rounds: int) -> tuple[LineUp, ...]:
    attempts = (_attempt(bots, rounds, Dice(derive_seed(bots, "fours", number))) for number in range(ATTEMPTS))
    return min(attempts, key=lambda attempt: attempt[0])[1]


def _attempt(bots: int, rounds: int, dice: Dice) -> tuple[int, tuple[LineUp, ...]]:
    """Fills each line-up with bots that have played least, then met the others least. Returns the unevenness too."""
    meetings = [[0] * bots for _ in range(bots)]
    cubes = [[0] * bots for _ in range(bots)]
    played = [0] * bots
    line_ups: list[LineUp] = []
    order = list(range(bots))
    for _ in range(number_of_fours(bots, rounds)):
        dice.shuffle(order)
        least = min(played)
        line_up = [next(bot for bot in order if played[bot] == least)]
        costs = [10 * (times > least) for times in played]
        free = [bot for bot in order if played[bot] <= least + 1]
        free = free if len(free) >= 4 else order[:]
        while len(line_up) < 4:
            free.remove(line_up[-1])
            costs = list(map(add, costs, cubes[line_up[-1]]))
            line_up.append(min(free, key=costs.__getitem__))
        for one, two in combinations(line_up, 2):
            meetings[one][two] = meetings[two][one] = times = meetings[one][two] + 1
            cubes[one][two] = cubes[two][one] = times**3
        for bot in line_up:
            played[bot] += 1
        line_ups.append(tuple(sorted(line_up)))
    return sum(times**4 for row in meetings for times in row), tuple(line_ups)
