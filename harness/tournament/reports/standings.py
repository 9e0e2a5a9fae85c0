"""Standings and crosstable, made from the plan and the ledger alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from referee.harness.tournament.formats.games import half_points
from referee.harness.tournament.formats.schedules import BRACKETS
from referee.harness.tournament.plan import Plan, number_of_games, same_programs
from referee.harness.tournament.reports.bracket import drawn
from referee.harness.tournament.reports.counted_games import (
    SeedGroups,
    bots_of,
    counting,
    endings,
    line_ups_of,
    models_used,
    seed_groups,
)
from referee.harness.tournament.reports.fairness import fairness
from referee.harness.tournament.reports.notes import (
    DISTINCT,
    games_without_value,
    general_notes,
    leaders_at_fault,
    ranking_rule,
    superiority,
)
from referee.harness.tournament.reports.order import ordered
from referee.harness.tournament.reports.rows import COPIES, NO_INFORMATION, Cell, Row, Standings
from referee.harness.tournament.statistics import rating
from referee.harness.tournament.statistics.rating import Tally
from referee.harness.tournament.store.reader import Book


def standings(plan: Plan, book: Book, chances: bool = True) -> Standings:
    """Ranks the bots as the plan's format does. Without `chances`, P(#1) is left out."""
    entries, past = plan.bots, [*games_without_value(plan, book)]
    book, surplus = counting(plan, book)
    labels = plan.labels
    rows = [Row(labels[entry.ident], entry.ident, entry.bot, absent=entry.absent) for entry in entries]
    cells: dict[tuple[int, int], Cell] = {}
    _count_games(plan, book, rows, cells)
    for bot, use in models_used(plan, book).items():
        rows[bot].model = use
    total, (different, seatings) = book.count, _different(plan, book, rows)
    due = _due(plan, book)
    _rate(plan, book, rows, cells, chances)
    if seatings == different < total:
        for row in rows:
            row.p_first, row.note = None, COPIES if row.games else row.note
    ranked: list[Row] = []
    for equal in ordered(plan, book, rows, cells):
        rank = len(ranked) + 1
        for bot in equal:
            rows[bot].rank = rank
            ranked.append(rows[bot])
    cross: dict[str, dict[str, Cell]] = {}
    for (bot, rival), cell in sorted(cells.items(), key=itemgetter(0)):
        cross.setdefault(rows[bot].name, {})[rows[rival].name] = cell
    return Standings(
        title=plan.title,
        game=plan.game,
        format=plan.format,
        ranking=ranking_rule(plan),
        due=due if due is None or total <= due else None,
        played=total,
        different=different,
        voids=book.voids,
        copies_of_lines=book.doubles,
        rows=ranked,
        cross=cross,
        notes=[
            *leaders_at_fault(ranked),
            *same_programs(plan),
            *([] if different < DISTINCT * total else superiority(plan, ranked, cross)),
            *general_notes(plan, total, different, ranked, surplus),
            *past,
        ],
        fairness=fairness(((kind, times) for _, kind, times in endings(plan, book)), book),
        brackets=[drawn(plan, book, plan.format)] if plan.format in BRACKETS else [],
    )


def _due(plan: Plan, book: Book) -> int | None:
    """Returns the number of games in all: those of the bots that take part, and those that absent bots have played."""
    due, absent = number_of_games(plan), {entry.ident for entry in plan.bots if entry.absent}
    if due is not None and absent and plan.format not in ("ladder", "groups"):
        due += sum(len(games) for each, games in book.line_ups.items() if not absent.isdisjoint(bots_of(each)))
    return due


