"""Measures what formats find out about the order of bots, with simulated bots and a simulated clock.

It prints Kendall's tau between the true order and that of the ratings after 10, 20 and 40 games a bot, for each format
and for a hosted contest, whose whole play process schedules the games; how many of random pairs' games the ladder needs
for the same tau; and how busy a ladder keeps 64 workers.

`python -m referee.benchmarks.formats [--bots N …] [--runs R]`. Strengths are normal with a deviation of 250 Elo, games
take 1 to 60 seconds, and 16 workers play.
"""

import argparse
import heapq
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import msgspec
import trio
from trio.testing import MockClock

from referee.addons.host.orders import Orders
from referee.addons.host.play import HostGames
from referee.addons.tournament.execution.tournament_games import TournamentGames
from referee.addons.tournament.execution.worker_messages import Assignment
from referee.addons.tournament.formats.designs import LineUp
from referee.addons.tournament.formats.games import Field, Outcome, Results, ScheduledGame, ScheduledGames
from referee.addons.tournament.formats.schedules import FORMATS
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.statistics.rating import rate
from referee.addons.tournament.statistics.tally import Game, Tally
from referee.addons.tournament.store.ledger import Ledger, Line
from referee.addons.tournament.store.reader import Book
from referee.benchmarks.matchmaking import ELO, SPREAD, least_certain, most_informed
from referee.benchmarks.simulated_workers import Ending, SimulatedWorkers, repeatable
from referee.games import registry

WORKERS = 16
MARKS = (10, 20, 40)
"""Games a bot, as in the table."""
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


COMPARED = {
    "random pairs": random_pairs,
    "least certain, best match": least_certain,
    "greedy information": most_informed,
} | {name: FORMATS[name] for name in ("round-robin", "swiss", "ladder")}


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


def taus(name: str, bots: int, seed: int, most: int = MARKS[-1]) -> Iterator[tuple[int, float]]:
    """Plays a format. Yields games a bot and tau."""
    contest, now_s = Contest(bots, seed), 0.0
    games = 10_000 if name == "round-robin" else 2
    schedule = COMPARED[name](Field(bots, games=0 if name == "ladder" else games, seed=seed, rounds=most // 2), contest)
    playing: list[tuple[float, int, ScheduledGame, float]] = []
    mark = STEP
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
            mark += STEP


def curve(name: str, bots: int, runs: int, most: int = MARKS[-1]) -> dict[int, float]:
    """Returns the mean of tau by games a bot."""
    found = defaultdict[int, list[float]](list)
    for seed in range(runs):
        for games, tau in taus(name, bots, seed, most):
            found[games].append(tau)
    return {games: mean(values) for games, values in found.items()}


def hosted(bots: int, seed: int, marks: Sequence[int] = MARKS) -> dict[int, float]:
    """Returns tau by games a bot, as a hosted contest with simulated workers finds it."""
    luck = random.Random(seed)
    elo = [luck.gauss(0, SPREAD) for _ in range(bots)]
    entries = identified([Entry(f"b{n}", "", f"{n:064x}"[::-1], "@random") for n in range(bots)])
    places = {entry.ident: place for place, entry in enumerate(entries)}
    plan = Plan("tictactoe", "ladder", seed, entries, games=0, version=registry.game("tictactoe").version)
    played: list[tuple[ScheduledGame, tuple[int, ...]]] = []
    enough = trio.Event()

    def ending(game: Assignment) -> Ending:
        one, two = (elo[places[ident]] for ident in game.bots)
        wins = luck.random() < 1 / (1 + math.exp((two - one) / ELO))
        return ((1, 2) if wins else (2, 1)), ()

    def note(lines: list[bytes]) -> None:
        for line in msgspec.json.decode(b"[" + b",".join(lines) + b"]", type=list[Line]):
            seats = tuple(places[ident] for ident in line.b)
            played.append((ScheduledGame(seats, int(line.k.split("/")[2])), line.r))
        if 2 * len(played) >= marks[-1] * bots:
            enough.set()

    with TemporaryDirectory() as folder, closing(Ledger(Path(folder), {})) as ledger:
        games = HostGames(plan, ledger, Book(), Orders(), builds=False)
        games.on_lines = note
        pool = SimulatedWorkers(WORKERS, ending, lambda game: luck.uniform(1, 60))

        async def play() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pool.run)
                await games.play(pool, enough)
                nursery.cancel_scope.cancel()

        trio.run(play, clock=MockClock(autojump_threshold=0))
    return {mark: tau_of(elo, played[: mark * bots // 2]) for mark in marks}


def games_for(tau: float, by_games: dict[int, float]) -> float:
    """Returns after how many games a bot a curve reaches that tau; infinity if it does not."""
    below = (0, 0.0)
    for games, value in sorted(by_games.items()):
        if value >= tau:
            return below[0] + (games - below[0]) * (tau - below[1]) / (value - below[1])
        below = games, value
    return math.inf


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


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, nargs="+", default=[60, 200])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for bots in arguments.bots:
        curves = {name: curve(name, bots, arguments.runs) for name in COMPARED}
        print(f"{bots} bots: tau after {' / '.join(map(str, MARKS))} games a bot, mean of {arguments.runs} runs")
        contests = [hosted(bots, seed) for seed in range(arguments.runs)]
        rows = curves | {"hosted": {games: mean(each[games] for each in contests) for games in MARKS}}
        for name, by_games in rows.items():
            print(f"  {name:25} {' / '.join(f'{by_games[games]:.2f}' for games in MARKS)}")
        for games in MARKS:
            needed = games_for(curves["random pairs"][games], curves["ladder"])
            print(f"  the ladder needs {needed:.1f} games a bot for the tau of random pairs after {games}")
    print(f"64 workers, 10 bots, games of 1 to 60 s: {busy():.1%} busy")


if __name__ == "__main__":
    main()
