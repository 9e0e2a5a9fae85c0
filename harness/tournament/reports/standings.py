"""Standings and crosstable, made from the plan and the ledger alone."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from operator import itemgetter

from msgspec import Struct

from referee.games.dice import derive_seed
from referee.harness.tournament.formats.games import FINAL, FIRST, Outcome, ScheduledGame
from referee.harness.tournament.formats.schedules import SELF_PLAY
from referee.harness.tournament.formats.series import series_ranking
from referee.harness.tournament.formats.swiss import swiss_byes
from referee.harness.tournament.model import Keys, Plan, number_of_games, same_programs
from referee.harness.tournament.reports import figures
from referee.harness.tournament.statistics import rating
from referee.harness.tournament.statistics.rating import Tally
from referee.harness.tournament.statistics.score import FEW, Interval, Sample, strength
from referee.harness.tournament.store.reader import Book, Game, Kind, LedgerResults

COPIES, NO_INFORMATION = "copies", "no information"
"""Notes on ratings that do not say who is probably the best."""
DISTINCT = 0.9
"""With a smaller share of different games, the standings warn and do not say who is better."""
UNEQUAL = ("ladder", "gauntlet", "play-all")
"""Formats in which some bots play more games than others, by design."""

_SeedGroups = tuple[list[rating.Game], list[tuple[int, ...]]]
"""Seed groups that ended alike: the games of one, and the contents of the games of each."""


class Row(Struct):
    """A bot's line."""

    name: str
    ident: str
    rank: int = 0
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """Summed over games: the share of rivals that it finished ahead of, a tie counting half."""
    score: float = 0.0
    """Summed over games: what the game itself paid."""
    faults: int = 0
    """Games in which it was at fault."""
    noise: int = 0
    """Of these, those in which machine load may have caused the fault."""
    forfeits: int = 0
    """Games that it lost without play after it was expelled. They are not faults."""
    different: int = 0
    """Games that do not repeat another one of its games."""
    byes: int = 0
    """Rounds of a Swiss without an opponent. Each counts as a won game pair."""
    absent: bool = False
    elo: Interval | None = None
    """Relative to the average bot, fitted to all games at once; see `rating`."""
    p_first: float | None = None
    """The chance that it is the best; None if nothing is known about it."""
    note: str = ""
    """About the rating: `few`, `no information`, or `copies` if all games are repeats."""
    sound: Interval | None = None
    """The rating without games with a fault; None if there are no such games."""


class Cell(Struct):
    """The results of one bot against another."""

    games: int = 0
    points: float = 0.0
    penta: list[int] = []
    """Games with two seats: how many game pairs gave it 0, ½, 1, 1½ and 2 points."""


class Standings(Struct):
    """All results of a tournament so far."""

    game: str
    format: str
    due: int | None
    """The number of games in all; None if it depends on results."""
    played: int
    different: int
    voids: int
    copies_of_lines: int
    """Second ledger lines of a game, which do not count."""
    rows: list[Row]
    """Best first."""
    cross: dict[str, dict[str, Cell]]
    """The results of the first named against the second."""
    notes: list[str]


def counting(plan: Plan, book: Book) -> Book:
    """Returns the games that count.

    They are under the plan's conditions and between bots of its list. Where results decide who meets whom, the format
    must also arrive at them: it may have had other games before a bot was added, or on another machine.
    """
    planned = _planned(plan, book)
    return _scheduled(plan, planned) if plan.format in ("swiss", "series", "groups") else planned


def _planned(plan: Plan, book: Book) -> Book:
    conditions, idents = {plan.conditions(stage) for stage in plan.stages}, {entry.ident for entry in plan.bots}
    line_ups = {}
    for line_up, games in book.line_ups.items():
        condition, _, bots = line_up.partition("/")
        seated = bots.split("-")
        if condition in conditions and len(seated) == plan.seats and idents.issuperset(seated):
            line_ups[line_up] = games
    return book.of(line_ups)


def _scheduled(plan: Plan, book: Book) -> Book:
    keys = Keys(plan)
    line_ups: dict[str, dict[int, Game]] = {}
    for scheduled in plan.scheduled_games(LedgerResults(keys, book)):
        if scheduled is None:
            break
        line_up, row = keys.line_up_row(scheduled)
        game = book.find(line_up, scheduled.seed_group, row)
        if game is not None:
            line_ups.setdefault(line_up, {})[scheduled.seed_group * Book.ROWS + row] = game
    return book.of(line_ups)


def played_games(plan: Plan, book: Book) -> Iterator[tuple[tuple[int, ...], Kind]]:
    """Yields the bots by seat and the ending of every game."""
    for orders, games in _line_ups(plan, book):
        for number, game in games.items():
            yield orders[number % Book.ROWS], game.kind


