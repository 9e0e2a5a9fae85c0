"""Line-ups of three or more bots: all play equally often and meet equally often, as far as their number allows."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import combinations, permutations

from referee.addons.tournament.formats.designs import LineUp, affine_plane
from referee.games.dice import Dice, derive_seed

SWAPS = 10
"""How many exchanges of two bots to try in a drawn round, by the number of its bots."""


def number_of_line_ups(bots: int, seats: int, rounds: int | None = None) -> int:
    """Returns how many line-ups `line_ups` has, without making them. Raises ValueError for too few bots."""
    if bots < seats:
        raise ValueError(f"{seats} seats need {seats} bots, not {bots}")
    if bots == seats:
        return rounds or 1
    if rounds is None and seats == 4 and bots in (13, 16):
        return {13: 13, 16: 20}[bots]
    return round((bots - 1 if rounds is None else rounds) * bots / seats)


@cache
def line_ups(bots: int, seats: int, rounds: int | None = None) -> tuple[LineUp, ...]:
    """Returns line-ups in seat order. No bot plays more than once more than another.

    `rounds` is how often every bot plays. By default that is the number of its opponents, so that every pair meets
    `seats` - 1 times on average, and exactly as often where a design is known: at four seats with 4n or 4n + 1 bots, up
    to 200 and most above. At four seats, 13 and 16 bots meet exactly once.
    """
    count = number_of_line_ups(bots, seats, rounds)
    found: Iterable[LineUp] | None
    if bots == seats:
        found = [tuple(range(bots))] * count
    elif (bots, seats) == (16, 4) and rounds in (None, 5):
        found = affine_plane()
    elif (bots, seats) == (13, 4) and rounds in (None, 4):
        found = (tuple((start + step) % 13 for step in (0, 1, 3, 9)) for start in range(13))
    else:
        found = _design(bots, seats) if rounds in (None, bots - 1) else None
        found = _drawn(bots, seats, count) if found is None else found
    return tuple(_seated(found, bots, seats))


def _seated(found: Iterable[LineUp], bots: int, seats: int) -> Iterator[LineUp]:
    """Gives every bot all seats about equally often."""
    times = [[0] * seats for _ in range(bots)]
    orders = list(permutations(range(seats)))
    for line_up in found:
        costs = [times[bot] for bot in line_up]
        best = min(orders, key=lambda order: sum(cost[seat] ** 2 for cost, seat in zip(costs, order, strict=True)))
        seated = dict(zip(best, line_up, strict=True))
        for seat, bot in seated.items():
            times[bot][seat] += 1
        yield tuple(seated[seat] for seat in range(seats))


# Designs: every pair meets exactly `seats` - 1 times, and every bot plays `bots` - 1 line-ups.


@cache
def _starters() -> dict[tuple[int, int], list[LineUp]]:
    """Returns the first rounds in `starters.txt`, by seats and bots."""
    found = {}
    for line in (resources.files(__package__) / "starters.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            head, _, body = line.partition(":")
            seats, bots = map(int, head.split())
            found[seats, bots] = [tuple(map(int, part.split())) for part in body.split("/")]
    return found


def _design(bots: int, seats: int) -> list[LineUp] | None:
    """Returns a design; None if none is known."""
    first = _starters().get((seats, bots))
    if first is not None:
        fixed = bots - 1 if bots % seats == 0 else bots
        return [
            tuple(bot if bot == fixed else (bot + turn) % fixed for bot in line_up)
            for turn in range(fixed)
            for line_up in first
        ]
    return _composed(bots) if seats == 4 and bots % 4 < 2 else None


def _composed(bots: int) -> list[LineUp] | None:
    """Composes a design of four seats from smaller ones (Hanani 1961).

    Bots form four groups of a prime number and a smaller fifth one. In each square, one bot of every group meets, and
    each pair of different groups in one square: four bots meet three times, five as in their own design. Each group has
    a design of its own, into which a last bot may enter.
    """
    for last in (0, 1):
        for prime in range(bots // 5, (bots - last) // 4 + 1):
            rest = bots - last - 4 * prime
            sizes = [prime + last] * 4 + [rest + last]
            if 0 <= rest <= prime >= 4 and _is_prime(prime) and all(size < 2 or size % 4 < 2 for size in sizes):
                parts = [[] if size < 2 else [(0, 1, 2, 3)] * 3 if size == 4 else _design(size, 4) for size in sizes]
                if all(part is not None for part in parts):
                    squares = _squares(prime, rest)
                    return _in_rounds([*squares, *_within(parts, prime, bots - 1 if last else None)], bots)
    return None


def _squares(prime: int, rest: int) -> Iterator[LineUp]:
    for x in range(prime):
        for y in range(prime):
            places = [x, *(prime * (1 + step) + (y + step * x) % prime for step in range(3))]
            fifth = (y + 3 * x) % prime
            if fifth < rest:
                yield from combinations([*places, 4 * prime + fifth], 4)
            else:
                yield from [tuple(places)] * 3


def _within(parts: Sequence[Sequence[LineUp] | None], prime: int, last: int | None) -> Iterator[LineUp]:
    for group, part in enumerate(parts):
        size = 1 + max((bot for line_up in part or () for bot in line_up), default=0)
        for line_up in part or ():
            yield tuple(last if last is not None and bot == size - 1 else group * prime + bot for bot in line_up)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _in_rounds(found: list[LineUp], bots: int) -> list[LineUp]:
    """Orders line-ups so that all bots have played about equally often at any time."""
    Dice(derive_seed(bots, "rounds")).shuffle(found)
    ordered: list[LineUp] = []
    played = [0] * bots
    while found:
        playing: set[int] = set()
        later = []
        for line_up in sorted(found, key=lambda line_up: sum(played[bot] for bot in line_up)):
            if playing.isdisjoint(line_up):
                playing.update(line_up)
                ordered.append(line_up)
                for bot in line_up:
                    played[bot] += 1
            else:
                later.append(line_up)
        found = later
    return ordered


# Rounds that are drawn, for all other numbers.


def _drawn(bots: int, seats: int, count: int) -> Iterator[LineUp]:
    """Yields rounds in which the bots that have met least play together. Those that have played most rest."""
    dice = Dice(derive_seed(bots, "line-ups", seats))
    met = [[0] * bots for _ in range(bots)]
    played = [0] * bots
    while count:
        tables = min(bots // seats, count)
        count -= tables
        order = list(range(bots))
        dice.shuffle(order)
        playing = sorted(order, key=played.__getitem__)[: tables * seats]
        a_round = _improved(_greedy(playing, seats, met), met, dice)
        for line_up in a_round:
            for one, two in permutations(line_up, 2):
                met[one][two] += 1
            for bot in line_up:
                played[bot] += 1
            yield tuple(line_up)


def _greedy(playing: Sequence[int], seats: int, met: Sequence[Sequence[int]]) -> list[list[int]]:
    """Fills each line-up with the bots that have met the others least."""
    free = list(playing)
    a_round = []
    while free:
        line_up = [free.pop(0)]
        while len(line_up) < seats:
            best = min(free, key=lambda bot: sum(met[bot][other] ** 2 for other in line_up))
            free.remove(best)
            line_up.append(best)
        a_round.append(line_up)
    return a_round


def _improved(a_round: list[list[int]], met: Sequence[Sequence[int]], dice: Dice) -> list[list[int]]:
    """Exchanges bots of two line-ups where their meetings become more even."""

    def cost(bot: int, line_up: Sequence[int], without: int) -> int:
        return sum(met[bot][other] for other in line_up if other != without)

    if len(a_round) > 1:
        seats = len(a_round[0])
        for _ in range(SWAPS * seats * len(a_round)):
            one, two = dice.sample(a_round, 2)
            here, there = dice.below(seats), dice.below(seats)
            a, b = one[here], two[there]
            if cost(a, two, b) + cost(b, one, a) < cost(a, one, a) + cost(b, two, b):
                one[here], two[there] = b, a
    return a_round
