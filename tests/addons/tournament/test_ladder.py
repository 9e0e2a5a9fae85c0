"""The ladder: who plays whom, for how long, and that it neither waits nor loses its place."""

import random
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import pytest
import trio
from contests import drawing_bot, table, tournament
from simulated_contests import busy, taus
from simulated_workers import Ending, SimulatedWorkers, repeatable
from trio.testing import MockClock

from referee.addons.tournament.execution.runner import End
from referee.addons.tournament.execution.tournament_games import Changed, TournamentGames, contest_of
from referee.addons.tournament.execution.worker_messages import Assignment, Contest
from referee.addons.tournament.formats.games import Field, Outcome, ScheduledGame
from referee.addons.tournament.formats.ladder import CATCH_UP, NEIGHBOURS, PLACES, ladder
from referee.addons.tournament.inbox import Enter, Withdraw, hand_in
from referee.addons.tournament.plan import Entry, Plan, identified, read_plan, write_plan
from referee.addons.tournament.reports.all_stages import ranked
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN, Ledger
from referee.games import registry

pytestmark = pytest.mark.slow


class Course:
    """A ladder in which the lower number always wins, with one game at a time."""

    def __init__(self, length_s: dict[int, float] | None = None, watched: int = 0) -> None:
        self.length_s = length_s or {}
        self.first = watched
        self.games: dict[ScheduledGame, Outcome] = {}
        self.open: list[ScheduledGame] = []
        self._spent_s = defaultdict[tuple[int, ...], float](float)

    def get(self, game: ScheduledGame) -> Outcome | None:
        return self.games.get(game)

    def watched(self) -> int:
        return self.first

    def begun(self, stage: str) -> list[ScheduledGame]:
        return [*self.games, *self.open]

    def spent_s(self, line_up: tuple[int, ...], stage: str) -> float:
        return self._spent_s[line_up]

    def length(self, game: ScheduledGame) -> float:
        return max(self.length_s.get(bot, 1.0) for bot in game.seats)

    def play(self, field: Field, count: int) -> list[ScheduledGame]:
        """Plays further games and returns them."""
        before = len(self.games)
        for game in ladder(field, self):
            assert game is not None and game not in self.games
            if len(self.games) == before + count:
                break
            ranks = tuple(sorted(game.seats).index(bot) + 1 for bot in game.seats)
            self.games[game] = Outcome(ranks, tuple(float(rank == 1) for rank in ranks))
            self._spent_s[tuple(sorted(game.seats))] += self.length(game)
        return [*self.games][before:]


def appearances(games: list[ScheduledGame]) -> Counter[int]:
    return Counter(bot for game in games for bot in game.seats)


def test_neighbours_in_rank_play_and_all_bots_about_equally_long() -> None:
    course = Course()
    course.play(Field(16, games=0), 600)
    late = course.play(Field(16, games=0), 300)
    assert all(abs(game.seats[0] - game.seats[1]) <= NEIGHBOURS for game in late)
    assert {abs(game.seats[0] - game.seats[1]) for game in late} >= {1, 2, 3}
    games = [*course.games]
    times = appearances(games)
    assert max(times.values()) <= 1.25 * min(times.values())
    for one, two in zip(games[::2], games[1::2], strict=True):  # a seed group has both seats
        assert one.seats == two.seats[::-1] and one.seed_group == two.seed_group


def test_a_slow_bot_gets_no_more_time_than_others() -> None:
    course = Course({3: 20.0})
    course.play(Field(20, games=0), 2000)
    spent = Counter[int]()
    for game in course.games:
        spent.update(dict.fromkeys(game.seats, course.length(game)))
    assert spent[3] < 1.3 * mean(spent.values())
    assert sum(3 in game.seats for game in course.games) < 0.5 * len(course.games) * 2 / 20


def test_a_new_bot_first_plays_across_the_table_and_then_its_neighbours() -> None:
    course = Course()
    course.play(Field(21, games=0, absent=(10,)), 1000)
    games = [game for game in course.play(Field(21, games=0), 60) if 10 in game.seats]
    rivals = [next(bot for bot in game.seats if bot != 10) for game in games[::2]]
    table = [bot for bot in range(21) if bot != 10]
    for number, rival in enumerate(rivals[:PLACES]):
        assert abs(table.index(rival) - number * 19 / (PLACES - 1)) <= 2
    assert len(rivals) > PLACES + 3 and all(abs(rival - 10) <= NEIGHBOURS for rival in rivals[PLACES + 2 :])


