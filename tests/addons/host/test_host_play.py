"""The endless runner of a hosted contest: who plays, what practice games get, and who is set aside."""

import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Any
from uuid import uuid4

import msgspec
import pytest
import trio
from clusters import folder_bot
from contests import environment
from hosted_play import first_games, hosted
from hosting import ENTRY, Cup, serving, wait_for
from simulated_contests import taus
from simulated_workers import Ending, SimulatedWorkers, repeatable
from trio.testing import MockClock

from referee.addons.host import play, submissions
from referee.addons.host.failures import FAILURES
from referee.addons.host.orders import DatabaseOrders, Orders, Request, State
from referee.addons.host.play import ENOUGH_GAMES, HostGames
from referee.addons.host.practice_games import PracticeGames, checked_options
from referee.addons.tournament.execution.worker_messages import Assignment, PlayedGame
from referee.addons.tournament.inbox import Enter, Submit, Withdraw, hand_in
from referee.addons.tournament.plan import Entry, Plan, read_plan, write_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import finding, store
from referee.addons.tournament.store.ledger import PLAN, Fault, Ledger, Line, claimed
from referee.games import registry
from referee.harness.common.errors import UsageError
from referee.harness.programs import build_process

pytestmark = pytest.mark.slow

ON = State()


class Desk(Orders):
    """Orders in memory, which has the same methods as those of a database."""

    def __init__(self, *requests: Request, state: State = ON) -> None:
        self.state, self.requests = state, [*requests]
        self.played: dict[int, str] = {}
        self.failed: dict[int, str] = {}
        self.aside: list[tuple[str, str, str]] = []

    def look(self) -> State:
        return self.state

    def next_practice(self) -> Request | None:
        return self.requests.pop(0) if self.requests else None

    def practice_played(self, number: int, game: str, result: str) -> None:
        assert number not in self.played
        self.played[number] = result

    def practice_failed(self, number: int, reason: str) -> None:
        self.failed[number] = reason

    def set_aside(self, entry: Entry, why: str, instead: Entry | None) -> None:
        self.aside.append((entry.ident, why, instead.ident if instead else ""))


def version(name: str, number: int = 1) -> Entry:
    hash = f"{name}{number}".encode().hex().ljust(64, "0")
    return Entry(name, hash[:10], hash, "@random")


def cup(folder: Path, *entries: Entry) -> Path:
    found = registry.game("tictactoe")
    folder.mkdir(exist_ok=True)
    plan = Plan("tictactoe", "ladder", 1, (), games=0, time=found.time, version=found.version)
    write_plan(plan.replaced(bots=entries), folder / PLAN)
    return folder


class Hall:
    """A contest that is played by simulated workers, on a simulated clock."""

    def __init__(self, folder: Path, desk: Orders, workers: int = 2) -> None:
        self.folder, self.desk, self.workers = folder, desk, workers
        self.length_s: Callable[[Assignment], float] = lambda game: random.Random(game.key).uniform(1, 5)
        self.at_fault: Callable[[Assignment], tuple[int, ...]] = lambda game: ()
        self.began: list[tuple[float, Assignment]] = []
        """When each game began, on the simulated clock."""
        self.then: list[tuple[float, Callable[[], Any]]] = []
        """What happens at which time."""

    def play(self, seconds: float) -> HostGames:
        with claimed(self.folder), closing(Ledger(self.folder, {})) as ledger:
            plan = read_plan(self.folder / PLAN)
            games = HostGames(plan, ledger, reader.read(self.folder), self.desk, builds=False)
            trio.run(self._play, games, seconds, clock=MockClock(autojump_threshold=0.0))
        return games

    async def _play(self, games: HostGames, seconds: float) -> None:
        start = trio.current_time()

        def length(game: Assignment) -> float:
            self.began.append((trio.current_time() - start, game))
            return self.length_s(game)

        def ending(game: Assignment) -> Ending:
            return ((1, 2) if repeatable(game).random() < 0.5 else (2, 1)), self.at_fault(game)

        async def happen(at: float, what: Callable[[], Any]) -> None:
            await trio.sleep(at)
            what()

        async with trio.open_nursery() as nursery:
            pool = SimulatedWorkers(self.workers, ending, length)
            nursery.start_soon(pool.run)
            for at, what in self.then:
                nursery.start_soon(happen, at, what)
            await games.play(pool, trio.Event(), seconds)
            nursery.cancel_scope.cancel()

    def rated(self, since: float = 0.0) -> list[Assignment]:
        return [game for at, game in self.began if at >= since and not game.key.startswith("practice/")]

    def practised(self, since: float = 0.0) -> list[Assignment]:
        return [game for at, game in self.began if at >= since and game.key.startswith("practice/")]


