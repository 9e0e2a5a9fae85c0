"""Standings and crosstable, made from the plan and the ledger alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, islice, permutations
from operator import itemgetter

from msgspec import Struct

from referee.games.dice import derive_seed
from referee.harness.records import ModelUse
from referee.harness.tournament.formats.games import FINAL, ScheduledGame, half_points
from referee.harness.tournament.formats.series import series_ranking
from referee.harness.tournament.formats.swiss import swiss_byes
from referee.harness.tournament.keys import Keys
from referee.harness.tournament.plan import Plan, number_of_games, same_programs
from referee.harness.tournament.reports import figures
from referee.harness.tournament.reports.fairness import Fairness, fairness
from referee.harness.tournament.statistics import rating
from referee.harness.tournament.statistics.rating import Tally
from referee.harness.tournament.statistics.score import FEW, Interval, Sample, strength
from referee.harness.tournament.store.reader import Book, Game, Kind, LedgerResults
from referee.protocol.text import counted

COPIES, NO_INFORMATION = "copies", "no information"
"""Notes on ratings that do not say who is probably the best."""
DISTINCT = 0.9
"""With a smaller share of different games, the standings warn and do not say who is better."""
UNEQUAL = ("ladder", "gauntlet")
"""Formats in which some bots play more games than others, by design."""
DIRECT = ("round-robin", "list-order", "swiss")
"""Formats that break ties by the games among the tied bots."""
MANY_FAULTS = 0.1
"""The share of games with a fault from which a note says so about a leader."""
RULES = {
    "series": "opponents defeated; of two that are equal, their match decides, of more the games won",
    "groups": "the place in the final, then the place and the score in the group",
    "judged": "the points of the test run",
    "ladder": "Elo",
    "gauntlet": "Elo",
}
"""What ranks the bots, by format. All other formats rank by points."""

_SeedGroups = tuple[list[rating.Game], list[tuple[int, ...]]]
"""Seed groups that ended alike: the games of one, and the contents of the games of each."""


class Row(Struct):
    """A bot's line."""

    name: str
    """With the beginning of its hash if another bot shares the name."""
    ident: str
    file: str = ""
    """The name of its file or folder, a command line, or `@` and a name."""
    rank: int = 0
    games: int = 0
    """A game counts for every seat that the bot and its copies took."""
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
    model: ModelUse | None = None
    """The tokens and cost of a language model; None for any other bot."""
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

    title: str
    """The contest's name; empty = it has none."""
    game: str
    format: str
    ranking: str
    """What ranks the bots and how ties are broken, in words."""
    due: int | None
    """The number of games in all; None if it depends on results, or if more were played, as by `referee improve`."""
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
    fairness: Fairness
    """How many games the machine may have decided."""


def of_plan(plan: Plan, book: Book) -> Book:
    """Returns the games under the plan's conditions and between bots of its list, older versions included."""
    conditions, idents = {plan.conditions(stage) for stage in plan.stages}, {entry.ident for entry in plan.bots}
    line_ups: dict[str, dict[int, Game]] = {}
    for line_up, games in book.line_ups.items():
        condition, seated = line_up.partition("/")[0], bots_of(line_up)
        if condition in conditions and len(seated) == plan.seats and idents.issuperset(seated):
            line_ups[line_up] = games
    return book.of(line_ups)


def counting(plan: Plan, book: Book) -> tuple[Book, int]:
    """Returns the games that count, and the number of those that the format does not arrive at.

    Games of older versions of a bot do not count. Where results decide who meets whom, the format must also arrive at a
    game: it may have had other games before a bot was added, or on another machine.
    """
    planned, older = of_plan(plan, book), plan.older
    if older:
        line_ups = planned.line_ups.items()
        planned = planned.of({each: games for each, games in line_ups if older.isdisjoint(bots_of(each))})
    if plan.format not in ("swiss", "series", "groups"):
        return planned, 0
    keys = Keys(plan)
    arrived: dict[str, dict[int, Game]] = defaultdict(dict)
    for scheduled, game in _games_of_format(plan, planned):
        line_up, row = keys.line_up_row(scheduled)
        arrived[line_up][scheduled.seed_group * Book.ROWS + row] = game
    counted = book.of(arrived)
    return counted, planned.count - counted.count


