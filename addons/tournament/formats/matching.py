"""Pairs a round of a Swiss by a matching of maximum weight, as FIDE's Dutch system orders its aims (C.04.3)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from referee.games.dice import Dice

COMPLETE = 128
"""Up to this number of players, every pair is considered."""
NEAR = 24
"""Of more players, each considers those near it and near its place in the other half of its score group. If a rematch
seems unavoidable then, four times as many."""
LUCK_BITS, WEIGHT_BITS = 32, 124
"""Bits of the lot that decides between equal pairings, and of a whole weight: the library has 128."""
ABSOLUTE, STRONG = 3, 2
"""Strengths of a wish for a seat. A wish above 0 is for the first seat."""


class Standing(Struct, frozen=True, gc=False):
    """What matters of a player for the next round."""

    score: int
    """In half points."""
    byes: int = 0
    wish: int = 0
    """For a seat, -3 to 3."""
    floats: tuple[int, ...] = ()
    """In the last two rounds, the latest first: 1 after a game against a lower score, -1 against a higher one."""


class Situation(Struct, frozen=True, gc=False):
    """The players of a round, best first; of equal scores, the lot decides. Players are numbered in this order."""

    players: tuple[Standing, ...]
    met: frozenset[tuple[int, int, int]]
    """Pairs that have met, the smaller number first, and how often."""
    seed: int


Pair = tuple[int, int]
_Costs = tuple[int, ...]


@lru_cache(maxsize=1024)
def paired(situation: Situation) -> tuple[tuple[Pair, ...], int | None]:
    """Returns the pairs, the better first, and the player that has a bye if their number is odd.

    The pairing is the only best one, so that it does not depend on the library or its version. From the most important
    aim on: no second bye, no rematch, no two with an absolute wish for the same seat, a bye for the lowest score, small
    differences in score (their squares), granted wishes, granted strong wishes, no float twice in two rounds, the upper
    half of a score group against its lower half, luck.
    """
    count = len(situation.players)
    near = count if count <= COMPLETE else NEAR
    met = {(one, two): times for one, two, times in situation.met}
    while True:
        costs = dict(_edges(situation, met, near))
        found = _lightest(count + count % 2, costs, situation.seed)
        avoidable = len(found) < (count + 1) // 2 or any(costs[pair][0] or costs[pair][1] for pair in found)
        if near >= count or not avoidable:
            pairs = sorted(pair for pair in found if pair[1] < count)
            return tuple(pairs), next((one for one, two in found if two == count), None)
        near *= 4


def _edges(situation: Situation, met: Mapping[Pair, int], near: int) -> Iterator[tuple[Pair, _Costs]]:
    """Yields pairs and their costs. The number behind the last player stands for a bye."""
    players = situation.players
    count, sizes = len(players), Counter(player.score for player in players)
    for place, player in enumerate(players):
        half = sizes[player.score] // 2
        others = range(place + 1, min(count, place + 1 + near))
        opposite = range(max(others.stop, place + half - near // 2), min(count, place + half + near // 2))
        for other in (*others, *opposite):
            rival = players[other]
            apart = other - place - (half if rival.score == player.score else 0)
            yield (place, other), (0, met.get((place, other), 0) ** 2, *pair_costs(player, rival), apart * apart)
        if count % 2:
            floated = 2 * (player.floats[:1] == (1,)) + (player.floats[1:] == (1,))
            below = player.score - players[-1].score
            yield (place, count), (player.byes, 0, 0, below, 0, 0, 0, floated, (count - 1 - place) ** 2)


def pair_costs(one: Standing, two: Standing) -> tuple[int, int, int, int, int, int]:
    """Returns the costs of two players between rematch and place: the better or an equal one first."""
    denied = one.wish * two.wish > 0
    weaker = min(abs(one.wish), abs(two.wish))
    floated, difference = 0, one.score - two.score
    if difference:
        for weight, round in ((2, 0), (1, 1)):
            floated += weight * (one.floats[round : round + 1] == (1,))
            floated += weight * (two.floats[round : round + 1] == (-1,))
    clash, strong = denied and weaker == ABSOLUTE, denied and weaker >= STRONG
    return int(clash), 0, difference * difference, int(denied), int(strong), floated


def _lightest(count: int, costs: Mapping[Pair, _Costs], seed: int) -> list[Pair]:
    """Returns the perfect matching with the least costs, the first kind of cost before all others."""
    import rustworkx  # of the extra `tournament`; takes 25 ms to load

    pairs = count // 2
    units, unit = [], 1
    for most in reversed([max(kind) for kind in zip(*costs.values(), strict=True)]):
        units.append(unit)
        unit *= most * pairs + 1
    units.reverse()
    luck = max(0, min(LUCK_BITS, WEIGHT_BITS - unit.bit_length() - pairs.bit_length()))
    dice, most = Dice(seed), unit << luck
    weighted: list[tuple[int, int, int]] = []
    for (one, two), cost in sorted(costs.items()):
        total = sum(number * each for number, each in zip(cost, units, strict=True) if number)
        weighted.append((one, two, most - (total << luck) - (dice.bits() >> (64 - luck) if luck else 0)))
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph()
    graph.add_nodes_from([None] * count)
    graph.add_edges_from(weighted)
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return [(min(pair), max(pair)) for pair in found]


# Seats.


def wish(seats: Sequence[int]) -> int:
    """Returns a player's wish: above 0 for the first seat. `seats` has 1 for each time that it had that, else -1.

    Absolute: after one seat twice in a row, or two times more often than the other. Strong: once more often. Else mild:
    for the other one than in the last round (C.04.1, 6; C.04.3, A.6).
    """
    if not seats:
        return 0
    balance = sum(seats)
    direction = -1 if (balance or seats[-1]) > 0 else 1
    if abs(balance) > 1:
        return ABSOLUTE * direction
    if len(seats) > 1 and seats[-1] == seats[-2]:
        return ABSOLUTE * -seats[-1]
    return (STRONG if balance else 1) * direction


def has_first_seat(one: Sequence[int], two: Sequence[int], place: int) -> bool:
    """Returns whether the better of two players has the first seat. `place` is its number in the round.

    Both wishes, the stronger one, the wider balance, the other seats than when they last differed, the wish of the
    better one (C.04.3, E).
    """
    wishes = wish(one), wish(two)
    if not any(wishes):
        return place % 2 == 0
    if wishes[0] * wishes[1] <= 0:
        return (wishes[0] or -wishes[1]) > 0
    strengths = [(abs(each), abs(sum(seats))) for each, seats in zip(wishes, (one, two), strict=True)]
    if strengths[0] != strengths[1]:
        return (wishes[0] > 0) == (strengths[0] > strengths[1])
    for here, there in _from_the_last(one, two):
        if here != there:
            return there > 0
    return wishes[0] > 0


def _from_the_last(one: Sequence[int], two: Sequence[int]) -> Iterable[tuple[int, int]]:
    return zip(reversed(one), reversed(two), strict=False)