def keys(folder: Path) -> list[str]:
    return [line.k for _, line in reader.every_line(folder)]


# Rated games.


def test_a_contest_without_bots_waits_for_two_and_then_plays(tmp_path: Path) -> None:
    hall = Hall(cup(tmp_path / "cup"), Desk())
    hall.then = [
        (20.0, lambda: hand_in(hall.folder, Submit((version("ann"),)))),
        (40.0, lambda: hand_in(hall.folder, Submit((version("bob"),)))),
        (60.0, lambda: hand_in(hall.folder, Withdraw(("bob",), void=True))),
        (80.0, lambda: hand_in(hall.folder, Enter((version("bob", 2),)))),
    ]
    hall.play(120.0)
    times = [at for at, _ in hall.began]
    assert min(times) >= 40.0 and any(at < 60.0 for at in times) and any(at > 90.0 for at in times)
    assert not [at for at in times if 75.0 < at < 80.0]


def test_a_new_version_plays_first_however_many_bots_there_are(tmp_path: Path) -> None:
    hall = Hall(cup(tmp_path / "cup", *(version(f"b{n}") for n in range(40))), Desk())
    new = [version(f"n{n}") for n in range(4)]
    for number, entry in enumerate(new):
        hall.then.append((400.0 + 60 * number, lambda entry=entry: hand_in(hall.folder, Submit((entry,)))))  # type: ignore[misc]
    hall.play(700.0)
    for number, entry in enumerate(new):
        first = min(at for at, game in hall.began if entry.ident in game.bots)
        assert first - (400.0 + 60 * number) < 10.0 + 5.0  # the games that workers had then: two of up to 5 s
    late = [game for at, game in hall.began if at > 600.0]
    assert sum(any(entry.ident in game.bots for entry in new) for game in late) < len(late)


def test_rated_games_stop_and_go_on_with_their_switch(tmp_path: Path) -> None:
    desk = Desk()
    hall = Hall(cup(tmp_path / "cup", *map(version, "abcd")), desk)
    hall.then = [
        (100.0, lambda: setattr(desk, "state", State(rated=False))),
        (200.0, lambda: setattr(desk, "state", State())),
    ]
    hall.play(300.0)
    assert hall.rated(20.0) and hall.rated(210.0)
    assert not [at for at, _ in hall.began if 130.0 < at < 200.0]


def test_quick_games_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "ENOUGH_GAMES", 20)
    hall = Hall(cup(tmp_path / "cup", *map(version, "abcd")), Desk())
    hall.length_s = lambda game: 0.01
    hall.play(60.0)
    after = [at for at, _ in hall.began if at > 30.0]
    assert 0.5 * 30 / play.PACE_S < len(after) < 1.2 * 30 / play.PACE_S
    assert ENOUGH_GAMES >= 100


# Versions that fail.


def test_a_version_that_fails_again_and_again_is_set_aside_and_the_older_one_plays_on(tmp_path: Path) -> None:
    desk = Desk()
    hall = Hall(cup(tmp_path / "cup", *map(version, "abcd")), desk)
    bad, worse = version("a", 2), version("b", 2)
    hall.at_fault = lambda game: tuple(s for s, bot in enumerate(game.bots) if bot in (bad.ident, version("c").ident))
    hall.then = [(60.0, lambda: hand_in(hall.folder, Submit((bad, worse))))]
    hall.play(600.0)
    told = {ident: (why, instead) for ident, why, instead in desk.aside}
    assert len(told) == len(desk.aside), "each is told once"
    assert told[bad.ident][1] == version("a").ident and "5 games in a row" in told[bad.ident][0]
    assert told[version("c").ident][1] == "" and "no version plays now" in told[version("c").ident][0]
    present = {entry.ident for entry in read_plan(hall.folder / PLAN).bots if not entry.absent}
    assert present == {version("a").ident, worse.ident, version("d").ident}
    times = Counter(bot for game in hall.rated() for bot in game.bots)
    assert FAILURES <= times[bad.ident] <= FAILURES + 2 * 4
    new = version("c", 3)
    hand_in(hall.folder, Submit((new,)))
    assert new.ident in {entry.ident for entry in read_plan(hall.folder / PLAN).bots if not entry.absent}