def _games_of_format(plan: Plan, book: Book) -> Iterator[tuple[ScheduledGame, Game]]:
    """Yields the games that the format arrives at and that were played, in order."""
    results = LedgerResults(Keys(plan), book)
    for scheduled in plan.scheduled_games(results):
        if scheduled is None:
            return
        if game := results.played(scheduled):
            yield scheduled, game


def bots_of(line_up: str) -> list[str]:
    """Returns the idents in `conditions/bots`."""
    return line_up.partition("/")[2].split("-")


def endings(plan: Plan, book: Book) -> Iterator[tuple[tuple[int, ...], Kind, int]]:
    """Yields bots by seat, endings, and how many games had both: a million games have few kinds."""
    rows = Book.ROWS
    for orders, games in _line_ups(plan, book):
        kinds = Counter([game.kind.number * rows + number % rows for number, game in games.items()])
        for code, times in kinds.items():
            yield orders[code % rows], book.kinds[code // rows], times


def _line_ups(plan: Plan, book: Book) -> Iterator[tuple[list[tuple[int, ...]], dict[int, Game]]]:
    """Yields, for each line-up, the bots by seat in each row, and the games."""
    places = plan.places
    for line_up, games in book.line_ups.items():
        yield [tuple(places[ident] for ident in order) for order in permutations(bots_of(line_up))], games


def standings(plan: Plan, book: Book, chances: bool = True) -> Standings:
    """Ranks the bots as the plan's format does. Without `chances`, P(#1) is left out."""
    entries, past = plan.bots, [*_games_of_older(plan, book)]
    book, surplus = counting(plan, book)
    labels = plan.labels
    rows = [Row(labels[entry.ident], entry.ident, entry.bot, absent=entry.absent) for entry in entries]
    cells: dict[tuple[int, int], Cell] = {}
    _count_games(plan, book, rows, cells)
    for bot, use in models_used(plan, book).items():
        rows[bot].model = use
    total, (different, seatings) = book.count, _different(plan, book, rows)
    due = number_of_games(plan)
    _rate(plan, book, rows, cells, chances)
    if seatings == different < total:
        for row in rows:
            row.p_first, row.note = None, COPIES if row.games else row.note
    ranked: list[Row] = []
    for equal in _order(plan, book, rows, cells):
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
        ranking=_ranking(plan),
        due=due if due is None or total <= due else None,
        played=total,
        different=different,
        voids=book.voids,
        copies_of_lines=book.doubles,
        rows=ranked,
        cross=cross,
        notes=[
            *_leaders_at_fault(ranked),
            *same_programs(plan),
            *([] if different < DISTINCT * total else _superiority(plan, ranked, cross)),
            *_notes(plan, total, different, ranked, surplus),
            *past,
        ],
        fairness=fairness(((kind, times) for _, kind, times in endings(plan, book)), book),
    )


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


def models_used(plan: Plan, book: Book) -> dict[int, ModelUse]:
    """Returns the tokens and cost of language models in these games, by the place of the bot."""
    places, uses = plan.places, dict[int, ModelUse]()
    for (line_up, number), used in book.models.items():
        if number in book.line_ups.get(line_up, ()):
            order = next(islice(permutations(bots_of(line_up)), number % Book.ROWS, None))
            for ident, use in zip(order, used, strict=True):
                if use is not None:
                    uses[places[ident]] = uses.get(places[ident], ModelUse()) + use
    return uses


def _different(plan: Plan, book: Book, rows: Sequence[Row]) -> tuple[int, int]:
    """Counts the different games of each row. Returns the number of different games and of different seatings.

    A program that was entered twice is one program here. A game without a known content differs from all others.
    """
    programs = plan.programs
    contents: dict[tuple[int | None, tuple[int, ...]], list[set[int]]] = defaultdict(list)
    for orders, games in _line_ups(plan, book):
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


