"""A ladder without end: neighbours in rank play until their order is certain."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from referee.harness.tournament.formats.designs import LineUp, pairings, rows
from referee.harness.tournament.formats.games import (
    Field,
    Results,
    ScheduledGame,
    ScheduledGames,
    Seating,
    games_of,
    named,
    outcomes,
    present,
    shares,
)


def ladder(field: Field, results: Results) -> ScheduledGames:
    """Five seed groups of every pairing, then again and again the neighbours whose order is least certain.

    A batch follows from the games of the batches before it alone, so that it is the same after an interruption.
    """
    bots = present(field)
    scheduled = 0
    tallies = {line_up: _Tally() for line_up in named(bots, pairings(len(bots)))}
    batch = [game for seed_group in range(5) for line_up in tallies for game in _group(field, line_up, seed_group)]
    while batch := batch[: field.games - scheduled] if field.games else batch:
        scheduled += len(batch)
        yield from batch
        if scheduled == field.games:
            return  # the first batch may be incomplete, so that some bots have no neighbours
        while (finished := outcomes(batch, results)) is None:
            yield None
        for game, outcome in zip(batch, finished, strict=True):
            line_up = (min(game.seats), max(game.seats))
            tally = tallies[line_up]
            tally.add(shares(outcome.ranks)[game.seats.index(line_up[0])])
            tally.seed_groups = max(tally.seed_groups, game.seed_group + 1)
        batch = [game for pair in _doubtful(bots, tallies) for game in _group(field, pair, tallies[pair].seed_groups)]


def _group(field: Field, line_up: LineUp, seed_group: int) -> Iterator[ScheduledGame]:
    turns = len(rows(field.seats))
    field = msgspec.structs.replace(field, seating=Seating.ORBIT)
    return games_of(field, line_up, range(seed_group * turns, (seed_group + 1) * turns))


class _Tally:
    """The results of one pair."""

    def __init__(self) -> None:
        self.games = self.seed_groups = 0
        self.share = self.squares = 0.0

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