@pytest.mark.parametrize("planned", ["ab", "ba", "b"], ids=["older", "later", "without games"])
def test_whatever_other_version_was_accepted_plays_on_if_one_is_set_aside(planned: str, tmp_path: Path) -> None:
    """Also a later one, if the team went back, and one that was replaced before its first game."""
    other, bad = version("x", 1), version("x", 2)
    bots = [bad if each == "b" else msgspec.structs.replace(other, absent=True) for each in planned]
    desk = Desk()
    desk.accepted = lambda bot: [msgspec.structs.replace(each, ident="") for each in (other, bad) if each.name == bot]  # type: ignore[method-assign]
    hall = Hall(cup(tmp_path / "cup", *bots, version("y")), desk)
    hall.at_fault = lambda game: tuple(seat for seat, bot in enumerate(game.bots) if bot == bad.ident)
    hall.play(300.0)
    ((ident, why, instead),) = desk.aside
    assert (ident, instead) == (bad.ident, other.ident) and "plays on" in why
    assert [entry.ident for entry in read_plan(hall.folder / PLAN).bots if entry.name == "x" and not entry.absent] == [
        other.ident
    ]
    assert any(other.ident in game.bots for game in hall.rated())


def played(game: Assignment, fault: Fault | None, at: float = 1.0) -> PlayedGame:
    ranks = (1, 2) if fault is None or fault.seat else (2, 1)
    points = tuple(float(rank == 1) for rank in ranks)
    line = Line(game.key, game.bots, game.seed, ranks, points, a="1", at=at, f=(fault,) if fault else ())
    return PlayedGame(game.key, msgspec.json.encode(line))


def assignments(games: HostGames, count: int) -> list[Assignment]:
    async def taken() -> list[Assignment]:
        found = games.assignments()
        return [game for _ in range(count) if (game := next(found)) is not None]

    return trio.run(taken)


def test_games_that_the_machine_may_have_decided_and_good_ones_between_set_nobody_aside(tmp_path: Path) -> None:
    a, b = version("a"), version("b")
    folder, numbers = cup(tmp_path / "cup", a, b), count(1)

    def failing(faults: list[Fault | None]) -> bool:
        with closing(Ledger(folder, {})) as ledger:
            games = HostGames(read_plan(folder / PLAN), ledger, reader.read(folder), Desk(), builds=False)
            for fault in faults:
                (game,) = assignments(games, 1)
                seat = game.bots.index(a.ident)
                games.take([played(game, fault and msgspec.structs.replace(fault, seat=seat), float(next(numbers)))])
                games.begin_anew()
            return a.ident in games.failures.failing

    crash = Fault(0, "crash", "exited")
    late = Fault(0, "timeout", "late", noise=True)
    assert not failing([crash] * (FAILURES - 1) + [None])
    assert not failing([crash] * (FAILURES - 1) + [late] * 3)
    # The count goes on after a restart, and ends at the next fault.
    assert failing([crash])


