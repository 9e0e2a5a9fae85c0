"""Tournaments whose bots have known ratings, so that what the statistics say of them can be compared with the truth."""

import math
import random
from collections.abc import Sequence

from referee.harness.tournament.statistics.rating import ELO, Game, Tally


def orbit(luck: random.Random, strengths: Sequence[float], table: Sequence[int], shared: float) -> list[Game]:
    """The games of an orbit, a row for every turn of the table: every bot performs at its strength (in units of the
    logarithm of the odds) and its luck, which for that share of the games is the orbit's own, the same in all of them.

    With luck of this law (Gumbel's) one bot finishes ahead of another exactly as often as Bradley and Terry expect.
    """
    common = [_gumbel(luck) for _ in table]
    games = []
    for turn in range(len(table)):
        own = common if luck.random() < shared else [_gumbel(luck) for _ in table]
        performed = {bot: strengths[bot] + draw for bot, draw in zip(table, own, strict=True)}
        seats = (*table[turn:], *table[:turn])
        best = sorted(seats, key=performed.__getitem__, reverse=True)
        games.append(Game(seats, tuple(best.index(bot) + 1 for bot in seats)))
    return games


def _gumbel(luck: random.Random) -> float:
    return -math.log(-math.log(luck.random()))


def tournament(luck: random.Random, strengths: Sequence[float], seats: int, orbits: int, shared: float) -> Tally:
    """So many orbits, each at a table drawn from all bots."""
    tally = Tally(len(strengths))
    for _ in range(orbits):
        tally.add(orbit(luck, strengths, luck.sample(range(len(strengths)), seats), shared))
    return tally


def field(luck: random.Random, bots: int, spread: float = 0.6) -> list[float]:
    """Strengths around 0."""
    found = [luck.gauss(0, spread) for _ in range(bots)]
    return [strength - sum(found) / bots for strength in found]


def in_elo(strength: float) -> float:
    return strength * ELO