def test_four_seats_take_three_neighbours_and_a_late_bot_begins_across_the_table() -> None:
    course = Course()
    course.play(Field(20, seats=4, games=0, absent=(10,)), 800)
    late = course.play(Field(20, seats=4, games=0, absent=(10,)), 200)
    assert all(max(game.seats) - min(game.seats) <= NEIGHBOURS + 3 for game in late)
    games = [*course.games]
    times = appearances(games)
    assert max(times.values()) <= 1.25 * min(times.values()) and len(times) == 19
    for start in range(0, len(games), 4):  # a seed group has every bot at every seat
        group = games[start : start + 4]
        assert all(len({game.seats[seat] for game in group}) == 4 for seat in range(4))
        assert len({game.seed_group for game in group}) == 1
    new = [game.seats for game in course.play(Field(20, seats=4, games=0), 4 * PLACES) if 10 in game.seats]
    assert {0, 19} & {bot for seats in new for bot in seats} and len(new) >= 3 * PLACES


def test_a_late_bot_catches_up_by_some_games_and_then_plays_as_much_as_others() -> None:
    course = Course()
    course.play(Field(21, games=0, absent=(10,)), 1600)
    shares = []
    for _ in range(4):  # each time, the ladder begins anew, as after a kill or another new bot
        games = course.play(Field(21, games=0), 200)
        shares.append(sum(10 in game.seats for game in games))
    even = 2 * 200 / 21
    assert shares[0] >= CATCH_UP and sum(shares) < 4 * even + 2 * CATCH_UP
    assert all(share < 2 * even for share in shares[2:])


def test_the_first_bots_play_twice_as_much_while_somebody_watches() -> None:
    course = Course(watched=5)
    for course.first, low, high in ((5, 1.6, 2.4), (0, 0.8, 1.2)):
        course.play(Field(30, games=0), 300 if course.first else 0)
        times = appearances(course.play(Field(30, games=0), 900))
        first, others = (mean(times[bot] for bot in bots) for bots in (range(5), range(10, 30)))
        assert low < first / others < high


def test_a_half_played_seed_group_is_completed_and_an_open_game_is_not_given_twice() -> None:
    course = Course()
    half = ScheduledGame((0, 1), 0)
    course.open = [half]
    games = course.play(Field(2, games=0), 5)
    assert half not in games and len(set(games)) == 5
    assert {game.seed_group for game in games} == {0, 1, 2} and ScheduledGame((1, 0), 0) == games[0]


# With a run and its workers.


def play(
    folder: Path, seed: int, max_s: float, workers: int = 12, changes: Changed | None = None
) -> tuple[End, TournamentGames]:
    luck = random.Random(seed)
    plan = read_plan(folder / PLAN)
    names = {f"{ord(entry.name):064x}"[::-1][:10]: entry.name for entry in plan.bots}

    def ending(game: Assignment) -> Ending:
        at_fault = tuple(seat for seat, bot in enumerate(game.bots) if names.get(bot) == "x")
        return ((1, 2) if repeatable(game).random() < 0.5 else (2, 1)), at_fault

    async def run() -> End:
        async with trio.open_nursery() as nursery:
            pool = SimulatedWorkers(workers, ending, lambda game: luck.uniform(1, 60))
            nursery.start_soon(pool.run)
            end = await games.play(pool, trio.Event(), max_s)
            nursery.cancel_scope.cancel()
        return end

    ledger = Ledger(folder, {})
    games = TournamentGames(plan, ledger, reader.read(folder), ranked=ranked)
    games.changed = changes
    games_end = trio.run(run, clock=MockClock(autojump_threshold=0))
    assert games_end in (End.CAPPED, End.FINISHED)
    ledger.close()
    return games_end, games


def cup_of(folder: Path, names: str, games: int = 0, expel: int | None = None) -> Path:
    found, bots = registry.game("tictactoe"), tuple(map(entry, names))
    plan = Plan("tictactoe", "ladder", 1, bots, games=games, expel=expel, time=found.time, version=found.version)
    write_plan(plan, folder / PLAN)
    return folder


