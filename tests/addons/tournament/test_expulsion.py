"""Expulsion follows from the games in scheduled order: neither the order of arrival nor a restart changes it."""

import random
from pathlib import Path

import pytest
import trio
from simulated_workers import Ending, SimulatedWorkers, repeatable
from trio.testing import MockClock

from referee.addons.tournament.execution.runner import End
from referee.addons.tournament.execution.tournament_games import TournamentGames
from referee.addons.tournament.execution.worker_messages import Assignment
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import Ledger
from referee.games import registry

SHAKY = {"b2": 0.5, "b5": 0.7, "b6": 1.0}
"""How often each of these bots is at fault."""


def plan_of(format: str, games: int = 8, expel: int | None = 3) -> Plan:
    bots = identified([Entry(f"b{n}", "", f"{n:064x}"[::-1], f"cmd:{n}") for n in range(8)])
    game = registry.game("tictactoe")
    return Plan("tictactoe", format, 1, bots, games=games, expel=expel, time=game.time, version=game.version)


def play(plan: Plan, folder: Path, seed: int, max_s: float = 1e9) -> tuple[End, TournamentGames]:
    """Plays what is left with simulated workers, whose games arrive in an order that follows from `seed`."""
    names = {entry.ident: entry.name for entry in plan.bots}
    luck = random.Random(seed)

    def ending(game: Assignment) -> Ending:
        drawn = repeatable(game)
        at_fault = tuple(seat for seat, bot in enumerate(game.bots) if drawn.random() < SHAKY.get(names[bot], 0.0))
        winner = drawn.randrange(2) if len(at_fault) != 1 else 1 - at_fault[0]
        return (1, 2) if winner == 0 else (2, 1), at_fault

    async def run() -> End:
        async with trio.open_nursery() as nursery:
            pool = SimulatedWorkers(5, ending, lambda game: luck.uniform(0.1, 9.0))
            nursery.start_soon(pool.run)
            end = await games.play(pool, trio.Event(), max_s)
            nursery.cancel_scope.cancel()
        return end

    folder.mkdir(exist_ok=True)
    ledger = Ledger(folder, {})
    games = TournamentGames(plan, ledger, reader.read(folder, plan=plan))
    end = trio.run(run, clock=MockClock(autojump_threshold=0))
    ledger.close()
    return end, games


def result(plan: Plan, folder: Path) -> object:
    """Returns what counts of each game, and the table."""
    book = reader.read(folder, plan=plan)
    games = {
        (line_up, number): (game.kind.r, game.kind.p, game.kind.faults, game.kind.forfeit)
        for line_up, played in book.line_ups.items()
        for number, game in played.items()
    }
    rows = [(row.name, row.rank, row.games, row.points, row.faults, row.forfeits) for row in standings(plan, book).rows]
    return games, rows


@pytest.mark.slow
@pytest.mark.parametrize("format", ["round-robin", "swiss", "list-order"])
def test_the_order_of_arrival_and_restarts_change_nothing(format: str, tmp_path: Path) -> None:
    plan = plan_of(format)
    results, expelled, restarts = [], [], 0
    for seed in range(6):
        folder = tmp_path / str(seed)
        end, games = play(plan, folder, seed, max_s=40.0 if seed % 2 else 1e9)
        while end is not End.FINISHED:
            restarts += 1
            end, games = play(plan, folder, seed + restarts, max_s=40.0)
        results.append(result(plan, folder))
        expelled.append(sorted(games.expelled))
    assert all(each == results[0] for each in results) and all(each == expelled[0] for each in expelled)
    names = {entry.ident: entry.name for entry in plan.bots}
    assert {"b6"} <= {names[ident] for ident in expelled[0]} <= SHAKY.keys()
    assert restarts >= 3


def test_a_bot_loses_exactly_its_games_behind_the_faults_in_a_row(tmp_path: Path) -> None:
    """Counted by hand over the schedule, with every game as it would have been played."""
    free, plan = plan_of("round-robin", expel=None), plan_of("round-robin")
    play(free, tmp_path / "free", 1)
    play(plan, tmp_path / "expel", 2)
    book = {name: reader.LedgerResults(reader.Keys(plan), reader.read(tmp_path / name)) for name in ("free", "expel")}
    row, out = [0] * 8, set[int]()
    for game in plan.scheduled_games({}):
        assert game is not None
        full, found = book["free"].played(game), book["expel"].played(game)
        assert full is not None and found is not None
        assert found.kind.forfeit == (not out.isdisjoint(game.seats))
        if out.isdisjoint(game.seats):
            for seat, bot in enumerate(game.seats):
                row[bot] = row[bot] + 1 if full.kind.faults >> seat & 1 else 0
            out |= {bot for bot in game.seats if row[bot] >= 3}
        else:
            assert found.kind.p == tuple(float(bot not in out) for bot in game.seats)
    assert out


def test_a_game_lost_without_play_counts_before_the_same_game_played_earlier() -> None:
    forfeit = b'{"k":"c/a-b/0/0","b":["a","b"],"s":1,"r":[1,2],"p":[1,0],"why":"forfeit","at":9.0,"forfeit":true}'
    played = b'{"k":"c/a-b/0/0","b":["a","b"],"s":1,"r":[2,1],"p":[0,1],"at":3.0}'
    for lines in ([forfeit, played], [played, forfeit]):
        book = reader.Book()
        assert [book.add(line) for line in lines] == [True, False]
        game = book.game("c/a-b/0/0")
        assert game is not None and game.kind.forfeit and book.count == 1
