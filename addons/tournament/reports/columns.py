"""The games that count as columns of numpy arrays, one entry a game: loops would take a minute for a million games."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations

import numpy as np

from referee.addons.tournament.formats.games import half_points
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.counted_games import bots_of, joined, seed_groups
from referee.addons.tournament.reports.rows import Cell, Row
from referee.addons.tournament.statistics.rating import (
    DRAWS,
    Array,
    Observations,
    Rating,
    fitted,
    joined_observations,
    observations,
    parts_of,
)
from referee.addons.tournament.statistics.tally import Pairs, Tally, Weight
from referee.addons.tournament.store.reader import Book, Kind


class Columns:
    """The games of a book, sorted by bots, line-up and number, in whatever order they were read."""

    def __init__(self, plan: Plan, book: Book) -> None:
        self.plan, self.book, seats, places = plan, book, plan.seats, plan.places
        idents = (places[ident] for each in book.line_ups for ident in bots_of(each))
        in_order = np.fromiter(idents, np.int32, len(book.line_ups) * seats).reshape(-1, seats)
        self.sorting = np.lexsort(in_order.T)
        """By line-up here, its place in the book."""
        in_order = in_order[self.sorting]  # its bots, in the order of their idents
        games = list(book.line_ups.values())
        games = [games[place] for place in self.sorting.tolist()]
        line_up = np.repeat(np.arange(len(games), dtype=np.int32), list(map(len, games)))
        number = np.fromiter(chain.from_iterable(games), np.int64, book.count)
        order = np.lexsort((number, line_up))
        self.line_up, self.number = line_up, number[order]
        kind = np.fromiter((game.kind.number for each in games for game in each.values()), np.int32, book.count)
        used = np.flatnonzero(np.bincount(kind))
        self.kind = np.searchsorted(used, kind[order]).astype(np.int32)
        """By game, the place of its ending in `kinds`."""
        content = (game.content for each in games for game in each.values())
        self.content = np.fromiter(content, np.uint64, book.count)[order]
        orders, rows = np.array(list(permutations(range(seats)))), (self.number % Book.ROWS).astype(np.int16)
        self.bots = np.column_stack([in_order[line_up, orders[rows, seat]] for seat in range(seats)])
        """By game and seat, the place of the bot in the plan."""
        self.kinds = [book.kinds[number] for number in used.tolist()]
        self.ranks = np.array([each.r for each in self.kinds], int).reshape(-1, seats)
        self.lost = np.array([each.expelled for each in self.kinds], bool).reshape(-1, seats)
        """By ending and seat, whether the bot lost without play."""

    def endings(self) -> Iterator[tuple[Kind, int]]:
        """Yields the endings and how many games had each."""
        yield from zip(self.kinds, np.bincount(self.kind).tolist(), strict=True)

    def count_games(self, rows: Sequence[Row]) -> "PairTotals":
        """Counts every game in the rows. Returns the results of the pairs."""
        seats, first = self.plan.seats, self.ranks == 1
        shared = first.sum(axis=1, keepdims=True) > 1
        seat_bits = 1 << np.arange(seats)
        flags = {
            "games": np.ones_like(first),
            "wins": first & ~shared & ~self.lost,
            "draws": first & shared & ~self.lost,
            "losses": ~first | self.lost,
            "faults": np.array([each.faults for each in self.kinds], int)[:, None] & seat_bits > 0,
            "noise": np.array([each.noise for each in self.kinds], int)[:, None] & seat_bits > 0,
            "forfeits": self.lost,
        }
        sums = {name: np.zeros(len(rows)) for name in flags}
        paid: list[list[float]] = [[] for _ in rows]
        for seat in range(seats):
            keys = self.bots[:, seat] * np.int64(len(self.kinds)) + self.kind
            different, times = _counted(keys, len(rows) * len(self.kinds))
            bots, kinds = np.divmod(different, len(self.kinds))
            for name, flag in flags.items():
                sums[name] += np.bincount(bots, times * flag[kinds, seat], len(rows))
            for bot, kind, often in zip(bots.tolist(), kinds.tolist(), times.tolist(), strict=True):
                paid[bot].append(self.kinds[kind].p[seat] * often)
        for name, counted in sums.items():
            for row, total in zip(rows, counted.tolist(), strict=True):
                setattr(row, name, int(total))
        totals = self._pair_totals(len(rows))
        for row, half, payments in zip(rows, totals.halves.sum(axis=1).tolist(), paid, strict=True):
            row.points, row.score = half / (2 * (seats - 1)), math.fsum(payments)
        return totals

    def _pair_totals(self, bots: int) -> "PairTotals":
        totals = PairTotals(bots)
        forfeits = np.array([kind.forfeit for kind in self.kinds], np.int32)
        for seat, other in permutations(range(self.plan.seats), 2):
            halves = [0 if kind.expelled[seat] else half_points(kind.r[seat], kind.r[other]) for kind in self.kinds]
            pairs = self.bots[:, seat], self.bots[:, other]
            np.add.at(totals.games, pairs, 1)
            np.add.at(totals.halves, pairs, np.array(halves, np.int32)[self.kind])
            np.add.at(totals.forfeits, pairs, forfeits[self.kind])
        for table in (totals.games, totals.halves, totals.forfeits):
            np.fill_diagonal(table, 0)  # a bot that met itself
        return totals

    def count_game_pairs(self, cells: Mapping[int, Mapping[int, Cell]]) -> None:
        """Counts the pentanomials of a game with two seats."""
        games = np.flatnonzero(self._played)
        starts, sizes = self._groups(games)
        starts, bots = starts[sizes == 2], self.bots[games]
        there, back = bots[starts], bots[starts + 1]
        swapped = np.asarray((there == back[:, ::-1]).all(axis=1))
        halves = np.array([half_points(*kind.r) for kind in self.kinds], int)[self.kind[games]]
        earned = 2 + halves[starts] - halves[starts + 1]
        different, counts = np.unique(np.column_stack([there, earned])[swapped], axis=0, return_counts=True)
        for (one, other, place), times in zip(different.tolist(), counts.tolist(), strict=True):
            for cell, at in ((cells[one][other], place), (cells[other][one], 4 - place)):
                cell.penta = cell.penta or [0] * 5
                cell.penta[at] += times

    def count_different(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Counts the different games of each row. Returns the number of different games and of different seatings.

        A program that was entered twice is one program here. A game without a known content differs from all others.
        """
        seating = _mixed(*np.array(self.plan.programs, int)[self.bots].T)
        game = _mixed(seating, np.where(self.content == 0, ~self.number.astype(np.uint64), self.content))
        total = len(_firsts(game)), len(_firsts(seating))
        first = _firsts(_mixed(game[:, None], self.bots).reshape(-1))
        for row, count in zip(rows, np.bincount(self.bots.reshape(-1)[first], minlength=len(rows)), strict=True):
            row.different = int(count)
        return total

    def ratings(self, chances: bool) -> tuple[tuple[Rating, ...], tuple[Rating, ...] | None]:
        """Fits all games jointly; with `chances`, P(#1) too.

        Returns the ratings, and those without games with a fault; None if there are no such games.
        """
        bots, programs = len(self.plan.bots), np.array(self.plan.programs, int)
        twice = np.bincount(programs)[programs] > 1
        repeated = np.asarray(twice[self.bots].any(axis=1))
        tally = Tally(bots)  # counts the games of programs that were entered twice
        places = set(self.sorting[np.unique(self.line_up[repeated])].tolist())
        of_these = self.book.of(
            {each: games for at, (each, games) in enumerate(self.book.line_ups.items()) if at in places}
        )
        for group, contents in joined(self.plan.programs, seed_groups(self.plan, of_these)):
            tally.add(group, contents)
        faulty = np.array([kind.faults or kind.forfeit for kind in self.kinds], bool)[self.kind]
        counted = ~repeated & self._played
        found = fitted(bots, self._observations(counted, tally.weights()), 0, DRAWS if chances else 0)
        if not (counted & faulty).any() and not tally.faulty:
            return found, None
        sound = self._observations(counted & ~faulty, tally.weights(without_faults=True))
        return found, fitted(bots, sound, 0, 0)

    @property
    def _played(self) -> Array:
        """By game, False if all its bots are expelled, so that it says nothing about their strength."""
        return np.asarray(~self.lost.all(axis=1))[self.kind]

    def _groups(self, games: Array) -> tuple[Array, Array]:
        """Returns the start and the number of games of each seed group among these games."""
        line_up, group = self.line_up[games], self.number[games] // Book.ROWS
        starts = np.flatnonzero(np.append(True, (np.diff(line_up) != 0) | (np.diff(group) != 0))[: len(games)])
        return starts, np.diff(np.append(starts, len(games)))

    def _observations(self, kept: Array, others: Mapping[Pairs, Weight]) -> Observations:
        """Returns the results of the seed groups of these games, and others."""
        games = np.flatnonzero(kept).astype(np.int32)
        parts = [self._results(games[part]) for part in parts_of(self.line_up[games])]
        return joined_observations([*parts, observations(others)])

    def _results(self, games: Array) -> Observations:
        """Returns the results of the seed groups of these games. All copies of one are one result."""
        starts, sizes = self._groups(games)
        bots, content, ranks = self.bots[games], self.content[games], self.ranks[self.kind[games]]
        course = np.add.reduceat(_mixed(*bots.T, content), starts)
        unknown = np.logical_or.reduceat(content == 0, starts)
        course = np.where(unknown, _mixed(np.arange(len(starts))), course)
        _, originals, copies = np.unique(course, return_index=True, return_counts=True)
        order = originals.argsort()
        result = np.full(len(starts), -1)
        result[originals[order]] = np.arange(len(originals))
        of_game, count = np.repeat(result, sizes), len(self.plan.bots)
        keys, shares = [], []
        for seat, other in combinations(range(self.plan.seats), 2):
            one, two = bots[:, seat], bots[:, other]
            ahead = (ranks[:, seat] < ranks[:, other]) + (ranks[:, seat] == ranks[:, other]) / 2
            key = (of_game * count + np.minimum(one, two)) * count + np.maximum(one, two)
            counted = (one != two) & (of_game >= 0)
            keys.append(key[counted])
            shares.append(np.where(one < two, ahead, 1 - ahead)[counted])
        pairs, entry, met = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
        shares_of = np.bincount(entry.reshape(-1), np.concatenate(shares))
        pairs, second = np.divmod(pairs, count)
        results, first = (each.astype(np.int32) for each in np.divmod(pairs, count))
        times = copies[order].astype(float)
        return Observations(
            results, first, second.astype(np.int32), shares_of, met.astype(float), times, times**2, np.ones_like(times)
        )


