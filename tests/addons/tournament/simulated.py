"""Simulated tournaments of bots with known ratings, to compare the statistics with the truth."""

import math
import random
from collections.abc import Sequence

from referee.addons.tournament.statistics.rating import DRAWS, ELO, Rating, rate
from referee.addons.tournament.statistics.tally import Game, Tally


def seed_group(luck: random.Random, strengths: Sequence[float], line_up: Sequence[int], shared: float) -> list[Game]:
    """Returns the games of a seed group, one for every rotation of the seats.

    A bot's performance is its strength, in units of the logarithm of the odds, plus its luck. A share of the games has
    the luck of the seed group. With this law of luck (Gumbel's), one bot finishes ahead of another exactly as often as
    Bradley and Terry expect.
    """
    common = [_gumbel(luck) for _ in line_up]
    games = []
    for turn in range(len(line_up)):
        own = common if luck.random() < shared else [_gumbel(luck) for _ in line_up]
        performed = {bot: strengths[bot] + draw for bot, draw in zip(line_up, own, strict=True)}
        seats = (*line_up[turn:], *line_up[:turn])
        best = sorted(seats, key=performed.__getitem__, reverse=True)
        games.append(Game(seats, tuple(best.index(bot) + 1 for bot in seats)))
    return games


def _gumbel(luck: random.Random) -> float:
    return -math.log(-math.log(luck.random()))


def tournament(luck: random.Random, strengths: Sequence[float], seats: int, groups: int, shared: float) -> Tally:
    """Returns seed groups with line-ups drawn from all bots."""
    tally = Tally(len(strengths))
    for _ in range(groups):
        add(tally, seed_group(luck, strengths, luck.sample(range(len(strengths)), seats), shared))
    return tally


def add(tally: Tally, games: Sequence[Game], content: int = 0) -> None:
    """Counts one seed group. Its first game has this content, the next ones those that follow; 0 = unknown."""
    tally.add(games, [tuple(content and content + place for place in range(len(games)))])


def ratings(tally: Tally, without_faults: bool = False, seed: int = 0, draws: int = DRAWS) -> tuple[Rating, ...]:
    """Returns every bot's rating."""
    return rate(tally.bots, tally.weights(without_faults), seed, draws)


def field(luck: random.Random, bots: int, spread: float = 0.6) -> list[float]:
    """Returns strengths with the mean 0."""
    strengths = [luck.gauss(0, spread) for _ in range(bots)]
    return [strength - sum(strengths) / bots for strength in strengths]


def in_elo(strength: float) -> float:
    return strength * ELO
