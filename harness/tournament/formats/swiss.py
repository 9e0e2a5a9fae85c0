"""A Swiss tournament: rounds of pairs with about equal scores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile

from referee.games.dice import Dice, derive_seed
from referee.harness.tournament.formats.designs import LineUp
from referee.harness.tournament.formats.games import Field, Results, ScheduledGame, ScheduledGames, finished

TRIES = 100_000
"""Most attempts to pair a round, which take a second. After that, bots are paired in order."""


def swiss_rounds(bots: int, rounds: int | None) -> int:
    """Returns the number of rounds: ⌈log2 n⌉ + 2 by default, and never more than there are opponents."""
    return min(rounds or math.ceil(math.log2(bots)) + 2, bots - 1 + bots % 2)


def swiss(field: Field, results: Results) -> ScheduledGames:
    """Rounds of game pairs between bots of about equal score that have not met.

    There are no colours, since a game pair has both seats. A bye is a won game pair. A rematch, where it cannot be
    avoided, has further game pairs.
    """
    bots = field.present
    score = dict.fromkeys(bots, 0.0)
    meetings: dict[LineUp, int] = {}
    byes: set[int] = set()
    order = list(bots)
    Dice(derive_seed(field.seed, "swiss")).shuffle(order)
    for _ in range(swiss_rounds(len(bots), field.rounds)):
        order.sort(key=lambda bot: -score[bot])  # stable: the draw decides between equals
        resting, pairs = _round(order, score, meetings, byes)
        if resting is not None:
            byes.add(resting)
            score[resting] += field.games
        games: list[ScheduledGame] = []
        for pair in pairs:
            line_up = (min(pair), max(pair))
            start = meetings.get(line_up, 0) * field.games
            meetings[line_up] = meetings.get(line_up, 0) + 1
            games += field.games_of(line_up, range(start, start + field.games))
        yield from games
        for game, outcome in zip(games, (yield from finished(games, results)), strict=True):
            for bot, share in zip(game.seats, outcome.shares, strict=True):
                score[bot] += share


def swiss_byes(field: Field, games: ScheduledGames) -> dict[int, int]:
    """Returns how many byes each bot had in the rounds scheduled so far."""
    bots = field.present
    byes = dict.fromkeys(bots, 0)
    if len(bots) % 2:
        scheduled = takewhile(lambda game: game is not None, games)
        while played := list(islice(scheduled, len(bots) // 2 * field.games)):
            playing = {bot for game in played if game is not None for bot in game.seats}
            for bot in bots:
                byes[bot] += bot not in playing
    return byes


def _round(
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