def _count_games(plan: Plan, book: Book, rows: list[Row], cells: dict[tuple[int, int], Cell]) -> None:
    """Counts every game in the rows and cells."""
    paid: list[list[float]] = [[] for _ in rows]
    for seats, kind, times in endings(plan, book):
        for seat, bot in enumerate(seats):
            row, rank, lost = rows[bot], kind.r[seat], kind.expelled[seat]
            row.games += times
            row.wins += times * (rank == 1 and kind.r.count(1) == 1 and not lost)
            row.draws += times * (rank == 1 and kind.r.count(1) > 1 and not lost)
            row.losses += times * (rank > 1 or lost)
            row.faults += times * (kind.faults >> seat & 1)
            row.noise += times * (kind.noise >> seat & 1)
            row.forfeits += times * lost
            paid[bot].append(kind.p[seat] * times)
            for rival, other in zip(seats, kind.r, strict=True):
                if rival != bot:
                    earned = 0 if lost else times * half_points(rank, other)
                    row.points += earned  # whole numbers: their sum is the same in any order
                    cell = cells.setdefault((bot, rival), Cell())
                    cell.games += times
                    cell.points += earned / 2
    for row, payments in zip(rows, paid, strict=True):
        row.points, row.score = row.points / (2 * (plan.seats - 1)), math.fsum(payments)


def _different(plan: Plan, book: Book, rows: Sequence[Row]) -> tuple[int, int]:
    """Counts the different games of each row. Returns the number of different games and of different seatings.

    A program that was entered twice is one program here. A game without a known content differs from all others.
    """
    programs = plan.programs
    contents: dict[tuple[int | None, tuple[int, ...]], list[set[int]]] = defaultdict(list)
    for orders, games in line_ups_of(plan, book):
        by_row: dict[int, set[int]] = defaultdict(set)
        for number, game in games.items():
            by_row[number % Book.ROWS].add(game.content or ~number)
        for row, different in by_row.items():
            for bot in (None, *orders[row]):
                contents[bot, tuple(programs[each] for each in orders[row])].append(different)
    counts = {of: len(set().union(*sets)) for of, sets in contents.items()}
    for (bot, _), count in counts.items():
        if bot is not None:
            rows[bot].different += count
    whole = [count for (bot, _), count in counts.items() if bot is None]
    return sum(whole), len(whole)


def _rate(plan: Plan, book: Book, rows: list[Row], cells: dict[tuple[int, int], Cell], chances: bool) -> None:
    """Fits all games jointly and counts the pentanomials. A test run has no ratings: its opponents are tests."""
    if plan.format == "judged":
        return
    tally, programs, repeated = Tally(len(rows)), plan.programs, []
    for group, contents in seed_groups(plan, book):
        if any(programs.count(programs[bot]) > 1 for bot in group[0].bots):
            repeated.append((group, contents))
        else:
            tally.add(group, contents)
        if plan.seats == len(group) == 2 and group[0].bots == group[1].bots[::-1]:
            earned = 2 + half_points(*group[0].ranks) - half_points(*group[1].ranks)
            for game, place in zip(group, (earned, 4 - earned), strict=True):
                cell = cells[game.bots[0], game.bots[1]]
                cell.penta = cell.penta or [0] * 5
                cell.penta[place] += len(contents)
    for group, contents in _joined(programs, repeated):
        tally.add(group, contents)
    sound = tally.ratings(without_faults=True, draws=0) if tally.faulty else None
    for bot, (row, rated) in enumerate(zip(rows, tally.ratings(draws=rating.DRAWS if chances else 0), strict=True)):
        if row.games:
            row.elo, row.note = rated.elo, rated.note
            row.p_first = rated.p_rank[0] if rated.p_rank and rated.note != NO_INFORMATION else None
            row.sound = None if sound is None else sound[bot].elo


def _joined(programs: Sequence[int], groups: Iterable[SeedGroups]) -> Iterator[SeedGroups]:
    """Joins equal games of the same programs under several names: they are one observation."""
    equal: dict[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]], list[tuple[list[rating.Game], int]]] = {}
    for group, contents in groups:
        seats = tuple(tuple(programs[bot] for bot in game.bots) for game in group)
        for each, times in Counter(contents).items():
            if 0 in each:
                yield group, [each] * times
            else:
                equal.setdefault((seats, each), []).append((group, times))
    for (_, each), found in equal.items():
        before = 0
        for times in sorted({times for _, times in found}):
            together = [group for group, most in found if most >= times]
            yield [game for group in together for game in group], [each * len(together)] * (times - before)
            before = times