def test_a_game_that_kills_workers_ends_without_points_and_play_goes_on(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", *map(version, "ab"))
    with closing(Ledger(folder, {})) as ledger:
        games = HostGames(read_plan(folder / PLAN), ledger, reader.read(folder), Desk(), builds=False)
        (game,) = assignments(games, 1)
        games.give_up(game)
        assert games.book.game(game.key) is not None and game.key not in {each.key for each in assignments(games, 9)}
    (line,) = [line for _, line in reader.every_line(folder)]
    assert line.forfeit and line.p == (0.0, 0.0) and line.r == (1, 1)


def test_a_team_reads_why_its_version_was_set_aside(tmp_path: Path) -> None:
    made = Cup(tmp_path)
    assert DatabaseOrders(made.store).accepted("Blue") == [ENTRY]
    DatabaseOrders(made.store).set_aside(ENTRY, "it was at fault in 5 games in a row; no version plays now", None)
    DatabaseOrders(made.store).set_aside(version("a bot of the organiser"), "it fails", None)
    with serving(made) as client:
        assert DatabaseOrders(made.store).accepted("Blue") == []
        for page in ("/team", "/team/versions/1"):
            assert "at fault in 5 games in a row" in client.get(page, headers=made.headers("member")).text


def test_a_team_does_not_see_its_place_of_now_while_the_table_is_frozen(tmp_path: Path) -> None:
    made = Cup(tmp_path)
    submissions.enter(made.store, version("Red"))
    folder = made.store.folder
    with closing(Ledger(folder, {})) as ledger:
        games = HostGames(read_plan(folder / PLAN), ledger, reader.read(folder), Desk(), builds=False)
        games.take([played(game, None) for game in assignments(games, 1)])
    with serving(made) as client:

        def page(path: str) -> str:
            return client.get(path, headers=made.headers("member")).text

        assert ", 1 games" in page("/team") and re.search(r"<h1>[12]\. Blue</h1>", page("/team/bot"))
        with made.store.writing() as database:
            database.execute("INSERT INTO switch (name, at, value) VALUES ('table', 0.5, 'frozen')")
        wait_for(lambda: ", 0 games" in page("/team"))
        own = page("/team/bot")
        assert "<h1>Blue</h1>" in own and "Elo" not in own and "1 games" in own


@pytest.mark.parametrize("is_ours", [False, True], ids=["a full disk", "a wrong build"])
def test_a_build_that_the_machine_ends_sets_no_version_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_ours: bool
) -> None:
    folder, notes = cup(tmp_path / "cup"), list[str]()
    bot = folder_bot(tmp_path / "bots", "ann", 1, f"# never built before: {uuid4()}")
    if is_ours:
        (bot / "bot.toml").write_text((bot / "bot.toml").read_text().replace("mkdir -p", "exit 1; mkdir -p"))
    else:
        monkeypatch.setattr(build_process, "LOW_SPACE_BYTES", 1 << 60)
    with finding([str(bot)], "tictactoe") as (found,):
        entry = msgspec.structs.replace(found.entry, ident=found.entry.hash[:10])
        store(found, folder)
    write_plan(read_plan(folder / PLAN).replaced(bots=(entry,)), folder / PLAN)
    with closing(Ledger(folder, {})) as ledger:
        games = HostGames(read_plan(folder / PLAN), ledger, reader.read(folder), Desk())

        def on_note(line: str) -> None:
            notes.append(line)
            monkeypatch.undo()  # there is room again

        games.on_note = on_note
        trio.run(games._build, entry, clock=MockClock(autojump_threshold=1.0))
        assert (entry.ident in games.failures.failing) == is_ours == (entry.ident not in games._ready)
    assert [line for line in notes if "has less than" in line and "no fault of the bot" in line] == notes
    assert len(notes) == (0 if is_ours else 1)


# Practice games.


def asked(number: int, **changes: Any) -> Request:
    return msgspec.structs.replace(Request(number, version("a"), "b"), **changes)


def test_practice_games_get_a_fifth_of_the_machine_and_all_if_nothing_else_is_played(tmp_path: Path) -> None:
    desk = Desk(*(asked(number) for number in range(1, 1000)))
    hall = Hall(cup(tmp_path / "cup", *map(version, "abcd")), desk)
    hall.then = [(300.0, lambda: setattr(desk, "state", State(rated=False)))]
    hall.play(450.0)
    shares = [sum(map(hall.length_s, games)) for games in (hall.practised(), hall.rated())]
    early = [game for at, game in hall.began if at < 290.0]
    practice_s = sum(hall.length_s(game) for game in early if game.key.startswith("practice/"))
    assert 0.15 < practice_s / sum(map(hall.length_s, early)) < 0.25
    assert shares[1] > 0 and not hall.rated(330.0)
    assert sum(map(hall.length_s, hall.practised(330.0))) > 0.9 * 2 * (450.0 - 340.0)
    assert len(desk.played) > 100 and not desk.failed


