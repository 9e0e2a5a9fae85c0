"""Counts the seed groups of a tournament as pairs of bots "finished ahead of", from which `rating` fits ratings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy

from msgspec import Struct

Pairs = tuple[tuple[int, int, float, int], ...]
"""For every two bots of a seed group: first, second (first < second), how often the first finished ahead (a tie is
half), and how often they met."""


class Game(Struct, frozen=True, gc=False):
    """A game, in the order of its seats."""

    bots: tuple[int, ...]
    """Their numbers."""
    ranks: tuple[int, ...]
    """1 = best; ties share a rank."""
    faulty: bool = False
    """A bot was at fault or forfeited."""


class Weight(Struct):
    """How often a result of a seed group occurred."""

    seed_groups: int = 0
    squares: int = 0
    """The sum over different seed groups of (number of copies)². Repeats are no news: all copies of a seed group are
    one observation with that weight."""
    different: int = 0


class _Counted:
    """The results of seed groups with their weights."""

    def __init__(self) -> None:
        self.weights: dict[Pairs, Weight] = {}
        self._played: dict[int, int] = {}
        """How often each seed group was played, by a hash of its bots and contents."""

    def add(self, games: Sequence[Game], contents: Iterable[tuple[int, ...]]) -> None:
        weight = self.weights.setdefault(_pairs(games), Weight())
        bots = tuple(game.bots for game in games)
        for each in contents:
            before = 0
            if 0 not in each:
                key = hash((bots, each))
                before = self._played.get(key, 0)
                self._played[key] = before + 1
            weight.seed_groups += 1
            weight.squares += 2 * before + 1
            weight.different += before == 0


class Tally:
    """Counts seed groups, in any order and number."""

    def __init__(self, bots: int) -> None:
        self.bots = bots
        self.faulty = 0
        """Games with a fault. Without any, the two ratings are equal."""
        self._all = _Counted()
        self._sound: _Counted | None = None  # None until the first fault

    def add(self, games: Sequence[Game], contents: Collection[tuple[int, ...]]) -> None:
        """Counts seed groups that ended alike, given the games of one and the contents of the games of each.

        A content is the hash of the course of a game; 0 = unknown.
        """
        sound = [place for place, game in enumerate(games) if not game.faulty]
        if len(sound) < len(games) and self._sound is None:
            self._sound = deepcopy(self._all)
        self.faulty += (len(games) - len(sound)) * len(contents)
        self._all.add(games, contents)
        if self._sound is not None and sound:
            kept = [tuple([each[place] for place in sound]) for each in contents]
            self._sound.add([games[place] for place in sound], kept)

    def weights(self, without_faults: bool = False) -> Mapping[Pairs, Weight]:
        """Returns the results so far; `without_faults` those of games without a fault."""
        counted = self._sound if without_faults and self._sound is not None else self._all
        return counted.weights


def _pairs(seed_group: Iterable[Game]) -> Pairs:
    """Sums up the games by pairs of bots. A bot that met itself does not count."""
    totals: dict[tuple[int, int], list[float]] = {}
    for game in seed_group:
        seated = list(zip(game.bots, game.ranks, strict=True))
        while len(seated) > 1:
            first, rank = seated.pop()
            for second, other in seated:
                if first == second:
                    continue
                ahead = 1.0 if rank < other else 0.5 if rank == other else 0.0
                key, ahead = ((first, second), ahead) if first < second else ((second, first), 1.0 - ahead)
                so_far = totals.setdefault(key, [0.0, 0.0])
                so_far[0] += ahead
                so_far[1] += 1
    return tuple((first, second, ahead, int(times)) for (first, second), (ahead, times) in sorted(totals.items()))