def entry(name: str) -> Entry:
    return identified([Entry(name, "", f"{ord(name):064x}"[::-1], "@random")])[0]


def count(folder: Path) -> int:
    """Returns the number of games, none of which was played twice."""
    keys = [line.k for _, line in reader.every_line(folder)]
    assert len(keys) == len(set(keys))
    return len(keys)


def test_a_ladder_that_is_interrupted_again_and_again_goes_on(tmp_path: Path) -> None:
    folder = cup_of(tmp_path, "abcdef", games=250)
    before, runs = 0, 0
    while before < 250:
        runs += 1
        play(folder, runs, 100.0)
        assert before < count(folder) <= 250
        before = count(folder)
    assert runs > 4
    for games in reader.read(folder).line_ups.values():  # no gaps, except in the last seed groups
        groups = {number // reader.Book.ROWS for number in games}
        assert max(groups) - len(groups) < 6


def test_a_running_ladder_takes_bots_in_and_lets_them_go(tmp_path: Path) -> None:
    folder = cup_of(tmp_path, "abcdefgh")
    play(folder, 1, 600.0)
    before = count(folder)
    hand_in(folder, Enter((entry("z"),)))
    hand_in(folder, Withdraw(("a",)))

    def changed(plan: Plan) -> tuple[Plan, Contest]:
        return plan, contest_of(plan, {}, "none", folder)

    _, games = play(folder, 2, 600.0, changes=changed)
    assert [each.name for each in games.plan.bots if not each.absent] == [*"bcdefghz"]
    lines = [line for _, line in reader.every_line(folder)][before:]
    names = {each.ident: each.name for each in games.plan.bots}
    played = Counter(names[bot] for line in lines for bot in line.b)
    assert played["a"] == 0 and played["z"] > 1.1 * mean(played[name] for name in "bcdefgh")


def test_an_expelled_bot_is_drawn_no_more_also_after_a_restart(tmp_path: Path) -> None:
    folder = cup_of(tmp_path, "abcx", expel=5)
    _, games = play(folder, 1, 600.0, workers=2)
    (out,) = games.expelled
    count_of_x = sum(out in line.b for _, line in reader.every_line(folder))
    assert 5 <= count_of_x <= 5 + 2 * 2 + 2
    _, games = play(folder, 2, 600.0, workers=2)
    assert games.expelled == (out,)
    assert sum(out in line.b for _, line in reader.every_line(folder)) == count_of_x and count(folder) > 40


def test_64_workers_of_a_ladder_are_always_busy() -> None:
    assert busy(workers=64, bots=10, hours=0.1) >= 0.95


def test_a_ladder_finds_the_order_with_fewer_games_than_random_pairs() -> None:
    pairs, climbed = (
        mean(tau for seed in range(4) for _, tau in taus(name, 60, seed, most=40, step=40))
        for name in ("random pairs", "ladder")
    )
    assert climbed > pairs


def test_a_ladder_plays_real_games_to_its_end_and_goes_on(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate(("ann", "bob", "cid", "dan"))]
    folder = tmp_path / "cup"
    tournament(tmp_path, "--game", "tictactoe", *bots, "--format", "ladder", "--games", "13", "--ledger", folder)
    assert count(folder) == 13
    tournament(tmp_path, folder, "--games", "24", "--jobs", "2")
    assert count(folder) == 24 and {row["games"] > 5 for row in table(folder)["rows"]} == {True}


def test_a_final_follows_a_ladder_once_all_of_its_games_have_ended(tmp_path: Path) -> None:
    folder = cup_of(tmp_path, "abcdef", games=60)
    plan = read_plan(folder / PLAN).replaced(stages=(Stage(format="knockout", bots=4, games=2),))
    write_plan(plan, folder / PLAN)
    runs = 0
    while play(folder, runs, 100.0)[0] is not End.FINISHED:
        runs += 1
    lines = [line for _, line in reader.every_line(folder)]
    of_ladder = [line for line in lines if line.k.startswith(plan.conditions(""))]
    final = [line for line in lines if line not in of_ladder]
    assert runs > 1 and len(of_ladder) == 60 and len(final) >= 6
    assert max(line.at for line in of_ladder) < min(line.at for line in final)
    assert len({bot for line in final for bot in line.b}) == 4
