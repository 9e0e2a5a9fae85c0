"""A Swiss tournament: rounds of pairs with about equal scores."""

import math
from itertools import islice, takewhile

from referee.games.dice import Dice, derive_seed
from referee.harness.tournament.formats.designs import LineUp
from referee.harness.tournament.formats.first_pairing import swiss_round
from referee.harness.tournament.formats.games import Field, Results, ScheduledGame, ScheduledGames, finished


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
        resting, pairs = swiss_round(order, score, meetings, byes)
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
