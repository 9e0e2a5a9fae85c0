"""Which games a tournament consists of. Pure: a format looks at what has been played and says what is due.

A format is a generator of slots. It is lazy, so that a million games need no list, and it yields None when what comes
next depends on games that it has named and that are not played yet. What it yields follows from the field and the
results alone, in whatever order these come in: so an interrupted tournament goes on exactly where it was.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice, pairwise, takewhile
from typing import Protocol

from msgspec import Struct

from referee.games.dice import Dice, derive_seed
from referee.harness.tournament.formats.designs import Table, fours, in_list_order, pairings, rows, seated

FIRST, FINAL = "groups", "final"
"""The two stages of `groups`, which may be played on different maps."""


class Slot(Struct, frozen=True, gc=False):
    """One game to be played."""

    seats: tuple[int, ...]
    """The bot, by its place on the list, at each seat."""
    orbit: int
    """Games of one orbit have one seed and all rows of seats: the unit of statistics."""
    stage: str = ""
    """Which conditions it is played under, where a format has several."""


class Outcome(Struct, frozen=True, gc=False):
    """What a format needs to know of a played game; both in seat order."""

    ranks: tuple[int, ...]
    points: tuple[float, ...]


class Results(Protocol):
    """What has been played."""

    def get(self, slot: Slot, /) -> Outcome | None: ...


class Seating(StrEnum):
    """How seats go round."""

    ORBIT = "orbit"
    """Every seed is played in all rows of seats: luck and the seat's advantage are the same for all."""
    ALTERNATE = "alternate"
    """Every game has a seed of its own; the seats turn from game to game."""
    FIXED = "fixed"
    """Every game has a seed of its own; whoever was named first has the first seat."""


class Field(Struct, frozen=True):
    """What is to be arranged."""

    bots: int
    seats: int = 2
    """At one table."""
    games: int = 2
    """Of every pairing or table; 0 = without end, for the ladder."""
    seed: int = 0
    seating: Seating = Seating.ORBIT
    first_to: int | None = None
    """Of a series: so many wins decide it; default: more than half of the games."""
    rounds: int | None = None
    absent: tuple[int, ...] = ()
    """Bots that do not show up."""
    cases: tuple[tuple[int, int], ...] = ()
    """Of a judged run: each opponent's place on the list (behind `bots`), and its seat."""


Slots = Iterator[Slot | None]
Format = Callable[[Field, Results], Slots]


# What all formats are made of.


