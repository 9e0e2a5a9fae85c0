"""The games of a ledger that count in the standings, by line-up, by ending and by seed group."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, permutations

from msgspec import Struct

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.formats.play_off import PLAY_OFF
from referee.addons.tournament.formats.schedules import BY_RESULTS
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.statistics import tally
from referee.addons.tournament.store.ledger import Use
from referee.addons.tournament.store.reader import Book, Game, Kind, LedgerResults
from referee.harness.common.measures import in_standings

SeedGroups = tuple[list[tally.Game], list[tuple[int, ...]]]
"""Seed groups that ended alike: the games of one, and the contents of the games of each."""


class Stages(Struct, frozen=True):
    """The games and the order of all stages of a plan."""

    book: Book
    """The games that count."""
    surplus: int
    """The number of games that do not."""
    order: list[list[int]]
    """The bots, best first; those of one list share a rank."""


def of_plan(plan: Plan, book: Book, with_void: bool = False, play_off: bool = False) -> Book:
    """Returns the games under the plan's conditions and between bots of its list, older versions included.

    `with_void`: also those of withdrawn bots whose games count for nobody; `play_off`: also those of the play-off.
    """
    stages = [*plan.condition_names, *([PLAY_OFF] if play_off and plan.play_off else [])]
    conditions = {plan.conditions(stage) for stage in stages}
    idents = {entry.ident for entry in plan.bots} - (frozenset() if with_void else plan.void)
    line_ups: dict[str, dict[int, Game]] = {}
    for line_up, games in book.line_ups.items():
        condition, seated = line_up.partition("/")[0], bots_of(line_up)
        if condition in conditions and len(seated) == plan.seats and idents.issuperset(seated):
            line_ups[line_up] = games
    return book if len(line_ups) == len(book.line_ups) else book.of(line_ups)


def counting(plan: Plan, book: Book) -> tuple[Book, int]:
    """Returns the games that count, and the number of those that the format does not schedule.

    Games of older versions of a bot do not count, nor do those of void bots. Where results decide who meets whom, the
    format must also schedule a game: it may have had other games before a bot was added, or on another machine. Games
    of a withdrawn bot count where it can be arrived at no more.
    """
    by_results = plan.format in BY_RESULTS - {"ladder"}
    planned, older = of_plan(plan, book, with_void=by_results), plan.older  # void games decided later rounds
    if older and plan.format != "swiss":  # there they are games of its opponents
        line_ups = planned.line_ups.items()
        planned = planned.of({each: games for each, games in line_ups if older.isdisjoint(bots_of(each))})
    if not by_results:
        return planned, 0
    keys = Keys(plan)
    arrived: dict[str, dict[int, Game]] = defaultdict(dict)
    for scheduled, game in games_of_format(plan, planned):
        line_up, row = keys.line_up_row(scheduled)
        arrived[line_up][scheduled.seed_group * Book.ROWS + row] = game
    withdrawn, void = {entry.ident for entry in plan.bots if entry.withdrawn}, plan.void
    arrived |= {each: games for each, games in planned.line_ups.items() if not withdrawn.isdisjoint(bots_of(each))}
    surplus = planned.count - sum(map(len, arrived.values()))
    return book.of({each: games for each, games in arrived.items() if void.isdisjoint(bots_of(each))}), surplus


def games_of_format(plan: Plan, book: Book) -> Iterator[tuple[ScheduledGame, Game]]:
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
    for orders, games in line_ups_of(plan, book):
        kinds = Counter([game.kind.number * rows + number % rows for number, game in games.items()])
        for code, times in kinds.items():
            yield orders[code % rows], book.kinds[code // rows], times


def line_ups_of(plan: Plan, book: Book) -> Iterator[tuple[list[tuple[int, ...]], dict[int, Game]]]:
    """Yields, for each line-up, the bots by seat in each row, and the games."""
    places = plan.places
    for line_up, games in book.line_ups.items():
        yield [tuple(places[ident] for ident in order) for order in permutations(bots_of(line_up))], games


def models_used(plan: Plan, book: Book) -> dict[int, Use]:
    """Returns the tokens and cost of language models in these games, by the place of the bot."""
    places, uses = plan.places, dict[int, Use]()
    for (line_up, number), used in book.models.items():
        if number in book.line_ups.get(line_up, ()):
            order = next(islice(permutations(bots_of(line_up)), number % Book.ROWS, None))
            for ident, use in zip(order, used, strict=True):
                if use is not None:
                    uses[places[ident]] = in_standings().total([uses.get(places[ident]), use])
    return uses


def seed_groups(plan: Plan, book: Book) -> Iterator[SeedGroups]:
    """Yields the seed groups, those that ended alike together."""
    rows = Book.ROWS
    for orders, games in line_ups_of(plan, book):
        alike: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for _, numbers in groupby(sorted(games), lambda number: number // rows):
            # A game between expelled bots says nothing about their strength.
            group = [(number % rows, game) for number in numbers if not all((game := games[number]).kind.expelled)]
            codes = tuple([game.kind.number * rows + row for row, game in group])
            alike[codes].append(tuple([game.content for _, game in group]))
        alike.pop((), None)
        for codes, contents in alike.items():
            kinds = [(orders[code % rows], book.kinds[code // rows]) for code in codes]
            yield [tally.Game(seats, kind.r, bool(kind.faults or kind.forfeit)) for seats, kind in kinds], contents


def joined(programs: Sequence[int], groups: Iterable[SeedGroups]) -> Iterator[SeedGroups]:
    """Joins equal games of the same programs under several names: they are one observation."""
    equal: dict[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]], list[tuple[list[tally.Game], int]]] = {}
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
