"""Large tournaments: numpy and the code without it count and rate alike."""

import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.addons.tournament.formats.designs import rows
from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports.rows import Row, Standings
from referee.addons.tournament.reports.standings import standings
from referee.addons.tournament.statistics import rating
from referee.addons.tournament.store import ledger
from referee.addons.tournament.store.reader import Book
from referee.harness.match.interval import Interval

SHAPES = (
    "connected",
    "two halves",
    "repeats",
    "equal programs",
    "all won",
    "forfeits",
    "no contents",
    "ties only",
)


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
            game = ScheduledGame(seats, number)
            line = ledger.Line(
                keys.key(game), tuple(keys.idents[bot] for bot in seats), 1, ranks, points,
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


@pytest.mark.slow
@pytest.mark.skipif(os.cpu_count() == 1 or not Path("/proc/self/task").is_dir(), reason="threads cannot be counted")
def test_large_standings_take_no_core_from_bots(tmp_path: Path) -> None:
    code = (
        "import os; from pathlib import Path; from referee.benchmarks.standings import *\n"
        f"folder = Path({str(tmp_path)!r}); simulate(folder, 60, 2000)\n"
        "standings(read_plan(folder / PLAN), reader.read(folder))\n"
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


def without_ratings(row: Row) -> Row:
    return msgspec.structs.replace(row, elo=None, sound=None, p_first=None, rank=0, score=round(row.score, 9))


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_and_loops_give_the_same_table(shape: str, seats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    luck = random.Random(f"{shape} {seats}")
    for _ in range(6):
        bots = luck.randrange(seats + 4, 24, 2)
        programs = [luck.randrange(bots // 2) if shape == "equal programs" else place for place in range(bots)]
        entries = identified([Entry(f"bot {at}", "", f"{of:064x}"[::-1], "@random") for at, of in enumerate(programs)])
        plan = Plan("tictactoe" if seats == 2 else "aibg5", "round-robin", 1, entries, seats=seats)
        written = list(lines(luck, plan, shape))
        found, expected = (table(plan, luck.sample(written, len(written)), large, monkeypatch) for large in (1, 1_000))
        assert [*map(without_ratings, sorted(found.rows, key=lambda row: row.ident))] == [
            *map(without_ratings, sorted(expected.rows, key=lambda row: row.ident))
        ]
        assert found.cross == expected.cross
        assert [(row.rank, row.name) for row in found.rows] == [(row.rank, row.name) for row in expected.rows]
        for one, other in zip(found.rows, expected.rows, strict=True):
            assert close(one.elo, other.elo) and close(one.sound, other.sound), (one, other)
            assert (one.p_first is None) == (other.p_first is None)
            assert abs((one.p_first or 0) - (other.p_first or 0)) < 0.025
        assert (found.fairness, found.notes) == (expected.fairness, expected.notes)
        assert (found.played, found.different) == (expected.played, expected.different)


def a_plan(bots: int) -> Plan:
    entries = [Entry(f"bot {at}", "", f"{at:064x}"[::-1], "@random") for at in range(bots)]
    return Plan("tictactoe", "round-robin", 1, identified(entries))


def test_standings_have_points_and_ranks_before_they_have_ratings() -> None:
    plan, book = a_plan(8), Book()
    for line in lines(random.Random(1), plan, "connected"):
        book.add(line)
    soon, later = standings(plan, book, rated=False), standings(plan, book)
    assert [(row.name, row.rank, row.points) for row in soon.rows] == [
        (row.name, row.rank, row.points) for row in later.rows
    ]
    assert all(row.elo is None for row in soon.rows) and all(row.elo for row in later.rows)


@pytest.mark.slow
def test_another_thread_copies_a_book_while_games_are_added() -> None:
    plan, book = a_plan(60), Book()
    written = [*lines(random.Random(2), plan, "connected")]
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
    plan, book = a_plan(101), Book()
    for line in lines(random.Random(3), plan, "connected"):
        book.add(line)
    found = standings(plan, book, rated=False)
    assert found.cross == {} and all(row.games for row in found.rows)


def table(plan: Plan, written: list[bytes], large: int, monkeypatch: pytest.MonkeyPatch) -> Standings:
    """Returns the table with numpy from `large` bots on."""
    monkeypatch.setattr(rating, "LARGE", large)
    book = Book()
    for line in written:
        book.add(line)
    return standings(plan, book)