def _game_counts(
    plan: Plan, book: Book, contents: dict[tuple[int, ...], set[int]]
) -> Iterator[tuple[tuple[int, ...], Kind, int]]:
    """Yields bots by seat, endings, and how many games had both: a million games have few kinds.

    Adds the contents of the games to `contents`, by the bots' seats. A game without a known content differs from all
    others.
    """
    rows = Book.ROWS
    for orders, games in _line_ups(plan, book):
        kinds = Counter([game.kind.number * rows + number % rows for number, game in games.items()])
        for row in sorted({code % rows for code in kinds}):
            different = {game.content or ~number for number, game in games.items() if number % rows == row}
            contents[orders[row]] = contents.get(orders[row], set()) | different
        for code, times in kinds.items():
            yield orders[code % rows], book.kinds[code // rows], times


def _line_ups(plan: Plan, book: Book) -> Iterator[tuple[list[tuple[int, ...]], dict[int, Game]]]:
    """Yields, for each line-up, the bots by seat in each row, and the games."""
    places = {entry.ident: place for place, entry in enumerate(plan.bots)}
    for line_up, games in book.line_ups.items():
        idents = line_up.partition("/")[2].split("-")
        yield [tuple(places[ident] for ident in order) for order in permutations(idents)], games


def standings(plan: Plan, book: Book, chances: bool = True) -> Standings:
    """Ranks the bots as the plan's format does. Without `chances`, P(#1) is left out."""
    entries, planned = plan.bots, _planned(plan, book)
    book = counting(plan, book)
    rows = [Row(entry.name, entry.ident, absent=entry.absent) for entry in entries]
    cells: dict[tuple[int, int], Cell] = {}
    contents: dict[tuple[int, ...], set[int]] = {}
    total = _count_games(plan, book, rows, cells, contents)
    different, seatings = _different(plan, contents, rows)
    _rate(plan, book, rows, cells, chances)
    if seatings == different < total:
        for row in rows:
            row.p_first, row.note = None, COPIES if row.games else row.note
    ranked: list[Row] = []
    for equal in _order(plan, book, rows):
        rank = len(ranked) + 1
        for bot in equal:
            rows[bot].rank = rank
            ranked.append(rows[bot])
    cross: dict[str, dict[str, Cell]] = {}
    for (bot, rival), cell in sorted(cells.items(), key=itemgetter(0)):
        cross.setdefault(entries[bot].name, {})[entries[rival].name] = cell
    return Standings(
        game=plan.game,
        format=plan.format,
        due=number_of_games(plan),
        played=total,
        different=different,
        voids=book.voids,
        copies_of_lines=book.doubles,
        rows=ranked,
        cross=cross,
        notes=[
            *same_programs(plan),
            *([] if different < DISTINCT * total else _superiority(plan, ranked, cross)),
            *_load_notes(ranked, book.voids),
            *_notes(plan, total, different, ranked),
            *_surplus(planned, book),
        ],
    )


def _count_games(
    plan: Plan,
    book: Book,
    rows: list[Row],
    cells: dict[tuple[int, int], Cell],
    contents: dict[tuple[int, ...], set[int]],
) -> int:
    """Counts every game in the rows and cells. Returns the number of games."""
    halves = [0] * len(rows)  # whole numbers: their sum is the same in any order, and so equal for equal bots
    paid: list[list[float]] = [[] for _ in rows]
    total = 0
    for seats, kind, times in _game_counts(plan, book, contents):
        total += times
        best = kind.r.count(1)
        for seat, bot in enumerate(seats):
            row = rows[bot]
            row.games += times
            halves[bot] += times * sum((kind.r[seat] < rank) + (kind.r[seat] <= rank) for rank in kind.r) - times
            paid[bot].append(kind.p[seat] * times)
            row.faults += (kind.faults >> seat & 1) * times
            row.noise += (kind.noise >> seat & 1) * times
            row.forfeits += (kind.forfeit and not kind.p[seat]) * times
            if kind.r[seat] > 1:
                row.losses += times
            elif best > 1:
                row.draws += times
            else:
                row.wins += times
            for other, rival in enumerate(seats):
                if rival != bot:
                    cell = cells.setdefault((bot, rival), Cell())
                    cell.games += times
                    cell.points += times * ((kind.r[seat] < kind.r[other]) + (kind.r[seat] <= kind.r[other])) / 2
    for row, steps, payments in zip(rows, halves, paid, strict=True):
        row.points, row.score = steps / (2 * (plan.seats - 1)), math.fsum(payments)
    return total


def _different(plan: Plan, contents: Mapping[tuple[int, ...], set[int]], rows: Sequence[Row]) -> tuple[int, int]:
    """Counts the different games of each row. Returns the number of different games and of different seatings.

    A program that was entered twice is one program here.
    """
    programs = plan.programs
    games_of: dict[tuple[int | None, tuple[int, ...]], list[set[int]]] = {}
    for seats, games in contents.items():
        seating = tuple(programs[bot] for bot in seats)
        for bot in (None, *seats):
            games_of.setdefault((bot, seating), []).append(games)
    counts = {of: len(sets[0]) if len(sets) == 1 else len(set().union(*sets)) for of, sets in games_of.items()}
    for (bot, _), count in counts.items():
        if bot is not None:
            rows[bot].different += count
    whole = [count for (bot, _), count in counts.items() if bot is None]
    return sum(whole), len(whole)


# Notes.


def _notes(plan: Plan, total: int, different: int, rows: Sequence[Row]) -> list[str]:
    notes = []
    if total and different < DISTINCT * total:
        left_out = "; P(#1) is left out, because other games may end differently"
        notes.append(
            f"only {different} of {total} games are different: the rest are repeats: deterministic bots replaying the "
            "same game; an option that varies the start, such as `opening`, makes them differ"
            + left_out
            * any(row.note == COPIES for row in rows)
        )
    if equal := [row.name for row in rows if row.note == NO_INFORMATION and row.games]:
        notes.append(f"P(#1) is left out for {', '.join(equal)}: all seed groups ended alike, which shows no spread")
    few = [row.name for row in rows if row.note == "few"]
    if few:
        of = "per bot" if len(few) == len(rows) else f"of {', '.join(few)}"
        notes.append(f"fewer than {FEW} seed groups {of}: intervals are still rough")
    sound = [f"{row.name} {figures.rating(row.sound)}" for row in rows if row.sound not in (None, row.elo)]
    if sound:
        notes.append(f"Elo without games with a fault: {', '.join(sound)}")
    if plan.format == "judged":
        notes.append("points are what the cases of the test run paid, 100 a run")
    return notes


def _superiority(plan: Plan, rows: Sequence[Row], cross: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Says how certain it is that one bot is better, if only two have played."""
    played = [row for row in rows if row.games]
    if len(played) != 2 or plan.seats != 2 or plan.format in (*SELF_PLAY, "judged"):
        return []
    one, two = played
    penta = cross[one.name][two.name].penta
    found = strength(Sample(tuple(penta)) if any(penta) else Sample((one.losses, one.draws, one.wins), games=1))
    return (
        [] if found.los is None else [f"LOS {figures.los(found)}: the chance that {one.name} is better than {two.name}"]
    )


def _surplus(planned: Book, book: Book) -> list[str]:
    surplus = planned.count - book.count
    return [f"{surplus} games do not count: the tournament as it is now does not arrive at them"] if surplus else []


def _load_notes(rows: Sequence[Row], voids: int) -> list[str]:
    """Says how many faults machine load may have caused."""
    faults, slowed = sum(row.faults for row in rows), sum(row.noise for row in rows)
    notes = []
    if slowed:
        of = ", ".join(f"{row.name} {row.noise} of {row.faults}" for row in rows if row.noise)
        notes.append(f"{slowed} of {faults} games with a fault were slowed by machine load: {of}")
    if voids:
        notes.append(f"{voids} games were slowed by machine load and played again; these do not count")
    return notes


# Ratings.


def _rate(plan: Plan, book: Book, rows: list[Row], cells: dict[tuple[int, int], Cell], chances: bool) -> None:
    """Fits all games jointly and counts the pentanomials. A test run has no ratings: its opponents are tests."""
    if plan.format == "judged":
        return
    tally = Tally(len(rows))
    pairs: dict[tuple[tuple[int, ...], int], int] = {}
    programs, repeated = plan.programs, []
    for group, contents in _seed_groups(plan, book):
        if any(programs.count(programs[bot]) > 1 for bot in group[0].bots):
            repeated.append((group, contents))
        else:
            tally.add(group, contents)
        if plan.seats == len(group) == 2:
            first, back = group
            if first.bots == back.bots[::-1]:
                key = first.bots, _half_points(first.ranks) + 2 - _half_points(back.ranks)
                pairs[key] = pairs.get(key, 0) + len(contents)
    for group, contents in _joined(programs, repeated):
        tally.add(group, contents)
    for ((one, other), half_points), times in pairs.items():
        for pair, place in (((one, other), half_points), ((other, one), 4 - half_points)):
            cell = cells.get(pair)
            if cell is not None:
                cell.penta = cell.penta or [0] * 5
                cell.penta[place] += times
    sound = tally.ratings(without_faults=True, draws=0) if tally.faulty else None
    for bot, (row, rated) in enumerate(zip(rows, tally.ratings(draws=rating.DRAWS if chances else 0), strict=True)):
        if row.games:
            row.elo, row.note = rated.elo, rated.note
            row.p_first = rated.p_rank[0] if rated.p_rank and rated.note != NO_INFORMATION else None
            row.sound = None if sound is None else sound[bot].elo


def _joined(programs: Sequence[int], groups: Iterable[_SeedGroups]) -> Iterator[_SeedGroups]:
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


def _half_points(ranks: tuple[int, ...]) -> int:
    """Returns the half points of the first of two."""
    return (ranks[0] < ranks[1]) + (ranks[0] <= ranks[1])


def _seed_groups(plan: Plan, book: Book) -> Iterator[_SeedGroups]:
    """Yields the seed groups, those that ended alike together."""
    rows = Book.ROWS
    for orders, games in _line_ups(plan, book):
        contents: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        group: list[int] = []
        for number in sorted(games):
            if group and number // rows != group[0] // rows:
                _add_group(games, group, contents)
                group = []
            group.append(number)
        if group:
            _add_group(games, group, contents)
        for codes, each in contents.items():
            kinds = [(orders[code % rows], book.kinds[code // rows]) for code in codes]
            yield [rating.Game(seats, kind.r, bool(kind.faults or kind.forfeit)) for seats, kind in kinds], each


def _add_group(
    games: dict[int, Game], group: list[int], contents: dict[tuple[int, ...], list[tuple[int, ...]]]
) -> None:
    codes = tuple([games[number].kind.number * Book.ROWS + number % Book.ROWS for number in group])
    contents.setdefault(codes, []).append(tuple([games[number].content for number in group]))


# How a format ranks.


def _order(plan: Plan, book: Book, rows: list[Row]) -> list[list[int]]:
    """Returns the bots, best first; those of one list share a rank. Guests have none."""
    bots = [place for place, entry in enumerate(plan.bots) if not entry.guest]
    if plan.format == "series":
        return series_ranking(len(bots), _games_won(plan, book))
    if plan.format == "groups":
        return _group_order(plan, book, bots)
    if plan.format == "judged":
        paid = dict.fromkeys(bots, 0)
        for seats, kind in played_games(plan, book):
            for bot in seats:
                if bot in paid and kind.judged > 0:
                    paid[bot] += kind.judged
        for bot in bots:
            rows[bot].points = float(paid[bot])
    if plan.format == "swiss":
        for bot, times in swiss_byes(plan.field, plan.scheduled_games(LedgerResults(Keys(plan), book))).items():
            rows[bot].byes = times
            rows[bot].points += times * plan.games
    worth = {bot: _worth(plan, rows[bot]) for bot in bots}
    return [[bot for bot in bots if worth[bot] == value] for value in sorted(set(worth.values()), reverse=True)]


def _worth(plan: Plan, row: Row) -> Fraction:
    """Returns what ranks a bot: its points, or its rating if some bots play more games by design.

    With four seats, where line-ups cannot always be even, its points per game.
    """
    if plan.format in UNEQUAL:
        return Fraction(-(10**9) if row.elo is None else round(row.elo.value, 6))
    if plan.seats > 2:
        return Fraction(round(row.points * 2 * (plan.seats - 1)), row.games) if row.games else Fraction(-1)
    return Fraction(row.points)


def _games_won(plan: Plan, book: Book) -> Counter[tuple[int, int]]:
    """Counts games won by winner and loser, without draws, as the card competition does."""
    won: Counter[tuple[int, int]] = Counter()
    for seats, kind in played_games(plan, book):
        if kind.r[0] != kind.r[1]:
            winner = kind.r.index(1)
            won[seats[winner], seats[1 - winner]] += 1
    return won


def _group_order(plan: Plan, book: Book, bots: list[int]) -> list[list[int]]:
    """Ranks by the final, then by the place in the group, then by the score there."""
    results = LedgerResults(Keys(plan), book)
    by_stage: dict[str, dict[tuple[int, ...], list[tuple[ScheduledGame, Outcome]]]] = {FIRST: {}, FINAL: {}}
    for game in plan.scheduled_games(results):
        if game is None:
            break
        outcome = results.get(game)
        if outcome is not None:
            by_stage[game.stage].setdefault(tuple(sorted(game.seats)), []).append((game, outcome))
    keys: dict[int, tuple[float, ...]] = {}
    for stage, line_ups in by_stage.items():
        for line_up, played in line_ups.items():
            for bot in line_up:
                ranks = sum(outcome.ranks[game.seats.index(bot)] for game, outcome in played) / len(played)
                score = sum(outcome.points[game.seats.index(bot)] for game, outcome in played) / len(played)
                key = (0.0 if stage == FINAL else 1.0, ranks, -score)
                keys[bot] = min(keys.get(bot, key), key)
    order = sorted(bots, key=lambda bot: (*keys.get(bot, (2.0, 0.0, 0.0)), derive_seed(plan.seed, "lot", bot)))
    last = [bot for bot in order if bot not in keys]
    return [[bot] for bot in order if bot in keys] + ([last] if last else [])
