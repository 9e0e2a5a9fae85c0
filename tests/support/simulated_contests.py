"""Simulated bots that play under the formats of tournaments, by a simulated clock.

Kendall's tau says how much the order of the ratings is like the true one. Strengths are normal with a deviation of 250
Elo, games take 1 to 60 seconds, and 16 workers play.
"""

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import trio
from simulated_workers import Ending, SimulatedWorkers, repeatable
from trio.testing import MockClock

from referee.addons.tournament.execution.tournament_games import TournamentGames
from referee.addons.tournament.execution.worker_messages import Assignment
from referee.addons.tournament.formats.designs import LineUp
from referee.addons.tournament.formats.games import Field, Outcome, Results, ScheduledGame, ScheduledGames
from referee.addons.tournament.formats.schedules import FORMATS
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.statistics.rating import rate
from referee.addons.tournament.statistics.tally import Game, Tally
from referee.addons.tournament.store.ledger import Ledger
from referee.addons.tournament.store.reader import Book
from referee.games import registry

ELO = 400 / math.log(10)
SPREAD = 250.0
"""The standard deviation of strengths, in Elo."""
WORKERS = 16
STEP = 2
"""Games a bot between two measurements."""


def random_pairs(field: Field, results: Results) -> ScheduledGames:
    """Random pairs of bots play a seed group each: the yardstick."""
    dice, groups = random.Random(field.seed), defaultdict[LineUp, int](int)
    while True:
        one, two = dice.sample(range(field.bots), 2)
        pair = min(one, two), max(one, two)
        yield from field.games_of(pair, range(2 * groups[pair], 2 * groups[pair] + 2))
        groups[pair] += 1


COMPARED = {"random pairs": random_pairs, "ladder": FORMATS["ladder"]}


class Contest:
    """Simulated bots, and the results that a format looks at."""

    def __init__(self, bots: int, seed: int) -> None:
        self.dice = random.Random(seed)
        self.elo = [self.dice.gauss(0, SPREAD) for _ in range(bots)]
        self.outcomes: dict[ScheduledGame, Outcome] = {}
        self._spent_s: dict[LineUp, float] = defaultdict(float)

    def get(self, game: ScheduledGame) -> Outcome | None:
        """Returns the outcome of a game that has ended."""
        return self.outcomes.get(game)

    def begun(self, stage: str) -> Iterable[ScheduledGame]:
        """Nothing was played before."""
        return ()

    def spent_s(self, line_up: LineUp, stage: str) -> float:
        """Returns how long the games of a pair took."""
        return self._spent_s[line_up]

    def end(self, game: ScheduledGame, took_s: float) -> None:
        """Ends a game with a win for one of both."""
        one, two = game.seats
        wins = self.dice.random() < 1 / (1 + math.exp((self.elo[two] - self.elo[one]) / ELO))
        self.outcomes[game] = Outcome((1, 2) if wins else (2, 1), (float(wins), float(not wins)))
        self._spent_s[min(one, two), max(one, two)] += took_s

    def tau(self) -> float:
        """Returns Kendall's tau between the true order and the order of the ratings."""
        return tau_of(self.elo, ((game, outcome.ranks) for game, outcome in self.outcomes.items()))


def tau_of(elo: Sequence[float], played: Iterable[tuple[ScheduledGame, tuple[int, ...]]]) -> float:
    """Returns Kendall's tau between the true order and the order of the ratings after these games and ranks."""
    tally, groups = Tally(len(elo)), defaultdict[tuple[LineUp, int], list[Game]](list)
    for game, ranks in played:
        pair = min(game.seats), max(game.seats)
        groups[pair, game.seed_group].append(Game(game.seats, ranks))
    for games in groups.values():
        tally.add(games, [(0,) * len(games)])
    return kendall(elo, [each.elo.value for each in rate(tally.bots, tally.weights(), draws=0)])


def kendall(one: Sequence[float], two: Sequence[float]) -> float:
    """Returns the share of pairs in the same order less that in the other order."""
    pairs = [(a, b) for a in range(len(one)) for b in range(a)]
    return sum(math.copysign(1, (one[a] - one[b]) * (two[a] - two[b])) for a, b in pairs) / len(pairs)


def taus(name: str, bots: int, seed: int, most: int, step: int = STEP) -> Iterator[tuple[int, float]]:
    """Plays a format. Yields games a bot and tau after each step."""
    contest, now_s = Contest(bots, seed), 0.0
    schedule = COMPARED[name](Field(bots, games=0 if name == "ladder" else 2, seed=seed, rounds=most // 2), contest)
    playing: list[tuple[float, int, ScheduledGame, float]] = []
    mark = step
    number = 0
    while mark <= most:
        game = next(schedule) if len(playing) < WORKERS else None
        if game is not None:
            number += 1
            length_s = contest.dice.uniform(1, 60)
            heapq.heappush(playing, (now_s + length_s, number, game, length_s))
            continue
        now_s, _, ended, length_s = heapq.heappop(playing)
        contest.end(ended, length_s)
        if 2 * len(contest.outcomes) >= mark * bots:
            yield mark, contest.tau()
            mark += step


def busy(workers: int = 64, bots: int = 10, hours: float = 2.0) -> float:
    """Returns the share of their time for which workers of a ladder play, with games of 1 to 60 seconds."""
    found = registry.game("tictactoe")
    entries = identified([Entry(f"b{n}", "", f"{n:064x}"[::-1], f"cmd:{n}") for n in range(bots)])
    plan = Plan("tictactoe", "ladder", 1, entries, games=0, time=found.time, version=found.version)

    def ending(game: Assignment) -> Ending:
        return ((1, 2), ()) if repeatable(game).random() < 0.5 else ((2, 1), ())

    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder), {})
        games = TournamentGames(plan, ledger, Book())
        pool = SimulatedWorkers(workers, ending, lambda game: repeatable(game).uniform(1, 60))

        async def play() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pool.run)
                await games.play(pool, trio.Event(), 3600 * hours)
                nursery.cancel_scope.cancel()

        trio.run(play, clock=MockClock(autojump_threshold=0))
        ledger.close()
    return 1 - pool.idle_s / (3600 * hours * workers)
