"""Plays a gate: the games of a tournament with one line-up, until its seed groups decide."""

from collections.abc import Callable, Iterator
from itertools import islice
from math import inf

import trio

from referee.addons.tournament.execution.tournament_games import TournamentGames
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.addons.tournament.gate import Game, Gate
from referee.addons.tournament.store.reader import Game as Played
from referee.addons.tournament.store.reader import Touch


async def play_gate(
    games: TournamentGames, pool: WorkerPool, gate: Gate, counted: Callable[[], None], max_s: float = inf
) -> None:
    """Plays until the gate decides, no games are left, or the time is over. Calls `counted` after each seed group.

    The first bot of the plan is the new version, all others are the old one. Raises RunError if it cannot go on.
    """
    groups = _finished_groups(games)
    decided = trio.Event()

    def count(lines: list[bytes]) -> None:
        while not decided.is_set() and (group := next(groups, None)) is not None:
            if gate.add(gate.so_far.seed_groups, group) is not None:
                decided.set()
            counted()

    games.on_lines = count
    count([])  # games of an earlier run
    await games.play(pool, decided, max_s)
    gate.give_up()


def _finished_groups(games: TournamentGames) -> Iterator[list[Game] | None]:
    """Yields the games of each seed group in order, and None while the next one is not finished."""
    scheduled, seats = games.plan.scheduled_games(games.results), games.plan.seats
    while len(group := [game for game in islice(scheduled, seats) if game is not None]) == seats:
        while len(finished := [(each, game) for each in group if (game := games.results.played(each))]) < seats:
            yield None
        yield [_game(each.seats.index(0), game) for each, game in finished]


def _game(seat: int, game: Played) -> Game:
    at_fault = tuple(place for place in range(len(game.kind.r)) if game.kind.faults >> place & 1)
    return Game(seat, game.kind.r, game.content, at_fault, game.kind.touch is Touch.DECIDED)