# Notes.


def _ranking(plan: Plan) -> str:
    """Says what ranks the bots, and how ties are broken."""
    points = "points a game" if plan.seats > 2 else "points"
    first = RULES.get(plan.format, points)
    second = ", then points in games among the equal ones" if plan.format in DIRECT and plan.seats == 2 else ""
    return f"ranked by {first}{second}; bots that are still equal share a rank"


def _leaders_at_fault(rows: Sequence[Row]) -> Iterator[str]:
    """Names each leader with many faults: others may have had more, or something is wrong that somebody should see."""
    for row in rows:
        if row.rank == 1 and row.faults >= max(1, MANY_FAULTS * row.games):
            yield f"{row.name} leads, but was at fault in {row.faults} of {counted(row.games, 'game')}"


def _notes(plan: Plan, total: int, different: int, rows: Sequence[Row], surplus: int) -> Iterator[str]:
    faults, slowed = sum(row.faults for row in rows), sum(row.noise for row in rows)
    if slowed:
        of = ", ".join(f"{row.name} {row.noise} of {row.faults}" for row in rows if row.noise)
        yield f"machine load slowed {slowed} of {counted(faults, 'game')} with a fault: {of}"
    if different < DISTINCT * total:
        copies = any(row.note == COPIES for row in rows)
        yield (
            f"only {different} of {counted(total, 'game')} are different: the rest are repeats: deterministic bots "
            "replaying the same game; an option that varies the start, such as `opening`, makes them differ"
            + ("; P(#1) is left out, because other games may end differently" if copies else "")
        )
    if equal := [row.name for row in rows if row.note == NO_INFORMATION and row.games]:
        yield f"P(#1) is left out for {', '.join(equal)}: all seed groups ended alike, so their spread is unknown"
    if few := [row.name for row in rows if row.note == "few"]:
        of = "per bot" if len(few) == len(rows) else f"of {', '.join(few)}"
        yield f"fewer than {FEW} seed groups {of}: intervals are still rough"
    if sound := [f"{row.name} {figures.rating(row.sound)}" for row in rows if row.sound not in (None, row.elo)]:
        yield f"Elo without games with a fault: {', '.join(sound)}"
    if plan.format == "judged":
        yield "points are what the cases of the test run paid, 100 a run"
    if surplus:
        yield f"not counted: {counted(surplus, 'game')} that the tournament as it is now does not arrive at"


def _games_of_older(plan: Plan, book: Book) -> Iterator[str]:
    """Says how many games of older versions do not count, by version."""
    if older := plan.older:
        played = Counter[str]()
        for line_up, games in of_plan(plan, book).line_ups.items():
            played.update(dict.fromkeys(older.intersection(bots_of(line_up)), len(games)))
        for ident, label in plan.labels.items():
            if ident in older:
                games_of = "1 game" if played[ident] == 1 else f"{played[ident]} games"
                yield f"{games_of} of the older version {label} do not count"