class PairTotals(Mapping[int, dict[int, Cell]]):
    """The results of every bot against each rival, made when they are read: a thousand bots have a million."""

    def __init__(self, bots: int) -> None:
        self.games, self.halves, self.forfeits = (np.zeros((bots, bots), np.int32) for _ in range(3))
        """By bot and rival: games, half points and games that were decided without play."""

    def __getitem__(self, bot: int) -> dict[int, Cell]:
        rivals = np.flatnonzero(self.games[bot])
        columns = (rivals, self.games[bot, rivals], self.halves[bot, rivals] / 2, self.forfeits[bot, rivals])
        found = zip(*(column.tolist() for column in columns), strict=True)
        return {rival: Cell(games, points, forfeits) for rival, games, points, forfeits in found}

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.games.any(axis=1)).tolist())

    def __len__(self) -> int:
        return int(self.games.any(axis=1).sum())


def _firsts(keys: Array) -> Array:
    """Returns a place of each different key."""
    found, part_of = [], keys >> np.uint64(61)
    for number in range(8):  # in parts, because sorting takes three times the memory of the keys
        places = np.flatnonzero(part_of == number)
        places = places[keys[places].argsort()]
        found.append(places[np.diff(keys[places], prepend=~keys[places[:1]]) != 0])
    return np.concatenate(found)


def _counted(keys: Array, size: int) -> tuple[Array, Array]:
    """Returns the different keys below `size`, and how often each occurs."""
    if size > len(keys):
        return np.unique(keys, return_counts=True)
    times = np.bincount(keys, minlength=1)
    different = np.flatnonzero(times)
    return different, times[different]


def _mixed(*columns: Array) -> Array:
    """Returns a hash of each row of the columns (splitmix64)."""
    mixed = np.zeros(1, np.uint64)
    for column in columns:
        mixed = mixed + column.astype(np.uint64)
        mixed += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
    return mixed
