"""Standings of many games and bots, compared with games that are counted one by one."""

import math
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_ledgers import simulate

from referee.addons.tournament.formats.designs import rows
from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified, write_plan
from referee.addons.tournament.reports.counted_games import SeedGroups, joined, seed_groups
from referee.addons.tournament.reports.rows import COPIES
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.statistics.rating import Rating, rate
from referee.addons.tournament.statistics.tally import Tally
from referee.addons.tournament.store import ledger
from referee.addons.tournament.store.reader import Book
from referee.harness.match.interval import Interval

SHAPES = ("connected", "two halves", "repeats", "equal programs", "all won", "forfeits", "no contents", "ties only")


def lines(luck: random.Random, plan: Plan, shape: str) -> Iterator[bytes]:
    """Yields the games of a random tournament, with seed groups of which some are not finished."""
    keys, bots = Keys(plan), len(plan.bots)
    strengths = [luck.gauss(0, 1) for _ in plan.bots]
    for number in range(12 * bots):
        line_up = luck.sample(range(bots), plan.seats)
        if shape == "two halves":
            line_up = [bot // 2 * 2 + number % 2 for bot in line_up]
        if len(set(line_up)) < plan.seats or luck.random() < 0.1:
            continue
        content = 0 if shape == "no contents" else luck.randrange(1, 4 if shape == "repeats" else 1 << 60)
        for order in rows(plan.seats)[: luck.choice((1, plan.seats, plan.seats))]:
            seats = tuple(line_up[place] for place in order)
            ranks, points = result(luck, seats, strengths, shape)
            if shape in ("repeats", "equal programs"):  # equal seats and contents are one game
                of_game = random.Random(f"{content % 3} {[plan.programs[bot] for bot in seats]}")
                ranks, points = result(of_game, seats, strengths, "connected")
            forfeit = shape == "forfeits" and luck.random() < 0.2
            if forfeit:
                points = tuple(float(luck.random() < 0.5) for _ in seats)
                ranks = tuple(1 if each or not any(points) else 1 + int(sum(points)) for each in points)
            at_fault = [] if shape == "repeats" or luck.random() > 0.1 else [luck.randrange(plan.seats)]
            line = ledger.Line(
                keys.key(ScheduledGame(seats, number)), tuple(keys.idents[bot] for bot in seats), 1, ranks, points,
                a=f"{content % 3 + 1 if shape == 'equal programs' else content:x}", at=float(number), forfeit=forfeit,
                f=tuple(ledger.Fault(seat, "crash", "", noise=luck.random() < 0.5) for seat in at_fault),
            )  # fmt: skip
            yield msgspec.json.encode(line)


def result(
    luck: random.Random, seats: tuple[int, ...], strengths: list[float], shape: str
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Returns ranks and points. With `all won`, bot 0 wins all its games and bot 1 loses all."""
    performed = [round(strengths[bot] + luck.gauss(0, 2)) for bot in seats]
    if shape == "all won":
        performed = [{0: 99, 1: -99}.get(bot, each) for bot, each in zip(seats, performed, strict=True)]
    if shape == "ties only":
        performed = [0] * len(seats)
    ranks = tuple(1 + sum(other > own for other in performed) for own in performed)
    return ranks, tuple(0.1 * each for each in performed)


@given(at=st.floats(allow_nan=False), content=st.integers(0, 1 << 64))
def test_a_game_in_memory_has_the_time_and_the_content_of_its_line(at: float, content: int) -> None:
    book, line = Book(), ledger.Line("c/a-b/0/0", ("a", "b"), 1, (1, 2), (1.0, 0.0), at=at, a=f"{content:x}")
    if not math.isfinite(at):  # JSON has no such number
        return
    assert book.add(msgspec.json.encode(line))
    game = book.game(line.k)
    assert game is not None and (game.at, game.content) == (at, content % (1 << 64))
    assert sys.getsizeof(game) + sys.getsizeof(game.packed) <= 96, "a million games fit into 500 MiB"


@pytest.mark.skipif(os.cpu_count() == 1 or not Path("/proc/self/task").is_dir(), reason="threads cannot be counted")
def test_large_standings_take_no_core_from_bots(tmp_path: Path) -> None:
    simulate(tmp_path, 60, 2000)
    code = (
        "import os; from pathlib import Path\n"
        "from referee.addons.tournament.plan import read_plan\n"
        "from referee.addons.tournament.reports.standings import standings\n"
        "from referee.addons.tournament.store import reader\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "standings(read_plan(folder / 'tournament.toml'), reader.read(folder))\n"
        "import numpy; numpy.linalg.inv(numpy.eye(400))\n"
        "print(len(os.listdir('/proc/self/task')), 'OPENBLAS_NUM_THREADS' in os.environ)"
    )
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"


def close(one: Interval | None, other: Interval | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = [(one.value, other.value), (one.low, other.low), (one.high, other.high)]
    return all(a == b or (a is not None and b is not None and abs(a - b) < 1e-6) for a, b in pairs)


Cells = dict[tuple[str, str], tuple[int, float, int]]
"""By bot and rival: games, points, and games that were decided without play."""


def counted(plan: Plan, written: list[bytes]) -> tuple[dict[str, tuple[object, ...]], Cells]:
    """Counts every line by itself. Returns the counts of each bot's row, and the results of each pair."""
    names, programs = plan.labels, dict(zip((entry.ident for entry in plan.bots), plan.programs, strict=True))
    counts: dict[str, Counter[str]] = {name: Counter() for name in names.values()}
    different: dict[str, set[object]] = defaultdict(set)
    cells: Cells = {}
    for line in (msgspec.json.decode(each, type=ledger.Line) for each in written):
        lost = [line.forfeit and not points for points in line.p]
        game = tuple(programs[ident] for ident in line.b), int(line.a, 16) or line.k
        for seat, ident in enumerate(line.b):
            count, first = counts[names[ident]], line.r[seat] == 1
            faults = [fault for fault in line.f if fault.seat == seat]
            count["games"] += 1
            count["wins"] += first and line.r.count(1) == 1 and not lost[seat]
            count["draws"] += first and line.r.count(1) > 1 and not lost[seat]
            count["losses"] += not first or lost[seat]
            count["faults"] += bool(faults)
            count["noise"] += any(fault.noise for fault in faults)
            count["forfeits"] += lost[seat]
            different[names[ident]].add(game)
            for other, rival in enumerate(line.b):
                if other != seat:
                    won = 0.0 if lost[seat] else ((line.r[seat] < line.r[other]) + (line.r[seat] <= line.r[other])) / 2
                    games, points, forfeits = cells.get(pair := (names[ident], names[rival]), (0, 0.0, 0))
                    cells[pair] = games + 1, points + won, forfeits + line.forfeit
    kinds = ("games", "wins", "draws", "losses", "faults", "noise", "forfeits")
    return {name: (*(count[kind] for kind in kinds), len(different[name])) for name, count in counts.items()}, cells


def rated(plan: Plan, book: Book) -> list[tuple[Rating, ...]]:
    """Fits the ratings of seed groups that were counted one by one: of all games, and of those without a fault."""
    tally, programs, repeated = Tally(len(plan.bots)), plan.programs, list[SeedGroups]()
    for group, contents in seed_groups(plan, book):
        if any(programs.count(programs[bot]) > 1 for bot in group[0].bots):
            repeated.append((group, contents))
        else:
            tally.add(group, contents)
    for group, contents in joined(programs, repeated):
        tally.add(group, contents)
    return [rate(tally.bots, tally.weights(without)) for without in (False, True)]


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_is_that_of_games_counted_one_by_one(shape: str, seats: int) -> None:
    luck = random.Random(f"{shape} {seats}")
    for _ in range(2):
        bots = luck.randrange(seats + 4, 16, 2)
        programs = [luck.randrange(bots // 2) if shape == "equal programs" else place for place in range(bots)]
        entries = identified([Entry(f"bot {at}", "", f"{of:064x}"[::-1], "@random") for at, of in enumerate(programs)])
        plan = Plan("tictactoe" if seats == 2 else "aibg5", "round-robin", 1, entries, seats=seats)
        written, book = list(lines(luck, plan, shape)), Book()
        for line in luck.sample(written, len(written)):
            book.add(line)
        found = standings(plan, book)
        rows, cells = counted(plan, written)
        assert {
            row.name: (row.games, row.wins, row.draws, row.losses, row.faults, row.noise, row.forfeits, row.different)
            for row in found.rows
        } == rows
        assert {
            (one, other): (cell.games, cell.points, cell.forfeits)
            for one, met in found.cross.items()
            for other, cell in met.items()
        } == cells
        for row in found.rows:
            won = sum(points for (name, _), (_, points, _) in cells.items() if name == row.name)
            assert row.points == pytest.approx(won / (seats - 1))
        places = {entry.ident: place for place, entry in enumerate(plan.bots)}
        expected, sound = rated(plan, book)
        for row in found.rows:
            own = expected[places[row.ident]]
            assert row.elo is None or (close(row.elo, own.elo) and row.note in (own.note, COPIES))
            assert row.p_first is None or row.p_first == pytest.approx(own.p_first, abs=0.002)
            assert row.sound is None or close(row.sound, sound[places[row.ident]].elo)


def test_a_tournament_without_games_or_bots_has_a_table() -> None:
    for bots in (0, 3):
        found = standings(a_plan(bots), Book())
        assert [row.games for row in found.rows] == [0] * bots and found.played == found.different == 0


def without_numpy(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command of a Python that has no numpy."""
    code = (
        "import sys; sys.modules['numpy'] = None; import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'numpy' else find(name, *more)\n"
        f"from referee.harness.cli.main import main; sys.exit(main({words!r}))"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("command", ["run", "show"])
def test_without_numpy_the_command_says_how_to_install_it(command: str, tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    write_plan(a_plan(2), tmp_path / "cup" / "tournament.toml")
    done = without_numpy(tmp_path, "tournament", command, "cup")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and not (tmp_path / "cup" / "ledger").exists(), said
    assert "standings need the extra `tournament`; to install it: " in said and " -m pip install " in said


def test_a_gate_needs_no_numpy(tmp_path: Path) -> None:
    gate = ("gate", "@random", "@random", "--game", "tictactoe", "--max-games", "4", "--jobs", "1", "--ledger", "gate")
    done = without_numpy(tmp_path, *gate)
    assert done.returncode == 4, done.stderr


def a_plan(bots: int) -> Plan:
    entries = [Entry(f"bot {at}", "", f"{at:064x}"[::-1], "@random") for at in range(bots)]
    return Plan("tictactoe", "round-robin", 1, identified(entries))


def written_games(bots: int, seed: int) -> tuple[Plan, list[bytes]]:
    plan = a_plan(bots)
    return plan, [*lines(random.Random(seed), plan, "connected")]


def test_standings_have_points_and_ranks_before_they_have_ratings() -> None:
    plan, written = written_games(8, 1)
    book = Book()
    book.add_lines(b"\n".join(written))
    found = [standings(plan, book, rated=rated).rows for rated in (False, True)]
    soon, later = ([(row.name, row.rank, row.points) for row in rows] for rows in found)
    assert soon == later
    assert all(row.elo is None for row in found[0]) and all(row.elo for row in found[1])


def test_another_thread_copies_a_book_while_games_are_added() -> None:
    (plan, written), book = written_games(60, 2), Book()
    standings(plan, book)
    counts = []

    def copy() -> None:
        while book.count < len(written):
            found = standings(plan, book.copy(), rated=False)
            assert sum(row.games for row in found.rows) == 2 * found.played
            counts.append(found.played)

    with ThreadPoolExecutor(1) as pool:
        copying = pool.submit(copy)
        for line in written:
            book.add(line)
            time.sleep(0.0003)
        copying.result()
    assert counts == sorted(counts) and len(set(counts)) > 3


def test_more_than_a_hundred_bots_have_no_crosstable() -> None:
    (plan, written), book = written_games(101, 3), Book()
    book.add_lines(b"\n".join(written))
    found = standings(plan, book, rated=False)
    assert found.cross == {} and all(row.games for row in found.rows)
