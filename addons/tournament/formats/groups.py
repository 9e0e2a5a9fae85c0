"""Groups and a final, as AIBG plays."""

import math
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from referee.addons.tournament.formats.games import (
    FINAL,
    FIRST,
    Field,
    Outcome,
    Results,
    ScheduledGame,
    ScheduledGames,
    finished,
)
from referee.games.dice import Dice, derive_seed


class _Order(Struct):
    """A group that has been played."""

    bots: list[int]
    """Best first."""
    scores: dict[int, float]


def groups(field: Field, results: Results) -> ScheduledGames:
    """Drawn groups whose winners meet in a final (aibg5.md 1).

    A group with a vacancy plays last, with the best second of the others: by score, then by lot. A group of `games`
    games is decided by the sum of its ranks, then of its scores, then by lot.
    """
    drawn = draw(field)
    complete = [group for group in drawn if len(group) == field.seats]
    short = [group for group in drawn if len(group) < field.seats]
    orders: list[_Order] = []
    met: dict[frozenset[int], list[int]] = {}
    for wave in (complete, short):
        spare = iter(_seconds(field, orders))
        line_ups = [[*group, *islice(spare, field.seats - len(group))] for group in wave]
        met |= {frozenset(line_up): line_up for line_up in line_ups}
        games = [list(field.games_of(line_up, range(field.games), FIRST)) for line_up in line_ups]
        for each in games:
            yield from each
        for line_up, each in zip(line_ups, games, strict=True):
            orders.append(_ordered(field, line_up, each, (yield from finished(each, results))))
    finalists = [order.bots[0] for order in orders]
    finalists = list(dict.fromkeys([*finalists, *_seconds(field, orders)]))[: field.seats]
    if len(finalists) == field.seats:  # the same bots may have met in a group: the final continues its games
        group = met.get(frozenset(finalists))
        before = 0 if group is None else field.games
        yield from field.games_of(group or finalists, range(before, before + field.games), FINAL)


def draw(field: Field) -> list[list[int]]:
    """Draws the groups, without absent bots and empty groups. Raises ValueError if they do not lead to one final."""
    bots = list(range(field.bots))
    Dice(derive_seed(field.seed, "groups")).shuffle(bots)
    count = math.ceil(len(bots) / field.seats)
    if count > field.seats or count < 2:
        raise ValueError(
            f"groups of {field.seats} with one final take {field.seats + 1} to {field.seats**2} bots, not {field.bots}"
        )
    whole = [bots[start : start + field.seats] for start in range(0, len(bots), field.seats)]
    drawn = [[bot for bot in group if bot not in field.absent] for group in whole]
    drawn = [group for group in drawn if group]
    if not any(len(group) == field.seats for group in drawn):
        raise ValueError("no group is complete: there is no second of another group to fill a vacancy")
    vacant = sum(field.seats - len(group) for group in drawn)
    spare = sum(field.seats - 1 for group in drawn if len(group) == field.seats)
    if len(drawn) < 2:
        raise ValueError("all bots of one of the two groups are absent: there is no final to play")
    if vacant > spare:
        raise ValueError(f"the groups have {vacant} vacancies; the complete ones have {spare} bots to fill them")
    return drawn


def _seconds(field: Field, orders: list[_Order]) -> list[int]:
    """Returns the seconds of the groups, then the thirds …: by score, then by lot."""
    found: list[int] = []
    for place in range(1, field.seats):
        by_score = [
            (-order.scores[order.bots[place]], derive_seed(field.seed, "second", order.bots[place]), order.bots[place])
            for order in orders
        ]
        found += [bot for *_, bot in sorted(by_score) if bot not in found]
    return found


def _ordered(
    field: Field, line_up: Sequence[int], games: Sequence[ScheduledGame], outcomes: Sequence[Outcome]
) -> _Order:
    ranks, scores = dict.fromkeys(line_up, 0), dict.fromkeys(line_up, 0.0)
    for game, outcome in zip(games, outcomes, strict=True):
        for bot, rank, points in zip(game.seats, outcome.ranks, outcome.points, strict=True):
            ranks[bot] += rank
            scores[bot] += points
    order = sorted(line_up, key=lambda bot: (ranks[bot], -scores[bot], derive_seed(field.seed, "lot", bot)))
    return _Order(order, scores)
