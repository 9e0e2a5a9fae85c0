"""A ladder without end: neighbours in rank play until their order is certain."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct

from referee.harness.tournament.formats.designs import LineUp, pairings, rows
from referee.harness.tournament.formats.games import Field, Results, ScheduledGames, Seating, finished


def ladder(field: Field, results: Results) -> ScheduledGames:
    """Five seed groups of every pairing, then again and again the neighbours whose order is least certain.

    A batch follows from the games of the batches before it alone, so that it is the same after an interruption.
    """
    field = msgspec.structs.replace(field, seating=Seating.SEED_GROUP)
    turns = len(rows(field.seats))
    scheduled = 0
    tallies = {line_up: _Tally() for line_up in pairings(field.present)}
    groups = [(line_up, seed_group) for seed_group in range(5) for line_up in tallies]
    while groups:
        batch = [
            game for pair, group in groups for game in field.games_of(pair, range(group * turns, (group + 1) * turns))
        ]
        if field.games:
            batch = batch[: field.games - scheduled]
        scheduled += len(batch)
        yield from batch
        if scheduled == field.games:
            return  # the first batch may be incomplete, so that some bots have no neighbours
        for game, outcome in zip(batch, (yield from finished(batch, results)), strict=True):
            line_up = (min(game.seats), max(game.seats))
            tallies[line_up].add(outcome.shares[game.seats.index(line_up[0])])
        groups = [(pair, tallies[pair].games // turns) for pair in _doubtful(field.present, tallies)]


class _Tally(Struct):
    """The results of one pair."""

    games: int = 0
    share: float = 0.0
    squares: float = 0.0

    def add(self, share: float) -> None:
        self.games += 1
        self.share += share
        self.squares += share * share

    def certainty(self) -> float:
        """Returns how many standard errors the better bot is ahead."""
        mean = self.share / self.games
        variance = max(self.squares / self.games - mean * mean, 0.01)
        return abs(mean - 0.5) / math.sqrt(variance / self.games)


def _doubtful(bots: Sequence[int], tallies: Mapping[LineUp, _Tally]) -> list[LineUp]:
    """Returns half of the neighbours in rank, those whose order is least certain."""
    score = dict.fromkeys(bots, 0.0)
    for (one, two), tally in tallies.items():
        mean = (tally.share + 0.5) / (tally.games + 1)
        score[one] += mean
        score[two] += 1 - mean
    order = sorted(bots, key=lambda bot: (-score[bot], bot))
    pairs: list[LineUp] = [(min(pair), max(pair)) for pair in pairwise(order)]
    return sorted(pairs, key=lambda pair: (tallies[pair].certainty(), pair))[: max(1, len(pairs) // 2)]