def slots_of(field: Field, table: Sequence[int], games: range, stage: str = "") -> Iterator[Slot]:
    """Games of one table by their numbers."""
    turns = len(rows(len(table)))
    for game in games:
        if field.seating is Seating.ORBIT:
            orbit, row = divmod(game, turns)
            yield Slot(seated(table, orbit, row), orbit, stage)
        elif field.seating is Seating.ALTERNATE:
            yield Slot(seated(table, game // turns, game % turns), game, stage)
        else:
            yield Slot(tuple(table), game, stage)


def breadth_first(field: Field, tables: Callable[[], Iterator[Table]]) -> Iterator[Slot]:
    """One orbit of every table, then the next: whenever a tournament is broken off, all have played about as much."""
    turns = len(rows(field.seats)) if field.seating is Seating.ORBIT else 1
    for first in range(0, field.games, turns):
        again: dict[Table, int] = {}
        for table in tables():
            number = again[table] = again.get(table, -1) + 1  # a table may be laid more than once
            start = number * field.games + first
            yield from slots_of(field, table, range(start, min(start + turns, (number + 1) * field.games)))


def present(field: Field) -> list[int]:
    """The bots that show up."""
    return [bot for bot in range(field.bots) if bot not in field.absent]


def _of(bots: Sequence[int], tables: Iterator[Table]) -> Iterator[Table]:
    return (tuple(bots[place] for place in table) for table in tables)


# Two seats and four.


def round_robin(field: Field, results: Results) -> Slots:
    """Everybody against everybody; with four seats at tables on which all meet about equally often."""
    bots = present(field)
    if field.seats == 2:
        return breadth_first(field, lambda: _of(bots, pairings(len(bots))))
    return breadth_first(field, lambda: _of(bots, fours(len(bots), field.rounds)))


def list_order(field: Field, results: Results) -> Slots:
    """ReAntics' round robin: pair after pair in the order of the list, all games of each before the next
    (reantics.md 10)."""
    bots = present(field)
    for table in _of(bots, in_list_order(len(bots))):
        yield from slots_of(field, table, range(field.games))


def gauntlet(field: Field, results: Results) -> Slots:
    """The first bot against each of the others."""
    one, *others = present(field)
    if field.seats == 2:
        return breadth_first(field, lambda: ((one, other) for other in others))
    size = field.seats - 1
    groups = [others[start : start + size] for start in range(0, len(others), size)]
    groups[-1] += [other for other in others if other not in groups[-1]][: size - len(groups[-1])]
    return breadth_first(field, lambda: ((one, *group) for group in groups))


def one_table(field: Field, results: Results) -> Slots:
    """The bots as they are named, at one table."""
    return breadth_first(field, lambda: iter([tuple(present(field))]))


def self_play(field: Field, results: Results) -> Slots:
    """A program against itself: its copies stand behind it on the list. One row a seed, for the others would be the
    same game; what it shows is the worth of a seat."""
    return slots_of(Field(field.bots, field.seats, seating=Seating.FIXED), tuple(range(field.bots)), range(field.games))


def judged(field: Field, results: Results) -> Slots:
    """Every bot against every case of the Arena's judged run (tictactoe.md, quoridor.md and connectfour.md, B3)."""
    for orbit in range(max(field.games, 1)):
        for bot in present(field):
            for opponent, seat in field.cases:
                yield Slot((opponent, bot) if seat == 0 else (bot, opponent), orbit)


# A series: whoever first wins so many games.


def wins_of_series(games: int, first_to: int | None) -> int:
    """How many wins decide a series."""
    return first_to or games // 2 + 1


def series(field: Field, results: Results) -> Slots:
    """Every pair plays until one has won `first_to` games; seats alternate, each game has its own seed (cardgame.md
    10). Only games that are certain to be needed are named: nothing is played for nothing, at any number of lanes."""
    bots = present(field)
    first_to = wins_of_series(field.games, field.first_to)
    alternating = Field(field.bots, field.seats, field.games, field.seed, Seating.ALTERNATE)
    open_series = [_Series(alternating, table, first_to) for table in _of(bots, pairings(len(bots)))]
    while open_series:
        waiting = True
        for match in open_series:
            for slot in match.due(results):
                waiting = False
                yield slot
        open_series = [match for match in open_series if not match.over(results)]
        if waiting and open_series:
            yield None


class _Series:
    """A pair at play."""

    def __init__(self, field: Field, table: Table, first_to: int) -> None:
        self.field, self.table, self.first_to = field, table, first_to
        self.wins = [0, 0]
        self.counted = 0
        self.named = 0

    def due(self, results: Results) -> Iterator[Slot]:
        """The games that are needed whatever the running ones end like."""
        self.over(results)
        until = min(self.counted + self.first_to - max(self.wins), self.field.games)
        first, self.named = self.named, max(self.named, until)
        return slots_of(self.field, self.table, range(first, self.named))

    def over(self, results: Results) -> bool:
        """Counts what is played, in the order of the games; True = decided."""
        while self.counted < self.named and max(self.wins) < self.first_to:
            (slot,) = slots_of(self.field, self.table, range(self.counted, self.counted + 1))
            outcome = results.get(slot)
            if outcome is None:
                return False
            self.counted += 1
            if outcome.ranks[0] != outcome.ranks[1]:
                self.wins[self.table.index(slot.seats[outcome.ranks.index(1)])] += 1
        return max(self.wins) >= self.first_to or self.counted >= self.field.games


def series_ranking(bots: int, won: Mapping[tuple[int, int], int]) -> list[list[int]]:
    """The card competition's order (cardgame.md 10): best first; those of one list share a rank.

    `won[a, b]`: the games that a won against b, of their match.
    """

    def beats(one: int, two: int) -> bool:
        return won.get((one, two), 0) > won.get((two, one), 0)

    defeated = [sum(beats(bot, other) for other in range(bots) if other != bot) for bot in range(bots)]
    total = [sum(games for (one, _), games in won.items() if one == bot) for bot in range(bots)]

    def by_match(equal: list[int]) -> list[list[int]]:
        one, two = equal
        return [[one], [two]] if beats(one, two) else [[two], [one]] if beats(two, one) else [equal]

    order: list[list[int]] = []
    for equal in _equals(range(bots), defeated):
        if len(equal) < 3:
            order += by_match(equal) if len(equal) == 2 else [equal]
            continue
        for still in _equals(equal, total):
            order += by_match(still) if len(still) == 2 else [still]
    return order


def _equals(bots: Sequence[int], worth: Sequence[float]) -> list[list[int]]:
    """Those of equal worth together, the best first."""
    return [
        [bot for bot in bots if worth[bot] == value] for value in sorted({worth[bot] for bot in bots}, reverse=True)
    ]


# Swiss: pairs of about equal score.


def swiss_rounds(bots: int, rounds: int | None) -> int:
    """Of a Swiss tournament, if so many were asked for: no more than there are opponents."""
    return min(rounds or math.ceil(math.log2(bots)) + 2, bots - 1 + bots % 2)


def swiss(field: Field, results: Results) -> Slots:
    """Rounds of orbits between bots of about equal score that have not met. Without colours, for an orbit has both
    seats; a bye is a won orbit. Rounds: ⌈log2 n⌉ + 2 unless said otherwise. Where a rematch cannot be avoided, it
    consists of further orbits."""
    bots = present(field)
    rounds = swiss_rounds(len(bots), field.rounds)
    score = dict.fromkeys(bots, 0.0)
    meetings: dict[Table, int] = {}
    byes: set[int] = set()
    order = list(bots)
    Dice(derive_seed(field.seed, "swiss")).shuffle(order)
    for _ in range(rounds):
        order.sort(key=lambda bot: -score[bot])  # stable: the draw decides between equals
        resting, pairs = _round(order, score, meetings, byes)
        if resting is not None:
            byes.add(resting)
            score[resting] += field.games
        games = []
        for one, two in pairs:
            table = (min(one, two), max(one, two))
            start = meetings.get(table, 0) * field.games
            meetings[table] = meetings.get(table, 0) + 1
            games += list(slots_of(field, table, range(start, start + field.games)))
        yield from games
        while any(results.get(slot) is None for slot in games):
            yield None
        for slot in games:
            outcome = results.get(slot)
            assert outcome is not None
            for bot, share in zip(slot.seats, shares(outcome.ranks), strict=True):
                score[bot] += share


def swiss_byes(field: Field, slots: Slots) -> dict[int, int]:
    """How often each bot has rested, by the slots that a Swiss has come to: its rounds are named whole."""
    bots = present(field)
    byes = dict.fromkeys(bots, 0)
    if len(bots) % 2:
        named = takewhile(lambda slot: slot is not None, slots)
        while games := list(islice(named, len(bots) // 2 * field.games)):
            playing = {bot for slot in games if slot is not None for bot in slot.seats}
            for bot in bots:
                byes[bot] += bot not in playing
    return byes


def _round(
    order: Sequence[int], score: Mapping[int, float], meetings: Mapping[Table, int], byes: set[int]
) -> tuple[int | None, list[Table]]:
    """Who rests, if they are odd: the last without a bye with whom the others can avoid rematches; and the pairs, with
    as few rematches as can be."""
    resting: list[int | None] = [None]
    if len(order) % 2:
        resting = [*(bot for bot in reversed(order) if bot not in byes)] or [order[-1]]
    tries = iter(range(TRIES))
    for rematches in range(len(order) // 2 + 1):
        for rest in resting:
            pairs = _paired([bot for bot in order if bot != rest], score, meetings, rematches, tries)
            if pairs is not None:
                return rest, pairs
    playing = [bot for bot in order if bot != resting[0]]
    return resting[0], list(zip(playing[::2], playing[1::2], strict=True))


TRIES = 100_000
"""Pairs of a round are looked for so often, which takes a second; then they are taken as they stand."""


def _paired(
    bots: Sequence[int], score: Mapping[int, float], meetings: Mapping[Table, int], rematches: int, tries: Iterator[int]
) -> list[Table] | None:
    """Pairs with so many rematches at most: the upper half of a score group against its lower half, where that is
    possible. None if there are no such pairs, or if they are too hard to find."""

    def search(left: list[int], rematches: int) -> list[Table] | None:
        if not left:
            return []
        if next(tries, None) is None:
            return None
        one, *others = left
        group = [other for other in others if score[other] == score[one]]
        half = (len(group) + 1) // 2
        for two in [*group[half - 1 :], *reversed(group[: half - 1]), *others[len(group) :]]:
            again = (min(one, two), max(one, two)) in meetings
            if again <= rematches:
                rest = search([bot for bot in others if bot != two], rematches - again)
                if rest is not None:
                    pair: Table = (one, two)
                    return [pair, *rest]
        return None

    return search(list(bots), rematches)


def shares(ranks: Sequence[int]) -> list[float]:
    """What a rank is worth between 0 and 1: the part of the others that finished behind, a tie counting half."""
    others = len(ranks) - 1
    return [sum((rank < other) + (rank == other) / 2 for other in ranks) / others - 0.5 / others for rank in ranks]


# Ladder: open end.


def ladder(field: Field, results: Results) -> Slots:
    """Five orbits of every pairing, then always the neighbours in rank that are most probably in the wrong order.

    `games`: how many in all, 0 = without end. A batch is named when the one before is played, from its own games alone,
    so that it goes the same way after an interruption.
    """
    bots, turns = present(field), len(rows(field.seats))
    named = 0
    tallies = {table: _Tally() for table in _of(bots, pairings(len(bots)))}
    batch = [slot for orbit in range(5) for table in tallies for slot in _orbit(field, table, orbit, turns)]
    while batch := batch[: field.games - named] if field.games else batch:
        named += len(batch)
        yield from batch
        if named == field.games:
            return  # bots may not be connected by games yet, so that nobody has neighbours
        while any(results.get(slot) is None for slot in batch):
            yield None
        for slot in batch:
            outcome = results.get(slot)
            assert outcome is not None
            table = (min(slot.seats), max(slot.seats))
            tallies[table].add(shares(outcome.ranks)[slot.seats.index(table[0])])
        for table in {(min(slot.seats), max(slot.seats)) for slot in batch}:
            tallies[table].orbits = 1 + max(slot.orbit for slot in batch if set(slot.seats) == set(table))
        doubtful = _doubtful(bots, tallies)
        batch = [slot for table in doubtful for slot in _orbit(field, table, tallies[table].orbits, turns)]


def _orbit(field: Field, table: Table, orbit: int, turns: int) -> Iterator[Slot]:
    orbits = Field(field.bots, field.seats, seating=Seating.ORBIT)
    return slots_of(orbits, table, range(orbit * turns, (orbit + 1) * turns))


class _Tally:
    """What one has taken from the other."""

    def __init__(self) -> None:
        self.games = self.orbits = 0
        self.share = self.squares = 0.0

    def add(self, share: float) -> None:
        self.games += 1
        self.share += share
        self.squares += share * share


def _doubtful(bots: Sequence[int], tallies: Mapping[Table, _Tally]) -> list[Table]:
    """Half of the neighbours in rank, those whose order is the least certain."""
    score = dict.fromkeys(bots, 0.0)
    for (one, two), tally in tallies.items():
        mean = (tally.share + 0.5) / (tally.games + 1)
        score[one] += mean
        score[two] += 1 - mean
    order = sorted(bots, key=lambda bot: (-score[bot], bot))
    tables: list[Table] = [(min(pair), max(pair)) for pair in pairwise(order)]
    return sorted(tables, key=lambda table: (_certainty(tallies[table]), table))[: max(1, len(tables) // 2)]


def _certainty(tally: _Tally) -> float:
    """How many standard errors the better of two is ahead of the other."""
    mean = tally.share / tally.games
    variance = max(tally.squares / tally.games - mean * mean, 0.01)
    return abs(mean - 0.5) / math.sqrt(variance / tally.games)


# Groups and a final: AIBG.


def groups(field: Field, results: Results) -> Slots:
    """Drawn groups of one table each, whose winners meet in a final (aibg5.md 1). A group with a vacancy plays last,
    with the best second of the others: by score, then drawn.

    A group is decided by the sum of its ranks, then of its scores, then drawn; `games` is how many each plays.
    """
    drawn = draw(field)
    complete = [group for group in drawn if len(group) == field.seats]
    short = [group for group in drawn if len(group) < field.seats]
    orders: list[_Order] = []
    for drawn_groups in (complete, short):
        spare = iter(_seconds(field, orders))
        wave = [[*group, *islice(spare, field.seats - len(group))] for group in drawn_groups]
        games = [list(slots_of(field, table, range(field.games), FIRST)) for table in wave]
        for slots in games:
            yield from slots
        while any(results.get(slot) is None for slots in games for slot in slots):
            yield None
        orders += [_ordered(field, table, slots, results) for table, slots in zip(wave, games, strict=True)]
    finalists = [order.bots[0] for order in orders]
    finalists = list(dict.fromkeys([*finalists, *_seconds(field, orders)]))[: field.seats]
    if len(finalists) == field.seats:  # few bots may meet again: in games that they have not played
        before = field.games * sum(set(order.bots) == set(finalists) for order in orders)
        yield from slots_of(field, tuple(finalists), range(before, before + field.games), FINAL)


class _Order(Struct):
    """A group that has been played."""

    bots: list[int]
    """Best first."""
    scores: dict[int, float]


def draw(field: Field) -> list[list[int]]:
    """The groups, with those alone who show up; none of which nobody does. ValueError if they do not lead to one
    final."""
    bots = list(range(field.bots))
    Dice(derive_seed(field.seed, "groups")).shuffle(bots)
    count = math.ceil(len(bots) / field.seats)
    if count > field.seats or count < 2:
        raise ValueError(
            f"groups of {field.seats} with one final take {field.seats + 1} to {field.seats**2} bots, not {field.bots}"
        )
    whole = [bots[start : start + field.seats] for start in range(0, len(bots), field.seats)]
    drawn = [[bot for bot in group if bot not in field.absent] for group in whole]
    drawn = [group for group in drawn if group]
    if not any(len(group) == field.seats for group in drawn):
        raise ValueError("no group is complete: there is no second of another group to fill a vacancy")
    vacant = sum(field.seats - len(group) for group in drawn)
    spare = sum(field.seats - 1 for group in drawn if len(group) == field.seats)
    if len(drawn) < 2:
        raise ValueError("of one of the two groups nobody shows up: there is no final to be played")
    if vacant > spare:
        raise ValueError(f"the groups have {vacant} vacancies; the complete ones have {spare} bots to fill them")
    return drawn


def _seconds(field: Field, orders: list[_Order]) -> list[int]:
    """The seconds, then the thirds …, of the played groups: by score, then drawn."""
    found: list[int] = []
    for place in range(1, field.seats):
        by_score = [
            (-order.scores[order.bots[place]], derive_seed(field.seed, "second", order.bots[place]), order.bots[place])
            for order in orders
        ]
        found += [bot for *_, bot in sorted(by_score) if bot not in found]
    return found


def _ordered(field: Field, table: Sequence[int], slots: Sequence[Slot], results: Results) -> _Order:
    ranks, scores = dict.fromkeys(table, 0), dict.fromkeys(table, 0.0)
    for slot in slots:
        outcome = results.get(slot)
        assert outcome is not None
        for bot, rank, points in zip(slot.seats, outcome.ranks, outcome.points, strict=True):
            ranks[bot] += rank
            scores[bot] += points
    order = sorted(table, key=lambda bot: (ranks[bot], -scores[bot], derive_seed(field.seed, "lot", bot)))
    return _Order(order, scores)


FORMATS: Mapping[str, Format] = {
    "round-robin": round_robin,
    "list-order": list_order,
    "gauntlet": gauntlet,
    "ladder": ladder,
    "swiss": swiss,
    "series": series,
    "groups": groups,
    "self": self_play,
    "judged": judged,
    "two-player": one_table,
    "play-self": self_play,
    "play-all": gauntlet,
}
"""By the name that `--format` takes; the last three and `list-order` are ReAntics' (reantics.md 10)."""
BY_NAME_FIXED = frozenset({"list-order", "two-player", "play-all"})
"""Formats of ReAntics, where seats stay unless alternating starts were asked for."""
BY_RESULTS = frozenset({"swiss", "series", "groups", "ladder"})
"""Formats in which results decide what is played next: no part of them can be played apart."""
NO_FURTHER = frozenset({"self", "play-self", "two-player", "judged", "groups"})
"""Formats whose bots are fixed when they begin."""
