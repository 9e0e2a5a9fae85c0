"""Pairings of tournaments begun before `pairing = 2`, so that they continue as they began."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from operator import add

from referee.addons.tournament.formats.designs import LineUp, affine_plane
from referee.addons.tournament.formats.line_ups import number_of_line_ups
from referee.games.dice import Dice, derive_seed

ATTEMPTS = 4
"""How often to draw the line-ups of four; the most even result is taken."""
TRIES = 100_000
"""Most attempts to pair a round, which take a second. After that, bots are paired in order."""


def fours(bots: int, rounds: int | None = None) -> Iterator[LineUp]:
    """Yields line-ups of four. Of 13 and 16 bots, every pair meets once; others meet about equally often.

    `rounds` is how often every bot plays. By default that is the number of its opponents, so that every pair meets
    three times on average, or the exact design once.
    """
    count = number_of_line_ups(bots, 4, rounds)
    if bots == 4:
        yield from [(0, 1, 2, 3)] * count
    elif bots == 16 and rounds in (None, 5):
        yield from affine_plane()
    elif bots == 13 and rounds is None:
        yield from (tuple(sorted((start + step) % 13 for step in (0, 1, 3, 9))) for start in range(13))
    else:
        yield from _greedy(bots, bots - 1 if rounds is None else rounds)


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
    for _ in range(number_of_line_ups(bots, 4, rounds)):
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


def swiss_round(
    order: Sequence[int], score: Mapping[int, float], meetings: Mapping[LineUp, int], byes: set[int]
) -> tuple[int | None, list[LineUp]]:
    """Returns the bot that rests, if their number is odd, and the pairs, with as few rematches as possible.

    The last bot without a bye rests, if the others can then avoid rematches.
    """
    resting: list[int | None] = [None]
    if len(order) % 2:
        resting = [*(bot for bot in reversed(order) if bot not in byes)] or [order[-1]]
    tries = iter(range(TRIES))
    for rematches in range(len(order) // 2 + 1):
        for rest in resting:
            pairs = _paired([bot for bot in order if bot != rest], score, meetings, rematches, tries)
            if pairs is not None:
                return rest, pairs
    playing = [bot for bot in order if bot != resting[0]]
    return resting[0], list(zip(playing[::2], playing[1::2], strict=True))


def _paired(
    bots: list[int], score: Mapping[int, float], meetings: Mapping[LineUp, int], rematches: int, tries: Iterator[int]
) -> list[LineUp] | None:
    """Pairs the upper half of each score group with its lower half where that is possible.

    Returns None if there is no such round with at most that many rematches, or the search takes too long.
    """
    if not bots:
        return []
    if next(tries, None) is None:
        return None
    one, *others = bots
    group = [other for other in others if score[other] == score[one]]
    half = (len(group) + 1) // 2
    for two in [*group[half - 1 :], *reversed(group[: half - 1]), *others[len(group) :]]:
        rematch = (min(one, two), max(one, two)) in meetings
        if rematch <= rematches:
            left = [bot for bot in others if bot != two]
            rest = _paired(left, score, meetings, rematches - rematch, tries)
            if rest is not None:
                return [(one, two), *rest]
    return None