def test_no_practice_game_is_lost_when_the_contest_changes_at_any_time(tmp_path: Path) -> None:
    desk = Desk(*(asked(number) for number in range(1, 13)))
    hall = Hall(cup(tmp_path / "cup", *map(version, "abcd")), desk)
    for number in range(60):
        hall.then.append((0.7 * number, lambda n=number: hand_in(hall.folder, Submit((version("d", 2 + n),)))))  # type: ignore[misc]
    hall.play(300.0)
    assert desk.played.keys() == {*range(1, 13)}
    assert max(Counter(game.key for game in hall.practised()).values()) == 1, "and none is played twice"


def test_practice_games_are_in_no_table_and_each_has_a_replay_folder_of_its_own(tmp_path: Path) -> None:
    desk = Desk(asked(7, seed="12", seat=1), asked(8, rival="@random"))
    hall = Hall(cup(tmp_path / "cup", *map(version, "abcd")), desk)
    hall.play(60.0)
    assert desk.played.keys() == {7, 8} and not any(key.startswith("practice") for key in keys(hall.folder))
    seven = next(game for game in hall.practised() if "/7/" in game.key)
    assert seven.seed == 12 and seven.bots == (version("b").ident, version("a").ident)
    assert reader.read(hall.folder).count == len(keys(hall.folder))
    practice = PracticeGames(hall.folder, "tictactoe")
    assert practice.ended(7, 1) == desk.played[7] and practice.ended(9, 0) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rival": "cmd:touch /tmp/owned"}, "there is no bot of that name"),
        ({"rival": "x=@random"}, "there is no bot of that name"),
        ({"rival": "../../etc"}, "there is no bot of that name"),
        ({"rival": "@nobody"}, "unknown opponent"),
        ({"rival": "@C_AI_OUT_OF_BOUND"}, "it would take every seat"),
        ({"seat": 2}, "expected one of 0 to 1"),
        ({"seat": -1}, "expected one of 0 to 1"),
        ({"seed": "1e9"}, "expected a number"),
        ({"seed": "9" * 20}, "unsigned integer of 64 bits"),
        ({"options": {"shape": 3}}, "there is no shape"),
        ({"rival_is_staff": False}, "limited to the organiser's bots"),
    ],
)
def test_a_request_that_cannot_be_played_says_why(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    plan = read_plan(cup(tmp_path / "cup", *map(version, "ab")) / PLAN)
    with pytest.raises(UsageError, match=reason):
        PracticeGames(tmp_path, plan.game).prepared(asked(1, **changes), plan, State(practice="staff"))


def test_a_practice_game_is_not_much_larger_than_a_rated_one() -> None:
    def options(game: str, seats: int, **given: int) -> dict[str, Any]:
        found = registry.game(game)
        plan = Plan(game, "ladder", 1, (), games=0, seats=seats, time=found.time, version=found.version)
        return checked_options(plan, given)

    assert options("reantics", 2, draw_after=8000)["draw_after"] == 8000
    assert options("tictactoe", 2, opening=2) == {"opening": 2}
    for game, seats, given in (
        ("reantics", 2, {"draw_after": 8001}),
        ("aibg5", 4, {"rounds": 10_000_000}),
        ("aiarena21", 4, {"turns": 401}),
    ):
        with pytest.raises(UsageError, match="in practice it may be"):
            options(game, seats, **given)


# Against the clock of the machine, and against the truth.


def test_the_first_game_of_a_new_version_is_over_in_ten_seconds_while_others_play(tmp_path: Path) -> None:
    found = first_games(tmp_path, 8, 3, 1, environment(tmp_path))
    assert median(found) < 10.0  # a busy machine may make one of them late


def test_a_hosted_contest_finds_the_order_at_least_as_soon_as_random_pairs() -> None:
    found = mean(hosted(30, seed, 20) for seed in range(2))
    pairs = mean(dict(taus("random pairs", 30, seed, most=20))[20] for seed in range(2))
    assert found > pairs - 0.06 and found > 0.65  # two runs differ by some 0.04
