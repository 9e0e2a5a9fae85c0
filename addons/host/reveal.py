"""A sealed final: it is played at once, and the organiser shows its matches one by one, or round by round."""

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from referee.addons.tournament.formats.bracket import Bracket
from referee.addons.tournament.formats.schedules import BRACKETS
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan
from referee.addons.tournament.reports.all_stages import ranked
from referee.addons.tournament.stages import scheduled_games
from referee.addons.tournament.store.reader import Book, Game, LedgerResults


class PlayedMatch(Struct):
    """The games of a match, or of a line-up in a format without matches."""

    line_up: str
    bots: frozenset[int]
    """By their places on the list."""
    numbers: list[int]
    """Of its games in the book."""


def matches(plan: Plan, book: Book) -> list[PlayedMatch]:
    """Returns the matches that were played, in the order of the format."""
    keys = Keys(plan)
    results = LedgerResults(keys, book)
    by_meeting: dict[tuple[str, int], PlayedMatch] = {}
    bracket = Bracket(plan.field, double=plan.format == "double-elimination") if plan.format in BRACKETS else None
    for game in scheduled_games(plan, results, ranked):
        if game is None:
            break
        if results.played(game) is None:
            continue
        line_up, row = keys.line_up_row(game)
        meeting = line_up, 0 if bracket is None else bracket.meeting(game)
        if meeting not in by_meeting:
            by_meeting[meeting] = PlayedMatch(line_up, frozenset(game.seats), [])
        by_meeting[meeting].numbers.append(game.seed_group * Book.ROWS + row)
    return [*by_meeting.values()]


def next_round(played: Sequence[PlayedMatch], shown: int) -> int:
    """Returns how many matches are shown after the next round: up to the first bot that plays in it again."""
    seen: set[int] = set()
    for place in range(shown, len(played)):
        if seen & played[place].bots:
            return place
        seen |= played[place].bots
    return len(played)


def shown_book(plan: Plan, book: Book, shown: int) -> Book:
    """Returns the games of the first matches only."""
    line_ups: dict[str, dict[int, Game]] = defaultdict(dict)
    for match in matches(plan, book)[:shown]:
        for number in match.numbers:
            line_ups[match.line_up][number] = book.line_ups[match.line_up][number]
    return book.of(dict(line_ups))
