"""The games that count, counted game by game. `columns` counts the same with arrays, for large tournaments."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from referee.addons.tournament.formats.games import half_points
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import SeedGroups, endings, joined, line_ups_of, seed_groups
from referee.addons.tournament.reports.rows import Cell, Row
from referee.addons.tournament.statistics.rating import Rating, Tally
from referee.addons.tournament.store.reader import Book, Kind


class Loops:
    """The games of a book, for the standings."""

    def __init__(self, plan: Plan, book: Book) -> None:
        self.plan, self.book = plan, book
        self._groups: list[SeedGroups] | None = None

    def endings(self) -> Iterator[tuple[Kind, int]]:
        """Yields the endings and how many games had each."""
        for _, kind, times in endings(self.plan, self.book):
            yield kind, times

    def count_games(self, rows: Sequence[Row]) -> dict[int, dict[int, Cell]]:
        """Counts every game in the rows. Returns the results of every bot against each rival."""
        cells: dict[int, dict[int, Cell]] = defaultdict(dict)
        paid: list[list[float]] = [[] for _ in rows]
        for seats, kind, times in endings(self.plan, self.book):
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
                        cell = cells[bot].setdefault(rival, Cell())
                        cell.games += times
                        cell.points += earned / 2
                        cell.forfeits += times * kind.forfeit
        for row, payments in zip(rows, paid, strict=True):
            row.points, row.score = row.points / (2 * (self.plan.seats - 1)), math.fsum(payments)
        return cells

    def count_different(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Counts the different games of each row. Returns the number of different games and of different seatings.

        A program that was entered twice is one program here. A game without a known content differs from all others.
        """
        programs = self.plan.programs
        contents: dict[tuple[int | None, tuple[int, ...]], list[set[int]]] = defaultdict(list)
        for orders, games in line_ups_of(self.plan, self.book):
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

    def _seed_groups(self) -> list[SeedGroups]:
        if self._groups is None:
            self._groups = list(seed_groups(self.plan, self.book))
        return self._groups

    def count_game_pairs(self, cells: Mapping[int, Mapping[int, Cell]]) -> None:
        """Counts the pentanomials of a game with two seats."""
        for group, contents in self._seed_groups():
            if len(group) == 2 and group[0].bots == group[1].bots[::-1]:
                earned = 2 + half_points(*group[0].ranks) - half_points(*group[1].ranks)
                for game, place in zip(group, (earned, 4 - earned), strict=True):
                    cell = cells[game.bots[0]][game.bots[1]]
                    cell.penta = cell.penta or [0] * 5
                    cell.penta[place] += len(contents)

    def ratings(self, draws: int) -> tuple[tuple[Rating, ...], tuple[Rating, ...] | None]:
        """Fits all games jointly. Returns the ratings, and those without games with a fault; None if there are none."""
        tally, programs, repeated = Tally(len(self.plan.bots)), self.plan.programs, []
        for group, contents in self._seed_groups():
            if any(programs.count(programs[bot]) > 1 for bot in group[0].bots):
                repeated.append((group, contents))
            else:
                tally.add(group, contents)
        for group, contents in joined(programs, repeated):
            tally.add(group, contents)
        return tally.ratings(draws=draws), tally.ratings(without_faults=True, draws=0) if tally.faulty else None