def _superiority(plan: Plan, rows: Sequence[Row], cross: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Says how certain it is that one bot is better, if only two have played."""
    played = [row for row in rows if row.games]
    if len(played) != 2 or plan.seats != 2 or plan.format in ("self", "judged"):
        return []
    one, two = played
    penta = cross[one.name][two.name].penta
    found = strength(Sample(tuple(penta)) if any(penta) else Sample((one.losses, one.draws, one.wins), games=1))
    if found.los is None:
        return []
    return [f"LOS {figures.los(found)}: the chance that {one.name} is better than {two.name}"]


# Ratings.


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


def seed_groups(plan: Plan, book: Book) -> Iterator[_SeedGroups]:
    """Yields the seed groups, those that ended alike together."""
    rows = Book.ROWS
    for orders, games in _line_ups(plan, book):
        alike: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for _, numbers in groupby(sorted(games), lambda number: number // rows):
            # A game between expelled bots says nothing about their strength.
            group = [(number % rows, game) for number in numbers if not all((game := games[number]).kind.expelled)]
            codes = tuple([game.kind.number * rows + row for row, game in group])
            alike[codes].append(tuple([game.content for _, game in group]))
        alike.pop((), None)
        for codes, contents in alike.items():
            kinds = [(orders[code % rows], book.kinds[code // rows]) for code in codes]
            yield [rating.Game(seats, kind.r, bool(kind.faults or kind.forfeit)) for seats, kind in kinds], contents


# How a format ranks.


def _order(plan: Plan, book: Book, rows: list[Row], cells: Mapping[tuple[int, int], Cell]) -> list[list[int]]:
    """Returns the bots, best first; those of one list share a rank. Guests and copies have none."""
    left_out = plan.older | {entry.ident for entry in plan.bots if entry.guest or entry.copy_of}
    bots = [place for place, entry in enumerate(plan.bots) if entry.ident not in left_out]
    if plan.format == "series":
        ranking = series_ranking(len(plan.bots), _games_won(plan, book))
        return [kept for equal in ranking if (kept := [bot for bot in equal if bot in bots])]
    if plan.format == "groups":
        return _group_order(plan, book, bots)
    if plan.format == "judged":
        paid: Counter[int] = Counter()
        for seats, kind, times in endings(plan, book):
            paid.update(dict.fromkeys(seats, times * max(kind.judged, 0)))
        for bot in bots:
            rows[bot].points = float(paid[bot])
    if plan.format == "swiss":
        for bot, times in swiss_byes(plan.field, plan.scheduled_games(LedgerResults(Keys(plan), book))).items():
            rows[bot].byes = times
            rows[bot].points += times * plan.games
    worth = {bot: _worth(plan, rows[bot]) for bot in bots}
    order = [[bot for bot in bots if worth[bot] == value] for value in sorted(set(worth.values()), reverse=True)]
    if plan.format in DIRECT and plan.seats == 2:
        return [bots for equal in order for bots in _by_direct_games(equal, cells)]
    return order


def _by_direct_games(equal: list[int], cells: Mapping[tuple[int, int], Cell]) -> list[list[int]]:
    """Breaks a tie by the points in games among the tied bots, if all of these have met equally often."""
    met = {pair: cells.get(pair, Cell()) for pair in permutations(equal, 2)}
    if len({cell.games for cell in met.values()}) != 1:
        return [equal]
    points = {bot: sum(met[bot, other].points for other in equal if other != bot) for bot in equal}
    return [[bot for bot in equal if points[bot] == value] for value in sorted(set(points.values()), reverse=True)]


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
    for seats, kind, times in endings(plan, book):
        if kind.r[0] != kind.r[1]:
            winner = kind.r.index(1)
            won[seats[winner], seats[1 - winner]] += times
    return won


def _group_order(plan: Plan, book: Book, bots: list[int]) -> list[list[int]]:
    """Ranks by the final, then by the place in the group, then by the score there."""
    endings: dict[tuple[bool, tuple[int, ...], int], list[tuple[int, float]]] = defaultdict(list)
    for scheduled, game in _games_of_format(plan, book):
        line_up = tuple(sorted(scheduled.seats))
        for bot, rank, score in zip(scheduled.seats, game.kind.r, game.kind.p, strict=True):
            endings[scheduled.stage != FINAL, line_up, bot].append((rank, score))
    keys: dict[int, tuple[float, ...]] = {}
    for (is_first, _, bot), played in endings.items():
        rank, score = (sum(values) / len(played) for values in zip(*played, strict=True))
        key = (is_first, rank, -score)
        keys[bot] = min(keys.get(bot, key), key)
    order = sorted(bots, key=lambda bot: (*keys.get(bot, (2.0, 0.0, 0.0)), derive_seed(plan.seed, "lot", bot)))
    last = [bot for bot in order if bot not in keys]
    return [[bot] for bot in order if bot in keys] + ([last] if last else [])
